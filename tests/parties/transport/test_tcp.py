"""What only TLS over TCP can get wrong: strangers, garbage, old protocols, and frames cut short."""

import contextlib
import os
import re
import socket
import ssl
import struct
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dagora.base.errors import ProtocolError
from dagora.parties.transport import tcp
from dagora.parties.transport.certificates import (
    client_context,
    fingerprint,
    make_certificates,
    server_context,
)
from dagora.parties.transport.listener import Listener
from dagora.parties.transport.tcp import connect
from dagora.parties.transport.transport import MessageLimits
from dagora.parties.transport.wire_format import HEADER, FrameHeader, FrameKind, pack, parse, parse_tag
from tests.parties.network import PATIENCE, eventually, start, vanish
from tests.parties.unhurried import Attendance, take_time

HERE = "127.0.0.1"


@pytest.fixture(autouse=True)
def unhurried(monkeypatch):
    take_time(monkeypatch)


@pytest.fixture
def attendance(monkeypatch):
    return Attendance(monkeypatch)


@pytest.fixture
def meeting(credentials):
    """A host that waits for 'b', and what it says about those it refuses."""
    refused: list[str] = []
    listener = Listener(credentials["host"], ["b"], on_refusal=refused.append)
    accepting = start(listener.accept, PATIENCE)
    opened = []

    class Meeting:
        port = listener.port
        refusals = refused

        @staticmethod
        def raw():
            connection = socket.create_connection((HERE, listener.port), timeout=PATIENCE)
            opened.append(connection)
            return connection

        @staticmethod
        def finish():
            """The expected party still gets in, and the two can talk."""
            b = connect(credentials["b"], HERE, listener.port, peer="host", wait=PATIENCE)
            host = accepting.result(PATIENCE)
            opened.extend([host, b])
            b.send("host", "x", b"hello")
            assert host.receive("b", "x") == b"hello"
            return host, b

    yield Meeting
    for each in opened:
        each.close()
    listener.close()


def refusal(meeting) -> str:
    eventually(lambda: bool(meeting.refusals))
    assert len(meeting.refusals) == 1
    return meeting.refusals[0]


def test_a_certificate_of_another_ca_is_refused_at_both_ends(meeting, foreign):
    with pytest.raises(ProtocolError, match="its certificate is not signed by our CA"):
        connect(foreign["b"], HERE, meeting.port, peer="host", wait=PATIENCE)
    assert "it refused our certificate: its CA is another one" in refusal(meeting)
    meeting.finish()


def test_a_client_that_trusts_us_but_has_a_foreign_certificate_is_refused(meeting, credentials, foreign):
    mixed = type(foreign["b"])("b", credentials["b"].ca, foreign["b"].certificate, foreign["b"].key)
    with pytest.raises(
        ProtocolError, match=r"^party 'host' at .*: it refused our certificate: its CA is another"
    ):
        connect(mixed, HERE, meeting.port, peer="host", wait=PATIENCE)
    assert "its certificate is not signed by our CA" in refusal(meeting)
    meeting.finish()


CLOCK = r"\d{4}-\d\d-\d\d \d\d:\d\d UTC"


@pytest.mark.parametrize(
    ("starts", "seen", "told"),
    [
        (-3, "its certificate has expired by the clock here", "it refused our certificate as expired"),
        (3, "its certificate is not valid yet by the clock here", "it refused our certificate as not valid"),
    ],
    ids=["expired", "not yet valid"],
)
@pytest.mark.parametrize("at_fault", ["listener", "connector"])
def test_clocks_that_differ_are_named_at_both_ends(
    credentials, tmp_path, attendance, starts, seen, told, at_fault
):
    begins = datetime.now(UTC) + timedelta(days=starts)
    odd = make_certificates(tmp_path / "odd", ["host", "b"], days=1, starts=begins)
    now = make_certificates(tmp_path / "now", ["host", "b"])
    both = tmp_path / "both.pem"
    both.write_bytes(odd["b"].ca.read_bytes() + now["b"].ca.read_bytes())
    parties = {"host": now["host"], "b": now["b"]}
    parties |= {"host": odd["host"]} if at_fault == "listener" else {"b": odd["b"]}
    parties = {name: replace(party, ca=both) for name, party in parties.items()}
    refused = []
    listener = Listener(parties["host"], ["b"], on_refusal=refused.append)
    accepting = start(listener.accept, PATIENCE)
    with pytest.raises(ProtocolError) as caught:
        connect(parties["b"], HERE, listener.port, wait=PATIENCE)
    eventually(lambda: bool(refused))
    attendance.give_up()
    with pytest.raises(ProtocolError, match=r"^waited 60 s in vain for 'b' \(refused: a connection from "):
        accepting.result(PATIENCE)
    here, there = str(caught.value), refused[0]
    saw, heard = (here, there) if at_fault == "listener" else (there, here)
    assert re.search(rf"{seen} \({CLOCK}\): .*set the clocks right$", saw)
    assert re.search(
        rf"{told} by its clock \(valid {CLOCK} to {CLOCK}; the clock here says {CLOCK}\): .*clocks right$",
        heard,
    )
    assert f"valid {begins:%Y-%m-%d %H:%M} UTC to" in heard


def test_a_client_without_a_certificate_is_refused(meeting, credentials):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(credentials["b"].ca)
    with pytest.raises(ssl.SSLError), context.wrap_socket(meeting.raw()) as caller:
        caller.recv(1)
    assert "it showed no certificate" in refusal(meeting)
    meeting.finish()


def test_tls_1_2_is_refused(meeting, credentials):
    context = client_context(credentials["b"])
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_2
    with pytest.raises(ssl.SSLError):
        context.wrap_socket(meeting.raw())
    assert "it does not speak TLS 1.3" in refusal(meeting)
    meeting.finish()


def test_a_listener_of_tls_1_2_is_refused(credentials):
    context = server_context(credentials["host"])
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_2
    with serving(lambda raw: context.wrap_socket(raw, server_side=True)) as port:
        refused(credentials, port, "it does not speak TLS 1.3")


def refused(credentials, port, why):
    with pytest.raises(ProtocolError) as caught:
        connect(credentials["b"], HERE, port, wait=PATIENCE)
    assert str(caught.value) == f"127.0.0.1:{port}: {why}"


class serving:
    """A server that does what it is told with each connection."""

    def __init__(self, act):
        self._act = act
        self._listener = socket.create_server((HERE, 0))

    def __enter__(self):
        def serve():
            while self._listener.fileno() >= 0:
                with contextlib.suppress(OSError):
                    raw, _ = self._listener.accept()
                    raw.settimeout(PATIENCE)
                    with raw:
                        self._act(raw)

        self._thread = threading.Thread(target=serve, daemon=True)
        self._thread.start()
        return self._listener.getsockname()[1]

    def __exit__(self, *exception):
        # Wakes `accept`, which closing would not.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(PATIENCE)


def test_a_listener_that_speaks_in_the_clear_is_refused(credentials):
    with serving(lambda raw: (raw.recv(10), raw.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"))) as port:
        refused(credentials, port, "it does not speak TLS")


def test_a_listener_that_says_nothing_is_left_in_time(credentials):
    done = threading.Event()
    begun = time.monotonic()
    with serving(lambda raw: done.wait(PATIENCE)) as port:
        with pytest.raises(ProtocolError, match=r"it did not answer in time \(tried for"):
            connect(credentials["b"], HERE, port, wait=0.3)
        done.set()
    assert time.monotonic() - begun < PATIENCE


def test_a_listener_that_hangs_up_is_tried_for_as_long_as_we_wait(credentials):
    calls = []
    with (
        serving(lambda raw: calls.append(raw.recv(10))) as port,
        pytest.raises(ProtocolError, match=r"it closed the connection \(tried for 1 s\)$"),
    ):
        connect(credentials["b"], HERE, port, wait=1.0)
    assert len(calls) > 2


def test_a_listener_that_hangs_up_and_goes_is_not_waited_for(credentials):
    begun = time.monotonic()
    with socket.create_server((HERE, 0)) as listening:
        connecting = start(connect, credentials["b"], HERE, listening.getsockname()[1], wait=PATIENCE)
        raw, _ = listening.accept()
    raw.close()
    with pytest.raises(ProtocolError, match=r"it closed the connection$"):
        connecting.result(PATIENCE)
    assert time.monotonic() - begun < PATIENCE / 4


@pytest.mark.parametrize("garbage", [b"GET / HTTP/1.0\r\n\r\n", b"\0" * 100, os.urandom(5000), b"dgra" * 50])
def test_garbage_does_not_disturb_the_listener(meeting, garbage):
    meeting.raw().sendall(garbage)
    assert "a connection from 127.0.0.1:" in refusal(meeting)
    assert "\n" not in meeting.refusals[0]
    meeting.finish()


def test_silent_callers_do_not_keep_the_party_waiting(meeting):
    for _ in range(10):
        meeting.raw()
    hung_up = meeting.raw()
    hung_up.close()
    begun = time.monotonic()
    meeting.finish()
    assert time.monotonic() - begun < PATIENCE  # the time that each of them has to shake hands


def test_a_caller_that_resets_at_once_is_refused(meeting):
    raw = meeting.raw()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    raw.close()
    assert "it closed the connection" in refusal(meeting)
    meeting.finish()


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"x" * 24, "party 'b' sent bytes that are not a message of dagora"),
        (pack(FrameKind.MESSAGE, b"x", 0, 0), "party 'b' did not begin with a hello"),
        (
            pack(FrameKind.MESSAGE, b"x", 0, 1 << 28),
            f"announced a message of {1 << 28} bytes; the limit is 0",
        ),
        (pack(FrameKind.MESSAGE, b"x", 0, 1), "party 'b' announced a message of 1 bytes; the limit is 0"),
        (pack(FrameKind.HELLO)[:10], "it left before the run began"),
        (b"", "it left before the run began"),
        (pack(FrameKind.HELLO) + b"x", "party 'b': it left before the run began"),
    ],
)
def test_a_party_that_does_not_begin_well_may_try_again(credentials, raw, why):
    refused = []
    with Listener(credentials["host"], ["b", "c"], on_refusal=refused.append) as listener:
        accepting = start(listener.accept, PATIENCE)
        caller = socket.create_connection((HERE, listener.port), timeout=PATIENCE)
        with client_context(credentials["b"]).wrap_socket(caller) as tls:
            tls.sendall(raw)
        eventually(lambda: len(refused) == 1)
        assert why in refused[0]
        others = [start(connect, credentials[n], HERE, listener.port, wait=PATIENCE) for n in ("b", "c")]
        for party in [*(other.result(PATIENCE) for other in others), accepting.result(PATIENCE)]:
            party.close()


def test_a_listener_may_not_send_anything_large_before_the_run(credentials):
    context = server_context(credentials["host"])

    def announce(raw):
        with context.wrap_socket(raw, server_side=True) as tls:
            tls.recv(24)
            tls.sendall(pack(FrameKind.MESSAGE, b"x", 0, 1 << 28))
            tls.recv(24)

    with serving(announce) as port, pytest.raises(ProtocolError) as caught:
        connect(credentials["b"], HERE, port, wait=PATIENCE)
    assert str(caught.value) == f"party 'host' announced a message of {1 << 28} bytes; the limit is 0"


def test_the_certificate_of_the_peer_is_known(meeting, credentials):
    host, b = meeting.finish()
    assert host.fingerprints == {"b": fingerprint(credentials["b"].certificate.read_bytes())}
    assert b.fingerprints == {"host": fingerprint(credentials["host"].certificate.read_bytes())}


def test_an_unexpected_party_is_told_so(meeting, credentials):
    with pytest.raises(ProtocolError, match=r"^party 'host' ended the run: no party 'stranger' is expected$"):
        connect(credentials["stranger"], HERE, meeting.port, peer="host", wait=PATIENCE)
    assert refusal(meeting) == "refused party 'stranger': no party 'stranger' is expected"
    meeting.finish()


def test_nobody_can_bear_the_host_s_name(meeting, credentials):
    with pytest.raises(ProtocolError, match="the name 'host' is taken"):
        connect(credentials["host"], HERE, meeting.port, wait=PATIENCE)
    meeting.finish()


def test_a_second_bearer_of_a_name_is_refused(credentials, attendance):
    with Listener(credentials["host"], ["b", "c"]) as listener:
        accepting = start(listener.accept, PATIENCE)
        first = start(connect, credentials["b"], HERE, listener.port, wait=PATIENCE)
        attendance.wait_for("b")
        with pytest.raises(ProtocolError, match=r"^party 'host' ended the run: the name 'b' is taken$"):
            connect(credentials["b"], HERE, listener.port, wait=PATIENCE)
        c = connect(credentials["c"], HERE, listener.port, wait=PATIENCE)
        for party in (first.result(PATIENCE), c, accepting.result(PATIENCE)):
            party.close()


def test_a_party_that_left_early_may_come_back(credentials, monkeypatch):
    await_welcome = tcp._await_welcome

    def await_briefly(connection, deadline, wait, where, own):
        await_welcome(connection, time.monotonic() + 0.1, wait, where, own)

    refused = []
    with Listener(credentials["host"], 2, on_refusal=refused.append) as listener:
        accepting = start(listener.accept, PATIENCE)
        with monkeypatch.context() as patch:
            patch.setattr(tcp, "_await_welcome", await_briefly)
            with pytest.raises(ProtocolError, match="party 'host' did not begin within 60 s"):
                connect(credentials["b"], HERE, listener.port, wait=PATIENCE)
        eventually(lambda: refused == ["refused party 'b': it left before the run began"])
        others = [start(connect, credentials[n], HERE, listener.port, wait=PATIENCE) for n in ("b", "c")]
        host = accepting.result(PATIENCE)
        assert list(host.peers) == ["b", "c"]
        for party in [*(other.result(PATIENCE) for other in others), host]:
            party.close()


def test_a_listener_that_waits_in_vain_says_for_whom_to_all(credentials, attendance):
    with Listener(credentials["host"], ["b", "c", "d"]) as listener:
        accepting = start(listener.accept, PATIENCE)
        early = start(connect, credentials["b"], HERE, listener.port, wait=PATIENCE)
        attendance.wait_for("b")
        attendance.give_up()
        with pytest.raises(ProtocolError, match=r"^waited 60 s in vain for 'c', 'd'$"):
            accepting.result(PATIENCE)
        with pytest.raises(
            ProtocolError, match=r"^party 'host' ended the run: waited 60 s in vain for 'c', 'd'$"
        ):
            early.result(PATIENCE)
    with (
        Listener(credentials["host"], 2) as listener,
        pytest.raises(ProtocolError, match=r"^0 of 2 parties came"),
    ):
        listener.accept(0.1)


def test_a_latecomer_is_turned_away(meeting, credentials):
    meeting.finish()
    with pytest.raises(ProtocolError, match="nobody listens"):
        connect(credentials["c"], HERE, meeting.port, wait=0.1)


def test_the_client_may_start_first(credentials):
    with socket.create_server((HERE, 0)) as chosen:
        port = chosen.getsockname()[1]
    connecting = start(connect, credentials["b"], HERE, port, peer="host", wait=PATIENCE)
    time.sleep(0.2)
    with Listener(credentials["host"], ["b"], port=port) as listener:
        host = listener.accept(PATIENCE)
        b = connecting.result(PATIENCE)
        host.send("b", "greeting", b"come in")
        b.send("host", "answer", b"gladly")
        assert (b.receive("host", "greeting"), host.receive("b", "answer")) == (b"come in", b"gladly")
        b.close()
        host.close()


def test_the_listener_must_prove_its_name(meeting, credentials):
    with pytest.raises(ProtocolError, match="it is party 'host', not 'd'"):
        connect(credentials["b"], HERE, meeting.port, peer="d", wait=PATIENCE)
    assert "party 'b' ended the run: 127.0.0.1:" in refusal(meeting)
    meeting.finish()


def test_nobody_listens(credentials):
    with socket.create_server((HERE, 0)) as chosen:
        port = chosen.getsockname()[1]
    begun = time.monotonic()
    with pytest.raises(
        ProtocolError, match=rf"^nobody listens at 127.0.0.1:{port} \(tried for 0\.2 s\): conn"
    ):
        connect(credentials["b"], HERE, port, wait=0.2)
    assert time.monotonic() - begun < PATIENCE


def test_places_where_one_cannot_listen(credentials):
    with Listener(credentials["host"], ["b"]) as listener:
        assert listener.host == HERE
        assert listener._socket.getsockname()[0] == HERE
        with pytest.raises(
            ProtocolError, match=f"cannot listen on 127.0.0.1:{listener.port}: address already in use"
        ):
            Listener(credentials["host"], ["b"], port=listener.port)
    with pytest.raises(ProtocolError, match="99999 is not a port"):
        Listener(credentials["host"], ["b"], port=99999)


# --- frames of a peer that misbehaves


def tls_of(party, peer):
    return party._connections[peer]


def say(party, peer, raw: bytes) -> None:
    tls_of(party, peer)._write(memoryview(raw), time.monotonic() + PATIENCE, PATIENCE)


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        (b"x" * 100, "sent bytes that are not a message of dagora"),
        (pack(FrameKind.MESSAGE, b"t", 0, 1001), "announced a message of 1001 bytes; the limit is 1000"),
        (pack(FrameKind.MESSAGE, b"t", 0, (1 << 64) - 1), f"announced a message of {(1 << 64) - 1} bytes"),
        (pack(FrameKind.MESSAGE, b"t" * 201, 0, 0), "sent a tag of 201 bytes"),
        (pack(FrameKind.MESSAGE, b"", 0, 0), "sent a tag of 0 bytes"),
        (pack(FrameKind.MESSAGE, b"\xff", 0, 0), "sent a tag that is not text"),
        (pack(FrameKind.MESSAGE, b"a\nb", 0, 0), "sent a tag that is not printable"),
        (pack(FrameKind.MESSAGE, b"t", 7, 0), "skipped message 0 of 't'"),
        (pack(FrameKind.WELCOME), "began the run twice"),
        (pack(FrameKind.GOODBYE, b"", 0, 5), "announced a message of 5 bytes; the limit is 0"),
        (HEADER.pack(b"dgra", 9, 3, 1, 0, 0), "speaks version 9 of the protocol, not 1"),
        (HEADER.pack(b"dgra", 1, 77, 1, 0, 0), "sent a message of the unknown kind 77"),
    ],
)
def test_a_bad_frame_ends_the_run_on_both_sides(credentials, raw, fault):
    limits = MessageLimits(message_bytes=1000)
    with Listener(credentials["host"], ["b"], limits=limits) as listener:
        connecting = start(connect, credentials["b"], HERE, listener.port, wait=PATIENCE)
        host, b = listener.accept(PATIENCE), connecting.result(PATIENCE)
    say(b, "host", raw)
    with pytest.raises(ProtocolError) as caught:
        host.receive("b", "x", PATIENCE)
    assert str(caught.value).startswith(f"party 'b' {fault}")
    with pytest.raises(ProtocolError) as caught:
        b.receive("host", "x", PATIENCE)
    assert str(caught.value).startswith(f"party 'host' ended the run: party 'b' {fault}")
    host.close()
    b.close()


@pytest.mark.parametrize("cut", [1, 23, 24, 25, 30])
def test_a_frame_cut_short_is_noticed(meeting, cut):
    host, b = meeting.finish()
    say(b, "host", (pack(FrameKind.MESSAGE, b"tag", 0, 10) + bytes(10))[:cut])
    vanish(b)
    with pytest.raises(
        ProtocolError, match=r"^the connection to party 'b' was lost in the middle of a message$"
    ):
        host.receive("b", "tag", PATIENCE)


def test_a_large_send_to_a_party_that_aborts_learns_the_reason(meeting):
    host, b = meeting.finish()
    b._inbox._limits = MessageLimits(backlog_bytes=1)
    sending = start(lambda: [host.send("b", "x", bytes(5_000_000)) for _ in range(100)])
    time.sleep(0.1)
    b.close("no more room")
    with pytest.raises(ProtocolError, match=r"^party 'b' ended the run: no more room$"):
        sending.result(PATIENCE)


@given(st.integers(1, 200), st.integers(0, 2**64 - 1), st.integers(0, 1000))
def test_a_valid_header_is_read_as_it_was_written(tag_length, sequence, payload_length):
    raw = pack(FrameKind.MESSAGE, b"t" * tag_length, sequence, payload_length)
    header = parse(raw, MessageLimits(message_bytes=1000))
    assert header == FrameHeader(FrameKind.MESSAGE, tag_length, sequence, payload_length)
    assert parse_tag(raw[24:]) == "t" * tag_length


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(min_size=24, max_size=24), st.binary(max_size=20))
def test_any_header_is_read_or_refused(noise, tag):
    limits = MessageLimits(message_bytes=1000)
    for raw in (noise, b"dgra\1\3" + noise[6:], struct.pack("<4sBBH", b"dgra", 1, 3, 5) + noise[8:]):
        try:
            header = parse(raw, limits)
        except ProtocolError:
            continue
        assert header.payload_length <= 2000
        assert header.tag_length <= 200
    with contextlib.suppress(ProtocolError):
        assert parse_tag(tag).encode() == tag


def test_the_network_sees_neither_tags_nor_payloads(credentials):
    seen = bytearray()
    with Listener(credentials["host"], ["b"]) as listener, socket.create_server((HERE, 0)) as tap:

        def copy(source, target):
            while chunk := source.recv(1 << 16):
                seen.extend(chunk)
                target.sendall(chunk)

        def relay():
            inner, _ = tap.accept()
            with inner, socket.create_connection((HERE, listener.port)) as outer:
                back = threading.Thread(target=copy, args=(outer, inner), daemon=True)
                back.start()
                copy(inner, outer)
                outer.shutdown(socket.SHUT_WR)
                back.join(PATIENCE)

        relaying = start(relay)
        connecting = start(connect, credentials["b"], HERE, tap.getsockname()[1], wait=PATIENCE)
        host, b = listener.accept(PATIENCE), connecting.result(PATIENCE)
        b.send("host", "the secret tag", b"the secret payload" * 100)
        assert host.receive("b", "the secret tag", PATIENCE) == b"the secret payload" * 100
        host.close("the secret reason")
        b.close()
        relaying.result(PATIENCE)
    assert len(seen) > 2000
    assert b"secret" not in seen
    assert b"dgra" not in seen


def test_a_round_trip_is_quick(meeting):
    """Nothing waits for a delayed acknowledgement or the next look around (40 ms and more).

    On a busy machine many round trips are slow for other reasons, but such a delay would spare none.
    """
    host, b = meeting.finish()

    def echo():
        with contextlib.suppress(ProtocolError):
            while True:
                b.send("host", "pong", b.receive("host", "ping", PATIENCE))

    def round_trip():
        begun = time.perf_counter()
        host.send("b", "ping", b"x")
        host.receive("b", "pong", PATIENCE)
        return time.perf_counter() - begun

    start(echo)
    for _ in range(50):
        round_trip()  # acknowledgements are not delayed at first
    quick, deadline = 0, time.monotonic() + PATIENCE
    while quick < 10:
        assert time.monotonic() < deadline, f"only {quick} round trips took less than 20 ms"
        quick += round_trip() < 0.02


def test_a_listener_names_those_it_waits_for(credentials):
    absent: list[tuple[str, ...]] = []
    with Listener(credentials["host"], ["b", "c"]) as listener:
        accepting = start(lambda: listener.accept(PATIENCE, absent.append))
        joining = [start(connect, credentials["b"], HERE, listener.port, wait=PATIENCE)]
        eventually(lambda: absent == [("c",)])
        joining.append(start(connect, credentials["c"], HERE, listener.port, wait=PATIENCE))
        for one in (accepting, *joining):
            one.result(PATIENCE).close()
    assert absent == [("c",), ()]
