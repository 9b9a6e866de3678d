"""A second process that compiles kernels while the command compiles others: the first run takes less time.

numba compiles one kernel at a time per process. A method that takes candidates needs two groups of kernels:
those that score the table, and its own. At once where none of its own is kept, and else as soon as the
command has to compile at all, a helper learns a toy network from scores that are given: so it compiles the
method's own kernels, and leaves them where compiled kernels are kept. The command waits for it before the
method begins (`one_run`), or before the part of the method that needs them (`search.auto`). The helper holds
no data and ends with the command, however that ends: it reads its standard input, which then closes.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from dagora.kernels.compilation import compilation
from dagora.kernels.stamp import PACKAGE

if TYPE_CHECKING:
    from dagora.learners.candidates.candidates import Candidates

# The helper imports from where the command does, and never from the folder in which it is called.
SCRIPT = """
import sys
sys.path = sys.argv[2:]
from dagora.cli.rehearsal import rehearse
rehearse(sys.argv[1])
"""


@contextmanager
def rehearsing(method: str) -> Iterator[None]:
    """In this block, a helper compiles the kernels of a method, if any have to be compiled."""
    from dagora.learners.registry import method_named

    entry = method_named(method)
    if (entry.takes == "candidates" or entry.in_both_orders) and cores() > 1:
        compilation.on_begin(partial(start_helper, method))
        if none_kept(entry.learner):
            compilation.start_helper()
    try:
        yield
    finally:
        compilation.end_helper()


def none_kept(learner: str) -> bool:
    """Return True if no kernel is kept of those that stand in the folder of a learner ("module:function")."""
    from dagora.kernels.cache import BUNDLED, cache_folder

    folder = cache_folder(PACKAGE.joinpath(*learner.partition(":")[0].split(".")[1:]))
    return not (folder is None or BUNDLED.is_dir() or any(folder.glob("*.nbi")))


def start_helper(method: str) -> subprocess.Popen[bytes] | None:
    """Start the helper, where processes can be started and compiled kernels are kept."""
    if not (compilation.kept and sys.executable):
        return None
    with contextlib.suppress(OSError):
        return subprocess.Popen(  # noqa: S603 - our own program and a method's name
            [sys.executable, "-c", SCRIPT, method, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    return None


def rehearse(method: str) -> None:
    """Learn a toy network; what the helper does."""
    threading.Thread(target=end_with_the_command, daemon=True).start()
    from dagora.api.learn import learn

    learn(toy_problem(), method)


def toy_problem() -> Candidates:
    """Scores of three variables, each of which would like the other two as parents."""
    from dagora.learners.candidates.candidates import Candidates

    others = ((1, 2), (2, 0), (0, 1))
    listed = [[((), -9.0), ((a,), -6.0), ((b,), -6.0), ((a, b), -5.0)] for a, b in others]
    return Candidates.of(("a", "b", "c"), listed)


def end_with_the_command() -> None:
    """End this process when the command that started it closes the pipe, or ends."""
    sys.stdin.buffer.read()
    os._exit(0)


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
