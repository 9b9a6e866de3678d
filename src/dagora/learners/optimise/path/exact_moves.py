"""Moves along an order that are evaluated exactly: a variable goes to the place with the least sum of losses.

For a variable x this needs the column of every variable y that x may pass, with x before it and without, and
the column of x at every place. Three things make it cheap:

- The saving of x in column y depends on the variables before y alone. It is stored until they change.
- Many places cannot win, and the column of x is not solved there. The loss of a lasso grows with every parent
  that is taken away, and is never below zero: further to the left x loses at least as much as here, and to
  the right it wins at most all it has. A threshold only adds to the loss. (With profiled variances a column
  is solved to a local optimum, and its loss has no such bounds: then every place is tried.)
- Several variables are evaluated on the same state, in threads. The first that gains is moved, and those
  after it are evaluated anew: the moves are those of one thread that tries one variable after the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.learners.optimise.path.column_problem import ColumnProblem, ColumnWorkspace, solve_column_entering
from dagora.learners.optimise.path.order_moves import (
    OrderSolution,
    changed_columns,
    find_places,
    reinsert,
    solve_some,
)
from dagora.learners.optimise.path.thresholding import evaluate_column, has_weak, threshold_column
from dagora.learners.optimise.path.workers import ALONE, ColumnWorkers
from dagora.scores.lasso_kernels import Matrix, Vector

# The most variables that are evaluated ahead of a move, as a multiple of the threads.
FAR_AHEAD = 4


class KnownSavings(NamedTuple):
    """`savings[x, y]`: the decrease of column y's loss with x before it.

    It is valid while `made[x, y]` is `versions[y]`, which changes with the variables before y.
    """

    savings: Matrix
    made: NDArray[np.int64]
    versions: NDArray[np.int64]


class ExactMoves:
    """The moves of one order, whose solution they improve in place."""

    def __init__(self, problem: ColumnProblem, at: OrderSolution, workers: ColumnWorkers = ALONE) -> None:
        d = len(at.order)
        self.problem, self.at, self.workers = problem, at, workers
        self.known = KnownSavings(
            np.zeros((d, d)), np.zeros((d, d), dtype=np.int64), np.ones(d, dtype=np.int64)
        )
        self.ahead = workers.jobs

    def __call__(self, sequence: NDArray[np.int64], tolerance: float, idle: int) -> int:
        """Try to move variables one after the other; return how many in a row did not gain.

        `idle` is that number before the call; the descent has converged when it reaches the number of
        variables.
        """
        start = 0
        while start < len(sequence):
            some = sequence[start : start + self.ahead].tolist()
            best_places = self.workers.map(lambda x: self.evaluate(x, tolerance), some)
            for x, (place, change) in zip(some, best_places, strict=True):
                start += 1
                if change < 0.0 and self.move(x, place):
                    idle, self.ahead = 0, self.workers.jobs
                    break
                idle += 1
                if idle >= len(self.at.order):
                    return idle
            else:
                if self.workers.jobs > 1:
                    self.ahead = min(2 * self.ahead, FAR_AHEAD * self.workers.jobs)
        return idle

    def evaluate(self, x: int, tolerance: float) -> tuple[int, float]:
        """The best place of x, and the change of the sum of losses; (its place, 0) if it gains nowhere."""
        workspace = self.workers.workspace(len(self.at.order))
        return evaluate_places(self.problem, self.at, self.known, x, tolerance, workspace)

    def move(self, x: int, place: int) -> bool:
        """Move a variable, solve the columns that change, and mark all with other variables before them.

        With profiled variances a column may end in another optimum than when it was evaluated. A move that
        does not lower the sum of losses is undone, so the moves come to an end.
        """
        at, order = self.at, self.at.order
        position, _, _ = find_places(self.problem, order, x)
        changed = changed_columns(self.problem, at, position, place)
        before = [rows[changed].copy() for rows in at[1:]]
        objective = at.objective
        reinsert(order, position, place)
        solve_some(self.problem, at, changed, self.workers.workspace(len(order)))
        if at.objective < objective:
            self.known.versions[order[min(position, place) : max(position, place) + 1]] += 1
            return True
        reinsert(order, place, position)
        for rows, were in zip(at[1:], before, strict=True):
            rows[changed] = were
        return False


@kernel
def saving_in(
    problem: ColumnProblem,
    at: OrderSolution,
    known: KnownSavings,
    rank: NDArray[np.int64],
    x: int,
    y: int,
    workspace: ColumnWorkspace,
) -> float:
    """The decrease of column y's loss with x before it, compared with x after it."""
    if known.made[x, y] == known.versions[y]:
        return float(known.savings[x, y])
    d = len(rank)
    left = rank[y] < rank[x]
    if left:
        touched = abs(at.gradients[y, x]) > at.penalties[y] * (1 + 1e-9) and problem.allowed[x, y]
    else:
        touched = at.columns[y, x] != 0.0
    saving = 0.0
    if touched:
        free = np.empty(d, dtype=np.bool_)
        for i in range(d):
            free[i] = rank[i] < rank[y] and problem.allowed[i, y]
        free[x] = left
        trial, slope = at.columns[y].copy(), at.gradients[y].copy()
        # A profiled column has several optima: begun as when the move is made, it ends in the same one.
        newcomer = x if left and not problem.profile else -1
        loss, _ = evaluate_column(problem, y, free, trial, slope, workspace, newcomer)
        saving = at.losses[y] - loss if left else loss - at.losses[y]
    known.savings[x, y], known.made[x, y] = saving, known.versions[y]
    return float(saving)


@kernel
def evaluate_places(
    problem: ColumnProblem,
    at: OrderSolution,
    known: KnownSavings,
    x: int,
    tolerance: float,
    workspace: ColumnWorkspace,
) -> tuple[int, float]:
    """The place of x with the smallest sum of losses, and the change of that sum, if it falls by `tolerance`.

    In the example of `order_moves.solve_some`, the order b, a has the losses 2.5 of b and ½·(1 − 2·0.3·2 +
    0.3²·5) + 0.5·0.3 = 0.275 of a. Moving either variable gives the order a, b and gains 2.775 − 1.875 = 0.9.

    >>> from dagora.learners.optimise.path.column_problem import workspace_for
    >>> none = np.zeros((2, 2), dtype=bool)
    >>> problem = ColumnProblem(np.array([[1.0, 2.0], [2.0, 5.0]]), ~none, none, 0.5, profile=False)
    >>> at = OrderSolution(np.array([1, 0]), np.zeros((2, 2)), np.zeros((2, 2)), np.zeros(2), np.zeros(2))
    >>> solve_some(problem, at, at.order, workspace_for(2))
    >>> before = float(at.losses.sum())
    >>> place, change = ExactMoves(problem, at).evaluate(1, 1e-9)
    >>> round(before, 9), place, round(change, 9)
    (2.775, 1, -0.9)
    """
    order, losses = at.order, at.losses
    d = len(order)
    position, lowest, highest = find_places(problem, order, x)
    rank = np.empty(d, dtype=np.int64)
    for p in range(d):
        rank[order[p]] = p
    # The change of the losses of the passed columns, for every place of x.
    passed = np.zeros(d)
    for p in range(position - 1, lowest - 1, -1):
        passed[p] = passed[p + 1] - saving_in(problem, at, known, rank, x, order[p], workspace)
    plain = not problem.profile and problem.threshold == 0.0 and problem.exogenous_threshold == 0.0
    for p in range(position + 1, highest + 1):
        passed[p] = passed[p - 1] + saving_in(problem, at, known, rank, x, order[p], workspace)
        if plain and passed[p] >= losses[x]:
            highest = p - 1
            break
    best, place = 0.0, position
    for direction in (-1, 1):
        end = lowest if direction < 0 else highest
        change, target = own_places(problem, at, passed, position, end, best, tolerance, workspace)
        if target >= 0:
            best, place = change, target
    return place, best


@kernel
def own_places(
    problem: ColumnProblem,
    at: OrderSolution,
    passed: Vector,
    position: int,
    end: int,
    best: float,
    tolerance: float,
    workspace: ColumnWorkspace,
) -> tuple[float, int]:
    """Solve the column of the variable at `position` at places on the way to `end`; the best change there.

    A place is returned only if its change is below `best` by more than the tolerance, otherwise −1; of places
    that are equally good up to rounding, the first one.
    """
    order, allowed = at.order, problem.allowed
    d = len(order)
    x = order[position]
    direction = 1 if end > position else -1
    # The least that passed columns can lose at a place or beyond it.
    least = np.empty(d)
    ahead = np.inf
    for target in range(end, position, -direction):
        ahead = min(ahead, passed[target])
        least[target] = ahead
    free = np.zeros(d, dtype=np.bool_)
    for p in range(position):
        free[order[p]] = allowed[order[p], x]
    trial, slope = at.columns[x].copy(), at.gradients[x].copy()
    own = penalised_loss(problem, x, trial, slope) if not problem.profile else -np.inf
    penalty, loss_after, is_evaluated = at.penalties[x], at.losses[x], True
    place = -1
    for target in range(position + direction, end + direction, direction):
        bound = own if direction < 0 else 0.0
        if not problem.profile and least[target] + bound - at.losses[x] >= best:
            break
        y = order[target]
        if direction < 0:
            free[y] = False
            again, newcomer = trial[y] != 0.0, -1
        else:
            free[y] = allowed[y, x]
            again = free[y] and abs(slope[y]) > penalty * (1 + 1e-9)
            newcomer = -1 if problem.profile else y
        if again:
            own, penalty = solve_column_entering(problem, x, free, trial, slope, workspace, newcomer)
            is_evaluated = False
        if not is_evaluated and passed[target] + own - at.losses[x] < best - tolerance:
            loss_after = own
            if has_weak(problem, x, trial):
                loss_after = threshold_column(problem, x, own, trial.copy(), workspace)
            is_evaluated = True
        if is_evaluated and passed[target] + loss_after - at.losses[x] < best - tolerance:
            best, place = passed[target] + loss_after - at.losses[x], target
    return best, place


@kernel
def penalised_loss(problem: ColumnProblem, child: int, weights: Vector, gradient: Vector) -> float:
    """Half the residual variance and the penalty of a column of least squares, given its gradient."""
    loss = problem.moments[child, child]
    absolute = 0.0
    for i in range(len(weights)):
        if weights[i] != 0.0:
            loss += weights[i] * (gradient[i] - problem.moments[child, i])
            absolute += abs(weights[i])
    return float(0.5 * max(loss, 0.0) + problem.lambda1 * absolute)
