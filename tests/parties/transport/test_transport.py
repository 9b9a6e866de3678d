"""The contract of every transport: the same tests over memory and over TLS."""

import contextlib
import os
import threading
import time
from functools import partial
from itertools import count, repeat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.base.errors import DataError, PartyTimeoutError, ProtocolError
from dagora.parties.transport.in_memory import memory_network
from dagora.parties.transport.transport import MAX_REASON, MessageLimits, one_line
from tests.parties.network import PATIENCE, eventually, start, vanish
from tests.parties.unhurried import take_time


@pytest.fixture
def network(network, monkeypatch):
    """Parties that wait for each other as long as a test may, unless it says otherwise."""
    take_time(monkeypatch)
    network.open = partial(network.open, timeout=PATIENCE)
    return network


def test_messages_arrive_in_order_both_ways(network):
    host, b = network.open("host", "b")
    assert (host.name, b.name, list(host.peers), list(b.peers)) == ("host", "b", ["b"], ["host"])
    for text in (b"one", b"", b"three"):
        host.send("b", "ask", text)
        b.send("host", "answer", text[::-1])
    assert [b.receive("host", "ask") for _ in range(3)] == [b"one", b"", b"three"]
    assert [host.receive("b", "answer") for _ in range(3)] == [b"eno", b"", b"eerht"]


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview])
def test_a_payload_is_any_bytes_and_is_taken_at_once(network, wrap):
    host, b = network.open("host", "b")
    content = wrap(bytearray(b"before"))
    host.send("b", "x", content)
    if wrap is bytearray:
        content[:] = b"after!"
    received = b.receive("host", "x")
    assert received == b"before"
    assert type(received) is bytes


def test_a_message_waits_for_its_own_tag(network):
    host, b = network.open("host", "b")
    for tag in ("third", "first", "second", "first"):
        host.send("b", tag, tag.encode())
    assert [b.receive("host", tag) for tag in ("first", "second", "first", "third")] == [
        b"first",
        b"second",
        b"first",
        b"third",
    ]


def test_three_parties_are_kept_apart(network):
    host, *others = network.open("host", "b", "c", "d")
    for party in others:
        party.send("host", "name", party.name.encode())
    for name in ("d", "b", "c"):
        assert host.receive(name, "name") == name.encode()
        host.send(name, "you", name.encode())
    assert [party.receive("host", "you") for party in others] == [b"b", b"c", b"d"]


def test_only_peers_can_be_spoken_to(network):
    _, b, _ = network.open("host", "b", "c")
    for act in (lambda: b.send("c", "x", b""), lambda: b.receive("c", "x"), lambda: b.receive("b", "x")):
        with pytest.raises(ProtocolError, match=r"party 'b' has no line to '.', only to 'host'"):
            act()


@pytest.mark.parametrize("tag", ["", "x" * 201, "a\nb", "é" * 101])
def test_odd_tags_are_refused(network, tag):
    host, b = network.open("host", "b")
    for act in (lambda: host.send("b", tag, b""), lambda: b.receive("host", tag)):
        with pytest.raises(ProtocolError, match="is not a tag"):
            act()
    host.send("b", "é" * 100, b"fine")
    assert b.receive("host", "é" * 100) == b"fine"


def test_a_large_message(network):
    host, b = network.open("host", "b")
    content = os.urandom(1 << 20) * 48  # 50 MB
    sending = start(host.send, "b", "large", content)
    assert b.receive("host", "large", PATIENCE) == content
    sending.result(PATIENCE)


def test_large_messages_may_cross(network):
    host, b = network.open("host", "b")
    contents = os.urandom(8_000_000), os.urandom(8_000_000)

    def exchange(party, peer, mine):
        party.send(peer, "large", mine)
        return party.receive(peer, "large", PATIENCE)

    answers = start(exchange, host, "b", contents[0]), start(exchange, b, "host", contents[1])
    assert answers[0].result(PATIENCE) == contents[1]
    assert answers[1].result(PATIENCE) == contents[0]


def test_many_small_messages(network):
    host, b = network.open("host", "b")
    for k in range(5000):
        host.send("b", f"tag {k % 7}", b"%d" % k)
    for k in range(5000):
        assert b.receive("host", f"tag {k % 7}") == b"%d" % k


def test_threads_of_one_party_may_send_and_receive_side_by_side(network):
    host, b = network.open("host", "b")

    def talk(name):
        for k in range(100):
            host.send("b", name, b"%d" % k)
            assert host.receive("b", name, PATIENCE) == b"%d" % k

    def answer(name):
        for _ in range(100):
            b.send("host", name, b.receive("host", name, PATIENCE))

    names = ["u", "v", "w"]
    work = [start(answer, name) for name in names] + [start(talk, name) for name in names]
    for each in work:
        each.result(PATIENCE)


def test_a_slow_party_is_named_and_may_still_answer(network):
    host, b = network.open("host", "b")
    begun = time.monotonic()
    with pytest.raises(PartyTimeoutError, match=r"^party 'b' sent no 'sums' within 0\.1 s$") as caught:
        host.receive("b", "sums", timeout=0.1)
    assert caught.value.party == "b"
    assert 0.09 < time.monotonic() - begun < PATIENCE
    b.send("host", "other", b"")
    eventually(lambda: "other" in host._inbox._lines["b"].queues)
    with pytest.raises(PartyTimeoutError, match=r"within 0 s \(it sent 'other' instead\)$"):
        host.receive("b", "sums", timeout=0)
    b.send("host", "sums", b"late")
    assert host.receive("b", "sums") == b"late"


def test_the_transport_has_a_timeout_of_its_own(network):
    host, _ = network.open("host", "b", timeout=0.05)
    with pytest.raises(PartyTimeoutError):
        host.receive("b", "x")


def test_a_message_comes_while_one_waits(network):
    host, b = network.open("host", "b")
    waiting = start(host.receive, "b", "x", float("inf"))
    time.sleep(0.05)
    assert not waiting.done()
    b.send("host", "x", b"!")
    assert waiting.result(PATIENCE) == b"!"


def test_a_party_that_cannot_go_on_says_why_to_all(network):
    host, b, c = network.open("host", "b", "c")
    waiting = start(b.receive, "host", "x")
    host.send("c", "x", b"never read")
    host.close("the columns differ:\n 'a' is missing")
    line = "party 'host' ended the run: the columns differ: 'a' is missing"
    with pytest.raises(ProtocolError) as caught:
        waiting.result(PATIENCE)
    assert str(caught.value) == line
    assert caught.value.party == "host"
    for party in (b, c):
        eventually(lambda party=party: bool(party._inbox._lines["host"].fault))
        for act in (
            lambda party=party: party.receive("host", "x"),
            lambda party=party: party.receive("host", "y"),
            lambda party=party: party.send("host", "x", b""),
        ):
            with pytest.raises(ProtocolError) as caught:
                act()
            assert str(caught.value) == line


def test_one_party_s_end_leaves_the_others_alone(network):
    host, b, c = network.open("host", "b", "c")
    b.close("my disk is full")
    with pytest.raises(ProtocolError, match=r"^party 'b' ended the run: my disk is full$"):
        host.receive("b", "x")
    c.send("host", "x", b"still here")
    assert host.receive("c", "x") == b"still here"


def test_a_party_that_ended_well_is_heard_to_the_end(network):
    host, b = network.open("host", "b")
    host.send("b", "never received", b"x" * 100_000)
    b.send("host", "result", b"x" * 1_000_000)
    b.send("host", "result", b"2")
    b.close()
    b.close()
    assert len(host.receive("b", "result")) == 1_000_000
    assert host.receive("b", "result") == b"2"
    with pytest.raises(ProtocolError, match=r"^party 'b' has left the run$"):
        host.receive("b", "result")
    with pytest.raises(ProtocolError, match=r"^party 'b' has left the run$"):
        host.send("b", "more", b"")


def test_a_party_dies(network):
    host, b, _ = network.open("host", "b", "c")
    waiting = start(host.receive, "b", "x")
    vanish(b)
    for _ in range(2):
        with pytest.raises(ProtocolError, match=r"^the connection to party 'b' was lost$") as caught:
            waiting.result(PATIENCE)
        assert caught.value.party == "b"
        waiting = start(host.receive, "b", "x")


def test_a_closed_transport_cannot_be_used(network):
    host, b = network.open("host", "b")
    waiting = start(host.receive, "b", "x")
    b.send("host", "y", b"")
    time.sleep(0.02)
    host.close()
    for act in (
        lambda: waiting.result(PATIENCE),
        lambda: host.send("b", "x", b""),
        lambda: host.receive("b", "y"),
    ):
        with pytest.raises(ProtocolError, match="party 'host' has closed its lines"):
            act()


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ProtocolError("the order differs"), "party 'host' ended the run: the order differs"),
        (
            DataError("level 'secret' is odd"),
            "party 'host' ended the run: its own data or options were refused",
        ),
        (ZeroDivisionError("secret"), "party 'host' ended the run: it failed"),
        (KeyboardInterrupt(), "party 'host' ended the run: it was interrupted"),
    ],
)
def test_an_error_in_the_block_reaches_the_peers_without_private_words(network, error, line):
    host, b = network.open("host", "b")
    with pytest.raises(type(error)), host:
        raise error
    with pytest.raises(ProtocolError) as caught:
        b.receive("host", "x")
    assert str(caught.value).startswith(line)
    assert "secret" not in str(caught.value)


def test_the_block_ends_in_peace(network):
    host, b = network.open("host", "b")
    with host:
        host.send("b", "x", b"last")
    assert b.receive("host", "x") == b"last"
    with pytest.raises(ProtocolError, match="has left the run"):
        b.receive("host", "x")


def test_a_message_over_the_limit_is_not_sent(network):
    host, b = network.open("host", "b", limits=MessageLimits(message_bytes=1000))
    with pytest.raises(ProtocolError, match="message 'x' of 1001 bytes passes the limit of 1000"):
        host.send("b", "x", bytes(1001))
    host.send("b", "x", bytes(1000))
    assert len(b.receive("host", "x")) == 1000


@pytest.mark.parametrize(("sequence", "fault"), [(0, "repeated message 0"), (2, "skipped message 1")])
def test_repeated_and_lost_messages_end_the_run_on_both_sides(network, sequence, fault):
    host, b, c = network.open("host", "b", "c")
    b.send("host", "sums", b"1")
    assert host.receive("b", "sums") == b"1"
    # In memory the sender is refused at once; over TLS it is on the wire before anybody looks.
    at_once = pytest.raises(ProtocolError, match=f"party 'host' ended the run: party 'b' {fault} of 'sums'")
    with at_once if network.kind == "memory" else contextlib.nullcontext():
        network.inject(b, "host", "sums", sequence, b"again")
    with pytest.raises(ProtocolError, match=f"^party 'b' {fault} of 'sums'$"):
        host.receive("b", "sums")
    with pytest.raises(ProtocolError, match=f"^party 'host' ended the run: party 'b' {fault} of 'sums'$"):
        b.receive("host", "x")
    c.send("host", "sums", b"fine")
    assert host.receive("c", "sums") == b"fine"


def test_a_fast_sender_waits_for_a_slow_receiver(network):
    limits = MessageLimits(backlog_bytes=1000, backlog_messages=4)
    host, b = network.open("host", "b", limits=limits)
    contents = [os.urandom(300_000) for _ in range(120)]

    def produce():
        for content in contents:
            host.send("b", "table", content)

    producing = start(produce)
    eventually(lambda: b._inbox._lines["host"].blocked == 1)
    time.sleep(0.2)
    assert not producing.done()  # 36 MB do not fit in the backlog and the sockets
    assert b._inbox._lines["host"].messages <= 4
    assert [b.receive("host", "table") for _ in contents] == contents
    producing.result(PATIENCE)


def pour(host, tags, content):
    """Send until that is refused; over TLS, the refusal takes its time to come back."""
    deadline = time.monotonic() + PATIENCE
    for tag in tags:
        host.send("b", tag, content)
        time.sleep(0.001)
        assert time.monotonic() < deadline, "nobody objected"


def test_a_full_line_without_the_awaited_tag_ends_the_run(network):
    host, b = network.open("host", "b", limits=MessageLimits(backlog_messages=3))
    waiting = start(b.receive, "host", "awaited", PATIENCE)
    with pytest.raises(
        ProtocolError, match=r"^party 'b' ended the run: party 'host' filled the line with 'other'"
    ):
        pour(host, repeat("other"), b"x")
    with pytest.raises(
        ProtocolError, match="party 'host' filled the line with 'other' while 'awaited' is awaited"
    ):
        waiting.result(PATIENCE)


def test_sending_to_a_party_that_takes_nothing_ends_in_time(network):
    host, _ = network.open("host", "b", limits=MessageLimits(backlog_bytes=1000), timeout=0.3)
    begun = time.monotonic()
    with pytest.raises(ProtocolError, match=r"party 'b' did not accept .* within 0\.3 s"):
        pour(host, repeat("x"), bytes(1_000_000))
    assert time.monotonic() - begun < PATIENCE
    with pytest.raises(ProtocolError, match="party 'b' did not accept"):
        host.send("b", "x", b"")


def test_tags_are_bounded(network):
    host, b = network.open("host", "b", limits=MessageLimits(tags=10))
    with pytest.raises(ProtocolError, match="used more than 10 tags"):
        pour(host, (f"tag {k}" for k in count()), b"")
    with pytest.raises(ProtocolError, match=r"^party 'host' used more than 10 tags$"):
        b.receive("host", "x")


def test_the_books_are_the_same_for_every_transport(network):
    host, b = network.open("host", "b")
    with host.ledger.phase("schema"):
        host.send("b", "columns", bytes(100))
    host.send("b", "sums/1", bytes(10))
    host.send("b", "sums/2", bytes(20))
    b.send("host", "sums/3", bytes(7))
    for tag in ("columns", "sums/1", "sums/2"):
        b.receive("host", tag)
    host.receive("b", "sums/3")
    with pytest.raises(PartyTimeoutError):
        host.receive("b", "sums/3", 0)
    assert host.ledger.books().to_dict()["phases"] == {
        "schema": {
            "messages_sent": 1, "messages_received": 0, "payload_sent": 100,
            "payload_received": 0, "wire_sent": 131, "wire_received": 0,
        },
        "sums": {
            "messages_sent": 2, "messages_received": 1, "payload_sent": 30,
            "payload_received": 7, "wire_sent": 90, "wire_received": 37,
        },
    }  # fmt: skip
    mine, theirs = host.ledger.books().total, b.ledger.books().total
    assert (mine.wire_sent, mine.payload_sent) == (theirs.wire_received, theirs.payload_received)
    assert (mine.wire_received, mine.messages_received) == (theirs.wire_sent, theirs.messages_sent)


def test_no_thread_is_left_when_all_have_closed(network):
    before = set(threading.enumerate())
    parties = network.open("host", "b", "c")
    for party in parties:
        party.close()
    eventually(
        lambda: {t for t in set(threading.enumerate()) - before if t.name.startswith("reader")} == set()
    )


def test_parties_need_good_names_of_their_own():
    with pytest.raises(ProtocolError, match="same name"):
        memory_network(["a", "a"])
    with pytest.raises(ProtocolError, match="cannot name a party"):
        memory_network(["a b"])


@settings(max_examples=50)
@given(st.text(max_size=700))
def test_a_reason_is_always_one_short_printable_line(text):
    line = one_line(text)
    assert len(line) <= MAX_REASON
    assert line.isprintable()
