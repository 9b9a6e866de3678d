"""What every worker shares: time one call, stop it at a limit, hand the outcome over as JSON.

Only the standard library: workers run in the peers' environments as well as in ours.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def timed(job: Callable[[], T], limit: float = 0.0, *, cpu_limit: float = 0.0) -> tuple[T, float, float]:
    """The result with wall and CPU seconds (all threads).

    Past `limit` seconds SIGALRM ends the process, past `cpu_limit` seconds of CPU time SIGPROF. The signals'
    default action also ends compiled code that never looks back at the interpreter.
    """
    signal.setitimer(signal.ITIMER_REAL, limit)
    signal.setitimer(signal.ITIMER_PROF, cpu_limit)
    wall, cpu = time.perf_counter(), time.process_time()
    result = job()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.setitimer(signal.ITIMER_PROF, 0.0)
    return result, wall, cpu


def peak_memory() -> float:
    """The most memory this process has held, in bytes.

    On Linux ru_maxrss also counts what the parent held when it started this process, so the kernel's mark for
    the process alone is read instead; elsewhere (macOS counts in bytes) it is ru_maxrss.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return 1024.0 * int(line.split()[1])
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(size if sys.platform == "darwin" else size * 1024)


def hand_over(**outcome: object) -> None:
    """Print the outcome as the last line of standard output."""
    sys.stdout.flush()
    print("\n" + json.dumps(outcome), flush=True)
