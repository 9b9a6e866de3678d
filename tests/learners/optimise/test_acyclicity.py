"""Acyclicity measures, against listed walks, matrix powers, differences and all small graphs."""

from itertools import pairwise, product
from math import factorial

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagora.graph.enumerate import all_dags
from dagora.learners.optimise.acyclicity import (
    cyclic_components,
    log_determinant,
    strong_components,
    trace_exponential,
    with_required_edges,
)
from tests.learners.optimise.optimise_oracles import (
    central_differences,
    closed_walks,
    cyclicity,
    is_acyclic,
    power_sum,
)


def random_weights(seed, size=4, density=1.0, largest=0.7):
    rng = np.random.default_rng(seed)
    weights = rng.uniform(-largest, largest, (size, size)) * (rng.random((size, size)) < density)
    np.fill_diagonal(weights, 0)
    return weights


@pytest.mark.parametrize("density", [0.3, 0.6, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_both_are_sums_over_closed_walks(seed, density):
    weights = random_weights(seed, density=density)
    squares = weights**2
    listed = [closed_walks(squares, k) for k in range(1, 7)]
    for k, walks in enumerate(listed, start=1):
        assert np.trace(np.linalg.matrix_power(squares, k)) == pytest.approx(walks, rel=1e-12, abs=1e-15)
    exponential = power_sum(squares, lambda k: 1 / factorial(k))
    assert trace_exponential(weights)[0] == pytest.approx(exponential, rel=1e-9, abs=1e-14)
    assert log_determinant(weights)[0] == pytest.approx(
        power_sum(squares, lambda k: 1 / k), rel=1e-9, abs=1e-14
    )
    # Six steps of walks are a lower bound, and with small weights nearly all there is.
    assert exponential >= sum(w / factorial(k) for k, w in enumerate(listed, start=1)) - 1e-15


@pytest.mark.parametrize("scale", [0.9, 1.0, 3.0])
def test_the_scale_divides_the_weights(scale):
    weights = random_weights(1, largest=0.4)
    expected = power_sum(weights**2 / scale, lambda k: 1 / k)
    assert log_determinant(weights, scale)[0] == pytest.approx(expected, rel=1e-10)
    d = len(weights)
    formula = -np.linalg.slogdet(scale * np.eye(d) - weights**2)[1] + d * np.log(scale)
    assert log_determinant(weights, scale)[0] == pytest.approx(formula, rel=1e-9)


@pytest.mark.parametrize("density", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "measure", [trace_exponential, log_determinant, lambda weights: log_determinant(weights, 2.0)]
)
def test_gradients(measure, seed, density):
    weights = random_weights(seed, size=6, density=density, largest=0.35)
    expected = central_differences(lambda w: measure(w)[0], weights, 1e-5)
    np.testing.assert_allclose(measure(weights)[1], expected, rtol=1e-6, atol=1e-9)


def test_zero_on_every_dag_of_four_nodes():
    rng = np.random.default_rng(0)
    count = 0
    for graph in all_dags(4):
        weights = graph.to_numpy() * rng.uniform(0.5, 20, (4, 4))
        for measure in (trace_exponential, log_determinant):
            value, gradient = measure(weights)
            assert value == 0.0
            assert not gradient.any()
        assert cyclicity(weights) == 0.0
        count += 1
    assert count == 543


def test_positive_on_every_cyclic_graph_of_three_nodes():
    cyclic = 0
    for bits in product([0.0, 1.0], repeat=9):
        weights = np.array(bits).reshape(3, 3)
        has_cycle = not is_acyclic(weights != 0)
        cyclic += has_cycle
        assert (next(cyclic_components(weights != 0), None) is not None) is has_cycle
        assert (trace_exponential(weights)[0] > 0) is has_cycle
        assert (log_determinant(0.4 * weights)[0] > 0) is has_cycle
        assert cyclicity(weights) == (1.0 if has_cycle else 0.0)
    assert cyclic == 512 - 25  # loops are cycles, so all but the DAGs


def test_cyclicity_sees_what_underflows():
    weights = np.array([[0.0, 1e-200], [3.0, 0.0]])
    assert trace_exponential(weights)[0] == 0.0
    assert cyclicity(weights) == 1e-200


@given(st.integers(0, 10_000), st.integers(1, 5))
def test_cyclicity_is_the_weakest_link_of_the_strongest_cycle(seed, size):
    rng = np.random.default_rng(seed)
    weights = rng.choice([0.0, 0.0, 0.1, -0.1, 0.5, -2.0, 3.0], (size, size))
    graph = nx.DiGraph(weights)
    cycles = [[*cycle, cycle[0]] for cycle in nx.simple_cycles(graph)]
    weakest = [min(abs(weights[a, b]) for a, b in pairwise(c)) for c in cycles]
    assert cyclicity(weights) == max(weakest, default=0.0)


@given(st.integers(0, 10_000), st.integers(1, 12), st.sampled_from([0.05, 0.15, 0.3]))
def test_components_are_those_of_networkx(seed, size, density):
    support = np.random.default_rng(seed).random((size, size)) < density
    label = strong_components(support)
    ours = {frozenset(np.flatnonzero(label == k).tolist()) for k in set(label.tolist())}
    theirs = {frozenset(part) for part in nx.strongly_connected_components(nx.DiGraph(support.astype(int)))}
    assert ours == theirs


@given(st.integers(0, 10_000), st.integers(2, 6), st.floats(0.3, 1.5))
def test_the_domain_is_that_of_the_spectral_radius(seed, size, largest):
    weights = random_weights(seed, size, 0.6, largest)
    radius = np.abs(np.linalg.eigvals(weights**2)).max()
    if abs(radius - 1) > 1e-6:
        assert np.isfinite(log_determinant(weights)[0]) == (radius < 1)


@pytest.mark.parametrize("size", [30.0, 1e15, 1e16, 1e40, 1e100, 1e300, np.inf, np.nan])
def test_overflow_is_infinite_and_silent(size):
    weights = np.where(np.eye(3, dtype=bool), 0.0, size)
    assert trace_exponential(weights)[0] == np.inf
    assert log_determinant(weights)[0] == np.inf


@pytest.mark.parametrize("measure", [trace_exponential, log_determinant])
@pytest.mark.parametrize("seed", range(6))
def test_required_edges_count_whatever_their_weights(measure, seed):
    weights = random_weights(seed, density=0.5, largest=0.3)
    required = np.zeros((4, 4), dtype=bool)
    required[0, 1] = required[1, 2] = True
    weights[0, 1] = 0.0
    beside = with_required_edges(measure, required)
    value, gradient = beside(weights)
    assert value == pytest.approx(measure(np.sqrt(weights**2 + required))[0], rel=1e-12, abs=1e-15)
    np.testing.assert_allclose(
        gradient, central_differences(lambda w: beside(w)[0], weights), rtol=1e-5, atol=1e-8
    )
    assert (value == 0) == is_acyclic((weights != 0) | required)
