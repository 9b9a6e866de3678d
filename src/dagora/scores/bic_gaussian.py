"""BIC of a linear-Gaussian family: log-likelihood at the least-squares fit minus (ln m)/2 per free parameter.

−m/2 [ln(2π RSS/m) + 1] − c (ln m)/2 (|P| + 2): the parameters are an intercept, |P| coefficients and a
variance; the factor c is 1 unless the option `penalty` says more or less.

A family with as many coefficients (intercept included) as rows fits perfectly, which means nothing:
it scores −∞. If columns are linearly dependent, each gets a little noise (`linear_dependence`). If few
are nearly so and their rows are in memory, families are scored from those (`rows_factor`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dagora.scores.gaussian import FlatFamilies, family_pivots, least_residuals
from dagora.scores.linear_dependence import (
    ROUNDING,
    dependence_warnings,
    dependent_columns,
    near_dependence_warnings,
    with_noise,
)
from dagora.scores.local_score import ScoreCapabilities
from dagora.scores.moment_score import MomentScore
from dagora.scores.penalty import noise_warnings
from dagora.scores.pivot_form import form_scores, one_group
from dagora.scores.rows_factor import RowsFactor
from dagora.stats.statistics import Statistics
from dagora.stats.table import TableStatistics

# With more columns than these, bounds are computed for all of them at once, and none is scored from its rows.
WIDE = 100


class GaussianBIC(MomentScore):
    """Bayesian information criterion of linear regressions; `penalty` is a factor on a parameter's price."""

    rounding = ROUNDING
    """The share of its variance that others must leave of a column."""

    def __init__(self, statistics: Statistics, *, penalty: float = 1.0) -> None:
        super().__init__(statistics, "bic-gaussian")
        self.dependent = dependent_columns(self._moments, self.schema.names, self.rounding)
        self._factor: RowsFactor | None = None
        if self.dependent:
            if isinstance(statistics, TableStatistics) and len(self.schema) <= WIDE:
                factor = RowsFactor.of(statistics.rows(), self._moments)
                self._factor = factor if factor.tells else None
            self._moments = with_noise(self._moments)
        self._penalty = penalty
        self._price = penalty * np.log(max(1, self._moments.n)) / 2
        m, columns = self._moments.n, len(self.schema)
        sizes = self._likelihood_of(np.ones(columns)) - self.price(np.arange(columns))
        sizes[np.arange(columns) + 1 >= m] = -np.inf
        self._form = one_group(self._moments.scatter, np.zeros(columns), sizes, 0.0, np.full(columns, -m / 2))

    @property
    def capabilities(self) -> ScoreCapabilities:
        """Those of a score of moments, its form of residuals, and warnings."""
        form = self._form if self._factor is None else None
        return replace(super().capabilities, pivot_form=lambda: form, warnings=self._warnings)

    def _warnings(self) -> list[str]:
        """Linearly dependent columns, and edges that chance alone may bring."""
        if self._factor is None:
            dependent = dependence_warnings(self.dependent, "bge")
        else:
            dependent = near_dependence_warnings(self.dependent)
        return [*dependent, *noise_warnings(self.schema, self._moments.n, self._penalty)]

    def _score(self, families: FlatFamilies) -> NDArray[np.float64]:
        if self._factor is None:
            return form_scores(self._form, families)
        sizes = families.sizes
        fit = self._form.residual[0, sizes] * np.log(self._factor.residuals(families))
        scores: NDArray[np.float64] = self._form.size[0, sizes] + fit
        return scores

    def _likelihood(self, families: FlatFamilies) -> NDArray[np.float64]:
        if self._factor is not None:
            return self._likelihood_of(self._factor.residuals(families))
        return self._likelihood_of(family_pivots(self._moments.scatter, families)[1])

    def _likelihood_of(self, residuals: NDArray[np.float64]) -> NDArray[np.float64]:
        m = self._moments.n
        values: NDArray[np.float64] = -m / 2 * (np.log(2 * np.pi * residuals / m) + 1)
        return values

    def price(self, parents: NDArray[np.int64]) -> NDArray[np.float64]:
        """The penalty of families with these numbers of parents."""
        cost: NDArray[np.float64] = self._price * (parents + 2)
        return cost

    def likelihood_bounds(self, allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
        """For each child j, at least the log-likelihood with all parents i that `allowed[i, j]` permits.

        No subset of them fits better. The bound is infinite where there are too few rows for so many parents.
        With many columns, where a regression for each takes long, all other columns count as permitted.
        """
        d = len(self.schema)
        bounds = np.full(d, np.inf)
        finite = np.flatnonzero(allowed.sum(axis=0) + 1 < self._moments.n)
        if d > WIDE and len(finite):
            residuals = least_residuals(self._moments.scatter)[finite]
            bounds[finite] = self._likelihood_of(residuals)
        elif len(finite):
            families = [(child, np.flatnonzero(allowed[:, child]).tolist()) for child in finite.tolist()]
            bounds[finite] = self._likelihood(FlatFamilies.of(families))
        return bounds
