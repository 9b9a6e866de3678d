"""The coordinator's subproblem against L-BFGS-B on the split weights, and against its optimality conditions."""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import minimize

from dagora.learners.optimise.acyclicity import trace_exponential
from dagora.parties.horizontal.learners.acyclic_prox import (
    ProxPenalties,
    acyclic_prox,
    cycles,
    exponential_less_one,
)


def objective(weights, target, q, penalties):
    h = cycles(weights)
    return (
        penalties.lambda1 * np.abs(weights).sum()
        + 0.5 * penalties.lambda2 * (weights**2).sum()
        + penalties.alpha * h
        + 0.5 * penalties.rho1 * h**2
        + 0.5 * q * ((weights - target) ** 2).sum()
    )


def slope(weights, target, q, penalties):
    strengths = np.sqrt((weights**2).sum(axis=0))
    h, gradient = trace_exponential(strengths)
    # d h / d w = G · 2w, and trace_exponential returns 2 A G for A the strength itself.
    with np.errstate(invalid="ignore", divide="ignore"):
        walks = np.where(strengths > 0, gradient / strengths, 0.0)
    return (
        q * (weights - target)
        + penalties.lambda2 * weights
        + (penalties.alpha + penalties.rho1 * h) * walks * weights
    )


@pytest.mark.parametrize("units", [1, 3])
@pytest.mark.parametrize(("alpha", "rho1"), [(0.0, 0.0), (0.1, 0.5), (2.0, 20.0), (50.0, 1e4)])
def test_stationary_and_as_good_as_a_generic_method(units, alpha, rho1):
    rng = np.random.default_rng(3)
    d, q = 5, 0.7
    target = rng.normal(size=(units, d, d))
    penalties = ProxPenalties(0.05, 0.1, alpha, rho1)
    free = ~np.eye(d, dtype=bool)
    free[0, 3] = False
    found = acyclic_prox(np.zeros_like(target), target, q, penalties, free, enough=1e-13, steps=5000).weights
    assert (found[:, ~free] == 0).all()
    gradient = slope(found, target, q, penalties)
    inside = (found != 0) & free
    size = 1 + alpha + rho1 * cycles(found)
    assert np.abs((gradient + 0.05 * np.sign(found))[inside]).max() < 1e-3 * size
    assert (np.abs(gradient[(found == 0) & free]) <= 0.05 + 1e-3 * size).all()

    def split(entries):
        plus, minus = entries.reshape(2, units, d, d) * free
        weights = plus - minus
        grad = slope(weights, target, q, penalties)
        value = objective(weights, target, q, penalties) + 0.05 * (plus + minus - np.abs(weights)).sum()
        return value, np.concatenate([((grad + 0.05) * free).ravel(), ((0.05 - grad) * free).ravel()])

    start = np.concatenate([np.maximum(found, 0).ravel(), np.maximum(-found, 0).ravel()])
    better = minimize(split, start, jac=True, bounds=[(0, None)] * len(start), method="L-BFGS-B")
    mine = objective(found, target, q, penalties)
    assert better.fun >= mine - 1e-3 * (1 + abs(mine))


def test_cycles_fade_as_their_price_grows():
    target = np.random.default_rng(0).normal(size=(1, 6, 6))
    free = ~np.eye(6, dtype=bool)
    weights, last = np.zeros_like(target), np.inf
    for price in (0.1, 1.0, 10.0, 1e3, 1e5):
        weights = acyclic_prox(
            weights, target, 1.0, ProxPenalties(0.01, alpha=price, rho1=price), free
        ).weights
        assert cycles(weights) < last
        last = cycles(weights)
    assert last < 1e-4
    assert np.abs(weights).max() > 0.5


@pytest.mark.parametrize("size", [0.0, 1e-3, 0.5, 4.0, 20.0])
def test_the_exponential_is_the_exponential(size):
    matrix = size * np.random.default_rng(1).random((7, 7)) * ~np.eye(7, dtype=bool)
    assert np.allclose(exponential_less_one(matrix), expm(matrix) - np.eye(7), rtol=1e-9, atol=1e-15)
    assert np.trace(exponential_less_one(np.triu(matrix, 1))) == 0.0


@pytest.mark.parametrize("spread", [1.0, 3.0, 5.0])
def test_heavy_weights_between_columns_of_other_units_are_no_heavier_cycles(spread):
    rng = np.random.default_rng(6)
    light = rng.normal(size=(6, 6)) * (rng.random((6, 6)) < 0.6) * ~np.eye(6, dtype=bool)
    units = 10.0 ** rng.uniform(-spread, spread, size=6)
    heavy = light * units / units[:, None]  # same cycles, for units cancel along them
    assert np.abs(heavy).max() > 25 or spread == 1.0
    oracle = np.trace(expm(light**2)) - 6
    assert cycles(heavy[None]) == pytest.approx(oracle, rel=1e-12)
    walks = (expm(light**2) - np.eye(6)) * (units / units[:, None]) ** 2
    assert np.allclose(exponential_less_one(heavy**2) / walks, 1.0, rtol=1e-9)


@pytest.mark.parametrize("weight", [24.0, 26.0, 1e4, 1e70])
def test_no_weight_makes_a_cycle_of_a_dag(weight):
    rng = np.random.default_rng(7)
    order = rng.permutation(60)
    dag = np.triu(rng.uniform(-weight, weight, size=(60, 60)), 1)[np.ix_(order, order)]
    assert cycles(dag[None]) == trace_exponential(np.where(dag != 0, 1.0, 0.0))[0] == 0.0
    # One edge against the order, so faint that its cycles weigh next to nothing.
    pair = np.array([[[0.0, weight], [1e-3 / weight, 0.0]]])
    assert cycles(pair) == pytest.approx(1e-6, rel=1e-6)


def test_faint_cycles_are_seen_and_huge_ones_are_infinite():
    faint = np.array([[[0.0, 1e-6], [1e-5, 0.0]]])
    assert cycles(faint) == pytest.approx(1e-22, rel=1e-9)
    assert cycles(1e6 * np.ones((1, 2, 2))) == np.inf
    assert cycles(np.array([[[0.0, 30.0], [30.0, 0.0]]])) == np.inf  # cosh 900


def test_one_price_per_edge_is_another_unit_of_the_columns():
    rng = np.random.default_rng(8)
    free = ~np.eye(5, dtype=bool)
    units = 10.0 ** rng.uniform(-1, 1, size=5)
    own = units / units[:, None]
    target = rng.normal(size=(1, 5, 5))
    near = {"free": free, "enough": 1e-14, "steps": 5000}
    by_row = acyclic_prox(
        0 * target, target * own, 0.5 * units[:, None] ** 2, ProxPenalties(0.02, 0.0, 1.0, 2.0), **near
    )
    by_column = acyclic_prox(
        0 * target, target, 0.5 * units**2, ProxPenalties(0.02 * own, 0.0, 1.0, 2.0), **near
    )
    assert np.allclose(by_row.weights, by_column.weights * own, rtol=1e-5, atol=1e-7)


def test_what_is_left_to_do_is_told():
    target = np.array([[[0.0, 3.0], [2.0, 0.0]]])
    free = ~np.eye(2, dtype=bool)
    penalties = ProxPenalties(0.1, alpha=0.5, rho1=0.5)
    solved = acyclic_prox(0 * target, target, 1.0, penalties, free, enough=1e-15, steps=5000)
    assert solved.left < 1e-5
    unmoved = acyclic_prox(0 * target, target, 1.0, penalties, free, steps=0)
    # At W = 0 no walk leads back, so that the next step would aim at the soft thresholds.
    assert unmoved.left == pytest.approx(np.hypot(2.9, 1.9))
    assert acyclic_prox(0 * target, target, 1.0, ProxPenalties(0.1), free).left == 0.0


def test_a_search_gets_away_from_where_numbers_overflow():
    free = ~np.eye(3, dtype=bool)
    target = np.full((1, 3, 3), 1e6)
    for start in (np.zeros((1, 3, 3)), np.full((1, 3, 3), 1e6)):
        found = acyclic_prox(start, target, 1e-9, ProxPenalties(0.0, alpha=0.1, rho1=0.1), free).weights
        assert 0 < cycles(found) < 1e9
        assert objective(found, target, 1e-9, ProxPenalties(0.0, alpha=0.1, rho1=0.1)) <= objective(
            np.zeros((1, 3, 3)), target, 1e-9, ProxPenalties(0.0)
        )
