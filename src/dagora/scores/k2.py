"""K2: marginal likelihood under a flat Dirichlet prior on every row of every table.

Σ_j [ln (r − 1)! − ln (n_j + r − 1)!] + Σ_jk ln n_jk!, with exact log-factorials (Cooper & Herskovits 1992).
"""

from __future__ import annotations

import numpy as np

from dagora.scores.bdeu import sum_log_rising
from dagora.scores.discrete import DiscreteScore, Floats, Terms, require_discrete, sum_over_cells
from dagora.stats.statistics import Cells, Statistics


def k2(statistics: Statistics) -> DiscreteScore:
    """The score of Cooper and Herskovits."""
    from scipy.special import gammaln

    require_discrete(statistics, "k2")
    log_factorial: Floats = gammaln(np.arange(1, statistics.n_rows + 2, dtype=np.float64))

    def joint(counts: Cells, cells: Floats) -> Floats:  # noqa: ARG001 - the number of cells plays no part
        return sum_over_cells(counts.values, counts.starts, counts.stops, log_factorial)

    def parents(counts: Cells, configurations: Floats, levels: Floats) -> Floats:  # noqa: ARG001
        return sum_log_rising(counts.values, counts.starts, counts.stops, levels)

    return DiscreteScore(statistics, Terms(joint, parents, levels_matter=True))
