"""Differences between two lines on the same runs, with 95 % intervals, and what they say of a claim."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from dagora.papers.tables import Mean

LEVEL = 0.975  # of Student's distribution: both ends of a 95 % interval


@cache
def standard_errors(runs: int) -> float:
    """The half-width of the 95 % interval of a mean, in standard errors.

    >>> [round(standard_errors(runs), 1) for runs in (2, 3, 30)]
    [12.7, 4.3, 2.0]
    """
    from scipy.special import stdtrit

    return float(stdtrit(runs - 1, LEVEL))


def interval(difference: Mean | None, digits: int = 1) -> str:
    """A mean with the half-width of its 95 % interval, as text.

    >>> interval(Mean(-2.0, 0.5, 30)), interval(Mean(3.0, None, 1)), interval(None)
    ('−2.0 ± 1.0', '3.0', 'not measured')
    """
    if difference is None:
        return "not measured"
    value = f"{difference.value:z.{digits}f}".replace("-", "−")
    if difference.error is None:
        return value
    return f"{value} ± {standard_errors(difference.runs) * difference.error:.{digits}f}"


@dataclass(frozen=True)
class Contrast:
    """A difference that a claim says is below zero; None where it was not measured."""

    words: str
    difference: Mean | None

    @property
    def clear(self) -> bool | None:
        """True if the claim holds here, False if it fails, None if that cannot be decided."""
        if self.difference is None or self.difference.error is None:
            return None
        far = standard_errors(self.difference.runs) * self.difference.error
        below, above = self.difference.value + far < 0, self.difference.value - far > 0
        return True if below else False if above else None


def subtract(one: Mean | None, other: Mean | None) -> Mean | None:
    """The difference of two independent means."""
    if one is None or other is None:
        return None
    error = None if one.error is None or other.error is None else math.hypot(one.error, other.error)
    return Mean(one.value - other.value, error, min(one.runs, other.runs))
