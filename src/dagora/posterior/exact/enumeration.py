"""The whole posterior, graph by graph: 29 281 graphs on five nodes, each with its probability.

Samplers are checked against it where there are so few nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.graph.bits import Rows
from dagora.graph.dag import DAG
from dagora.graph.enumerate import all_parent_sets
from dagora.learners.run import Run
from dagora.posterior.exact.exact_posterior import full_log_weights
from dagora.posterior.space.family_tables import family_tables
from dagora.posterior.space.priors import prior_named
from dagora.posterior.space.space import Space
from dagora.scores.local_score import LocalScore

MOST_NODES = 5  # there are 29 281 graphs of five nodes, and 3.8 million of six


@dataclass(frozen=True, eq=False)
class Enumeration:
    """All graphs on the variables `names`: row k of `masks` has the parents of each node in graph k.

    `log_scores` are log score + log prior, −inf where a graph is excluded.
    """

    names: tuple[str, ...]
    masks: NDArray[np.int64]
    log_scores: NDArray[np.float64]

    @cached_property
    def log_total(self) -> float:
        """Log of the sum of exp(log score) over all graphs."""
        largest = self.log_scores.max()
        return float(largest + np.log(np.exp(self.log_scores - largest).sum()))

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """Posterior probability of each graph."""
        weights = np.exp(self.log_scores - self.log_scores.max())
        normalised: NDArray[np.float64] = weights / weights.sum()
        return normalised

    @cached_property
    def edges(self) -> NDArray[np.float64]:
        """Edge probabilities, [i, j] is i → j."""
        nodes = len(self.names)
        present = self.masks[:, None, :] >> np.arange(nodes)[None, :, None] & 1
        return np.asarray(np.tensordot(self.probabilities, present, axes=1), dtype=np.float64)

    def graph(self, position: int) -> DAG:
        """The graph at a position."""
        nodes = range(len(self.names))
        return DAG.from_parents(
            self.names, [[i for i in nodes if int(mask) >> i & 1] for mask in self.masks[position]]
        )

    def find(self, parents: Rows) -> NDArray[np.int64]:
        """Positions of graphs given as bit rows of parents, of shape (…, nodes, 1).

        >>> small = enumerate_weights(["a", "b"], np.zeros((2, 2)))
        >>> small.find(np.array([[[0], [1]], [[0], [0]]], dtype=np.uint64))
        array([1, 0])
        """
        places = np.searchsorted(self._keys, _keys(parents[..., 0].astype(np.int64)))
        return np.asarray(self._order[places], dtype=np.int64)

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        return np.argsort(_keys(self.masks))

    @cached_property
    def _keys(self) -> NDArray[np.int64]:
        return np.asarray(_keys(self.masks)[self._order], dtype=np.int64)


def enumerate_posterior(
    score: LocalScore, run: Run, *, prior: str = "uniform", edge_penalty: float = 0.0
) -> Enumeration:
    """Every graph on the score's variables, five at most, with its posterior probability."""
    names = score.schema.names
    if len(names) > MOST_NODES:
        raise OptionError(
            f"all graphs are listed for {MOST_NODES} variables at most, not {len(names)}: "
            "use the method exact, which sums over them without a list"
        )
    assumed = prior_named(prior, edge_penalty=edge_penalty)
    return enumerate_weights(
        names, full_log_weights(family_tables(score, Space.full(len(names)), assumed, run))
    )


def enumerate_weights(names: tuple[str, ...] | list[str], log_weights: NDArray[np.float64]) -> Enumeration:
    """Every graph, from the log weights of all families (by child and closed-up mask of parents).

    >>> enumerate_weights(["a", "b"], np.log([[0.5, 0.5], [0.75, 0.25]])).probabilities.round(3)
    array([0.429, 0.143, 0.429])
    """
    nodes = len(names)
    masks = np.array(list(all_parent_sets(nodes)), dtype=np.int64)
    total = np.zeros(len(masks))
    for child in range(nodes):
        low = (1 << child) - 1
        total += log_weights[child, masks[:, child] & low | masks[:, child] >> 1 & ~low]
    return Enumeration(tuple(names), masks, total)


def _keys(masks: NDArray[np.int64]) -> NDArray[np.int64]:
    """One integer per graph, different for different graphs."""
    nodes = masks.shape[-1]
    shifted = masks << (nodes * np.arange(nodes, dtype=np.int64))
    return np.asarray(shifted.sum(axis=-1), dtype=np.int64)
