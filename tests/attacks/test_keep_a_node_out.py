"""A program of another user of a site's machine, without the token, wants its SuperNode to find no daemon."""

import contextlib
import resource
import socket
import threading
import time

import pytest

from dagora.base.errors import ProtocolError
from dagora.parties.horizontal.flower.daemon import Daemon
from dagora.parties.horizontal.flower.local_socket import DaemonAddress, visit
from dagora.parties.horizontal.flower.relay import Hello, Welcome, decode_welcome, encode_hello
from tests.parties.network import eventually

TOKEN = b"t" * 64
HELLO = encode_hello(Hello(bytes(16), ("other",)))
WORDS = {"silent": b"", "a byte": b"x", "half a proof": b"x" * 40, "a wrong proof": b"x" * 64}
MOST_SECONDS = 5.0


@contextlib.contextmanager
def crowd(daemon: Daemon, count: int, words: bytes):
    """Connections that stay open, each opened again when it is closed, as long as the test runs."""
    over = threading.Event()
    full = threading.Event()

    def stand() -> None:
        with contextlib.ExitStack() as held:
            lines: list[socket.socket] = []
            while not over.is_set():
                if len(lines) >= count:
                    full.set()
                    lines.pop(0).close()
                with contextlib.suppress(OSError):
                    line = held.enter_context(socket.create_connection(daemon.place.address, timeout=1.0))
                    line.sendall(words)
                    lines.append(line)
                time.sleep(0.001)

    standing = threading.Thread(target=stand, daemon=True)
    standing.start()
    try:
        assert full.wait(60)
        yield
    finally:
        over.set()
        standing.join(60)


@pytest.mark.parametrize("words", WORDS)
def test_a_crowd_at_the_port(words):
    said: list[str] = []
    with Daemon("a", DaemonAddress(), TOKEN, on_refusal=said.append) as daemon:
        threads = threading.active_count()
        with crowd(daemon, 300, WORDS[words]):
            assert threading.active_count() <= threads + 1, "callers have no threads"
            for _ in range(5):
                begun = time.monotonic()
                answer = visit(daemon.place, TOKEN, HELLO, 5.0)
                assert decode_welcome(answer, "x") == Welcome("a", joins=False)
                assert time.monotonic() - begun < MOST_SECONDS
    assert len(said) < 10, said


def test_where_few_files_may_be_open(monkeypatch):
    """The crowd gives way where the daemon can open no more."""
    monkeypatch.setattr("dagora.parties.transport.door.FIRST_BYTE_SECONDS", 60.0)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with Daemon("a", DaemonAddress(), TOKEN) as daemon, contextlib.ExitStack() as held:
        for _ in range(40):
            held.enter_context(socket.create_connection(daemon.place.address))
        eventually(lambda: len(daemon._door._callers) == 40)
        with socket.socket() as last:  # the visitor's own: none is left for the daemon
            limit = last.fileno() + 1
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
        try:
            for _ in range(5):
                visit(daemon.place, TOKEN, HELLO, 5.0)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_runs_that_are_begun_without_end_take_no_memory(tmp_path):
    """Each was kept until the site came to it, which then failed in one after the other before the last."""
    with Daemon("a", DaemonAddress(path=str(tmp_path / "s")), TOKEN) as daemon:
        for number in range(50):
            hello = encode_hello(Hello(number.to_bytes(16, "big"), ("a",)))
            assert decode_welcome(visit(daemon.place, TOKEN, hello, 5.0), "x") == Welcome("a", joins=True)
        assert daemon.next_run(5.0).run == (49).to_bytes(16, "big")
        with pytest.raises(ProtocolError, match="nobody began a run"):
            daemon.next_run(0.1)
