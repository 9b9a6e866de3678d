"""The door under siege: callers who never finish keep nobody out, and cost neither threads nor lines."""

import contextlib
import re
import socket
import ssl
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from dagora.base import crowds
from dagora.base.crowds import FAIR_SHARE
from dagora.base.errors import ProtocolError
from dagora.parties.transport import door, listener, tcp
from dagora.parties.transport.caller import CallerStage, TlsCaller
from dagora.parties.transport.certificates import client_context
from dagora.parties.transport.connection import Connection
from dagora.parties.transport.door import ROOMS, ListenerDoor, Refusal, StageRoom
from dagora.parties.transport.listener import Listener, RefusalLog, greeter
from dagora.parties.transport.tcp import connect
from dagora.parties.transport.transport import MessageLimits
from dagora.parties.transport.wire_format import FrameKind, pack
from tests.parties.network import PATIENCE, eventually, hung_up_on, start

HERE = "127.0.0.1"
CROWD = Path(__file__).parents[3] / "benchmarks" / "workers" / "crowd.py"
MOST_SECONDS = 5.0


@contextlib.contextmanager
def crowd(port: int, kind: str, count: int, *more: object):
    """A process that keeps `count` unfinished connections open, for a minute at most."""
    line = [sys.executable, str(CROWD), str(port), kind, str(count), "60", *map(str, more)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert re.fullmatch(r"\d+ came\n", process.stdout.readline())
            yield process
        finally:
            process.terminate()


@pytest.mark.parametrize(
    ("kind", "count"),
    # Those with a certificate take as much of the machine's time as a site does: each is a handshake.
    [("silent", 500), ("half", 500), ("drip", 500), ("proved", 100)],
)
def test_three_sites_are_in_while_a_crowd_stands_at_the_door(credentials, kind, count):
    said: list[str] = []
    threads = threading.active_count()
    with Listener(credentials["host"], ["b", "c", "d"], on_refusal=said.append) as listener:
        accepting = start(listener.accept, PATIENCE)
        certificate = [credentials["stranger"].key.parent] * (kind == "proved")
        with crowd(listener.port, kind, count, *certificate):
            assert threading.active_count() <= threads + 1
            begun = time.monotonic()
            sites = [start(connect, credentials[name], HERE, listener.port) for name in ("b", "c", "d")]
            parties = [accepting.result(PATIENCE), *(site.result(PATIENCE) for site in sites)]
            assert time.monotonic() - begun < MOST_SECONDS
            for party in parties:
                party.close()
    assert 1 <= len(said) < 10, said
    assert any(re.match(r"refused \d+ more connections", line) for line in said)


@contextlib.contextmanager
def slow_line(port: int, delay: float):
    """A port that leads to another, and takes its time with whatever is said, either way."""

    def carry(source, target):
        with contextlib.suppress(OSError):
            while words := source.recv(1 << 16):
                time.sleep(delay)
                target.sendall(words)
            target.shutdown(socket.SHUT_WR)

    def lead(near):
        time.sleep(delay)
        with near, socket.create_connection((HERE, port), timeout=PATIENCE) as far:
            back = start(carry, far, near)
            carry(near, far)
            back.result(PATIENCE)

    def serve():
        with contextlib.suppress(OSError):
            while True:
                start(lead, listening.accept()[0])

    with socket.create_server((HERE, 0)) as listening:
        start(serve)
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)


@pytest.mark.full
@pytest.mark.parametrize(("kind", "count"), [("passing", 600), ("greeting", 500)])
def test_sites_far_away_are_in_while_a_crowd_comes_again_and_again(credentials, kind, count):
    """Round trips of 300 ms, and a crowd at the same address: 600 a second, or 500 who come again at once."""
    names = ("b", "c", "d")
    with Listener(credentials["host"], names) as listener, slow_line(listener.port, 0.15) as port:
        accepting = start(listener.accept, PATIENCE)
        with crowd(listener.port, kind, count):
            sites = [start(connect, credentials[name], HERE, port, wait=PATIENCE) for name in names]
            for party in [accepting.result(PATIENCE), *(site.result(PATIENCE) for site in sites)]:
                party.close()


@pytest.fixture
def outside(credentials):
    """A door that nobody looks after but the test, and a way to call at it."""
    with contextlib.ExitStack() as stack:
        listening = stack.enter_context(socket.create_server((HERE, 0), backlog=100))
        listening.setblocking(False)

        class Outside:
            inside = ListenerDoor(listening, greeter(credentials["host"], MessageLimits()))

            @staticmethod
            def call() -> socket.socket:
                line = socket.create_connection(listening.getsockname(), timeout=PATIENCE)
                return stack.enter_context(line)

            @classmethod
            def look(cls, seconds: float = 0.05) -> list:
                """All news within some time."""
                news, deadline = [], time.monotonic() + seconds
                while (left := deadline - time.monotonic()) > 0:
                    news += cls.inside.look(left)
                return news

        stack.callback(Outside.inside.close)
        yield Outside


def closed(line: socket.socket) -> bool:
    line.setblocking(False)
    try:
        return not line.recv(1)
    except BlockingIOError:
        return False
    except OSError:
        return True


def test_a_silent_caller_has_little_time(outside, monkeypatch):
    monkeypatch.setattr(door, "FIRST_BYTE_SECONDS", 0.2)
    outside.call()
    assert outside.look(0.1) == []
    (refusal,) = outside.look(0.3)
    assert (refusal.why, refusal.idle) == ("it said nothing within 0.2 s", True)
    assert len(outside.inside._callers) == 0


def test_talking_on_and_on_does_not_help(outside, monkeypatch):
    monkeypatch.setattr(door, "HELLO_SECONDS", 0.4)
    line = outside.call()
    news, drops = [], iter(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(400))
    while not news:
        line.send(bytes([next(drops)]))
        news = outside.look(0.02)
    assert [refusal.why for refusal in news] == ["it did not finish its greeting within 0.4 s"]


def test_the_oldest_silent_caller_gives_way(outside, monkeypatch):
    monkeypatch.setitem(ROOMS, CallerStage.SILENT, StageRoom(3, 0.0))
    silent = []
    for _ in range(5):
        silent.append(outside.call())
        outside.look()
    assert [closed(line) for line in silent] == [True, True, False, False, False]


def test_where_nobody_had_a_moment_one_gives_way_by_chance(outside, monkeypatch):
    monkeypatch.setitem(ROOMS, CallerStage.SILENT, StageRoom(3, PATIENCE))
    monkeypatch.setattr(crowds.secrets, "choice", lambda callers: sorted(callers, key=lambda c: c.came)[1])
    silent = []
    for _ in range(5):
        silent.append(outside.call())
        outside.look()
    assert [closed(line) for line in silent] == [False, True, True, False, False]


def client_hello() -> bytes:
    """What a TLS client says first."""
    out = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), out, server_hostname="host").do_handshake()
    return out.read()


def test_callers_give_way_only_to_those_who_are_as_far(outside, monkeypatch):
    """However long they have been there, and however young the others are."""
    hello = client_hello()
    half, whole = outside.call(), outside.call()
    half.sendall(hello[:50])
    whole.sendall(hello)
    outside.look()
    assert whole.recv(1 << 16), "it was answered"
    for stage in ROOMS:
        monkeypatch.setitem(ROOMS, stage, StageRoom(3, 0.0))
    for _ in range(20):
        outside.call()
        outside.look(0.01)
    assert not closed(half)
    for _ in range(20):
        outside.call().sendall(hello[:5])
        outside.look(0.01)
    assert closed(half)
    assert not closed(whole)
    for _ in range(20):
        outside.call().sendall(hello)
        outside.look(0.01)
    assert hung_up_on(whole)
    assert len(outside.inside._callers) <= 9


@pytest.mark.parametrize(
    ("hosts", "crowded"),
    [
        (["a"] * (FAIR_SHARE + 1) + ["b"] * FAIR_SHARE, {"a"}),
        (["a"] * FAIR_SHARE + ["b", "c"], {"a", "b", "c"}),
    ],
)
def test_an_address_with_more_than_its_share_gives_way(hosts, crowded):
    callers = [SimpleNamespace(host=host) for host in hosts]
    assert {caller.host for caller in crowds.crowd_of(callers)} == crowded


def test_the_number_of_unfinished_callers_is_bounded(outside, monkeypatch):
    monkeypatch.setitem(ROOMS, CallerStage.SILENT, StageRoom(6, PATIENCE))
    for _ in range(20):
        outside.call()
        outside.look(0.01)
        assert len(outside.inside._callers) <= 6
    assert sum(room.places for room in ROOMS.values()) < 800, "most systems allow 1024 open files"


def test_who_has_shown_a_certificate_gives_way_to_its_own_name_only(outside, credentials, monkeypatch):
    for stage in ROOMS:
        monkeypatch.setitem(ROOMS, stage, StageRoom(2, 0.0))

    def prove(name):
        raw = outside.call()
        shaking = start(client_context(credentials[name]).wrap_socket, raw)
        news = []
        eventually(lambda: news.extend(outside.look(0.01)) or shaking.done())
        return shaking.result(), news + outside.look()

    first, _ = prove("b")
    for _ in range(5):
        outside.call()
        outside.look()
    other, news = prove("c")
    assert not any("came again" in refusal.why for refusal in news)
    second, news = prove("b")
    assert "party 'b' came again before it had finished" in [refusal.why for refusal in news]
    assert closed(first)
    other.setblocking(True)
    other.sendall(pack(FrameKind.HELLO))
    second.setblocking(True)
    second.sendall(pack(FrameKind.HELLO))
    arrived = [news for news in outside.look(0.2) if not isinstance(news, Refusal)]
    assert sorted(connection.peer for connection in arrived) == ["b", "c"]
    for each in (*arrived, first, second, other):
        each.drop() if isinstance(each, Connection) else each.close()


def test_a_thousand_refusals_are_a_few_lines(monkeypatch):
    said: list[str] = []
    log = RefusalLog(said.append)
    log.add("a connection", "10.0.0.9:1", "its certificate is not signed by our CA")
    for port in range(1000):
        log.add("a connection", f"10.0.0.1:{port}", "it said nothing within 2 s", idle=True)
    assert said == [
        "refused a connection from 10.0.0.9:1: its certificate is not signed by our CA",
        "refused a connection from 10.0.0.1:0: it said nothing within 2 s",
    ]
    assert "not signed" in log.latest, "idleness does not hide what matters"
    monkeypatch.setattr(listener, "SUM_SECONDS", 0.0)
    log.add("a connection", "10.0.0.2:7", "it said nothing within 2 s", idle=True)
    assert said[2:] == [
        "refused 1000 more connections: it said nothing within 2 s (the last from 10.0.0.2:7)"
    ]
    for number in range(1000):
        log.add("a connection", "10.0.0.3:1", f"party 'b' ended the run: reason {number}")
    assert len(log._known) <= listener.MOST_KINDS + 1


def test_a_site_that_was_pushed_out_comes_again(credentials, monkeypatch):
    """A crowded door may close a connection half way; the site tries again by itself."""
    pushed: list[str] = []
    accept = TlsCaller.accept

    def push(raw, address, *more):
        if len(pushed) < 20:
            pushed.append(f"{address}")
            raw.close()
            raise ProtocolError("it did not finish, and others wait")
        return accept(raw, address, *more)

    monkeypatch.setattr(TlsCaller, "accept", push)
    monkeypatch.setattr(tcp, "LONGEST_PAUSE", 0.05)
    with Listener(credentials["host"], ["b"]) as listener:
        accepting = start(listener.accept, PATIENCE)
        b = connect(credentials["b"], HERE, listener.port, wait=PATIENCE)
        accepting.result(PATIENCE).close()
        b.close()
    assert len(set(pushed)) == 20
