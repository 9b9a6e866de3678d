"""BIC and AIC of discrete families: maximised log-likelihood minus a price per free parameter.

log L(X | P) = Σ n ln n over the cells of P ∪ {X} − Σ n ln n over the cells of P;
BIC = log L − (ln m)/2 · (r − 1) q and AIC = log L − (r − 1) q, with m rows, natural logarithms, and
r, q the declared numbers of levels (Schwarz 1978; Akaike 1974).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Schema
from dagora.scores.discrete import count_families, require_discrete, sum_over_cells
from dagora.scores.local_score import Family
from dagora.stats.statistics import Statistics


class PenalisedLikelihood:
    """Log-likelihood of discrete families minus `price` per free parameter."""

    def __init__(self, statistics: Statistics, price: float) -> None:
        self._statistics = statistics
        self._price = price

    @property
    def schema(self) -> Schema:
        """The variables that are scored."""
        return self._statistics.schema

    @property
    def n_rows(self) -> int:
        """Number of rows behind the score."""
        return self._statistics.n_rows

    @cached_property
    def _n_log_n(self) -> NDArray[np.float64]:
        n = np.arange(self.n_rows + 1, dtype=np.float64)
        return n * np.log(np.maximum(n, 1.0))

    def families(self, families: Sequence[Family]) -> NDArray[np.float64]:
        """Scores of many families."""
        counts = count_families(self._statistics, families)
        sums = sum_over_cells(counts.values, counts.offsets, self._n_log_n)
        likelihood = sums[: len(families)] - sums[len(families) :]
        return likelihood - self._price * (counts.levels - 1) * counts.configurations


def bic(statistics: Statistics) -> PenalisedLikelihood:
    """Bayesian information criterion."""
    require_discrete(statistics, "bic")
    return PenalisedLikelihood(statistics, price=np.log(max(1, statistics.n_rows)) / 2)


def aic(statistics: Statistics) -> PenalisedLikelihood:
    """Akaike's information criterion."""
    require_discrete(statistics, "aic")
    return PenalisedLikelihood(statistics, price=1.0)
