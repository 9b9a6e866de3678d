"""The answer of a learner: the graph, how the search ended, and the rest that it found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.graph.any_graph import AnyGraph, without_pag
from dagora.graph.cpdag import CPDAG, Graph
from dagora.graph.dag import Edge

STATUSES = {
    "optimal": "proved: no graph scores higher",
    "local-optimum": "no single change improves the graph",
    "time-limit": "stopped early; the best graph found is returned",
    "step-limit": "the number of steps was used up; the best graph found is returned",
    "memory-limit": "the memory limit was reached; the best graph found is returned",
    "finished": "the method ran to its end",
    "not-mixed": "the chains ran to their end but disagree: do not rely on the probabilities",
    "stalled": "the method could not reach its goal; what it found is returned",
    "failed": "no graph was found",
}


class SeparatingSet(NamedTuple):
    """Two variables that tests found independent given some others, with the p-value of that test."""

    first: str
    second: str
    given: tuple[str, ...]
    p: float


class LinkTest(NamedTuple):
    """The test of an edge with the largest p-value, and its partial correlation where the test has one."""

    p: float
    value: float | None = None


class RankedClass(NamedTuple):
    """A class of equivalent networks with its score, and the number of DAGs in it where it was counted."""

    graph: CPDAG
    score: float
    dags: int | None = None

    def to_dict(self, best: float) -> dict[str, Any]:
        """JSON form; `best` is the score of the best class, to which the odds compare."""
        return {
            "edges": [list(edge) for edge in self.graph.edges],
            "undirected": [list(edge) for edge in self.graph.undirected],
            "score": self.score,
            "odds": float(np.exp(min(0.0, self.score - best))),
            "dags": self.dags,
        }


@dataclass(frozen=True)
class Outcome:
    """A learner's answer: `message` is a sentence for people, `stats` holds numbers about the work done.

    `curves` are scores along the way that may fall as well as rise, named by their step (an episode).
    `dropped` are the edges removed to make a merged graph acyclic; None where nothing was merged.
    `raw_weights` are the weights before any threshold or cut, where a method keeps them.
    `separating_sets` say why variables are not adjacent, where that was tested, without empty sets.
    `link_tests` are the tests of edges that were kept, where a method keeps them.
    `classes` are the best classes of equivalent networks, where several were asked for.
    """

    graph: AnyGraph
    status: str
    message: str
    score: float | None = None
    stats: Mapping[str, float] = field(default_factory=dict)
    weights: NDArray[np.float64] | None = None
    warnings: tuple[str, ...] = ()
    dropped: tuple[Edge, ...] | None = None
    curves: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    raw_weights: NDArray[np.float64] | None = None
    separating_sets: tuple[SeparatingSet, ...] = ()
    link_tests: Mapping[Edge, LinkTest] = field(default_factory=dict)
    classes: tuple[RankedClass, ...] = ()

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"unknown status {self.status!r}")

    @property
    def plain_graph(self) -> Graph:
        """The DAG or CPDAG; raises if the outcome is a PAG."""
        return without_pag(self.graph, "this")
