"""Steps of linear algebra on rows, for kernels: every one adds multiples of rows to a row.

Matrices are stored by rows in one-dimensional arrays; an entry is found by where a row begins. For the small
matrices of a point this is faster than a call of LAPACK, and it needs no memory of its own.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import borrowing

Array = NDArray[np.float64]

UNSIGNED = np.uint64
ZERO, ONE, TWO, THREE, FOUR = (np.uint64(k) for k in range(5))


@borrowing
def combine(
    into: Array,
    start: int,
    length: int,
    sign: float,
    weights: Array,
    weight_at: int,
    weight_step: int,
    source: Array,
    source_at: int,
    source_step: int,
    number: int,
) -> None:
    """Add `number` rows of `source`, each times its weight and the sign, to `length` entries of `into`."""
    # Numbers without a sign: an index below zero would count from the end, which costs time in every step.
    to, end, from_, step = UNSIGNED(start), UNSIGNED(length), UNSIGNED(source_at), UNSIGNED(source_step)
    at, stride, left = UNSIGNED(weight_at), UNSIGNED(weight_step), UNSIGNED(number)
    while left >= FOUR:
        w0, w1 = sign * weights[at], sign * weights[at + stride]
        w2, w3 = sign * weights[at + TWO * stride], sign * weights[at + THREE * stride]
        from_1, from_2, from_3 = from_ + step, from_ + TWO * step, from_ + THREE * step
        for b in range(end):
            into[to + b] += (w0 * source[from_ + b] + w1 * source[from_1 + b]) + (
                w2 * source[from_2 + b] + w3 * source[from_3 + b]
            )
        at += FOUR * stride
        from_ += FOUR * step
        left -= FOUR
    while left > ZERO:
        w0 = sign * weights[at]
        for b in range(end):
            into[to + b] += w0 * source[from_ + b]
        at += stride
        from_ += step
        left -= ONE


@borrowing
def clear(into: Array, start: int, length: int) -> None:
    """Set entries to zero."""
    target = into[start : start + length]
    for b in range(length):
        target[b] = 0.0


@borrowing
def factor(matrix: Array, width: int, size: int) -> bool:
    """The upper triangle U of a positive matrix UᵀU, in its place; False where it is not positive."""
    for i in range(size):
        combine(matrix, i * width + i, size - i, -1.0, matrix, i, width, matrix, i, width, i)
        pivot = matrix[i * width + i]
        if not pivot > 0:
            return False
        inverse = 1 / math.sqrt(pivot)
        row = matrix[i * width + i : i * width + size]
        for b in range(size - i):
            row[b] *= inverse
    return True


@borrowing
def lower_factor(lower: Array, start: int, width: int, rank: int, jitter: float, scale: float) -> bool:
    """The lower triangle L of a kernel LLᵀ whose upper triangle is there, times a scale; zeros above it."""
    block = lower[start : start + (rank - 1) * width + rank]
    for a in range(rank):
        block[a * width + a] += jitter
    if not factor(block, width, rank):
        return False
    for a in range(rank):
        block[a * width + a] *= scale
        for b in range(a + 1, rank):
            block[b * width + a] = block[a * width + b] * scale
            block[a * width + b] = 0.0
    return True


@borrowing
def product_sum(one: Array, one_at: int, other: Array, other_at: int, length: int) -> float:
    """The sum of the products of entries."""
    a, b = one[one_at : one_at + length], other[other_at : other_at + length]
    total = 0.0
    for k in range(length):
        total += a[k] * b[k]
    return total


@borrowing
def mirror(matrix: Array, start: int, width: int, size: int) -> None:
    """Copy the upper triangle into the lower one."""
    for a in range(size):
        for b in range(a):
            matrix[start + a * width + b] = matrix[start + b * width + a]
