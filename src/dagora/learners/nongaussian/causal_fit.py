"""From an order of the columns to a graph: regress each on those before it, prune by BIC, test what is left.

All predecessors are parents at first. The one whose removal costs least is dropped as long as BIC rises by
it: as long as n ln(RSS after / RSS before) < ln n. Weights are those of the last regression.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.stats import normaltest

from dagora.base.errors import DataError
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.learners.optimise.acyclic_support import refuse_parent_limit
from dagora.learners.result import Outcome
from dagora.learners.run import Run
from dagora.scores.usable_moments import gaussian_moments, refuse_duplicates
from dagora.stats.data_warnings import listing
from dagora.stats.statistics import Statistics

Floats = NDArray[np.float64]
Matrix = NDArray[np.bool_]

# A residual at which a test of normality does not reject at this level may be normal.
LEVEL = 0.01
# The share of a column's variance that others must leave unexplained.
COLLINEAR = 1e-10


@dataclass(frozen=True)
class Columns:
    """The columns, standardised, as rows of `values`, and what is known of their edges and order."""

    names: tuple[str, ...]
    values: Floats
    spread: Floats
    forbidden: Matrix
    required: Matrix
    before: Matrix
    """[i, j]: i must come before j."""

    @cached_property
    def correlation(self) -> Floats:
        """Their correlations."""
        return np.asarray(np.corrcoef(self.values), dtype=np.float64)


def read_columns(statistics: Statistics, knowledge: Knowledge, method: str) -> Columns:
    """Standardised columns of the rows; what a linear model cannot be fitted to is refused."""
    owner = f"the method {method}"
    refuse_parent_limit(knowledge, method)
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
            f"column '{worst}' is a linear function of others, so {owner} cannot tell their edges apart: "
            "leave one of them out"
        )
    required = knowledge.required_matrix(names)
    height = {name: k for k, tier in enumerate(knowledge.tiers) for name in tier}
    tier = np.array([height.get(name, -1) for name in names])
    later = (tier[:, None] >= 0) & (tier[None, :] >= 0) & (tier[:, None] < tier[None, :])
    return Columns(names, values, spread, knowledge.forbidden_matrix(names), required, required | later)


def outcome_of_order(columns: Columns, order: list[int], run: Run, words: str) -> Outcome:
    """The pruned graph along an order, with weights in the columns' units, and doubts about its noise."""
    weights = np.zeros((len(order), len(order)))
    edges = np.zeros_like(weights, dtype=np.bool_)  # not weights != 0: that of a required edge may be 0
    for k, child in enumerate(order):
        late = run.budget.exhausted
        open_to = columns.required[:, child] if late else ~columns.forbidden[:, child]
        free = [i for i in order[:k] if open_to[i]]
        parents, found = pruned(columns, child, free)
        weights[parents, child] = found
        edges[parents, child] = True
    residuals = columns.values - weights.T @ columns.values
    graph = DAG.from_numpy(edges, columns.names)
    if run.budget.exhausted:
        words = (
            f"stopped early: {run.budget.reason}; columns that were not reached have no edges into them but "
            "required ones"
        )
    return Outcome(
        graph,
        "time-limit" if run.budget.exhausted else "finished",
        f"{words}; edges pruned by BIC",
        weights=weights / columns.spread[:, None] * columns.spread[None, :],
        warnings=doubts(columns.names, residuals),
    )


def pruned(columns: Columns, child: int, parents: list[int]) -> tuple[list[int], Floats]:
    """Parents that BIC keeps, those required in any case, and their weights."""
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


def doubts(names: tuple[str, ...], residuals: Floats) -> tuple[str, ...]:
    """A warning where two residuals or more may be normal: then directions between them mean nothing."""
    if residuals.shape[1] < 20:
        return ("with fewer than 20 rows nothing shows whether the noise is normal: directions mean little",)
    normal = np.flatnonzero(np.asarray(normaltest(residuals, axis=1).pvalue) > LEVEL)
    if len(normal) < 2:
        return ()
    found = listing([names[int(i)] for i in normal])
    told = f"what the graph leaves unexplained may be normal in {len(normal)} of {len(names)} columns"
    return (f"{told} ({found}): directions between them cannot be told by this method",)
