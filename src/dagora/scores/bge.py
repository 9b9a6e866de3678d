"""BGe: marginal likelihood of a linear-Gaussian family under a normal-Wishart prior.

With R = T + scatter + (N α_μ / (N + α_μ)) (x̄ − ν)(x̄ − ν)ᵀ, T = t diag(v) and t = α_μ (α_w − d − 1)/(α_μ + 1),
a family with p parents scores
  −N/2 ln π + ½ ln(α_μ/(N + α_μ)) + ln Γ((N + α_w − d + p + 1)/2) − ln Γ((α_w − d + p + 1)/2)
  + ½ (α_w − d + p + 1) ln|T_{P∪x}| − ½ (α_w − d + p) ln|T_PP|
  + ½ (N + α_w − d + p) ln|R_PP| − ½ (N + α_w − d + p + 1) ln|R_{P∪x}|,
in the form corrected by Kuipers, Moffa & Heckerman (2014). The prior mean ν is the sample mean, so shifting a
column does not change the score.

By default v are the columns' variances (of N − 1), so that the prior expects as much spread as the data have
and a change of units adds −N ln(factor) to every family of that column and nothing else. With `unit`, v = 1:
the prior then expects a spread of about 1 in whatever units the columns have, and other units give other
graphs. Both agree on standardised columns, in which the score is computed.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.scores.gaussian import FlatFamilies
from dagora.scores.local_score import ScoreCapabilities
from dagora.scores.moment_score import MomentScore
from dagora.scores.pivot_form import form_scores, one_group
from dagora.stats.statistics import Statistics

PRIOR_SCALES = ("columns", "unit")


class BGe(MomentScore):
    """Bayesian Gaussian equivalent score; `alpha_w` defaults to d + `alpha_mu` + 1."""

    def __init__(
        self,
        statistics: Statistics,
        *,
        alpha_mu: float = 1.0,
        alpha_w: float | None = None,
        prior_scale: str = "columns",
    ) -> None:
        super().__init__(statistics, "bge")
        d = len(statistics.schema)
        wishart = d + alpha_mu + 1 if alpha_w is None else alpha_w
        if not (math.isfinite(alpha_mu) and alpha_mu > 0):
            raise OptionError(f"alpha_mu must be a positive number, not {alpha_mu}")
        if not (math.isfinite(wishart) and wishart > d + 1):
            raise OptionError(
                f"alpha_w must be larger than the number of columns + 1 = {d + 1}, not {wishart}"
            )
        if prior_scale not in PRIOR_SCALES:
            raise OptionError(f"prior_scale is one of {', '.join(PRIOR_SCALES)}, not '{prior_scale}'")
        self._alpha_mu = alpha_mu
        self._freedom = wishart - d
        self._scale = alpha_mu * (wishart - d - 1) / (alpha_mu + 1)
        spread = np.sqrt(np.diag(self._moments.scatter) / max(1, self._moments.n - 1))
        self._spread: NDArray[np.float64] = spread if prior_scale == "columns" else np.ones(d)
        in_spreads = self._moments.scatter / self._spread / self._spread[:, None]
        posterior = in_spreads + self._scale * np.eye(d)
        self._form = one_group(
            posterior, -self.n_rows * np.log(self._spread), *self._of_sizes(np.arange(d, dtype=np.float64))
        )

    def _of_sizes(self, p: NDArray[np.float64]) -> tuple[NDArray[np.float64], float, NDArray[np.float64]]:
        """The terms of the number of parents alone, and the factors of ln|R_PP| and of ln r(x | P)."""
        from scipy.special import gammaln

        n, freedom = self.n_rows, self._freedom
        constant = -n / 2 * np.log(np.pi) + 0.5 * np.log(self._alpha_mu / (n + self._alpha_mu))
        sizes = (
            constant
            + gammaln((n + freedom + p + 1) / 2)
            - gammaln((freedom + p + 1) / 2)
            + 0.5 * (freedom + 2 * p + 1) * np.log(self._scale)
        )
        return sizes, -0.5, -0.5 * (n + freedom + p + 1)  # |R_{P∪x}| = |R_PP| r(x | P)

    @property
    def capabilities(self) -> ScoreCapabilities:
        """Those of a score of moments, and its form of determinants and residuals."""
        return replace(super().capabilities, pivot_form=lambda: self._form)

    def _score(self, families: FlatFamilies) -> NDArray[np.float64]:
        return form_scores(self._form, families)
