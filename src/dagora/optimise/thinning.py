"""Weights below the threshold go one at a time, and the others are solved again after each.

Cutting all small weights at once, as published, also cuts a true edge whose effect was shared with
neighbours that go too. Here each column of an acyclic solution loses its weakest edge, the rest is solved
again under the same program, and so on until no weight is below the threshold. Required edges stay.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import kernel
from dagora.optimise.order_moves import Room, Terms, room_for, solve_column
from dagora.optimise.path import Program
from dagora.scores.lasso_kernels import Matrix, Vector

Support = NDArray[np.bool_]


def thin_program(program: Program, weights: Matrix, support: Support, threshold: float) -> Matrix:
    """Thin a solution on an acyclic support; return the weights that are left."""
    columns = weights.T.copy()
    thin_columns(program.terms, support, threshold, columns)
    return np.ascontiguousarray(columns.T)


def thin(
    refit: Callable[[Support], Matrix], support: Support, required: Support, threshold: float
) -> tuple[Matrix, Support]:
    """The same for any loss that can be refitted on a support; return weights and support."""
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
def thin_columns(terms: Terms, support: Support, threshold: float, columns: Matrix) -> None:
    """Thin every column in place; row y of `columns` holds the weights into y."""
    d = len(columns)
    room = room_for(d)
    gradient = np.empty(d)
    free = np.empty(d, dtype=np.bool_)
    for y in range(d):
        for i in range(d):
            free[i] = support[i, y]
        thin_column(terms, y, free, threshold, columns[y], gradient, room)


@kernel
def thin_column(
    terms: Terms, y: int, free: Support, threshold: float, column: Vector, gradient: Vector, room: Room
) -> float:
    """Solve a column on `free` and drop its weakest weight while that is below the threshold."""
    d = len(column)
    required = terms.required
    loss, _ = solve_column(terms, y, free, column, gradient, room)
    while True:
        weakest = -1
        for i in range(d):
            if column[i] == 0.0 or required[i, y]:
                continue
            if weakest < 0 or abs(column[i]) < abs(column[weakest]):
                weakest = i
        if weakest < 0 or abs(column[weakest]) >= threshold:
            return loss
        for i in range(d):
            free[i] = (column[i] != 0.0 and i != weakest) or required[i, y]
        loss, _ = solve_column(terms, y, free, column, gradient, room)
