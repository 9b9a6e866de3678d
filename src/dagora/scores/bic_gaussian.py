"""BIC of a linear-Gaussian family: log-likelihood at the least-squares fit minus (ln m)/2 per free parameter.

−m/2 [ln(2π RSS/m) + 1] − (ln m)/2 (|P| + 2): the parameters are an intercept, |P| coefficients and a
variance. A family with as many coefficients (intercept included) as rows fits perfectly, which means nothing:
it scores −∞.
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
        """The penalty of families with these numbers of parents."""
        cost: NDArray[np.float64] = np.log(self._moments.n) / 2 * (parents + 2)
        return cost

    def likelihood_bounds(self, allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
        """For each child j, the log-likelihood with all parents i that `allowed[i, j]` permits.

        No subset of them fits better. The bound is infinite where there are too few rows for so many parents.
        """
        d = len(self._schema)
        families = [(child, np.flatnonzero(allowed[:, child]).tolist()) for child in range(d)]
        bounds = self._likelihood(FlatFamilies.of(families))
        bounds[allowed.sum(axis=0) + 1 >= self._moments.n] = np.inf
        return bounds
