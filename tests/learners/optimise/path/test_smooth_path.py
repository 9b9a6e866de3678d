"""The path: its elastic nets by their optimality conditions, its barrier by eigenvalues and cycle sums."""

from dataclasses import replace

import numpy as np
import pytest

import dagora
from dagora.base.budget import Budget
from dagora.graph.topological import topological_order
from dagora.learners.optimise.acyclic_support import acyclic_support
from dagora.learners.optimise.path import smooth_path as path
from dagora.learners.optimise.path.path_on_processor import PathOnProcessor, barrier, solve_columns
from dagora.learners.optimise.path.smooth_path import (
    PathPoint,
    PathProgram,
    follow_path,
    is_cyclic,
    line_search,
)
from dagora.learners.optimise.path.workers import ColumnWorkers
from dagora.learners.run import Run
from dagora.stats.table import TableStatistics
from tests.learners.optimise.optimise_oracles import closed_walks, power_sum, violation
from tests.learners.optimise.order_oracles import FreshSolves, random_program


def follow(program, run=None, jobs=1):
    with ColumnWorkers(jobs) as workers:
        return follow_path(PathOnProcessor(program, workers), run or Run(jobs=jobs))


def columns_of(program, weights, ridge, jobs=1):
    with ColumnWorkers(jobs) as workers:
        return solve_columns(program, weights, ridge, workers)


def simulated(d, rows, seed, lambda1=0.1):
    table = dagora.simulate(dagora.random_dag("er", d, 2, seed=seed), "gaussian", rows, seed=seed + 1).table
    covariance = TableStatistics(table).moments().covariance
    return PathProgram(covariance, lambda1, ~np.eye(d, dtype=bool), np.zeros((d, d), dtype=bool))


@pytest.mark.parametrize("profile", [False, True])
def test_objective_is_loss_and_penalty(profile):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 5)) @ rng.normal(size=(5, 5))
    weights = 0.3 * rng.normal(size=(5, 5))
    nothing = np.zeros((5, 5), dtype=bool)
    program = PathProgram(rows.T @ rows / 40, 0.7, ~np.eye(5, dtype=bool), nothing, profile)
    variances = ((rows - rows @ weights) ** 2).mean(axis=0)
    loss = np.log(variances).sum() / 2 if profile else variances.sum() / 2
    assert program.objective(weights) == pytest.approx(loss + 0.7 * np.abs(weights).sum(), rel=1e-12)


def test_the_objective_of_a_perfect_fit_is_finite():
    """With fewer rows than columns residuals vanish, and rounding makes some of them negative."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(3, 6))
    rows -= rows.mean(axis=0)
    covariance = rows.T @ rows / 3
    weights = np.zeros((6, 6))
    weights[:3, 3:] = np.linalg.pinv(rows[:, :3]) @ rows[:, 3:]
    program = PathProgram(covariance, 0.0, ~np.eye(6, dtype=bool), np.zeros((6, 6), dtype=bool), profile=True)
    assert np.isfinite(program.objective(weights))


@pytest.mark.parametrize("lambda1", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("profile", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_elastic_nets_are_optimal(seed, profile, lambda1):
    rng = np.random.default_rng(seed)
    program = random_program(rng, 7, lambda1, profile=profile, known=True)
    start = 0.3 * rng.normal(size=(7, 7)) * program.allowed * (rng.random((7, 7)) < 0.5)
    ridge = rng.exponential(size=(7, 7)) * (rng.random((7, 7)) < 0.8)
    weights = columns_of(program, start, ridge)
    assert not weights[~program.allowed].any()
    for y in range(7):
        residual = np.eye(7)[y] - start[:, y]
        # The tangent of ½ ln r at the start has slope 1/r.
        scale = residual @ program.moments @ residual if profile else 1.0
        slope = (program.moments @ weights[:, y] - program.moments[:, y]) / scale + ridge[:, y] * weights[
            :, y
        ]
        free = program.allowed[:, y]
        assert violation(weights[free, y], slope[free], lambda1).max(initial=0.0) < 1e-8


def test_a_wall_of_ridge_and_none_at_all():
    program = random_program(np.random.default_rng(3), 5, 0.0)
    assert np.abs(columns_of(program, np.zeros((5, 5)), np.full((5, 5), 1e12))).max() < 1e-9
    regressions = columns_of(program, np.zeros((5, 5)), np.zeros((5, 5)))
    precision = np.linalg.inv(program.moments)
    expected = -precision / np.diag(precision)
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(regressions, expected, rtol=1e-6, atol=1e-9)


def test_threads_share_the_columns():
    rng = np.random.default_rng(2)
    program = random_program(rng, 7, 0.1)
    start, ridge = np.zeros((7, 7)), rng.exponential(size=(7, 7))
    alone = columns_of(program, start, ridge)
    for jobs in (2, 3, 7, 20):
        assert np.array_equal(columns_of(program, start, ridge, jobs), alone)
    assert not start.any()


@pytest.mark.parametrize("seed", range(20))
def test_barrier_by_eigenvalues(seed):
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(5, 5)) * (rng.random((5, 5)) < 0.6)
    weights *= np.sqrt(rng.uniform(0.2, 2.0) / max(np.abs(np.linalg.eigvals(weights**2)).max(), 1e-3))
    roots = np.linalg.eigvals(weights**2)
    found = barrier(weights**2)
    if np.abs(roots).max() >= 1:
        assert found is None
        return
    inverse, h = found
    assert h == pytest.approx(-np.log(1 - roots).sum().real, abs=1e-9)
    np.testing.assert_allclose(inverse @ (np.eye(5) - weights**2), np.eye(5), atol=1e-8)
    assert (inverse >= 0).all()


def test_barrier_is_a_sum_over_cycles():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(4, 4))
    weights *= np.sqrt(0.3 / np.abs(np.linalg.eigvals(weights**2)).max())
    _, h = barrier(weights**2)
    listed = sum(closed_walks(weights**2, k) / k for k in range(1, 7))
    assert h == pytest.approx(power_sum(weights**2, lambda k: 1 / k), rel=1e-9)
    assert h == pytest.approx(listed, rel=1e-3)


def test_barrier_of_a_dag_is_zero():
    weights = np.triu(np.random.default_rng(0).normal(size=(6, 6)) * 10, 1)
    inverse, h = barrier(weights**2)
    assert h == 0
    np.testing.assert_allclose(inverse, np.linalg.inv(np.eye(6) - weights**2), rtol=1e-9)


def test_two_strong_cycles_do_not_cancel():
    """Each makes the determinant negative, both together positive: that is still outside."""
    weights = np.zeros((4, 4))
    weights[0, 1] = weights[1, 0] = weights[2, 3] = weights[3, 2] = 1.5
    assert np.linalg.det(np.eye(4) - weights**2) > 0
    assert barrier(weights**2) is None
    assert barrier(np.diag([1.44, 1.44])) is None


def test_the_line_search_falls_or_stays():
    program = random_program(np.random.default_rng(0), 5, 0.1)
    weights = np.zeros((5, 5))
    merit = program.objective(weights)
    target = columns_of(program, weights, np.full((5, 5), 0.2))
    steps, start = PathOnProcessor(program), PathPoint(weights, np.eye(5), 0.0)
    new, lower = line_search(steps, start, target, 0.1, merit)
    assert lower < merit
    found = barrier(new.weights**2)
    assert np.array_equal(found[0], new.inverse)
    assert found[1] == new.h
    assert lower == pytest.approx(program.objective(new.weights) + 0.1 * new.h, rel=1e-14)
    # A target behind the barrier, and uphill: nothing moves.
    assert line_search(steps, start, 1e6 * np.ones((5, 5)), 0.1, merit) == (start, merit)


@pytest.mark.parametrize("kind", [{}, {"lambda1": 0.0}, {"profile": True}, {"rows": 6}, {"known": True}])
def test_merit_never_rises_and_the_path_ends(kind, monkeypatch):
    searched = []

    def spy(steps, at, target, c, merit):
        found = line_search(steps, at, target, c, merit)
        searched.append((c, merit, found[1]))
        here = steps.program.objective(at.weights) + c * barrier(steps.program.squares(at.weights))[1]
        assert merit == pytest.approx(here, rel=1e-9, abs=1e-9)
        return found

    monkeypatch.setattr(path, "line_search", spy)
    for seed in range(3):
        searched.clear()
        program = random_program(np.random.default_rng(seed), 9, **{"lambda1": 0.1, **kind})
        weights, steps = follow(program)
        assert steps == len(searched)
        assert 0 < steps <= path.STEPS_PER_C * 14
        assert all(after <= before for _, before, after in searched)
        assert [c for c, *_ in searched] == sorted(c for c, *_ in searched)
        assert not weights[~program.allowed].any()
        squares = program.squares(weights)
        assert not is_cyclic(squares) or searched[-1][0] > path.LAST_C / path.GROWTH
        assert barrier(squares) is not None


def test_required_edges_are_there_whatever_their_weights():
    """The path ends in weights that make no cycle with an edge that they alone would not have."""
    program = simulated(8, 1000, 1)
    plain, _ = follow(program)
    last, first = topological_order(np.abs(plain) > 0.3)[[-1, 0]]
    required = np.zeros((8, 8), dtype=bool)
    required[last, first] = True
    weights, _ = follow(replace(program, required=required))
    assert topological_order((np.abs(weights) > path.FAINT) | required) is not None
    assert topological_order((np.abs(plain) > path.FAINT) | required) is None, "it makes a difference"


@pytest.mark.parametrize("seed", range(3))
def test_it_ends_in_a_better_order_than_chance(seed):
    program = simulated(10, 1000, seed)
    weights, _ = follow(program)
    assert not is_cyclic(weights**2)
    support, _ = acyclic_support(weights, 0.0, program.required)
    fresh, rng = FreshSolves(program), np.random.default_rng(seed)
    assert fresh.order(topological_order(support)) < min(fresh.order(rng.permutation(10)) for _ in range(30))


def test_fewer_rows_than_columns():
    program = simulated(40, 15, 0)
    weights, steps = follow(program)
    assert steps > 0
    assert np.isfinite(weights).all()
    assert program.objective(weights) < program.objective(np.zeros((40, 40)))


def test_still_cyclic_looks_at_weights_that_matter():
    weights = np.zeros((3, 3))
    weights[0, 1] = weights[1, 2] = -5.0
    assert not is_cyclic(weights**2)
    weights[2, 0] = 0.05
    assert not is_cyclic(weights**2)
    weights[2, 0] = -0.2
    assert is_cyclic(weights**2)


def test_the_clock_ends_it():
    program = simulated(10, 100, 0)
    budget = Budget()
    budget.stop("interrupted")
    weights, steps = follow(program, Run(budget=budget))
    assert steps == 0
    assert not weights.any()
    budget = Budget()
    seen = []

    def watch(event):
        seen.append(event)
        budget.stop("interrupted")

    weights, steps = follow(program, Run(budget=budget, on_event=watch))
    assert len(seen) == 1
    assert 0 < steps <= path.STEPS_PER_C
    assert weights.any()


def test_jobs_change_no_bit():
    program = simulated(12, 200, 1)
    (one, steps), (two, more) = follow(program, jobs=1), follow(program, jobs=2)
    assert steps == more
    assert np.array_equal(one, two)
