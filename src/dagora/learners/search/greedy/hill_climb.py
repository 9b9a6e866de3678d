"""Greedy hill climbing and tabu search over single-edge changes.

From a start graph, make the addition, deletion or reversal that raises the score most, until none does.
Tabu search continues from there: it makes the best change that leads to none of the graphs visited last, even
if the score falls, and stops after `patience` steps in a row without improvement. Restarts change the best
graph by random moves and climb again. (Glover 1989; Heckerman, Geiger & Chickering 1995.)
"""

from __future__ import annotations

from collections import deque

import numpy as np

from dagora.base.events import Edges, Event
from dagora.graph.dag import DAG
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.learners.search.greedy.climber import NO_TABU, Climber
from dagora.learners.search.greedy.moment_climber import MomentClimber
from dagora.learners.search.greedy.neighbour_scores import NeighbourScores
from dagora.scores.local_score import TIE, LocalScore, align

# Graphs that a tabu search does not return to, and steps without improvement after which it ends.
TABU_LENGTH = TABU_PATIENCE = 100
# With more columns than these, a climber that need not keep all gains does not.
WIDE = 100


def hill_climb(
    score: LocalScore,
    run: Run,
    *,
    start: DAG | None = None,
    restarts: int = 0,
    perturb: int | None = None,
    max_steps: int | None = None,
) -> Outcome:
    """Climb to a local optimum, then `restarts` times again from random changes of the best graph."""
    return climb(score, run, start=start, restarts=restarts, perturb=perturb, max_steps=max_steps)


def tabu_search(
    score: LocalScore,
    run: Run,
    *,
    start: DAG | None = None,
    length: int = TABU_LENGTH,
    patience: int = TABU_PATIENCE,
    restarts: int = 0,
    perturb: int | None = None,
    max_steps: int | None = None,
) -> Outcome:
    """Climb, then leave local optima by the least bad change, but not to one of the last `length` graphs."""
    return climb(
        score,
        run,
        start=start,
        length=length,
        patience=patience,
        restarts=restarts,
        perturb=perturb,
        max_steps=max_steps,
    )


def tabu_beside(
    score: LocalScore, run: Run, kept: NeighbourScores | None, start: DAG | None = None
) -> Outcome:
    """Tabu search as it comes, beside others that share what they have scored (see `NeighbourScores`)."""
    return climb(
        score,
        run,
        start=start,
        length=TABU_LENGTH,
        patience=TABU_PATIENCE,
        restarts=0,
        perturb=None,
        max_steps=None,
        kept=kept,
    )


def climb(
    score: LocalScore,
    run: Run,
    *,
    start: DAG | None,
    restarts: int,
    perturb: int | None,
    max_steps: int | None,
    length: int = 0,
    patience: int = 0,
    kept: NeighbourScores | None = None,
) -> Outcome:
    """The loop of both methods: one climb from the start graph, and one after each restart."""
    aligned = None if start is None else align(start, score.schema.names)
    climber = climber_for(score, run, aligned, kept)
    rng = np.random.default_rng(run.seed)
    best = BestGraph(climber)
    steps = 0
    status = "local-optimum"
    for attempt in range(restarts + 1):
        if attempt:
            climber.place(best.graph)
            climber.random_walk(perturb or max(2, len(best.graph) // 10), rng)
            best.update()
        recent: deque[np.uint64] = deque([climber.hash], maxlen=length or None)
        idle = 0
        top = climber.score
        while True:
            if run.budget.exhausted or (max_steps is not None and steps >= max_steps):
                status = "time-limit" if run.budget.exhausted else "step-limit"
                break
            tabu = np.array(recent, dtype=np.uint64) if length else NO_TABU
            if not climber.step(tabu, uphill=patience == 0):
                break
            steps += 1
            recent.append(climber.hash)
            if climber.score > top + TIE * abs(top):
                top, idle = climber.score, 0
            else:
                idle += 1
            best.update()
            run.on_event(Event("climbing", steps, score=best.score, edges=best.edges))
            if patience and idle >= patience:
                break
        if status != "local-optimum":
            break
    stats = {"steps": float(steps), "evaluations": float(climber.evaluations)}
    return Outcome(best.graph, status, describe(status, steps, restarts, run), best.score, stats)


def climber_for(
    score: LocalScore, run: Run, start: DAG | None, kept: NeighbourScores | None
) -> Climber | MomentClimber:
    """A climber that keeps all gains; of many columns, where the score allows that, only the best."""
    wide = len(score.schema) > WIDE and not run.knowledge.ancestral
    form = score.capabilities.pivot_form() if wide else None
    if form is None:
        return Climber(score, run.knowledge, start, run.budget, kept)
    return MomentClimber(score, form, run.knowledge, start, run.budget)


class BestGraph:
    """The best graph that a climber has seen; the climber knows the way back to it."""

    def __init__(self, climber: Climber | MomentClimber) -> None:
        self._climber = climber
        self.score = climber.score

    @property
    def graph(self) -> DAG:
        """The best graph."""
        return self._climber.marked_graph

    def edges(self) -> Edges:
        """Its edges."""
        return self.graph.edges

    def update(self) -> None:
        """Mark the climber's graph if it is better by more than a tie."""
        if self._climber.score > self.score + TIE * abs(self.score):
            self.score = self._climber.score
            self._climber.mark()


def describe(status: str, steps: int, restarts: int, run: Run) -> str:
    """A sentence on how the search ended."""
    if status == "time-limit":
        return f"stopped after {steps} steps: {run.budget.reason}; the best graph found is returned"
    if status == "step-limit":
        return f"stopped at the limit of {steps} steps; the best graph found is returned"
    again = f" and {restarts} restarts" if restarts else ""
    return f"no single change improves the graph, after {steps} steps{again}"
