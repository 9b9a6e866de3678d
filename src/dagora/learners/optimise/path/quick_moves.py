"""Moves along an order that are chosen by estimates and then checked exactly, for many variables.

Evaluating one move exactly takes a lasso for every column that the moved variable x enters or leaves. The
estimates use the solved columns alone, as if no sign changed and no other variable entered or left. For
column y with active set A, K = S_AA⁻¹ and gradient g, the loss changes by

    x leaves:  + w_x² / (2 K_xx)        x enters:  − (|g_x| − λ)² / (2 (S_xx − S_xA K S_Ax))

For the column of x itself, one Cholesky factor of its parents in their order gives the objective for every
number of first parents that remain, and it grows by a row for each parent that is gained. With profiled
variances (see `column_problem`) these changes are divided by the residual variance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.kernels.rows import copy_row
from dagora.learners.optimise.path.column_problem import (
    SMALLEST_RESIDUAL,
    ColumnProblem,
    ColumnWorkspace,
    residual_variance,
    workspace_for,
)
from dagora.learners.optimise.path.order_moves import OrderSolution, find_places, reinsert, solve_in_place
from dagora.scores.gaussian import COLLINEAR
from dagora.scores.lasso_kernels import (
    Matrix,
    Vector,
    extend_factor,
    residual_gradient,
    solve_upper,
    subtract_row,
)


class SavingEstimates(NamedTuple):
    """`savings[y, x]`: estimated decrease of column y's loss if x may be its parent.

    `undo` holds columns from before a move, so that it can be undone.
    """

    savings: Matrix
    undo: Matrix


class QuickMoves:
    """The moves of one order, whose solution they improve in place."""

    def __init__(self, problem: ColumnProblem, at: OrderSolution) -> None:
        d = len(at.order)
        self.problem, self.at = problem, at
        self.estimates = SavingEstimates(np.empty((d, d)), np.empty((d, d)))
        self.prepare()

    def prepare(self) -> None:
        """Estimate the savings of all columns anew, after the solution became another one."""
        prepare_savings(self.problem, self.at, self.estimates.savings)

    def disturb(self, variables: NDArray[np.int64], heights: Vector) -> None:
        """Move variables to random places; `heights` in [0, 1) choose among the places that each may have."""
        disturb(self.problem, self.at, self.estimates, variables, heights)

    def __call__(self, sequence: NDArray[np.int64], tolerance: float, idle: int) -> int:
        """Try to move variables; return how many in a row did not gain, with `idle` before them."""
        return descend_quickly(self.problem, self.at, self.estimates, sequence, tolerance, idle)


@kernel
def estimate_savings(
    problem: ColumnProblem, at: OrderSolution, y: int, savings: Matrix, workspace: ColumnWorkspace
) -> None:
    """Estimate the decrease of column y's loss with x before it, for every x, into row y of `savings`.

    In the example of `order_moves.solve_some` (order a, b) b has the weight 1.5 of a, and S_aa = 1: without
    a it would lose 1.5²/2 = 1.125 more, which is exact here: 2.5 − 1.375.

    >>> from dagora.learners.optimise.path.order_moves import solve_some
    >>> none = np.zeros((2, 2), dtype=bool)
    >>> problem = ColumnProblem(np.array([[1.0, 2.0], [2.0, 5.0]]), ~np.eye(2, dtype=bool), none, 0.5, False)
    >>> at = OrderSolution(np.array([0, 1]), np.zeros((2, 2)), np.zeros((2, 2)), np.zeros(2), np.zeros(2))
    >>> _, savings = solve_some(problem, at, at.order, workspace_for(2)), np.zeros((2, 2))
    >>> estimate_savings(problem, at, 1, savings, workspace_for(2))
    >>> savings.round(9).tolist()
    [[0.0, 0.0], [1.125, 0.0]]
    """
    moments, profile, factor, ridge = problem.moments, problem.profile, workspace.factor, workspace.ridge
    column, gradient, penalty, saved = at.columns[y], at.gradients[y], at.penalties[y], savings[y]
    d = len(column)
    active = np.empty(d, dtype=np.int64)
    size = 0
    for i in range(d):
        saved[i] = 0.0
        if column[i] != 0.0:
            active[size] = i
            size += 1
    size = extend_factor(moments, ridge, active, factor, 0, size)
    floor = SMALLEST_RESIDUAL * moments[y, y]
    scale = max(residual_variance(moments, y, column), floor) if profile else 1.0
    right = np.empty(size)
    for a in range(size):
        # Column a of the factor's inverse; K_aa is the sum of its squares.
        right[:] = 0.0
        right[a] = 1.0
        total = 0.0
        for b in range(a, size):
            value = right[b] / factor[b, b]
            total += value * value
            subtract_row(right[b + 1 :], value, factor[b, b + 1 : size])
        i = active[a]
        saved[i] = column[i] * column[i] / (2.0 * total * scale)
    entering = np.empty(d, dtype=np.int64)
    number = 0
    for i in range(d):
        if column[i] == 0.0 and problem.allowed[i, y] and abs(gradient[i]) - penalty > 1e-9 * penalty:
            entering[number] = i
            number += 1
    # All that could enter go through the factor together, so that the inner loop has no dependence.
    left = np.empty(number)
    solved = np.empty((size, number))
    for k in range(number):
        left[k] = moments[entering[k], entering[k]]
    for a in range(size):
        mine, moment = solved[a], moments[active[a]]
        for k in range(number):
            mine[k] = moment[entering[k]]
        for c in range(a):
            subtract_row(mine, factor[c, a], solved[c])
        for k in range(number):
            mine[k] /= factor[a, a]
            left[k] -= mine[k] * mine[k]
    for k in range(number):
        i = entering[k]
        if left[k] > COLLINEAR * moments[i, i]:
            excess = abs(gradient[i]) - penalty
            saved[i] = excess * excess / (2.0 * left[k] * scale)


@kernel
def own_changes(
    problem: ColumnProblem,
    at: OrderSolution,
    position: int,
    lowest: int,
    highest: int,
    changes: Vector,
    workspace: ColumnWorkspace,
) -> None:
    """Estimate the change of the loss of the variable at `position` for places from `lowest` to `highest`.

    Each place to the right costs more than the one before it, so `highest` should be no further than need be.
    """
    moments, profile, factor, ridge = problem.moments, problem.profile, workspace.factor, workspace.ridge
    order = at.order
    d = len(order)
    x = order[position]
    column, gradient, penalty = at.columns[x], at.gradients[x], at.penalties[x]
    active = np.empty(d, dtype=np.int64)
    size = 0
    for p in range(position):
        if column[order[p]] != 0.0:
            active[size] = order[p]
            size += 1
    size = extend_factor(moments, ridge, active, factor, 0, size)
    z = np.empty(d)
    for a in range(size):
        i = active[a]
        value = moments[x, i] - penalty * np.sign(column[i])
        for c in range(a):
            value -= factor[c, a] * z[c]
        z[a] = value / factor[a, a]
    floor = SMALLEST_RESIDUAL * moments[x, x]
    variance = max(residual_variance(moments, x, column), floor) if profile else 1.0
    lost, left = 0.0, size
    for place in range(position - 1, lowest - 1, -1):
        if left > 0 and order[place] == active[left - 1]:
            left -= 1
            lost += 0.5 * z[left] * z[left]
        changes[place] = 0.5 * np.log(1.0 + 2.0 * lost / variance) if profile else lost
    changes[position] = 0.0
    gained = 0.0
    weights = np.empty(d)
    for a in range(size):
        weights[a] = column[active[a]]
    grown = False
    for place in range(position + 1, highest + 1):
        y = order[place]
        if problem.allowed[y, x]:
            slope = gradient[y]
            if grown:
                slope = -moments[x, y]
                for a in range(size):
                    slope += moments[y, active[a]] * weights[a]
            if abs(slope) > penalty * (1 + 1e-9):
                active[size] = y
                if extend_factor(moments, ridge, active, factor, size, size + 1) > size:
                    value = moments[x, y] + penalty * np.sign(slope)
                    for c in range(size):
                        value -= factor[c, size] * z[c]
                    z[size] = value / factor[size, size]
                    gained += 0.5 * z[size] * z[size]
                    size += 1
                    grown = True
                    copy_row(z[:size], weights)
                    solve_upper(factor, size, weights)
        share = min(2.0 * gained / variance, 0.99)
        changes[place] = 0.5 * np.log(1.0 - share) if profile else -gained


@kernel
def try_move(
    problem: ColumnProblem,
    at: OrderSolution,
    estimates: SavingEstimates,
    x: int,
    tolerance: float,
    workspace: ColumnWorkspace,
) -> float:
    """Move x to the place with the best estimate, and back unless the losses fall; return the gain."""
    position, lowest, highest = find_places(problem, at.order, x)
    place, _ = best_place(problem, at, estimates.savings, position, lowest, highest, tolerance, workspace)
    if place == position:
        return 0.0
    return check_move(problem, at, estimates, position, place, tolerance, workspace)


@kernel
def best_place(
    problem: ColumnProblem,
    at: OrderSolution,
    savings: Matrix,
    position: int,
    lowest: int,
    highest: int,
    tolerance: float,
    workspace: ColumnWorkspace,
) -> tuple[int, float]:
    """The place between `lowest` and `highest` with the best estimate for the variable at `position`.

    The second value is the estimated gain.
    """
    order = at.order
    x = order[position]
    changes = np.zeros(len(order))
    own_changes(problem, at, position, lowest, highest, changes, workspace)
    best, place, passed = 0.0, position, 0.0
    for target in range(position - 1, lowest - 1, -1):
        passed -= savings[order[target], x]
        if passed + changes[target] < best - tolerance:
            best, place = passed + changes[target], target
    passed = 0.0
    for target in range(position + 1, highest + 1):
        passed += savings[order[target], x]
        if passed + changes[target] < best - tolerance:
            best, place = passed + changes[target], target
    return place, -best


@kernel
def check_move(
    problem: ColumnProblem,
    at: OrderSolution,
    estimates: SavingEstimates,
    position: int,
    place: int,
    tolerance: float,
    workspace: ColumnWorkspace,
) -> float:
    """Move the variable and solve the columns that change; undo it unless the losses fall by `tolerance`."""
    order, columns, gradients = at.order, at.columns, at.gradients
    losses, penalties, undo = at.losses, at.penalties, estimates.undo
    d = len(order)
    x = order[position]
    reinsert(order, position, place)
    first, last = min(position, place), max(position, place)
    changed = np.empty(last - first + 1, dtype=np.int64)
    old_losses, old_penalties = np.empty(len(changed)), np.empty(len(changed))
    number = 0
    gain = 0.0
    free = np.zeros(d, dtype=np.bool_)
    before = np.zeros(d, dtype=np.bool_)
    for p in range(first):
        before[order[p]] = True
    for p in range(first, last + 1):
        y = order[p]
        if place < position:
            matters = abs(gradients[y, x]) > penalties[y] * (1 + 1e-9) and problem.allowed[x, y]
        else:
            matters = columns[y, x] != 0.0
        if y == x or matters:
            changed[number] = y
            old_losses[number], old_penalties[number] = losses[y], penalties[y]
            copy_row(columns[y], undo[number])
            solve_in_place(problem, at, y, before, free, workspace)
            gain += old_losses[number] - losses[y]
            number += 1
        before[y] = True
    if gain > tolerance:
        for k in range(number):
            estimate_savings(problem, at, changed[k], estimates.savings, workspace)
        return gain
    reinsert(order, place, position)
    for k in range(number):
        y = changed[k]
        copy_row(undo[k], columns[y])
        losses[y], penalties[y] = old_losses[k], old_penalties[k]
        residual_gradient(problem.moments, y, columns[y], gradients[y])
    return 0.0


@kernel
def disturb(
    problem: ColumnProblem,
    at: OrderSolution,
    estimates: SavingEstimates,
    variables: NDArray[np.int64],
    heights: Vector,
) -> None:
    """Move variables to random places; `heights` in [0, 1) choose among the places that each may have."""
    workspace = workspace_for(len(at.order))
    for k in range(len(variables)):
        position, lowest, highest = find_places(problem, at.order, variables[k])
        place = lowest + int(heights[k] * (highest - lowest + 1))
        if place != position:
            check_move(problem, at, estimates, position, place, -np.inf, workspace)


@kernel
def prepare_savings(problem: ColumnProblem, at: OrderSolution, savings: Matrix) -> None:
    """Estimate the savings of all columns."""
    d = len(at.order)
    workspace = workspace_for(d)
    for y in range(d):
        estimate_savings(problem, at, y, savings, workspace)


@kernel
def descend_quickly(
    problem: ColumnProblem,
    at: OrderSolution,
    estimates: SavingEstimates,
    sequence: NDArray[np.int64],
    tolerance: float,
    idle: int,
) -> int:
    """Try to move the variables of `sequence`, one after the other; return how many in a row did not gain."""
    d = len(at.order)
    workspace = workspace_for(d)
    for x in sequence:
        gain = try_move(problem, at, estimates, x, tolerance, workspace)
        idle = 0 if gain > 0.0 else idle + 1
        if idle >= d:
            break
    return idle
