"""Tests of discrete columns from their joint counts: X² and G².

Rows with the same values in the conditioning set are a stratum. The tests sum a statistic over the strata and
differ in its null distribution:

x2        X² with the exact first three moments over all permutations of the rows within strata, which depend
          on the number of rows in a stratum
g2        G² against χ² with (levels of x − 1)(levels of y − 1)(combinations of conditioning levels) degrees
          of freedom
g2-seen   G² with the degrees of freedom of the levels seen in each stratum

Of rows with weights or groups, sums of weights are counted, and X² has the distribution of χ² with the
degrees of freedom of the levels seen: rows of different weight have no permutations.

On sparse tables the size of both G² is far off, in either direction. X² keeps to alpha or below it: with 20
rows, nearly all in one level, few tables are possible, and it is conservative.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.data.schema import Kind
from dagora.kernels.decorators import kernel
from dagora.learners.independence.permutation_moments import (
    CUBED_ENTRIES,
    CUBES,
    CYCLES,
    ENTRIES,
    FORM,
    SQUARED,
    SQUARES,
    TRACE,
    Coefficients,
    coefficients,
    permutation_cumulants,
    upper_tail,
)
from dagora.learners.independence.protocol import Columns
from dagora.stats.capabilities import capabilities_of, contingencies
from dagora.stats.statistics import Contingency, Statistics
from dagora.stats.table import TableStatistics

Floats = NDArray[np.float64]
CountStatistic = Literal["x2", "g2", "g2-seen"]
# Rows that are counted between two checks of the time limit: some tenths of a second.
ROWS_PER_BATCH = 20_000_000
# Tests of one round with sites: few messages, and the time limit is still checked.
TESTS_PER_ROUND = 5_000
# Counts of one stratum: 128 MiB.
MOST_CELLS = 1 << 24
# Slots of a pair's result: X² with its mean, variance and third moment, G² and its degrees of freedom.
X2, MEAN, VARIANCE, THIRD, G2, FREEDOM = range(6)


class CountTest:
    """Tests of discrete columns on joint counts.

    >>> from dagora.data.table import Table
    >>> table = Table.from_numpy([[0, 0], [1, 1]] * 20, names=["a", "b"], discrete=["a", "b"])
    >>> test = CountTest(TableStatistics(table), "x2", "the method pc")
    >>> bool(test.p_values(np.array([0]), np.array([1]), np.empty((1, 0), dtype=np.int64))[0] < 1e-6)
    True
    """

    def __init__(
        self,
        statistics: Statistics,
        statistic: CountStatistic,
        owner: str,
        among: NDArray[np.bool_] | None = None,
    ) -> None:
        """`among` marks the columns that will be tested (None: all); these must be discrete."""
        for k, variable in enumerate(statistics.schema):
            if variable.kind is not Kind.DISCRETE and (among is None or among[k]):
                raise DataError(
                    f"{owner} counts discrete columns with this test, but '{variable.name}' is continuous: "
                    "discretise it, or choose another test"
                )
        self.names = statistics.schema.names
        self._statistics = statistics
        self._statistic = statistic
        self._levels = statistics.schema.cardinalities
        self._weighted = capabilities_of(statistics).design is not None
        two = np.sort(self._levels)[-2:]
        if len(two) == 2 and int(two[0]) * int(two[1]) > MOST_CELLS:
            raise DataError(
                f"{owner}: two columns have {two[0]} and {two[1]} levels, too many to be counted together"
            )

    @property
    def max_given(self) -> int:
        """Any conditioning set can be tested."""
        return len(self.names)

    @property
    def batch_size(self) -> int:
        """The number of tests that `ROWS_PER_BATCH` allows; without rows, those of one round."""
        if not isinstance(self._statistics, TableStatistics):
            return TESTS_PER_ROUND
        return max(1, ROWS_PER_BATCH // max(1, self._statistics.n_rows))

    def p_values(self, x: Columns, y: Columns, given: Columns) -> Floats:
        """The p-values of many pairs; those with the same conditioning set are counted together."""
        results = np.empty((len(x), FREEDOM + 1))
        statistics = self._statistics
        exact = self._statistic == "x2"
        if self._weighted:
            sets_of = np.column_stack([given, x, y]).tolist()
            for k, joint in enumerate(contingencies(statistics, sets_of)):
                sum_weighted_strata(joint, results[k])
            return self._tail(results, x, y, given)
        if not isinstance(statistics, TableStatistics):
            count_at_sites(statistics, x, y, given, self._levels, exact, results)
            return self._tail(results, x, y, given)
        ones = np.ones(statistics.n_rows, dtype=np.int64)
        sets, place = np.unique(given, axis=0, return_inverse=True)
        place = place.reshape(-1)
        by_set = np.argsort(place, kind="stable")
        starts = np.searchsorted(place[by_set], np.arange(len(sets) + 1))
        for k, members in enumerate(sets.tolist()):
            chosen = by_set[starts[k] : starts[k + 1]]
            rows = statistics.slices(members)
            own = np.empty((len(chosen), FREEDOM + 1))
            count_pairs(
                *rows[:2], rows.codes, x[chosen], y[chosen], ones, self._levels, coefficients(), exact, own
            )
            results[chosen] = own
        return self._tail(results, x, y, given)

    def _tail(self, results: Floats, x: Columns, y: Columns, given: Columns) -> Floats:
        """P-values from the slots that the kernel filled."""
        if self._statistic == "x2" and not self._weighted:
            return upper_tail(*results.T[:G2])
        from scipy.special import chdtrc

        freedom = results[:, FREEDOM]
        statistic = results[:, X2 if self._statistic == "x2" else G2]
        if self._statistic == "g2":
            freedom = (
                (self._levels[x] - 1.0)
                * (self._levels[y] - 1.0)
                * self._levels[given].prod(axis=1, dtype=np.float64)
            )
        tail = chdtrc(np.maximum(freedom, 1.0), np.maximum(statistic, 0.0))
        p: Floats = np.where(freedom > 0, tail, 1.0)
        return p


def sum_weighted_strata(joint: Contingency, out: Floats) -> None:
    """Write X², G² and the degrees of freedom of the levels seen, from sums of weights in cells.

    >>> cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> out = np.empty(FREEDOM + 1)
    >>> sum_weighted_strata(Contingency(cells, np.array([2.5, 0.5, 0.5, 2.5])), out)
    >>> out[[X2, FREEDOM]].round(3)
    array([2.667, 1.   ])
    """
    _, strata = np.unique(joint.cells[:, :-2], axis=0, return_inverse=True)
    strata = strata.reshape(-1)
    weights: Floats = joint.counts
    x, y = (strata * (column.max() + 1) + column for column in joint.cells[:, -2:].T)
    of_x, of_y, whole = (np.bincount(places, weights) for places in (x, y, strata))
    expected = of_x[x] * of_y[y] / whole[strata]
    out[:] = 0.0
    out[X2] = (weights**2 / expected).sum() - weights.sum()
    out[G2] = 2 * (weights * np.log(weights / expected)).sum()
    seen = [np.bincount(strata[np.unique(places, return_index=True)[1]]) - 1 for places in (x, y)]
    out[FREEDOM] = (seen[0] * seen[1]).sum()


def count_at_sites(
    statistics: Statistics,
    x: Columns,
    y: Columns,
    given: Columns,
    levels: NDArray[np.int64],
    exact: bool,
    out: Floats,
) -> None:
    """Write the results of pairs from joint counts, which are all requested in one call."""
    sets = np.column_stack([given, x, y])
    of_pair = np.array([0]), np.array([1])
    for k, joint in enumerate(contingencies(statistics, sets.tolist())):
        cells = joint.cells[:, :-2]
        change = np.ones(len(cells), dtype=np.bool_)
        change[1:] = (cells[1:] != cells[:-1]).any(axis=1)
        starts = np.append(np.flatnonzero(change), len(cells))
        codes = np.ascontiguousarray(joint.cells[:, -2:].T)
        order = np.arange(len(cells))
        pair_levels = levels[sets[k, -2:]]
        count_pairs(
            order, starts, codes, *of_pair, joint.counts, pair_levels, coefficients(), exact, out[k : k + 1]
        )


@kernel
def count_pairs(
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    codes: NDArray[Any],
    x: Columns,
    y: Columns,
    weights: NDArray[np.int64],
    levels: NDArray[np.int64],
    factors: Coefficients,
    exact: bool,
    out: Floats,
) -> None:
    """Count each pair within the strata order[starts[s]:starts[s + 1]] of rows, and sum the statistics.

    The moments of X² are computed only if `exact`.
    """
    cumulants = np.empty(3)
    sums_x, sums_y = np.empty(8), np.empty(8)
    for k in range(len(x)):
        wide, high = levels[x[k]], levels[y[k]]
        cells = np.zeros((wide, high), dtype=np.int64)
        of_x, of_y = np.zeros(wide, dtype=np.int64), np.zeros(high, dtype=np.int64)
        column_x, column_y = codes[x[k]], codes[y[k]]
        for slot in range(FREEDOM + 1):
            out[k, slot] = 0.0
        for s in range(len(starts) - 1):
            rows = 0
            for at in range(starts[s], starts[s + 1]):
                row = order[at]
                weight = weights[row]
                cells[column_x[row], column_y[row]] += weight
                of_x[column_x[row]] += weight
                of_y[column_y[row]] += weight
                rows += weight
            add_stratum(cells, of_x, of_y, rows, factors, exact, sums_x, sums_y, cumulants, out[k])
            for at in range(starts[s], starts[s + 1]):
                row = order[at]
                cells[column_x[row], column_y[row]] = 0
                of_x[column_x[row]] = 0
                of_y[column_y[row]] = 0


@kernel
def add_stratum(
    cells: NDArray[np.int64],
    of_x: NDArray[np.int64],
    of_y: NDArray[np.int64],
    rows: int,
    factors: Coefficients,
    exact: bool,
    sums_x: Floats,
    sums_y: Floats,
    cumulants: Floats,
    out: Floats,
) -> None:
    """Add the statistics of one stratum of n rows: X² is n Σ A_ij B_ij of the projections on levels."""
    seen_x = projection_sums(of_x, rows, sums_x)
    seen_y = projection_sums(of_y, rows, sums_y)
    if seen_x < 2 or seen_y < 2:
        return
    square, entropy = 0.0, rows * np.log(rows)
    for a in range(len(of_x)):
        if of_x[a] == 0:
            continue
        entropy -= of_x[a] * np.log(of_x[a])
        for b in range(len(of_y)):
            if cells[a, b]:
                square += cells[a, b] / of_x[a] * (cells[a, b] / of_y[b])
                entropy += cells[a, b] * np.log(cells[a, b])
    for b in range(len(of_y)):
        if of_y[b]:
            entropy -= of_y[b] * np.log(of_y[b])
    scale = float(rows)
    if not exact:
        cumulants[0] = cumulants[1] = cumulants[2] = 0.0
    elif max(seen_x, seen_y) == rows:
        # Rows that all differ in one of the two: every permutation gives the same X².
        cumulants[0], cumulants[1], cumulants[2] = square - 1, 0.0, 0.0
    else:
        permutation_cumulants(rows, sums_x, sums_y, factors, cumulants)
    out[X2] += scale * (square - 1)
    for moment in range(3):
        out[MEAN + moment] += scale * cumulants[moment]
        scale *= rows
    out[G2] += 2 * entropy
    out[FREEDOM] += (seen_x - 1) * (seen_y - 1)


@kernel
def projection_sums(margin: NDArray[np.int64], rows: int, sums: Floats) -> int:
    """Write the sums of the centred projection on a column's levels; return the number of levels seen."""
    seen = 0
    for k in range(8):
        sums[k] = 0.0
    among, total = 0.0, 0.0
    for level in range(len(margin)):
        count = float(margin[level])
        if count == 0.0:
            continue
        seen += 1
        d = 1 / count - 1 / rows
        sums[SQUARES] += count * d * d
        sums[CUBES] += count * d * d * d
        among += count * count
        sums[CUBED_ENTRIES] += count * count * d * d * d
        total += count * d
    sums[TRACE] = sums[ENTRIES] = sums[CYCLES] = seen - 1.0
    sums[CUBED_ENTRIES] -= (float(rows) ** 2 - among) / float(rows) ** 3
    sums[SQUARED] = sums[SQUARES]
    # d is constant within a level, so the projection leaves it as it is but for its mean.
    sums[FORM] = sums[SQUARES] - total * total / rows
    return seen
