"""Ctrl-C while kernels are compiled ends the command at once.

Python looks at signals between its own instructions. Inside the compiler there are none for many seconds,
threads that compile cannot be stopped at all, and an exception in the midst of it may get lost. A thread of
ours therefore hears of each Ctrl-C, and where kernels are being compiled it ends the process. Nothing is lost
but the compilation: files are written whole or not at all, and nobody writes while compiling.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from dagora.cli.live_line import LiveLine
from dagora.kernels.compilation import compilation

POLL_SECONDS = 0.05  # after Ctrl-C: short beside a person's patience
INTERRUPTED = 130  # the exit code of a command that Ctrl-C ended


@contextmanager
def ending_compilation(line: LiveLine) -> Iterator[None]:
    """In this block, which must be in the main thread, Ctrl-C also ends a command that compiles."""
    asked = threading.Event()

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        if not compilation.lately:
            raise KeyboardInterrupt
        asked.set()

    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    thread = threading.Thread(target=listen, args=(reader, asked, line), name="Ctrl-C", daemon=True)
    handler = signal.signal(signal.SIGINT, interrupt)
    wakeup = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    thread.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakeup)
        signal.signal(signal.SIGINT, handler)
        os.close(writer)  # the thread reads the end of the pipe
        thread.join()
        os.close(reader)


def listen(reader: int, asked: threading.Event, line: LiveLine) -> None:
    """End the process on Ctrl-C if it compiles, or if it begins to before anything is found."""
    interrupted = False
    while True:
        ready, _, _ = select.select([reader], [], [], POLL_SECONDS if interrupted else None)
        numbers = os.read(reader, 64) if ready else b""
        if ready and not numbers:
            return
        now = signal.SIGINT in numbers
        interrupted = interrupted or now
        if (now and compilation.lately) or asked.is_set() or (compilation.now and not line.found):
            leave(line)


def leave(line: LiveLine) -> None:
    """End this process and its workers, whatever they are doing."""
    line.silence()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.write("dagora: interrupted\n")
        sys.stderr.flush()
    if "multiprocessing" in sys.modules:
        for worker in sys.modules["multiprocessing"].active_children():
            worker.kill()
    os._exit(INTERRUPTED)
