"""Penalty and threshold from the data: the pair whose graph has the best extended BIC.

The paper leaves both to the user (section 6: a choice of ω driven by the data is future work). Here the
program is solved for every pair of a small grid, without disturbances, and the graph of each is scored by

    n d ln(Σ_j r_j / d) + |E| (ln n + 2γ ln d),      γ = 1,

with r_j the residual variance of column j in its unpenalised regression on its parents: twice minus the
log-likelihood of linear regressions with equal noise, which least squares presuppose, and a price per edge
(Chen & Chen 2008, extended Bayesian information criteria). With loss=profile the noise may differ, and the
first term is n Σ_j ln r_j. It needs nothing but second moments and the number of rows.

λ has the unit of a variance. With equal noise the variance of a column without parents is that of the
noise, and no column has less, so the grid counts in the smallest variance of a column. ω has no unit where
all columns have the same.

Measured on 24 tables with other seeds than those of figure 3 (docs/reproductions.md): plain BIC keeps too
many edges where rows are few. Two-fold cross-validation of the weights as found had a lower mean SHD at d =
10 (6.1 against 6.4), but it needs rows and three times the work.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dagora.learners.optimise.path.column_problem import SMALLEST_RESIDUAL
from dagora.learners.optimise.path.path_solver import solve_by_path
from dagora.learners.optimise.path.refitting import refit_columns
from dagora.learners.optimise.path.smooth_path import PathProgram
from dagora.learners.run import Run

AUTO = "auto"
# The grid, from its middle outwards, so that the pairs tried when time is up are near the defaults.
PENALTIES = (0.1, 0.03, 0.2, 0.4)  # in units of the smallest variance of a column
THRESHOLDS = (0.3, 0.2, 0.5, 0.1, 0.05)
# γ of the extended BIC: 0 is BIC, 1 its strictest. Between ½ and 2 it mattered little; with 20 columns and
# 20 rows ½ kept more false edges, with 10 columns 1 lost more true ones.
GAMMA = 1.0


def choose(
    program: PathProgram,
    run: Run,
    rows: int,
    lambda1: float | str,
    threshold: float | str,
    cut: str,
    device: str = "cpu",
) -> tuple[float, float]:
    """Choose λ and ω; a number stays as it is. When time is up, the best pair so far.

    >>> from dagora.learners.optimise.path.smooth_path import PathProgram
    >>> free = ~np.eye(2, dtype=bool)
    >>> program = PathProgram(np.array([[1.0, 0.8], [0.8, 1.64]]), 0.0, free, np.zeros_like(free))
    >>> choose(program, Run(), 200, "auto", 0.3, "guarded")
    (0.1, 0.3)
    """
    unit = float(np.diag(program.moments).min())
    penalties = [unit * share for share in PENALTIES] if isinstance(lambda1, str) else [lambda1]
    thresholds = list(THRESHOLDS) if isinstance(threshold, str) else [threshold]
    best, best_value = (penalties[0], thresholds[0]), np.inf
    for penalty, least in product(penalties, thresholds):
        if run.budget.exhausted:
            break
        solved = solve_by_path(replace(program, lambda1=penalty), run, least, cut, 0, device)
        value = extended_bic(program, (solved.weights != 0) | program.required, rows)
        if value < best_value - 1e-9 * abs(value):
            best, best_value = (penalty, least), value
    return best


def extended_bic(program: PathProgram, support: NDArray[np.bool_], rows: int) -> float:
    """The criterion of an acyclic graph; infinite where a column has too many parents for the rows.

    An edge between independent columns costs its price, here ln 100 + 2 ln 2:

    >>> none = np.zeros((2, 2), dtype=bool)
    >>> program = PathProgram(np.eye(2), 0.0, ~np.eye(2, dtype=bool), none)
    >>> edge = np.array([[False, True], [False, False]])
    >>> round(extended_bic(program, edge, 100) - extended_bic(program, none, 100), 6)
    5.991465
    """
    d = len(program)
    if (support.sum(axis=0) + 1 >= rows).any():
        return np.inf
    residual = np.eye(d) - refit_columns(program.moments, support, 0.0, profile=False)
    variances = (residual * (program.moments @ residual)).sum(axis=0)
    variances = np.maximum(variances, SMALLEST_RESIDUAL * np.diag(program.moments))
    fit = np.log(variances).sum() if program.profile else d * np.log(variances.mean())
    return float(rows * fit + support.sum() * (np.log(rows) + 2 * GAMMA * np.log(d)))
