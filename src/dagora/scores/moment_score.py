"""The common base of scores that are computed from second moments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Watch, ignore_progress
from dagora.scores.gaussian import FlatFamilies, in_blocks
from dagora.scores.local_score import Family, ScoreCapabilities
from dagora.scores.usable_moments import gaussian_moments
from dagora.stats.capabilities import capabilities_of
from dagora.stats.statistics import Moments, Statistics


class MomentScore(ABC):
    """A LocalScore that asks its statistics once for moments and for nothing else; `name` is for messages."""

    def __init__(self, statistics: Statistics, name: str) -> None:
        self._moments = gaussian_moments(statistics, f"the score {name}")
        self.schema = statistics.schema
        self._jobs = capabilities_of(statistics).jobs

    @property
    def n_rows(self) -> int:
        """Number of rows behind the score."""
        return self._moments.n

    @property
    def moments(self) -> Moments:
        """The moments that the score is computed from."""
        return self._moments

    @property
    def capabilities(self) -> ScoreCapabilities:
        """Blocks of families, and the moments."""
        return ScoreCapabilities(block=self.block, moments=self._moments)

    def families(self, families: Sequence[Family]) -> NDArray[np.float64]:
        """Scores of many families."""
        return self._score(FlatFamilies.of(families))

    def block(
        self, children: NDArray[np.int64], parents: NDArray[np.int64], watch: Watch = ignore_progress
    ) -> NDArray[np.float64]:
        """Scores of many families of one size."""
        return in_blocks(self._score, children, parents, watch, self._jobs)

    @abstractmethod
    def _score(self, families: FlatFamilies) -> NDArray[np.float64]:
        """Scores of families of any sizes."""
