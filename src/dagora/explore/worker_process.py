"""The processes that the server starts: one learns, one removes the session's folder in the end."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Generic, TypeVar

# The process imports from where the server does, and never from the folder in which it was called.
SCRIPT = """
import sys
sys.path = sys.argv[1:]
from dagora.explore.worker import work
work()
"""
PATIENCE = 2.0  # seconds for the process to end by itself
# The process that learns ends at the same moment, and may be writing a file: hence more than one attempt.
CLEANING_SCRIPT = """
import os, shutil, sys, time
sys.stdin.read()
for _ in range(50):
    shutil.rmtree(sys.argv[1], ignore_errors=True)
    if not os.path.lexists(sys.argv[1]):
        break
    time.sleep(0.1)
"""
CLEANING_PATIENCE = 10.0  # seconds

T = TypeVar("T")
Hearer = Callable[["WorkerProcess", dict[str, Any]], None]


class WorkerProcess:
    """A process that learns; `hear` gets its messages, from another thread.

    A message of the kind "ended" is the last one, also where the process was killed.
    """

    def __init__(self, hear: Hearer) -> None:
        self._hear = hear
        self._process = subprocess.Popen(  # noqa: S603 (our own program)
            [sys.executable, "-c", SCRIPT, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C is for the server, which then ends this process
        )
        self._listener = threading.Thread(target=self._listen, name="worker", daemon=True)
        self._listener.start()

    @property
    def alive(self) -> bool:
        """True if the process runs."""
        return self._process.poll() is None

    def tell(self, **message: Any) -> None:  # noqa: ANN401
        """Send a message; one that has ended hears nothing."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()

    def kill(self) -> None:
        """End it at once, whatever it does."""
        self._process.kill()
        self._process.wait()
        self._hang_up()

    def close(self) -> None:
        """End it: it exits by itself, or is killed."""
        self._hang_up()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
        self._listener.join(PATIENCE)

    def _hang_up(self) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.close()

    def _listen(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        with stream:
            for line in stream:
                with contextlib.suppress(json.JSONDecodeError):  # a line cut short, of one that was killed
                    self._hear(self, json.loads(line))
        self._hear(self, {"kind": "ended"})


class NewestAnswer(Generic[T]):
    """Numbers for questions, and where the answer to the newest one will be.

    >>> wanted = NewestAnswer[str]()
    >>> first, answer = wanted.ask()
    >>> wanted.busy, wanted.give_up("something else is done now"), wanted.busy
    (True, None, False)
    >>> second, other = wanted.ask()
    >>> wanted.take(first, "late"), wanted.take(second, "about 2 to 10 seconds")
    (None, None)
    >>> answer.result(), other.result()
    ('something else is done now', 'about 2 to 10 seconds')
    """

    def __init__(self) -> None:
        self._number = 0
        self._waiting: Future[T] | None = None

    @property
    def busy(self) -> bool:
        """True if an answer is waited for."""
        return self._waiting is not None

    def ask(self) -> tuple[int, Future[T]]:
        """The number of a new question, and where its answer will be; the one before was given up."""
        self._number += 1
        self._waiting = Future()
        return self._number, self._waiting

    def take(self, number: int, answer: T) -> None:
        """Pass an answer on."""
        if number == self._number:
            self.give_up(answer)

    def give_up(self, answer: T) -> None:
        """Say this if an answer is waited for; there will be no other."""
        waiting, self._waiting = self._waiting, None
        # A page that was closed waits no more.
        if waiting is not None and waiting.set_running_or_notify_cancel():
            waiting.set_result(answer)


class Cleaner:
    """A process that removes a folder as soon as this process has ended, or called `close`.

    A server that is killed cannot clean up. The system then closes the pipe for which the cleaner waits. It
    is there before anything is written, and does not depend on the process that learns.
    """

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(  # noqa: S603 (our own program)
            [sys.executable, "-I", "-S", "-c", CLEANING_SCRIPT, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # signals of the terminal are for the server
        )

    def close(self) -> None:
        """Remove the folder now."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(CLEANING_PATIENCE)
