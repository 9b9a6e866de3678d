"""The command: what it refuses, and how it ends, also where it is not asked politely."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest

from dagora.cli.explore import announce
from dagora.explore.doorkeeper import Door
from tests.conftest import ROOT
from tests.explore.conftest import Client


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.csv"], "there is no such file"),
        (["{folder}"], "reads one file into memory"),
        (["{garden}", "--sample", "10"], "reads one file into memory"),
        (["{garden}", "--drop", "zebra"], "zebra"),
        (["{garden}", "--continuous", "season"], "season"),
        (["--port", "{port}"], "cannot be used"),
        (["--max-upload", "0"], "--max-upload"),
    ],
)
def test_bad_input(run, garden: Path, arguments: list[str], said: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        places = {"folder": garden.parent, "garden": garden, "port": taken.getsockname()[1]}
        ran = run("explore", "--no-browser", *(argument.format(**places) for argument in arguments))
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran.err
    assert said in ran.err


def begin_upload(client: Client, _table: bytes, held: ExitStack) -> None:
    """Send the head of a request and half of what it promises."""
    line = held.enter_context(socket.create_connection(("127.0.0.1", client.server.door.port)))
    head = (
        f"POST /api/table HTTP/1.1\r\nHost: {client.host}\r\nX-Dagora-Token: {client.server.door.token}\r\n"
    )
    line.sendall(f"{head}X-File-Name: t.csv\r\nContent-Length: 40\r\n\r\na,b\n0,1\n".encode())


def upload(client: Client, table: bytes, _held: ExitStack) -> None:
    assert client.upload(table).status == 200


def upload_and_end_a_run(client: Client, table: bytes, held: ExitStack) -> None:
    upload(client, table, held)
    assert client.post("/api/learn", {"method": "tabu"}).status == 200
    assert client.post("/api/stop", {"at_once": True}).status == 200


# Whatever runs the tests may ignore SIGHUP, as `nohup` does, and the server would too.
EXPLORE = """
import runpy, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)
sys.argv = ["dagora", "explore", "--no-browser", "--quiet"]
runpy.run_module("dagora", run_name="__main__")
"""


@pytest.mark.parametrize(
    ("before", "by"),
    [
        (begin_upload, signal.SIGKILL),
        (upload_and_end_a_run, signal.SIGKILL),
        (upload, signal.SIGTERM),
        (begin_upload, signal.SIGHUP),
    ],
)
def test_nothing_is_left_behind(tmp_path: Path, garden: Path, before, by: signal.Signals) -> None:
    """A server that is killed cannot clean up: a process of its own does. (`tests/browser` has Ctrl-C.)"""
    server = subprocess.Popen(
        [sys.executable, "-c", EXPLORE],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    held = ExitStack()
    held.callback(server.communicate)
    held.callback(server.kill)
    with held:
        address = server.stdout.readline()
        port, token = re.fullmatch(r"http://127.0.0.1:(\d+)/\?token=([\w-]{43,})\n", address).groups()
        before(Client(SimpleNamespace(door=Door(int(port), token))), garden.read_bytes(), held)
        assert until(lambda: list(tmp_path.glob("dagora-explore-*/*/*.csv"))), "or this would show nothing"
        server.send_signal(by)
        server.wait(20)
        assert until(lambda: not list(tmp_path.iterdir()))
        assert server.returncode == (-by if by == signal.SIGKILL else 0)


def until(done: Callable[[], object]) -> bool:
    """Wait until something is so; False where that does not happen."""
    limit = time.monotonic() + 20
    while not done() and time.monotonic() < limit:
        time.sleep(0.02)
    return bool(done())


def test_the_browser_is_told_without_the_token(tmp_path: Path, monkeypatch, capsys) -> None:
    """Every user of the machine can read what a browser is started with."""
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    address = "http://127.0.0.1:1/?token=secret"
    announce(address, None)
    assert opened == []
    announce(address, tmp_path)
    assert opened == [(tmp_path / "open.html").as_uri()]
    assert (tmp_path / "open.html").stat().st_mode & 0o777 == 0o600
    assert f'content="0; url={address}"' in (tmp_path / "open.html").read_text()
    assert capsys.readouterr().out == f"{address}\n" * 2
