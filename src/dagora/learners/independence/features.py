"""A test of nonlinear relations between continuous columns, from second moments alone.

The functions of a column are the Legendre polynomials of its values scaled to [−1, 1] (`stats.basis`). Given
those of S, y itself is regressed on those of x, and x itself on those of y: two F tests, whose smaller
p-value is doubled. The response is not expanded: with functions on both sides the test would reject too
often. The effect of S is modelled as a sum of functions of single columns, without interactions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.learners.independence.protocol import Columns
from dagora.scores.usable_moments import refuse_discrete, refuse_duplicates, refuse_unusable
from dagora.stats.capabilities import require_basis_moments
from dagora.stats.statistics import Statistics

Floats = NDArray[np.float64]
# Functions of a conditioning column, and of the tested column: polynomials of degree 8 and 4.
FUNCTIONS, TESTED = 8, 4
# Rows per function of the conditioning set: at least half of the rows remain for the residual variance.
ROWS_A_FUNCTION = 2
# A function with a smaller share of its variance left given others is taken to be linearly dependent on them.
LEAST = 1e-7


class FeatureTest:
    """F tests of polynomials of columns.

    >>> from dagora.data.table import Table
    >>> from dagora.stats.table import TableStatistics
    >>> a, noise = np.random.default_rng(0).normal(size=(2, 200))
    >>> rows = np.stack([a, a**2 + noise], axis=1)
    >>> test = FeatureTest(TableStatistics(Table.from_numpy(rows, names=["a", "b"])), "the method pc")
    >>> bool(test.p_values(np.array([0]), np.array([1]), np.empty((1, 0), dtype=np.int64))[0] < 1e-9)
    True
    """

    def __init__(self, statistics: Statistics, owner: str) -> None:
        refuse_discrete(statistics.schema, owner)
        expanded = require_basis_moments(statistics, FUNCTIONS)
        plain = expanded.of_columns
        self.names = statistics.schema.names
        refuse_unusable(self.names, plain.mean, np.diag(plain.covariance), owner)
        refuse_duplicates(plain, statistics.schema, owner)
        moments = expanded.moments
        spread = np.sqrt(np.diag(moments.scatter))
        scale = np.where(spread > 0, spread, 1.0)
        self.rows = moments.n
        self._correlations: Floats = moments.scatter / scale / scale[:, None]

    @property
    def max_given(self) -> int:
        """A test needs more rows than functions, and a conditioning column has at least one."""
        return self.rows - TESTED - 3

    @property
    def batch_size(self) -> int:
        """A test takes some microseconds."""
        return 20_000

    def functions(self, size: int) -> int:
        """The number of functions of each column of a conditioning set of this size."""
        return min(FUNCTIONS, max(1, self.rows // (ROWS_A_FUNCTION * max(1, size))))

    def p_values(self, x: Columns, y: Columns, given: Columns) -> Floats:
        """The p-values of many pairs."""
        from scipy.special import fdtrc

        smaller = np.full(len(x), np.nan)
        functions = self.functions(given.shape[1])
        for response, other in ((x, y), (y, x)):
            results = np.empty((len(x), 4))
            residual_variances(self._correlations, response, other, given, functions, results)
            before, after, used, gained = results.T
            freedom = self.rows - 1 - used - gained
            possible = (freedom > 0) & (gained > 0) & (before > LEAST)
            by_chance = np.maximum(after, 0.0) / np.maximum(freedom, 1)
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.maximum(before - after, 0.0) / np.maximum(gained, 1) / by_chance
            p = fdtrc(np.maximum(gained, 1), np.maximum(freedom, 1), ratio)
            # Without residual variance the F ratio is infinite: one column determines the other.
            smaller = np.fmin(smaller, np.where(possible, np.where(after > LEAST, p, 0.0), np.nan))
        doubled: Floats = np.minimum(1.0, 2 * smaller)
        return doubled


@kernel
def residual_variances(
    correlations: Floats, response: Columns, other: Columns, given: Columns, functions: int, out: Floats
) -> None:
    """Write the residual variance of each response given the set, and given the set and the other column.

    Then follow the numbers of linearly independent functions of the set and of the other column: 0 of the
    other if the set determines it.
    """
    before_other = functions * given.shape[1]
    count = before_other + TESTED
    members = np.empty(count + 1, dtype=np.int64)
    block = np.empty((count + 1, count + 1))
    for k in range(len(response)):
        for position in range(given.shape[1]):
            for function in range(functions):
                members[position * functions + function] = given[k, position] * FUNCTIONS + function
        for function in range(TESTED):
            members[before_other + function] = other[k] * FUNCTIONS + function
        members[count] = response[k] * FUNCTIONS
        for a in range(count + 1):
            for b in range(a + 1):
                block[a, b] = correlations[members[a], members[b]]
        used = gained = 0
        before = block[count, count]
        for pivot in range(count):
            if pivot == before_other:
                before = block[count, count]
            size = block[pivot, pivot]
            if size <= LEAST:
                if pivot == before_other:
                    break
                continue
            if pivot < before_other:
                used += 1
            else:
                gained += 1
            for a in range(pivot + 1, count + 1):
                factor = block[a, pivot] / size
                for b in range(pivot + 1, a + 1):
                    block[a, b] -= factor * block[b, pivot]
        out[k, 0], out[k, 1], out[k, 2], out[k, 3] = before, block[count, count], used, gained
