"""What a site adds to a sum: for each question, a sum over its rows of integers that depend on one row each.

So the answer for two sets of rows together is the sum of the two answers, bit for bit, and whatever a
coordinator asks, in however many rounds, the sums that it sees are a function of all rows together: they
cannot tell which site has which row. (For `lagged` read series where it says row: its integers depend on one
series each.) A task is registered in `SUMMED` only if it has this property; the tests check it for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import prod

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.kernels.decorators import kernel
from dagora.parties.horizontal.plan.coded_rows import CodedRows
from dagora.stats.basis import basis_features
from dagora.stats.indicators import feature_starts
from dagora.stats.statistics import flatten, running_sum

# Rows that are multiplied at a time.
BLOCK = 1 << 16
# Numbers of windows of time that are held at a time.
WINDOW_NUMBERS = 1 << 23

Sets = Sequence[tuple[int, ...]]


def joint_counts(rows: CodedRows, sets: Sets) -> NDArray[np.int64]:
    """Counts of all cells of each set of discrete columns, set after set; the first column varies slowest."""
    cards = rows.schema.cardinalities
    columns, offsets = flatten(sets)
    sizes = [prod(int(cards[column]) for column in columns[a:b]) for a, b in pairwise(offsets)]
    return count_cells(rows.codes, cards, columns, offsets, running_sum(np.array(sizes, dtype=np.int64)))


def moments(rows: CodedRows) -> NDArray[np.int64]:
    """The number of rows, the sums of the continuous columns, and of the products of all pairs of them."""
    return first_and_second(rows.numbers, rows.bits)


def first_and_second(numbers: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    """The number of rows, the sums of columns of integers up to 2ᵇ, and of all products of two columns."""
    d, n = numbers.shape
    products = np.zeros((d, d), dtype=np.int64)
    for start in range(0, n, BLOCK):
        products += exact_products(numbers[:, start : start + BLOCK], bits)
    return np.concatenate([[n], numbers.sum(axis=1), products[np.triu_indices(d)]]).astype(np.int64)


def exact_products(numbers: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    """Z Zᵀ of integers up to 2ᵇ in size, exactly, by products of doubles.

    Each integer is split into two halves, whose products add up to less than 2⁵³ over a block of rows.
    """
    half = bits // 2
    high = numbers >> half
    upper, lower = high.astype(np.float64), (numbers - (high << half)).astype(np.float64)
    mixed = (upper @ lower.T).astype(np.int64)
    whole = (upper @ upper.T).astype(np.int64) << (2 * half)
    result: NDArray[np.int64] = whole + ((mixed + mixed.T) << half) + (lower @ lower.T).astype(np.int64)
    return result


def basis_moments(rows: CodedRows, functions: int) -> NDArray[np.int64]:
    """The number of rows, and sums and products of basis functions of the continuous columns.

    The functions (`stats.basis`) lie in [−1, 1]; each value is rounded to an integer up to 2ᵇ before it is
    multiplied or added.
    """
    size = len(rows.numbers) * functions
    total = np.zeros(1 + size + size * (size + 1) // 2, dtype=np.int64)
    for start in range(0, rows.n_rows, BLOCK):
        scaled = np.ldexp(rows.numbers[:, start : start + BLOCK].astype(np.float64), -rows.bits)
        values = np.rint(np.ldexp(basis_features(scaled, functions), rows.bits)).astype(np.int64)
        total += first_and_second(values, rows.bits)
    return total


def indicator_moments(rows: CodedRows) -> NDArray[np.int64]:
    """The number of rows, and sums and products of continuous columns, their squares, and indicators.

    These are the features of `stats.indicators`: z and z² as integers up to 2ᵇ, and 2ᵇ where a level is seen.
    """
    starts = feature_starts(rows.schema)
    size = int(starts[-1])
    total = np.zeros(1 + size + size * (size + 1) // 2, dtype=np.int64)
    for start in range(0, rows.n_rows, BLOCK):
        some = slice(start, start + BLOCK)
        features = np.zeros((size, rows.codes[:, some].shape[1]), dtype=np.int64)
        number = 0
        for place, cardinality in enumerate(rows.schema.cardinalities.tolist()):
            own = features[starts[place] : starts[place + 1]]
            if cardinality == 0:
                own[0] = rows.numbers[number, some]
                # Squares of up to 26 bits are exact in a double.
                own[1] = np.rint(np.ldexp(np.square(own[0].astype(np.float64)), -rows.bits))
                number += 1
            else:
                levels = np.arange(1, cardinality)[:, None]
                own[:] = (rows.codes[place, some] == levels).astype(np.int64) << rows.bits
        total += first_and_second(features, rows.bits)
    return total


def lagged(rows: CodedRows, lags: int) -> NDArray[np.int64]:
    """The number of windows, and sums and products of their columns: x_t first, then x_{t−1}, … x_{t−p}.

    A window is a row with the `lags` rows before it in its series. It never crosses from one series to
    another, so the sums are additive over series; one shorter than lags + 1 rows adds nothing.
    """
    if rows.starts is None:
        raise DataError("these rows are not series")
    size = len(rows.numbers) * (lags + 1)
    total = np.zeros(1 + size + size * (size + 1) // 2, dtype=np.int64)
    begins = np.repeat(rows.starts[:-1], np.diff(rows.starts))
    ends = np.flatnonzero(np.arange(rows.n_rows) - begins >= lags)
    block = max(1, min(BLOCK, WINDOW_NUMBERS // max(1, size)))
    for start in range(0, len(ends), block):
        some = ends[start : start + block]
        windows = np.concatenate([rows.numbers[:, some - lag] for lag in range(lags + 1)])
        total += first_and_second(windows, rows.bits)
    return total


SUMMED: dict[str, Callable[..., NDArray[np.int64]]] = {
    "counts": joint_counts,
    "moments": moments,
    "basis": basis_moments,
    "indicators": indicator_moments,
    "lagged": lagged,
}


@kernel
def count_cells(
    codes: NDArray[np.uint16],
    cards: NDArray[np.int64],
    columns: NDArray[np.int64],
    offsets: NDArray[np.int64],
    starts: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Count every cell of every set; the arrays are the site's own, checked and consistent."""
    n = codes.shape[1]
    counts = np.zeros(starts[-1], dtype=np.int64)
    cell = np.empty(n, dtype=np.int64)
    for k in range(len(offsets) - 1):
        cell[:] = starts[k]
        stride = 1
        for a in range(offsets[k + 1] - 1, offsets[k] - 1, -1):
            column = columns[a]
            for row in range(n):
                cell[row] += stride * codes[column, row]
            stride *= cards[column]
        for row in range(n):
            counts[cell[row]] += 1
    return counts
