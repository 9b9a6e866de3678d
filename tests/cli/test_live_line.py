"""The live line: there within a second whatever the command does, gone before results, and Ctrl-C amid compiling."""

import contextlib
import io
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

import dagora
from dagora.base.events import Event
from dagora.cli import live_line
from dagora.cli.live_line import LiveLine
from dagora.cli.main import COMMANDS, cli
from dagora.kernels.compilation import compilation
from tests.conftest import ROOT

PATIENCE = 60.0
# The promise is one second; a busy machine gets more.
SOON = 4.0
# The promise is two seconds.
AT_ONCE = 5.0


class Terminal:
    """`dagora` in a terminal: what it writes, and what stands on the screen in the end."""

    def __init__(self, *arguments: object, **environment: str) -> None:
        ours, theirs = pty.openpty()
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dagora", *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1", **environment},
            stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self.written = ""
        self._reader = threading.Thread(target=self._read, args=(ours,), daemon=True)
        self._reader.start()

    def _read(self, descriptor: int) -> None:
        with contextlib.suppress(OSError):  # Linux: the other end was closed
            while piece := os.read(descriptor, 4096):
                self.written += piece.decode(errors="replace")
        os.close(descriptor)

    def wait_for(self, pattern: str) -> float:
        """Wait until something is written; return the seconds since the start."""
        while not re.search(pattern, self.written):
            assert time.monotonic() - self.started < PATIENCE, self.written
            assert self.process.poll() is None or self._reader.is_alive(), self.written
            time.sleep(0.01)
        return time.monotonic() - self.started

    def end(self) -> int:
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code

    @property
    def screen(self) -> list[str]:
        """The lines as they stand in the end."""
        return [re.split(r"\r\x1b\[2K", line)[-1] for line in self.written.replace("\r\n", "\n").split("\n")]


@pytest.fixture
def terminal() -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def open_one(*arguments: object, **environment: str) -> Terminal:
        opened.append(Terminal(*arguments, **environment))
        return opened[-1]

    yield open_one
    for each in opened:
        if each.process.poll() is None:
            each.process.kill()
        each.process.wait()


@pytest.mark.parametrize(("method", "with_quiet"), [("hill-climb", False), ("order-search", True)])
def test_ctrl_c_while_kernels_are_compiled(
    terminal: Callable, garden: Path, tmp_path: Path, method: str, with_quiet: bool
) -> None:
    out = tmp_path / "network.json"
    shown = terminal(
        "learn", garden / "garden.csv", "--method", method, "-o", out, *["--quiet"] * with_quiet,
        NUMBA_CACHE_DIR=str(tmp_path / "cold"),
    )  # fmt: skip
    if with_quiet:
        time.sleep(4.0)
        assert shown.written == ""
    else:
        assert shown.wait_for(r" \d+ s") < SOON
        shown.wait_for("compiling kernels, once per installation")
    pressed = time.monotonic()
    shown.process.send_signal(signal.SIGINT)
    assert shown.end() == 130
    assert time.monotonic() - pressed < AT_ONCE
    assert [line for line in shown.screen if line] == ["dagora: interrupted"]
    assert {file.name for file in tmp_path.iterdir()} <= {"cold"}  # no file of a result


def test_results_stand_alone_on_the_screen(terminal: Callable, tmp_path: Path) -> None:
    data = tmp_path / "wide.csv"
    truth = dagora.random_dag("er", 20, 2, seed=0)
    dagora.write_table(dagora.simulate(truth, "gaussian", 300, seed=0).table, data)
    shown = terminal("learn", data, "-m", "hill-climb", "--option", "restarts=1000000000", "--time-limit", 2)
    assert shown.wait_for(r"\r\x1b\[2K\w.* \d+ s") < SOON
    assert shown.end() == 0
    assert shown.written.count("\x1b[2K") > 5, "the line is kept alive"
    start = next(k for k, line in enumerate(shown.screen) if line.startswith("hill-climb: "))
    assert not any(re.search(r"  \d+ s$|\x1b", line) for line in shown.screen), shown.screen
    assert shown.screen[start + 1].startswith("bic-gaussian: -")


def waiting_commands(pipe: Path, keys: Path) -> dict[str, tuple[tuple[object, ...], str]]:
    """Commands that wait for somebody else, each with what it says about it."""
    sites = ("--sites", "a,b,c", "--port", 0)
    return {
        "learn": (("learn", pipe), "reading"),
        "coordinator": (("federate", "coordinator", "--keys", keys / "coordinator", *sites), "waiting for"),
    }


def test_the_line_comes_while_the_command_waits(
    start: Callable, run: Callable, tmp_path: Path, garden: Path
) -> None:
    """The main thread is stuck: in a system call, or in an import."""
    assert run("federate", "keys", tmp_path / "keys", "--sites", "a,b,c").code == 0
    assert run("federate", "policy", "init", garden / "garden.csv", "--keys", tmp_path / "keys").code == 0
    os.mkfifo(tmp_path / "pipe.csv")
    for arguments, phase in waiting_commands(tmp_path / "pipe.csv", tmp_path / "keys").values():
        begun = time.monotonic()
        process = start(*arguments)
        threading.Timer(3 * SOON, process.kill).start()  # a line that never comes must not block this test
        said = ""
        while not re.search(r"^\w.*  \d+ s$", said, re.MULTILINE):
            said += (line := process.stderr.readline())
            assert line, said
        assert time.monotonic() - begun < SOON
        assert re.search(rf"^({phase}|starting)\b", said, re.MULTILINE)


def leaves(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            yield from leaves(command.get_command(click.Context(command), name), f"{path} {name}")
    else:
        yield path, command


def test_every_command_can_be_quiet() -> None:
    quiet = {path: any("--quiet" in option.opts for option in leaf.params) for path, leaf in leaves(cli, "")}
    assert len(quiet) > len(COMMANDS)
    assert [path for path, can in quiet.items() if not can] == []


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> LiveLine:
    """A line that is due at once, and then every five seconds of a clock that stands still."""
    monkeypatch.setattr(live_line, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    return LiveLine()


def test_the_line_shows_what_happens(line: LiveLine) -> None:
    compilation.begin()
    try:
        line(Event("climbing", 3))
    finally:
        compilation.end()
    assert line._stream.getvalue() == "compiling kernels, once per installation  0 s\n"
    line(Event("climbing", 4, score=-1.0))
    assert line._stream.getvalue().count("\n") == 1, "not again so soon"
    assert line.found


def test_a_silent_line_still_notes_what_was_found(line: LiveLine) -> None:
    line.silence()
    line(Event("scoring", 1))
    assert not line.found
    line(Event("climbing", 1, score=-2.0))
    assert line.found
    assert line._stream.getvalue() == ""


def test_what_another_dagora_says_is_passed_on(line: LiveLine, capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("climbing  step 3  score -1.0  4 s", "dagora: warning: it took  4 s", "Traceback:"):
        line.pass_on(text)
    line._show_if_due()
    assert capsys.readouterr().err == "dagora: warning: it took  4 s\nTraceback:\n"
    assert line._stream.getvalue() == "climbing  step 3  score -1.0  0 s\n"


NO_FOLDER = """
import sys
from dagora.kernels import cache as kernel_cache
kernel_cache.folders_for = lambda file: iter(())
from dagora.cli.main import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize("quiet", [False, True])
def test_the_warning_about_kernels_is_one_line(tmp_path: Path, quiet: bool) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", NO_FOLDER, "learn", str(tmp_path / "none.csv"), *["--quiet"] * quiet],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False,
    )  # fmt: skip
    lines = [line for line in ran.stderr.splitlines() if line.startswith("dagora: ")]
    assert ran.returncode == 2
    assert lines[-1].endswith("none.csv: there is no such file")
    assert [line[:40] for line in lines[:-1]] == ["dagora: warning: compiled kernels cannot"] * (not quiet)
    assert "Warning" not in ran.stderr
