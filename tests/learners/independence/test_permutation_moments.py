"""Moments over permutations against all permutations."""

from itertools import permutations

import numpy as np
import pytest

from dagora.learners.independence.permutation_moments import coefficients, permutation_cumulants


def centred(rng, n):
    """A doubly centred matrix with nothing special about it."""
    half = rng.normal(size=(n, n))
    middle = np.eye(n) - 1 / n
    return middle @ (half + half.T + np.diag(rng.exponential(size=n))) @ middle


def sums_of_matrix(matrix):
    """The eight sums of a doubly centred symmetric matrix."""
    d = np.diag(matrix)
    square = matrix @ matrix
    return np.array(
        [
            d.sum(),
            (d**2).sum(),
            (matrix**2).sum(),
            (d**3).sum(),
            (matrix**3).sum(),
            d @ np.diag(square),
            d @ matrix @ d,
            (square * matrix).sum(),
        ]
    )


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7])
def test_equal_to_all_permutations(n):
    rng = np.random.default_rng(n)
    one, other = centred(rng, n), centred(rng, n)
    values = np.array([(one * other[np.ix_(order, order)]).sum() for order in permutations(range(n))])
    out = np.empty(3)
    permutation_cumulants(n, sums_of_matrix(one), sums_of_matrix(other), coefficients(), out)
    spread = values - values.mean()
    np.testing.assert_allclose(
        out, [values.mean(), (spread**2).mean(), (spread**3).mean()], rtol=1e-9, atol=1e-11
    )


def test_many_rows_lose_no_digits():
    """The statistic of two linear kernels is a squared correlation, whose moments are known for normal rows."""
    rng = np.random.default_rng(0)
    n = 800
    matrices = []
    for _ in range(2):
        x = rng.normal(size=n)
        x = (x - x.mean()) / np.linalg.norm(x - x.mean())
        matrices.append(np.outer(x, x))
    out = np.empty(3)
    permutation_cumulants(n, *(sums_of_matrix(matrix) for matrix in matrices), coefficients(), out)
    # Under normality r² is a beta variable with parameters ½ and (n − 2)/2.
    a, b = 0.5, (n - 2) / 2
    mean, variance = a / (a + b), a * b / (a + b) ** 2 / (a + b + 1)
    third = 2 * (b - a) * np.sqrt(a + b + 1) / ((a + b + 2) * np.sqrt(a * b)) * variance**1.5
    np.testing.assert_allclose(out[0], mean, rtol=1e-12)
    np.testing.assert_allclose(out[1], variance, rtol=0.02)
    np.testing.assert_allclose(out[2], third, rtol=0.1)
