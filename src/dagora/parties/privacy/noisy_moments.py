"""Statistics of continuous columns from one release of moments.

The released sums are divided by the released number of rows. In the units of the ranges, noise gives each
covariance a standard deviation s, whatever the columns: a random matrix with eigenvalues up to about 2s√d
either way. Eigenvalues below ½ s √(d/2) are raised to that, as smaller ones are noise.

Scores and tests allow for noise if they are given moments of fewer rows: n_eff = 1 / (1/n + κ t²). A partial
correlation that n rows leave uncertain by 1/√n is moved by noise by about t, which is s over the residual
variance of a column given all others, on average over columns. This t and κ = 2 were chosen among four kinds
of t and several κ each, on simulated networks of 8, 20 and 40 columns whose seeds (100 to 109) are not among
those of the benchmark. It is a compromise: `ges` did well with κ of 2 or more, `dual-pc` often better with 1,
and no choice was best everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, RowsUnavailableError
from dagora.base.options import Value
from dagora.data.schema import Schema
from dagora.parties.privacy.moment_features import (
    GRID,
    MEAN_BITS,
    ROOT_BITS,
    ROOT_TWO,
    Range,
    feature_count,
    mean_weight,
)
from dagora.parties.privacy.terms import PrivacyTerms, require_kind
from dagora.stats.capabilities import StatisticsCapabilities
from dagora.stats.statistics import CellCounts, ColumnSets, Contingency, Moments

NOISE_WEIGHT = 2.0  # κ above
# NOTEARS takes the larger of this and twice the noise of a covariance as its penalty.
LEAST_LAMBDA = 0.01


class NoisyMoments:
    """Statistics from moments that carry noise, for NOTEARS and for searches on Gaussian scores."""

    max_parents: int | None = None

    def __init__(
        self, terms: PrivacyTerms, schema: Schema, ranges: Sequence[Range], summed: NDArray[np.int64]
    ) -> None:
        require_kind(schema, "moments")
        d = len(schema)
        if summed.shape != (feature_count(d),):
            raise DataError(f"the moments of {d} columns are {feature_count(d)} numbers, not {summed.size}")
        self._terms = terms
        self.schema = schema
        values = summed / GRID
        rows = float(values[0])
        if rows < 2:
            raise DataError(
                "the noise is larger than the number of rows: release more rows, or with a larger epsilon"
            )
        weight = mean_weight(Fraction(terms.row_bound or 0)) / 2**MEAN_BITS
        mean = values[1 : d + 1] / (weight * rows)
        products = np.zeros((d, d))
        upper = np.triu_indices(d)
        products[upper] = values[d + 1 :] / rows
        products[np.triu_indices(d, 1)] /= ROOT_TWO / 2**ROOT_BITS
        products = np.triu(products) + np.triu(products, 1).T
        noise = math.sqrt(terms.sum_variance / 2) / GRID / rows  # of a covariance of two columns
        covariance = raise_eigenvalues(products - np.outer(mean, mean), noise * math.sqrt(d / 2) / 2)
        low, high = np.array(ranges, dtype=np.float64).T
        centre, half = (low + high) / 2, (high - low) / 2
        spread = np.sqrt(np.diag(covariance))
        self._rows = rows
        self._mean = centre + half * mean
        self._covariance = covariance * np.outer(half, half)
        self._noise = noise * float(np.mean(half)) ** 2
        self._correlation_noise = noise * float(np.mean(1 / spread)) ** 2
        self._partial_noise = noise * float(np.mean(np.diag(np.linalg.inv(covariance))))

    @property
    def n_rows(self) -> int:
        """The number of rows, as estimated from the release."""
        return round(self._rows)

    @property
    def effective_rows(self) -> int:
        """The number of rows without noise that would leave as much uncertainty."""
        return max(2, round(1 / (1 / self._rows + NOISE_WEIGHT * self._partial_noise**2)))

    def moments(self) -> Moments:
        """Moments as if of `effective_rows` rows."""
        n = self.effective_rows
        return Moments(n, self._mean, self._covariance * n)

    def counts(self, column_sets: ColumnSets) -> CellCounts:
        """Continuous columns are not counted."""
        if len(column_sets):
            raise DataError(f"column '{self.schema[0].name}' is continuous, so it cannot be counted")
        return CellCounts(np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64))

    def contingency(self, columns: Sequence[int]) -> Contingency:
        """Continuous columns are not counted."""
        self.counts([columns])
        raise AssertionError  # never reached: `counts` refuses

    def rows(self) -> NoReturn:
        """Rows were never released."""
        raise RowsUnavailableError(
            "only moments with noise were released, no rows: use notears, or a search with bic-gaussian"
        )

    @property
    def capabilities(self) -> StatisticsCapabilities:
        """The terms and consequences of the noise."""
        return StatisticsCapabilities(release=self)

    def terms(self) -> Mapping[str, Value]:
        """The terms of the release, as JSON."""
        return self._terms.to_dict()

    def account(self) -> list[str]:
        """Describe the guarantee, the released sums, and the error to expect."""
        expected = (
            f"expect each correlation to be off by about {self._correlation_noise:.2g}: scores and tests "
            f"work as if on {self.effective_rows} rows"
        )
        return [*self._terms.describe(), expected]

    def warnings(self, method: str) -> list[str]:  # noqa: ARG002 (the same for all)
        """Too few rows for the noise."""
        return self._terms.warnings(self._rows)

    def defaults(self, method: str) -> Mapping[str, Value]:
        """Options of a method that noise changes: the penalty of NOTEARS."""
        return {"lambda1": max(LEAST_LAMBDA, 2 * self._noise)} if method == "notears" else {}


def raise_eigenvalues(matrix: NDArray[np.float64], floor: float) -> NDArray[np.float64]:
    """The matrix with eigenvalues below the floor raised to it.

    >>> raise_eigenvalues(np.diag([2.0, -1.0]), 0.5)
    array([[2. , 0. ],
           [0. , 0.5]])
    """
    values, vectors = np.linalg.eigh(matrix)
    whole = (vectors * np.maximum(values, floor)) @ vectors.T
    symmetric: NDArray[np.float64] = (whole + whole.T) / 2
    return symmetric
