"""Tests of partial correlations of the normal variables behind ordered levels and numbers.

The correlations behind levels are less precise than those of numbers, and their errors differ from those of
numbers: Fisher's rows − 3 is wrong for them. The standard error is taken from what each row adds
to the estimates of all pairs of a test (Muthén 1984), by the delta method. For levels, counts are enough.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dagora.learners.independence.protocol import Columns
from dagora.stats.capabilities import contingencies
from dagora.stats.latent_correlations import LatentCorrelations, in_order
from dagora.stats.statistics import Contingency, Statistics

Floats = NDArray[np.float64]

AT_ONCE = 500
MOST_KEPT = 1 << 25
"""Numbers of rows' parts in estimates that are kept: 256 MiB."""


class LatentTest:
    """Tests of partial correlations behind ordered levels and numbers.

    >>> from dagora.data.table import Table
    >>> from dagora.stats.table import TableStatistics
    >>> a, b, c = np.random.default_rng(1).normal(size=(3, 300))
    >>> codes = np.digitize(np.column_stack([a, a + b, a + c]), [-1, 0, 1])
    >>> test = LatentTest(TableStatistics(Table.from_numpy(codes, "abc", discrete=["all"])), "it")
    >>> test.p_values(np.array([1, 1]), np.array([0, 2]), np.array([[2], [0]])).round(2)
    array([0.  , 0.58])
    """

    def __init__(self, statistics: Statistics, owner: str) -> None:
        self.names = statistics.schema.names
        self._statistics = statistics
        self._found = LatentCorrelations(statistics, f"{owner} with the test latent")
        self._kept: dict[tuple[int, int], Floats] = {}

    @property
    def max_given(self) -> int:
        """A test needs four rows more than conditioning columns."""
        return self._found.n_rows - 4

    @property
    def batch_size(self) -> int:
        """Few enough that the time limit is checked now and then."""
        return AT_ONCE

    def p_values(self, x: Columns, y: Columns, given: Columns) -> Floats:
        """The p-values of many partial correlations."""
        sets = np.column_stack([x, y, given])
        counted = [all(self._found.discrete[k] for k in members) for members in sets.tolist()]
        joint = iter(contingencies(self._statistics, sets[np.array(counted, dtype=bool)].tolist()))
        return np.array(
            [
                self._p(members, next(joint) if of_levels else None)
                for members, of_levels in zip(sets.tolist(), counted, strict=True)
            ]
        )

    def _p(self, members: list[int], joint: Contingency | None) -> float:
        """The p-value of the first two columns given the others; `joint` has their counts."""
        found = self._found
        if found.constant & set(members[:2]):
            return 1.0
        inverse = np.linalg.inv(found.matrix[np.ix_(members, members)])
        first, second = inverse[:2] / np.sqrt(np.diag(inverse)[:2, None])
        partial = -first[1] / np.sqrt(inverse[1, 1])
        freedom = found.n_rows - len(members) - 1
        if freedom <= 0 or abs(partial) >= 1:
            return float("nan")
        parts = np.zeros(found.n_rows if joint is None else len(joint.counts))
        for a, b in combinations(range(len(members)), 2):
            slope = first[a] * second[b] + first[b] * second[a]
            slope += partial * (first[a] * first[b] + second[a] * second[b])
            cells = None if joint is None else joint.cells[:, [a, b]]
            parts += slope * self._part(members[a], members[b], cells)
        square = np.average(parts**2, weights=None if joint is None else joint.counts)
        error = np.sqrt(square / freedom) / (1 - partial**2)
        return float(2 * ndtr(-abs(np.arctanh(partial)) / error)) if error > 0 else float("nan")

    def _part(self, i: int, j: int, cells: Columns | None) -> Floats:
        """The part of rows, or of cells of levels, in the correlation of a pair, times the rows."""
        pair = (min(i, j), max(i, j))
        if pair not in self._kept:
            if sum(each.size for each in self._kept.values()) > MOST_KEPT:
                self._kept.clear()
            self._kept[pair] = self._found.influence(*pair)
        kept = self._kept[pair]
        if pair not in self._found.counts:
            return kept
        if cells is None:
            one, other = (self._found.columns[k] for k in pair)
        else:
            by_place = cells if i < j else cells[:, ::-1]
            one, other = (in_order(self._found.schema[k], by_place[:, a]) for a, k in enumerate(pair))
        return np.asarray(kept[one, other])
