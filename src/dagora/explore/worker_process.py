"""The server's end of the process that learns: it is started, told, heard and ended here."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

# The process imports from where the server does, and never from the folder in which it was called.
SCRIPT = """
import sys
sys.path = sys.argv[1:]
from dagora.explore.worker import work
work()
"""
PATIENCE = 2.0  # seconds for the process to end by itself

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
