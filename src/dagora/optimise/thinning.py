"""What is left of a solution when weights below the threshold go.

One by one: the weakest edge goes, the rest is solved again under the same program, and so on until no weight
is below the threshold. At once, as published: all small weights go and the rest is solved again; some may
then lie below the threshold that they reached before, and a true edge whose effect was shared with
neighbours goes with them. The better of both, column by column, is the one with the lower loss; it keeps
more edges, of which few are true where the penalty is small.

One by one can end in a landslide: a small weight on a parent of large variance carries much of the loss, and
once it has gone others fall below the threshold in turn. Guarded, the default: one by one, but at once in
a column that would else lose more than half as much again. Required edges stay in any case.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import kernel
from dagora.optimise.columns import Room, Terms, room_for, solve_column
from dagora.optimise.path import Program
from dagora.scores.lasso_kernels import Matrix, Vector

Support = NDArray[np.bool_]


def thin_program(
    program: Program, weights: Matrix, support: Support, threshold: float, cut: str = "guarded"
) -> Matrix:
    """Solve on an acyclic support, from any weights, and thin; return the weights that are left."""
    columns = weights.T.copy()
    thin_columns(program.judged_after(threshold, cut), support, columns)
    return np.ascontiguousarray(columns.T)


def thin(
    refit: Callable[[Support], Matrix], support: Support, required: Support, threshold: float
) -> tuple[Matrix, Support]:
    """One at a time, for any loss that can be refitted on a support; return weights and support."""
    support = support.copy()
    while True:
        weights = refit(support)
        strength = np.where(support & ~required, np.abs(weights), np.inf)
        weakest = strength.argmin(axis=0)
        columns = np.flatnonzero(strength.min(axis=0, initial=np.inf) < threshold)
        if len(columns) == 0:
            return weights, support
        support[weakest[columns], columns] = False


@kernel
def thin_columns(terms: Terms, support: Support, columns: Matrix) -> None:
    """Solve and thin every column in place; row y of `columns` holds the weights into y."""
    d = len(columns)
    room = room_for(d)
    gradient = np.empty(d)
    free = np.empty(d, dtype=np.bool_)
    for y in range(d):
        for i in range(d):
            free[i] = support[i, y]
        loss, _ = solve_column(terms, y, free, columns[y], gradient, room)
        thin_column(terms, y, loss, columns[y], room)


@kernel
def judge_column(
    terms: Terms, child: int, free: Support, weights: Vector, gradient: Vector, room: Room
) -> tuple[float, float]:
    """Solve one column in place, weak weights and all, but return the loss that it has without them.

    The second value is the penalty on the scale of its loss, as of `solve_column`.
    """
    loss, penalty = solve_column(terms, child, free, weights, gradient, room)
    if has_weak(terms, child, weights):
        loss = thin_column(terms, child, loss, weights.copy(), room)
    return loss, penalty


@kernel
def has_weak(terms: Terms, y: int, column: Vector) -> bool:
    """Whether a weight below the threshold may go."""
    for i in range(len(column)):
        if column[i] != 0.0 and abs(column[i]) < terms.threshold and not terms.required[i, y]:
            return True
    return False


@kernel
def thin_column(terms: Terms, y: int, loss: float, column: Vector, room: Room) -> float:
    """Thin a solved column in place, given its loss; return the loss of what is left."""
    if not has_weak(terms, y, column):
        return loss
    if terms.slack == np.inf:
        return cut_one_by_one(terms, y, column, room)
    rest = column.copy()
    loss = cut_at_once(terms, y, rest, room)
    if terms.slack >= 0.0:
        other = cut_one_by_one(terms, y, column, room)
        # With `profile` the loss is half a logarithm, and a share of the variance a difference.
        if other <= loss + (terms.slack / 2 if terms.profile else terms.slack * loss):
            return other
    column[:] = rest
    return loss


@kernel
def cut_at_once(terms: Terms, y: int, column: Vector, room: Room) -> float:
    """Drop all weak weights of a solved column, and solve it again; return its loss."""
    d = len(column)
    gradient = np.empty(d)
    free = np.empty(d, dtype=np.bool_)
    for i in range(d):
        strong = column[i] != 0.0 and abs(column[i]) >= terms.threshold
        free[i] = strong or terms.required[i, y]
        if not free[i]:
            column[i] = 0.0
    loss, _ = solve_column(terms, y, free, column, gradient, room)
    return loss


@kernel
def cut_one_by_one(terms: Terms, y: int, column: Vector, room: Room) -> float:
    """Drop the weakest weight of a solved column and solve it again while one is weak; return its loss."""
    d = len(column)
    required = terms.required
    gradient = np.empty(d)
    free = np.empty(d, dtype=np.bool_)
    loss = np.inf
    while True:
        weakest = -1
        for i in range(d):
            if column[i] == 0.0 or required[i, y]:
                continue
            if weakest < 0 or abs(column[i]) < abs(column[weakest]):
                weakest = i
        if weakest < 0 or abs(column[weakest]) >= terms.threshold:
            return loss
        for i in range(d):
            free[i] = (column[i] != 0.0 and i != weakest) or required[i, y]
        loss, _ = solve_column(terms, y, free, column, gradient, room)
