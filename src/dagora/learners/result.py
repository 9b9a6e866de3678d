"""The result that the user gets: an outcome with its circumstances, which goes to JSON and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import GraphError
from dagora.base.files import json_text
from dagora.base.notebook import NotebookView
from dagora.base.phrases import amount
from dagora.base.wording import render_fields
from dagora.graph.ancestral.pag import PAG
from dagora.graph.any_graph import AnyGraph, without_pag
from dagora.graph.cpdag import CPDAG, Graph
from dagora.graph.dag import DAG, Edge
from dagora.graph.directions import Directions, directions_of, name_weak, without_arrows
from dagora.graph.interventions import interventional_cpdag, shown_by_interventions
from dagora.graph.knowledge import Knowledge
from dagora.graph.knowledge_in_time import knowledge_in_time
from dagora.graph.lagged_graph import LaggedGraph
from dagora.graph.picture import Picture
from dagora.learners.outcome import LinkTest, RankedClass, SeparatingSet
from dagora.learners.result_json import SCALARS, as_matrix, classes_of, from_json_text, graph_of, pairs_of


@dataclass(frozen=True)
class TracePoint:
    """The best score after some seconds and steps."""

    seconds: float
    step: int
    score: float


@dataclass(frozen=True, eq=False)
class Result(NotebookView):
    """A learned graph with everything needed to judge and to repeat it.

    >>> import dagora
    >>> table = dagora.Table.from_numpy([[0, 0], [1, 1]] * 20, names=["a", "b"], discrete=["a", "b"])
    >>> result = dagora.learn(table, score="bic")
    >>> result.graph.edges, round(result.score, 2), result.status
    ((('a', 'b'),), -33.26, 'finished')
    >>> result.cpdag.undirected, result.plain_graph == result.graph
    ((('a', 'b'),), True)
    >>> result.open_edges, result.unsure_directions(), result.knowledge.is_empty
    ((('a', 'b'),), [], True)
    >>> result.shown_graph.undirected
    (('a', 'b'),)
    >>> again = Result.from_json(result.to_json())
    >>> again.graph == result.graph, Result.from_dict(result.to_dict()).score == result.score
    (True, True)
    """

    graph: AnyGraph
    method: str
    status: str
    message: str
    score: float | None = None
    score_name: str | None = None
    seconds: float = 0.0
    seed: int = 0
    weights: NDArray[np.float64] | None = None
    trace: tuple[TracePoint, ...] = ()
    stats: Mapping[str, float] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    dropped: tuple[Edge, ...] | None = None
    curves: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    """The reading of the data: file, hash, rows, rows dropped, the type of each column and why."""
    command: str | None = None
    """The command line that made it, where it was one."""
    raw_weights: NDArray[np.float64] | None = None
    """The weights before any threshold or cut, where the method keeps them; they may hold cycles."""
    interventions: tuple[tuple[str, ...], ...] = ()
    """The sets of variables that were set from outside in some rows, () for rows in which none was."""
    class_only: bool = True
    """True if all graphs with the same independences fit the data equally well, so that only what they have
    in common is known. Some methods and scores assume more, and direct every edge by it."""
    edge_gains: Mapping[Edge, float] = field(default_factory=dict)
    """The nats that the score would lose without each edge; empty where that is not known."""
    absent_costs: Mapping[Edge, float] = field(default_factory=dict)
    """The nats that absent edges would cost on whose absence a direction rests, where they are few."""
    unseen_pairs: tuple[Edge, ...] = ()
    """Pairs of which no data show whether they depend: one is seen at a single value of the other."""
    separating_sets: tuple[SeparatingSet, ...] = ()
    """The conditioning sets that make pairs independent, where that was tested, without empty ones."""
    link_tests: Mapping[Edge, LinkTest] = field(default_factory=dict)
    """Of each edge the largest p-value of all tests of it, with the partial correlation; of methods that keep
    them."""
    classes: tuple[RankedClass, ...] = ()
    """The best classes of equivalent networks, best first, where several were asked for."""

    def __post_init__(self) -> None:
        render_fields(self, "message", "warnings")

    @property
    def plain_graph(self) -> Graph:
        """The DAG or CPDAG; raises if the result is a PAG."""
        return without_pag(self.graph, "this")

    @property
    def cpdag(self) -> CPDAG:
        """The class of graphs that fit the data as well as this one.

        Interventions and knowledge make it smaller.
        """
        graph = without_pag(self.graph, "a class of equivalent DAGs")
        if isinstance(graph, CPDAG):
            return graph
        return interventional_cpdag(graph, *self._determining)

    @property
    def _determining(self) -> tuple[Sequence[Sequence[str]], Knowledge]:
        """The regimes and the knowledge that determine directions; in time, of windows."""
        if (in_time := self.lagged_graph) is None:
            return self.interventions, self.knowledge
        return [in_time.variables], knowledge_in_time(self.knowledge, in_time.variables, in_time.lags)

    @property
    def knowledge(self) -> Knowledge:
        """The prior knowledge about the graph."""
        return Knowledge.from_dict(self.settings.get("knowledge", {}))

    @property
    def lagged_graph(self) -> LaggedGraph | None:
        """The graph in time that `graph` is the window of; None where it is not one.

        >>> Result(DAG(["x", "x[t-1]"], [("x[t-1]", "x")]), "dynotears", "finished", "").lagged_graph.edges
        (('x', 'x', 1),)
        """
        return LaggedGraph.of_window(self.graph)

    @cached_property
    def directions(self) -> Directions:
        """The directions that the data do not determine, and what the others rest on.

        >>> Result(DAG("ab", [("a", "b")]), "hill-climb", "finished", "").directions.open
        (('a', 'b'),)
        >>> Result(DAG("ab", [("a", "b")]), "lingam", "finished", "", class_only=False).directions.open
        ()
        """
        graph = self.graph
        if isinstance(graph, PAG) or not self.class_only:
            return Directions(graph.undirected, assumed_by="" if self.class_only else self.method)
        try:
            found = directions_of(
                graph if isinstance(graph, DAG) else graph.extension(),
                self.edge_gains,
                *self._determining,
                self.absent_costs,
                self.unseen_pairs,
                checked=self.score_name is None or bool(self.edge_gains),
            )
        except GraphError:
            return Directions(graph.undirected)
        found = replace(found, with_knowledge=self.knowledge.directs)
        if isinstance(graph, DAG):
            return found
        directed = frozenset(graph.edges)
        unsure = {edge: weak for edge, weak in found.unsure.items() if edge in directed}
        unchecked = tuple(edge for edge in found.unchecked if edge in directed)
        return replace(found, open=graph.undirected, unsure=unsure, unchecked=unchecked)

    @property
    def open_edges(self) -> tuple[Edge, ...]:
        """The edges whose direction the data do not determine."""
        return self.directions.undetermined

    @property
    def shown_graph(self) -> AnyGraph:
        """The graph with an arrow only where the direction is determined."""
        graph = self.graph
        if isinstance(graph, PAG) or not self.open_edges:
            return graph
        return without_arrows(graph, self.open_edges)

    def describe_directions(self) -> str:
        """A sentence about how many directions are determined, and by what.

        >>> Result(DAG("ab", [("a", "b")]), "hill-climb", "finished", "").describe_directions()
        'the data determine 0 of 1 direction'
        """
        graph = self.graph
        edges = len(graph.edges) + len(graph.undirected)
        if isinstance(graph, PAG) or not edges:
            return ""
        in_time = self.lagged_graph is not None
        if not self.class_only:
            every = "time directs edges from earlier steps, and every other" if in_time else "every"
            return f"{every} direction rests on what {self.method} assumes, not on independences alone"
        determined = f"{edges - len(self.open_edges)} of {amount(edges, 'direction')}"
        words = f"{'time and ' * in_time}{self.directions.determined_by} {determined}"
        if unchecked := len(self.directions.unchecked):
            rest, count = ("it rests", "it counts") if unchecked == 1 else ("they rest", "they count")
            words += (
                f"; of {unchecked} more it is not known whether {rest} on weak edges, so {count} as not "
                "determined"
            )
        if together := self.directions.together:
            words += f"; {together:,} weak edges are too many to be tried one by one, and were tried together"
        return words

    def unsure_directions(self) -> list[str]:
        """A line for each direction that rests on a weak edge, and not on itself alone."""
        unseen = self.directions.unseen
        return [
            f"{tail} → {head} rests on {name_weak(weak, self.edge_gains, self.absent_costs, unseen)}"
            for (tail, head), weak in self.directions.unsure.items()
            if weak != ((tail, head),)
        ]

    def plot(self) -> Picture:
        """The class of graphs that fit equally well: an arrow only where the direction is determined.

        Where strengths of edges or weights are known, they are the width of the lines.

        >>> Result(DAG("ab", [("a", "b")]), "hill-climb", "finished", "").plot().svg[:4]
        '<svg'
        """
        from dagora.graph.drawing import draw_svg

        graph, weights = self.graph, self.weights
        if self.directions.open and not isinstance(graph, PAG):
            # The class, and not `shown_graph`: Markov blankets are read from the signs in the picture.
            graph = self.cpdag
            weights = None if weights is None else np.where(weights == 0, weights.T, weights)
        shown = () if isinstance(graph, PAG) else shown_by_interventions(self.graph, self.interventions)
        weights = None if isinstance(graph, PAG) else weights
        unsure = (*self.directions.unsure, *self.directions.unchecked)
        strengths = self.edge_gains or None
        return Picture(draw_svg(graph, weights=weights, shown=shown, strengths=strengths, unsure=unsure))

    def to_dict(self) -> dict[str, Any]:
        """JSON form; a file of it can also be read as a graph."""
        content: dict[str, Any] = {
            "method": self.method,
            "score_name": self.score_name,
            "score": self.score,
            "status": self.status,
            "message": self.message,
            "nodes": list(self.graph.nodes),
            "edges": [list(edge) for edge in self.graph.edges],
            "undirected": [list(edge) for edge in self.graph.undirected],
            "directed_acyclic": isinstance(self.graph, DAG),
            "seconds": self.seconds,
            "stats": dict(self.stats),
            "settings": dict(self.settings),
            "seed": self.seed,
            "versions": dict(self.versions),
            "warnings": list(self.warnings),
            "data": dict(self.data),
            "command": self.command,
            "trace": [[point.seconds, point.step, point.score] for point in self.trace],
        }
        if isinstance(self.graph, PAG):
            content["marked_edges"] = [list(edge) for edge in self.graph.marked_edges]
        if (in_time := self.lagged_graph) is not None:
            content.update(in_time.to_dict())
        if self.weights is not None:
            content["weights"] = self.weights.tolist()
        if self.raw_weights is not None:
            content["raw_weights"] = self.raw_weights.tolist()
        if self.dropped is not None:
            content["dropped"] = [list(edge) for edge in self.dropped]
        if self.interventions:
            content["interventions"] = [list(targets) for targets in self.interventions]
        if not self.class_only:
            content["class_only"] = False
        if self.open_edges and not isinstance(self.graph, PAG):
            content["directions"] = self.directions.to_dict()
        if self.edge_gains:
            content["edge_gains"] = [[*edge, gain] for edge, gain in self.edge_gains.items()]
        if self.absent_costs:
            content["absent_costs"] = [[*edge, cost] for edge, cost in self.absent_costs.items()]
        if self.unseen_pairs:
            content["unseen_pairs"] = [list(pair) for pair in self.unseen_pairs]
        if self.separating_sets:
            content["separating_sets"] = [
                [found.first, found.second, list(found.given), found.p] for found in self.separating_sets
            ]
        if self.link_tests:
            content["link_tests"] = [[*edge, *test] for edge, test in self.link_tests.items()]
        if self.classes:
            content["classes"] = [one.to_dict(self.classes[0].score) for one in self.classes]
        if self.curves:
            content["curves"] = {name: list(values) for name, values in self.curves.items()}
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Result:
        """Undo `to_dict`."""
        dropped = content.get("dropped")
        return cls(
            graph=graph_of(content),
            weights=as_matrix(content.get("weights")),
            raw_weights=as_matrix(content.get("raw_weights")),
            trace=tuple(TracePoint(*point) for point in content["trace"]),
            warnings=tuple(content["warnings"]),
            dropped=None if dropped is None else tuple((tail, head) for tail, head in dropped),
            curves={name: tuple(values) for name, values in content.get("curves", {}).items()},
            data=content.get("data", {}),
            command=content.get("command"),
            interventions=tuple(tuple(targets) for targets in content.get("interventions", ())),
            class_only=bool(content.get("class_only", True)),
            edge_gains={(tail, head): float(gain) for tail, head, gain in content.get("edge_gains", ())},
            absent_costs={(tail, head): float(cost) for tail, head, cost in content.get("absent_costs", ())},
            unseen_pairs=tuple(pairs_of(content, "unseen_pairs")),
            separating_sets=tuple(
                SeparatingSet(first, second, tuple(given), float(p))
                for first, second, given, p in content.get("separating_sets", ())
            ),
            link_tests={
                (tail, head): LinkTest(float(p), None if value is None else float(value))
                for tail, head, p, value in content.get("link_tests", ())
            },
            classes=tuple(classes_of(content)),
            **{key: content[key] for key in SCALARS},
        )

    def to_json(self) -> str:
        """JSON text, one object."""
        return json_text(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Result:
        """Undo `to_json`."""
        return from_json_text(text, "a result", cls.from_dict)

    def __repr__(self) -> str:
        score = "" if self.score is None else f", {self.score_name} {self.score:.4f}"
        return f"Result({self.method}: {self.graph!r}{score}, {self.status})"
