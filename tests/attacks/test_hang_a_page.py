"""A program of another user of the machine, without the token, wants the page of `dagora explore` to hang."""

import contextlib
import http.client
import os
import re
import socket
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from dagora.explore.doorkeeper import Door
from tests.conftest import ROOT
from tests.explore.conftest import Client
from tests.parties.network import eventually

pytest.importorskip("starlette", reason="needs Starlette: the extra 'app'")
pytest.importorskip("uvicorn", reason="needs Uvicorn: the extra 'app'")

HERE = "127.0.0.1"
FILES = 256  # that a program may have open on macOS
MOST_SECONDS = 5.0


@contextlib.contextmanager
def running(folder):
    """The command as a process; yields the client, and a function that ends it and returns what it said."""
    limited = ["sh", "-c", f'ulimit -n {FILES}; exec "$0" "$@"']
    process = subprocess.Popen(
        [*limited, sys.executable, "-m", "dagora", "explore", "--no-browser", "--quiet"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "TMPDIR": str(folder)},
    )  # fmt: skip
    try:
        port, token = re.search(r":(\d+)/\?token=(\S+)", process.stdout.readline()).groups()

        def end() -> str:
            process.terminate()
            return process.communicate(timeout=60)[1]

        yield Client(SimpleNamespace(door=Door(int(port), token))), end
    finally:
        process.kill()
        process.communicate()


def words(kind: str, client: Client) -> bytes:
    host = f"GET / HTTP/1.1\r\nHost: {client.host}\r\n"
    return {
        "silent": b"",
        "half a request": host.encode(),
        "no token": f"{host}\r\n".encode(),
        "no end": f"POST /api/table HTTP/1.1\r\nHost: {client.host}\r\nContent-Length: 9\r\n\r\na".encode(),
        "no HTTP": b"\x16\x03\x01",
    }[kind]


KINDS = ("silent", "half a request", "no token", "no end", "no HTTP")


@pytest.mark.full
def test_connections_without_the_token(tmp_path):
    """More than the server may open files, of each kind."""
    with running(tmp_path) as (client, end), contextlib.ExitStack() as held:
        for kind in KINDS:
            for _ in range(FILES + 50):
                line = socket.create_connection((HERE, client.server.door.port), timeout=10)
                held.enter_context(line)
                with contextlib.suppress(OSError):  # it was pushed out already
                    line.sendall(words(kind, client))
            for _ in range(5):
                begun = time.monotonic()
                assert client.get("/api/state").status == 200, kind
                assert time.monotonic() - begun < MOST_SECONDS, kind
        assert "Traceback" not in end()


@pytest.fixture
def server():
    from dagora.explore.server import Server
    from tests.parties.network import start

    server = Server(most_upload=1000, reading={})
    running = start(server.run, lambda _address: None)
    try:
        yield Client(server)
    finally:
        server.stop()
        running.result(20)
        server.close()


def is_open(line: socket.socket) -> bool:
    line.setblocking(False)
    try:
        while more := line.recv(1 << 16):
            pass
    except BlockingIOError:
        return True
    except OSError:
        return False
    return bool(more)


@pytest.mark.full
@pytest.mark.parametrize("kind", ["silent", "half a request", "no token"])
def test_few_of_many_are_held(server, kind, monkeypatch):
    """However much time each of them has."""
    for limit in ("FIRST_BYTE_SECONDS", "HELLO_SECONDS"):
        monkeypatch.setattr(f"dagora.explore.visitors.{limit}", 60.0)
    with contextlib.ExitStack() as held:
        lines = []
        for _ in range(100):
            line = socket.create_connection((HERE, server.server.door.port), timeout=10)
            lines.append(held.enter_context(line))
            with contextlib.suppress(OSError):
                line.sendall(words(kind, server))
        eventually(lambda: sum(map(is_open, lines)) <= 64, 20)
        assert server.get("/api/state").status == 200


def test_who_has_not_shown_the_token_gets_one_answer(server):
    """And is let go: a second request on the same connection is not heard."""
    with socket.create_connection((HERE, server.server.door.port), timeout=10) as line:
        line.sendall(2 * words("no token", server))
        said = b""
        with contextlib.suppress(ConnectionResetError):
            while more := line.recv(1 << 16):  # until it is closed
                said += more
    assert said.startswith(b"HTTP/1.1 403 ")
    assert said.count(b"HTTP/1.1 ") == 1


def test_who_has_shown_the_token_may_stay(server, monkeypatch):
    """However many come after it; it may ask again on the same connection."""
    monkeypatch.setattr("dagora.explore.visitors.FIRST_BYTE_SECONDS", 0.2)
    monkeypatch.setattr("dagora.explore.visitors.HELLO_SECONDS", 0.4)
    door = server.server.door
    owner = http.client.HTTPConnection(HERE, door.port, timeout=10)
    with contextlib.closing(owner), contextlib.ExitStack() as held:

        def ask() -> int:
            owner.request("GET", "/api/state", headers={"X-Dagora-Token": door.token})
            answer = owner.getresponse()
            answer.read()
            return answer.status

        assert ask() == 200
        line = owner.sock
        strangers = [held.enter_context(socket.create_connection((HERE, door.port))) for _ in range(100)]
        time.sleep(0.6)
        assert not any(map(is_open, strangers))
        assert ask() == 200
        assert owner.sock is line, "the same connection"
