"""Tests of tables with discrete and continuous columns within the cells of the levels that are given.

Features are those of `mixed`: z and z² of a number, indicators of levels. Rows that agree on the discrete
columns that are given make a cell, with means and spreads of its own; of x and y, z is taken by these, so
that a cell of wide spread does not drown the others (the spread of a small cell is drawn to that of all).
Within a cell, features of x and y, less what numbers that are given explain, have scatters X, Y and U
(between them) with m degrees of freedom.
If x and y are independent there, vec U has the covariance X ⊗ Y / m, whatever the two spreads are (it is that
over all permutations of the rows of a cell). So

    T = (Σ vec U)ᵀ (Σ X ⊗ Y / m)⁻¹ (Σ vec U)

has the mean of its number of dimensions d, also where levels change the spread of both columns. With one cell
it is m times Pillai's trace, and T / (s m) is taken as a beta variable with d / 2 and (s m − d) / 2, which is
exact for one response; s is the smaller number of features. With several cells, a product of two features
has the M for which 1 / (M + 2) is the sum of w² / (m + 2) over cells, w being their shares in its variance.
Then T / (s × the largest M) is a beta variable with the mean d, and the variance of one cell with as many
degrees of freedom as make 1 / (M + 2) the mean of its products.

Numbers that are given have slopes of their own in a cell with rows enough; smaller cells share them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Kind
from dagora.kernels.decorators import kernel
from dagora.learners.independence.independence_test import Columns
from dagora.learners.independence.mixed import LEAST, MixedTest
from dagora.stats.statistics import Statistics
from dagora.stats.table import TableStatistics

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# Rows of a cell for each number that is estimated in it, for slopes of its own.
ROWS_A_SLOPE = 10
# The fewest degrees of freedom of a cell that counts, and the fewest that must be left for a test.
FEWEST, LEFT = 0.5, 2
# Degrees of freedom that the spread in all cells counts for in the spread of a number in one of them.
DRAWN = 4
# Products of features of two columns; more of them are tested with equal spreads in all cells.
MOST_PRODUCTS = 512
# Rows times features that are multiplied between two looks at the clock.
WORK = 50_000_000
# What the kernel finds for either response: T, dimensions, the smaller number of features, M of its variance,
# and the largest M.
FOUND = 5


class CellTest:
    """Tests of columns of both kinds, on rows.

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
        self._numbers = np.array([variable.kind is Kind.CONTINUOUS for variable in schema])
        self._widths = np.where(self._numbers, 2, np.maximum(0, schema.cardinalities - 1))
        self._values = np.zeros((len(schema), table.n_rows))
        for place in np.flatnonzero(self._numbers).tolist():
            column = table.values(place)
            self._values[place] = (column - column.mean()) / column.std()

    @property
    def most(self) -> int:
        """As many as with equal spreads."""
        return self._equal.most

    @property
    def at_a_time(self) -> int:
        """As many as have a fixed number of products of features and rows."""
        each = self._rows.n_rows * (2 * int(self._widths.max(initial=1)) + 4) ** 2
        return max(1, min(self._equal.at_a_time, WORK // max(1, each)))

    def p_values(self, x: Columns, y: Columns, given: Columns) -> Floats:
        """The p-values of many pairs; those with the same levels given are tested together."""
        numbers = self._numbers
        levels_given = np.sort(np.where(numbers[given], -1, given), axis=1)
        with_cells = (
            (levels_given >= 0).any(axis=1)
            & numbers[np.column_stack([x, y, given])].any(axis=1)
            & (self._widths[x] * self._widths[y] <= MOST_PRODUCTS)
        )
        found = np.empty(len(x))
        plain = np.flatnonzero(~with_cells)
        if len(plain):
            found[plain] = self._equal.p_values(x[plain], y[plain], given[plain])
        sets: dict[tuple[int, ...], list[int]] = {}
        for k in np.flatnonzero(with_cells).tolist():
            sets.setdefault(tuple(column for column in levels_given[k].tolist() if column >= 0), []).append(k)
        for levels, places in sets.items():
            others = np.array([[c for c in given[k] if numbers[c]] for k in places], dtype=np.int64)
            others = others.reshape(len(places), given.shape[1] - len(levels))
            found[places] = self._in_cells(levels, x[places], y[places], others)
        return found

    def _in_cells(self, levels: tuple[int, ...], x: Columns, y: Columns, given: Columns) -> Floats:
        """The p-values of pairs given the same levels, and numbers of their own."""
        order, starts, codes = self._rows.slices(levels)
        found = np.empty((len(x), 2, FOUND))
        cell_statistics(order, starts, codes, self._values, self._widths, self._numbers, x, y, given, found)
        p = beta_tail(found[:, 0])
        both = self._numbers[x] & self._numbers[y]
        p[both] = np.minimum(1.0, 2 * np.fmin(p[both], beta_tail(found[both, 1])))
        return p


def beta_tail(found: Floats) -> Floats:
    """P-values of T; NaN where nothing is left to be tested.

    One response and one regressor are a t test: T = 11 r² with 12 rows.

    >>> beta_tail(np.array([[11 * 0.25, 1.0, 1.0, 11.0, 11.0]])).round(6)
    array([0.097855])
    """
    from scipy.special import fdtrc

    statistic, dimensions, smaller, freedom, largest = found.T
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
def cell_statistics(
    order: Integers,
    starts: Integers,
    codes: NDArray[Any],
    values: Floats,
    widths: Integers,
    numbers: NDArray[np.bool_],
    x: Columns,
    y: Columns,
    given: Columns,
    out: Floats,
) -> None:
    """T and what its distribution depends on, of each pair given numbers, within cells of rows.

    The rows of cell s are order[starts[s]:starts[s + 1]]. Of two numbers, z of the second is tested with z
    and z² of the first, then the other way round.
    """
    slopes = 2 * given.shape[1]
    members = np.empty(2 + given.shape[1], dtype=np.int64)
    cells = len(starts) - 1
    for k in range(len(x)):
        members[0], members[1] = x[k], y[k]
        members[2:] = given[k]
        wide, high = widths[x[k]], widths[y[k]]
        own = wide + high
        size = own + slopes
        feature, mean = np.zeros(size), np.zeros(size)
        scatter, pooled = np.empty((size, size)), np.zeros((size, size))
        centre, scale = np.zeros((len(members), cells)), np.ones((len(members), cells))
        for side in range(2):
            if numbers[members[side]]:
                standardise(order, starts, values[members[side]], centre[side], scale[side])
        few = ROWS_A_SLOPE * (1 + slopes)
        shared = False
        if slopes:
            for s in range(cells):
                if 1 < starts[s + 1] - starts[s] < few:
                    shared = True
                    cell_scatter(
                        order[starts[s] : starts[s + 1]], members, codes, values, widths, numbers,
                        centre[:, s], scale[:, s], feature, mean, scatter,
                    )  # fmt: skip
                    pooled += scatter
        if shared:
            sweep(pooled, own)
        total_x, total_y = np.zeros((wide, wide)), np.zeros((high, high))
        before = np.zeros(own)
        cross, weights = np.zeros(wide * high), np.zeros(wide * high)
        spread = np.zeros((wide * high, wide * high))
        for s in range(cells):
            rows = starts[s + 1] - starts[s]
            if rows < 2:
                continue
            cell_scatter(
                order[starts[s] : starts[s + 1]], members, codes, values, widths, numbers,
                centre[:, s], scale[:, s], feature, mean, scatter,
            )  # fmt: skip
            for a in range(own):
                before[a] += scatter[a, a]
            freedom = rows - 1.0
            if slopes and rows < few:
                freedom -= less_shared(scatter, pooled, own)
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
        # What is given may tell a feature, but for rounding.
        for a in range(wide):
            for b in range(high):
                if total_x[a, a] <= LEAST * before[a] or total_y[b, b] <= LEAST * before[wide + b]:
                    place = a * high + b
                    spread[place, :] = 0.0
                    spread[:, place] = 0.0
        every = np.arange(wide * high)
        if numbers[x[k]] and numbers[y[k]]:
            quadratic_form(spread, cross, weights, every[::high], out[k, 0])
            quadratic_form(spread, cross, weights, every[:high], out[k, 1])
            out[k, :, 2] = 1.0
        else:
            quadratic_form(spread, cross, weights, every, out[k, 0])
            out[k, 0, 2] = min(rank(total_x), rank(total_y))
            out[k, 1] = 0.0


@kernel
def standardise(order: Integers, starts: Integers, values: Floats, centre: Floats, scale: Floats) -> None:
    """The mean of a number in each cell, and one over its spread there, drawn to that in all cells.

    A number that what is given tells has a scale of zero.
    """
    cells = len(starts) - 1
    total, freedom = 0.0, 0
    for s in range(cells):
        rows = order[starts[s] : starts[s + 1]]
        centre[s] = 0.0
        for row in rows:
            centre[s] += values[row]
        centre[s] /= len(rows)
        scale[s] = 0.0
        for row in rows:
            scale[s] += (values[row] - centre[s]) ** 2
        total += scale[s]
        freedom += len(rows) - 1
    if total <= LEAST * len(order):
        scale[:] = 0.0
        return
    for s in range(cells):
        rows_left = starts[s + 1] - starts[s] - 1
        scale[s] = np.sqrt((rows_left + DRAWN) / (scale[s] + DRAWN * total / freedom))


@kernel
def cell_scatter(
    rows: Integers,
    members: Integers,
    codes: NDArray[Any],
    values: Floats,
    widths: Integers,
    numbers: NDArray[np.bool_],
    centre: Floats,
    scale: Floats,
    feature: Floats,
    mean: Floats,
    scatter: Floats,
) -> None:
    """The scatter of the features of some columns about their means in some rows.

    Numbers are taken from a centre and by a scale of each column before they are squared.
    """
    size = len(feature)
    mean[:] = 0.0
    scatter[:] = 0.0
    for turn in range(2):
        for row in rows:
            at = 0
            for place, column in enumerate(members):
                if numbers[column]:
                    feature[at] = (values[column, row] - centre[place]) * scale[place]
                    feature[at + 1] = feature[at] ** 2
                else:
                    feature[at : at + widths[column]] = 0.0
                    if codes[column, row] > 0:
                        feature[at + codes[column, row] - 1] = 1.0
                at += widths[column]
            if turn == 0:
                mean += feature
                continue
            for a in range(size):
                centred = feature[a] - mean[a]
                for b in range(a + 1):
                    scatter[a, b] += centred * (feature[b] - mean[b])
        if turn == 0:
            mean /= len(rows)
    for a in range(size):
        for b in range(a):
            scatter[b, a] = scatter[a, b]


@kernel
def sweep(matrix: Floats, first: int) -> int:
    """Sweep a scatter on the features from `first` on; how many of them tell something.

    Then the rest is what they leave unexplained, beside it are slopes, and the corner is their inverse,
    negative.
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
def less_shared(scatter: Floats, swept: Floats, first: int) -> float:
    """Take out of a cell's scatter what slopes of several cells explain; the freedom that they take here."""
    slopes = np.ascontiguousarray(swept[:first, first:])
    beside = np.ascontiguousarray(scatter[:first, first:])
    corner = np.ascontiguousarray(scatter[first:, first:])
    product = slopes @ beside.T
    scatter[:first, :first] += slopes @ corner @ slopes.T - product - product.T
    taken: float = -(swept[first:, first:] * corner).sum()
    return taken


@kernel
def quadratic_form(spread: Floats, cross: Floats, weights: Floats, chosen: Integers, out: Floats) -> None:
    """T of some products of features, its dimensions, M of its variance, and the largest M."""
    block = np.zeros((len(chosen) + 1, len(chosen) + 1))
    inverse, largest, kept = 0.0, 0.0, 0
    for a in range(len(chosen)):
        scale = spread[chosen[a], chosen[a]]
        if scale <= 0.0:
            continue
        kept += 1
        each = weights[chosen[a]] / scale**2
        inverse += each
        largest = max(largest, 1 / each - 2)
        for b in range(a + 1):
            other = spread[chosen[b], chosen[b]]
            if other > 0.0:
                block[a, b] = spread[chosen[a], chosen[b]] / np.sqrt(scale * other)
        block[len(chosen), a] = cross[chosen[a]] / np.sqrt(scale)
    dimensions = eliminate(block, len(chosen))
    out[0], out[1] = -block[len(chosen), len(chosen)], dimensions
    out[3], out[4] = (kept / inverse - 2 if kept else 0.0), largest


@kernel
def eliminate(block: Floats, count: int) -> int:
    """Eliminate the first `count` rows of a lower triangle; how many of them are not told by others."""
    found = 0
    for pivot in range(count):
        left = block[pivot, pivot]
        if left <= LEAST:
            continue
        found += 1
        for a in range(pivot + 1, len(block)):
            factor = block[a, pivot] / left
            for b in range(pivot + 1, a + 1):
                block[a, b] -= factor * block[b, pivot]
    return found


@kernel
def rank(scatter: Floats) -> int:
    """The rank of a scatter."""
    scale = np.sqrt(np.maximum(np.diag(scatter), 1e-300))
    return eliminate(scatter / scale / scale.reshape(-1, 1), len(scatter))
