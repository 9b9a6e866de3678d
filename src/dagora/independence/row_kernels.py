"""Similarities of rows whose product measures dependence, with what their permutations are known by.

dcov    −|x_i − x_j|, doubly centred: Σ A_ij B_ij / n² is the squared distance covariance (Székely, Rizzo &
        Bakirov 2007)
hsic    exp(−(x_i − x_j)² / 2) of the values scaled to variance 1, doubly centred: Σ A_ij B_ij / n² is the
        Hilbert–Schmidt independence criterion (Gretton et al. 2008)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import kernel

Floats = NDArray[np.float64]


def distances(values: Floats) -> Floats:
    """The matrix of distance covariance.

    >>> distances(np.array([0.0, 1.0]))
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    out = np.empty((len(values), len(values)))
    fill(values, False, out)
    return out


def bells(values: Floats) -> Floats:
    """The matrix of HSIC; values have mean 0 and any scale."""
    out = np.empty((len(values), len(values)))
    fill(values / np.sqrt((values**2).mean()), True, out)
    return out


@kernel
def fill(values: Floats, bell: bool, out: Floats) -> None:
    """Write similarities of all pairs, and take out the means of rows and columns."""
    n = len(values)
    means = np.zeros(n)
    for i in range(n):
        for j in range(i + 1):
            apart = values[i] - values[j]
            found = np.exp(-0.5 * apart * apart) if bell else -abs(apart)
            out[i, j] = found
            means[i] += found / n
            if j < i:
                means[j] += found / n
    whole = means.mean()
    for i in range(n):
        for j in range(i + 1):
            out[i, j] += whole - means[i] - means[j]
            out[j, i] = out[i, j]


def matrix_sums(matrix: Floats) -> Floats:
    """The eight sums of `permutation_moments`, quickly.

    >>> from dagora.independence.permutation_moments import sums_of_matrix
    >>> some = bells(np.array([-1.0, 0.5, 2.0, 0.1]))
    >>> bool(np.allclose(matrix_sums(some), sums_of_matrix(some)))
    True
    """
    out = np.zeros(8)
    add_up(matrix, matrix @ matrix, out)
    return out


@kernel
def add_up(matrix: Floats, square: Floats, out: Floats) -> None:
    """Fill in the sums of a matrix, given its square."""
    n = len(matrix)
    for i in range(n):
        d = matrix[i, i]
        out[0] += d
        out[1] += d * d
        out[3] += d * d * d
        out[5] += d * square[i, i]
        out[2] += square[i, i]
        cubes, form, cycles = 0.0, 0.0, 0.0
        for j in range(n):
            value = matrix[i, j]
            cubes += value * value * value
            form += value * matrix[j, j]
            cycles += value * square[i, j]
        out[4] += cubes
        out[6] += d * form
        out[7] += cycles
