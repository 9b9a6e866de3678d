"""Memory: how much is free, as work that needs more is refused before it begins, and how much was held."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

MEMINFO = Path("/proc/meminfo")
# The limit of a container, what is used of it, and what of that are files kept for later; new and old.
CONTAINER = Path("/sys/fs/cgroup")
LIMITS = (
    ("", ("memory.max", "memory.current", "memory.stat")),
    ("memory", ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat")),
)
IS_CACHE = re.compile("(total_)?inactive_file ")


def free_memory() -> int | None:
    """Bytes that can be had; without such a figure, the bytes built in; None where the system tells neither.

    >>> free = free_memory()
    >>> free is None or free > 0
    True
    """
    known = [size for size in (free_in_machine(), free_in_container()) if size is not None]
    return min(known) if known else built_in()


def free_in_machine() -> int | None:
    """The memory that Linux has without swapping."""
    try:
        lines = MEMINFO.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")), None)


def free_in_container() -> int | None:
    """The rest of a container's limit; files that the system keeps for later take nothing of it."""
    for folder, names in LIMITS:
        try:
            most, used, about = ((CONTAINER / folder / name).read_text(encoding="ascii") for name in names)
            kept = next((int(line.split()[1]) for line in about.splitlines() if IS_CACHE.match(line)), 0)
            return int(most) - int(used) + kept
        except (OSError, ValueError):  # there is no container, or no limit ("max")
            continue
    return None


def built_in() -> int | None:
    """The machine's memory."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


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
