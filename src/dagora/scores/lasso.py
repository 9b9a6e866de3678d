"""The NOTEARS program as a score: minus the smallest lasso objective of a child on its parents.

    s_j(P) = −min_w [ 1/(2n) ‖x_j − X_P w‖² + λ ‖w‖₁ ]

on centred columns (Zheng, Aragam, Ravikumar & Xing 2018). Given the graph, the program's objective is a sum
over columns, so an exact search on this score finds the program's global optimum. A further parent never
lowers the score; if its weight is zero the score stays the same, and the smaller set is preferred. The score
depends on the units of the columns, and equivalent graphs may differ in it. It has no penalty for an
intercept or a variance, so λ = 0 and fewer rows than parents are allowed. Columns that are equal up to scale
and shift are refused, as the program itself refuses them.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.kernels.decorators import kernel
from dagora.scores.gaussian import FlatFamilies
from dagora.scores.lasso_kernels import solve_lasso
from dagora.scores.local_score import ScoreCapabilities
from dagora.scores.moment_score import MomentScore
from dagora.scores.usable_moments import refuse_duplicates
from dagora.stats.statistics import Statistics

# A fit that leaves less than this share of the child's variance counts as perfect. The rest is rounding,
# which would otherwise make larger sets look better.
PERFECT = 1e-10
# There is a warning if standard deviations differ by more than this factor: units then decide about edges.
APART = 10.0


class LassoScore(MomentScore):
    """Minus the lasso objective of each family."""

    def __init__(self, statistics: Statistics, *, lambda1: float = 0.1) -> None:
        if not (math.isfinite(lambda1) and lambda1 >= 0):
            raise OptionError(f"lambda1 must be a number, 0 or more, not {lambda1}")
        super().__init__(statistics, "lasso")
        refuse_duplicates(self._moments, statistics.schema, "the score lasso")
        self._covariance = np.ascontiguousarray(self._moments.covariance)
        self._lambda1 = float(lambda1)

    @property
    def capabilities(self) -> ScoreCapabilities:
        """Those of a score of moments, and a warning."""
        return replace(super().capabilities, warnings=self._warnings)

    def _warnings(self) -> list[str]:
        """A warning if the units of the columns differ much."""
        spreads = np.sqrt(np.diag(self._covariance))
        if spreads.max(initial=0.0) <= APART * spreads.min(initial=np.inf):
            return []
        wide, narrow = (self.schema.names[int(k)] for k in (spreads.argmax(), spreads.argmin()))
        warning = (
            f"the score lasso depends on the units of the columns, and '{wide}' spreads "
            f"{spreads.max() / spreads.min():.3g} times as far as '{narrow}': other units would suggest "
            "another graph; standardise the columns unless their units are comparable"
        )
        return [warning]

    def _score(self, families: FlatFamilies) -> NDArray[np.float64]:
        objectives = lasso_objectives(
            self._covariance, self._lambda1, families.children, families.parents, families.offsets
        )
        floors = PERFECT / 2 * np.diag(self._covariance)[families.children]
        return -np.maximum(objectives, floors)


@kernel
def lasso_objectives(
    covariance: NDArray[np.float64],
    penalty: float,
    children: NDArray[np.int64],
    parents: NDArray[np.int64],
    offsets: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Smallest objective of each family.

    All start from zero weights, so that no result depends on the families before it.
    """
    d = len(covariance)
    ridge = np.zeros(d)
    weights = np.zeros(d)
    gradient = np.empty(d)
    factor = np.empty((d, d))
    free = np.zeros(d, dtype=np.bool_)
    values = np.empty(len(children))
    for k in range(len(children)):
        own = parents[offsets[k] : offsets[k + 1]]
        for i in own:
            free[i] = True
        values[k] = solve_lasso(covariance, children[k], free, penalty, ridge, weights, gradient, factor)
        for i in own:
            free[i] = False
            weights[i] = 0.0
    return values
