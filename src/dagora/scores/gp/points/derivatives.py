"""Gradient and Hessian of the additive likelihood at one point: a part of the kernel of `likelihood`.

The formulas are those of `additive`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import borrowing
from dagora.scores.gp.points.kernel_series import chebyshev, kernel_matrix
from dagora.scores.gp.points.placing import Places, PointOrder
from dagora.scores.gp.points.room import (
    BEND,
    GRAM,
    INNER,
    INVERSE,
    LOWER,
    ONCE,
    PUSHED,
    SLOPE,
    SOLVED,
    SPARE,
    TARGET,
    TARGET_2,
    TURNED,
    TWICE,
    WHITE,
    M,
    PointQuery,
    PointRoom,
    PointValues,
    Rows,
    W,
)
from dagora.scores.gp.points.row_steps import clear, combine, mirror, product_sum

Array = NDArray[np.float64]


@borrowing
def fill_gram(
    rows: Rows, places: Places, asked: PointQuery, placed: PointOrder, k: int, room: PointRoom, width: int
) -> None:
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
    rows: Rows,
    places: Places,
    asked: PointQuery,
    placed: PointOrder,
    k: int,
    room: PointRoom,
    width: int,
    found: PointValues,
) -> None:
    """Gradient and Hessian of the log likelihood of point k, whose factors are in the room."""
    p = asked.parents.shape[1]
    s = math.exp(2 * asked.parameters[k, p])
    gradient, hessian = found.gradients[k], found.hessians[k]
    fill_gram(rows, places, asked, placed, k, room, width)
    whiten_gram(room, width, p)
    solve_whitened(room, width)
    trace, trace2 = invert_matrix(room, width)
    weigh_bases(room, width, s)
    differentiate_noise(rows.number, s, trace, trace2, room, width, p, gradient, hessian)
    for i in range(p):
        which = placed.order[k, i]
        fill_kernel_derivatives(rows, places, asked, placed, k, i, room, width)
        in_second = differentiate_kernel(room, width, i, which, p, s, gradient, hessian)
        for j in range(i + 1):
            entry = mixed_derivative(room, width, i, j) + (0.5 * in_second if i == j else 0.0)
            other = placed.order[k, j]
            hessian[which, other] = hessian[other, which] = entry


@borrowing
def whiten_gram(room: PointRoom, width: int, p: int) -> None:
    """X = LᵀG, then T⁻¹X with T = Uᵀ; the column behind it is T⁻¹h."""
    white, gram = room.matrices[WHITE], room.matrices[GRAM]
    lower, upper = room.matrices[LOWER], room.matrices[M]
    m = width - 1
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


@borrowing
def solve_whitened(room: PointRoom, width: int) -> None:
    """AX and u = Ah, with A = M⁻¹ = U⁻¹T⁻¹."""
    solved, white, upper = room.matrices[SOLVED], room.matrices[WHITE], room.matrices[M]
    m = width - 1
    for i in range(m - 1, -1, -1):
        begin, corner = i * width, i * width + i
        row, source = solved[begin : begin + width], white[begin : begin + width]
        for b in range(width):
            row[b] = source[b]
        below = begin + width
        combine(solved, begin, width, -1.0, upper, corner + 1, 1, solved, below, width, m - 1 - i)
        scale = 1 / upper[corner]
        for b in range(width):
            row[b] *= scale


@borrowing
def invert_matrix(room: PointRoom, width: int) -> tuple[float, float]:
    """T⁻¹, and A from it; the traces of A and of A²."""
    inner, inverse, upper = room.matrices[INNER], room.matrices[INVERSE], room.matrices[M]
    m = width - 1
    clear(inner, 0, m * width)
    for i in range(m):
        inner[i * width + i] = 1.0
        combine(inner, i * width, i, -1.0, upper, i, width, inner, 0, width, i)
        scale = 1 / upper[i * width + i]
        for b in range(i + 1):
            inner[i * width + b] *= scale
    trace, trace2 = 0.0, 0.0
    for i in range(m):
        corner = i * width + i
        trace += product_sum(inner, i * width, inner, i * width, i + 1)
        clear(inverse, corner, m - i)
        combine(inverse, corner, m - i, 1.0, inner, corner, width, inner, corner, width, m - i)
        row_sum = product_sum(inverse, corner, inverse, corner, m - i)
        trace2 += 2 * row_sum - inverse[corner] * inverse[corner]
    return trace, trace2


@borrowing
def weigh_bases(room: PointRoom, width: int, s: float) -> None:
    """W = ΦᵀS⁻¹Φ = (G − XᵀAX) / s, and the targets a = ΦᵀS⁻¹y and a₂ = ΦᵀS⁻²y."""
    w, gram, white = room.matrices[W], room.matrices[GRAM], room.matrices[WHITE]
    upper, solved = room.matrices[M], room.matrices[SOLVED]
    target, target2 = room.rows[TARGET], room.rows[TARGET_2]
    m = width - 1
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
    for b in range(m):
        target2[b] /= s


@borrowing
def differentiate_noise(
    number: int,
    s: float,
    trace: float,
    trace2: float,
    room: PointRoom,
    width: int,
    p: int,
    gradient: Array,
    hessian: Array,
) -> None:
    """The derivatives by the log of the noise's standard deviation, parameter p, from traces of A and A²."""
    upper, solved, inner, spare = (
        room.matrices[M],
        room.matrices[SOLVED],
        room.matrices[INNER],
        room.rows[SPARE],
    )
    m = width - 1
    norm, norm2 = 0.0, 0.0  # of u = Ah and of T⁻¹u
    for i in range(m):
        spare[i] = solved[i * width + m]
        norm += spare[i] * spare[i]
    for i in range(m):
        entry = product_sum(inner, i * width, spare, 0, i + 1)
        norm2 += entry * entry
    quadratic = upper[m * width + m] * upper[m * width + m] / s  # yᵀS⁻¹y, then yᵀS⁻²y and yᵀS⁻³y
    quadratic2 = (quadratic - norm) / s
    quadratic3 = (quadratic2 - norm2) / s
    all_trace = (number - m) / s + trace
    all_trace2 = (number - m) / (s * s) + trace2
    in_s = 0.5 * (quadratic2 - all_trace)
    gradient[p] = 2 * s * in_s
    hessian[p, p] = 4 * s * s * (0.5 * all_trace2 - quadratic3) + 4 * s * in_s


@borrowing
def fill_kernel_derivatives(
    rows: Rows,
    places: Places,
    asked: PointQuery,
    placed: PointOrder,
    k: int,
    i: int,
    room: PointRoom,
    width: int,
) -> None:
    """The first and second derivatives of the i-th parent's kernel by its parameter, and their products.

    With the slope Ċ they are Ċa, in `PUSHED`, and ĊW, in `TURNED`.
    """
    slope, bend, w, turned = (
        room.matrices[SLOPE],
        room.matrices[BEND],
        room.matrices[W],
        room.matrices[TURNED],
    )
    pushed, target = room.rows[PUSHED], room.rows[TARGET]
    first, level, which = placed.levels[k, 0], placed.levels[k, i], placed.order[k, i]
    rank, at, m = places.ranks[first, level], room.starts[i], width - 1
    corner = at * width + at
    series = places.series[first, level, asked.parents[k, which], placed.cells[k, i]]
    chebyshev(placed.cells[k, i], asked.parameters[k, which], room.rows)
    kernel_matrix(rows.pool, series, rank, room.rows[ONCE], slope, corner, width)
    kernel_matrix(rows.pool, series, rank, room.rows[TWICE], bend, corner, width)
    mirror(slope, corner, width, rank)
    mirror(bend, corner, width, rank)
    clear(pushed, at, rank)
    combine(pushed, at, rank, 1.0, target, at, 1, slope, corner, width, rank)
    for a in range(rank):
        clear(turned, (at + a) * width, m)
        combine(turned, (at + a) * width, m, 1.0, slope, corner + a * width, 1, w, at * width, width, rank)


@borrowing
def differentiate_kernel(
    room: PointRoom, width: int, i: int, which: int, p: int, s: float, gradient: Array, hessian: Array
) -> float:
    """The first derivative by the i-th parent's parameter, and the mixed one with the noise.

    Returns the part of the second derivative that comes from the kernel's second derivative.
    """
    w, slope, bend, solved = (
        room.matrices[W],
        room.matrices[SLOPE],
        room.matrices[BEND],
        room.matrices[SOLVED],
    )
    target, pushed, spare = room.rows[TARGET], room.rows[PUSHED], room.rows[SPARE]
    at, rank = room.starts[i], room.starts[i + 1] - room.starts[i]
    corner = at * width + at
    clear(spare, 0, rank)
    combine(spare, 0, rank, 1.0, target, at, 1, bend, corner, width, rank)
    in_first, in_second, in_both = 0.0, product_sum(target, at, spare, 0, rank), 0.0
    for a in range(rank):
        row = corner + a * width
        in_first += product_sum(w, row, slope, row, rank)
        in_second -= product_sum(w, row, bend, row, rank)
    gradient[which] = 0.5 * (product_sum(target, at, pushed, at, rank) - in_first)
    for a in range(width - 1):
        # The diagonal block of XᵀA²X, against the slope.
        clear(spare, 0, rank)
        combine(spare, 0, rank, 1.0, solved, a * width + at, 1, slope, corner, width, rank)
        in_both += product_sum(spare, 0, solved, a * width + at, rank)
    mixed = 0.5 * (in_first - in_both) / s - product_sum(pushed, at, room.rows[TARGET_2], at, rank)
    hessian[which, p] = hessian[p, which] = 2 * s * mixed
    return in_second


@borrowing
def mixed_derivative(room: PointRoom, width: int, i: int, j: int) -> float:
    """½ tr(ĊᵢWĊⱼW) − (Ċᵢa)ᵀW(Ċⱼa), of the blocks of the i-th and j-th parent."""
    w, turned, pushed = room.matrices[W], room.matrices[TURNED], room.rows[PUSHED]
    at, rank = room.starts[i], room.starts[i + 1] - room.starts[i]
    above, high = room.starts[j], room.starts[j + 1] - room.starts[j]
    traces, bilinear = 0.0, 0.0
    for a in range(rank):
        for b in range(high):
            traces += turned[(at + a) * width + above + b] * turned[(above + b) * width + at + a]
        bilinear += pushed[at + a] * product_sum(w, (at + a) * width + above, pushed, above, high)
    return 0.5 * traces - bilinear
