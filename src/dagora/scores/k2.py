"""K2: marginal likelihood under a flat Dirichlet prior on every row of every table.

Σ_j [ln (r − 1)! − ln (n_j + r − 1)!] + Σ_jk ln n_jk! (Cooper & Herskovits 1992).

Where a column is nearly constant, log-factorials of large counts cancel almost entirely, but a double of the
size of ln n! = 1.3e7 (a million rows) is accurate to 2e-9 only. The score does not change if c x is
subtracted from every ln x!. With c = ln n − 1, what remains is x ln(x/n) + ½ ln 2πx + …, which is small
exactly where the terms cancel.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import inlined, kernel
from dagora.scores.discrete import TABLED, DiscreteScore, Floats, Terms, require_discrete
from dagora.stats.statistics import Cells, Statistics

# From here on Stirling's series up to x⁻⁵ is accurate to the last bit: its next term, x⁻⁷/1680, is below
# 2e-16.
LARGE = 64


def k2(statistics: Statistics) -> DiscreteScore:
    """The score of Cooper and Herskovits."""
    require_discrete(statistics, "k2")
    most_levels = int(statistics.schema.cardinalities.max(initial=1))
    rows = float(statistics.n_rows)
    table = centred_log_factorials(rows, min(statistics.n_rows, TABLED) + most_levels)

    def rising(counts: Cells, steps: Floats) -> Floats:
        if counts.values.dtype == np.float64:
            return sum_rising_weights(counts.values, counts.starts, counts.stops, steps, rows)
        return sum_rising(counts.values, counts.starts, counts.stops, table, steps, rows)

    def joint(counts: Cells, cells: Floats) -> Floats:
        return rising(counts, np.zeros_like(cells))

    def parents(counts: Cells, configurations: Floats, levels: Floats) -> Floats:  # noqa: ARG001
        return rising(counts, levels - 1.0)

    return DiscreteScore(statistics, Terms(joint, parents, levels_matter=True))


@inlined
def stirling(x: float, rows: float) -> float:
    """Return ln x! − x (ln rows − 1) for x of at least `LARGE`."""
    # ln(x/n) written with log1p keeps its digits where x is near n.
    log = math.log(x / rows) if x < rows / 2 else math.log1p((x - rows) / rows)
    series = 1.0 / (12.0 * x) - 1.0 / (360.0 * x**3) + 1.0 / (1260.0 * x**5)
    return x * log + 0.5 * math.log(2.0 * math.pi * x) + series


@kernel
def fill_by_stirling(table: Floats, rows: float) -> None:
    """Fill a table of centred log-factorials from `LARGE` on."""
    for x in range(LARGE, len(table)):
        table[x] = stirling(float(x), rows)


def centred_log_factorials(rows: float, most: int) -> Floats:
    """Return ln x! − x (ln rows − 1) for x = 0, …, most.

    >>> centred_log_factorials(10.0, 3).round(6).tolist()
    [0.0, -1.302585, -1.912023, -2.115996]
    """
    from scipy.special import gammaln

    table = np.empty(most + 1)
    x = np.arange(min(LARGE, most + 1), dtype=np.float64)
    table[:LARGE] = gammaln(x + 1.0) - x * (math.log(rows) - 1.0)
    fill_by_stirling(table, rows)
    return table


@kernel
def sum_rising_weights(
    values: Floats, starts: NDArray[np.int64], stops: NDArray[np.int64], steps: Floats, rows: float
) -> Floats:
    """The same as `sum_rising` over sums of weights, with Γ(x + 1) for x!."""
    sums = np.zeros(len(starts))
    slope = math.log(rows) - 1.0
    for k in range(len(sums)):
        base = math.lgamma(steps[k] + 1.0) - steps[k] * slope
        total = 0.0
        for cell in range(starts[k], stops[k]):
            x = values[cell] + steps[k]
            total += (stirling(x, rows) if x >= LARGE else math.lgamma(x + 1.0) - x * slope) - base
        sums[k] = total
    return sums


@kernel
def sum_rising(
    values: NDArray[np.int64],
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    table: Floats,
    steps: Floats,
    rows: float,
) -> Floats:
    """Σ [f(n + s) − f(s)] over the counts n of each set, with the set's own step s; f(x) = `table[x]`."""
    sums = np.zeros(len(starts))
    for k in range(len(sums)):
        step = int(steps[k])
        total = 0.0
        for cell in range(starts[k], stops[k]):
            x = values[cell] + step
            total += (table[x] if x < len(table) else stirling(float(x), rows)) - table[step]
        sums[k] = total
    return sums
