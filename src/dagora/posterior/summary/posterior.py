"""A posterior over graphs as the user gets it: draws, probabilities of edges and features, and their errors.

Every probability is a weighted mean over the draws. If a sampler knows edge probabilities exactly, those are
used. Standard errors take the autocorrelation of the chains into account.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.base.files import json_text
from dagora.base.notebook import Shown
from dagora.graph.bits import unpack
from dagora.graph.cpdag import CPDAG, Graph
from dagora.graph.dag import DAG
from dagora.graph.equivalence import cpdag_matrix
from dagora.graph.metrics import align
from dagora.graph.named_graph import find_node
from dagora.learners.result import from_json_text
from dagora.posterior.draws import Draws
from dagora.posterior.summary.accuracy import COUNTS, expected_count, metric, read_as
from dagora.posterior.summary.consensus import consensus
from dagora.posterior.summary.diagnostics import mean_error
from dagora.posterior.summary.draws_json import draws_from_dict, draws_to_dict
from dagora.posterior.summary.features import (
    OF_A_GRAPH,
    DistinctGraphs,
    Estimate,
    check_feature,
    distinct_graphs,
    estimate,
    pair_feature,
)
from dagora.posterior.summary.mixing import NOT_MIXED, UNKNOWN, Diagnostics, diagnose
from dagora.scores.prior_words import parameter_prior

if TYPE_CHECKING:
    from dagora.posterior.summary.inference_data import InferenceData

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Posterior(Shown):
    """Graphs drawn from a posterior, with everything needed to assess and to reproduce them.

    >>> import dagora
    >>> table = dagora.Table.from_numpy([[0, 0], [1, 1]] * 20, names=["a", "b"], discrete=["a", "b"])
    >>> posterior = dagora.sample(table, "exact", draws=50, seed=1)
    >>> posterior.nodes, posterior.status, posterior.edge_probability.round(2).tolist()
    (('a', 'b'), 'finished', [[0.0, 0.5], [0.5, 0.0]])
    >>> [(graph.undirected, round(probability, 9)) for graph, probability in posterior.classes()]
    [((('a', 'b'),), 1.0)]
    >>> print(posterior.feature("adjacent", "a", "b"))
    1 ± 0
    >>> truth = dagora.DAG("ab", [("a", "b")])
    >>> print(posterior.expected_shd(truth), posterior.expected_tp(truth), posterior.expected_fp(truth))
    0.5 ± 0 0.5 ± 0 0.5 ± 0
    >>> posterior.pair_probability("adjacent").round(2).tolist(), posterior.edge_error.tolist()
    ([[0.0, 1.0], [1.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]])
    >>> posterior.best_graph == posterior.graphs(most=1)[0][0], posterior.consensus(threshold=0.6).edges
    (True, ())
    >>> posterior.prior, posterior.space
    ('every DAG is as likely as any other', 'every parent set may be drawn')
    >>> posterior.parameter_prior
    'uniform Dirichlet, equivalent sample size 1'
    >>> posterior.message, posterior.weights.shape, round(posterior.score, 2)
    ('all graphs were summed; 200 independent draws', (4, 50), -32.73)
    >>> Posterior.from_json(posterior.to_json()).graphs() == posterior.graphs()
    True
    >>> Posterior.from_dict(posterior.to_dict()).expected("tpr", truth) == posterior.expected("tpr", truth)
    True
    """

    draws: Draws
    diagnostics: Diagnostics
    method: str
    score_name: str | None = None
    seconds: float = 0.0
    seed: int = 0
    stats: Mapping[str, float] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    command: str | None = None

    @property
    def nodes(self) -> tuple[str, ...]:
        """The variables' names."""
        return self.draws.names

    @property
    def prior(self) -> str:
        """What was assumed about graphs, in a sentence."""
        return self.draws.prior

    @property
    def space(self) -> str:
        """Which graphs could be drawn at all, in a sentence."""
        return self.draws.space

    @property
    def parameter_prior(self) -> str | None:
        """What the score assumes about parameters, in words; None for scores without a prior."""
        return parameter_prior(self.score_name, self.settings)

    @property
    def status(self) -> str:
        """How the sampling ended; chains that ran to their end but disagree are `not-mixed`."""
        ended = self.draws.status
        return "not-mixed" if ended == "finished" and self.diagnostics.verdict == NOT_MIXED else ended

    @property
    def message(self) -> str:
        """How the sampling ended, in a sentence."""
        return self.draws.message

    @cached_property
    def weights(self) -> Floats:
        """Weight of each draw, `[chains, draws]`; the sum is 1."""
        given = self.draws.log_weights
        if given is None:
            return np.full(self.draws.log_scores.shape, 1.0 / max(1, self.draws.log_scores.size))
        weights = np.exp(given - given.max(initial=-np.inf))
        return np.asarray(weights / weights.sum(), dtype=np.float64)

    @property
    def score(self) -> float | None:
        """Highest log score (with the log prior) among the draws; None without draws."""
        return float(self.draws.log_scores.max()) if self.draws.log_scores.size else None

    @property
    def best_graph(self) -> DAG:
        """The draw with the highest log score: the most probable graph that was seen."""
        self._need_draws()
        chain, draw = np.unravel_index(self.draws.log_scores.argmax(), self.draws.log_scores.shape)
        return self._distinct.graph(int(self._distinct.index[chain, draw]))

    @cached_property
    def edge_probability(self) -> Floats:
        """Probability of each edge, [i, j] is i → j; exact if the sampler knows it, NaN without draws."""
        if self.draws.edges is not None:
            return self.draws.edges
        return self._edges(lambda present: (present * self.weights[:, :, None]).sum(axis=(0, 1)))

    @cached_property
    def edge_error(self) -> Floats:
        """Monte Carlo standard error of each edge's probability; 0 if that is exact."""
        if self.draws.edges is not None:
            return np.zeros_like(self.draws.edges)
        scaled = self.weights[:, :, None] * self.weights.size

        def error(present: NDArray[np.bool_]) -> Floats:
            mean = (present * self.weights[:, :, None]).sum(axis=(0, 1))
            return mean_error((present - mean) * scaled)

        return self._edges(error)

    def _edges(self, measure: Callable[[NDArray[np.bool_]], Floats]) -> Floats:
        """Apply a measure of `[chains, draws, parents]` to one child after the other."""
        nodes = len(self.nodes)
        shape = self.draws.log_scores.shape
        if not self.draws.log_scores.size:
            return np.full((nodes, nodes), np.nan)
        columns = []
        for child in range(nodes):
            rows = self.draws.parents[:, :, child].reshape(self.draws.log_scores.size, -1)
            columns.append(measure(unpack(rows, nodes).reshape(*shape, nodes)))
        return np.column_stack(columns)

    @cached_property
    def _distinct(self) -> DistinctGraphs:
        return distinct_graphs(self.nodes, self.draws.parents)

    @cached_property
    def _probabilities(self) -> Floats:
        """Probability of each distinct graph."""
        return np.bincount(
            self._distinct.index.ravel(), self.weights.ravel(), minlength=len(self._distinct)
        ).astype(np.float64)

    def _need_draws(self) -> None:
        if not self.draws.log_scores.size:
            raise OptionError(f"there are no draws to look at: {self.message}")

    def graphs(self, most: int | None = None) -> list[tuple[DAG, float]]:
        """Different graphs among the draws with their probabilities, most probable first; at most `most`."""
        order = np.argsort(-self._probabilities, kind="stable")[:most]
        return [(self._distinct.graph(int(k)), float(self._probabilities[k])) for k in order]

    def classes(self, most: int | None = None) -> list[tuple[CPDAG, float]]:
        """Equivalence classes among the draws with their probabilities, most probable first."""
        labels, matrices = self._classes
        total = np.bincount(labels, self._probabilities, minlength=len(matrices))
        order = np.argsort(-total, kind="stable")[:most]
        return [(CPDAG.from_numpy(matrices[k], self.nodes), float(total[k])) for k in order]

    @cached_property
    def _classes(self) -> tuple[NDArray[np.int64], list[NDArray[np.bool_]]]:
        """Class of each distinct graph, and the completed graph of each class."""
        found: dict[bytes, int] = {}
        matrices: list[NDArray[np.bool_]] = []
        labels = np.zeros(len(self._distinct), dtype=np.int64)
        for where, stack in self._distinct.matrices():
            for position, graph in enumerate(stack, start=where.start):
                completed = cpdag_matrix(graph)
                labels[position] = found.setdefault(completed.tobytes(), len(matrices))
                if labels[position] == len(matrices):
                    matrices.append(completed)
        return labels, matrices

    def feature(self, feature: str | Callable[[DAG], float], *about: str | Graph) -> Estimate:
        """Posterior mean of a feature: a function of a graph, or a name and what it is about.

        `feature("edge", "a", "b")`, and so `adjacent`, `path`, `ancestor` and `blanket`;
        `feature("cpdag", graph)` is the probability of a graph's equivalence class;
        `feature(lambda graph: len(graph.edges))` the expected number of edges.
        """
        self._need_draws()
        if callable(feature):
            values = np.array([float(feature(self._distinct.graph(k))) for k in range(len(self._distinct))])
            return self._estimate(values)
        check_feature(feature)
        if feature == OF_A_GRAPH:
            if len(about) != 1 or isinstance(about[0], str):
                raise OptionError("the feature cpdag is about one graph: feature('cpdag', graph)")
            return self._class_probability(about[0])
        pairs = pair_feature(feature)
        if len(about) != 2 or not all(isinstance(node, str) for node in about):
            raise OptionError(f"the feature {feature} is about two variables: feature('{feature}', 'a', 'b')")
        index = {name: position for position, name in enumerate(self.nodes)}
        i, j = (find_node(index, str(node)) for node in about)
        if self.draws.edges is not None and feature in {"edge", "adjacent"}:
            exact = self.draws.edges + (self.draws.edges.T if feature == "adjacent" else 0.0)
            return Estimate(float(exact[i, j]), 0.0)
        return self._estimate(self._distinct.values(lambda graphs: pairs(graphs)[:, i, j]))

    def pair_probability(self, feature: str) -> Floats:
        """Probability of a named feature for every pair of nodes, `[a, b]`."""
        if feature == "edge":
            return self.edge_probability
        self._need_draws()
        pairs = pair_feature(feature)
        total = np.zeros((len(self.nodes), len(self.nodes)))
        for where, graphs in self._distinct.matrices():
            total += np.tensordot(self._probabilities[where], pairs(graphs).astype(np.float64), axes=1)
        return total

    def _estimate(self, values: Floats) -> Estimate:
        """Mean over draws of a value per distinct graph."""
        return estimate(values[self._distinct.index], self.weights)

    def _class_probability(self, graph: Graph) -> Estimate:
        marks = self._aligned(graph).to_numpy()
        completed = (cpdag_matrix(marks) if isinstance(graph, DAG) else marks).tobytes()
        labels, matrices = self._classes
        same = [k for k, matrix in enumerate(matrices) if matrix.tobytes() == completed]
        return self._estimate(np.isin(labels, same).astype(np.float64))

    def _aligned(self, graph: Graph) -> Graph:
        align(DAG(self.nodes), graph)  # refuses other variables
        return graph if graph.nodes == self.nodes else graph.reorder(self.nodes)

    def consensus(self, threshold: float = 0.5) -> DAG:
        """Acyclic graph of the edges above a threshold; see `consensus` for edges that form cycles."""
        return consensus(self.nodes, self.edge_probability, threshold)

    def expected(
        self, measure: str | Callable[[DAG, Graph], float], truth: Graph, *, on: str = "dag"
    ) -> Estimate:
        """Posterior mean of a metric (shd, correct, wrong, tpr, ...), or of a function of graph and truth.

        `on` says what is compared: the graphs themselves (`dag`), their `skeleton`s, or their classes
        (`cpdag`).
        """
        self._need_draws()
        known = self._aligned(truth)
        if callable(measure):
            distinct = self._distinct
            return self._estimate(
                np.array([float(measure(distinct.graph(k), known)) for k in range(len(distinct))])
            )
        marks = known.to_numpy()
        if self.draws.edges is not None and measure in COUNTS and on == "dag" and isinstance(known, DAG):
            return Estimate(expected_count(measure, self.draws.edges, marks), 0.0)
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
        """Expected structural Hamming distance; a reversed edge counts 1."""
        return self.expected("shd", truth, on=on)

    def expected_tp(self, truth: Graph, *, on: str = "dag") -> Estimate:
        """Expected number of edges that are in the truth, with their direction."""
        return self.expected("correct", truth, on=on)

    def expected_fp(self, truth: Graph, *, on: str = "dag") -> Estimate:
        """Expected number of edges that are not in the truth, or in the other direction."""
        return self.expected("wrong", truth, on=on)

    def to_arviz(self) -> InferenceData:
        """Log scores, edges and weights for ArviZ: InferenceData before version 1, a DataTree since then."""
        from dagora.posterior.summary.inference_data import inference_data

        return inference_data(self.draws)

    def to_dict(self, *, draws: bool = True) -> dict[str, Any]:
        """JSON form, which is also a graph file of the consensus graph; without `draws` only summaries."""
        probability = self.edge_probability
        content: dict[str, Any] = {
            "method": self.method,
            "score_name": self.score_name,
            "score": self.score,
            "status": self.status,
            "message": self.message,
            "nodes": list(self.nodes),
            "edges": [list(edge) for edge in self.consensus().edges],
            "undirected": [],
            "edge_probability": {
                tail: {
                    head: float(probability[i, j])
                    for j, head in enumerate(self.nodes)
                    if i != j and np.isfinite(probability[i, j])
                }
                for i, tail in enumerate(self.nodes)
            },
            "diagnostics": self.diagnostics.to_dict(),
            "prior": self.prior,
            "parameter_prior": self.parameter_prior,
            "space": self.space,
            "seconds": self.seconds,
            "stats": dict(self.stats),
            "settings": dict(self.settings),
            "seed": self.seed,
            "versions": dict(self.versions),
            "warnings": list(self.warnings),
            "data": dict(self.data),
            "command": self.command,
        }
        return {**content, "draws": draws_to_dict(self.draws, self._distinct)} if draws else content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Posterior:
        """Undo `to_dict`."""
        texts = {key: content[key] for key in ("prior", "space", "status", "message")}
        draws = draws_from_dict(content["nodes"], content["draws"], **texts)
        return cls(
            draws=draws,
            diagnostics=diagnose(draws),
            warnings=tuple(content["warnings"]),
            data=content.get("data", {}),
            command=content.get("command"),
            **{key: content[key] for key in SCALARS},
        )

    def to_json(self) -> str:
        """JSON text, one object."""
        return json_text(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Posterior:
        """Undo `to_json`."""
        return from_json_text(text, "a posterior", cls.from_dict)

    def __repr__(self) -> str:
        kind = (
            f"{self.draws.chains} chains × {self.draws.per_chain} draws of graphs on {len(self.nodes)} nodes"
        )
        verdict = self.diagnostics.verdict if self.draws.log_scores.size else ""
        doubt = f", {verdict}" if verdict in {NOT_MIXED, UNKNOWN} and self.status != "not-mixed" else ""
        score = "" if self.score_name is None else f", {self.score_name}"
        return f"Posterior({self.method}{score}: {kind}, {self.status}{doubt})"


SCALARS = ("method", "score_name", "seconds", "seed", "stats", "settings", "versions")
