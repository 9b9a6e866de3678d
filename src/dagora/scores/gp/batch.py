"""Points of additive families that are computed together, with all they need to know about the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dagora.scores.gp.view import Bases, Views

Array = NDArray[np.float64]
Positions = NDArray[np.int64]


@dataclass(frozen=True)
class Batch:
    """Points of families; their parents and parameters are sorted by ascending length-scale."""

    views: Views
    levels: tuple[int, ...]
    points: Positions
    order: Positions
    children: Positions
    parents: Positions
    parameters: Array

    @cached_property
    def s(self) -> Array:
        """Variances of the noise."""
        return np.exp(2 * self.parameters[:, -1])

    @cached_property
    def bases(self) -> list[Bases]:
        """The bases of each parent."""
        return [self.views.bases(level) for level in self.levels]

    @cached_property
    def blocks(self) -> list[slice]:
        """Where each parent's dimensions are, after the constant."""
        ends = np.cumsum([1, *(bases.rank for bases in self.bases)]).tolist()
        return [slice(start, stop) for start, stop in pairwise(ends)]

    @property
    def jitter(self) -> float:
        """Added to diagonals, so that rounding does not make small matrices indefinite."""
        jitter: float = self.views.level.jitter
        return jitter

    def sums(self, i: int) -> Array:
        """Sums of the columns of Qᵢ."""
        return self.bases[i].sums[self.parents[:, i]]

    def projections(self, i: int) -> Array:
        """Qᵢᵀy."""
        return self.bases[i].projections[self.parents[:, i], self.children]

    def gram(self, i: int, j: int) -> Array:
        """QᵢᵀQⱼ; the columns of one basis are orthonormal."""
        if i == j:
            rank = self.bases[i].rank
            return np.broadcast_to(np.eye(rank), (len(self.points), rank, rank))
        return self.views.gram(self.levels[i], self.levels[j])[self.parents[:, i], self.parents[:, j]]
