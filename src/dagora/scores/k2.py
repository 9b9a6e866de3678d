"""K2: marginal likelihood under a flat Dirichlet prior on every row of every table.

Σ_j [ln (r − 1)! − ln (n_j + r − 1)!] + Σ_jk ln n_jk!, with exact log-factorials (Cooper & Herskovits 1992).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Schema
from dagora.scores.bdeu import sum_log_rising
from dagora.scores.discrete import count_families, require_discrete, sum_over_cells
from dagora.scores.local_score import Family
from dagora.stats.statistics import Statistics


class K2Score:
    """The score of Cooper and Herskovits."""

    def __init__(self, statistics: Statistics) -> None:
        require_discrete(statistics, "k2")
        self._statistics = statistics

    @property
    def schema(self) -> Schema:
        """The variables that are scored."""
        return self._statistics.schema

    @property
    def n_rows(self) -> int:
        """Number of rows behind the score."""
        return self._statistics.n_rows

    @cached_property
    def _log_factorial(self) -> NDArray[np.float64]:
        from scipy.special import gammaln

        table: NDArray[np.float64] = gammaln(np.arange(1, self.n_rows + 2, dtype=np.float64))
        return table

    def families(self, families: Sequence[Family]) -> NDArray[np.float64]:
        """Scores of many families."""
        size = len(families)
        counts = count_families(self._statistics, families)
        joint = sum_over_cells(counts.values, counts.offsets[: size + 1], self._log_factorial)
        levels = counts.levels.astype(np.float64)
        return joint - sum_log_rising(counts.values, counts.offsets[size:], levels)
