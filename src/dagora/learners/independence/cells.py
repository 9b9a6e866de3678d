"""Tests for discrete and continuous columns, stratified by the discrete columns of the conditioning set.

Features are those of `mixed`: z and z² of a continuous column, indicators of a discrete one. Rows with the
same values in the discrete conditioning columns are a stratum. x and y are standardised within each stratum,
so that one of large variance does not outweigh the others (its sd is shrunk towards the pooled one). Within a
stratum the features of x and y, after regression on the continuous conditioning columns, have scatter
matrices X, Y and U (between them) with m degrees of freedom.
If x and y are independent there, vec U has the covariance X ⊗ Y / m, whatever the two variances are (it is
that over all permutations of the rows of a stratum). So

    T = (Σ vec U)ᵀ (Σ X ⊗ Y / m)⁻¹ (Σ vec U)

has mean d, its number of dimensions, also if the variances of both columns differ between strata. With one
stratum it is m times Pillai's trace, and T / (s m) has approximately the beta distribution with parameters
d / 2 and (s m − d) / 2, which is exact for one response; s is the smaller number of features. With several
strata, each product of two features has an M with 1 / (M + 2) = Σ w² / (m + 2) over strata, where w are their
shares in its variance. Then T / (s × the largest M) has approximately a beta distribution with the mean of T
and the variance of one stratum whose M has 1 / (M + 2) equal to the mean over products.

A stratum with enough rows has its own regression on the continuous conditioning columns; smaller ones share
one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Kind
from dagora.kernels.decorators import kernel
from dagora.kernels.rows import copy_row
from dagora.learners.independence.mixed import LEAST, MixedTest
from dagora.learners.independence.protocol import Columns
from dagora.stats.statistics import Statistics
from dagora.stats.table import TableStatistics

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# A stratum has its own regression from so many rows for each coefficient on: the usual rule of thumb.
ROWS_A_SLOPE = 10
# Strata with fewer degrees of freedom are left out: shared slopes take fractions, and m divides X ⊗ Y.
FEWEST = 0.5
# s m − d must be at least this: then the density of the beta distribution is bounded at 1.
LEFT = 2
# Degrees of freedom of the pooled variance in the variance of one stratum. Measured with 4 rows in each of 40
# strata (0 against 4): power 0.46 and 0.57 with equal sds, 0.46 and 0.31 with sds of 1 and 10; size 0.04.
PRIOR_ROWS = 4
# Pairs of columns with more products of features are tested by `mixed`, with equal variances in all strata:
# the covariance of the products takes the square of this, 2 MiB.
MOST_PRODUCTS = 512
# Rows times squared features between two checks of the time limit: below a second.
WORK = 50_000_000
# Slots of a result for either response: T, d, s, M of its variance and the largest M.
STATISTIC, DIMENSIONS, SMALLER, FREEDOM, LARGEST = range(5)


class FeatureColumns(NamedTuple):
    """A table as the kernels read it; a column's row is filled in `codes` or in `values`."""

    codes: NDArray[Any]
    values: Floats
    widths: Integers  # features of each column
    continuous: NDArray[np.bool_]


class CellTest:
    """Stratified tests of discrete and continuous columns, on rows.

    >>> from dagora.data.table import Table
    >>> rng = np.random.default_rng(0)
    >>> level = rng.integers(0, 2, size=200)
    >>> x, y = rng.normal(size=(2, 200)) * (1 + 9 * level)
    >>> columns = {"level": level, "x": x, "y": y + x}
    >>> table = Table.from_numpy(np.stack([*columns.values()], axis=1), names=[*columns], discrete=["level"])
    >>> test = CellTest(TableStatistics(table), "it")
    >>> bool(test.p_values(np.array([1]), np.array([2]), np.array([[0]]))[0] < 1e-9)
    True
    """

    def __init__(self, statistics: Statistics, owner: str) -> None:
        table = statistics.rows()
        schema = statistics.schema
        self._rows = statistics if isinstance(statistics, TableStatistics) else TableStatistics(table)
        self._equal = MixedTest(self._rows, owner)
        self.names = schema.names
        self._continuous = np.array([variable.kind is Kind.CONTINUOUS for variable in schema])
        self._widths = np.where(self._continuous, 2, np.maximum(0, schema.cardinalities - 1))
        self._values = np.zeros((len(schema), table.n_rows))
        for place in np.flatnonzero(self._continuous).tolist():
            column = table.values(place)
            self._values[place] = (column - column.mean()) / column.std()

    @property
    def max_given(self) -> int:
        """As for the test with equal variances."""
        return self._equal.max_given

    @property
    def batch_size(self) -> int:
        """The number of tests that `WORK` allows."""
        each = self._rows.n_rows * (2 * int(self._widths.max(initial=1)) + 4) ** 2
        return max(1, min(self._equal.batch_size, WORK // max(1, each)))

    def p_values(self, x: Columns, y: Columns, given: Columns) -> Floats:
        """The p-values of many pairs; those with the same strata are tested together."""
        continuous = self._continuous
        discrete_given = np.sort(np.where(continuous[given], -1, given), axis=1)
        stratified = (
            (discrete_given >= 0).any(axis=1)
            & continuous[np.column_stack([x, y, given])].any(axis=1)
            & (self._widths[x] * self._widths[y] <= MOST_PRODUCTS)
        )
        p = np.empty(len(x))
        plain = np.flatnonzero(~stratified)
        if len(plain):
            p[plain] = self._equal.p_values(x[plain], y[plain], given[plain])
        sets: dict[tuple[int, ...], list[int]] = {}
        for k in np.flatnonzero(stratified).tolist():
            sets.setdefault(tuple(c for c in discrete_given[k].tolist() if c >= 0), []).append(k)
        for discrete, places in sets.items():
            others = np.array([[c for c in given[k] if continuous[c]] for k in places], dtype=np.int64)
            others = others.reshape(len(places), given.shape[1] - len(discrete))
            p[places] = self._stratified_tests(discrete, x[places], y[places], others)
        return p

    def _stratified_tests(self, discrete: tuple[int, ...], x: Columns, y: Columns, given: Columns) -> Floats:
        """The p-values of pairs with the same discrete conditioning columns; `given` are continuous ones."""
        order, starts, codes = self._rows.slices(discrete)
        columns = FeatureColumns(codes, self._values, self._widths, self._continuous)
        results = np.empty((len(x), 2, 5))
        stratified_statistics(order, starts, columns, x, y, given, results)
        p = beta_tail(results[:, 0])
        both = self._continuous[x] & self._continuous[y]
        p[both] = np.minimum(1.0, 2 * np.fmin(p[both], beta_tail(results[both, 1])))
        return p


def beta_tail(results: Floats) -> Floats:
    """P-values of T from the slots of its results; NaN if the test is impossible.

    One response and one regressor are a t test: T = 11 r² with 12 rows.

    >>> beta_tail(np.array([[11 * 0.25, 1.0, 1.0, 11.0, 11.0]])).round(6)
    array([0.097855])
    """
    from scipy.special import fdtrc

    statistic, dimensions, smaller, freedom, largest = results.T
    possible = (dimensions > 0) & (smaller * freedom >= dimensions + LEFT)
    mean = np.where(possible, dimensions, 1.0)
    freedom, most = (np.where(possible, smaller * each, 2.0) for each in (freedom, largest))
    variance = 2 * mean * (freedom - mean) / (freedom + 2)
    both = mean * (most - mean) / variance - 1
    first = both * mean / most
    share = np.where(possible, statistic, 0.0) / most
    determined = share >= 1 - LEAST
    ratio = share / np.where(determined, 1.0, 1 - share) * (both - first) / first
    tail = fdtrc(2 * first, 2 * (both - first), ratio)
    tails: Floats = np.where(possible, np.where(determined, 0.0, tail), np.nan)
    return tails


@kernel
def stratified_statistics(
    order: Integers,
    starts: Integers,
    columns: FeatureColumns,
    x: Columns,
    y: Columns,
    given: Columns,
    out: Floats,
) -> None:
    """Write T and the parameters of its distribution for each pair, given continuous columns.

    The rows of stratum s are order[starts[s]:starts[s + 1]]. If x and y are continuous, z of the second is
    tested with z and z² of the first, then the other way round.
    """
    _, values, widths, continuous = columns
    slopes = 2 * given.shape[1]
    members = np.empty(2 + given.shape[1], dtype=np.int64)
    strata = len(starts) - 1
    for k in range(len(x)):
        members[0], members[1] = x[k], y[k]
        copy_row(given[k], members[2:])
        wide, high = widths[x[k]], widths[y[k]]
        own = wide + high
        size = own + slopes
        feature, average = np.zeros(size), np.zeros(size)
        scatter, pooled = np.empty((size, size)), np.zeros((size, size))
        mean, inverse_sd = np.zeros((len(members), strata)), np.ones((len(members), strata))
        for side in range(2):
            if continuous[members[side]]:
                standardise_within_strata(order, starts, values[members[side]], mean[side], inverse_sd[side])
        few = ROWS_A_SLOPE * (1 + slopes)
        shared = False
        if slopes:
            for s in range(strata):
                if 1 < starts[s + 1] - starts[s] < few:
                    shared = True
                    rows_of = order[starts[s] : starts[s + 1]]
                    feature_scatter(
                        rows_of, members, columns, mean[:, s], inverse_sd[:, s], feature, average, scatter
                    )
                    pooled += scatter
        if shared:
            sweep(pooled, own)
        total_x, total_y = np.zeros((wide, wide)), np.zeros((high, high))
        before = np.zeros(own)
        cross, weights = np.zeros(wide * high), np.zeros(wide * high)
        spread = np.zeros((wide * high, wide * high))
        for s in range(strata):
            rows = starts[s + 1] - starts[s]
            if rows < 2:
                continue
            rows_of = order[starts[s] : starts[s + 1]]
            feature_scatter(
                rows_of, members, columns, mean[:, s], inverse_sd[:, s], feature, average, scatter
            )
            for a in range(own):
                before[a] += scatter[a, a]
            freedom = rows - 1.0
            if slopes and rows < few:
                freedom -= subtract_shared_slopes(scatter, pooled, own)
            elif slopes:
                freedom -= sweep(scatter, own)
            if freedom < FEWEST:
                continue
            total_x += scatter[:wide, :wide]
            total_y += scatter[wide:own, wide:own]
            for a in range(wide):
                for b in range(high):
                    place = a * high + b
                    cross[place] += scatter[a, wide + b]
                    weights[place] += (scatter[a, a] * scatter[wide + b, wide + b] / freedom) ** 2 / (
                        freedom + 2
                    )
                    for c in range(wide):
                        for d in range(high):
                            spread[place, c * high + d] += (
                                scatter[a, c] * scatter[wide + b, wide + d] / freedom
                            )
        # Features that the conditioning set determines, but for rounding, are left out.
        for a in range(wide):
            for b in range(high):
                if total_x[a, a] <= LEAST * before[a] or total_y[b, b] <= LEAST * before[wide + b]:
                    place = a * high + b
                    spread[place, :] = 0.0
                    spread[:, place] = 0.0
        every = np.arange(wide * high)
        if continuous[x[k]] and continuous[y[k]]:
            quadratic_form(spread, cross, weights, every[::high], out[k, 0])
            quadratic_form(spread, cross, weights, every[:high], out[k, 1])
            out[k, :, SMALLER] = 1.0
        else:
            quadratic_form(spread, cross, weights, every, out[k, 0])
            out[k, 0, SMALLER] = min(rank(total_x), rank(total_y))
            out[k, 1] = 0.0


@kernel
def standardise_within_strata(
    order: Integers, starts: Integers, values: Floats, mean: Floats, inverse_sd: Floats
) -> None:
    """Standardise a continuous column within each stratum of the conditioning set.

    Writes the mean and 1/sd of every stratum; the sd is shrunk towards the pooled one (`PRIOR_ROWS`).
    If the conditioning set determines the column exactly, 1/sd is 0.
    """
    strata = len(starts) - 1
    total, freedom = 0.0, 0
    for s in range(strata):
        rows = order[starts[s] : starts[s + 1]]
        mean[s] = 0.0
        for row in rows:
            mean[s] += values[row]
        mean[s] /= len(rows)
        inverse_sd[s] = 0.0  # the sum of squares, for now
        for row in rows:
            inverse_sd[s] += (values[row] - mean[s]) ** 2
        total += inverse_sd[s]
        freedom += len(rows) - 1
    if total <= LEAST * len(order):
        inverse_sd[:] = 0.0
        return
    for s in range(strata):
        own = starts[s + 1] - starts[s] - 1
        inverse_sd[s] = np.sqrt((own + PRIOR_ROWS) / (inverse_sd[s] + PRIOR_ROWS * total / freedom))


@kernel
def feature_scatter(
    rows: Integers,
    members: Integers,
    columns: FeatureColumns,
    mean: Floats,
    inverse_sd: Floats,
    feature: Floats,
    average: Floats,
    scatter: Floats,
) -> None:
    """Write the scatter matrix of the features of some columns in some rows.

    Continuous columns are standardised by `mean` and `inverse_sd` before they are squared. `feature` and
    `average` (of the features) are work arrays.
    """
    codes, values, widths, continuous = columns
    size = len(feature)
    average[:] = 0.0
    scatter[:] = 0.0
    for turn in range(2):
        for row in rows:
            at = 0
            for place, column in enumerate(members):
                if continuous[column]:
                    feature[at] = (values[column, row] - mean[place]) * inverse_sd[place]
                    feature[at + 1] = feature[at] ** 2
                else:
                    feature[at : at + widths[column]] = 0.0
                    if codes[column, row] > 0:
                        feature[at + codes[column, row] - 1] = 1.0
                at += widths[column]
            if turn == 0:
                average += feature
                continue
            for a in range(size):
                centred = feature[a] - average[a]
                for b in range(a + 1):
                    scatter[a, b] += centred * (feature[b] - average[b])
        if turn == 0:
            average /= len(rows)
    for a in range(size):
        for b in range(a):
            scatter[b, a] = scatter[a, b]


@kernel
def sweep(matrix: Floats, first: int) -> int:
    """Sweep a scatter matrix on the features from `first` on; return how many are linearly independent.

    Afterwards the first rows and columns hold the residual scatter, beside them stand the slopes, and the
    last corner is the negative inverse.
    """
    size = len(matrix)
    scale = np.diag(matrix).copy()
    used = np.zeros(size, dtype=np.bool_)
    count = 0
    for pivot in range(first, size):
        left = matrix[pivot, pivot]
        if left <= LEAST * scale[pivot] or left <= 0.0:
            continue
        used[pivot] = True
        count += 1
        line = matrix[pivot].copy()
        for a in range(size):
            for b in range(size):
                matrix[a, b] -= line[a] * line[b] / left
        for a in range(size):
            matrix[pivot, a] = matrix[a, pivot] = line[a] / left
        matrix[pivot, pivot] = -1.0 / left
    for pivot in range(first, size):
        if not used[pivot]:
            matrix[pivot, :] = 0.0
            matrix[:, pivot] = 0.0
    return count


@kernel
def subtract_shared_slopes(scatter: Floats, swept: Floats, first: int) -> float:
    """Subtract what shared slopes explain of a stratum's scatter; return the degrees of freedom used here."""
    slopes = np.ascontiguousarray(swept[:first, first:])
    beside = np.ascontiguousarray(scatter[:first, first:])
    corner = np.ascontiguousarray(scatter[first:, first:])
    product = slopes @ beside.T
    explained = slopes @ corner @ slopes.T - product - product.T
    for a in range(first):
        for b in range(first):
            scatter[a, b] += explained[a, b]
    taken: float = -(swept[first:, first:] * corner).sum()
    return taken


@kernel
def quadratic_form(spread: Floats, cross: Floats, weights: Floats, chosen: Integers, out: Floats) -> None:
    """Write the slots of T for some products of features, all but `SMALLER`."""
    block = np.zeros((len(chosen) + 1, len(chosen) + 1))
    inverse, largest, used = 0.0, 0.0, 0
    for a in range(len(chosen)):
        scale = spread[chosen[a], chosen[a]]
        if scale <= 0.0:
            continue
        used += 1
        each = weights[chosen[a]] / scale**2
        inverse += each
        largest = max(largest, 1 / each - 2)
        for b in range(a + 1):
            other = spread[chosen[b], chosen[b]]
            if other > 0.0:
                block[a, b] = spread[chosen[a], chosen[b]] / np.sqrt(scale * other)
        block[len(chosen), a] = cross[chosen[a]] / np.sqrt(scale)
    out[DIMENSIONS] = eliminate(block, len(chosen))
    out[STATISTIC] = -block[len(chosen), len(chosen)]
    out[FREEDOM], out[LARGEST] = (used / inverse - 2 if used else 0.0), largest


@kernel
def eliminate(block: Floats, count: int) -> int:
    """Eliminate the first `count` rows of a lower triangle; return how many are linearly independent."""
    independent = 0
    for pivot in range(count):
        left = block[pivot, pivot]
        if left <= LEAST:
            continue
        independent += 1
        for a in range(pivot + 1, len(block)):
            factor = block[a, pivot] / left
            for b in range(pivot + 1, a + 1):
                block[a, b] -= factor * block[b, pivot]
    return independent


@kernel
def rank(scatter: Floats) -> int:
    """The rank of a scatter matrix."""
    scale = np.sqrt(np.maximum(np.diag(scatter), 1e-300))
    return eliminate(scatter / scale / scale.reshape(-1, 1), len(scatter))
