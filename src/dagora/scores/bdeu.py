"""BDeu: marginal likelihood under a Dirichlet prior that is uniform over all cells of a family.

Σ_j [ln Γ(a) − ln Γ(a + n_j)] + Σ_jk [ln Γ(b + n_jk) − ln Γ(b)], a = ess/q, b = ess/(r q), over occupied
cells only (others contribute nothing). Buntine 1991; Heckerman, Geiger & Chickering 1995.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import kernel
from dagora.data.schema import Schema
from dagora.errors import OptionError
from dagora.scores.discrete import count_families, require_discrete
from dagora.scores.local_score import Family
from dagora.stats.statistics import Statistics


class BDeu:
    """Bayesian Dirichlet equivalent uniform score with equivalent sample size `ess`."""

    def __init__(self, statistics: Statistics, *, ess: float = 1.0) -> None:
        require_discrete(statistics, "bdeu")
        if not (math.isfinite(ess) and ess > 0):
            raise OptionError(f"ess must be a positive number, not {ess}")
        self._statistics = statistics
        self._ess = ess

    @property
    def schema(self) -> Schema:
        """The variables that are scored."""
        return self._statistics.schema

    @property
    def n_rows(self) -> int:
        """Number of rows behind the score."""
        return self._statistics.n_rows

    def families(self, families: Sequence[Family]) -> NDArray[np.float64]:
        """Scores of many families."""
        counts = count_families(self._statistics, families)
        per_configuration = self._ess / counts.configurations
        pseudocounts = np.concatenate([per_configuration / counts.levels, per_configuration])
        sums = sum_log_rising(counts.values, counts.offsets, pseudocounts)
        return sums[: len(families)] - sums[len(families) :]


@kernel
def sum_log_rising(
    values: NDArray[np.int64], offsets: NDArray[np.int64], pseudocounts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Σ [ln Γ(a + n) − ln Γ(a)] over the counts of each set, with the set's own pseudo-count a."""
    sums = np.zeros(len(pseudocounts))
    for k in range(len(pseudocounts)):
        a = pseudocounts[k]
        base = math.lgamma(a)
        total = 0.0
        for cell in range(offsets[k], offsets[k + 1]):
            total += math.lgamma(a + values[cell]) - base
        sums[k] = total
    return sums
