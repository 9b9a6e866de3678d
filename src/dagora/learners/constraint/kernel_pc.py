"""Kernel PC: PC by tests of residuals, then directions from residuals (Tillman, Gretton & Spirtes 2009).

Tests are HSIC or distance covariance of the residuals of smooth regressions (`independence.residuals`). The
separating set of a pair is the first one found, as in the R package kpcalg; its permutations and gamma
distributions are replaced by the moments of all permutations. Unlike its graphs, those here have no cycle,
and no v-structures but those of the tests.

If x = f(parents) + noise with noise independent of the parents, the residual of x is independent of them; in
nonlinear relations the other way round it is not, but for special cases. For a node x and a set S of nodes
joined to it by undirected edges, S → x is taken, and x → y for the others, if the residual of x given S and
its parents is independent of each of these, and for no member of S the residual of that member, given x and
its own parents, is independent of them. Sets are tried from small to large. Relations that fit both ways,
such as linear Gaussian ones, stay undirected. No direction is taken that would make a new v-structure or a
cycle, and each is followed by the directions that it implies (Meek 1995).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from dagora.graph.cpdag import CPDAG
from dagora.graph.equivalence import Matrix, consistent_extension, meek_closure, v_structures
from dagora.learners.constraint.pc import pc_by
from dagora.learners.independence.residuals import Measure, ResidualTest
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.scores.usable_moments import refuse_discrete
from dagora.stats.name_order import in_name_order
from dagora.stats.statistics import Statistics


def kpc_hsic(
    statistics: Statistics, run: Run, *, alpha: float = 0.05, max_given: int | None = None
) -> Outcome:
    """Learn directions by HSIC of residuals.

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
    """PC by tests of residuals, then directions from residuals; columns are sorted by name first."""
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


def direct_by_residuals(matrix: Matrix, test: ResidualTest, alpha: float, run: Run) -> tuple[Matrix, int]:
    """The graph with more edges directed, and the number of tests, as far as time allows."""
    tests = 0
    size = 1
    while size <= int((matrix & matrix.T).sum(axis=1).max(initial=0)):
        for x, members in candidates(matrix, size):
            if run.budget.exhausted:
                return matrix, tests
            directed = with_parents(matrix, x, members)
            # Directions found since may have settled some of these edges.
            if directed is None or not (matrix & matrix.T)[x, list(members)].all():
                continue
            fits, made = fits_one_way(matrix, x, members, test, alpha)
            tests += made
            if fits:
                matrix = meek_closure(directed)
        size += 1
    return matrix, tests


def candidates(matrix: Matrix, size: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """All nodes x with all sets of `size` nodes joined to x by undirected edges."""
    lines = matrix & matrix.T
    for x in range(len(matrix)):
        for members in combinations(np.flatnonzero(lines[x]).tolist(), size):
            yield x, members


def with_parents(matrix: Matrix, x: int, members: tuple[int, ...]) -> Matrix | None:
    """The graph with members → x, and x → y for the others; None if no DAG of the class has these edges.

    >>> chain = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=bool)
    >>> with_parents(chain, 1, (0,)).astype(int)
    array([[0, 1, 0],
           [0, 0, 1],
           [0, 0, 0]])
    >>> with_parents(chain, 1, (0, 2)) is None  # a new v-structure
    True
    """
    directed = matrix.copy()
    lines = matrix & matrix.T
    for other in np.flatnonzero(lines[x]).tolist():
        if other in members:
            directed[x, other] = False
        else:
            directed[other, x] = False
    was, now = (consistent_extension(graph) for graph in (matrix, directed))
    return (
        directed if was is not None and now is not None and v_structures(was) == v_structures(now) else None
    )


def fits_one_way(
    matrix: Matrix, x: int, members: tuple[int, ...], test: ResidualTest, alpha: float
) -> tuple[bool, int]:
    """True if residuals are independent for members → x and for no x → member; and the number of tests."""
    parents = np.flatnonzero(matrix[:, x] & ~matrix[x]).tolist()
    fits, tests = independent_residual(x, [*parents, *members], test, alpha)
    if not fits:
        return False, tests
    for member in members:
        own = np.flatnonzero(matrix[:, member] & ~matrix[member]).tolist()
        backwards, made = independent_residual(member, [*own, x], test, alpha)
        tests += made
        if backwards:
            return False, tests
    return True, tests


def independent_residual(column: int, given: list[int], test: ResidualTest, alpha: float) -> tuple[bool, int]:
    """True if the residual of a column given others is independent of each; and the number of tests."""
    if len(given) > test.max_given:
        return False, 0
    residual = column, tuple(sorted(given))
    tests = 0
    for other in given:
        tests += 1
        if not test.between(residual, (other, ())) > alpha:
            return False, tests
    return True, tests
