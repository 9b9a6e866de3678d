"""The frame of the exact methods: they solve one component after the other, each from a good first order.

Every component of the candidate-parent graph first gets an order by local search. A solver then proves it
optimal or finds a better one. Where time or memory runs out before that, the best orders found make the
answer, and the sum of the components' bounds says how far it can be from the optimum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import Budget
from dagora.base.events import Edges, Event
from dagora.graph.dag import DAG
from dagora.kernels.random import random_state
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.learners.search.alarm import Alarm, never_stop
from dagora.learners.search.components import LocalProblem, Order, components, feasible_order, reason_cyclic
from dagora.learners.search.order.moves import descend, effort_of, iterate

# A round of local search: variables times sets times disturbances. It takes some milliseconds.
WORK_A_ROUND = 2_000_000


@dataclass(frozen=True)
class ComponentAnswer:
    """The best order found of a component, a bound on the score of any order, and how the search ended.

    The status is `optimal`, `time-limit` or `memory-limit`.
    """

    order: Order
    bound: float
    status: str
    stats: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Watch:
    """A solver's view of the run: its clock and its observer.

    Scores and bounds of the other components are added to those of the solver's own before they are reported.
    `edges` makes the edges of the whole graph from the order of the solver's own component.
    """

    run: Run
    phase: str
    other_scores: float
    other_bounds: float
    edges: Callable[[Order], Edges] | None = None

    @property
    def exhausted(self) -> bool:
        """True if the run's budget is exhausted."""
        return self.run.budget.exhausted

    def report(
        self, step: int, score: float, bound: float, order: Callable[[], Order], total: int | None = None
    ) -> None:
        """Report the progress of the component's search as that of the whole problem.

        `order` makes the best order so far, whose graph has that score, if anybody asks.
        """
        edges = self.edges
        self.run.on_event(
            Event(
                self.phase,
                step,
                score=self.other_scores + score,
                total=total,
                bound=self.other_bounds + bound,
                edges=None if edges is None else lambda: edges(order()),
            )
        )


Solver = Callable[[LocalProblem, Order, Watch], ComponentAnswer]


def solve_exactly(
    candidates: Candidates, run: Run, solver: Solver, phase: str, refuse: Callable[[int], str], effort: int
) -> Outcome:
    """Solve all components and combine their answers.

    `refuse` returns why a component of some size cannot be solved, or an empty text. The local search before
    the solver ends after `effort` disturbances per variable in a row that gain nothing.
    """
    start, stuck = feasible_order(candidates)
    if stuck:
        return failure(candidates, reason_cyclic(candidates))
    parts = components(candidates)
    obstacle = refuse(max(len(part) for part in parts))
    if obstacle:
        return failure(candidates, obstacle)
    whole = LocalProblem.whole(candidates)
    problems = [whole.restrict(part) for part in parts]
    place = np.argsort(start)
    answers = []
    for problem in problems:
        order = np.argsort(place[list(problem.members)])
        if len(problem) > 1:
            order = quick_order(problem, order, run, effort * len(problem))
        answers.append(first_answer(problem, order))
    scores = [problem.score(answer.order) for problem, answer in zip(problems, answers, strict=True)]
    for k, problem in enumerate(problems):
        if answers[k].status != "optimal" and run.budget.left > 0.0:
            watch = watch_of(candidates, run, phase, problems, scores, answers, k)
            answers[k] = solver(problem, answers[k].order, watch)
            scores[k] = problem.score(answers[k].order)
    return outcome_of(candidates, run, phase, problems, answers)


def first_answer(problem: LocalProblem, order: Order) -> ComponentAnswer:
    """An order as the answer until a solver has a better one; optimal where it reaches the bound."""
    score = problem.score(order)
    if score >= problem.bound - problem.tie():
        return ComponentAnswer(order, score, "optimal")
    return ComponentAnswer(order, problem.bound, "time-limit")


def watch_of(
    candidates: Candidates,
    run: Run,
    phase: str,
    problems: list[LocalProblem],
    scores: list[float],
    answers: list[ComponentAnswer],
    k: int,
) -> Watch:
    """The watch of component k: the scores, bounds and edges of the others are added to its own."""
    others = (answer.bound for i, answer in enumerate(answers) if i != k)

    def edges(order: Order) -> Edges:
        orders = [order if i == k else answer.order for i, answer in enumerate(answers)]
        return candidates.graph(chosen_rows(problems, orders)).edges

    return Watch(run, phase, sum(scores[:k] + scores[k + 1 :]), sum(others), edges)


def quick_order(problem: LocalProblem, start: Order, run: Run, patience: int) -> Order:
    """A good order by iterated local search, until `patience` disturbances in a row gain nothing.

    One descent is always made, even where no time is left, unless it would take long.
    """
    state = random_state(run.seed)
    order = start.copy()
    if len(problem) * len(problem.scores) <= WORK_A_ROUND:
        best = descend(problem.flat, order, state, problem.tie(), never_stop())
    else:
        with Alarm(run.budget) as stop:
            best = descend(problem.flat, order, state, problem.tie(), stop)
    return improve_order(problem, order, best, state, patience, run.budget)


def improve_order(
    problem: LocalProblem,
    order: Order,
    score: float,
    state: NDArray[np.uint64],
    patience: int,
    budget: Budget,
    *,
    most: int | None = None,
    report: Callable[[float, Order], None] | None = None,
) -> Order:
    """The best order seen by iterated local search from an order with that score.

    The search ends after `patience` disturbances in a row without a gain, after about `most` disturbances in
    all, at the problem's bound, or with the budget. After every round of some milliseconds `report` gets
    the best score and its order, which the next round changes in place.
    """
    tolerance = problem.tie()
    if budget.left <= 0.0 or score >= problem.bound - tolerance:
        return order
    here, best_order, best = order.copy(), order.copy(), score
    kicks = max(1, min(patience, WORK_A_ROUND // (len(problem) * len(problem.scores))))
    idle = made = 0
    with Alarm(budget) as stop:
        while idle < patience and (most is None or made < most) and best < problem.bound - tolerance:
            if budget.exhausted:
                break
            top = iterate(
                problem.flat, here, best_order, best, state, tolerance, kicks, np.zeros(1), effort_of(), stop
            )
            idle = 0 if top > best else idle + kicks
            best = top
            made += kicks
            if report is not None:
                report(best, best_order)
    return best_order


def outcome_of(
    candidates: Candidates, run: Run, phase: str, problems: list[LocalProblem], answers: list[ComponentAnswer]
) -> Outcome:
    """Combine the components' answers into one outcome."""
    choice = chosen_rows(problems, [answer.order for answer in answers])
    score = float(candidates.flat.scores[choice].sum())
    statuses = {answer.status for answer in answers}
    status = next((name for name in ("memory-limit", "time-limit") if name in statuses), "optimal")
    bound = score if status == "optimal" else max(score, sum(answer.bound for answer in answers))
    stats: Counter[str] = Counter()
    for answer in answers:
        stats.update(answer.stats)
    stats.update(components=len(problems), largest_component=max(len(p) for p in problems))
    numbers = {key: float(value) for key, value in stats.items()}
    if candidates.complete:  # else sets that were not looked at may be better than any bound
        numbers |= {"bound": bound, "gap": bound - score}
    message = describe(candidates, run, phase, status, len(problems), bound - score)
    return Outcome(candidates.graph(choice), status, message, score, numbers)


def chosen_rows(problems: list[LocalProblem], orders: list[Order]) -> NDArray[np.int64]:
    """For each column, the flat row of the best set that the order of its component permits."""
    choice: NDArray[np.int64] = np.empty(sum(map(len, problems)), dtype=np.int64)
    for problem, order in zip(problems, orders, strict=True):
        choice[list(problem.members)] = problem.rows[problem.choose(order)]
    return choice


def describe(candidates: Candidates, run: Run, phase: str, status: str, parts: int, gap: float) -> str:
    """Say in a sentence how the search ended."""
    among = "" if candidates.complete else " among the candidate parent sets, which are incomplete"
    if status == "optimal":
        over = "" if parts == 1 else f" over {parts} components"
        return f"no network scores higher{among}: proved by {phase}{over}"
    why = run.budget.reason if status == "time-limit" else "the memory limit was reached"
    return f"{why}; the best graph found is returned, at most {gap:.6g} below the optimum{among}"


def failure(candidates: Candidates, message: str) -> Outcome:
    """The outcome where no network can be returned; its graph is the empty one."""
    return Outcome(DAG(candidates.names), "failed", message)
