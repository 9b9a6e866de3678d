"""The result of testing a family between two periods, and what the tests of all kinds have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.stats.moments import merge_moments
from dagora.stats.statistics import Moments

# Variance below this share of a column's own is none: a parent repeats it.
EXACT = 1e-10


@dataclass(frozen=True, slots=True)
class PeriodTest:
    """A statistic, its degrees of freedom, and what changed most."""

    statistic: float
    df: int
    largest: str


def too_few(rows: int, parents: int) -> str:
    """The reason why so many rows are no test of a regression; empty where they are one.

    >>> too_few(8, 2), too_few(10, 2)
    ('8 rows are too few for 2 parents', '')
    """
    return f"{rows} rows are too few for {parents} parents" if rows < 2 * (parents + 3) else ""


def largest_change(
    family: Sequence[str],
    moments: tuple[Moments, Moments],
    slopes: tuple[NDArray[np.float64], NDArray[np.float64]],
    rss: tuple[float, float],
) -> str:
    """The largest change of a regression: of a slope, of the mean at the parents' means, or of the spread."""
    one, other = moments
    deviations = [float(np.sqrt(left / each.n)) for left, each in zip(rss, moments, strict=True)]
    pooled = merge_moments(one, other)
    spread = np.sqrt(np.diagonal(pooled.scatter) / pooled.n)
    noise = float(np.hypot(deviations[0] / np.sqrt(one.n), deviations[1] / np.sqrt(other.n)))
    means = [
        float(each.mean[-1] + own @ (pooled.mean[:-1] - each.mean[:-1]))
        for each, own in zip(moments, slopes, strict=True)
    ]
    found = [(abs(means[1] - means[0]) / noise, f"its mean {means[0]:.3g} before, {means[1]:.3g} now")]
    ratio = abs(np.log(deviations[1] / deviations[0])) / np.sqrt(0.5 / one.n + 0.5 / other.n)
    found.append((float(ratio), f"its spread {deviations[0]:.3g} before, {deviations[1]:.3g} now"))
    for place, name in enumerate(family[:-1]):
        change = abs(slopes[1][place] - slopes[0][place]) * spread[place] / noise
        said = f"slope on {name} {slopes[0][place]:.3g} before, {slopes[1][place]:.3g} now"
        found.append((float(change), said))
    return max(found)[1]
