"""BIC of columns of both kinds on a table with missing values: `bic-mixed` on the observed ones.

The discrete part is the likelihood of its observed values (`scores/observed`), the continuous part that of
`scores/observed_gaussian`. The moments of the widened table come by EM for the normal distribution,
with all features of a missing value missing together. The gain of a set by the dependence of its columns is
added up over its observed parts, each weighted by its rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from dagora.data.schema import Kind
from dagora.scores.local_score import ScoreCapabilities
from dagora.scores.mixed.bic_mixed import Gains, LineScore, MixedBIC, PartScore, continuous_part
from dagora.scores.mixed.dependence import dependence
from dagora.scores.observed import ObservedBIC
from dagora.scores.observed_gaussian import ObservedGaussianBIC
from dagora.stats.observed.seen_together import SeenTogether
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.statistics import ColumnSets, Statistics, flatten


class ObservedMixedBIC(MixedBIC):
    """Bayesian information criterion of any columns on observed values."""

    def __init__(self, statistics: IncompleteStatistics, *, penalty: float = 1.0) -> None:
        self._together = statistics.together
        super().__init__(statistics, penalty=penalty)

    def _counting(self, statistics: Statistics) -> PartScore:
        return ObservedBIC(cast("IncompleteStatistics", statistics), penalty=self._penalty)

    def _regressing(self, statistics: Statistics) -> LineScore:
        seen = cast("IncompleteStatistics", statistics).table.seen
        kept = [k for k, variable in enumerate(statistics.schema) if variable.kind is Kind.CONTINUOUS]
        return ObservedGaussianBIC(
            continuous_part(statistics), SeenTogether(seen[kept]), penalty=self._penalty
        )

    def _depending(self, sets: ColumnSets) -> Gains:
        """The gains of sets, added up over the parts of them that rows have observed."""
        assert self._widened is not None, "a table of one kind has no such gain"
        asked: dict[tuple[int, ...], int] = {}
        owner, place, weights = [], [], []
        listed = [tuple(columns) for columns in (sets.tolist() if isinstance(sets, np.ndarray) else sets)]
        for k, columns in enumerate(listed):
            for part, rows in self._together.parts(columns):
                owner.append(k)
                place.append(asked.setdefault(part, len(asked)))
                weights.append(rows)
        parts = dependence(self._widened, *flatten(list(asked)))
        gained = np.array(weights, dtype=np.float64) * parts.gains[np.array(place, dtype=np.int64)]
        gains = np.bincount(np.array(owner, dtype=np.int64), gained, len(listed)).astype(np.float64)
        whole = dependence(self._widened, *flatten(listed))
        seen = [self._together.rows(columns) if columns else self.n_rows for columns in listed]
        return Gains(gains, whole.parameters, whole.features, np.array(seen, dtype=np.int64))

    @property
    def capabilities(self) -> ScoreCapabilities:
        """Those of complete rows, but slow and with the messages of the discrete part."""
        return replace(super().capabilities, is_slow=True)

    def _messages(self) -> list[str]:
        return [*super()._messages(), *self._counted.capabilities.messages()]
