"""DYNOTEARS: a linear network in time, with weights within a step and from earlier steps.

    x_t = Wᵀ x_t + A_1ᵀ x_{t−1} + … + A_pᵀ x_{t−p} + e_t

(Pamfil et al. 2020; a structural vector autoregression). With B = (W; A_1; …; A_p), J = (I; 0; …; 0) and S
the second moments of the windows (x_t, …, x_{t−p}), the program is

    minimise  ½ tr (J − B)ᵀ S (J − B) + λ_W ‖W‖₁ + λ_A ‖A‖₁   subject to   W has no directed cycle.

It is the program of NOTEARS on (p + 1) · d columns, of which the lagged ones are exogenous: they may be
parents and have none. So the solver of NOTEARS solves it (`optimise.path`): the lagged columns come first in
every order of the variables, and a column is one exact lasso on all of them and on those before it in the
order. It has one λ. In the unit λ_A / λ_W, a lagged column has the weight a · λ_A / λ_W, and its penalty is
λ_W |a| λ_A / λ_W = λ_A |a|: the units give the second penalty. Weights below a threshold are removed and the
rest is solved again, as in NOTEARS; the paper only sets them to zero.

Columns are centred over all windows. Given W, A is determined; W itself only if the errors have equal
variances (Peters & Bühlmann 2014) or are not normal, and otherwise up to equivalence. Since the program
minimises a sum of squares, units of the variables matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError
from dagora.base.memory import free_memory
from dagora.base.phrases import amount
from dagora.base.wording import option, setting
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.graph.knowledge_in_time import knowledge_in_time
from dagora.graph.lagged_graph import window_names
from dagora.learners.optimise.path.path_solver import WeightSolution, solve_by_path
from dagora.learners.optimise.path.smooth_path import PathProgram
from dagora.learners.optimise.sortability import report_sortability
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.scores.usable_moments import gaussian_moments, refuse_duplicates
from dagora.stats.capabilities import capabilities_of
from dagora.stats.data_warnings import fewer_rows
from dagora.stats.lagged import LaggedStatistics
from dagora.stats.statistics import Statistics

Matrix = NDArray[np.float64]
Support = NDArray[np.bool_]

# Memory per ordered pair of columns of a window: moments, weights, slopes and estimates, of two orders.
BYTES_A_PAIR = 120


def dynotears(
    statistics: Statistics,
    run: Run,
    *,
    lags: int = 1,
    lambda1: float = 0.05,
    lambda_lagged: float = 0.05,
    threshold: float = 0.3,
    threshold_lagged: float = 0.1,
    cut: str = "guarded",
    standardise: bool = False,
    disturbances: int | None = None,
) -> Outcome:
    """Learn a weighted graph in time; its nodes are those of a window, [i, j] of its weights is i → j."""
    lagged = capabilities_of(statistics).lagged
    if lagged is None:
        raise OptionError(
            f"the method dynotears learns from series: {option('time')} says which column holds the time"
        )
    if (lambda1 == 0) != (lambda_lagged == 0):
        one, other = ("lambda1", "lambda_lagged") if lambda1 == 0 else ("lambda_lagged", "lambda1")
        raise OptionError(
            f"the penalties lambda1 and lambda_lagged must be both 0 or both positive: with {other}="
            f"{max(lambda1, lambda_lagged):g}, take a small number such as {setting(one, 0.001)} instead of 0"
        )
    check_window(len(statistics.schema), lags)
    windows: LaggedStatistics = lagged(lags)
    d = len(windows.variables)
    covariance = windows_covariance(windows, standardise=standardise)
    both = TwoPenalties(covariance, d, lambda1, lambda_lagged)
    allowed, required = edges_in_time(run.knowledge, windows.variables, lags)
    program = PathProgram(
        both.moments,
        lambda1,
        allowed,
        required,
        exogenous=lags * d,
        exogenous_threshold=threshold_lagged / both.factor,
    )
    solved = solve_by_path(program, run, threshold, cut, disturbances)
    weights = both.weights(solved.weights)
    present = (weights != 0) | required
    graph = DAG.from_numpy(present, windows.schema.names)
    sortability, warnings = judge_residuals(graph, program)
    objective = program.objective(solved.weights)
    late = run.budget.exhausted
    few = fewer_rows(windows.n_rows, len(windows.schema), "windows", "columns in them")
    return Outcome(
        graph,
        "time-limit" if late else solved.status,
        ending_message(solved, run, windows, late=late),
        -objective,
        {
            **solved.stats,
            **sortability,
            "objective": objective,
            "windows": float(windows.n_rows),
            "edges_within": float(np.count_nonzero(present[:d])),
            "edges_lagged": float(np.count_nonzero(present[d:])),
        },
        weights,
        (*windows.warnings, *few, *solved.dropped, *warnings),
    )


@dataclass(frozen=True)
class TwoPenalties:
    """Moments of windows, with the lagged columns in the unit in which all columns have one penalty.

    `present` is the number of columns that are not lagged; they come first.

    >>> both = TwoPenalties(np.array([[2.0, 1.0], [1.0, 1.0]]), 1, lambda1=0.1, lambda_lagged=0.2)
    >>> both.moments  # the lagged column, halved
    array([[2.  , 0.5 ],
           [0.5 , 0.25]])
    >>> both.weights(np.array([[0.0, 0.0], [4.0, 0.0]]))
    array([[0., 0.],
           [2., 0.]])
    """

    covariance: Matrix
    present: int
    lambda1: float
    lambda_lagged: float

    @property
    def factor(self) -> float:
        """The factor of the lagged columns."""
        return self.lambda1 / self.lambda_lagged if self.lambda_lagged else 1.0

    @property
    def factors(self) -> Matrix:
        """The factors of all columns."""
        return np.where(np.arange(len(self.covariance)) < self.present, 1.0, self.factor)

    @property
    def moments(self) -> Matrix:
        """The moments after scaling."""
        return np.ascontiguousarray(self.covariance * np.outer(self.factors, self.factors))

    def weights(self, solved: Matrix) -> Matrix:
        """The weights in the original units, from those after scaling."""
        return solved * self.factors[:, None]


def check_window(variables: int, lags: int, method: str = "dynotears") -> None:
    """Raise if the matrices of such windows do not fit into memory."""
    columns, free = variables * (lags + 1), free_memory()
    need = BYTES_A_PAIR * columns**2
    if free is not None and need > free:
        raise DataError(
            f"the method {method} needs about {need / 2**30:.1f} GiB for windows of {columns} columns "
            f"({variables} variables, {lags} steps back), and {free / 2**30:.1f} GiB are free: choose fewer "
            f"lags, or leave columns out ({option('drop')})"
        )


def windows_covariance(
    windows: LaggedStatistics, *, standardise: bool, owner: str = "the method dynotears"
) -> Matrix:
    """The covariance of the windows; raises for columns that regressions cannot use.

    With `standardise`, every variable has variance 1 at the present; its lagged columns have the same unit.
    """
    moments = gaussian_moments(windows, owner)
    refuse_duplicates(moments, windows.schema, owner)
    covariance = moments.covariance
    if not standardise:
        return covariance
    spread = np.tile(np.sqrt(np.diag(covariance)[: len(windows.variables)]), windows.lags + 1)
    return covariance / np.outer(spread, spread)


def edges_in_time(knowledge: Knowledge, variables: tuple[str, ...], lags: int) -> tuple[Support, Support]:
    """The allowed and required edges of a window; knowledge may name x as well as x[t-1].

    >>> known = Knowledge(forbidden=[("x[t-1]", "y")], required=[("x", "y")])
    >>> allowed, required = edges_in_time(known, ("x", "y"), 1)
    >>> allowed.astype(int).tolist()
    [[0, 1, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0]]
    """
    nodes, known = window_names(variables, lags), knowledge_in_time(knowledge, variables, lags)
    return np.ascontiguousarray(~known.forbidden_matrix(nodes)), known.required_matrix(nodes)


def judge_residuals(graph: DAG, program: PathProgram) -> tuple[dict[str, float], list[str]]:
    """Sortability of the edges within a step, on the residuals given the lagged columns."""
    inside = program.without_exogenous()
    d = len(inside)
    within = DAG.from_numpy(graph.to_numpy()[:d, :d], graph.nodes[:d])
    spread = np.diag(inside.moments)
    if not spread.min() > 0:
        return {}, []
    equal = np.allclose(spread, spread[0], rtol=1e-9)
    advice = f"{setting('standardise', 'true')} gives all one unit"
    return report_sortability(within, inside.moments, None if equal else advice)


def ending_message(solved: WeightSolution, run: Run, windows: LaggedStatistics, *, late: bool) -> str:
    """The message of the outcome."""
    effort = f"{run.budget.reason}, after {solved.effort}" if late else solved.effort
    steps = amount(windows.lags + 1, windows.unit or "step")
    return f"{effort}; {amount(windows.n_rows, 'window')} of {steps}"
