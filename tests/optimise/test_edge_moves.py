import numpy as np
import pytest

from dagora.optimise.acyclicity import is_acyclic
from dagora.optimise.edge_moves import climb_edges
from dagora.optimise.losses import LeastSquares
from dagora.optimise.order_descent import solve_given_order
from dagora.optimise.path import Program
from dagora.optimise.thinning import thin, thin_program

THRESHOLD = 0.3


def make_program(seed, d=6, required=(), forbidden=()):
    rng = np.random.default_rng(seed)
    truth = np.triu(rng.uniform(0.4, 1.5, (d, d)) * (rng.random((d, d)) < 0.5), 1)
    rows = rng.normal(size=(200, d)) @ np.linalg.inv(np.eye(d) - truth)
    rows = rows[:, rng.permutation(d)]
    must = np.zeros((d, d), dtype=bool)
    for edge in required:
        must[edge] = True
    allowed = ~np.eye(d, dtype=bool) & ~must.T
    for edge in forbidden:
        allowed[edge] = False
    return Program(np.cov(rows.T, bias=True), 0.1, allowed, must)


def start(program, seed):
    """Thinned weights of a random order that required edges permit."""
    d = len(program)
    rng = np.random.default_rng(seed)
    while True:
        order = rng.permutation(d)
        place = np.argsort(order)
        if all(place[i] < place[j] for i, j in np.argwhere(program.required)):
            break
    solution = solve_given_order(program, order, np.zeros((d, d)))
    return thin_program(program, solution.weights, (solution.weights != 0) | program.required, THRESHOLD)


def thinned_objective(program, support):
    """Refit and thin plainly; infinite where a cycle would close."""
    if not is_acyclic(support):
        return np.inf
    loss = LeastSquares(program.moments)
    weights, _ = thin(lambda kept: loss.refit(kept, program.lambda1), support, program.required, THRESHOLD)
    return program.objective(weights)


def neighbours(program, support):
    """Every graph with one edge added or turned."""
    for i, j in np.argwhere(program.allowed & ~support & ~support.T):
        changed = support.copy()
        changed[i, j] = True
        yield changed
    for i, j in np.argwhere(support & ~program.required & program.allowed.T):
        changed = support.copy()
        changed[i, j], changed[j, i] = False, True
        yield changed


@pytest.mark.parametrize("seed", range(8))
def test_no_added_or_turned_edge_lowers_the_thinned_objective(seed):
    program = make_program(seed, required=[(0, 1)] if seed % 2 else (), forbidden=[(2, 3)])
    weights = start(program, seed)
    climbed = climb_edges(program, weights, THRESHOLD, 1e-9)
    support = (climbed != 0) | program.required
    reached = program.objective(climbed)
    assert reached <= program.objective(weights) + 1e-12
    assert is_acyclic(support)
    assert not (support & ~program.allowed).any()
    assert np.abs(climbed[(climbed != 0) & ~program.required]).min(initial=1.0) >= THRESHOLD
    for changed in neighbours(program, support):
        assert thinned_objective(program, changed) >= reached - 1e-8


def test_it_climbs_at_all():
    gains = []
    for seed in range(8):
        program = make_program(seed)
        weights = start(program, seed + 50)
        gains.append(program.objective(weights) - program.objective(climb_edges(program, weights, 0.3, 1e-9)))
    assert min(gains) >= -1e-12
    assert max(gains) > 0.01


def test_the_weights_given_stay_as_they_are():
    program = make_program(3)
    weights = start(program, 3)
    kept = weights.copy()
    climb_edges(program, weights, THRESHOLD, 1e-9)
    assert np.array_equal(weights, kept)
