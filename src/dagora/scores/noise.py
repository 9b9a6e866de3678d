"""The number of edges that a penalised likelihood finds between independent columns.

Two independent columns are joined if the gain in log-likelihood exceeds the price of the k parameters that an
edge needs. Twice the gain is χ² with k degrees of freedom for discrete columns, k = (r − 1)(s − 1) for r and
s levels (Wilks 1938). For m rows of continuous columns it is −m ln(1 − ρ²), whose squared correlation ρ² is
Beta(½, m/2 − 1). The price (ln m)/2 of BIC grows slowly with the rows, the number of pairs with the square of
the columns: with many columns chance alone brings edges (Chen & Chen 2008).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dagora.base.wording import setting

# There is a warning if chance alone is expected to bring more edges than this, per column and in all.
PER_COLUMN, FEWEST = 0.1, 1.0
LARGEST_PENALTY = 1000.0


def discrete_noise_edges(cardinalities: NDArray[np.float64], price: float) -> float:
    """Expected number of pairs that gain from an edge if all discrete columns are independent.

    >>> round(discrete_noise_edges(np.full(300, 2.0), math.log(200) / 2))
    957
    """
    from scipy.special import chdtrc

    levels, counts = np.unique(cardinalities, return_counts=True)
    parameters = np.outer(levels - 1, levels - 1)
    chance = np.where(parameters > 0, chdtrc(np.maximum(parameters, 1.0), 2 * price * parameters), 0.0)
    pairs = np.outer(counts, counts) - np.diag(counts)
    return float((pairs * chance).sum() / 2)


def gaussian_noise_edges(columns: int, rows: int, price: float) -> float:
    """Expected number of pairs that gain from an edge if all continuous columns are independent.

    >>> round(gaussian_noise_edges(300, 200, math.log(200) / 2))
    994
    """
    from scipy.special import betaincc

    if rows <= 2:
        return 0.0  # no parent is possible: the fit would be perfect
    chance = float(betaincc(0.5, rows / 2 - 1, -math.expm1(-2 * price / rows)))
    return columns * (columns - 1) / 2 * chance


def noise_warnings(expected: Callable[[float], float], penalty: float, rows: int, columns: int) -> list[str]:
    """Warn if many edges are expected by chance; `expected` gives their number for a factor on the price."""
    edges = expected(penalty)
    if edges <= max(FEWEST, PER_COLUMN * columns):
        return []
    warning = (
        f"{rows} rows are few for {columns} columns: even if no two columns had to do with each other, about "
        f"{edges:.0f} pairs would gain an edge by chance; {setting('penalty', enough(expected, penalty))} "
        "brings that below 1"
    )
    return [warning]


def enough(expected: Callable[[float], float], least: float) -> float:
    """The smallest penalty, in tenths, above `least` at which fewer than one edge is expected by chance.

    >>> enough(lambda penalty: 100 / penalty, 1.0)
    100.1
    """
    low, high = math.floor(least * 10), math.ceil(LARGEST_PENALTY * 10)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if expected(middle / 10) < 1 else (middle, high)
    return high / 10
