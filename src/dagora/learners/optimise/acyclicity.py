"""Measures of the cycles of a weighted graph: two smooth ones for optimisation, and an exact one for reports.

With A = W∘W ≥ 0, the entry [i, j] of Aᵏ sums the weights of all walks of k steps from i to j, so that
tr Aᵏ > 0 for some k exactly where there is a cycle. Two smooth sums of these traces vanish on DAGs only:

- trace exponential, h = tr exp(A) − d = Σ_k tr Aᵏ / k!, gradient exp(A)ᵀ ∘ 2W (Zheng et al. 2018, theorem
  1, equations 5 and 6);
- log determinant, h = −log det(sI − A) + d log s = Σ_k tr(A/s)ᵏ / k where the spectral radius of A is below s
  and infinite elsewhere, gradient (sI − A)⁻ᵀ ∘ 2W (Bello et al. 2022, theorem 1).

Every cycle lies within one strongly connected component, so both sums and their gradients are computed one
component at a time: a DAG gives exactly 0, and a graph with few cycles costs little. As sums of products of
squares they can underflow; `cyclicity` cannot, and is 0 for DAGs only, whatever the weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgetrf, dgetri

from dagora.kernels.decorators import kernel

Acyclicity = Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]]

# The exponential overflows above a norm of 710 unless cycles are weak; from here on it is not tried.
LARGEST_NORM = 1e30
INVERSE_FACTORIALS = 1.0 / np.cumprod(np.maximum(1.0, np.arange(16)))


def with_required_edges(acyclicity: Acyclicity, required: NDArray[np.bool_]) -> Acyclicity:
    """The same measure of W∘W + R, where R has a 1 for each required edge.

    Required edges count whatever their weights, so the measure vanishes only if W forms no cycle with them.

    >>> required = np.array([[False, True], [False, False]])
    >>> measure = with_required_edges(trace_exponential, required)
    >>> measure(np.array([[0.0, 0.0], [0.5, 0.0]]))[0] > 0.1
    True
    """
    if not required.any():
        return acyclicity

    def measure(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        strengths = np.where(required, np.hypot(weights, 1.0), weights)
        value, gradient = acyclicity(strengths)
        own = weights[required] / strengths[required]
        gradient[required] *= own
        return value, gradient

    return measure


def trace_exponential(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """h(W) = tr exp(W∘W) − d and its gradient; infinite with a gradient of zeros where it overflows.

    >>> h, gradient = trace_exponential(np.array([[0.0, 1.0], [1.0, 0.0]]))  # 2 cosh 1 − 2
    >>> round(h, 6), gradient.round(6).tolist()
    (1.086161, [[0.0, 2.350402], [2.350402, 0.0]])
    """
    gradient = np.zeros_like(weights)
    value = write_trace_exponential(np.ascontiguousarray(weights), gradient)
    return float(value), gradient


@kernel
def write_trace_exponential(weights: NDArray[np.float64], gradient: NDArray[np.float64]) -> float:
    """Return h and write its gradient, component by component."""
    d = len(weights)
    label = strong_components(weights != 0)
    value = 0.0
    for component in range(label.max() + 1 if d else 0):
        members = np.flatnonzero(label == component)
        size = len(members)
        if size == 1 and weights[members[0], members[0]] == 0:
            continue
        squares = np.empty((size, size))
        for a in range(size):
            for b in range(size):
                squares[a, b] = weights[members[a], members[b]] ** 2
        above = exponential_less_identity(squares)
        if not np.isfinite(above).all():
            gradient[:] = 0.0
            return np.inf
        for a in range(size):
            value += above[a, a]
            for b in range(size):
                exponential = above[b, a] + (a == b)
                gradient[members[a], members[b]] = 2.0 * weights[members[a], members[b]] * exponential
    return value


@kernel
def exponential_less_identity(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """exp(A) − I for a matrix without negative entries; infinite or NaN where it overflows.

    The Taylor polynomial of degree 15 of A/2ˢ, whose column sums are at most ½, in the form of Paterson and
    Stockmeyer (1973): its remainder is below ½¹⁶/16!, a hundredth of the rounding. Then s times
    e²ˣ − I = 2(eˣ − I) + (eˣ − I)². Nothing is subtracted, so that small traces keep all their digits.
    """
    size = len(matrix)
    norm = 0.0
    for b in range(size):
        norm = max(norm, matrix[:, b].sum())
    if not norm < LARGEST_NORM:
        return np.full_like(matrix, np.inf)
    squarings = max(0, int(np.ceil(np.log2(2.0 * norm)))) if norm > 0 else 0
    first = matrix / 2.0**squarings
    second = first @ first
    third = second @ first
    fourth = second @ second
    total = np.zeros_like(first)
    for block in range(3, -1, -1):
        total = total @ fourth
        k = 4 * block
        total += INVERSE_FACTORIALS[k + 1] * first
        total += INVERSE_FACTORIALS[k + 2] * second
        total += INVERSE_FACTORIALS[k + 3] * third
        if block:
            for a in range(size):
                total[a, a] += INVERSE_FACTORIALS[k]
    for _ in range(squarings):
        total = 2.0 * total + total @ total
    return total


def log_determinant(weights: NDArray[np.float64], scale: float = 1.0) -> tuple[float, NDArray[np.float64]]:
    """h(W) = −log det(sI − W∘W) + d log s and its gradient.

    Where the spectral radius of W∘W is not below s = `scale`, sI − W∘W is no M-matrix: there h is infinite
    and its gradient is returned as zeros.

    >>> h, _ = log_determinant(np.array([[0.0, 0.5], [0.5, 0.0]]))  # −log(1 − 1/16)
    >>> round(h, 6), log_determinant(np.array([[0.0, 1.0], [1.0, 0.0]]))[0]
    (0.064539, inf)
    """
    value, gradient = 0.0, np.zeros_like(weights)
    with np.errstate(over="ignore"):
        for block in cyclic_components(weights != 0):
            part = weights[block]
            factored = invert_m_matrix(np.eye(len(part)) - part * part / scale)
            if factored is None:
                return np.inf, np.zeros_like(weights)
            inverse, log_det = factored
            value -= log_det
            gradient[block] = 2.0 * part * inverse.T / scale
    return max(0.0, value), gradient


def cyclic_components(support: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.intp], ...]]:
    """Strongly connected components that hold a cycle, each as the index of its block of the matrix."""
    label = strong_components(support)
    sizes = np.bincount(label)
    holds_loop = np.zeros(len(sizes), dtype=np.bool_)
    holds_loop[label[np.diag(support)]] = True
    for component in np.flatnonzero((sizes > 1) | holds_loop):
        members = np.flatnonzero(label == component)
        yield np.ix_(members, members)


@kernel
def strong_components(support: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Label the strongly connected component of each node (Tarjan 1972, with an explicit stack)."""
    d = len(support)
    label = np.full(d, -1)
    found = np.full(d, -1)  # the time at which a node was first seen
    lowest = np.zeros(d, dtype=np.int64)  # the earliest such time among the nodes it leads back to
    following = np.zeros(d, dtype=np.int64)  # the next child to visit
    path = np.empty(d, dtype=np.int64)
    waiting = np.empty(d, dtype=np.int64)
    time, waits, count = 0, 0, 0
    for root in range(d):
        if found[root] >= 0:
            continue
        path[0], depth = root, 1
        while depth > 0:
            node = path[depth - 1]
            if found[node] < 0:
                found[node] = lowest[node] = time
                time += 1
                waiting[waits] = node
                waits += 1
            descended = False
            while following[node] < d:
                child = following[node]
                following[node] += 1
                if not support[node, child]:
                    continue
                if found[child] < 0:
                    path[depth] = child
                    depth += 1
                    descended = True
                    break
                if label[child] < 0:
                    lowest[node] = min(lowest[node], found[child])
            if descended:
                continue
            depth -= 1
            if depth > 0:
                lowest[path[depth - 1]] = min(lowest[path[depth - 1]], lowest[node])
            if lowest[node] == found[node]:
                while True:
                    waits -= 1
                    label[waiting[waits]] = count
                    if waiting[waits] == node:
                        break
                count += 1
    return label


def invert_m_matrix(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], float] | None:
    """Inverse and log determinant of a matrix whose off-diagonal entries are at most 0.

    None unless it is a non-singular M-matrix, that is, unless x = M⁻¹1 is positive (then Mx = 1 > 0 with
    x > 0, which characterises M-matrices; Berman and Plemmons 1994, chapter 6, I28).
    """
    if not np.isfinite(matrix).all():
        return None
    triangles, pivots, failed = dgetrf(matrix)
    if failed:
        return None
    log_det = float(np.log(np.abs(np.diag(triangles))).sum())
    inverse, failed = dgetri(triangles, pivots)
    if failed or not (inverse.sum(axis=1) > 0).all():
        return None
    return inverse, log_det
