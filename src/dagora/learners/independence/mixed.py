"""Tests for discrete and continuous columns, from counts and from moments of their features.

If x, y and the conditioning set S are discrete, it is X² (`counted`). Otherwise columns have features, as in
`stats.indicators`: z and z² of a continuous column, indicators of a discrete one. Given the features of S, a
response is regressed on those of the other column, by Wilks' Λ with Rao's F, exact for one response:

discrete with another     the indicators of the discrete one on the features of the other: does the mean or
                          the variance of a continuous column differ between levels?
two continuous columns    z of either on the features of the other: the smaller p-value, doubled

The effect of S is modelled as a sum of functions of single columns, as in `bic-mixed`. The likelihood ratio
of that score has squares on both sides, and rejects too often if x and y depend on continuous columns of S.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Kind
from dagora.kernels.decorators import kernel
from dagora.learners.independence.counted import CountTest
from dagora.learners.independence.protocol import Columns
from dagora.scores.usable_moments import refuse_unusable
from dagora.stats.capabilities import require_indicator_moments
from dagora.stats.statistics import Statistics

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# A feature with a smaller share of its variance left given others is taken to be linearly dependent on them.
LEAST = 1e-9
# Slots of a result: ln Λ, and the numbers of responses, of tested features and of conditioning features.
LOG_RATIO, RESPONSES, TESTED, CONDITIONING = range(4)


class MixedTest:
    """Tests of discrete and continuous columns.

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
        self._continuous = np.array([variable.kind is Kind.CONTINUOUS for variable in schema])
        if self._continuous.any():
            moments = statistics.moments()
            names = [variable.name for variable in schema if variable.kind is Kind.CONTINUOUS]
            variances = np.diag(moments.scatter) / max(1, moments.n)
            refuse_unusable(names, moments.mean, variances, owner)
        features = require_indicator_moments(statistics)
        self._starts = features.starts
        self._rows = features.moments.n
        spread = np.sqrt(np.diag(features.moments.scatter))
        scale = np.where(spread > 0, spread, 1.0)
        self._correlations: Floats = features.moments.scatter / scale / scale[:, None]
        self._counted = CountTest(statistics, "x2", owner, among=~self._continuous)

    @property
    def max_given(self) -> int:
        """Half of the rows: with as many features or more a test is impossible."""
        return max(0, self._rows // 2 - 3) if self._rows > 2 else -1

    @property
    def batch_size(self) -> int:
        """As for X²; regressions take less time."""
        return min(20_000, self._counted.batch_size)

    def p_values(self, x: Columns, y: Columns, given: Columns) -> Floats:
        """The p-values of many pairs."""
        p_values = np.empty(len(x))
        continuous = self._continuous[np.column_stack([x, y, given])]
        counted = np.flatnonzero(~continuous.any(axis=1))
        if len(counted):
            p_values[counted] = self._counted.p_values(x[counted], y[counted], given[counted])
        others = np.flatnonzero(continuous.any(axis=1))
        x, y, given, continuous = x[others], y[others], given[others], continuous[others]
        # A discrete column is the response of a continuous one.
        swap = continuous[:, 0] & ~continuous[:, 1]
        p = self._regress(np.where(swap, y, x), np.where(swap, x, y), given)
        both = continuous[:, 0] & continuous[:, 1]
        p[both] = np.minimum(1.0, 2 * np.fmin(p[both], self._regress(y[both], x[both], given[both])))
        p_values[others] = p
        return p_values

    def _regress(self, response: Columns, other: Columns, given: Columns) -> Floats:
        results = np.empty((len(response), 4))
        widest = int(np.diff(self._starts).max(initial=0)) * (given.shape[1] + 2)
        block = np.empty((widest, widest))
        wilks_ratios(
            self._correlations, self._starts, self._continuous, response, other, given, block, results
        )
        return rao_tail(results, self._rows)


def rao_tail(results: Floats, rows: int) -> Floats:
    """P-values of Wilks' Λ (Rao 1951); NaN if the test is impossible.

    One response and one regressor are a t test: Λ = 1 − r².

    >>> rao_tail(np.array([[np.log(0.75), 1.0, 1.0, 0.0]]), 12).round(6)
    array([0.097855])
    """
    from scipy.special import fdtrc

    log_ratio, q, p, used = results.T
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
def wilks_ratios(
    correlations: Floats,
    starts: Integers,
    continuous: NDArray[np.bool_],
    response: Columns,
    other: Columns,
    given: Columns,
    block: Floats,
    out: Floats,
) -> None:
    """Write Wilks' Λ of each response and the features of another column, given those of the set.

    A continuous response is z alone, without z².
    """
    members = np.empty(len(block), dtype=np.int64)
    for k in range(len(response)):
        count = 0
        for place in range(given.shape[1]):
            for feature in range(starts[given[k, place]], starts[given[k, place] + 1]):
                members[count] = feature
                count += 1
        first = starts[response[k]]
        last = first + 1 if continuous[response[k]] else starts[response[k] + 1]
        own = last - first
        for a in range(own):
            members[count + a] = first + a
        before, q, used = log_determinant(correlations, members, count, own, block)
        tested = starts[other[k] + 1] - starts[other[k]]
        for a in range(tested):
            members[count + a] = starts[other[k]] + a
        for a in range(own):
            members[count + tested + a] = first + a
        after, left, both = log_determinant(correlations, members, count + tested, own, block)
        out[k, LOG_RATIO] = after - before if left == q else -np.inf
        out[k, RESPONSES], out[k, TESTED], out[k, CONDITIONING] = q, both - used, used


@kernel
def log_determinant(
    correlations: Floats, members: Integers, first: int, more: int, block: Floats
) -> tuple[float, int, int]:
    """The log-determinant and rank of the features from `first` on given those before, and their rank."""
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
