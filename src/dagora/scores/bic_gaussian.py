"""BIC of a linear-Gaussian family: log-likelihood at the least-squares fit minus (ln m)/2 per free parameter.

−m/2 [ln(2π RSS/m) + 1] − (ln m)/2 (|P| + 2): an intercept, |P| coefficients and a variance. With as many
parameters as rows the fit is perfect and says nothing: such a family scores −∞.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Schema
from dagora.scores.gaussian import family_pivots, gaussian_moments
from dagora.scores.local_score import Family
from dagora.stats.statistics import Statistics


class GaussianBIC:
    """Bayesian information criterion of linear regressions."""

    def __init__(self, statistics: Statistics) -> None:
        self._moments = gaussian_moments(statistics, "bic-gaussian")
        self._schema = statistics.schema

    @property
    def schema(self) -> Schema:
        """The variables that are scored."""
        return self._schema

    @property
    def n_rows(self) -> int:
        """Number of rows behind the score."""
        return self._moments.n

    def families(self, families: Sequence[Family]) -> NDArray[np.float64]:
        """Scores of many families."""
        m = self._moments.n
        _, residuals, sizes = family_pivots(self._moments.scatter, families)
        likelihood = -m / 2 * (np.log(2 * np.pi * residuals / m) + 1)
        values: NDArray[np.float64] = likelihood - np.log(m) / 2 * (sizes + 2)
        values[sizes + 1 >= m] = -np.inf
        return values
