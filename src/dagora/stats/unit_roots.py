"""Tests of unit roots: whether a series returns to its mean, or to a line, or wanders like a random walk.

Augmented Dickey–Fuller: Δx_t is regressed on x_{t−1}, the last changes Δx_{t−1}, …, Δx_{t−k} and a
constant, with a slope in time as well where a series may drift. Under a unit root the t-statistic of
x_{t−1} has a distribution of its own (MacKinnon 1994 has the p-values). Several series are joined by
Fisher's method (Maddala & Wu 1999). That rules out a unit root of all of them at once, for which one
steady series among random walks is enough. So the larger p-values are joined once more: under a unit root
they are uniform, and of steady series few are large (Storey 2002 estimates shares so).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtr

from dagora.data.incomplete import IncompleteTable
from dagora.data.schema import Kind
from dagora.data.series import Panel

Floats = NDArray[np.float64]

# A unit root is not ruled out where the test has a larger p-value.
LEVEL = 0.05
# Steps that a run of rows needs to be tested, and the most earlier changes that are regressed on.
FEWEST, MOST_CHANGES = 20, 12
# Where not all series have a unit root, those with a p-value above `HALF` tell the share of those that have
# one. Fewer than `LEAST_SHARE` of all do not count, since a steady series, too, may look so by chance; nor do
# series of fewer steps than `ALONE`, of which the test by itself cannot say much: of 30 steps, steady series
# of an autocorrelation of 0.5 would be warned of in two panels out of three, of 60 in 2 % of them.
HALF, LEAST_SHARE, ALONE = 0.5, 0.05, 60


@dataclass(frozen=True)
class Surface:
    """MacKinnon's approximation of the distribution of a statistic: polynomials below and above `middle`.

    Beyond `low` and `high` the p-value is 0 and 1.
    """

    low: float
    middle: float
    high: float
    below: tuple[float, ...]
    above: tuple[float, ...]

    def p_value(self, statistic: float) -> float:
        """The p-value of a statistic.

        >>> round(AROUND_MEAN.p_value(-2.86), 3), round(AROUND_LINE.p_value(-3.41), 3)
        (0.05, 0.05)
        """
        if statistic <= self.low or statistic >= self.high:
            return float(statistic >= self.high)
        powers = self.below if statistic <= self.middle else self.above
        return float(ndtr(sum(c * statistic**k for k, c in enumerate(powers))))


# MacKinnon (1994), tables 3 and 4, one variable: with a constant; with a constant and a slope.
AROUND_MEAN = Surface(-18.83, -1.61, 2.74, (2.1659, 1.4412, 0.038269), (1.7339, 0.93202, -0.12745, -0.010368))
AROUND_LINE = Surface(-16.18, -2.89, 0.70, (3.2512, 1.6047, 0.049588), (2.5261, 0.61654, -0.37956, -0.060285))


@dataclass(frozen=True)
class Wandering:
    """The numbers of a panel that may have a unit root, and those that return to a line and not to a mean.

    `partly` has the columns of both that do so in some of the series alone: about how many, of how many.
    """

    roots: tuple[str, ...] = ()
    drifts: tuple[str, ...] = ()
    partly: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def wandering(panel: Panel) -> Wandering:
    """Test every column of numbers.

    >>> from dagora.data.table import Table
    >>> steps = np.random.default_rng(1).normal(size=(300, 2))
    >>> rows = np.column_stack([np.arange(300), steps[:, 0], steps[:, 1].cumsum()])
    >>> wandering(Panel.of_table(Table.from_numpy(rows, ["t", "x", "y"], continuous=["all"]), "t")).roots
    ('y',)
    """
    roots: list[str] = []
    drifts: list[str] = []
    partly: dict[str, tuple[int, int]] = {}
    for position, variable in enumerate(panel.table.schema):
        if variable.kind is not Kind.CONTINUOUS:
            continue
        series: dict[str, list[Floats]] = {}
        for label, run in runs_of(panel, position):
            if len(run) >= FEWEST and np.ptp(run) > 0:
                series.setdefault(label, []).append(run)
        own = [*series.values()]
        p_values = [joined(dickey_fuller(run, line=False) for run in runs) for runs in own]
        left = [*range(len(own))]
        if own and joined(p_values) <= LEVEL:
            left = unsteady(p_values, [max(map(len, runs)) for runs in own])
            if left:
                partly[variable.name] = (min(len(own), round(len(left) / (1 - HALF))), len(own))
        if not left:
            continue
        returns = joined(dickey_fuller(run, line=True) for k in left for run in own[k]) <= LEVEL
        (drifts if returns else roots).append(variable.name)
    return Wandering(tuple(roots), tuple(drifts), partly)


def unsteady(p_values: Sequence[float], lengths: Sequence[int]) -> list[int]:
    """The series with a large p-value, where these are as large as those of random walks; else none.

    >>> unsteady([0.001, 0.001, 0.8], [100] * 3), unsteady([0.001, 0.001, 0.51], [100] * 3)
    ([2], [])
    """
    large = [
        k for k, (p, length) in enumerate(zip(p_values, lengths, strict=True)) if p > HALF and length >= ALONE
    ]
    if len(large) <= LEAST_SHARE * len(p_values):
        return []
    return large if joined((p_values[k] - HALF) / (1 - HALF) for k in large) > LEVEL else []


def runs_of(panel: Panel, column: int) -> Iterator[tuple[str, Floats]]:
    """The values of a column in each run of rows without a gap or a missing value, with its series."""
    values = panel.table.columns[column]
    seen = panel.table.seen[column] if isinstance(panel.table, IncompleteTable) else None
    starts = panel.starts.tolist()
    for label, start, stop in zip(panel.labels, starts[:-1], starts[1:], strict=True):
        if seen is None:
            yield label, values[start:stop]
            continue
        holes = np.flatnonzero(~seen[start:stop])
        yield from ((label, part[part_start:]) for part, part_start in cut_at(values[start:stop], holes))


def cut_at(values: Floats, holes: NDArray[np.int64]) -> Iterator[tuple[Floats, int]]:
    """The parts between holes; each but the first begins with a hole, so that many values are left out.

    >>> [part[skip:].tolist() for part, skip in cut_at(np.arange(5.0), np.array([2]))]
    [[0.0, 1.0], [3.0, 4.0]]
    """
    for number, part in enumerate(np.split(values, holes)):
        yield part, int(number > 0)


def dickey_fuller(values: Floats, *, line: bool) -> float:
    """The p-value of a unit root against a return to a mean, or to a `line`."""
    n = len(values)
    changes = np.diff(values)
    k = min(int((n - 1) ** (1 / 3)), MOST_CHANGES)
    now = changes[k:]
    columns = [values[k:-1], np.ones(len(now)), *(changes[k - lag : -lag] for lag in range(1, k + 1))]
    if line:
        columns.append(np.arange(len(now), dtype=np.float64))
    regressors = np.stack(columns)
    scale = np.sqrt((regressors**2).mean(axis=1))
    regressors /= np.where(scale > 0, scale, 1.0)[:, None]
    inverse = np.linalg.pinv(regressors @ regressors.T, hermitian=True)
    slopes = inverse @ (regressors @ now)
    left = now - slopes @ regressors
    variance = float(left @ left) / max(1, len(now) - len(columns))
    if not variance * inverse[0, 0] > 0:
        return 1.0
    statistic = float(slopes[0] / np.sqrt(variance * inverse[0, 0]))
    return (AROUND_LINE if line else AROUND_MEAN).p_value(statistic)


def joined(p_values: Iterable[float]) -> float:
    """One p-value for several independent series.

    >>> joined([0.2]), joined([0.04, 0.04]) < 0.04
    (0.2, True)
    """
    found = list(p_values)
    if len(found) == 1:
        return found[0]
    return float(chdtrc(2 * len(found), -2 * np.log(np.maximum(found, 1e-300)).sum()))
