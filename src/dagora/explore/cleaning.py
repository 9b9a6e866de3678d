"""Removes the session's folder when the server ends, however it ends.

A server that is killed cannot clean up. A small process of its own waits for the end of a pipe, which the
system closes with the server, and then removes the folder. It is there before anything is written into the
folder, and it does not depend on the process that learns, which can be ended at any time.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

# The process that learns ends at the same moment, and may be writing a file: hence more than one attempt.
SCRIPT = """
import os, shutil, sys, time
sys.stdin.read()
for _ in range(50):
    shutil.rmtree(sys.argv[1], ignore_errors=True)
    if not os.path.lexists(sys.argv[1]):
        break
    time.sleep(0.1)
"""
PATIENCE = 10.0  # seconds


class Cleaner:
    """A process that removes a folder as soon as this process has ended, or called `close`."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(  # noqa: S603 (our own program)
            [sys.executable, "-I", "-S", "-c", SCRIPT, str(folder)],
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
            self._process.wait(PATIENCE)
