"""Settings of a question: the method, the samples, the memory."""

from __future__ import annotations

import re
from dataclasses import dataclass
from operator import index

from dagora.base.errors import OptionError
from dagora.base.memory import free_memory
from dagora.base.wording import option
from dagora.network.drawing import seed_sequence
from dagora.network.inference.factors import MemoryLimit

METHODS = ("auto", "exact", "sampling")
SAMPLES = 100_000  # the standard error of a probability from as many plain draws is at most 0.0016
MOST_SAMPLES = 100_000_000  # a standard error of 0.00005, for 800 MB a variable
MEMORY = 2 << 30
"""Bytes of the largest table by default; half of what is free where that is less."""
MOST_MEMORY = 1 << 63
UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}


@dataclass(frozen=True)
class QuerySettings:
    """Checked settings."""

    method: str
    samples: int
    seed: int
    limits: MemoryLimit


def check_settings(method: str, samples: int, seed: int, memory: int | str | None) -> QuerySettings:
    """Check the settings of a question.

    >>> check_settings("auto", 1000, 0, "1.5 GB").limits.memory
    1500000000
    >>> check_settings("guess", 1000, 0, None)
    Traceback (most recent call last):
    dagora.OptionError: there is no method 'guess': known are auto, exact, sampling
    """
    if method not in METHODS:
        raise OptionError(f"there is no {option('method')} '{method}': known are {', '.join(METHODS)}")
    try:
        enough = 1 <= index(samples) <= MOST_SAMPLES and not isinstance(samples, bool)
    except TypeError:
        enough = False
    if not enough:
        raise OptionError(
            f"{option('samples')} must be a whole number from 1 to {MOST_SAMPLES:,}, not {samples}"
        )
    seed_sequence(seed)  # refuses what is no seed
    return QuerySettings(method, int(samples), seed, MemoryLimit(bytes_of(memory)))


def bytes_of(memory: int | str | None) -> int:
    """A number of bytes, as a number or in words such as 500 MB.

    >>> bytes_of("1 KiB"), bytes_of(8)
    (1024, 8)
    """
    if memory is None:
        free = free_memory()
        return MEMORY if free is None else min(MEMORY, free // 2)
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", str(memory), re.IGNORECASE)
    unit = UNITS.get(found.group(2).lower()) if found else None
    if found is None or unit is None or not 0 < float(found.group(1)) * unit < MOST_MEMORY:
        raise OptionError(
            f"{option('memory')} must be a number of bytes such as 500MB or 2GiB, not {memory!r}"
        )
    return int(float(found.group(1)) * unit)
