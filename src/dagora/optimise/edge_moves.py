"""Single edges of a thinned solution are added and turned while that lowers the objective.

An order that is best with all its small weights need not be best without them. Here the objective is that
of the thinned graph: an edge is added to a column, or turned into the other, the columns concerned are solved
on their parents and thinned again (no weight below the threshold stays), and the change stays if the sum of
the losses falls. The graph is acyclic all the time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import kernel
from dagora.optimise.order_moves import Terms, room_for, solve_column
from dagora.optimise.path import Program
from dagora.optimise.thinning import thin_column
from dagora.scores.lasso_kernels import Matrix


def climb_edges(program: Program, weights: Matrix, threshold: float, tolerance: float) -> Matrix:
    """Climb from thinned, acyclic weights until no added or turned edge lowers the objective."""
    columns = np.ascontiguousarray(weights.T).copy()
    climb(program.terms, threshold, columns, tolerance)
    return np.ascontiguousarray(columns.T)


@kernel
def fill_reach(columns: Matrix, required: NDArray[np.bool_], reaches: NDArray[np.bool_]) -> None:
    """Say which variable reaches which along the edges, itself included."""
    d = len(columns)
    reaches[:] = False
    for i in range(d):
        reaches[i, i] = True
        for j in range(d):
            if columns[j, i] != 0.0 or required[i, j]:
                reaches[i, j] = True
    for k in range(d):
        for i in range(d):
            if reaches[i, k]:
                for j in range(d):
                    reaches[i, j] |= reaches[k, j]


@kernel
def parents_of(columns: Matrix, required: NDArray[np.bool_], y: int, free: NDArray[np.bool_]) -> None:
    """Mark the parents of y."""
    for i in range(len(columns)):
        free[i] = columns[y, i] != 0.0 or required[i, y]


@kernel
def climb(terms: Terms, threshold: float, columns: Matrix, tolerance: float) -> int:
    """Climb in place; row y of `columns` holds the weights into y. Returns the number of changes."""
    allowed, required = terms.allowed, terms.required
    d = len(columns)
    room = room_for(d)
    gradients = np.empty((d, d))
    losses, penalties = np.empty(d), np.empty(d)
    free = np.empty(d, dtype=np.bool_)
    trial_y, trial_x = np.empty(d), np.empty(d)
    slope = np.empty(d)
    reaches = np.empty((d, d), dtype=np.bool_)
    for y in range(d):
        parents_of(columns, required, y, free)
        losses[y], penalties[y] = solve_column(terms, y, free, columns[y], gradients[y], room)
    fill_reach(columns, required, reaches)
    changes, idle, pair = 0, 0, 0
    while idle < d * d:
        x, y = pair // d, pair % d
        pair = (pair + 1) % (d * d)
        idle += 1
        if x == y:
            continue
        loss_x, gain = losses[x], 0.0
        if columns[y, x] == 0.0 and not required[x, y]:
            # Add x → y, where x violates the optimality condition of column y.
            if not allowed[x, y] or reaches[y, x] or abs(gradients[y, x]) <= penalties[y]:
                continue
            parents_of(columns, required, y, free)
            free[x] = True
            trial_x[:] = columns[x]
        else:
            # Turn x → y, unless another path leads from x to y.
            if required[x, y] or not allowed[y, x]:
                continue
            detour = False
            for c in range(d):
                if c != y and (columns[c, x] != 0.0 or required[x, c]) and reaches[c, y]:
                    detour = True
                    break
            if detour:
                continue
            parents_of(columns, required, x, free)
            free[y] = True
            trial_x[:] = columns[x]
            loss_x = thin_column(terms, x, free, threshold, trial_x, slope, room)
            parents_of(columns, required, y, free)
            free[x] = False
        trial_y[:] = columns[y]
        loss_y = thin_column(terms, y, free, threshold, trial_y, slope, room)
        gain = losses[x] + losses[y] - loss_x - loss_y
        if gain > tolerance:
            columns[x] = trial_x
            columns[y] = trial_y
            for z in (x, y):
                parents_of(columns, required, z, free)
                losses[z], penalties[z] = solve_column(terms, z, free, columns[z], gradients[z], room)
            fill_reach(columns, required, reaches)
            changes += 1
            idle = 0
    return changes
