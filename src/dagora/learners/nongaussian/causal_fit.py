"""From an order of the columns to a graph: regress each on those before it, prune by BIC, test the residuals.

All predecessors are parents at first. The one whose removal costs least is dropped as long as that improves
BIC: as long as n ln(RSS after / RSS before) < ln n. Weights are those of the last regression.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.stats import normaltest

from dagora.base.errors import DataError
from dagora.base.wording import col
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.scores.usable_moments import gaussian_moments, refuse_duplicates
from dagora.stats.data_warnings import listing
from dagora.stats.statistics import Statistics

Floats = NDArray[np.float64]
Matrix = NDArray[np.bool_]

# A residual whose test of normality has a larger p-value may be normal.
LEVEL = 0.01
# A smaller eigenvalue of the correlations is rounding: the columns are linearly dependent.
COLLINEAR = 1e-10
# The test of normality (D'Agostino & Pearson 1973) is valid from so many rows on.
FEWEST_ROWS = 20


@dataclass(frozen=True)
class StandardisedColumns:
    """Standardised columns, as rows of `values`, with the knowledge of their edges and order."""

    names: tuple[str, ...]
    values: Floats
    spread: Floats
    forbidden: Matrix
    required: Matrix
    before: Matrix
    """[i, j]: i must come before j."""

    @cached_property
    def correlation(self) -> Floats:
        """The correlation matrix."""
        return np.asarray(np.corrcoef(self.values), dtype=np.float64)


def read_columns(statistics: Statistics, knowledge: Knowledge, method: str) -> StandardisedColumns:
    """Standardise the columns; raises if a linear model cannot be fitted to them."""
    owner = f"the method {method}"
    moments = gaussian_moments(statistics, owner)
    table = statistics.rows()
    names, n = table.names, table.n_rows
    if n <= len(names) + 1:
        raise DataError(
            f"there are {n} rows: {owner} regresses each column on all others and needs more rows than "
            f"{len(names) + 1}"
        )
    refuse_duplicates(moments, table.schema, owner)
    values = np.stack(table.columns) - moments.mean[:, None]
    spread = np.sqrt((values**2).mean(axis=1))
    values /= spread[:, None]
    least, axes = np.linalg.eigh(values @ values.T / n)
    if least[0] < COLLINEAR:
        worst = names[int(np.abs(axes[:, 0]).argmax())]
        raise DataError(
            f"{col(worst)} is a linear function of others, so {owner} cannot tell their edges apart: "
            "leave one of them out"
        )
    required = knowledge.required_matrix(names)
    height = {name: k for k, tier in enumerate(knowledge.tiers) for name in tier}
    tier = np.array([height.get(name, -1) for name in names])
    later = (tier[:, None] >= 0) & (tier[None, :] >= 0) & (tier[:, None] < tier[None, :])
    return StandardisedColumns(
        names, values, spread, knowledge.forbidden_matrix(names), required, required | later
    )


def outcome_of_order(columns: StandardisedColumns, order: list[int], run: Run, message: str) -> Outcome:
    """The pruned graph along an order, with weights in the columns' units, and warnings about its noise."""
    weights = np.zeros((len(order), len(order)))
    edges = np.zeros_like(weights, dtype=np.bool_)  # not weights != 0: that of a required edge may be 0
    for k, child in enumerate(order):
        late = run.budget.exhausted
        open_to = columns.required[:, child] if late else ~columns.forbidden[:, child]
        free = [i for i in order[:k] if open_to[i]]
        parents, weights_in = prune_parents(columns, child, free)
        weights[parents, child] = weights_in
        edges[parents, child] = True
    residuals = columns.values - weights.T @ columns.values
    graph = DAG.from_numpy(edges, columns.names)
    if run.budget.exhausted:
        message = (
            f"stopped early: {run.budget.reason}; columns that were not reached have no edges into them but "
            "required ones"
        )
    return Outcome(
        graph,
        "time-limit" if run.budget.exhausted else "finished",
        f"{message}; edges pruned by BIC",
        weights=weights / columns.spread[:, None] * columns.spread[None, :],
        warnings=normality_warnings(columns.names, residuals),
    )


def prune_parents(columns: StandardisedColumns, child: int, parents: list[int]) -> tuple[list[int], Floats]:
    """The parents that BIC or knowledge keeps, and their weights."""
    n, correlation = columns.values.shape[1], columns.correlation
    kept = np.array(parents, dtype=np.int64)
    inverse = np.linalg.inv(correlation[np.ix_(kept, kept)])
    weights = inverse @ correlation[kept, child]
    left = 1.0 - float(weights @ correlation[kept, child])
    while len(kept):
        cost = weights**2 / np.diag(inverse)  # by how much the unexplained share grows without each
        cost[columns.required[kept, child]] = np.inf
        out = int(cost.argmin())
        if not n * np.log1p(cost[out] / max(left, 1e-300)) < np.log(n):
            break
        rest = np.arange(len(kept)) != out
        column, pivot = inverse[rest, out], inverse[out, out]
        weights = weights[rest] - column * (weights[out] / pivot)
        inverse = inverse[np.ix_(rest, rest)] - np.outer(column, column) / pivot
        kept, left = kept[rest], left + float(cost[out])
    return kept.tolist(), weights


def normality_warnings(names: tuple[str, ...], residuals: Floats) -> tuple[str, ...]:
    """A warning if two residuals or more may be normal: then directions between them mean nothing."""
    if residuals.shape[1] < FEWEST_ROWS:
        few = f"with fewer than {FEWEST_ROWS} rows normal noise cannot be ruled out: directions mean little"
        return (few,)
    normal = np.flatnonzero(np.asarray(normaltest(residuals, axis=1).pvalue) > LEVEL)
    if len(normal) < 2:
        return ()
    columns = f"{len(normal)} of {len(names)} columns ({listing([names[int(i)] for i in normal])})"
    return (f"residuals may be normal in {columns}: this method cannot determine directions between them",)
