"""BDeu: marginal likelihood under a Dirichlet prior that is uniform over all cells of a family.

Σ_j [ln Γ(a) − ln Γ(a + n_j)] + Σ_jk [ln Γ(b + n_jk) − ln Γ(b)], a = ess/q, b = ess/(r q), over occupied
cells only (others contribute nothing). Buntine 1991; Heckerman, Geiger & Chickering 1995.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.kernels.decorators import kernel
from dagora.scores.discrete import DiscreteScore, Floats, Terms, require_discrete
from dagora.stats.statistics import Cells, Statistics


def bdeu(statistics: Statistics, *, ess: float = 1.0) -> DiscreteScore:
    """Bayesian Dirichlet equivalent uniform score with equivalent sample size `ess`."""
    require_discrete(statistics, "bdeu")
    return bdeu_of(statistics, ess)


def bdeu_of(statistics: Statistics, ess: float) -> DiscreteScore:
    """The same on the discrete columns of any table."""
    if not (math.isfinite(ess) and ess > 0):
        raise OptionError(f"ess must be a positive number, not {ess}")

    def joint(counts: Cells, cells: Floats) -> Floats:
        return sum_log_rising(counts.values, counts.starts, counts.stops, ess / cells)

    def parents(counts: Cells, configurations: Floats, levels: Floats) -> Floats:  # noqa: ARG001
        return sum_log_rising(counts.values, counts.starts, counts.stops, ess / configurations)

    return DiscreteScore(statistics, Terms(joint, parents, ess=ess))


@kernel
def sum_log_rising(
    values: NDArray[np.int64], starts: NDArray[np.int64], stops: NDArray[np.int64], pseudocounts: Floats
) -> Floats:
    """Σ [ln Γ(a + n) − ln Γ(a)] over the counts of each set, with the set's own pseudo-count a."""
    sums = np.zeros(len(pseudocounts))
    for k in range(len(pseudocounts)):
        a = pseudocounts[k]
        base = math.lgamma(a)
        total = 0.0
        for cell in range(starts[k], stops[k]):
            total += math.lgamma(a + values[cell]) - base
        sums[k] = total
    return sums
