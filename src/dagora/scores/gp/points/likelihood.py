"""The additive likelihood at many points, one after the other: the kernel of `additive`.

The formulas are those of `additive`. What a point needs to know about the rows of the table stands in one
pool of numbers, where `Places` says. A point's value does not depend on the other points.
"""

from __future__ import annotations

import math

import numpy as np

from dagora.kernels.decorators import borrowing
from dagora.scores.gp.points.derivatives import differentiate
from dagora.scores.gp.points.kernel_series import chebyshev, kernel_matrix
from dagora.scores.gp.points.placing import OUTSIDE, Places, PointOrder
from dagora.scores.gp.points.room import (
    LOWER,
    PLAIN,
    PRODUCT,
    SPARE,
    M,
    PointQuery,
    PointRoom,
    PointValues,
    Rows,
)
from dagora.scores.gp.points.row_steps import clear, combine, factor, lower_factor


@borrowing
def fill_matrix(
    rows: Rows, places: Places, asked: PointQuery, placed: PointOrder, k: int, room: PointRoom, width: int
) -> bool:
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
        combine(
            matrix,
            at,
            rank,
            1.0,
            pool,
            places.sums[first, level] + parent * rank,
            1,
            lower,
            corner,
            width,
            rank,
        )
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
    rows: Rows,
    places: Places,
    asked: PointQuery,
    placed: PointOrder,
    room: PointRoom,
    found: PointValues,
    derivatives: bool,
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
        m = int(room.starts[p])
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
