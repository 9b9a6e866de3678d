"""The augmented Lagrangian, against the optimum over all DAGs and against known graphs."""

import time

import numpy as np
import pytest

from dagora.base.budget import Budget
from dagora.base.errors import OptionError
from dagora.graph.dag import DAG
from dagora.graph.enumerate import all_dags
from dagora.graph.random_graphs import random_dag
from dagora.learners.optimise.acyclicity import trace_exponential
from dagora.learners.optimise.augmented_lagrangian import augmented_lagrangian
from dagora.learners.optimise.losses import (
    LeastSquares,
    count_rows,
    logistic_loss,
    logistic_rows,
    poisson_loss,
)
from dagora.learners.optimise.quasi_newton import minimise
from dagora.learners.run import Run
from dagora.network.simulate import simulate
from dagora.stats.table import TableStatistics
from tests.learners.optimise.optimise_oracles import best_over_all_dags, cyclicity


def least_squares(graph, seed, rows=1000, sem="gaussian"):
    return LeastSquares(TableStatistics(simulate(graph, sem, rows, seed).table).moments().covariance)


def objective(loss, weights, lambda1):
    return loss.value(weights) + lambda1 * np.abs(weights).sum()


def cut(weights):
    """The smallest threshold that leaves a DAG."""
    return np.abs(weights) > cyclicity(weights)


@pytest.mark.full
@pytest.mark.parametrize("lambda1", [0.0, 0.1])
@pytest.mark.parametrize("acyclicity", ["trace-exponential", "log-determinant"])
def test_close_to_the_optimum_over_all_dags(lambda1, acyclicity):
    excess = []
    for seed in range(3):
        loss = least_squares(random_dag("er", 4, 1, seed), seed)
        solution = augmented_lagrangian(loss, Run(), lambda1=lambda1, acyclicity=acyclicity, h_tolerance=1e-6)
        assert solution.converged
        assert solution.h <= 1e-6
        assert solution.objective == pytest.approx(objective(loss, solution.weights, lambda1))
        refitted = objective(loss, loss.refit(cut(solution.weights), lambda1), lambda1)
        best = best_over_all_dags(loss, lambda1)
        assert refitted >= best * (1 - 1e-9)
        excess.append(refitted / best - 1)
    # A stationary point, not the optimum: the paper's own deviations are of this size.
    assert np.median(excess) < 0.01
    assert max(excess) < 0.1


def test_the_oracle_is_the_best_refit():
    loss = least_squares(random_dag("er", 4, 1.5, 1), 1)
    fits = [objective(loss, loss.refit(graph.to_numpy(), 0.1), 0.1) for graph in all_dags(4)]
    assert min(fits) == pytest.approx(best_over_all_dags(loss, 0.1), rel=1e-7)


@pytest.mark.full
@pytest.mark.parametrize("sem", ["gaussian", "exponential", "gumbel"])
def test_linear_models_are_recovered(sem):
    graph = random_dag("er", 6, 1, 3)
    loss = least_squares(graph, 3, rows=5000, sem=sem)
    solution = augmented_lagrangian(loss, Run(), lambda1=0.05, h_tolerance=1e-6)
    found = np.abs(solution.weights) > 0.3
    assert np.array_equal(found, graph.to_numpy())


COLLIDER = DAG("abcde", [("a", "c"), ("b", "c"), ("c", "d"), ("c", "e")])


@pytest.mark.full
def test_binary_models_are_recovered():
    table = simulate(COLLIDER, "logistic", 4000, 1, weight_range=(1.5, 2.0)).table
    loss = logistic_loss(logistic_rows(TableStatistics(table)), intercept=False)
    solution = augmented_lagrangian(loss, Run(), lambda1=0.01, h_tolerance=1e-5)
    assert np.array_equal(np.abs(solution.weights) > 0.3, COLLIDER.to_numpy())
    assert solution.converged


@pytest.mark.full
@pytest.mark.parametrize("kind", [logistic_loss, poisson_loss])
def test_independent_columns_of_any_level_get_no_edge(kind):
    rng = np.random.default_rng(0)
    levels = (0.95, 0.9, 0.5, 0.1)
    draw = (
        rng.binomial(1, levels, (1000, 4))
        if kind is logistic_loss
        else rng.poisson(5 * np.array(levels), (1000, 4))
    )
    rows = draw.astype(float)
    for lambda1 in (0.02, 0.1):
        found = augmented_lagrangian(kind(rows), Run(), lambda1=lambda1)
        assert np.abs(found.weights).max() < 0.3
    published = augmented_lagrangian(kind(rows, intercept=False), Run(), lambda1=0.02)
    assert (np.abs(published.weights) > 0.3).any(), "levels are mistaken for edges"


@pytest.mark.full
def test_counts_are_recovered():
    table = simulate(COLLIDER, "poisson", 2000, 1).table
    loss = poisson_loss(count_rows(TableStatistics(table)))
    solution = augmented_lagrangian(loss, Run(), lambda1=0.01, h_tolerance=1e-5)
    assert np.array_equal(np.abs(solution.weights) > 0.05, COLLIDER.to_numpy())
    assert solution.converged


def test_every_problem_comes_with_its_own_gradient(monkeypatch):
    """By finite differences, where α and ρ both count."""
    rng = np.random.default_rng(0)
    checked = []

    def check(function, point, free, lambda1, **given):
        at, direction = point + 0.3 * rng.normal(size=len(point)) * free, rng.normal(size=len(point)) * free
        ahead, behind = (function(at + step * direction)[0] for step in (1e-6, -1e-6))
        assert function(at)[1] @ direction == pytest.approx((ahead - behind) / 2e-6, rel=1e-4)
        checked.append(point)
        return minimise(function, point, free, lambda1, **given)

    monkeypatch.setattr("dagora.learners.optimise.augmented_lagrangian.minimise", check)
    loss = least_squares(random_dag("er", 4, 1.5, 1), 1)
    solution = augmented_lagrangian(loss, Run(), lambda1=0.1, rho_max=1e3)
    assert len(checked) > solution.rounds > 2


def test_forbidden_weights_stay_zero():
    graph = random_dag("er", 6, 2, 0)
    loss = least_squares(graph, 0)
    allowed = np.random.default_rng(0).random((6, 6)) < 0.6
    before = allowed.copy()
    solution = augmented_lagrangian(loss, Run(), lambda1=0.02, allowed=allowed, h_tolerance=1e-3)
    assert np.array_equal(allowed, before)
    assert not solution.weights[~allowed].any()
    assert not np.diag(solution.weights).any()
    assert solution.weights.any()
    # Only an acyclic support is allowed: the program is convex, and its solution is the refit.
    order = np.triu(np.ones((6, 6), dtype=bool), 1)
    solution = augmented_lagrangian(loss, Run(), lambda1=0.02, allowed=order)
    assert solution.h == 0.0
    expected = objective(loss, loss.refit(order, 0.02), 0.02)
    assert solution.objective == pytest.approx(expected, rel=1e-6)
    assert solution.rounds == 1


@pytest.mark.full
def test_a_callable_may_measure_cycles():
    loss = least_squares(random_dag("er", 4, 1, 0), 0)
    calls = []

    def counted(weights):
        calls.append(1)
        return trace_exponential(weights)

    solution = augmented_lagrangian(loss, Run(), lambda1=0.1, acyclicity=counted)
    assert len(calls) >= solution.evaluations > 10
    named = augmented_lagrangian(loss, Run(), lambda1=0.1)
    assert np.array_equal(solution.weights, named.weights)
    with pytest.raises(OptionError, match="there is no acyclicity named 'trace'"):
        augmented_lagrangian(loss, Run(), lambda1=0.1, acyclicity="trace")


@pytest.mark.full
def test_the_budget_and_the_limit_of_rho_end_it():
    loss = least_squares(random_dag("er", 8, 3, 0), 0)
    spent = Budget(0.0)
    solution = augmented_lagrangian(loss, Run(budget=spent), lambda1=0.1)
    assert not solution.converged
    assert "time limit" in solution.reason
    assert solution.weights.shape == (8, 8)
    short = Budget(0.05)
    started = time.monotonic()
    solution = augmented_lagrangian(loss, Run(budget=short), lambda1=0.1, h_tolerance=0.0)
    assert not solution.converged
    assert time.monotonic() - started < 20
    solution = augmented_lagrangian(loss, Run(), lambda1=0.1, rho_max=10.0)
    assert not solution.converged
    assert "ρ reached 10" in solution.reason
    assert solution.h > 1e-8


@pytest.mark.full
def test_events_tell_of_every_round():
    events = []
    loss = least_squares(random_dag("er", 4, 1.5, 1), 1)
    solution = augmented_lagrangian(loss, Run(on_event=events.append), lambda1=0.1)
    assert {event.phase for event in events} == {"augmented Lagrangian"}
    assert sorted({event.step for event in events}) == list(range(solution.rounds))
    assert all(event.score is None for event in events)  # a cyclic W has no score
    assert "h = " in events[-1].message


@pytest.mark.full
def test_the_same_input_gives_the_same_bits():
    loss = least_squares(random_dag("er", 5, 1, 5), 5)
    first, second = (augmented_lagrangian(loss, Run(), lambda1=0.1, h_tolerance=1e-3) for _ in range(2))
    assert np.array_equal(first.weights, second.weights)
