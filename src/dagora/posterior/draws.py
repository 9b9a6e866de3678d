"""The result of every sampler: graphs drawn from a posterior, in chains, with their log scores.

A draw is one bit row of parents per node. Draws of one chain stand in the order in which they were drawn, so
that diagnostics can measure their autocorrelation. Draws have weights if they come from another distribution
than the one that is asked about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dagora.graph.bits import Rows
from dagora.learners.outcome import STATUSES


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of one or more chains over the variables `names`.

    `parents` has the shape (chains, draws, nodes, words), `log_scores` (log score + log prior of the graph)
    and `log_weights` (None: all draws have the same weight) the shape (chains, draws). `edges` holds edge
    probabilities, [i, j] is i → j, if they are known exactly. `prior` and `space` say in a sentence each what
    was assumed about graphs and which graphs could be drawn at all. `independent` draws need no diagnostics;
    `particles` cannot have any: each graph is there once, and stands for the posterior by its weight. Of
    several `completions` of missing values, the first chains are given the first one, and so on.
    """

    names: tuple[str, ...]
    parents: Rows
    log_scores: NDArray[np.float64]
    prior: str
    space: str
    status: str
    message: str
    log_weights: NDArray[np.float64] | None = None
    edges: NDArray[np.float64] | None = None
    independent: bool = False
    particles: bool = False
    completions: int = 1
    stats: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"unknown status {self.status!r}")
        if self.parents.shape[:2] != self.log_scores.shape:
            raise ValueError(f"{self.parents.shape} parents but {self.log_scores.shape} log scores")

    @property
    def chains(self) -> int:
        """Number of chains."""
        return int(self.log_scores.shape[0])

    def by_completion(self) -> list[Draws]:
        """The draws given each completion of the missing values."""
        size = self.chains // self.completions
        groups = [slice(first, first + size) for first in range(0, self.chains, size)]
        return [
            replace(
                self,
                parents=self.parents[group],
                log_scores=self.log_scores[group],
                log_weights=None if self.log_weights is None else self.log_weights[group],
                completions=1,
            )
            for group in groups
        ]

    @property
    def per_chain(self) -> int:
        """Number of draws of each chain."""
        return int(self.log_scores.shape[1])
