"""VAR-LiNGAM: edges within a step and from earlier steps of a linear network with noise that is not normal.

    x_t = B_0 x_t + B_1 x_{t−1} + … + B_p x_{t−p} + e_t

(Hyvärinen, Zhang, Shimizu & Hoyer 2010). Least squares give the vector autoregression x_t = Σ M_k x_{t−k} +
n_t. Its residuals n_t follow the network within a step, so DirectLiNGAM finds the order of the variables
from them. With B_0 from that order, B_k = (I − B_0) M_k: the same weights as of a regression of each
variable on all that come before it in the order and on all earlier steps. From there parents are dropped as
long as BIC improves, those within a step and those of earlier steps together.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError, RowsUnavailableError
from dagora.base.phrases import amount
from dagora.base.wording import option
from dagora.graph.dag import DAG
from dagora.graph.knowledge_in_time import knowledge_in_time
from dagora.learners.nongaussian.causal_fit import (
    StandardisedColumns,
    normality_warnings,
    prune_parents,
    read_columns,
)
from dagora.learners.nongaussian.direct_lingam import direct_order
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.stats.capabilities import capabilities_of
from dagora.stats.lagged import SeriesStatistics
from dagora.stats.statistics import Statistics
from dagora.stats.windows import Windows

Floats = NDArray[np.float64]


def var_lingam(statistics: Statistics, run: Run, *, lags: int = 1, prune: bool = True) -> Outcome:
    """Learn a weighted graph in time; its nodes are those of a window, [i, j] of its weights is i → j."""
    windows = windows_of(statistics, lags)
    known = knowledge_in_time(run.knowledge, windows.variables, lags)
    columns = read_columns(windows.statistics(), known, "var-lingam")
    d = len(windows.variables)
    order = direct_order(disturbances(columns, d), run)
    weights = np.zeros((len(columns.names), d))
    present = np.zeros_like(weights, dtype=np.bool_)
    for k, child in enumerate(order):
        late = run.budget.exhausted
        open_to = columns.required[:, child] if late else ~columns.forbidden[:, child]
        before = [*order[:k], *range(d, len(columns.names))]
        parents, found = fit_parents(columns, child, [i for i in before if open_to[i]], prune=prune)
        weights[parents, child], present[parents, child] = found, True
    residuals = columns.values[:d] - weights.T @ columns.values
    edges = np.zeros((len(columns.names),) * 2, dtype=np.bool_)
    edges[:, :d] = present
    scaled = np.zeros(edges.shape)
    scaled[:, :d] = weights / columns.spread[:, None] * columns.spread[None, :d]
    late = run.budget.exhausted
    message = "an order by which disturbances are most independent"
    message += "; edges pruned by BIC" if prune else "; no edge was pruned"
    if late:
        message = (
            f"stopped early: {run.budget.reason}; columns that were not reached have no edges into them but "
            "required ones"
        )
    made = f"{amount(len(windows.ends), 'window')} of {amount(lags + 1, windows.panel.unit or 'step')}"
    return Outcome(
        DAG.from_numpy(edges, columns.names),
        "time-limit" if late else "finished",
        f"{message}; {made}",
        stats={
            "windows": float(len(windows.ends)),
            "edges_within": float(np.count_nonzero(present[:d])),
            "edges_lagged": float(np.count_nonzero(present[d:])),
        },
        weights=scaled,
        warnings=(*windows.warnings, *normality_warnings(columns.names[:d], residuals)),
    )


def windows_of(statistics: Statistics, lags: int) -> Windows:
    """The windows of series whose rows are in memory."""
    if isinstance(statistics, SeriesStatistics):
        return Windows.of(statistics.panel, lags)
    if capabilities_of(statistics).lagged is None:
        raise OptionError(
            f"the method var-lingam learns from series: {option('time')} says which column holds the time"
        )
    raise RowsUnavailableError("the method var-lingam needs the rows of the series, which are not here")


def disturbances(columns: StandardisedColumns, d: int) -> StandardisedColumns:
    """The first d columns, which are those of the present step, less what all the others explain of them."""
    now, before = columns.values[:d], columns.values[d:]
    slopes = np.linalg.lstsq(before.T, now.T, rcond=None)[0]
    left = now - slopes.T @ before
    spread = np.sqrt((left**2).mean(axis=1))
    within = np.ix_(range(d), range(d))
    return replace(
        columns,
        names=columns.names[:d],
        values=np.ascontiguousarray(left / spread[:, None]),
        spread=spread,
        forbidden=columns.forbidden[within],
        required=columns.required[within],
        before=columns.before[within],
    )


def fit_parents(
    columns: StandardisedColumns, child: int, parents: list[int], *, prune: bool
) -> tuple[list[int], Floats]:
    """The parents that are kept, and their weights."""
    if prune:
        return prune_parents(columns, child, parents)
    correlation = columns.correlation
    weights = np.linalg.solve(correlation[np.ix_(parents, parents)], correlation[parents, child])
    return parents, np.asarray(weights, dtype=np.float64)
