"""BIC of columns of both kinds on a table with holes: `bic-mixed` on what was seen.

The discrete part is the likelihood of what was seen of its columns (see `scores/observed`), the moments of
the widened table come by EM for the normal distribution, with all features of a hole missing together.
"""

from __future__ import annotations

from typing import cast

from dagora.scores.mixed.bic_mixed import CountedScore, MixedBIC
from dagora.scores.observed import ObservedBIC
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.statistics import Statistics


class ObservedMixedBIC(MixedBIC):
    """Bayesian information criterion of any columns on what was seen."""

    slow = True

    def _counting(self, statistics: Statistics) -> CountedScore:
        return ObservedBIC(cast("IncompleteStatistics", statistics), penalty=self._penalty)

    def told(self) -> list[str]:
        """What the name alone does not say."""
        return [*super().told(), *cast("ObservedBIC", self._counted).told()]
