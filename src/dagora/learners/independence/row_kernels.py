"""Matrices of similarities between rows, whose product measures dependence, and their sums for permutations.

dcov    −|x_i − x_j|, doubly centred: Σ A_ij B_ij / n² is the squared distance covariance (Székely, Rizzo &
        Bakirov 2007)
hsic    exp(−(x_i − x_j)² / 2) of the values scaled to variance 1, doubly centred: Σ A_ij B_ij / n² is the
        Hilbert–Schmidt independence criterion (Gretton et al. 2008)

Of the eight sums of `permutation_moments` only tr A³ would need a product of matrices. For distances it is
Σ_j vᵀAv over the columns v of A. They sum to 0, so vᵀAv = 2 ∫ V(t)² dt with V(t) the sum of v over values
up to t. Gaussian similarities have low numerical rank, so few columns of a Cholesky factor are enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.learners.independence.permutation_moments import (
    CUBED_ENTRIES,
    CUBES,
    CYCLES,
    ENTRIES,
    FORM,
    SQUARED,
    SQUARES,
    TRACE,
)

Floats = NDArray[np.float64]
# The share of the trace that a Cholesky factor may leave out: the error of tr A³ is of this order.
LEFT_OUT = 1e-10


class RowKernel(NamedTuple):
    """Two functions: values → centred matrix A, and (values, A) → tr A³."""

    matrix: Callable[[Floats], Floats]
    cycles: Callable[[Floats, Floats], float]

    def sums(self, values: Floats, matrix: Floats) -> Floats:
        """The eight sums, in the order of `permutation_moments`."""
        out = np.zeros(8)
        write_sums(matrix, out)
        out[CYCLES] = self.cycles(values, matrix)
        return out


def distances(values: Floats) -> Floats:
    """The matrix of distance covariance.

    >>> distances(np.array([0.0, 1.0]))
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    out = np.empty((len(values), len(values)))
    write_similarities(values, False, out)
    return out


def gaussian_similarities(values: Floats) -> Floats:
    """The matrix of HSIC; the values have mean 0."""
    out = np.empty((len(values), len(values)))
    write_similarities(unit_variance(values), True, out)
    return out


def unit_variance(values: Floats) -> Floats:
    """Scale values of mean 0 to variance 1."""
    scaled: Floats = values / np.sqrt((values**2).mean())
    return scaled


def cycles_of_distances(values: Floats, matrix: Floats) -> float:
    """The trace of A³."""
    order = np.argsort(values, kind="stable")
    return running_squares(order, np.diff(values[order]), matrix)


def cycles_of_gaussian(values: Floats, _: Floats) -> float:
    """The trace of A³, from few columns of a Cholesky factor."""
    factor = np.empty((len(values), len(values)), order="F")
    few = factor[:, : few_columns(unit_variance(values), factor)]
    few = few - few.mean(axis=0)
    inner = few.T @ few
    return float((inner @ inner * inner).sum())


# By name of the measure.
KERNELS = {
    "hsic": RowKernel(gaussian_similarities, cycles_of_gaussian),
    "dcov": RowKernel(distances, cycles_of_distances),
}


@kernel
def write_similarities(values: Floats, gaussian: bool, out: Floats) -> None:
    """Write the similarities of all pairs, doubly centred."""
    n = len(values)
    means = np.zeros(n)
    for i in range(n):
        for j in range(i + 1):
            apart = values[i] - values[j]
            similarity = np.exp(-0.5 * apart * apart) if gaussian else -abs(apart)
            out[i, j] = similarity
            means[i] += similarity / n
            if j < i:
                means[j] += similarity / n
    whole = means.mean()
    for i in range(n):
        for j in range(i + 1):
            out[i, j] += whole - means[i] - means[j]
            out[j, i] = out[i, j]


@kernel
def write_sums(matrix: Floats, out: Floats) -> None:
    """Write the sums of a matrix, all but tr A³."""
    n = len(matrix)
    diagonal = np.empty(n)
    for i in range(n):
        diagonal[i] = matrix[i, i]
    for i in range(n):
        d = diagonal[i]
        squares, cubes, form = 0.0, 0.0, 0.0
        for j in range(n):
            value = matrix[i, j]
            square = value * value
            squares += square
            cubes += square * value
            form += value * diagonal[j]
        out[TRACE] += d
        out[SQUARES] += d * d
        out[ENTRIES] += squares
        out[CUBES] += d * d * d
        out[CUBED_ENTRIES] += cubes
        out[SQUARED] += d * squares
        out[FORM] += d * form


@kernel
def running_squares(order: NDArray[np.int64], gaps: Floats, matrix: Floats) -> float:
    """2 Σ over gaps and columns of the gap times the squared sum of the column up to it."""
    n = len(matrix)
    running = np.zeros(n)
    total = 0.0
    for place in range(n - 1):
        row = order[place]
        squares = 0.0
        for j in range(n):
            running[j] += matrix[row, j]
            squares += running[j] * running[j]
        total += gaps[place] * squares
    return 2 * total


@kernel
def few_columns(values: Floats, factor: Floats) -> int:
    """Write columns of the pivoted Cholesky factor of Gaussian similarities; return their number."""
    n = len(values)
    left = np.ones(n)
    for k in range(n):
        pivot = 0
        total = 0.0
        for i in range(n):
            total += left[i]
            if left[i] > left[pivot]:
                pivot = i
        if total <= LEFT_OUT * n:
            return k
        root = np.sqrt(left[pivot])
        for i in range(n):
            apart = values[i] - values[pivot]
            factor[i, k] = np.exp(-0.5 * apart * apart)
        for b in range(k):
            share = factor[pivot, b]
            for i in range(n):
                factor[i, k] -= share * factor[i, b]
        for i in range(n):
            factor[i, k] /= root
            left[i] = max(0.0, left[i] - factor[i, k] ** 2)
        left[pivot] = 0.0
    return n
