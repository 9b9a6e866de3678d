"""Parents that are added one by one on a score of pivots: the factor over all columns, and shrinkage.

The parents so far are kept as rows of a Cholesky factor over all columns. Then the scores of all additions
cost a few operations each, and those of all removals one inverse.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import inlined
from dagora.scores.gaussian import COLLINEAR
from dagora.scores.local_score import PivotForm
from dagora.scores.pivot_form import cost_of, family_score, highest_cost

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

STAMP, DEPTH, FACTORED, SCORED = 0, 1, 2, 3  # entries of `at`


class Way(NamedTuple):
    """The way from a root to a node, and room to compute on it.

    `path` holds the columns added so far; row k of `rows` is row k of the Cholesky factor over all columns,
    `left` what the path leaves of the columns' variances, `shared` of their covariances with the child.
    `skipped[x]` is the present stamp where a branch adding x was passed, as x comes too late in the order.
    `at` holds that stamp, the number of columns added, for how many of them there are rows, and how many
    families were scored.
    """

    place: Ints
    path: Ints
    at: Ints
    skipped: Ints
    free: NDArray[np.bool_]
    columns: Ints
    rows: Floats
    left: Floats
    shared: Floats
    costs: Floats
    inverse: Floats
    diagonal: Floats
    slopes: Floats
    log_determinant: Floats

    @classmethod
    def of(cls, columns: int, room: int) -> Way:
        """Room for a number of columns, of which so many can be added."""
        place, skipped, listed = np.zeros((3, columns), dtype=np.int64)
        free = np.zeros(columns, dtype=np.bool_)
        left, shared, costs = np.empty((3, columns))
        diagonal, slopes = np.empty((2, room))
        return cls(
            place=place,
            path=np.zeros(room, dtype=np.int64),
            at=np.zeros(4, dtype=np.int64),
            skipped=skipped,
            free=free,
            columns=listed,
            rows=np.empty((room, columns)),
            left=left,
            shared=shared,
            costs=costs,
            inverse=np.empty((room, room)),
            diagonal=diagonal,
            slopes=slopes,
            log_determinant=np.zeros(1),
        )


@inlined
def factor(form: PivotForm, way: Way, child: int) -> None:
    """Bring the factor from as far as it is known to the end of the path."""
    matrix = form.matrix[form.group[child]]
    columns = len(matrix)
    if way.at[FACTORED] < 0:
        for y in range(columns):
            way.left[y] = matrix[y, y]
            way.shared[y] = matrix[child, y]
        way.log_determinant[0] = 0.0
        way.at[FACTORED] = 0
    left, shared = way.left, way.shared
    for k in range(way.at[FACTORED], way.at[DEPTH]):
        new = way.path[k]
        row, of_new = way.rows[k], matrix[new]
        pivot = np.sqrt(left[new])
        for y in range(columns):
            row[y] = of_new[y]
        for above in range(k):
            weight = way.rows[above, new]
            row_above = way.rows[above]
            for y in range(columns):
                row[y] -= weight * row_above[y]
        scale = 1 / pivot
        of_child = row[child] * scale
        for y in range(columns):
            entry = row[y] * scale
            row[y] = entry
            left[y] -= entry * entry
            shared[y] -= of_child * entry
        way.log_determinant[0] += 2 * np.log(pivot)
    way.at[FACTORED] = way.at[DEPTH]


@inlined
def invert_factor(way: Way, child: int) -> None:
    """The inverse of the path's factor, the diagonal of that of its block, and the child's slopes on it.

    Column i of the factor's inverse stands in row i of `way.inverse`, from its diagonal on.
    """
    size = way.at[DEPTH]
    inverse, slopes, diagonal, triangle = way.inverse, way.slopes, way.diagonal, way.costs
    for i in range(size):
        inverse[i, i] = 1 / way.rows[i, way.path[i]]
        diagonal[i] = inverse[i, i] * inverse[i, i]
        slopes[i] = inverse[i, i] * way.rows[i, child]
    for a in range(1, size):
        of_child = way.rows[a, child]
        scale = inverse[a, a]
        for b in range(a):
            triangle[b] = way.rows[b, way.path[a]]
        for i in range(a):
            entry = 0.0
            for b in range(i, a):
                entry -= triangle[b] * inverse[i, b]
            entry *= scale
            inverse[i, a] = entry
            diagonal[i] += entry * entry
            slopes[i] += entry * of_child


@inlined
def invert_block(way: Way, size: int) -> None:
    """From the inverse of the factor, that of the path's block."""
    inverse = way.inverse
    # Entry (i, j) is made from what stands right of it in rows i and j, and goes below the diagonal.
    for i in range(size):
        for j in range(i):
            entry = 0.0
            for b in range(i, size):
                entry += inverse[i, b] * inverse[j, b]
            inverse[i, j] = entry
    for i in range(size):
        for j in range(i):
            inverse[j, i] = inverse[i, j]
        inverse[i, i] = way.diagonal[i]


@inlined
def remove(way: Way, removed: int, size: int) -> None:
    """Take a column out of the path, and out of the inverse of its block; the last takes its place."""
    inverse, slopes = way.inverse, way.slopes
    scale, slope = 1 / inverse[removed, removed], slopes[removed]
    last = size - 1
    for i in range(size):
        if i != removed:
            share = inverse[i, removed] * scale
            slopes[i] -= share * slope
            for j in range(size):
                inverse[i, j] -= share * inverse[removed, j]
    way.path[removed], slopes[removed] = way.path[last], slopes[last]
    for j in range(size):
        inverse[removed, j] = inverse[last, j]
    for i in range(last):
        inverse[i, removed] = inverse[i, last]
    for i in range(last):
        way.diagonal[i] = inverse[i, i]


@inlined
def shrink(form: PivotForm, way: Way, child: int, tolerance: float) -> float:
    """Remove parents of the path one by one, always the one whose loss helps most; return the score.

    What is left stands in the path, in no order.
    """
    factor(form, way, child)
    residual, determinant = way.left[child], way.log_determinant[0]
    size = whole = way.at[DEPTH]
    value = family_score(form, child, size, determinant, residual)
    if size < 2:
        return value
    invert_factor(way, child)
    group = form.group[child]
    floor = COLLINEAR * form.matrix[group, child, child]
    while size > 1:
        way.at[SCORED] += size
        least = highest_cost(form, child, size - 1, determinant, value + tolerance)
        best, best_rest = -1, residual
        for i in range(size):
            # Without a parent the determinant is multiplied by its entry in the inverse, the residual grows.
            rest = max(residual + way.slopes[i] * way.slopes[i] / way.diagonal[i], floor)
            cost = cost_of(form, group, size - 1, way.diagonal[i], rest)
            if cost < least or (best >= 0 and cost == least and way.path[i] < way.path[best]):
                best, best_rest, least = i, rest, cost
        if best < 0:
            break
        if size == whole:
            invert_block(way, size)
        determinant += np.log(way.diagonal[best])
        residual = best_rest
        remove(way, best, size)
        size -= 1
        value = family_score(form, child, size, determinant, residual)
    way.at[DEPTH] = size
    way.at[FACTORED] = -1
    return value
