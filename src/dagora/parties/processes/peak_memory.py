"""The peak memory of a party: the high-water mark of its own process."""

from __future__ import annotations

import sys
from pathlib import Path


def peak_megabytes() -> float | None:
    """The most memory that this process has held so far, in MB; None where the system does not report it.

    On Linux `ru_maxrss` includes what the parent held when it started this process, so there the kernel's
    mark for this process alone is read.

    >>> peak_megabytes() is None or peak_megabytes() > 1
    True
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    try:
        import resource
    except ImportError:
        return None
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / 1e6 if sys.platform == "darwin" else size * 1024 / 1e6
