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
    fill_gram(rows, places, asked, placed, k, room, width)
    upper, lower, gram = room.matrices[M], room.matrices[LOWER], room.matrices[GRAM]
    white, solved, w, turned = (
        room.matrices[WHITE],
        room.matrices[SOLVED],
        room.matrices[W],
        room.matrices[TURNED],
    )
    inner, inverse = room.matrices[INNER], room.matrices[INVERSE]
    target, target2, pushed, spare = (
        room.rows[TARGET],
        room.rows[TARGET_2],
        room.rows[PUSHED],
        room.rows[SPARE],
    )
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
            solved,
            i * width,
            width,
            -1.0,
            upper,
            i * width + i + 1,
            1,
            solved,
            (i + 1) * width,
            width,
            m - 1 - i,
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
