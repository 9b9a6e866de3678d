"""Drawn rows against exact joint distributions, by chi-square and Kolmogorov-Smirnov tests, seeds fixed."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dagora.base.errors import OptionError
from dagora.data.schema import Kind
from dagora.graph.dag import DAG
from dagora.network.drawing import draw_levels
from dagora.network.networks import DiscreteNetwork, GaussianNetwork
from dagora.network.sample import sample_network
from tests.network.network_oracles import enumerate_joint, implied_normal, matrix


def test_joint_frequencies_follow_the_enumerated_distribution(clinic):
    rows = 50_000
    table = sample_network(clinic, rows, seed=11)
    joint = enumerate_joint(clinic)
    shape = [len(clinic.levels[node]) for node in clinic.graph]
    flat = np.ravel_multi_index([table.codes(i).astype(int) for i in range(5)], shape)
    observed = np.bincount(flat, minlength=len(joint))
    expected = rows * np.array(list(joint.values()))
    assert (observed[expected == 0] == 0).all()
    rare = (expected > 0) & (expected < 5)
    cells = ~rare & (expected > 0)
    observed = np.append(observed[cells], observed[rare].sum())
    expected = np.append(expected[cells], expected[rare].sum())
    assert stats.chisquare(observed, expected).pvalue > 1e-3


def test_columns_are_the_nodes_and_all_levels_are_declared_in_the_networks_order(clinic):
    table = sample_network(clinic, 1, seed=0)
    assert table.names == clinic.graph.nodes
    assert [variable.levels for variable in table.schema] == [clinic.levels[node] for node in clinic.graph]


@pytest.mark.parametrize("name", ["clinic", "growth"])
def test_a_seed_decides_the_rows(name, request):
    network = request.getfixturevalue(name)
    first, again, other = (matrix(sample_network(network, 200, seed=seed)) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 70), st.integers(0, 2**32 - 1))
def test_bisection_counts_the_cumulative_probabilities_below_u(levels, seed):
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.ones(levels), size=4)
    table[:, rng.random(levels) < 0.3] = 0
    table[:, rng.integers(levels)] += 0.1
    table /= table.sum(axis=1, keepdims=True)
    configuration = rng.integers(4, size=50)
    drawn = draw_levels(table, configuration, np.random.default_rng(seed))
    for row, level, u in zip(configuration, drawn, np.random.default_rng(seed).random(50), strict=True):
        assert table[row, level] > 0
        assert table[row, :level].sum() - 1e-12 <= u < table[row, : level + 1].sum() + 1e-12


def test_an_impossible_level_is_never_drawn_first_last_or_between():
    table = np.array([[0.0, 0.5, 0.0, 0.5, 0.0]])
    drawn = draw_levels(table, np.zeros(20_000, dtype=np.int64), np.random.default_rng(0))
    assert set(drawn.tolist()) == {1, 3}


class Uniforms:
    """A generator that gives the numbers it was told to."""

    def __init__(self, numbers):
        self.numbers = np.array(numbers)

    def random(self, size):
        assert size == len(self.numbers)
        return self.numbers


@pytest.mark.parametrize("total", [0.9992, 1.0, 1.0008])
def test_tables_rounded_in_a_file_are_brought_to_one(total):
    table = np.array([[0.25, 0.0, 0.5, 0.25, 0.0]]) * total
    just_below = np.nextafter(1.0, 0.0)
    uniforms = Uniforms([0.0, 0.2499999, 0.2500001, 0.7499999, 0.7500001, just_below])
    drawn = draw_levels(table, np.zeros(6, dtype=np.int64), uniforms)
    assert drawn.tolist() == [0, 0, 2, 2, 3, 3]


def test_a_coin_of_one_level():
    network = DiscreteNetwork(DAG("a"), {"a": ("only",)}, {"a": np.array([1.0])})
    np.testing.assert_array_equal(sample_network(network, 3, seed=0).codes(0), [0, 0, 0])


def test_gaussian_rows_have_the_implied_margins_and_covariance(growth):
    rows = 100_000
    table = sample_network(growth, rows, seed=3)
    assert table.names == growth.graph.nodes
    assert table.schema.kinds == {Kind.CONTINUOUS}
    mean, covariance = implied_normal(growth)
    X = matrix(table)
    for i in range(4):
        assert stats.kstest(X[:, i], stats.norm(mean[i], np.sqrt(covariance[i, i])).cdf).pvalue > 1e-3
    # Isserlis: var of a sample covariance is (s_ii s_jj + s_ij²) / n.
    error = np.sqrt((np.outer(np.diag(covariance), np.diag(covariance)) + covariance**2) / rows)
    assert (np.abs(np.cov(X.T) - covariance) < 4.5 * error).all()


def test_a_node_without_noise_is_its_regression():
    network = GaussianNetwork(
        DAG("ab", [("a", "b")]),
        {"a": 0.0, "b": 1.0},
        {"a": np.zeros(0), "b": np.array([2.0])},
        {"a": 1.0, "b": 0.0},
    )
    a, b = sample_network(network, 10, seed=0).columns
    np.testing.assert_allclose(b, 2 * a + 1)


def test_a_hundred_thousand_rows_of_two_hundred_nodes_take_seconds():
    rng = np.random.default_rng(0)
    names = [f"n{i}" for i in range(200)]
    graph = DAG.from_parents(names, [rng.choice(i, min(i, 3), replace=False) for i in range(200)])
    tables = {node: rng.dirichlet(np.ones(4), size=(4,) * len(graph.parents(node))) for node in names}
    network = DiscreteNetwork(graph, dict.fromkeys(names, tuple("abcd")), tables)
    started = time.process_time()
    assert sample_network(network, 100_000, seed=0).n_rows == 100_000
    assert time.process_time() - started < 20  # about 1 s on an idle core


@pytest.mark.parametrize("rows", [0, -3, 2.5, "10"])
def test_bad_rows(clinic, rows):
    with pytest.raises(OptionError, match="rows must be"):
        sample_network(clinic, rows, seed=0)


@pytest.mark.parametrize("seed", [-1, 0.5, None])
def test_bad_seed(clinic, seed):
    with pytest.raises(OptionError, match="seed must be"):
        sample_network(clinic, 1, seed=seed)
