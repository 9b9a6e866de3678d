"""Tests of links by partial correlations (Fisher's z), from the moments of windows alone.

A link is tested given a base of lagged nodes, which is the same in all tests of it, and sets of neighbours.
The base is eliminated from the correlations of the pair and its neighbours once. What is left is a small
matrix, in which a test takes as long as for its few neighbours alone.

Parents of one node are tested given the strongest others: the first k of them. For parents behind these, one
factor of the matrix of all k serves all. For one of the first k, it is given the others and the next: one
inverse serves all of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atanh, erfc, sqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import inlined, kernel
from dagora.learners.constraint.partial_correlations import (
    UNDEFINED,
    eliminate,
    next_subset,
    significance_limits,
)
from dagora.learners.run import Run
from dagora.learners.time.link_tests import Given, Link, TestedLink
from dagora.scores.gaussian import COLLINEAR

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# Sets between two checks of the time limit: some hundredths of a second.
SETS_PER_CHECK = 20_000
# Residual matrices that are kept, in numbers (256 MiB).
KEPT_NUMBERS = 1 << 25


class Correlated(Protocol):
    """Correlations of so many rows, as `FisherZ` has them."""

    @property
    def correlations(self) -> Floats:
        """The correlations of all columns."""

    @property
    def rows(self) -> int:
        """The number of rows, less those that centring takes."""

    @property
    def max_given(self) -> int:
        """The size of the largest conditioning set."""


class GaussianLinks:
    """Partial correlations of nodes of a window.

    >>> from dagora.data.table import Table
    >>> from dagora.learners.independence.fisher_z import FisherZ
    >>> from dagora.stats.table import TableStatistics
    >>> a, noise, more = np.random.default_rng(0).normal(size=(3, 200))
    >>> rows = np.stack([a, a + noise, a + more], axis=1)
    >>> tests = GaussianLinks(FisherZ(TableStatistics(Table.from_numpy(rows, names="abc")), "it"), 0.01)
    >>> tests.given_sets(Link(1, 2, (), (0,)), 0, Run()).separated
    0
    >>> found = tests.given_sets(Link(1, 2, (), (0,)), 1, Run())
    >>> found.given, round(found.p, 3), found.votes
    ((0,), 0.392, {0: 1})
    """

    def __init__(self, test: Correlated, alpha: float) -> None:
        self._correlations = np.ascontiguousarray(test.correlations)
        self._rows = test.rows
        self.max_given = test.max_given
        self._limits = significance_limits(test.rows, len(test.correlations), alpha)
        self._kept: dict[tuple[int, int, Given], tuple[dict[int, int], Floats]] = {}
        self._numbers = 0

    def given_strongest(self, effect: int, parents: Sequence[int], size: int) -> tuple[Floats, Floats]:
        """The p-values, and the sizes of the partial correlations."""
        from scipy.special import ndtr

        values = np.empty(len(parents))
        partials_given_strongest(self._correlations, effect, np.array(parents, dtype=np.int64), size, values)
        freedom = self._rows - 3 - size
        strengths = np.where(values == UNDEFINED, np.nan, np.abs(values))
        if freedom <= 0:
            return np.full(len(parents), np.nan), strengths
        with np.errstate(divide="ignore", invalid="ignore"):
            p: Floats = 2 * ndtr(-np.arctanh(strengths) * np.sqrt(freedom))
        return p, strengths

    def given_sets(self, link: Link, size: int, run: Run) -> TestedLink:
        """Test a link given its base and sets of one size."""
        found = TestedLink()
        total = len(link.base) + size
        if total > self.max_given:
            return found
        place, matrix = self._residuals(link)
        known = set(link.near)
        near = np.array([place[node] for node in link.near], dtype=np.int64)
        other = np.array([place[node] for node in link.near_cause], dtype=np.int64)
        shared = np.zeros(len(matrix), dtype=np.bool_)
        for node in link.near_cause:
            shared[place[node]] = node in known
        nodes = {at: node for node, at in place.items()}
        limit = float(self._limits[total])
        sides = [(near, False), (other, True)] if size else [(near[:0], False)]
        for places, skips in sides:
            if len(places) >= size:
                found.add(self._walk(matrix, places, shared, limit, size, nodes, known, run, skips=skips))
        if found.value is not None:
            found.p = self.p_value(found.value, total)
        return found

    def _walk(
        self,
        matrix: Floats,
        places: Integers,
        shared: NDArray[np.bool_],
        limit: float,
        size: int,
        nodes: dict[int, int],
        known: set[int],
        run: Run,
        *,
        skips: bool,
    ) -> TestedLink:
        """Walk all sets of `size` of some rows; p is 1 − |ρ|, which orders sets of a size as p-values do."""
        found = TestedLink()
        subset = np.arange(2, size + 2, dtype=np.int64)
        votes = np.zeros(len(matrix), dtype=np.int64)
        best = np.zeros(size, dtype=np.int64)
        counts = np.zeros(2, dtype=np.int64)
        weakest = UNDEFINED
        more = True
        while more:
            more, weakest = walk_sets_given(
                matrix, places, shared, skips, subset, limit, weakest, best, votes, counts, SETS_PER_CHECK
            )
            if more and run.budget.exhausted:
                found.finished = False
                break
        found.tests, found.separated = int(counts[0]), int(counts[1])
        if weakest != UNDEFINED:
            found.p, found.value = 1.0 - abs(weakest), weakest
            found.given = tuple(nodes[int(places[k])] for k in best)
        found.votes = {
            nodes[at]: int(votes[at]) for at in np.flatnonzero(votes).tolist() if nodes[at] in known
        }
        return found

    def p_value(self, value: float, size: int) -> float:
        """The p-value of a partial correlation given `size` nodes."""
        freedom = self._rows - 3 - size
        return erfc(atanh(abs(value)) * sqrt(freedom / 2)) if abs(value) < 1.0 else 0.0

    def _residuals(self, link: Link) -> tuple[dict[int, int], Floats]:
        """The covariances of the pair, in rows 0 and 1, and its neighbours given the base; rows by node."""
        key = (link.cause, link.effect, link.base)
        wanted = {*link.near, *link.near_cause}
        if key in self._kept and wanted <= self._kept[key][0].keys():
            return self._kept[key]
        near = sorted(wanted)
        kept = len(near) + 2
        nodes = np.array([link.cause, link.effect, *near, *link.base], dtype=np.int64)
        matrix = np.empty((kept, kept))
        residual_matrix(self._correlations, nodes, kept, matrix)
        found = ({node: at + 2 for at, node in enumerate(near)}, matrix)
        if near:  # without neighbours there is no second look
            self._numbers += matrix.size
            if self._numbers > KEPT_NUMBERS:
                self._kept.clear()
                self._numbers = matrix.size
            self._kept[key] = found
        return found


@inlined
def fill_lower(matrix: Floats, nodes: Integers, block: Floats) -> None:
    """Copy the lower triangle of some rows and columns."""
    for a in range(len(nodes)):
        for b in range(a + 1):
            block[a, b] = matrix[nodes[a], nodes[b]]


@kernel
def residual_matrix(correlations: Floats, nodes: Integers, kept: int, out: Floats) -> None:
    """Write the covariances of the first `kept` nodes given the others.

    >>> r = 0.5**0.5
    >>> matrix = np.array([[1.0, 0.5, r], [0.5, 1.0, r], [r, r, 1.0]])
    >>> out = np.empty((2, 2))
    >>> residual_matrix(matrix, np.array([0, 1, 2]), 2, out)
    >>> (out.round(9) + 0.0).tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    """
    count = len(nodes)
    block = np.empty((count, count))
    fill_lower(correlations, nodes, block)
    for last in range(count - 1, kept - 1, -1):
        pivot = block[last, last]
        if pivot <= COLLINEAR:
            continue
        for a in range(last):
            factor = block[last, a] / pivot
            for b in range(a + 1):
                block[a, b] -= factor * block[last, b]
    for a in range(kept):
        for b in range(a + 1):
            out[a, b] = block[a, b]
            out[b, a] = block[a, b]


@kernel
def walk_sets_given(
    matrix: Floats,
    places: Integers,
    shared: NDArray[np.bool_],
    skips: bool,
    subset: Integers,
    limit: float,
    weakest: float,
    best: Integers,
    votes: Integers,
    counts: Integers,
    most: int,
) -> tuple[bool, float]:
    """Test rows 0 and 1 given sets of the rows `places`, from `subset` on; at most `most` of them.

    With `skips`, sets of `shared` rows only were tested before. `counts` gets the number of tests and of sets
    that separate, `votes` the number of those with each row, `best` the set of the weakest partial
    correlation. Returns True if sets are left, and that correlation.
    """
    size = len(subset)
    members = np.empty(size, dtype=np.int64)
    block = np.empty((size + 2, size + 2))
    for _ in range(most):
        known = skips
        for k in range(size):
            members[k] = places[subset[k] - 2]
            known = known and shared[members[k]]
        if not known:
            value = eliminate(matrix, members, size, block)
            counts[0] += 1
            if abs(value) < abs(weakest):
                weakest = value
                for k in range(size):
                    best[k] = subset[k] - 2
            if abs(value) <= limit:
                counts[1] += 1
                for k in range(size):
                    votes[members[k]] += 1
        if not next_subset(subset, size, len(places)):
            return False, weakest
    return True, weakest


@kernel
def partials_given_strongest(
    correlations: Floats, effect: int, parents: Integers, size: int, out: Floats
) -> None:
    """Write the partial correlation of `effect` and each parent given the first `size` of the others.

    >>> r = 0.5**0.5
    >>> matrix = np.array([[1.0, r, 0.5], [r, 1.0, r], [0.5, r, 1.0]])
    >>> out = np.empty(2)
    >>> partials_given_strongest(matrix, 0, np.array([1, 2]), 1, out)
    >>> (out.round(6) + 0.0).tolist()
    [0.57735, 0.0]
    """
    count = size + 2
    nodes = np.empty(count, dtype=np.int64)
    for k in range(size + 1):
        nodes[k] = parents[k]
    nodes[size + 1] = effect
    factor = np.zeros((count, count))
    dependent = False
    for a in range(count):
        for b in range(a + 1):
            value = correlations[nodes[a], nodes[b]]
            for k in range(b):
                value -= factor[a, k] * factor[b, k]
            if b < a:
                factor[a, b] = value / factor[b, b] if factor[b, b] > 0.0 else 0.0
            elif value > COLLINEAR:
                factor[a, a] = np.sqrt(value)
            else:
                dependent = True
    # Parents behind the first ones: the same set for all.
    left = 1.0
    for k in range(size):
        left -= factor[count - 1, k] ** 2
    row = np.empty(max(1, size))
    for place in range(size, len(parents)):
        variance, covariance = 1.0, correlations[effect, parents[place]]
        for a in range(size):
            value = correlations[parents[place], nodes[a]]
            for k in range(a):
                value -= row[k] * factor[a, k]
            row[a] = value / factor[a, a] if factor[a, a] > 0.0 else 0.0
            variance -= row[a] ** 2
            covariance -= row[a] * factor[count - 1, a]
        if variance <= COLLINEAR or left <= COLLINEAR:
            out[place] = UNDEFINED
        else:
            out[place] = min(1.0, max(-1.0, covariance / np.sqrt(variance * left)))
    if dependent:
        others = np.empty(size, dtype=np.int64)
        pair = np.empty((size + 2, size + 2))
        matrix = np.empty((count, count))
        for place in range(size):
            rest = 0
            nodes[0], nodes[1] = parents[place], effect
            for k in range(size + 1):
                if k != place:
                    nodes[rest + 2] = parents[k]
                    others[rest] = rest + 2
                    rest += 1
            for a in range(count):
                for b in range(count):
                    matrix[a, b] = correlations[nodes[a], nodes[b]]
            out[place] = eliminate(matrix, others, size, pair)
        return
    # One of the first: given the rest of them and the next, by the inverse of all.
    inverse = np.zeros((count, count))
    for b in range(count):
        inverse[b, b] = 1.0 / factor[b, b]
        for a in range(b + 1, count):
            value = 0.0
            for k in range(b, a):
                value -= factor[a, k] * inverse[k, b]
            inverse[a, b] = value / factor[a, a]
    last = inverse[count - 1, count - 1]
    for place in range(size):
        precision = 0.0
        for k in range(place, count):
            precision += inverse[k, place] ** 2
        value = -inverse[count - 1, place] * last / np.sqrt(precision * last**2)
        out[place] = min(1.0, max(-1.0, value))
