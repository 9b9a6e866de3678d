"""Losses of a weighted graph on data, with gradients: least squares, profile likelihood, logistic, Poisson.

The weight of the edge i → j is W[i, j]; column j of W predicts variable j from its parents by η = XW + b.

- least squares: ½ tr((I − W)ᵀ S (I − W)) = 1/(2n) ‖X − XW‖², with S = XᵀX/n of centred data, without the
  rows;
- profile likelihood: ½ Σ_j ln r_j with r_j the residual variance of column j given its parents, which on a
  DAG is minus the mean Gaussian log-likelihood of a row, maximised over the noise variances, up to a constant
  (compare Ng, Ghassami & Zhang 2020). Scaling a column changes it by a constant only, whereas least squares
  prefers edges into columns of large variance. Equivalent graphs fit equally well, so directions that only
  the penalty decides should not be believed;
- logistic, x ∈ {0, 1}: 1/n Σ [log(1 + e^η) − x η];
- Poisson, x ∈ {0, 1, 2, …}: 1/n Σ [e^η − x η].

The last two are Σ [a(η) − x η] / n of an exponential family with log-partition function a. Each variable has
an intercept b, which is not penalised and is profiled out (`exponential_family`); centred data need none.
Zheng et al. (2018) have no intercept (`intercept=False`): a variable without parents is then predicted with
probability ½ or rate 1, and any other variable that is mostly 1 takes the place of the intercept.

Given a support, every loss splits into one convex program per column, min loss + λ‖w‖₁, which `refit` solves:
exactly for least squares, by a sequence of lassos for the profile likelihood, by proximal Newton steps for
the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.base.wording import col
from dagora.data.schema import Kind, Variable
from dagora.learners.optimise.exponential_family import (
    BERNOULLI,
    POISSON,
    Family,
    family_gradient,
    family_loss,
    refit_family,
)
from dagora.learners.optimise.path.column_problem import SMALLEST_RESIDUAL
from dagora.learners.optimise.path.refitting import refit_columns
from dagora.stats.statistics import Statistics

# Doubles represent all whole numbers up to this one.
EXACT_COUNTS = 2.0**53


class Loss(Protocol):
    """A smooth loss of a weight matrix that is a sum of convex functions of its columns."""

    @property
    def n_variables(self) -> int:
        """Number of variables d; weights are d × d."""

    def value(self, weights: NDArray[np.float64]) -> float:
        """The loss, without penalty; infinite if it overflows."""

    def value_and_gradient(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The loss and its derivatives by the weights."""

    def refit(self, support: NDArray[np.bool_], lambda1: float) -> NDArray[np.float64]:
        """The weights that minimise loss + λ‖W‖₁ among those that are zero outside an acyclic support."""


@final
@dataclass(frozen=True, eq=False)
class LeastSquares:
    """½ tr((I − W)ᵀ S (I − W)) for a covariance S = XᵀX/n of centred data.

    >>> loss = LeastSquares(np.array([[1.0, 0.5], [0.5, 1.0]]))
    >>> loss.value(np.zeros((2, 2))), loss.refit(np.array([[False, True], [False, False]]), 0.1).tolist()
    (1.0, [[0.0, 0.4], [0.0, 0.0]])
    """

    covariance: NDArray[np.float64]

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.covariance)

    def value(self, weights: NDArray[np.float64]) -> float:
        """Half the sum of the residual variances."""
        return self.value_and_gradient(weights)[0]

    def value_and_gradient(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The loss and −S(I − W)."""
        residual = np.eye(len(weights)) - weights
        product = self.covariance @ residual
        return 0.5 * float(np.vdot(residual, product)), -product

    def refit(self, support: NDArray[np.bool_], lambda1: float) -> NDArray[np.float64]:
        """A lasso per column, on the covariance."""
        return refit_columns(self.covariance, support, lambda1, profile=False)


@final
@dataclass(frozen=True, eq=False)
class ProfileLikelihood:
    """½ Σ_j ln r_j for a covariance S, usually that of standardised columns, with residual variances r_j.

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


@final
@dataclass(frozen=True, eq=False)
class FamilyLoss:
    """1/n Σ [a(η) − x∘η] over rows of an exponential family, minus the mean log-likelihood of a row.

    A constant that does not depend on the weights (Σ log x! of counts) is left out. The intercepts are those
    that minimise the loss, unless the family has none. Made by `logistic_loss` and `poisson_loss`.
    """

    family: Family
    rows: NDArray[np.float64]

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.rows.T)

    def value(self, weights: NDArray[np.float64]) -> float:
        """Minus the mean log-likelihood of a row, up to a constant; infinite if it overflows."""
        return family_loss(self.family, self.rows, self.rows, weights)

    def value_and_gradient(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The loss and Xᵀ(a′(η) − X)/n; infinite with a gradient of zeros if it overflows."""
        return family_gradient(self.family, self.rows, self.rows, weights)

    def refit(self, support: NDArray[np.bool_], lambda1: float) -> NDArray[np.float64]:
        """A regression with an L1 penalty per column."""
        return refit_family(self.family, self.rows, support, lambda1)


def logistic_loss(rows: NDArray[np.float64], *, intercept: bool = True) -> FamilyLoss:
    """1/n Σ [log(1 + e^η) − x∘η] for rows of zeros and ones.

    >>> rows = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> round(logistic_loss(rows).value(np.zeros((2, 2))), 6)  # log 2: the second column is certain
    0.693147
    >>> round(logistic_loss(rows, intercept=False).value(np.zeros((2, 2))), 6)  # 2 log 2
    1.386294
    """
    return FamilyLoss(BERNOULLI if intercept else BERNOULLI.through_the_origin(), rows)


def poisson_loss(rows: NDArray[np.float64], *, intercept: bool = True) -> FamilyLoss:
    """1/n Σ [e^η − x∘η] for rows of counts, without the constant Σ log x!.

    >>> loss = poisson_loss(np.array([[0.0, 1000.0], [1.0, 3.0]]), intercept=False)
    >>> loss.value(np.zeros((2, 2))), loss.value(np.ones((2, 2)))
    (2.0, inf)
    """
    return FamilyLoss(POISSON if intercept else POISSON.through_the_origin(), rows)


def logistic_rows(statistics: Statistics) -> NDArray[np.float64]:
    """Rows of zeros and ones, the second level of a column being 1; raises for other data."""
    table = statistics.rows()
    columns = [
        binary_column(variable, column) for variable, column in zip(table.schema, table.columns, strict=True)
    ]
    return np.column_stack(columns)


def count_rows(statistics: Statistics) -> NDArray[np.float64]:
    """Rows of counts: continuous columns, or discrete ones whose levels are numbers; raises for others."""
    table = statistics.rows()
    columns = [
        count_column(variable, column) for variable, column in zip(table.schema, table.columns, strict=True)
    ]
    return np.column_stack(columns)


def binary_column(variable: Variable, column: NDArray[Any]) -> NDArray[np.float64]:
    """A column as zeros and ones."""
    if variable.kind is Kind.DISCRETE and variable.cardinality != 2:
        levels = "1 level" if variable.cardinality == 1 else f"{variable.cardinality} levels"
        raise DataError(
            f"{col(variable.name)} has {levels}, the logistic loss needs 2: "
            "merge levels, leave it out, or choose another loss"
        )
    values = column.astype(np.float64)
    if not np.isin(values, (0.0, 1.0)).all():
        raise DataError(
            f"{col(variable.name)} has values other than 0 and 1, which the logistic loss needs: "
            "cut it into two levels, leave it out, or choose another loss"
        )
    return values


def count_column(variable: Variable, column: NDArray[Any]) -> NDArray[np.float64]:
    """A column as non-negative whole numbers."""
    try:
        values: NDArray[np.float64] = (
            np.array([float(level) for level in variable.levels])[column]
            if variable.kind is Kind.DISCRETE
            else column
        )
    except ValueError:
        raise DataError(
            f"{col(variable.name)} has levels that are no numbers, the Poisson loss needs counts: "
            "leave it out, or choose another loss"
        ) from None
    if not (np.isfinite(values) & (values >= 0) & (values == np.floor(values))).all():
        raise DataError(
            f"{col(variable.name)} has values that are no counts (0, 1, 2, …), which the Poisson loss "
            "needs: leave it out, or choose another loss"
        )
    if (values > EXACT_COUNTS).any():
        raise DataError(
            f"{col(variable.name)} has counts above 2⁵³, which are not exact here: count in larger units"
        )
    return values
