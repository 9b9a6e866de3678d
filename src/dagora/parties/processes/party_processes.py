"""Several parties as real processes on one machine, for the `simulate` commands and for tests.

Each party is a `dagora` command in a process group of its own, and its output is collected. When one fails,
the others get a moment to end by themselves, since they notice that their peer is gone, and are then ended.
Exit codes show which of them caused the failure. No process is left behind, neither after Ctrl-C nor
when this process is killed (see `child`).
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Self

from dagora.base.errors import ProtocolError
from dagora.parties.transport.transport import in_seconds, one_line

GRACE_SECONDS = 3.0  # for a party to end by itself, or for its output to be read
BAD_INPUT = 2  # the exit code of a command that refuses its own input
KEEP_LINES = 20_000  # of each output of a party
POLL_SECONDS = 0.01  # short beside the start of a process, long beside a look

LineObserver = Callable[[str, str], None]


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """The exit code (negative: a signal) and output of a party's process."""

    name: str
    code: int
    out: str
    err: str

    @property
    def last_words(self) -> str:
        """The last line of its standard error."""
        lines = [line for line in self.err.splitlines() if line.strip()]
        return lines[-1] if lines else ""

    @property
    def complaint(self) -> str:
        """One line that says how it failed, in its own last words."""
        words = re.sub(r"^dagora: (error: )?", "", one_line(self.last_words)) or "it said nothing"
        how = f"exit code {self.code}" if self.code >= 0 else f"signal {-self.code}"
        return f"party '{self.name}' failed ({how}): {words}"


class PartyFailedError(ProtocolError):
    """A party's process failed; `ended` has its exit code and output."""

    def __init__(self, ended: ProcessEnd) -> None:
        super().__init__(ended.complaint, party=ended.name)
        self.ended = ended


class PartyProcesses:
    """Party processes that live no longer than the `with` block.

    `on_line(name, line)` is called with every line of a party's standard error, from another thread.
    """

    def __init__(
        self, on_line: LineObserver | None = None, module: str = "dagora.parties.processes.child"
    ) -> None:
        self._on_line = on_line
        self._module = module
        self._parties: dict[str, _PartyProcess] = {}
        self._ended: list[str] = []

    def start(
        self, name: str, arguments: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> None:
        """Start `dagora ARGUMENTS` as a party."""
        if name in self._parties:
            raise ProtocolError(f"party '{name}' was started already")
        line = [sys.executable, "-m", self._module, *arguments]
        # A session of its own: Ctrl-C reaches this process, which then ends them all.
        process = subprocess.Popen(  # noqa: S603
            line,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
            env={**os.environ, "PYTHONUTF8": "1", "PYTHONUNBUFFERED": "1", **(environment or {})},
        )
        self._parties[name] = _PartyProcess(name, process, self._on_line)

    def wait_for_line(self, name: str, pattern: str, timeout: float = 30.0) -> re.Match[str]:
        """Wait until a party has printed a line with this pattern, such as the port it listens on."""
        deadline = time.monotonic() + timeout
        party = self._parties[name]
        while True:
            over = party.process.poll() is not None
            if over:
                party.sweep()
                party.finish()
            for line in [*_snapshot(party.err), *_snapshot(party.out)]:
                if match := re.search(pattern, line):
                    return match
            if over:
                raise PartyFailedError(party.end())
            if time.monotonic() > deadline:
                raise ProtocolError(f"party '{name}' did not report its start within {in_seconds(timeout)}")
            time.sleep(POLL_SECONDS)

    def wait(self, timeout: float | None = None, *, tolerate: Sequence[str] = ()) -> dict[str, ProcessEnd]:
        """Wait until all have ended well; a failure of one that is not in `tolerate` ends the others.

        The error names the party that caused the failure, which need not be the first that ended
        (`_culprit`).
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while running := [p for p in self._parties.values() if p.process.poll() is None]:
            self._note_ends()
            if self._failures(tolerate):
                self._give_grace()
                break
            if deadline is not None and time.monotonic() > deadline:
                names = ", ".join(f"'{party.name}'" for party in running)
                raise ProtocolError(
                    f"the run was ended after {in_seconds(timeout or 0.0)}: {names} still at work"
                )
            time.sleep(POLL_SECONDS)
        self._note_ends()
        failed = self._failures(tolerate)
        self.stop()
        if failed:
            raise PartyFailedError(_culprit([self._parties[name].end() for name in failed]))
        return self.results()

    def _note_ends(self) -> None:
        for name, party in self._parties.items():
            if name not in self._ended and party.process.poll() is not None:
                self._ended.append(name)
                party.sweep()

    def _failures(self, tolerate: Sequence[str]) -> list[str]:
        """Parties that failed by themselves, in the order of their start."""
        ended = [party for name, party in self._parties.items() if name in self._ended]
        return [party.name for party in ended if party.process.poll() and party.name not in tolerate]

    def _give_grace(self) -> None:
        deadline = time.monotonic() + GRACE_SECONDS
        while time.monotonic() < deadline and any(p.process.poll() is None for p in self._parties.values()):
            time.sleep(POLL_SECONDS)

    def results(self) -> dict[str, ProcessEnd]:
        """The exit codes and outputs of the parties that have ended."""
        over = [party for party in self._parties.values() if party.process.poll() is not None]
        return {party.name: party.end() for party in over}

    def interrupt(self, name: str) -> None:
        """Send Ctrl-C to one party: it may stop its search early and still end well."""
        self._parties[name].process.send_signal(signal.SIGINT)

    def stop(self) -> None:
        """End all that still run, by force if necessary, and reap them."""
        running = [party for party in self._parties.values() if party.process.poll() is None]
        for party in running:
            party.signal(signal.SIGTERM)
        deadline = time.monotonic() + GRACE_SECONDS
        for party in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                party.process.wait(max(0.0, deadline - time.monotonic()))
        for party in self._parties.values():
            party.sweep()
            party.process.wait()
            party.finish()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            self.stop()
        except BaseException:
            # A second Ctrl-C: kill them at once.
            for party in self._parties.values():
                party.sweep()
            raise


class _PartyProcess:
    """A process and the two threads that collect its output."""

    def __init__(self, name: str, process: subprocess.Popen[str], on_line: LineObserver | None) -> None:
        self.name = name
        self.process = process
        self._swept = False
        self.out: deque[str] = deque(maxlen=KEEP_LINES)
        self.err: deque[str] = deque(maxlen=KEEP_LINES)
        assert process.stdout is not None
        assert process.stderr is not None
        self._threads = [
            threading.Thread(target=self._collect, args=(process.stdout, self.out, None), daemon=True),
            threading.Thread(target=self._collect, args=(process.stderr, self.err, on_line), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _collect(self, stream: IO[str], lines: deque[str], on_line: LineObserver | None) -> None:
        with contextlib.suppress(ValueError):
            for line in stream:
                lines.append(line)
                if on_line is not None:
                    on_line(self.name, line.rstrip("\n"))

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)

    def sweep(self) -> None:
        """Kill what is left of the group, which may outlive its leader (workers of a pool).

        Once only: the system may later give the group's number to another process.
        """
        if not self._swept:
            self._swept = True
            self.signal(signal.SIGKILL)

    def finish(self) -> None:
        """Read what is left and close the pipes."""
        for thread in self._threads:
            thread.join(GRACE_SECONDS)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            # If another process still holds a stream open, closing it would block; its thread keeps it.
            if stream is not None and not any(thread.is_alive() for thread in self._threads):
                stream.close()

    def end(self) -> ProcessEnd:
        self.finish()
        code = self.process.returncode
        return ProcessEnd(self.name, code, "".join(_snapshot(self.out)), "".join(_snapshot(self.err)))


def _culprit(failed: Sequence[ProcessEnd]) -> ProcessEnd:
    """The party that caused the failure; the others failed because of it.

    That is one that refused its own input, else one that was killed, else the one that was started first.
    """

    def innocence(party: ProcessEnd) -> int:
        return 0 if party.code == BAD_INPUT else 1 if party.code < 0 else 2

    return min(failed, key=innocence)


def _snapshot(lines: deque[str]) -> list[str]:
    # A thread may still append while we look.
    while True:
        try:
            return list(lines)
        except RuntimeError:
            continue
