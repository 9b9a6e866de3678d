"""A posterior over graphs as the user gets it: draws, probabilities of edges and features, and their errors.

Every probability is a weighted mean over the draws. If a sampler knows edge probabilities exactly, those are
used. Standard errors take the autocorrelation of the chains into account.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.base.extras import ARVIZ
from dagora.base.wording import render_fields
from dagora.graph.bits import unpack
from dagora.graph.cpdag import Graph
from dagora.graph.dag import DAG
from dagora.graph.equivalence import cpdag_matrix
from dagora.posterior.draws import Draws
from dagora.posterior.summary.accuracy import COUNTS, expected_count
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
from dagora.posterior.summary.prior_effect import PriorEffect
from dagora.posterior.summary.weighted_graphs import WeightedGraphs
from dagora.scores.prior_words import parameter_prior

Floats = NDArray[np.float64]
InferenceData = Any  # of arviz, which may not be installed


@dataclass(frozen=True, eq=False)
class Posterior(WeightedGraphs[DAG]):
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

    described: ClassVar[str] = "a posterior"

    draws: Draws
    diagnostics: Diagnostics
    method: str
    command: str | None = None
    prior_effect: PriorEffect | None = None

    def __post_init__(self) -> None:
        render_fields(self, "warnings")

    @property
    def nodes(self) -> tuple[str, ...]:
        """The variables' names."""
        return self.draws.names

    @property
    def prior(self) -> str:
        """The prior over graphs, in a sentence."""
        return self.draws.prior

    @property
    def space(self) -> str:
        """The search space of graphs, in a sentence."""
        return self.draws.space

    @property
    def parameter_prior(self) -> str | None:
        """The prior of the score over parameters, in words; None for scores without one."""
        return parameter_prior(self.score_name, self.settings)

    @property
    def status(self) -> str:
        """The end of the sampling in a word; chains that ran to their end but disagree are `not-mixed`."""
        ended = self.draws.status
        return "not-mixed" if ended == "finished" and self.diagnostics.verdict == NOT_MIXED else ended

    @property
    def message(self) -> str:
        """The end of the sampling, in a sentence."""
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
        # Those given different completions of missing values cannot be compared.
        comparable = self.draws.log_scores.size and self.draws.completions == 1
        return float(self.draws.log_scores.max()) if comparable else None

    @property
    def best_graph(self) -> DAG:
        """The draw with the highest log score: the most probable graph that was seen.

        Scores given different completions of missing values cannot be compared: then the most frequent graph.
        """
        self._need_graphs()
        if self.draws.completions > 1:
            return self._graph(int(self._mass[0].argmax()))
        chain, draw = np.unravel_index(self.draws.log_scores.argmax(), self.draws.log_scores.shape)
        return self._graph(int(self._distinct.index[chain, draw]))

    @cached_property
    def edge_probability(self) -> Floats:
        """Probability of each edge, [i, j] is i → j; exact if the sampler knows it, NaN without draws."""
        if self.draws.edges is not None:
            return self.draws.edges
        return self._edges(lambda present: (present * self.weights[:, :, None]).sum(axis=(0, 1)))

    @cached_property
    def edge_error(self) -> Floats:
        """Monte Carlo standard error of each edge's probability; 0 if that is exact.

        Of several completions of missing values, it is what as many others would change.
        """
        if self.draws.edges is not None and self.draws.completions == 1:
            return np.zeros_like(self.draws.edges)
        scaled = self.weights[:, :, None] * self.weights.size

        def error(present: NDArray[np.bool_]) -> Floats:
            mean = (present * self.weights[:, :, None]).sum(axis=(0, 1))
            return mean_error((present - mean) * scaled, self.draws.completions)

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
    def _mass(self) -> tuple[Floats, float]:
        return np.bincount(
            self._distinct.index.ravel(), self.weights.ravel(), minlength=len(self._distinct)
        ).astype(np.float64), 1.0

    def _need_graphs(self) -> None:
        if not self.draws.log_scores.size:
            raise OptionError(f"there are no draws to look at: {self.message}")

    def _graph(self, position: int) -> DAG:
        return self._distinct.graph(position)

    def _class_of(self, graph: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return cpdag_matrix(graph)

    def _named_feature(self, feature: str, about: tuple[str | Graph, ...]) -> Estimate:
        check_feature(feature)
        if feature == OF_A_GRAPH:
            if len(about) != 1 or isinstance(about[0], str):
                raise OptionError("the feature cpdag is about one graph: feature('cpdag', graph)")
            return self._class_probability(about[0])
        pairs = pair_feature(feature)
        i, j = self._two_nodes(feature, about)
        if self.draws.edges is None or feature not in {"edge", "adjacent"}:
            return self._estimate(self._distinct.values(lambda graphs: pairs(graphs)[:, i, j]))
        exact = self.draws.edges + (self.draws.edges.T if feature == "adjacent" else 0.0)
        if self.draws.completions == 1:
            return Estimate(float(exact[i, j]), 0.0)
        drawn = self._estimate(self._distinct.values(lambda graphs: pairs(graphs)[:, i, j]))
        return replace(drawn, mean=float(exact[i, j]))

    def pair_probability(self, feature: str) -> Floats:
        """Probability of a named feature for every pair of nodes, `[a, b]`."""
        if feature == "edge":
            return self.edge_probability
        self._need_graphs()
        pairs = pair_feature(feature)
        total = np.zeros((len(self.nodes), len(self.nodes)))
        for where, graphs in self._distinct.matrices():
            total += np.tensordot(self._mass[0][where], pairs(graphs).astype(np.float64), axes=1)
        return total

    def _estimate(self, values: Floats) -> Estimate:
        """Mean over draws of a value per distinct graph."""
        return estimate(values[self._distinct.index], self.weights, self.draws.completions)

    def _class_probability(self, graph: Graph) -> Estimate:
        marks = self._align(graph).to_numpy()
        completed = (cpdag_matrix(marks) if isinstance(graph, DAG) else marks).tobytes()
        labels, matrices = self._classes
        same = [k for k, matrix in enumerate(matrices) if matrix.tobytes() == completed]
        return self._estimate(np.isin(labels, same).astype(np.float64))

    def consensus(self, threshold: float = 0.5) -> DAG:
        """Acyclic graph of the edges above a threshold; see `consensus` for edges that form cycles."""
        return consensus(self.nodes, self.edge_probability, threshold)

    def expected(
        self, measure: str | Callable[[DAG, Graph], float], truth: Graph, *, on: str = "dag"
    ) -> Estimate:
        """Posterior mean of a metric, as in `WeightedGraphs`; exact where edge probabilities are."""
        self._need_graphs()
        known, edges = self._align(truth), self.draws.edges if self.draws.completions == 1 else None
        if edges is not None and measure in COUNTS and on == "dag" and isinstance(known, DAG):
            return Estimate(expected_count(measure, edges, known.to_numpy()), 0.0)
        return super().expected(measure, known, on=on)

    def to_arviz(self) -> InferenceData:
        """Log scores, edges and weights for ArviZ: InferenceData before version 1, a DataTree since then."""
        ARVIZ.require("to_arviz")
        with warnings.catch_warnings():
            # Version 0.23 announces version 1 whenever it is imported.
            warnings.simplefilter("ignore", FutureWarning)
            import arviz
        draws, names = self.draws, list(self.nodes)
        flat = unpack(draws.parents.reshape(-1, draws.parents.shape[-1]), len(names))
        into = flat.reshape(*draws.log_scores.shape, len(names), len(names))
        groups: dict[str, dict[str, Any]] = {
            "posterior": {
                "log_score": draws.log_scores,
                "edge": np.ascontiguousarray(into.swapaxes(2, 3)).astype(np.int8),
            },
            "sample_stats": {"lp": draws.log_scores},
        }
        if draws.log_weights is not None:
            groups["sample_stats"]["log_weight"] = draws.log_weights
        labels = {"coords": {"parent": names, "child": names}, "dims": {"edge": ["parent", "child"]}}
        make: Any = arviz.from_dict
        if int(arviz.__version__.partition(".")[0]) >= 1:
            return make(groups, **labels)
        return make(**groups, **labels)

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
        if self.prior_effect is not None:
            content["prior_effect"] = self.prior_effect.to_dict()
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
            prior_effect=PriorEffect.from_dict(content["nodes"], content["prior_effect"])
            if "prior_effect" in content
            else None,
            **{key: content[key] for key in SCALARS},
        )

    def __repr__(self) -> str:
        kind = (
            f"{self.draws.chains} chains × {self.draws.per_chain} draws of graphs on {len(self.nodes)} nodes"
        )
        verdict = self.diagnostics.verdict if self.draws.log_scores.size else ""
        doubt = f", {verdict}" if verdict in {NOT_MIXED, UNKNOWN} and self.status != "not-mixed" else ""
        score = "" if self.score_name is None else f", {self.score_name}"
        return f"Posterior({self.method}{score}: {kind}, {self.status}{doubt})"


SCALARS = ("method", "score_name", "seconds", "seed", "stats", "settings", "versions")
