"""The additive likelihood at many points, one after the other, with its derivatives: the kernel of `additive`.

The formulas are those of `additive`. All matrices are stored by rows, and every step of the work adds
multiples of rows to a row (`combine`): factors and inverses of triangles as much as products. What a point
needs to know about the rows of the table stands in one pool of numbers, where `Places` says.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import borrowing
from dagora.scores.gp.compression import LONG, NODES
from dagora.scores.gp.placing import LOG_2, LOG_LONG, OUTSIDE, Placed, Places

Array = NDArray[np.float64]
Positions = NDArray[np.int64]

UNSIGNED = np.uint64
ZERO, ONE, TWO, THREE, FOUR = (np.uint64(k) for k in range(5))


class Asked(NamedTuple):
    """Families and points: children and parents by number, parameters, variances of all kernels."""

    children: Positions
    parents: Positions
    parameters: Array
    variances: Array


class Found(NamedTuple):
    """Log likelihoods (NaN where a matrix is not positive), gradients and Hessians."""

    values: Array
    gradients: Array
    hessians: Array


class Rows(NamedTuple):
    """Numbers about the rows: the pool, the sums of squares of columns, what is added to diagonals by level."""

    pool: Array
    squares: Array
    jitters: Array
    number: int


class Room(NamedTuple):
    """Memory for one point: square matrices of one width, rows, and where each parent's dimensions begin."""

    matrices: Array
    rows: Array
    starts: Positions

    @classmethod
    def of(cls, dimensions: int, parents: int, *, derivatives: bool) -> Room:
        """Room for points of up to so many dimensions."""
        width = dimensions + 1
        return cls(
            np.empty((MATRICES if derivatives else FEW_MATRICES, width * width)),
            np.empty((ROWS, max(width, NODES))),
            np.empty(parents + 1, dtype=np.int64),
        )


# Matrices in the room: lower factors of kernels, M with h, and products.
LOWER, M, PRODUCT, FEW_MATRICES = 0, 1, 2, 3
# With derivatives: kernels' derivatives, Gram matrix of the bases, T⁻¹X, AX, ΦᵀS⁻¹Φ, ĊW, T⁻¹ and A.
SLOPE, BEND, GRAM, WHITE, SOLVED, W, TURNED, INNER, A, MATRICES = 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
# Rows in the room: Chebyshev polynomials with derivatives, a row for whatever, ΦᵀS⁻¹y, ΦᵀS⁻²y, Ċa.
PLAIN, ONCE, TWICE, SPARE, TARGET, TARGET_2, PUSHED, ROWS = 0, 1, 2, 3, 4, 5, 6, 7


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
def product_sum(one: Array, one_at: int, other: Array, other_at: int, length: int) -> float:
    """The sum of the products of entries."""
    a, b = one[one_at : one_at + length], other[other_at : other_at + length]
    total = 0.0
    for k in range(length):
        total += a[k] * b[k]
    return total


@borrowing
def chebyshev(cell: int, log_scale: float, rows: Array) -> None:
    """Chebyshev polynomials of a length-scale's position in its cell, and derivatives in log ρ, in `rows`."""
    plain, once, twice = rows[PLAIN], rows[ONCE], rows[TWICE]
    if cell == 0:
        position = 2 * LONG * LONG * math.exp(-2 * log_scale) - 1
    else:
        position = (log_scale - LOG_LONG + (cell - 0.5) * LOG_2) * (2 / LOG_2)
    position = min(max(position, -1.0), 1.0)
    plain[0], plain[1] = 1.0, position
    once[0], once[1] = 0.0, 1.0
    twice[0], twice[1] = 0.0, 0.0
    for k in range(2, NODES):
        plain[k] = 2 * position * plain[k - 1] - plain[k - 2]
        once[k] = 2 * plain[k - 1] + 2 * position * once[k - 1] - once[k - 2]
        twice[k] = 4 * once[k - 1] + 2 * position * twice[k - 1] - twice[k - 2]
    # The position of a long length-scale is 2 LONG²/ρ² − 1, and its derivative in log ρ is −2 (position + 1).
    slope = -2 * (position + 1) if cell == 0 else 2 / LOG_2
    bend = 4 * (position + 1) if cell == 0 else 0.0
    for k in range(NODES):
        twice[k] = twice[k] * slope * slope + once[k] * bend
        once[k] *= slope


@borrowing
def kernel_matrix(pool: Array, at: int, rank: int, weights: Array, into: Array, start: int, width: int) -> None:
    """The upper triangle of C(ρ), or of a derivative, from its Chebyshev series."""
    for a in range(rank):
        clear(into, start + a * width + a, rank - a)
        combine(
            into, start + a * width + a, rank - a, 1.0, weights, 0, 1, pool, at + a * rank + a, rank * rank, NODES
        )


@borrowing
def mirror(matrix: Array, start: int, width: int, size: int) -> None:
    """Copy the upper triangle into the lower one."""
    for a in range(size):
        for b in range(a):
            matrix[start + a * width + b] = matrix[start + b * width + a]


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
def fill_matrix(rows: Rows, places: Places, asked: Asked, placed: Placed, k: int, room: Room, width: int) -> bool:
    """[[M, h], [hᵀ, yᵀy]] of point k, its upper triangle, and the factors of the kernels."""
    pool, matrix, lower, product = rows.pool, room.matrices[M], room.matrices[LOWER], room.matrices[PRODUCT]
    spare = room.rows[SPARE]
    p = asked.parents.shape[1]
    m = width - 1
    first, child = placed.levels[k, 0], asked.children[k]
    columns = len(rows.squares)
    s = math.exp(2 * asked.parameters[k, p])
    for i in range(width):
        clear(matrix, i * width + i, width - i)
    matrix[0] = rows.number + s
    matrix[m * width + m] = rows.squares[child]
    for i in range(p):
        level, which = placed.levels[k, i], placed.order[k, i]
        parent, rank, at = asked.parents[k, which], places.ranks[first, level], room.starts[i]
        corner = at * width + at
        series = places.series[first, level, parent, placed.cells[k, i]]
        chebyshev(placed.cells[k, i], asked.parameters[k, which], room.rows)
        kernel_matrix(pool, series, rank, room.rows[PLAIN], lower, corner, width)
        if not lower_factor(lower, corner, width, rank, rows.jitters[first], math.sqrt(asked.variances[k])):
            return False
        # Sums and projections of the basis, turned: the first row, and h. (A column's sum is zero.)
        combine(matrix, at, rank, 1.0, pool, places.sums[first, level] + parent * rank, 1, lower, corner, width, rank)
        clear(spare, 0, rank)
        projection = places.projections[first, level] + (parent * columns + child) * rank
        combine(spare, 0, rank, 1.0, pool, projection, 1, lower, corner, width, rank)
        for a in range(rank):
            row = (at + a) * width
            matrix[row + m] = spare[a]
            left = rank - a
            diagonal = corner + a * width + a
            combine(matrix, row + at + a, left, 1.0, lower, diagonal, width, lower, diagonal, width, left)
            matrix[row + at + a] += s
        for j in range(i):
            other = placed.levels[k, j]
            high, above = places.ranks[first, other], room.starts[j]
            gram = places.grams[first, other, level]
            gram += (asked.parents[k, placed.order[k, j]] * columns + parent) * high * rank
            for a in range(high):
                clear(product, a * rank, rank)
                combine(product, a * rank, rank, 1.0, pool, gram + a * rank, 1, lower, corner, width, rank)
            for a in range(high):
                combine(
                    matrix,
                    (above + a) * width + at,
                    rank,
                    1.0,
                    lower,
                    (above + a) * width + above + a,
                    width,
                    product,
                    a * rank,
                    rank,
                    high - a,
                )
    return True


@borrowing
def likelihoods(
    rows: Rows, places: Places, asked: Asked, placed: Placed, room: Room, found: Found, derivatives: bool
) -> None:
    """Log likelihoods of the points that lack nothing, with derivatives if wanted; −∞ out of bounds."""
    number, p = asked.parents.shape
    for k in range(number):
        if placed.levels[k, 0] == OUTSIDE:
            found.values[k] = -np.inf
            continue
        if placed.lacking[k]:
            continue
        room.starts[0] = 1
        for i in range(p):
            room.starts[i + 1] = room.starts[i] + places.ranks[placed.levels[k, 0], placed.levels[k, i]]
        m = room.starts[p]
        width = m + 1
        found.values[k] = np.nan
        matrix = room.matrices[M]
        if not fill_matrix(rows, places, asked, placed, k, room, width):
            continue
        # The last pivot is what the child has left.
        if not factor(matrix, width, width):
            continue
        log_s = 2 * asked.parameters[k, p]
        determinant = (rows.number - m) * log_s
        for i in range(m):
            determinant += 2 * math.log(matrix[i * width + i])
        quadratic = matrix[m * width + m] * matrix[m * width + m] / math.exp(log_s)
        found.values[k] = -0.5 * (rows.number * math.log(2 * math.pi) + determinant + quadratic)
        if derivatives:
            differentiate(rows, places, asked, placed, k, room, width, found)


@borrowing
def fill_gram(rows: Rows, places: Places, asked: Asked, placed: Placed, k: int, room: Room, width: int) -> None:
    """Φ's Gram matrix, constant first; the columns of one basis are orthonormal. Also the target Φᵀy."""
    pool, gram, target = rows.pool, room.matrices[GRAM], room.rows[TARGET]
    p, m, columns = asked.parents.shape[1], width - 1, len(rows.squares)
    first, child = placed.levels[k, 0], asked.children[k]
    clear(gram, 0, m * width)
    gram[0] = rows.number
    target[0] = 0.0
    for i in range(p):
        level, at = placed.levels[k, i], room.starts[i]
        parent, rank = asked.parents[k, placed.order[k, i]], places.ranks[first, level]
        sums = places.sums[first, level] + parent * rank
        projections = places.projections[first, level] + (parent * columns + child) * rank
        for a in range(rank):
            gram[at + a] = pool[sums + a]
            target[at + a] = pool[projections + a]
            gram[(at + a) * width + at + a] = 1.0
        for j in range(i):
            other = placed.levels[k, j]
            high, above = places.ranks[first, other], room.starts[j]
            source = places.grams[first, other, level]
            source += (asked.parents[k, placed.order[k, j]] * columns + parent) * high * rank
            for a in range(high):
                for b in range(rank):
                    gram[(above + a) * width + at + b] = pool[source + a * rank + b]
    mirror(gram, 0, width, m)


@borrowing
def differentiate(
    rows: Rows, places: Places, asked: Asked, placed: Placed, k: int, room: Room, width: int, found: Found
) -> None:
    """Gradient and Hessian of the log likelihood of point k, whose factors are in the room."""
    fill_gram(rows, places, asked, placed, k, room, width)
    upper, lower, gram = room.matrices[M], room.matrices[LOWER], room.matrices[GRAM]
    white, solved, w, turned = room.matrices[WHITE], room.matrices[SOLVED], room.matrices[W], room.matrices[TURNED]
    inner, inverse = room.matrices[INNER], room.matrices[A]
    target, target2, pushed, spare = room.rows[TARGET], room.rows[TARGET_2], room.rows[PUSHED], room.rows[SPARE]
    slope, bend = room.matrices[SLOPE], room.matrices[BEND]
    p, m = asked.parents.shape[1], width - 1
    s = math.exp(2 * asked.parameters[k, p])
    # X = LᵀG, then T⁻¹X with T = Uᵀ; the column behind it is T⁻¹h.
    clear(white, 0, m * width)
    for b in range(m):
        white[b] = gram[b]
    for i in range(p):
        at, stop = room.starts[i], room.starts[i + 1]
        for a in range(at, stop):
            combine(white, a * width, m, 1.0, lower, a * width + a, width, gram, a * width, width, stop - a)
    for i in range(m):
        combine(white, i * width, m, -1.0, upper, i, width, white, 0, width, i)
        scale = 1 / upper[i * width + i]
        row = white[i * width : i * width + m]
        for b in range(m):
            row[b] *= scale
        white[i * width + m] = upper[i * width + m]
    # AX and u = Ah, with A = M⁻¹ = U⁻¹T⁻¹.
    for i in range(m - 1, -1, -1):
        row, source = solved[i * width : i * width + width], white[i * width : i * width + width]
        for b in range(width):
            row[b] = source[b]
        combine(
            solved, i * width, width, -1.0, upper, i * width + i + 1, 1, solved, (i + 1) * width, width, m - 1 - i
        )
        scale = 1 / upper[i * width + i]
        for b in range(width):
            row[b] *= scale
    # T⁻¹, and A from it.
    clear(inner, 0, m * width)
    for i in range(m):
        inner[i * width + i] = 1.0
        combine(inner, i * width, i, -1.0, upper, i, width, inner, 0, width, i)
        scale = 1 / upper[i * width + i]
        for b in range(i + 1):
            inner[i * width + b] *= scale
    squares, squares2 = 0.0, 0.0
    for i in range(m):
        squares += product_sum(inner, i * width, inner, i * width, i + 1)
        clear(inverse, i * width + i, m - i)
        corner = i * width + i
        combine(inverse, corner, m - i, 1.0, inner, corner, width, inner, corner, width, m - i)
        row_sum = product_sum(inverse, corner, inverse, corner, m - i)
        squares2 += 2 * row_sum - inverse[corner] * inverse[corner]
    # W = (G − XᵀAX)/s, a and a₂.
    for i in range(m):
        for b in range(i, m):
            w[i * width + b] = gram[i * width + b]
        combine(w, i * width + i, m - i, -1.0, white, i, width, white, i, width, m)
        for b in range(i, m):
            w[i * width + b] /= s
    mirror(w, 0, width, m)
    combine(target, 0, m, -1.0, upper, m, width, white, 0, width, m)
    for b in range(m):
        target[b] /= s
        target2[b] = target[b]
    combine(target2, 0, m, -1.0, solved, m, width, solved, 0, width, m)
    norm, norm2 = 0.0, 0.0
    for i in range(m):
        target2[i] /= s
        norm += solved[i * width + m] * solved[i * width + m]
        spare[i] = solved[i * width + m]
    for i in range(m):
        entry = product_sum(inner, i * width, spare, 0, i + 1)
        norm2 += entry * entry
    quadratic = upper[m * width + m] * upper[m * width + m] / s
    quadratic2 = (quadratic - norm) / s
    quadratic3 = (quadratic2 - norm2) / s
    trace = (rows.number - m) / s + squares
    trace2 = (rows.number - m) / (s * s) + squares2
    gradient, hessian = found.gradients[k], found.hessians[k]
    in_s = 0.5 * (quadratic2 - trace)
    gradient[p] = 2 * s * in_s
    hessian[p, p] = 4 * s * s * (0.5 * trace2 - quadratic3) + 4 * s * in_s
    for i in range(p):
        level, which, at = placed.levels[k, i], placed.order[k, i], room.starts[i]
        rank, first = places.ranks[placed.levels[k, 0], level], placed.levels[k, 0]
        corner = at * width + at
        series = places.series[first, level, asked.parents[k, which], placed.cells[k, i]]
        chebyshev(placed.cells[k, i], asked.parameters[k, which], room.rows)
        kernel_matrix(rows.pool, series, rank, room.rows[ONCE], slope, corner, width)
        kernel_matrix(rows.pool, series, rank, room.rows[TWICE], bend, corner, width)
        mirror(slope, corner, width, rank)
        mirror(bend, corner, width, rank)
        clear(pushed, at, rank)
        combine(pushed, at, rank, 1.0, target, at, 1, slope, corner, width, rank)
        clear(spare, 0, rank)
        combine(spare, 0, rank, 1.0, target, at, 1, bend, corner, width, rank)
        in_first, in_second, in_both = 0.0, product_sum(target, at, spare, 0, rank), 0.0
        for a in range(rank):
            row = corner + a * width
            in_first += product_sum(w, row, slope, row, rank)
            in_second -= product_sum(w, row, bend, row, rank)
            clear(turned, (at + a) * width, m)
            combine(turned, (at + a) * width, m, 1.0, slope, row, 1, w, at * width, width, rank)
        gradient[which] = 0.5 * (product_sum(target, at, pushed, at, rank) - in_first)
        for a in range(m):
            # The diagonal block of XᵀA²X, against the slope.
            clear(spare, 0, rank)
            combine(spare, 0, rank, 1.0, solved, a * width + at, 1, slope, corner, width, rank)
            in_both += product_sum(spare, 0, solved, a * width + at, rank)
        mixed = 0.5 * (in_first - in_both) / s - product_sum(pushed, at, target2, at, rank)
        hessian[which, p] = hessian[p, which] = 2 * s * mixed
        for j in range(i + 1):
            above, high, other = room.starts[j], room.starts[j + 1] - room.starts[j], placed.order[k, j]
            traces, bilinear = 0.0, 0.0
            for a in range(rank):
                for b in range(high):
                    traces += turned[(at + a) * width + above + b] * turned[(above + b) * width + at + a]
                bilinear += pushed[at + a] * product_sum(w, (at + a) * width + above, pushed, above, high)
            entry = 0.5 * traces - bilinear + (0.5 * in_second if i == j else 0.0)
            hessian[which, other] = hessian[other, which] = entry
