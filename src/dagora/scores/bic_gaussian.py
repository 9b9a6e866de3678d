"""BIC of a linear-Gaussian family: log-likelihood at the least-squares fit minus (ln m)/2 per free parameter.

−m/2 [ln(2π RSS/m) + 1] − (ln m)/2 (|P| + 2): an intercept, |P| coefficients and a variance. With as many
parameters as rows the fit is perfect and says nothing: such a family scores −∞.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.scores.gaussian import FlatFamilies, family_pivots
from dagora.scores.moment_score import MomentScore
from dagora.stats.statistics import Statistics


class GaussianBIC(MomentScore):
    """Bayesian information criterion of linear regressions."""

    def __init__(self, statistics: Statistics) -> None:
        super().__init__(statistics, "bic-gaussian")

    def _score(self, families: FlatFamilies) -> NDArray[np.float64]:
        sizes = families.sizes
        values = self._likelihood(families) - self.price(sizes)
        values[sizes + 1 >= self._moments.n] = -np.inf
        return values

    def _likelihood(self, families: FlatFamilies) -> NDArray[np.float64]:
        m = self._moments.n
        _, residuals = family_pivots(self._moments.scatter, families)
        values: NDArray[np.float64] = -m / 2 * (np.log(2 * np.pi * residuals / m) + 1)
        return values

    def price(self, parents: NDArray[np.int64]) -> NDArray[np.float64]:
        """What families with so many parents cost."""
        cost: NDArray[np.float64] = np.log(self._moments.n) / 2 * (parents + 2)
        return cost

    def likelihood_bounds(self, allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
        """For each child j the log-likelihood with all parents i that `allowed[i, j]` permits.

        No smaller set fits better. Infinite where the parents allowed are as many as the rows.
        """
        d = len(self._schema)
        families = [(child, np.flatnonzero(allowed[:, child]).tolist()) for child in range(d)]
        bounds = self._likelihood(FlatFamilies.of(families))
        bounds[allowed.sum(axis=0) + 1 >= self._moments.n] = np.inf
        return bounds
