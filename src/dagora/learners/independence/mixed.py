"""Tests of tables with discrete and continuous columns, from counts and from moments of a widened table.

Where x, y and all that is given are discrete, it is X² (`counted`). Elsewhere columns are features, as in
`stats.indicators`: z and z² of a number, indicators of levels. Given the features of S, a response is
regressed on those of the other column, by Wilks' Λ with Rao's F, which is exact for one response:

a discrete column and another one    the indicators of the discrete one on the features of the other: whether
                                     levels differ in the mean or the spread of a number
two numbers                          z of either on the features of the other: the smaller p-value, twice

What S explains is taken to be a sum of functions of single columns, as `bic-mixed` does. The likelihood ratio
of that score has squares on both sides, and rejects too often where numbers depend on numbers that are given.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Kind
from dagora.kernels.decorators import kernel
from dagora.learners.independence.counted import CountTest
from dagora.learners.independence.independence_test import Columns
from dagora.scores.usable_moments import refuse_unusable
from dagora.stats.indicators import require_indicator_moments
from dagora.stats.statistics import Statistics

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# The share of a feature's variance that others must leave for it to tell anything.
LEAST = 1e-9
# What the kernel finds: ln Λ, responses, tested features, features that are given.
FOUND = 4


class MixedTest:
    """Tests of columns of both kinds.

    >>> from dagora.data.table import Table
    >>> from dagora.stats.table import TableStatistics
    >>> rng = np.random.default_rng(0)
    >>> a = rng.integers(0, 3, size=200)
    >>> rows = np.stack([a, rng.normal(size=200) * (1 + a)], axis=1)
    >>> test = MixedTest(TableStatistics(Table.from_numpy(rows, names=["a", "x"], discrete=["a"])), "it")
    >>> bool(test.p_values(np.array([0]), np.array([1]), np.empty((1, 0), dtype=np.int64))[0] < 1e-3)
    True
    """

    def __init__(self, statistics: Statistics, owner: str) -> None:
        schema = statistics.schema
        self.names = schema.names
        self._numbers = np.array([variable.kind is Kind.CONTINUOUS for variable in schema])
        if self._numbers.any():
            moments = statistics.moments()
            names = [variable.name for variable in schema if variable.kind is Kind.CONTINUOUS]
            variances = np.diag(moments.scatter) / max(1, moments.n)
            refuse_unusable(names, moments.mean, variances, owner)
        found = require_indicator_moments(statistics)
        self._starts = found.starts
        self._rows = found.moments.n
        spread = np.sqrt(np.diag(found.moments.scatter))
        scale = np.where(spread > 0, spread, 1.0)
        self._correlations: Floats = found.moments.scatter / scale / scale[:, None]
        self._counted = CountTest(statistics, "x2", owner, among=~self._numbers)

    @property
    def most(self) -> int:
        """Features must leave rows for the remainder; where they do not, a test is not made."""
        return max(0, self._rows // 2 - 3) if self._rows > 2 else -1

    @property
    def at_a_time(self) -> int:
        """As many as can be counted; regressions take less time than that."""
        return min(20_000, self._counted.at_a_time)

    def p_values(self, x: Columns, y: Columns, given: Columns) -> Floats:
        """The p-values of many pairs."""
        found = np.empty(len(x))
        numbers = self._numbers[np.column_stack([x, y, given])]
        counted = np.flatnonzero(~numbers.any(axis=1))
        if len(counted):
            found[counted] = self._counted.p_values(x[counted], y[counted], given[counted])
        others = np.flatnonzero(numbers.any(axis=1))
        x, y, given, numbers = x[others], y[others], given[others], numbers[others]
        # The response is the discrete one of two.
        turned = numbers[:, 0] & ~numbers[:, 1]
        response, other = np.where(turned, y, x), np.where(turned, x, y)
        p = self._regressed(response, other, given)
        both = numbers[:, 0] & numbers[:, 1]
        p[both] = np.minimum(1.0, 2 * np.fmin(p[both], self._regressed(y[both], x[both], given[both])))
        found[others] = p
        return found

    def _regressed(self, response: Columns, other: Columns, given: Columns) -> Floats:
        found = np.empty((len(response), FOUND))
        widest = int(np.diff(self._starts).max(initial=0)) * (given.shape[1] + 2)
        room = np.empty((widest, widest))
        ratios_of_determinants(
            self._correlations, self._starts, self._numbers, response, other, given, room, found
        )
        return rao_tail(found, self._rows)


def rao_tail(found: Floats, rows: int) -> Floats:
    """P-values of Wilks' Λ (Rao 1951); NaN where nothing is left to be tested.

    One response and one regressor are a t test: Λ = 1 − r².

    >>> rao_tail(np.array([[np.log(0.75), 1.0, 1.0, 0.0]]), 12).round(6)
    array([0.097855])
    """
    from scipy.special import fdtrc

    log_ratio, q, p, used = found.T
    error = rows - 1 - used - p
    product, squares = p * q, p * p + q * q
    root = np.sqrt(np.maximum(product**2 - 4, 1.0) / np.maximum(squares - 5, 1.0))
    root = np.where(squares > 5, root, 1.0)
    freedom = (error - (q - p + 1) / 2) * root - product / 2 + 1
    possible = (product > 0) & (freedom > 0)
    each = np.exp(np.minimum(log_ratio, 0.0) / root)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (1 - each) / each * freedom / product
    tail = fdtrc(np.maximum(product, 1), np.maximum(freedom, 1e-6), np.where(possible, ratio, 1.0))
    tails: Floats = np.where(possible, np.where(np.isneginf(log_ratio), 0.0, tail), np.nan)
    return tails


@kernel
def ratios_of_determinants(
    correlations: Floats,
    starts: Integers,
    numbers: NDArray[np.bool_],
    response: Columns,
    other: Columns,
    given: Columns,
    room: Floats,
    out: Floats,
) -> None:
    """What the features of another column leave of a response's determinant, given the features of columns.

    Of a number that is the response only z counts, not z².
    """
    members = np.empty(len(room), dtype=np.int64)
    for k in range(len(response)):
        count = 0
        for place in range(given.shape[1]):
            for feature in range(starts[given[k, place]], starts[given[k, place] + 1]):
                members[count] = feature
                count += 1
        first = starts[response[k]]
        last = first + 1 if numbers[response[k]] else starts[response[k] + 1]
        own = last - first
        for a in range(own):
            members[count + a] = first + a
        before, q, used = eliminated(correlations, members, count, own, room)
        tested = starts[other[k] + 1] - starts[other[k]]
        for a in range(tested):
            members[count + a] = starts[other[k]] + a
        for a in range(own):
            members[count + tested + a] = first + a
        after, left, both = eliminated(correlations, members, count + tested, own, room)
        out[k, 0] = after - before if left == q else -np.inf
        out[k, 1], out[k, 2], out[k, 3] = q, both - used, used


@kernel
def eliminated(
    correlations: Floats, members: Integers, first: int, more: int, block: Floats
) -> tuple[float, int, int]:
    """Eliminate features; of those from `first` on, the log-determinant and the rank; the rank of others."""
    size = first + more
    for a in range(size):
        for b in range(a + 1):
            block[a, b] = correlations[members[a], members[b]]
    total = 0.0
    rank = before = 0
    for pivot in range(size):
        left = block[pivot, pivot]
        if left <= LEAST:
            continue
        if pivot < first:
            before += 1
        else:
            rank += 1
            total += np.log(left)
        for a in range(pivot + 1, size):
            factor = block[a, pivot] / left
            for b in range(pivot + 1, a + 1):
                block[a, b] -= factor * block[b, pivot]
    return total, rank, before
