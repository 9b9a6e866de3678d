"""Frequencies of edges, directions and other features in graphs learned from samples of the rows.

A frequency says how far the learner depends on the rows it happened to get. It is no posterior probability:
a learner that is wrong in the same way on every sample is sure of it. `docs/strengths.md` shows how often
edges of each frequency are true, on networks whose truth is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.base.options import find
from dagora.base.wording import render_fields
from dagora.graph.bits import Rows
from dagora.graph.cpdag import CPDAG, Graph
from dagora.graph.dag import DAG
from dagora.graph.equivalence import cpdag_matrix
from dagora.graph.interventions import directed_by_regimes, separated_by_regimes
from dagora.graph.lagged_graph import present_step
from dagora.posterior.resample.agreed_graph import agreed_class, agreed_dag
from dagora.posterior.summary.draws_json import parent_lists, parent_rows
from dagora.posterior.summary.features import PAIRS, DistinctGraphs, Estimate, distinct_graphs
from dagora.posterior.summary.weighted_graphs import WeightedGraphs

Floats = NDArray[np.float64]
Marks = NDArray[np.bool_]

COMPELLED = "compelled"
OF_ANY_GRAPH = ("edge", "adjacent", COMPELLED)


@dataclass(frozen=True, eq=False)
class Strengths(WeightedGraphs[Graph]):
    """Graphs learned from samples of the rows, with everything needed to judge and to repeat them.

    `marks` holds them as bit rows `[samples, nodes, words]`: bit i of row j is a mark i → j, and an
    undirected edge has both. `directed` says whether they are DAGs, or classes of them.

    >>> import dagora
    >>> rows = {"a": [0, 1] * 20, "b": [0, 1] * 13 + [1, 0] * 7, "c": [0, 0, 1, 0] * 10}
    >>> strengths = dagora.bootstrap(rows, "hill-climb", samples=50, discrete=["all"])
    >>> strengths, strengths.samples
    (Strengths(hill-climb, bic: 50 graphs on 3 nodes, finished), 50)
    >>> strengths.edge_frequency[0].tolist(), strengths.adjacency_frequency[1].tolist()
    ([0.0, 0.5, 1.0], [0.5, 0.0, 0.08])
    >>> strengths.edge_error[0].round(2).tolist(), strengths.compelled_frequency[0].tolist()
    ([0.0, 0.07, 0.0], [0.0, 0.0, 0.02])
    >>> strengths.direction_frequency[2].round(2).tolist()
    [0.0, 0.75, nan]
    >>> strengths.consensus().edges, strengths.consensus(threshold=0.05).edges
    ((('a', 'c'),), (('a', 'b'), ('a', 'c'), ('c', 'b')))
    >>> print(strengths.feature("adjacent", "b", "a"), strengths.feature(lambda graph: len(graph.edges)))
    0.5 ± 0.071 1.58 ± 0.071
    >>> strengths.pair_probability("path").round(2).tolist()[0]
    [0.0, 0.56, 1.0]
    >>> truth = dagora.DAG("abc", [("a", "b"), ("b", "c")])
    >>> print(strengths.expected_shd(truth), strengths.expected_tp(truth), strengths.expected_fp(truth))
    2.48 ± 0.071 0.52 ± 0.071 1.06 ± 0.034
    >>> print(strengths.expected("tpr", truth, on="skeleton"))
    0.29 ± 0.035
    >>> [(graph.edges, share) for graph, share in strengths.graphs(most=1)], len(strengths.classes())
    ([((('a', 'b'), ('a', 'c')), 0.5)], 4)
    >>> strengths.closest().edges
    (('a', 'c'),)
    >>> Strengths.from_json(strengths.to_json()).graphs() == strengths.graphs()
    True
    >>> Strengths.from_dict(strengths.to_dict()).message == strengths.message
    True
    """

    described: ClassVar[str] = "strengths of edges"

    nodes: tuple[str, ...]
    marks: Rows
    directed: bool
    method: str
    status: str
    message: str
    interventions: tuple[tuple[str, ...], ...] = ()
    """The sets of variables that were set from outside in some rows, () for rows in which none was."""

    def __post_init__(self) -> None:
        render_fields(self, "message", "warnings")

    @property
    def samples(self) -> int:
        """Number of graphs: one for each sample that was learned from."""
        return len(self.marks)

    @cached_property
    def _distinct(self) -> DistinctGraphs:
        return distinct_graphs(self.nodes, self.marks[None])

    @cached_property
    def _mass(self) -> tuple[NDArray[np.int64], float]:
        """The number of samples with each distinct graph, and of all."""
        return np.bincount(self._distinct.index.ravel(), minlength=len(self._distinct)), self.samples

    @cached_property
    def _matrices(self) -> Marks:
        """Marks of each distinct graph, `[graphs, nodes, nodes]`."""
        return np.concatenate([np.array(stack) for _, stack in self._distinct.matrices()])

    @cached_property
    def _regimes_apart(self) -> NDArray[np.bool_]:
        """Pairs whose edge shows its direction: by interventions, or because one of them was earlier."""
        return separated_by_regimes(self.nodes, [*self.interventions, *present_step(self.nodes)])

    def _class_of(self, graph: Marks) -> Marks:
        """The marks of the class of a graph; interventions make it smaller."""
        if not self.directed:
            return graph
        return directed_by_regimes(cpdag_matrix(graph), graph, self._regimes_apart)

    def _need_graphs(self) -> None:
        if not self.samples:
            raise OptionError(f"there are no graphs to look at: {self.message}")

    def _sum(self, matrices: Marks | Floats) -> Floats:
        """Sum over samples of a matrix per distinct graph: of ones and halves it is exact."""
        return np.tensordot(self._mass[0].astype(np.float64), matrices.astype(np.float64), axes=1)

    def pair_probability(self, feature: str) -> Floats:
        """Share of the graphs that have a feature, for every pair of nodes, `[a, b]`.

        `edge` a → b, where an undirected edge counts half each way; `adjacent`; `compelled`: all graphs of
        the class have a → b; and for DAGs `path`, `ancestor` and `blanket`, as in `Posterior`.
        """
        self._need_graphs()
        find("feature of two variables", feature, dict.fromkeys((*PAIRS, COMPELLED)))
        return self._sum(self._pairs(feature)) / self.samples

    def _pairs(self, feature: str) -> Marks | Floats:
        """A feature of every pair, for each distinct graph."""
        if not self.directed and feature not in OF_ANY_GRAPH:
            raise OptionError(
                f"the feature {feature} is one of DAGs, and {self.method} returns classes of them: "
                f"ask for {', '.join(OF_ANY_GRAPH)}"
            )
        if feature == "edge":
            marks = self._matrices
            return np.where(marks & marks.transpose(0, 2, 1), 0.5, marks.astype(np.float64))
        if feature == COMPELLED:
            labels, classes = self._classes
            return np.array([marks & ~marks.T for marks in classes])[labels]
        return PAIRS[feature](self._matrices)

    @cached_property
    def edge_frequency(self) -> Floats:
        """Share of the graphs with each edge, [i, j] is i → j; an undirected edge counts half each way."""
        return self.pair_probability("edge")

    @property
    def edge_error(self) -> Floats:
        """Standard error of each edge's frequency: more samples make it smaller, more rows do not."""
        share = self.edge_frequency
        return np.sqrt(share * (1.0 - share) / self.samples)

    @cached_property
    def adjacency_frequency(self) -> Floats:
        """Share of the graphs that join each pair, in any direction or none."""
        return self.pair_probability("adjacent")

    @property
    def direction_frequency(self) -> Floats:
        """Of the graphs that join a pair, the share with i → j; NaN for pairs that none joins."""
        joined = self.adjacency_frequency
        return np.divide(self.edge_frequency, joined, out=np.full_like(joined, np.nan), where=joined > 0)

    @cached_property
    def compelled_frequency(self) -> Floats:
        """Share of the graphs in whose class every DAG has i → j: the data determine the direction."""
        return self.pair_probability(COMPELLED)

    def consensus(self, threshold: float = 0.5) -> Graph:
        """Pairs joined in more than this share of the graphs, in their usual directions; without a cycle.

        A DAG where the graphs are DAGs. For classes, pairs are undirected where most are (`agreed_class`).
        """
        self._need_graphs()
        if self.directed:
            return agreed_dag(self.nodes, self._sum(self._matrices), threshold, self.samples)
        lines = self._sum(self._matrices & ~self._one_way)
        return agreed_class(self.nodes, self._sum(self._one_way), lines, threshold, self.samples)

    def closest(self) -> Graph:
        """The learned graph whose marks differ least from those of all graphs, on average."""
        self._need_graphs()
        share = self._sum(self._matrices) / self.samples
        return self._graph(int(np.tensordot(self._matrices, 2.0 * share - 1.0, axes=2).argmax()))

    @cached_property
    def _one_way(self) -> Marks:
        return self._matrices & ~self._matrices.transpose(0, 2, 1)

    def _graph(self, position: int) -> Graph:
        kind = DAG if self.directed else CPDAG
        return kind.from_numpy(self._matrices[position], self.nodes)

    def classes(self, most: int | None = None) -> list[tuple[CPDAG, float]]:
        """Equivalence classes with their shares, most frequent first; at most `most`."""
        self._need_graphs()
        return super().classes(most)

    def _named_feature(self, feature: str, about: tuple[str | Graph, ...]) -> Estimate:
        self.pair_probability(feature)  # refuses an unknown one
        i, j = self._two_nodes(feature, about)
        return self._estimate(self._pairs(feature)[:, i, j].astype(np.float64))

    def _estimate(self, values: Floats) -> Estimate:
        """Mean over samples of a value per distinct graph."""
        each = values[self._distinct.index.ravel()]
        spread = float(each.std(ddof=1)) if len(each) > 1 else np.nan
        return Estimate(float(each.mean()), spread / np.sqrt(len(each)))

    def to_dict(self, *, graphs: bool = True) -> dict[str, Any]:
        """JSON form, which is also a graph file of the consensus graph; without `graphs` only summaries."""
        content: dict[str, Any] = {key: getattr(self, key) for key in SCALARS}
        content |= {"nodes": list(self.nodes), "samples": self.samples}
        if self.samples:
            agreed = self.consensus()
            content["edges"] = [list(edge) for edge in agreed.edges]
            content["undirected"] = [list(edge) for edge in agreed.undirected]
            content["strengths"] = self._pair_rows()
        content |= {
            "stats": dict(self.stats),
            "settings": dict(self.settings),
            "versions": dict(self.versions),
            "warnings": list(self.warnings),
            "data": dict(self.data),
            "interventions": [list(targets) for targets in self.interventions],
        }
        if graphs:
            content["graphs"] = parent_lists(self._distinct.parents, len(self.nodes))
            content["index"] = self._distinct.index.ravel().tolist()
        return content

    def _pair_rows(self) -> list[dict[str, Any]]:
        """Pairs that some graph joins, the strongest first."""
        joined, edge, sure = self.adjacency_frequency, self.edge_frequency, self.compelled_frequency
        pairs = np.argwhere(np.triu(joined) > 0).tolist()
        return [
            {
                "pair": [self.nodes[i], self.nodes[j]],
                "adjacent": joined[i, j],
                "edge": [edge[i, j], edge[j, i]],
                "compelled": [sure[i, j], sure[j, i]],
            }
            for i, j in sorted(pairs, key=lambda at: -joined[at[0], at[1]])
        ]

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Strengths:
        """Undo `to_dict`."""
        distinct = parent_rows(content["graphs"], len(content["nodes"]))
        return cls(
            nodes=tuple(content["nodes"]),
            marks=distinct[np.array(content["index"], dtype=np.int64)],
            warnings=tuple(content["warnings"]),
            interventions=tuple(tuple(targets) for targets in content["interventions"]),
            **{key: content[key] for key in (*SCALARS, "stats", "settings", "versions", "data")},
        )

    def __repr__(self) -> str:
        score = "" if self.score_name is None else f", {self.score_name}"
        kind = f"{self.samples} {'graphs' if self.directed else 'classes of graphs'}"
        return f"Strengths({self.method}{score}: {kind} on {len(self.nodes)} nodes, {self.status})"


# Fields that the JSON form holds under the same name and as they are.
SCALARS = ("method", "score_name", "status", "message", "directed", "seconds", "seed")


def account_of(strengths: Strengths) -> dict[str, Any]:
    """The part of a result file about the strengths of its edges."""
    content = strengths.to_dict(graphs=False)
    kept = ("status", "message", "samples", "edges", "undirected", "strengths", "warnings", "seconds")
    return {
        **{key: content[key] for key in kept if key in content},
        "resample": strengths.settings["resample"],
    }
