"""Tests of continuous columns on rows, by residuals of smooth regressions on the conditioning set (`smooth`).

hsic    Hilbert–Schmidt independence criterion of the residuals
dcov    distance covariance of the residuals
gcm     generalised covariance measure: the mean product of residuals over its standard error, normal under
        independence (Shah & Peters 2020)

The null distribution of the first two is Pearson's type III with the exact first three moments over all
permutations of the residuals (`permutation_moments`). They assume additive noise: if a conditioning column
changes the variance of both others, hsic and dcov reject, and only gcm keeps its level. But gcm detects only
covariance: y = x² + noise with x around 0 has none.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.learners.independence.permutation_moments import coefficients, permutation_cumulants, upper_tail
from dagora.learners.independence.protocol import Columns
from dagora.learners.independence.row_kernels import KERNELS
from dagora.learners.independence.smooth import SmoothRegression
from dagora.scores.usable_moments import gaussian_moments, refuse_duplicates
from dagora.stats.statistics import Statistics

Floats = NDArray[np.float64]
Measure = Literal["hsic", "dcov", "gcm"]
Key = tuple[int, tuple[int, ...]]
# The most rows for hsic and dcov: a matrix of similarities has 128 MiB.
MOST_ROWS = 4096
# The cache of matrices in bytes (two of the largest), and of residuals in values (256 MiB).
CACHE_BYTES = 1 << 28
CACHE_VALUES = 1 << 25
# Rows per conditioning column: a smooth function uses some degrees of freedom.
ROWS_A_COLUMN = 5
# Multiplications between two checks of the time limit (about a second), and those of one regression.
WORK, REGRESSION = 200_000_000, 1_500_000
# A residual with a smaller share of a column's variance is rounding.
NOTHING_LEFT = 1e-10


class ResidualTest:
    """Tests of the residuals of smooth regressions.

    >>> from dagora.data.table import Table
    >>> from dagora.stats.table import TableStatistics
    >>> a, noise = np.random.default_rng(0).normal(size=(2, 100))
    >>> rows = np.stack([a, a**2 + noise], axis=1)
    >>> statistics = TableStatistics(Table.from_numpy(rows, names=["a", "b"]))
    >>> test = ResidualTest(statistics, "dcov", "the method pc")
    >>> bool(test.p_values(np.array([0]), np.array([1]), np.empty((1, 0), dtype=np.int64))[0] < 1e-4)
    True
    """

    def __init__(self, statistics: Statistics, measure: Measure, owner: str) -> None:
        moments = gaussian_moments(statistics, owner)
        refuse_duplicates(moments, statistics.schema, owner)
        table = statistics.rows()
        if measure in KERNELS and table.n_rows > MOST_ROWS:
            raise DataError(
                f"{owner} compares all pairs of rows with the test {measure}, at most {MOST_ROWS} rows, and "
                f"there are {table.n_rows}: take some of them, or choose the test gcm or features"
            )
        self.names = statistics.schema.names
        self._rows = table.n_rows
        self._measure = measure
        columns = np.stack([table.values(k) for k in range(len(self.names))])
        self._regression = SmoothRegression(columns)
        self._variances = self._regression.residuals(range(len(columns)), ()).var(axis=1)
        self._residuals: OrderedDict[Key, Floats] = OrderedDict()
        self._matrices: OrderedDict[Key, Floats] = OrderedDict()
        self._sums: dict[Key, Floats] = {}

    @property
    def max_given(self) -> int:
        """Limited by `ROWS_A_COLUMN`."""
        return self._rows // ROWS_A_COLUMN - 1

    @property
    def batch_size(self) -> int:
        """The number of tests that `WORK` allows."""
        each = REGRESSION + (10 * self._rows**2 if self._measure in KERNELS else 0)
        return max(1, WORK // each)

    def p_values(self, x: Columns, y: Columns, given: Columns) -> Floats:
        """The p-values of many pairs; pairs with the same conditioning set share regressions."""
        sets: dict[tuple[int, ...], list[int]] = {}
        for k, members in enumerate(given.tolist()):
            sets.setdefault(tuple(sorted(members)), []).append(k)
        p = np.full(len(x), np.nan)
        for members, places in sets.items():
            self._regress({int(each) for k in places for each in (x[k], y[k])}, members)
            for k in places:
                p[k] = self._p_value((int(x[k]), members), (int(y[k]), members))
        return p

    def between(self, one: Key, other: Key) -> float:
        """The p-value of two residuals, each with a conditioning set of its own (ascending)."""
        for column, given in (one, other):
            self._regress({column}, given)
        return self._p_value(one, other)

    def _regress(self, columns: set[int], given: tuple[int, ...]) -> None:
        """Compute the residuals that are not cached, and drop the oldest if the cache is full."""
        new = sorted(column for column in columns if (column, given) not in self._residuals)
        for column, left in zip(new, self._regression.residuals(new, given) if new else (), strict=True):
            self._residuals[column, given] = left
        while len(self._residuals) * self._rows > CACHE_VALUES and len(self._residuals) > len(columns):
            gone, _ = self._residuals.popitem(last=False)
            self._sums.pop(gone, None)

    def _p_value(self, one: Key, other: Key) -> float:
        left, right = self._residuals[one], self._residuals[other]
        for (column, _), values in ((one, left), (other, right)):
            if values.var() <= NOTHING_LEFT * self._variances[column]:
                return float("nan")
        if self._measure not in KERNELS:
            return covariance_measure(left, right)
        return self.dependence(one, other)[1]

    def dependence(self, one: Key, other: Key) -> tuple[float, float]:
        """Σ A_ij B_ij of two residuals, and its p-value."""
        a, b = self._matrix(one), self._matrix(other)
        value = float(np.vdot(a, b))
        cumulants = np.empty(3)
        permutation_cumulants(self._rows, self._sums[one], self._sums[other], coefficients(), cumulants)
        return value, float(upper_tail(value, *cumulants))

    def _matrix(self, key: Key) -> Floats:
        """The similarity matrix of a residual, from a cache of limited size."""
        if key in self._matrices:
            self._matrices.move_to_end(key)
            return self._matrices[key]
        rows = KERNELS[self._measure]
        matrix = rows.matrix(self._residuals[key])
        if key not in self._sums:
            self._sums[key] = rows.sums(self._residuals[key], matrix)
        self._matrices[key] = matrix
        while len(self._matrices) * matrix.nbytes > CACHE_BYTES and len(self._matrices) > 2:
            self._matrices.popitem(last=False)
        return matrix


def covariance_measure(one: Floats, other: Floats) -> float:
    """The p-value of the mean product of two residuals.

    >>> covariance_measure(np.array([1.0, -1.0, 1.0, -1.0]), np.array([1.0, 1.0, -1.0, -1.0]))
    1.0
    """
    from scipy.special import ndtr

    products = one * other
    spread = products.std()
    if spread == 0:
        return float("nan")
    return float(2 * ndtr(-abs(products.mean()) / spread * np.sqrt(len(products))))
