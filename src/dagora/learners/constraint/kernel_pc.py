"""Kernel PC: the skeleton and v-structures of PC by tests of residuals, then directions from residuals.

Tests compare what smooth regressions leave, by HSIC or by distance covariance (`independence.residuals`).
What separates a pair is the first set found, as in the R package kpcalg. Its permutations and gamma
distributions are replaced by the moments of all permutations. Unlike its graphs, those here have no cycle,
and no v-structures but those that the tests found: see `residual_directions`.
"""

from __future__ import annotations

from dataclasses import replace

from dagora.graph.cpdag import CPDAG
from dagora.learners.constraint.pc import pc_by
from dagora.learners.constraint.residual_directions import direct_by_residuals
from dagora.learners.independence.residuals import Measure, ResidualTest
from dagora.learners.result import Outcome
from dagora.learners.run import Run
from dagora.scores.usable_moments import refuse_discrete
from dagora.stats.name_order import in_name_order
from dagora.stats.statistics import Statistics


def kpc_hsic(
    statistics: Statistics, run: Run, *, alpha: float = 0.05, max_given: int | None = None
) -> Outcome:
    """Learn directions by HSIC of residuals.

    >>> import numpy as np
    >>> from dagora.data.table import Table
    >>> from dagora.stats.table import TableStatistics
    >>> a, noise = np.random.default_rng(0).normal(size=(2, 200))
    >>> rows = np.stack([a**3 + a + noise, a], axis=1)
    >>> kpc_hsic(TableStatistics(Table.from_numpy(rows, names=["b", "a"])), Run()).graph.edges
    (('a', 'b'),)
    """
    return kernel_pc(statistics, run, "hsic", "the method kpc-hsic", alpha, max_given)


def kpc_dc(statistics: Statistics, run: Run, *, alpha: float = 0.05, max_given: int | None = None) -> Outcome:
    """Learn directions by distance covariance of residuals."""
    return kernel_pc(statistics, run, "dcov", "the method kpc-dc", alpha, max_given)


def kernel_pc(
    statistics: Statistics, run: Run, measure: Measure, owner: str, alpha: float, max_given: int | None
) -> Outcome:
    """PC by tests of residuals, then directions from residuals; columns are taken by name."""
    refuse_discrete(statistics.schema, owner)
    test = ResidualTest(in_name_order(statistics), measure, owner)
    outcome = pc_by(test, run, alpha=alpha, orientation="first", max_given=max_given, owner=owner)
    before = outcome.plain_graph.to_numpy()
    matrix, tests = direct_by_residuals(before, test, alpha, run)
    settled = int((before & before.T).sum() - (matrix & matrix.T).sum()) // 2
    graph = CPDAG.from_numpy(matrix, test.names).reorder(statistics.schema.names)
    late = run.budget.exhausted and outcome.status == "finished"
    stopped = f"; stopped before all directions were tried: {run.budget.reason}" if late else ""
    return replace(
        outcome,
        graph=graph,
        status="time-limit" if late else outcome.status,
        message=f"{outcome.message}, {settled} of them directed by residuals, at level {alpha:g}{stopped}",
        stats={**outcome.stats, "tests": outcome.stats["tests"] + tests, "by_residuals": float(settled)},
    )
