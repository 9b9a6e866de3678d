"""BIC of linear-Gaussian families on a table with missing values, from the observed ones.

The moments of all columns come by EM (`stats/observed/normal_em`). In a row with a child and
the part Q of its parents, the family has −½ [ln(2π v(child | Q)) + 1], v being the residual variance under
those moments; rows in which the child is missing do not count. As a whole that is the log-likelihood of the
observed values of child and parents, less that of the parents, with every square at its expectation:
equivalent graphs score the same, and without missing values it is `bic-gaussian`. The price of a
parameter is that of all rows.

A family needs more complete rows than it has coefficients; else it scores −∞.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Watch, ignore_progress
from dagora.scores.bic_gaussian import GaussianBIC
from dagora.scores.gaussian import FlatFamilies, family_pivots
from dagora.scores.linear_dependence import EM_ROUNDING
from dagora.scores.local_score import Family, ScoreCapabilities
from dagora.stats.observed.seen_together import SeenTogether
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.statistics import Statistics

Floats = NDArray[np.float64]


class BICOfMomentsByEM(GaussianBIC):
    """Gaussian BIC of moments that EM has found, which are less exact than those of whole rows."""

    rounding = EM_ROUNDING


class ObservedGaussianBIC:
    """Gaussian BIC on observed values; `together` knows which columns were observed together."""

    def __init__(self, statistics: Statistics, together: SeenTogether, *, penalty: float = 1.0) -> None:
        self._plain = BICOfMomentsByEM(statistics, penalty=penalty)
        self.dependent = self._plain.dependent
        self._together = together
        self.schema = self._plain.schema
        self.n_rows = self._plain.n_rows

    @property
    def capabilities(self) -> ScoreCapabilities:
        """Slow blocks of families, a message, and the warnings of complete rows."""
        return ScoreCapabilities(
            block=self.block,
            is_slow=True,
            messages=lambda: ["bic-gaussian on the observed values"],
            warnings=self._plain.capabilities.warnings,
        )

    def families(self, families: Sequence[Family]) -> Floats:
        """Scores of many families, each added up over its observed parts."""
        asked: dict[Family, int] = {}
        owner, place, weights = [], [], []
        enough = np.empty(len(families), dtype=np.bool_)
        for k, (child, parents) in enumerate(families):
            columns = (*sorted(parents), child)
            enough[k] = self._together.rows(columns) > len(columns)
            for part, rows in self._together.parts(columns):
                if part[-1] == child:
                    owner.append(k)
                    place.append(asked.setdefault((child, part[:-1]), len(asked)))
                    weights.append(rows)
        _, residuals = family_pivots(self._plain.moments.scatter, FlatFamilies.of(list(asked)))
        fit = -(np.log(2 * np.pi * residuals / self.n_rows) + 1) / 2
        parts = np.array(weights, dtype=np.float64) * fit[np.array(place, dtype=np.int64)]
        sizes = np.array([len(parents) for _, parents in families], dtype=np.int64)
        found = np.bincount(np.array(owner, dtype=np.int64), parts, len(families)) - self._plain.price(sizes)
        values: Floats = np.where(enough, found, -np.inf)
        return values

    def block(
        self, children: NDArray[np.int64], parents: NDArray[np.int64], watch: Watch = ignore_progress
    ) -> Floats:
        """Scores of many families of one size."""
        values = self.families(list(zip(children.tolist(), map(tuple, parents.tolist()), strict=True)))
        watch(len(children), len(children))
        return values


def bic_gaussian(statistics: IncompleteStatistics, *, penalty: float = 1.0) -> ObservedGaussianBIC:
    """Gaussian BIC on the observed values of a continuous table."""
    return ObservedGaussianBIC(statistics, statistics.together, penalty=penalty)
