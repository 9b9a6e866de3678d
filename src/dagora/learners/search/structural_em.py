"""Structural EM: learn a graph from a table with missing values, in rounds (Friedman 1997, 1998).

Each round fits the parameters of the current graph to the observed values by EM, completes the table from
that network, and learns a graph from the completed table by any method on scores. It ends after some rounds,
or when a graph recurs. The graph with the highest BIC of the observed values is returned, with parameters
fitted by EM: graphs of different rounds are compared on the data, never on completions. For tables with both
kinds of columns the likelihood of networks is not that of the score, of which the first graph is an optimum:
there the last graph is returned whose score on the observed values is finite. Completions may suggest
families that too few rows have observed together; such a graph scores −∞.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite

from dagora.base.budget import OutOfTimeError
from dagora.base.events import Edges, Event
from dagora.graph.cpdag import CPDAG, Graph
from dagora.graph.dag import DAG
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.network.incomplete.filling import Completion, Filling
from dagora.network.incomplete.fitting import TooWideError

Search = Callable[[Completion, Run], Outcome]


@dataclass(frozen=True)
class EmRound:
    """A graph, and its score on the observed values."""

    graph: Graph
    score: float

    def edges(self) -> Edges:
        """Its edges; of a class of graphs, those of a member."""
        return some_member(self.graph).edges


def structural_em(start: Outcome, filling: Filling, search: Search, run: Run, rounds: int) -> Outcome:
    """Improve a graph in rounds; `search` learns a graph from a completed table."""
    silent = replace(run, on_event=lambda event: run.on_event(replace(event, score=None, bound=None)))
    tried: list[EmRound] = []
    if not run.budget.left:
        return start
    graph, why = start.plain_graph, "the rounds were used up"
    for turn in range(rounds + 1):
        try:
            score = filling.fit(some_member(graph), run.budget)
        except TooWideError:
            why = "the next graph is too wide"
            break
        except OutOfTimeError:
            why = run.budget.reason
            break
        back = any(graph == before.graph for before in tried)
        tried.append(EmRound(graph, score))
        best = best_round(tried, comparable=filling.comparable)
        run.on_event(Event("structural EM", turn, best.score, rounds, edges=best.edges))
        if back:
            why = "a graph came back"
        if back or turn == rounds:
            break
        if run.budget.exhausted:
            why = run.budget.reason
            break
        graph = search(filling.complete(turn), silent).plain_graph
    if not tried:
        late = run.budget.exhausted
        why = run.budget.reason if late else "the graph is too wide for structural EM"
        status = "time-limit" if late else start.status
        return replace(start, status=status, message=f"{start.message}; {why}")
    best = best_round(tried, comparable=filling.comparable)
    return Outcome(
        best.graph,
        "time-limit" if run.budget.exhausted else "finished",
        f"structural EM in {len(tried) - 1} round{'s' * (len(tried) != 2)}, until {why}"
        f"{'; ' * bool(filling.note)}{filling.note}",
        best.score,
        {"em_rounds": float(len(tried) - 1), "em_start_score": tried[0].score},
    )


def some_member(graph: Graph) -> DAG:
    """A graph to fit parameters to: of a class of graphs, one of its members."""
    return graph.extension() if isinstance(graph, CPDAG) else graph


def best_round(tried: list[EmRound], *, comparable: bool) -> EmRound:
    """The round with the highest score or, where scores cannot be compared, the last with a finite one."""
    finite = [one for one in tried if isfinite(one.score)]
    if comparable or not finite:
        return max(tried, key=lambda one: one.score)
    return finite[-1]
