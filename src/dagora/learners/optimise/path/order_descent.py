"""Improve an order for the NOTEARS program by moving single variables until no move lowers the objective.

The smooth path ends near a good order, which depends on its schedule. Moves evaluated by the exact program
improve it further (as in order searches over scores: Teyssier & Koller 2005, Andrews et al. 2023). Whatever
the order, the weights are exactly acyclic.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Event
from dagora.graph.topological import topological_order
from dagora.learners.optimise.path.column_problem import ColumnProblem
from dagora.learners.optimise.path.exact_moves import ExactMoves
from dagora.learners.optimise.path.order_moves import OrderSolution, solve_some
from dagora.learners.optimise.path.quick_moves import QuickMoves
from dagora.learners.optimise.path.smooth_path import PathProgram
from dagora.learners.optimise.path.wide_moves import WideMoves
from dagora.learners.optimise.path.workers import ALONE, ColumnWorkers
from dagora.learners.optimise.progress import lazy_edges
from dagora.learners.run import Run
from dagora.scores.lasso_kernels import Matrix

# Gains below this share of the objective count as ties.
TOLERANCE = 1e-9
# Variables tried between two checks of the time limit; of many variables, those of a batch.
STRETCH, BATCH = 20, 64
# Up to this many variables the last moves are evaluated exactly; with more, by estimates that are checked.
EXACT_TO = 200
# With more variables, the share of the objective below which gains count as ties, and the number of such
# gains that a round over all variables must bring to be followed by another.
COARSE_TOLERANCE, WORTH_A_ROUND = 1e-6, 10
# The largest number of variables that one disturbance moves.
MOST_DISTURBED = 4


def solve_given_order(
    program: PathProgram,
    order: NDArray[np.int64],
    weights: Matrix,
    criterion: ColumnProblem | None = None,
    workers: ColumnWorkers = ALONE,
) -> OrderSolution:
    """Solve the program for one order, starting from any weights.

    Losses of columns are those of `criterion`, by default without a threshold.
    """
    d = len(program)
    solution = OrderSolution(
        order.astype(np.int64), weights.T.copy(), np.zeros((d, d)), np.zeros(d), np.zeros(d)
    )
    problem = criterion or program.column_problem

    def solve(part: NDArray[np.int64]) -> None:
        solve_some(problem, solution, part, workers.workspace(d))

    workers.map(solve, workers.parts(solution.order[program.exogenous :]))
    return solution


def after_exogenous(program: PathProgram, order: NDArray[np.int64]) -> NDArray[np.int64]:
    """An order of the movable columns, with the exogenous ones before it."""
    return np.concatenate([np.arange(program.movable, len(program)), order]).astype(np.int64)


def ignore_optimum(solution: OrderSolution) -> None:
    """Ignore a local optimum."""


def improve_order(
    program: PathProgram,
    solution: OrderSolution,
    run: Run,
    generator: np.random.Generator,
    disturbances: int,
    on_optimum: Callable[[OrderSolution], None] = ignore_optimum,
    workers: ColumnWorkers = ALONE,
) -> tuple[int, bool]:
    """Improve an order in place by moves; disturb the best order `disturbances` times and improve it again.

    Moves are chosen by estimates and checked; the last moves, with up to `EXACT_TO` variables, are evaluated
    exactly. `on_optimum` is called with every order that no such move improves. Returns the number of
    variables tried, and True if the last moves were evaluated exactly. Ends early when time is up.
    """
    d = program.movable
    problem = program.column_problem
    exact = d <= EXACT_TO
    quick: QuickMoves | WideMoves
    if exact:
        quick = QuickMoves(problem, solution)
    else:
        quick = WideMoves(problem, solution, workers, lambda: run.budget.exhausted)
    tried = descend_fully(program, solution, run, generator, quick)
    on_optimum(solution)
    best = solution.copy()
    for _ in range(disturbances):
        if run.budget.exhausted:
            break
        number = int(generator.integers(1, MOST_DISTURBED + 1))
        variables = generator.choice(d, size=min(d, number), replace=False)
        quick.disturb(variables, generator.random(len(variables)))
        tried += descend_fully(program, solution, run, generator, quick)
        on_optimum(solution)
        if solution.objective < best.objective - smallest_gain(program, best):
            best = solution.copy()
        else:
            solution.become(best)
            quick.prepare()
    solution.become(best)
    if exact:
        tried += descend_fully(program, solution, run, generator, ExactMoves(problem, solution, workers))
        on_optimum(solution)
    return tried, exact


def improve_after_threshold(
    program: PathProgram,
    solution: OrderSolution,
    run: Run,
    generator: np.random.Generator,
    criterion: ColumnProblem,
    workers: ColumnWorkers = ALONE,
) -> int:
    """Move variables, in place, until no move lowers the objective after the threshold of `criterion`.

    An order that is best with all its small weights need not be best without them. The solution must have
    been solved with the same `criterion`. Returns the number of variables tried.
    """
    return descend_fully(program, solution, run, generator, ExactMoves(criterion, solution, workers))


def smallest_gain(program: PathProgram, solution: OrderSolution) -> float:
    """The smallest decrease that counts as a gain; less is a tie, which rounding must not decide."""
    # A sum of logarithms can be zero, so it does not set a scale; a sum of squares does.
    share = TOLERANCE if program.movable <= EXACT_TO else COARSE_TOLERANCE
    return share * max(1.0 if program.profile else 0.0, abs(solution.objective))


def descend_fully(
    program: PathProgram,
    solution: OrderSolution,
    run: Run,
    generator: np.random.Generator,
    move: Callable[[NDArray[np.int64], float, int], int],
) -> int:
    """Try variables in a random sequence, again and again, until none gains; return the number of tries."""
    d = program.movable
    tolerance = smallest_gain(program, solution)
    tried = idle = 0
    stretch = STRETCH if d <= EXACT_TO else BATCH
    # The sequence is the same in all rounds, so that d tries in a row without a gain are d different
    # variables.
    sequence = generator.permutation(d)
    enough = -np.inf if d <= EXACT_TO else WORTH_A_ROUND * tolerance
    gained = np.inf
    while idle < d and gained > enough and not run.budget.exhausted:
        before = solution.objective
        for start in range(0, d, stretch):
            some = sequence[start : start + stretch]
            idle = move(some, tolerance, idle)
            tried += len(some)
            if idle >= d or run.budget.exhausted:
                break
        gained = before - solution.objective
        edges = lazy_edges(program.edge_maker, lambda: solution.weights)
        run.on_event(Event("moving variables", tried, score=-solution.objective, edges=edges))
    return tried


def obeying_order(preference: NDArray[np.int64], required: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Rearrange an order so that required edges lead forward, and otherwise follow the preference."""
    ranked = required[np.ix_(preference, preference)]
    order = topological_order(ranked)
    if order is None:
        raise ValueError("the required edges have a cycle")
    return preference[order]
