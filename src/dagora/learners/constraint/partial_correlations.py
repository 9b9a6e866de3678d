"""Partial correlations given many sets, from a correlation matrix and from its inverse.

For x, y and a set T, eliminating T from the correlation matrix leaves the covariance of x and y given T.
Eliminating T from the inverse over x, y and S ⊇ T leaves the inverse over the rest, and with it the partial
correlation given S∖T. So a small block gives the partial correlation given a small set or given its
complement. By Fisher's z, a correlation is not significant if |atanh ρ| √(N − |T| − 3) is below the normal
quantile.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.learners.independence.fisher_z import eliminate_others
from dagora.scores.gaussian import COLLINEAR

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# How a search ends: no set separates the pair, the subset does, its complement does, or sets are left.
NONE, GIVEN_SET, GIVEN_REST, MORE = 0, 1, 2, 3
# The value of an undefined partial correlation (no variance left): above every limit, so never zero.
UNDEFINED = 2.0


def significance_limits(rows: int, columns: int, alpha: float) -> Floats:
    """The largest |ρ| that is not significant, by size of the conditioning set; −1 where rows are too few.

    >>> significance_limits(103, 4, 0.05).round(3)
    array([0.194, 0.194, 0.195, 0.196])
    """
    from scipy.special import ndtri

    freedom = rows - 3.0 - np.arange(columns)
    limits = np.full(columns, -1.0)
    enough = freedom > 0
    limits[enough] = np.tanh(-ndtri(alpha / 2) / np.sqrt(freedom[enough]))
    return limits


def inverse_correlations(correlations: Floats) -> Floats | None:
    """The inverse, scaled to a unit diagonal; None where the columns are linearly dependent."""
    try:
        factor = np.linalg.cholesky(correlations)
    except np.linalg.LinAlgError:
        return None
    if np.diag(factor).min(initial=1.0) ** 2 <= COLLINEAR:
        return None
    half = np.linalg.inv(factor)
    inverse = half.T @ half
    scale = 1.0 / np.sqrt(np.diag(inverse))
    scaled: Floats = inverse * np.outer(scale, scale)
    return scaled


@kernel
def eliminate(matrix: Floats, members: Integers, count: int, block: NDArray[np.float64]) -> float:
    """The correlation between rows 0 and 1 after the first `count` of `members` are eliminated from a matrix.

    With x = z + noise and y = z + noise of variance 1 each, corr(x, y) = ½ and corr(x, z) = corr(y, z) =
    1/√2; given z, nothing is left: ½ − (1/√2)² = 0.

    >>> r = 0.5**0.5
    >>> matrix = np.array([[1.0, 0.5, r], [0.5, 1.0, r], [r, r, 1.0]])
    >>> round(eliminate(matrix, np.array([2]), 0, np.empty((2, 2))), 9)
    0.5
    >>> abs(eliminate(matrix, np.array([2]), 1, np.empty((3, 3)))) < 1e-9
    True
    """
    size = count + 2
    for a in range(size):
        i = a if a < 2 else members[a - 2]
        for b in range(a + 1):
            j = b if b < 2 else members[b - 2]
            block[a, b] = matrix[i, j]
    eliminate_others(block, size)
    if block[0, 0] <= COLLINEAR or block[1, 1] <= COLLINEAR:
        return UNDEFINED
    return float(block[1, 0] / np.sqrt(block[0, 0] * block[1, 1]))


@kernel
def next_subset(subset: Integers, size: int, total: int) -> bool:
    """Replace a subset of {2, …, total + 1} by the lexicographically next one; False after the last."""
    place = size - 1
    while place >= 0 and subset[place] == total + 2 - size + place:
        place -= 1
    if place < 0:
        return False
    subset[place] += 1
    for later in range(place + 1, size):
        subset[later] = subset[later - 1] + 1
    return True


@kernel
def search_sets(
    correlations: Floats, inverse: Floats, dual: bool, order: int, limits: Floats, subset: Integers, most: int
) -> tuple[int, int]:
    """Look for a set of `order` nodes, or all but `order`, given which rows 0 and 1 are uncorrelated.

    The other rows are the nodes to choose from. `subset` is where the search starts and, afterwards, the set
    that was found (rows, ascending). Complements are tested through the `inverse`, if `dual`. Returns how the
    search ended and the number of tests; after about `most` tests it returns and can be continued.
    """
    total = len(correlations) - 2
    size = min(order, total - order) if dual else order
    block = np.empty((size + 2, size + 2))
    tests = 0
    while True:
        if not dual or order <= total - order:
            tests += 1
            if abs(eliminate(correlations, subset, size, block)) <= limits[size]:
                return GIVEN_SET, tests
        if dual and size < total - size:
            tests += 1
            if abs(eliminate(inverse, subset, size, block)) <= limits[total - size]:
                return GIVEN_REST, tests
        if not next_subset(subset, size, total):
            return NONE, tests
        if tests >= most:
            return MORE, tests
