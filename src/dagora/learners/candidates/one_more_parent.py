"""Which further parents cannot raise a family's score, whatever the rows say: those need not be counted.

Scores that are a log-likelihood minus t(P) = price · (r − 1) · q(P) have the two rules of `pruning`, here for
one family and one more parent Y: s(P) + t(P ∪ {Y}) ≥ 0 rules Y out, since no log-likelihood is above 0, and
so does m · H(Y) ≤ (|Y| − 1) t(P), since Y adds no more information than it has.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dagora.scores.discrete import MOST_CONFIGURATIONS, DiscreteScore
from dagora.scores.local_score import LocalScore

# A penalty counts as smaller by this, relative to it, so that rounding cannot rule out what gains.
MARGIN = 1e-6


class OneMoreParent:
    """Tells which further parents may raise a score; without a rule for the score, all may."""

    def __init__(self, score: LocalScore | None = None) -> None:
        ruled = isinstance(score, DiscreteScore) and score.capabilities.counts_rows and score.price > 0
        self._score = score if isinstance(score, DiscreteScore) and ruled else None

    @property
    def rules(self) -> bool:
        """Whether there is any rule."""
        return self._score is not None

    def may_gain(
        self, child: int, parents: Collection[int], own: float, further: Sequence[int]
    ) -> NDArray[np.bool_]:
        """Which of some further parents may raise the score `own` of a family."""
        if self._score is None:
            return np.ones(len(further), dtype=np.bool_)
        levels = self._levels[further]
        configurations = min(float(self._levels[list(parents)].prod()), MOST_CONFIGURATIONS)
        price = (1 - MARGIN) * self._score.price * (self._levels[child] - 1) * configurations
        may: NDArray[np.bool_] = own + price * levels < 0
        may &= self._entropies[further] > price * (levels - 1)
        return may

    @cached_property
    def _levels(self) -> NDArray[np.float64]:
        assert self._score is not None
        return self._score.schema.cardinalities.astype(np.float64)

    @cached_property
    def _entropies(self) -> NDArray[np.float64]:
        """For every column Y m · H(Y): minus its score without parents, with the penalty taken off."""
        assert self._score is not None
        alone = self._score.families([(column, ()) for column in range(len(self._levels))])
        return -(alone + self._score.penalty(self._levels, np.ones(len(alone))))
