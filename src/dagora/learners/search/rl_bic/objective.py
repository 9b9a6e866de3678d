"""The score of a drawn graph in RL-BIC, cyclic or not: its families' scores, or one pooled variance.

A family that has no score, because it has too many parents or more than there are rows, counts as if it had
only the required ones, and each of its parents costs extra (`rewards`). With equal variances (what the paper
calls BIC2) the residual sums of squares of all m rows and d columns are pooled,

    −(m d / 2) [ln(2π Σ RSS / (m d)) + 1] − the price of the parameters,

which is no sum over families; they come from the family scores of the Gaussian BIC.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.graph.knowledge import Knowledge
from dagora.scores.bic_gaussian import GaussianBIC
from dagora.scores.digraph_scores import DigraphScores
from dagora.scores.local_score import TIE, LocalScore

Floats = NDArray[np.float64]
Graphs = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Objective:
    """Scores of graphs under what is known of them; `pooled` is the score if variances are equal."""

    scores: DigraphScores
    forbidden: Graphs
    required: Graphs
    pooled: GaussianBIC | None = None

    @classmethod
    def of(cls, score: LocalScore, knowledge: Knowledge, variances: str) -> Objective:
        """The objective that a user asks for."""
        if variances == "equal" and not isinstance(score, GaussianBIC):
            raise OptionError("variances=equal needs the score bic-gaussian of complete rows")
        names = score.schema.names
        return cls(
            DigraphScores(score, knowledge.max_parents),
            knowledge.forbidden_matrix(names),
            knowledge.required_matrix(names),
            score if isinstance(score, GaussianBIC) and variances == "equal" else None,
        )

    @property
    def free(self) -> Graphs:
        """The edges that nothing settles."""
        return ~(self.forbidden | self.required)

    @cached_property
    def _least(self) -> Floats:
        """Scores of the families of required parents."""
        return np.asarray(self.scores.by_family(self.required[None])[0], dtype=np.float64)

    def evaluate(self, graphs: Graphs) -> tuple[Floats, Floats]:
        """Compute the scores of graphs, and the number of parents in families that have no score."""
        found = self.scores.by_family(graphs)
        parents = graphs.sum(axis=1)
        impossible = ~np.isfinite(found)
        found = np.where(impossible, self._least, found)
        counted = np.where(impossible, self.required.sum(axis=0), parents)
        return self._total(found, counted), np.where(impossible, parents, 0).sum(axis=1).astype(np.float64)

    def _total(self, found: Floats, parents: NDArray[np.int64]) -> Floats:
        if self.pooled is None:
            return np.asarray(found.sum(axis=1), dtype=np.float64)
        m, nodes = self.pooled.n_rows, found.shape[1]
        price = self.pooled.price(parents)
        # Of every family 2π RSS / m, from its likelihood.
        variances = np.exp(-2.0 / m * (found + price) - 1.0)
        likelihood = -m * nodes / 2 * (np.log(variances.mean(axis=1)) + 1.0)
        return np.asarray(likelihood - price.sum(axis=1), dtype=np.float64)

    def prune(self, graph: Graphs) -> tuple[Graphs, float]:
        """Remove the edges whose removal does not lower the score; return the graph and its score.

        The edge whose removal gains most goes first.
        """
        graph = graph.copy()
        best = float(self.evaluate(graph[None])[0][0])
        while len(edges := np.argwhere(graph & ~self.required)):
            without = np.repeat(graph[None], len(edges), axis=0)
            without[np.arange(len(edges)), edges[:, 0], edges[:, 1]] = False
            values = self.evaluate(without)[0]
            chosen = int(values.argmax())
            if values[chosen] < best - TIE * abs(best):
                break
            graph, best = without[chosen], float(values[chosen])
        return graph, best

    def bounds(self) -> tuple[float, float]:
        """Scores that most graphs lie between: that of required edges alone, and one that cycles permit.

        For the latter, every variable takes the parents that help most, one by one, whatever the others take.
        """
        graph = self.required.copy()
        low = best = float(self.evaluate(graph[None])[0][0])
        open_ones = list(range(len(graph)))
        while open_ones:
            child = open_ones[-1]
            tails = np.flatnonzero(self.free[:, child] & ~graph[:, child])
            more = np.repeat(graph[None], len(tails), axis=0)
            more[np.arange(len(tails)), tails, child] = True
            values, extra = self.evaluate(more) if len(tails) else (np.zeros(0), np.zeros(0))
            values = np.where(extra > 0, -np.inf, values)
            if len(tails) and values.max() > best + TIE * abs(best):
                graph, best = more[int(values.argmax())], float(values.max())
            else:
                open_ones.pop()
        return low, best
