"""Sums over rows as integers: the answer of a site to each question, and the moments that the total gives.

An answer is a sum over the site's rows of integers that depend on one row each. So the answer for two sets of
rows together is the sum of the two answers, bit for bit, and whatever a coordinator asks, in however many
rounds, the sums that it sees are a function of all rows together: they cannot reveal which site has which
row. (For `lagged` read series in place of row: its integers depend on one series each.) A task is registered
in `SUMMED` only if it has this property; the tests check it for each.

To a release with noise a site adds its share of the noise, drawn afresh. The site's log keeps its part, and
gives the same part again when the same plan comes again, so that the noise cannot be averaged away.

Where rows have weights, counts are sums of weights, and moments sums of products with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, ProtocolError
from dagora.kernels.decorators import kernel
from dagora.parties.horizontal.plan.codebook import Codebook, ColumnCoding
from dagora.parties.horizontal.plan.coded_rows import CodedRows
from dagora.parties.horizontal.plan.plan import RunPlan
from dagora.parties.horizontal.session.exact_products import BLOCK, first_and_second, numbers_in
from dagora.parties.horizontal.session.fourth_sums import (
    IMPOSSIBLE,
    LIMBS,
    FourthMoments,
    FourthSums,
    fourth_sums,
    number_of_sums,
    rows_of_fourth,
)
from dagora.parties.privacy.moment_features import BITS, moment_features
from dagora.parties.privacy.noisy_moments import NoisyMoments
from dagora.parties.privacy.noisy_pairs import NoisyPairs, pairs_of
from dagora.parties.privacy.release import noisy_statistics, site_noise
from dagora.parties.privacy.terms import PrivacyTerms
from dagora.stats.basis import BasisMoments, basis_features
from dagora.stats.indicators import IndicatorMoments, feature_starts
from dagora.stats.moments import is_semidefinite
from dagora.stats.statistics import Moments, flatten, running_sum

# Numbers of windows of time that are held at a time: 64 MB.
WINDOW_NUMBERS = 1 << 23
# The least standard deviation in steps of the fixed point: rounding then adds 1/12 to a variance of 65,536.
FEWEST_STEPS = 256

Sets = Sequence[tuple[int, ...]]


def joint_counts(rows: CodedRows, sets: Sets) -> NDArray[np.int64]:
    """Counts of all cells of each set of discrete columns, set after set; the first column varies slowest."""
    cards = rows.schema.cardinalities
    columns, offsets = flatten(sets)
    sizes = [prod(int(cards[column]) for column in columns[a:b]) for a, b in pairwise(offsets)]
    starts = running_sum(np.array(sizes, dtype=np.int64))
    weights = np.ones(rows.n_rows, dtype=np.int64) if rows.weights is None else rows.weights
    return count_cells(rows.codes, cards, columns, offsets, starts, weights)


def weight_sums(rows: CodedRows) -> NDArray[np.int64]:
    """The number of rows, the sum of their weights, and that of the squares of these."""
    if rows.weights is None:
        raise DataError("these rows have no weights")
    return np.array([rows.n_rows, rows.weights.sum(), rows.weights @ rows.weights])


def moments(rows: CodedRows) -> NDArray[np.int64]:
    """The number of rows, the sums of the continuous columns, and of the products of all pairs of them."""
    return first_and_second(rows.numbers, rows.bits, rows.weights)


@dataclass(frozen=True, slots=True)
class WeightSums:
    """The number of rows, the sum of their weights as integers, and that of the squares of these."""

    rows: int
    total: int
    squares: int

    @classmethod
    def read(cls, sums: NDArray[np.int64]) -> WeightSums:
        """The sums of `weight_sums`; what no weights have is refused."""
        rows, total, squares = map(int, sums)
        if not (rows >= 0 <= total <= squares and total**2 <= rows * squares):
            raise ProtocolError(IMPOSSIBLE)
        if not total:
            raise DataError("all rows of all sites have the weight 0, so there is no row")
        return cls(rows, total, squares)

    @property
    def effective(self) -> float:
        """The effective number of rows, (Σw)² / Σw².

        >>> WeightSums(2, 4, 10).effective
        1.6
        """
        return self.total**2 / self.squares


def basis_moments(rows: CodedRows, functions: int) -> NDArray[np.int64]:
    """The number of rows, and sums and products of basis functions of the continuous columns.

    The functions (`stats.basis`) lie in [−1, 1]; each value is rounded to an integer up to 2ᵇ before it is
    multiplied or added.
    """
    size = len(rows.numbers) * functions
    total = np.zeros(numbers_in(size, weighed=rows.weights is not None), dtype=np.int64)
    for start in range(0, rows.n_rows, BLOCK):
        scaled = np.ldexp(rows.numbers[:, start : start + BLOCK].astype(np.float64), -rows.bits)
        values = np.rint(np.ldexp(basis_features(scaled, functions), rows.bits)).astype(np.int64)
        total += first_and_second(values, rows.bits, _of_block(rows, start))
    return total


def _of_block(rows: CodedRows, start: int) -> NDArray[np.int64] | None:
    return None if rows.weights is None else rows.weights[start : start + BLOCK]


def indicator_moments(rows: CodedRows) -> NDArray[np.int64]:
    """The number of rows, and sums and products of continuous columns, their squares, and indicators.

    These are the features of `stats.indicators`: z and z² as integers up to 2ᵇ, and 2ᵇ for the row's level.
    """
    starts = feature_starts(rows.schema)
    size = int(starts[-1])
    total = np.zeros(numbers_in(size, weighed=rows.weights is not None), dtype=np.int64)
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
        total += first_and_second(features, rows.bits, _of_block(rows, start))
    return total


def lagged_moments(rows: CodedRows, lags: int) -> NDArray[np.int64]:
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
    "lagged": lagged_moments,
    "fourth": fourth_sums,
    "weights": weight_sums,
}


@kernel
def count_cells(
    codes: NDArray[np.uint16],
    cards: NDArray[np.int64],
    columns: NDArray[np.int64],
    offsets: NDArray[np.int64],
    starts: NDArray[np.int64],
    weights: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Sum the weights in every cell of every set; the arrays are the site's own, checked and consistent."""
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
            counts[cell[row]] += weights[row]
    return counts


def sums_to_release(rows: CodedRows, terms: PrivacyTerms) -> NDArray[np.int64]:
    """The sums over the rows, without noise; one row moves them by at most the terms' sensitivity."""
    if terms.release == "table":
        return joint_counts(rows, [tuple(range(len(rows.schema)))])
    if terms.release == "pairs":
        return joint_counts(rows, pairs_of(len(rows.schema)))
    # No more bits than squares and products of a row have room for.
    spare = max(0, rows.bits - BITS)
    numbers = (rows.numbers + ((1 << spare) >> 1)) >> spare
    return moment_features(numbers.T, terms.row_bound or 0.0, rows.bits - spare)


def release_part(rows: CodedRows, terms: PrivacyTerms, key: bytes) -> NDArray[np.int64]:
    """A site's part of the release; `key` is secret, and used once."""
    sums = sums_to_release(rows, terms)
    return sums + site_noise(key, terms, len(sums))


def read_release(sums: NDArray[np.int64], plan: RunPlan, terms: PrivacyTerms) -> NoisyPairs | NoisyMoments:
    """The statistics of a release, from the sum over all sites."""
    ranges = [(coding.low, coding.high) for coding in plan.codebook.continuous]
    return noisy_statistics(terms, plan.codebook.schema, ranges or None, sums)


def read_moments(sums: NDArray[np.int64], codebook: Codebook, bits: int) -> Moments:
    """Means and scatter of the columns in their own units, from the sums of `moments`.

    The number of rows is the sum of the weights, where rows have any.
    """
    columns = codebook.continuous
    weighed = codebook.largest_weight > 0
    return to_column_units(scaled_moments(sums, len(columns), bits, weighed=weighed), columns, bits)


def to_column_units(scaled: Moments, columns: Sequence[ColumnCoding], bits: int) -> Moments:
    """Moments of columns in their units, from those of numbers in [−1, 1]."""
    check_ranges(scaled, columns, bits)
    width = np.array([coding.half_width for coding in columns])
    centre = np.array([coding.centre for coding in columns])
    with np.errstate(over="ignore", invalid="ignore"):  # callers refuse moments that are not finite
        return Moments(scaled.n, centre + width * scaled.mean, scaled.scatter * np.outer(width, width))


def read_lagged_moments(sums: NDArray[np.int64], codebook: Codebook, bits: int, lags: int) -> Moments:
    """Moments of windows of time in the columns' own units, from the sums of `lagged_moments`."""
    columns = codebook.continuous * (lags + 1)
    return to_column_units(scaled_moments(sums, len(columns), bits), columns, bits)


def read_fourth_moments(
    sums: NDArray[np.int64], codebook: Codebook, bits: int, sets: Sets
) -> list[FourthMoments]:
    """Moments of the columns of each set, and products of four deviations, from the sums of `fourth_sums`."""
    found, start = [], 0
    for columns in sets:
        size = LIMBS * number_of_sums(len(columns))
        read = FourthSums.read(sums[start : start + size], len(columns), bits)
        start += size
        codings = [codebook.continuous[column] for column in columns]
        lower = to_column_units(scaled_moments(read.lower(), len(columns), bits), codings, bits)
        fourth = np.zeros((len(columns) + 1,) * 4)
        if lower.n != rows_of_fourth(sums, bits):
            raise ProtocolError(IMPOSSIBLE)
        if lower.n:
            read.check_range()
            fourth = read.central()
            check_products(fourth)
        width = [np.array([coding.half_width for coding in codings])] * 4
        products = np.einsum("abcd,a,b,c,d->abcd", fourth[1:, 1:, 1:, 1:], *width)
        found.append(FourthMoments(lower, np.asarray(products)))
    return found


def check_products(central: NDArray[np.float64]) -> None:
    """Refuse sums of products of four deviations that no rows have.

    They are scalar products of the products of two, over 1 and the columns: their matrix has no negative
    eigenvalue.
    """
    variances = np.diag(central[0, 0]) / central[0, 0, 0, 0]
    scale = 1 / np.sqrt(np.where(variances > 0, variances, 1.0))
    first, second = np.triu_indices(len(scale))
    weights = scale[first] * scale[second]
    gram = central[first[:, None], second[:, None], first, second] / central[0, 0, 0, 0]
    if not is_semidefinite(gram * np.outer(weights, weights)):
        raise ProtocolError(IMPOSSIBLE)


def read_basis_moments(
    sums: NDArray[np.int64], codebook: Codebook, bits: int, functions: int
) -> BasisMoments:
    """Moments of basis functions, from the sums of `basis_moments`."""
    columns = codebook.continuous
    weighed = codebook.largest_weight > 0
    scaled = scaled_moments(sums, len(columns) * functions, bits, weighed=weighed)
    own = Moments(scaled.n, scaled.mean[::functions], scaled.scatter[::functions, ::functions])
    check_ranges(own, columns, bits)
    centre, width = (
        np.array([getattr(coding, part) for coding in columns]) for part in ("centre", "half_width")
    )
    return BasisMoments(functions, centre, width, scaled)


def read_indicator_moments(sums: NDArray[np.int64], codebook: Codebook, bits: int) -> IndicatorMoments:
    """Moments of the widened table, from the sums of `indicator_moments`."""
    starts = feature_starts(codebook.schema)
    scaled = scaled_moments(sums, int(starts[-1]), bits, weighed=codebook.largest_weight > 0)
    numbers = starts[:-1][codebook.schema.cardinalities == 0]
    own = Moments(scaled.n, scaled.mean[numbers], scaled.scatter[np.ix_(numbers, numbers)])
    check_ranges(own, codebook.continuous, bits)
    return IndicatorMoments(scaled, starts)


def scaled_moments(sums: NDArray[np.int64], size: int, bits: int, *, weighed: bool = False) -> Moments:
    """Moments of numbers in [−1, 1] from sums of integers, exact up to the last division."""
    n = int(sums[0])
    if size == 0 or n == 0:
        return Moments(n, np.zeros(size), np.zeros((size, size)))
    first = sums[1 : size + 1].astype(object)
    second = np.zeros((size, size), dtype=object)
    products = sums[size + 1 :].astype(object)
    if weighed:
        upper, lower = np.split(products, 2)
        products = upper * (1 << bits) + lower
    second[np.triu_indices(size)] = products
    exact = second * n - np.triu(np.outer(first, first))
    scatter = (exact / n).astype(np.float64)
    scatter = np.ldexp(scatter + np.triu(scatter, 1).T, -2 * bits)
    moments = Moments(n, np.ldexp((first / n).astype(np.float64), -bits), scatter)
    check_possible(moments)
    return moments


def check_possible(scaled: Moments) -> None:
    """Refuse moments that no rows of numbers in [−1, 1] have, on which a learner might find no end.

    >>> check_possible(Moments(9, np.zeros(2), np.array([[1.0, 2.0], [2.0, 1.0]])))
    Traceback (most recent call last):
    dagora.ProtocolError: the sums are not those of rows: a site was told something else, or ...
    """
    squares = np.diag(scaled.scatter)
    possible = (np.abs(scaled.mean) <= 1).all() and (squares >= 0).all() and (squares <= scaled.n).all()
    if not (possible and is_semidefinite(scaled.scatter)):
        raise ProtocolError(IMPOSSIBLE)


def check_ranges(scaled: Moments, columns: Sequence[ColumnCoding], bits: int) -> None:
    """Refuse columns that vary by only a few steps of the fixed point."""
    finest = FEWEST_STEPS / (1 << bits)
    spread = np.sqrt(np.maximum(np.diag(scaled.scatter), 0.0) / max(1, scaled.n))
    for coding, deviation in zip(columns, spread, strict=True):
        if 0 < deviation < finest:
            raise DataError(
                f"column '{coding.name}' varies by less than {finest:.1g} of its range from {coding.low:g} "
                f"to {coding.high:g}: agree on a narrower range"
            )
