"""The command: what it refuses, and how it ends, also where it is not asked politely."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dagora.commands.explore import announce
from tests.conftest import ROOT


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


def test_nothing_is_left_behind_by_a_server_that_is_killed(tmp_path: Path, garden: Path) -> None:
    """It cannot clean up: the process that learns sees it gone, and does. (`tests/browser` has Ctrl-C.)"""
    server = subprocess.Popen(
        [sys.executable, "-m", "dagora", "explore", str(garden), "--no-browser", "--quiet"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    address = server.stdout.readline()
    assert address.startswith("http://127.0.0.1:")
    (folder,) = tmp_path.iterdir()
    server.kill()
    server.communicate(timeout=20)
    limit = time.monotonic() + 20
    while folder.exists() and time.monotonic() < limit:
        time.sleep(0.05)
    assert not folder.exists()
    assert garden.exists()


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
