"""Scores of many directed graphs, cyclic ones included: each family is scored once and kept."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dagora.scores.local_score import LocalScore

# Sets of parents are integers with a bit per node.
MOST_NODES = 62
# Families that are scored in one call, between two looks at the clock.
AT_ONCE = 4096

# A log prior of families with these numbers of parents, out of so many nodes.
LogFactor = Callable[[NDArray[np.int64], int], NDArray[np.float64]]


class DigraphScores:
    """Scores of graphs, family by family; one of more than `max_parents` scores −∞.

    What `log_factor` says of the number of parents is added, where it is given.

    >>> from dagora.data.table import Table
    >>> from dagora.scores.bdeu import bdeu
    >>> from dagora.stats.table import TableStatistics
    >>> table = Table.from_numpy([[0, 0], [1, 1]] * 20, names=["a", "b"], discrete=["a", "b"])
    >>> scores = DigraphScores(bdeu(TableStatistics(table)), None)
    >>> scores.of(np.array([[[0, 0], [0, 0]], [[0, 1], [0, 0]], [[0, 0], [1, 0]]], dtype=bool)).round(2)
    array([-59.6 , -32.73, -32.73])
    """

    def __init__(
        self, score: LocalScore, max_parents: int | None, log_factor: LogFactor | None = None
    ) -> None:
        self._score = score
        self._log_factor = log_factor
        self._nodes = len(score.schema.names)
        self._limit = self._nodes if max_parents is None else max_parents
        self._known: list[dict[int, float]] = [{} for _ in range(self._nodes)]

    @property
    def families(self) -> int:
        """The number of families scored so far."""
        return sum(map(len, self._known))

    def of(self, graphs: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Scores of graphs whose last two axes are matrices; [i, j] is the edge i → j."""
        return np.asarray(self.by_family(graphs).sum(axis=-1), dtype=np.float64)

    def by_family(self, graphs: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The same family by family: the last axis is the child."""
        # One integer per family: bit i says that node i is a parent.
        masks = np.tensordot(graphs, 1 << np.arange(self._nodes, dtype=np.int64), axes=([-2], [0]))
        found = np.empty(masks.shape)
        for child in range(self._nodes):
            distinct, places = np.unique(masks[..., child], return_inverse=True)
            values = self._family_scores(child, distinct.tolist())
            found[..., child] = values[places.reshape(masks.shape[:-1])]
        return found

    def _family_scores(self, child: int, masks: list[int]) -> NDArray[np.float64]:
        known = self._known[child]
        new = [mask for mask in masks if mask not in known]
        for start in range(0, len(new), AT_ONCE):
            self._add(child, new[start : start + AT_ONCE])
        return np.array([known[mask] for mask in masks])

    def _add(self, child: int, masks: list[int]) -> None:
        parents = [[node for node in range(self._nodes) if mask >> node & 1] for mask in masks]
        sizes = np.array([len(each) for each in parents])
        values = np.full(len(masks), -np.inf)
        allowed = np.flatnonzero(sizes <= self._limit)
        if len(allowed):
            families = [(child, parents[place]) for place in allowed]
            values[allowed] = self._score.families(families)
            if self._log_factor is not None:
                values[allowed] += self._log_factor(sizes[allowed], self._nodes)
        self._known[child].update(zip(masks, values.tolist(), strict=True))
