"""Separating sets by partial correlations, at a cost per test that does not grow with their size.

For a node x, its sets S of neighbours are walked in lexicographic order. For each prefix of S the covariances
of x and its neighbours given the prefix are kept. The last member is one step of elimination for all ends y
at once: c_xy − c_xs c_ys / c_ss.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

from dagora.graph.equivalence import Matrix
from dagora.kernels.decorators import kernel
from dagora.learners.constraint.skeleton import Marks, Pair, Separation
from dagora.learners.independence.fisher_z import FisherZ
from dagora.learners.run import Run
from dagora.scores.gaussian import COLLINEAR

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# About as many tests between two checks of the time limit: some hundredths of a second.
TESTS_PER_CHECK = 5_000_000
# Above every squared correlation: no set was found.
NOTHING = 2.0


class GaussianSets:
    """Looks for separating sets by Fisher's z."""

    def __init__(self, test: FisherZ, *, largest: bool, roots: Marks | None = None) -> None:
        self._test = test
        self._largest = largest
        self._roots = np.zeros(len(test.names), dtype=np.bool_) if roots is None else roots

    @property
    def max_given(self) -> int:
        """As for the test."""
        return self._test.max_given

    def separate(
        self, adjacent: Matrix, size: int, alpha: float, run: Run
    ) -> tuple[dict[Pair, Separation], int]:
        """The pairs that a set separates, and the number of tests.

        If all sets are tested, a set of neighbours of both ends counts once; if the first that separates ends
        the search, the tests from both ends count.
        """
        limit = largest_square(self._test.rows, size, alpha)
        if not size:
            return self._marginal(adjacent, limit)
        best: dict[Pair, tuple[float, tuple[int, ...]]] = {}
        tests = 0
        for x in np.flatnonzero(~self._roots).tolist():
            around = np.flatnonzero(adjacent[x])
            if len(around) <= size:
                continue
            squares, sets, made, finished = self._walk(x, around, size, limit, run)
            tests += made
            if self._largest and finished:
                walked = around[(around < x) & ~self._roots[around]]
                shared = (adjacent[x] & adjacent[walked]).sum(axis=1)
                tests -= sum(comb(common, size) for common in shared.tolist())
            for k in np.flatnonzero(squares <= limit).tolist():
                y = int(around[k])
                pair = (min(x, y), max(x, y))
                # Of both ends, the larger p-value, or else the first.
                if pair not in best or (self._largest and squares[k] < best[pair][0]):
                    best[pair] = float(squares[k]), tuple(around[sets[k]].tolist())
            if not finished or run.budget.exhausted:
                break
        pairs = sorted(best)
        p = self._test.tail(np.array([best[pair][0] for pair in pairs]), size)
        return {
            pair: Separation(best[pair][1], float(value)) for pair, value in zip(pairs, p, strict=True)
        }, tests

    def _walk(
        self, x: int, around: Integers, size: int, limit: float, run: Run
    ) -> tuple[Floats, Integers, int, bool]:
        """Walk all sets around x; return the smallest square of each neighbour, its set, and tests made."""
        members = np.concatenate([[x], around])
        start = np.ascontiguousarray(self._test.correlations[np.ix_(members, members)])
        squares = np.full(len(around), NOTHING)
        sets = np.zeros((len(around), size), dtype=np.int64)
        subset = np.arange(size, dtype=np.int64)
        most = max(100, TESTS_PER_CHECK // len(around))
        tests = 0
        while True:
            more, made = walk_sets(start, subset, limit, self._largest, squares, sets, most)
            tests += made
            if not more or run.budget.exhausted:
                return squares, sets, tests, not more

    def _marginal(self, adjacent: Matrix, limit: float) -> tuple[dict[Pair, Separation], int]:
        """The same for the empty set: `test_ends` for all pairs at once."""
        one, other = np.nonzero(np.triu(adjacent))
        correlations = self._test.correlations
        variances = np.diag(correlations)
        varies = (variances[one] > COLLINEAR) & (variances[other] > COLLINEAR)
        squares = np.full(len(one), NOTHING)
        some, others = one[varies], other[varies]
        between = correlations[some, others]
        squares[varies] = np.minimum(1.0, between * between / (variances[some] * variances[others]))
        apart = np.flatnonzero(squares <= limit)
        values = self._test.tail(squares[apart], 0).tolist()
        pairs = zip(one[apart].tolist(), other[apart].tolist(), strict=True)
        found = {pair: Separation((), value) for pair, value in zip(pairs, values, strict=True)}
        return found, len(one) if self._largest else 2 * len(one)


def largest_square(rows: int, size: int, alpha: float) -> float:
    """The largest squared partial correlation given `size` columns that is not significant; −1: none."""
    from scipy.special import ndtri

    freedom = rows - 3 - size
    return float(np.tanh(-ndtri(alpha / 2) / np.sqrt(freedom)) ** 2) if freedom > 0 else -1.0


@kernel
def walk_sets(
    start: Floats, subset: Integers, limit: float, largest: bool, squares: Floats, sets: Integers, most: int
) -> tuple[bool, int]:
    """Test at most `most` sets of neighbours, from `subset` on; return True if there are more, and the tests.

    `start` has the correlations of x, in row 0, and its neighbours. `subset` holds positions among the
    neighbours, and afterwards the set to continue with. `squares` and `sets` keep the smallest square for
    each neighbour, or with `largest` unset the first that is not significant.
    """
    size, count = len(subset), len(start) - 1
    given = np.empty((max(1, size), count + 1, count + 1))
    given[0] = start
    valid = 0  # prefixes up to this length are in `given`
    tests = 0
    for _ in range(most):
        for depth in range(valid, size - 1):
            eliminate_one(given[depth], subset[depth] + 1, given[depth + 1])
        tests += test_ends(given[max(0, size - 1)], subset, limit, largest, squares, sets)
        place = size - 1
        while place >= 0 and subset[place] == count - size + place:
            place -= 1
        if place < 0:
            return False, tests
        subset[place] += 1
        for later in range(place + 1, size):
            subset[later] = subset[later - 1] + 1
        valid = place
    return True, tests


@kernel
def eliminate_one(covariances: Floats, node: int, out: Floats) -> None:
    """Write the covariances given one more node; a node that is determined already changes nothing."""
    pivot = covariances[node, node]
    for a in range(len(covariances)):
        factor = covariances[a, node] / pivot if pivot > COLLINEAR else 0.0
        for b in range(len(covariances)):
            out[a, b] = covariances[a, b] - factor * covariances[b, node]


@kernel
def test_ends(
    covariances: Floats, subset: Integers, limit: float, largest: bool, squares: Floats, sets: Integers
) -> int:
    """Test x and every neighbour outside the subset, whose last member is yet to be eliminated."""
    size, count = len(subset), len(covariances) - 1
    last = subset[size - 1] + 1 if size else 0
    pivot = covariances[last, last] if size else 0.0
    to_last = covariances[0, last] / pivot if pivot > COLLINEAR else 0.0
    variance = covariances[0, 0] - (to_last * covariances[0, last] if size else 0.0)
    tests = 0
    inside = 0
    for end in range(count):
        if inside < size and subset[inside] == end:
            inside += 1
            continue
        if not largest and squares[end] <= limit:
            continue
        tests += 1
        c, v = covariances[0, end + 1], covariances[end + 1, end + 1]
        if pivot > COLLINEAR:
            c -= to_last * covariances[end + 1, last]
            v -= covariances[end + 1, last] ** 2 / pivot
        if variance <= COLLINEAR or v <= COLLINEAR:
            continue  # the set determines x or the neighbour
        square = min(1.0, c * c / (variance * v))
        if square < squares[end] and (largest or square <= limit):
            squares[end] = square
            for k in range(size):
                sets[end, k] = subset[k]
    return tests
