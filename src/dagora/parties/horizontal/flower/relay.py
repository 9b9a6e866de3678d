"""Messages that travel through Flower: a hello, and batches of tagged, numbered messages, as strict bytes.

Every message to a SuperNode costs seconds, so the messages for a site are collected, and travel together as
one batch. The site's answers come back as one batch with the same number. The batch that ends the run says
so, with the reason if there is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dagora.base.errors import ProtocolError
from dagora.parties.horizontal.session.replies import read_reply
from dagora.parties.transport.messages import decode, encode
from dagora.parties.transport.transport import MAX_REASON, MessageLimits, check_name, encode_tag, one_line

VERSION = 1
RUN_BYTES = 16  # random, so that no two runs have the same
MAX_MESSAGES = 10_000  # of one parcel: bounds what a peer can make us hold
MAX_SITES = 10_000  # as many as a hello may name
HEAD_BYTES = 1 << 16  # of a batch, around its messages

_HELLO = {"hello": int, "run": bytes, "sites": list}
_WELCOME = {"welcome": int, "site": str, "joins": bool}
_BATCH = {
    "run": bytes,
    "number": int,
    "messages": list,
    "seconds": float,
    "busy": bool,
    "ended": bool,
    "reason": str,
}
_ENVELOPE = {"tag": str, "sequence": int, "payload": bytes}
# There is one way to write a message, so all hellos begin with the same bytes: those before the version.
_HELLO_BEGINS = encode({"hello": VERSION, "run": b"", "sites": []})[:16]


@dataclass(frozen=True, slots=True)
class Hello:
    """A coordinator begins a run with these sites."""

    run: bytes
    sites: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Welcome:
    """The name of the site behind a SuperNode; it is asked again only if it joins the run."""

    site: str
    joins: bool


@dataclass(frozen=True, slots=True)
class Envelope:
    """One message of a protocol; messages are numbered per tag."""

    tag: str
    sequence: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class RelayBatch:
    """All messages that go one way at once.

    To a site, `seconds` says how long it may work before it answers with what it has; then `busy` says that
    more will come. `ended` marks the sender's last batch; a `reason` says why it cannot go on.
    """

    run: bytes
    number: int
    messages: tuple[Envelope, ...] = ()
    seconds: float = 0.0
    busy: bool = False
    ended: bool = False
    reason: str = ""


def encode_hello(hello: Hello) -> bytes:
    """Write a hello."""
    return encode({"hello": VERSION, "run": hello.run, "sites": list(hello.sites)})


def encode_welcome(welcome: Welcome) -> bytes:
    """Write a welcome."""
    return encode({"welcome": VERSION, "site": welcome.site, "joins": welcome.joins})


def encode_batch(batch: RelayBatch) -> bytes:
    """Write a batch.

    >>> batch = RelayBatch(bytes(16), 3, (Envelope("ask", 0, b"?"),), seconds=9.0)
    >>> decode_batch(encode_batch(batch), "site 'a'") == batch
    True
    """
    messages = [{"tag": m.tag, "sequence": m.sequence, "payload": m.payload} for m in batch.messages]
    return encode(
        {
            "run": batch.run,
            "number": batch.number,
            "messages": messages,
            "seconds": float(batch.seconds),
            "busy": batch.busy,
            "ended": batch.ended,
            "reason": one_line(batch.reason),
        }
    )


def decode_request(payload: bytes, what: str, limits: MessageLimits | None = None) -> Hello | RelayBatch:
    """Read what a coordinator sent; an error begins with `what`, which names the sender.

    >>> decode_request(encode_hello(Hello(bytes(16), ("a", "b"))), "coordinator").sites
    ('a', 'b')
    """
    if payload.startswith(_HELLO_BEGINS):
        return _hello(payload, what)
    return _batch(decode(_check_size(payload, what, limits), _BATCH, what=what), what, limits)


def decode_batch(payload: bytes, what: str, limits: MessageLimits | None = None) -> RelayBatch:
    """Read a batch that a site sent in answer to one; raises the site's refusal."""
    return _batch(read_reply(_check_size(payload, what, limits), _BATCH, what), what, limits)


def decode_welcome(payload: bytes, what: str) -> Welcome:
    """Read the answer to a hello; raises the site's refusal.

    >>> decode_welcome(encode_welcome(Welcome("a", True)), "node 1")
    Welcome(site='a', joins=True)
    """
    content = read_reply(_check_size(payload, what, MessageLimits(message_bytes=0)), _WELCOME, what)
    _same_version(content["welcome"], what)
    return Welcome(_site(content["site"], what), content["joins"])


def _check_size(payload: bytes, what: str, limits: MessageLimits | None) -> bytes:
    most = (limits or MessageLimits()).message_bytes + HEAD_BYTES
    if len(payload) > most:
        raise ProtocolError(f"{what}: sent {len(payload)} bytes at once; the limit is {most}")
    return payload


def _hello(payload: bytes, what: str) -> Hello:
    content = decode(
        _check_size(payload, what, MessageLimits(message_bytes=MAX_SITES * 80)), _HELLO, what=what
    )
    _same_version(content["hello"], what)
    sites = content["sites"]
    if not 0 < len(sites) <= MAX_SITES or len(set(map(str, sites))) != len(sites):
        raise ProtocolError(f"{what}: a hello names each of its sites once")
    return Hello(_run(content, what), tuple(_site(name, what) for name in sites))


def _batch(content: Mapping[str, Any], what: str, limits: MessageLimits | None) -> RelayBatch:
    messages, reason, seconds = content["messages"], content["reason"], content["seconds"]
    most = (limits or MessageLimits()).message_bytes
    if len(messages) > MAX_MESSAGES:
        raise ProtocolError(f"{what}: sent {len(messages)} messages at once; the limit is {MAX_MESSAGES}")
    if content["number"] < 0 or not 0.0 <= seconds < 1e7:
        raise ProtocolError(f"{what}: a batch has a number and a time that are not negative")
    if len(reason) > MAX_REASON or reason != one_line(reason) or (reason and not content["ended"]):
        raise ProtocolError(f"{what}: a reason is one line, and ends the run")
    return RelayBatch(
        _run(content, what),
        content["number"],
        tuple(_envelope(message, what, most) for message in messages),
        seconds,
        content["busy"],
        content["ended"],
        reason,
    )


def _envelope(message: object, what: str, most: int) -> Envelope:
    if not isinstance(message, dict) or {key: type(value) for key, value in message.items()} != _ENVELOPE:
        raise ProtocolError(f"{what}: a message has a tag, a number and a content")
    if message["sequence"] < 0 or len(message["payload"]) > most:
        raise ProtocolError(f"{what}: a message is numbered from 0 and has at most {most} bytes")
    try:
        encode_tag(message["tag"])
    except ProtocolError as error:
        raise ProtocolError(f"{what}: {error}") from None
    return Envelope(message["tag"], message["sequence"], message["payload"])


def _run(content: Mapping[str, Any], what: str) -> bytes:
    run: bytes = content["run"]
    if len(run) != RUN_BYTES:
        raise ProtocolError(f"{what}: a run is named by {RUN_BYTES} bytes")
    return run


def _site(name: object, what: str) -> str:
    try:
        return check_name(name if isinstance(name, str) else "")
    except ProtocolError as error:
        raise ProtocolError(f"{what}: {error}") from None


def _same_version(version: int, what: str) -> None:
    if version != VERSION:
        raise ProtocolError(
            f"{what}: speaks version {version} of the relay, not {VERSION}: use the same dagora everywhere"
        )
