"""The Gaussian profile likelihood with unequal variances: a loss that does not depend on the columns' scale.

Maximised over the noise variances, minus the mean log-likelihood of a row is, up to a constant,

    ½ Σ_j ln r_j(W),      r_j = residual variance of column j given its parents

(on a DAG; compare Ng, Ghassami & Zhang 2020). Scaling a column changes it by a constant only, whereas least
squares prefers graphs whose edges lead to columns of large variance. Equivalent graphs fit equally well, so
directions that only the penalty decides should not be believed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from dagora.learners.optimise.path.column_problem import SMALLEST_RESIDUAL
from dagora.learners.optimise.path.refitting import refit_columns


@final
@dataclass(frozen=True, eq=False)
class ProfileLikelihood:
    """½ Σ_j ln r_j for a covariance S, usually that of standardised columns.

    >>> loss = ProfileLikelihood(np.array([[1.0, 0.6], [0.6, 1.0]]))
    >>> round(loss.value(np.array([[0.0, 0.6], [0.0, 0.0]])), 6)  # ½ ln(1 − 0.6²)
    -0.223144
    """

    covariance: NDArray[np.float64]

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.covariance)

    def value(self, weights: NDArray[np.float64]) -> float:
        """Half the sum of the logarithms of the residual variances."""
        return self.value_and_gradient(weights)[0]

    def value_and_gradient(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The loss, and −S(e_j − w_j)/r_j for column j."""
        residual = np.eye(len(weights)) - weights
        product = self.covariance @ residual
        variances = (residual * product).sum(axis=0)
        floor = SMALLEST_RESIDUAL * np.diag(self.covariance)
        variances = np.maximum(variances, floor)
        return 0.5 * float(np.log(variances).sum()), -product / variances

    def refit(self, support: NDArray[np.bool_], lambda1: float) -> NDArray[np.float64]:
        """A sequence of lassos per column, until its residual variance converges."""
        return refit_columns(self.covariance, support, lambda1, profile=True)
