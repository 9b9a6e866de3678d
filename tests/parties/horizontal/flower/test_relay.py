"""What travels through Flower is read strictly: anything else is refused in one line that names the sender."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagora.base.errors import ProtocolError
from dagora.parties.horizontal.flower import relay
from dagora.parties.horizontal.flower.relay import (
    Envelope,
    Hello,
    RelayBatch,
    Welcome,
    decode_batch,
    decode_request,
    decode_welcome,
    encode_batch,
    encode_hello,
    encode_welcome,
)
from dagora.parties.horizontal.session.replies import refusal
from dagora.parties.transport.messages import decode, encode
from dagora.parties.transport.transport import MessageLimits

RUN = bytes(range(16))
GOOD = RelayBatch(RUN, 2, (Envelope("ask", 0, b"\0\1"), Envelope("ask", 1, b"")), seconds=2.5)


@given(
    number=st.integers(0, 1 << 70),
    messages=st.lists(
        st.builds(Envelope, st.from_regex(r"\A[a-z/ é]{1,20}\Z"), st.integers(0, 9), st.binary(max_size=50)),
        max_size=4,
    ),
    busy=st.booleans(),
    reason=st.sampled_from(["", "gone"]),
)
def test_a_batch_comes_back_as_it_was(number, messages, busy, reason):
    batch = RelayBatch(RUN, number, tuple(messages), 1.5, busy, bool(reason), reason)
    assert decode_batch(encode_batch(batch), "x") == batch
    assert decode_request(encode_batch(batch), "x") == batch


def test_hello_and_welcome():
    assert decode_request(encode_hello(Hello(RUN, ("a", "b"))), "x") == Hello(RUN, ("a", "b"))
    for joins in (True, False):
        assert decode_welcome(encode_welcome(Welcome("a", joins)), "x") == Welcome("a", joins)


def changed(**fields):
    return encode({**decode(encode_batch(GOOD)), **fields})


def with_control(message, character):
    """A message whose text has a control character for its `~`; ours cannot be written with one."""
    return message.replace(b"~", character)


ENVELOPE = {"tag": "ask", "sequence": 0, "payload": b""}
BAD = {
    "no bytes of ours": b"hello",
    "cut short": encode_batch(GOOD)[:-1],
    "bytes after the end": encode_batch(GOOD) + b"\0",
    "another field": changed(more=1),
    "a missing field": encode({key: value for key, value in decode(encode_batch(GOOD)).items() if key != "busy"}),
    "a run of 15 bytes": changed(run=bytes(15)),
    "a negative number": changed(number=-1),
    "a number that is true": changed(number=True),
    "no time": changed(seconds=float("nan")),
    "for ever": changed(seconds=float("inf")),
    "a reason without an end": changed(reason="gone"),
    "a reason of two lines": with_control(changed(reason="a~b", ended=True), b"\n"),
    "an endless reason": changed(reason="a" * 501, ended=True),
    "messages that are not": changed(messages=[1]),
    "a message with more in it": changed(messages=[{**ENVELOPE, "x": 1}]),
    "a message without a tag": changed(messages=[{**ENVELOPE, "tag": ""}]),
    "a tag with an escape": with_control(changed(messages=[{**ENVELOPE, "tag": "~[31m"}]), b"\x1b"),
    "a message before the first": changed(messages=[{**ENVELOPE, "sequence": -1}]),
    "a message of text": changed(messages=[{**ENVELOPE, "payload": "text"}]),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_a_bad_batch_is_refused(what):
    for read in (decode_request, decode_batch):
        with pytest.raises(ProtocolError, match=r"\Aparty 'x': [^\n\x1b]+\Z"):
            read(BAD[what], "party 'x'")


@pytest.mark.parametrize(
    "hello",
    [
        {"hello": 2, "run": RUN, "sites": ["a"]},
        {"hello": 1, "run": b"", "sites": ["a"]},
        {"hello": 1, "run": RUN, "sites": []},
        {"hello": 1, "run": RUN, "sites": ["a", "a"]},
        {"hello": 1, "run": RUN, "sites": ["../a"]},
        {"hello": 1, "run": RUN, "sites": [7]},
        {"hello": 1, "run": RUN, "sites": "a"},
    ],
)
def test_a_bad_hello_is_refused(hello):
    with pytest.raises(ProtocolError, match=r"\Aparty 'x': "):
        decode_request(encode(hello), "party 'x'")


def test_limits(monkeypatch):
    limits = MessageLimits(message_bytes=100)
    for payload, fits in ((b"x" * 100, True), (b"x" * 101, False)):
        batch = encode_batch(replace(GOOD, messages=(Envelope("a", 0, payload),)))
        if fits:
            decode_batch(batch, "x", limits)
        else:
            with pytest.raises(ProtocolError, match="at most 100 bytes"):
                decode_batch(batch, "x", limits)
    with pytest.raises(ProtocolError, match=r"x: sent 70000 bytes at once; the limit is 65636"):
        decode_batch(bytes(70_000), "x", limits)
    monkeypatch.setattr(relay, "MAX_MESSAGES", 1)
    with pytest.raises(ProtocolError, match="sent 2 messages at once; the limit is 1"):
        decode_batch(encode_batch(GOOD), "x")


def test_a_refusal_is_raised_where_an_answer_is_expected():
    for read in (decode_batch, decode_welcome):
        with pytest.raises(ProtocolError, match=r"\Anode 3: no daemon\Z"):
            read(refusal("no daemon"), "node 3")
