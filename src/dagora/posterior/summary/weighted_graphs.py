"""A weighted sample of graphs: the base of `Posterior` and of `Strengths`.

Graphs that occur several times are evaluated once. A subclass has the graphs, the weight of each, and the
standard error of a mean.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.base.files import json_text
from dagora.base.notebook import NotebookView
from dagora.graph.cpdag import CPDAG, Graph
from dagora.graph.dag import DAG
from dagora.graph.equivalence import cpdag_matrix
from dagora.graph.metrics import align
from dagora.graph.named_graph import find_node
from dagora.learners.result_json import from_json_text
from dagora.posterior.summary.accuracy import metric, read_as
from dagora.posterior.summary.features import DistinctGraphs, Estimate

Floats = NDArray[np.float64]
Marks = NDArray[np.bool_]
G = TypeVar("G", DAG, Graph)


@dataclass(frozen=True, eq=False, kw_only=True)
class WeightedGraphs(NotebookView, ABC, Generic[G]):
    """Graphs with weights: shares of graphs and of classes, means of features and of metrics."""

    score_name: str | None = None
    seconds: float = 0.0
    seed: int = 0
    stats: Mapping[str, float] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    described: ClassVar[str]  # in errors: "the text is not {described} in JSON"

    @property
    @abstractmethod
    def _distinct(self) -> DistinctGraphs: ...  # and which of them each draw is

    @property
    @abstractmethod
    def _mass(self) -> tuple[NDArray[np.int64] | Floats, float]: ...  # of each distinct graph, and of all

    @abstractmethod
    def _need_graphs(self) -> None: ...  # raises an error if there are none

    @abstractmethod
    def _graph(self, position: int) -> G: ...  # one of the distinct graphs

    @abstractmethod
    def _class_of(self, graph: Marks) -> Marks: ...  # the marks of its equivalence class

    @abstractmethod
    def _estimate(self, values: Floats) -> Estimate: ...  # the weighted mean of a value per distinct graph

    @abstractmethod
    def _named_feature(self, feature: str, about: tuple[str | Graph, ...]) -> Estimate: ...

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """JSON form."""

    @classmethod
    @abstractmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Undo `to_dict`."""

    @cached_property
    def _classes(self) -> tuple[NDArray[np.int64], list[Marks]]:
        """The class of each distinct graph as a position, and the marks of each class."""
        found: dict[bytes, int] = {}
        classes: list[Marks] = []
        labels = np.zeros(len(self._distinct), dtype=np.int64)
        for where, stack in self._distinct.matrices():
            for position, graph in enumerate(stack, start=where.start):
                marks = self._class_of(graph)
                labels[position] = found.setdefault(marks.tobytes(), len(classes))
                if labels[position] == len(classes):
                    classes.append(marks)
        return labels, classes

    def graphs(self, most: int | None = None) -> list[tuple[G, float]]:
        """The distinct graphs with their shares of the weight, largest first; at most `most`."""
        mass, total = self._mass
        order = np.argsort(-mass, kind="stable")[:most]
        return [(self._graph(int(k)), float(mass[k] / total)) for k in order]

    def classes(self, most: int | None = None) -> list[tuple[CPDAG, float]]:
        """The equivalence classes with their shares of the weight, largest first; at most `most`."""
        labels, classes = self._classes
        mass, total = self._mass
        sums = np.bincount(labels, mass, minlength=len(classes))
        order = np.argsort(-sums, kind="stable")[:most]
        return [(CPDAG.from_numpy(classes[k], self._distinct.names), float(sums[k] / total)) for k in order]

    def feature(self, feature: str | Callable[[G], float], *about: str | Graph) -> Estimate:
        """Mean of a feature: a function of a graph, or a name and what it is about.

        `feature("edge", "a", "b")`, and so the other names of `pair_probability`;
        `feature(lambda graph: len(graph.edges))` is the expected number of edges. For a `Posterior`,
        `feature("cpdag", graph)` is the probability of a graph's equivalence class.
        """
        self._need_graphs()
        return self._named_feature(feature, about) if isinstance(feature, str) else self._mean_of(feature)

    def _mean_of(self, measure: Callable[[G], float]) -> Estimate:
        return self._estimate(np.array([float(measure(self._graph(k))) for k in range(len(self._distinct))]))

    def _two_nodes(self, feature: str, about: tuple[str | Graph, ...]) -> list[int]:
        """The positions of the two variables that a feature is about."""
        if len(about) != 2 or not all(isinstance(node, str) for node in about):
            raise OptionError(f"the feature {feature} is about two variables: feature('{feature}', 'a', 'b')")
        index = {name: position for position, name in enumerate(self._distinct.names)}
        return [find_node(index, str(node)) for node in about]

    def _align(self, graph: Graph) -> Graph:
        """The graph with its nodes in our order; other variables are refused."""
        names = self._distinct.names
        align(DAG(names), graph)
        return graph if graph.nodes == names else graph.reorder(names)

    def expected(
        self, measure: str | Callable[[G, Graph], float], truth: Graph, *, on: str = "dag"
    ) -> Estimate:
        """Mean of a metric (shd, correct, wrong, tpr, ...), or of a function of graph and truth.

        `on` says what is compared: the graphs themselves (`dag`), their `skeleton`s, or their classes
        (`cpdag`).
        """
        self._need_graphs()
        known = self._align(truth)
        if not isinstance(measure, str):
            return self._mean_of(lambda graph: measure(graph, known))
        marks = known.to_numpy()
        if on == "cpdag":
            # A true CPDAG already is its class.
            true_class = cpdag_matrix(marks) if isinstance(known, DAG) else marks
            labels, classes = self._classes
            return self._estimate(metric(measure, np.array(classes), true_class)[labels])
        true_marks = read_as(on, marks[None])[0]
        return self._estimate(
            self._distinct.values(lambda graphs: metric(measure, read_as(on, graphs), true_marks))
        )

    def expected_shd(self, truth: Graph, *, on: str = "dag") -> Estimate:
        """Mean structural Hamming distance; a reversed edge counts 1."""
        return self.expected("shd", truth, on=on)

    def expected_tp(self, truth: Graph, *, on: str = "dag") -> Estimate:
        """Mean number of edges that are in the truth, with their direction."""
        return self.expected("correct", truth, on=on)

    def expected_fp(self, truth: Graph, *, on: str = "dag") -> Estimate:
        """Mean number of edges that are not in the truth, or in the other direction."""
        return self.expected("wrong", truth, on=on)

    def to_json(self) -> str:
        """JSON text, one object."""
        return json_text(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Undo `to_json`."""
        return from_json_text(text, cls.described, cls.from_dict)
