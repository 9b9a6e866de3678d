"""Log-likelihoods against enumeration, loops and scipy's multivariate normal."""

from math import log

import numpy as np
import pytest
from scipy import stats

from dagora.base.errors import DataError
from dagora.data.incomplete import IncompleteTable
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.network.fit import fit
from dagora.network.likelihood import log_likelihood, log_likelihoods
from dagora.network.networks import DiscreteNetwork, GaussianNetwork
from dagora.network.sample import sample_network
from dagora.stats.table import TableStatistics
from tests.network.network_oracles import (
    continuous_table,
    discrete_table,
    enumerate_joint,
    implied_normal,
    matrix,
)


def test_every_configuration_has_its_joint_probability(clinic):
    joint = enumerate_joint(clinic)
    assert sum(joint.values()) == pytest.approx(1)
    table = discrete_table(
        {node: [codes[i] for codes in joint] for i, node in enumerate(clinic.graph)}, clinic.levels
    )
    with np.errstate(divide="ignore"):
        expected = np.log(list(joint.values()))
    assert np.isneginf(expected).any()
    np.testing.assert_allclose(log_likelihoods(clinic, table), expected, rtol=1e-12)
    assert log_likelihood(clinic, table) == -np.inf


def test_names_decide_not_positions(clinic):
    table = sample_network(clinic, 500, seed=0)
    shuffled_levels = {node: clinic.levels[node][::-1] for node in clinic.graph}
    columns = {"extra": np.zeros(500)}
    for i, node in reversed(list(enumerate(clinic.graph))):
        columns[node] = len(clinic.levels[node]) - 1 - table.codes(i).astype(int)
    shuffled = discrete_table(columns, {**shuffled_levels, "extra": ["k"]})
    np.testing.assert_array_equal(log_likelihoods(clinic, shuffled), log_likelihoods(clinic, table))


def test_likelihood_of_counts_is_the_multinomial_without_its_coefficient(clinic):
    joint = enumerate_joint(clinic)
    table = sample_network(clinic, 2000, seed=1)
    rows = list(zip(*(table.codes(i).tolist() for i in range(5)), strict=True))
    counts = [rows.count(codes) for codes in joint]
    expected = stats.multinomial.logpmf(counts, 2000, list(joint.values()))
    expected -= stats.multinomial.logpmf(counts, 2000, np.full(len(counts), 1 / len(counts))) + 2000 * log(
        len(counts)
    )
    assert log_likelihood(clinic, table) == pytest.approx(expected, rel=1e-9)


def test_gaussian_rows_have_the_density_of_the_implied_joint_normal(growth):
    table = sample_network(growth, 300, seed=2)
    mean, covariance = implied_normal(growth)
    expected = stats.multivariate_normal(mean, covariance).logpdf(matrix(table))
    np.testing.assert_allclose(log_likelihoods(growth, table), expected, rtol=1e-9)
    assert log_likelihood(growth, table) == pytest.approx(expected.sum(), rel=1e-12)
    reordered = table.select(["price", "soil", "yield", "rain"])
    np.testing.assert_array_equal(log_likelihoods(growth, reordered), log_likelihoods(growth, table))


@pytest.mark.parametrize("name", ["clinic", "growth"])
def test_fitted_parameters_maximise_the_likelihood(name, request):
    truth = request.getfixturevalue(name)
    table = sample_network(truth, 400, seed=4)
    fitted = fit(truth.graph, TableStatistics(table))
    best = log_likelihood(fitted, table)
    assert best > log_likelihood(truth, table)
    rng = np.random.default_rng(5)
    for _ in range(10):
        if isinstance(fitted, GaussianNetwork):
            sds = {node: sd * np.exp(0.01 * rng.normal()) for node, sd in fitted.sds.items()}
            slopes = {node: c + 0.01 * rng.normal(size=len(c)) for node, c in fitted.coefficients.items()}
            nearby = GaussianNetwork(truth.graph, fitted.intercepts, slopes, sds)
        else:
            tables = {node: t * np.exp(0.01 * rng.normal(size=t.shape)) for node, t in fitted.tables.items()}
            tables = {node: t / t.sum(axis=-1, keepdims=True) for node, t in tables.items()}
            nearby = DiscreteNetwork(truth.graph, truth.levels, tables)
        assert log_likelihood(nearby, table) < best


def test_no_rows_have_likelihood_one(clinic, growth):
    assert log_likelihood(clinic, sample_network(clinic, 1, seed=0).take([False])) == 0
    assert log_likelihood(growth, sample_network(growth, 1, seed=0).take([False])) == 0


def test_a_level_the_network_does_not_know_is_refused_where_it_occurs(clinic):
    levels = {**clinic.levels, "smoker": ("formerly", "no", "yes")}
    codes = {node: [0] for node in clinic.graph}
    with pytest.raises(DataError, match="'smoker' has the level 'formerly'"):
        log_likelihood(clinic, discrete_table(codes, levels))
    known = discrete_table({**codes, "smoker": [1]}, levels)
    assert log_likelihood(clinic, known) == log_likelihood(clinic, discrete_table(codes, clinic.levels))


def test_columns_that_are_missing_or_of_the_wrong_kind_are_refused(clinic, growth):
    with pytest.raises(DataError, match="'cough'"):
        log_likelihood(clinic, discrete_table({"smoker": [0]}, clinic.levels))
    with pytest.raises(DataError, match="'cough' is continuous"):
        log_likelihood(clinic, continuous_table({node: [0.0] for node in clinic.graph}))
    with pytest.raises(DataError, match="'yield' is discrete"):
        log_likelihood(
            growth, discrete_table({node: [0] for node in growth.graph}, dict.fromkeys(growth.graph, "k"))
        )


def test_a_node_without_noise_has_no_density():
    network = GaussianNetwork(DAG("a"), {"a": 1.0}, {"a": np.zeros(0)}, {"a": 0.0})
    with pytest.raises(DataError, match="'a' has a standard deviation of 0"):
        log_likelihood(network, continuous_table({"a": [1.0]}))


def test_only_levels_that_occur_need_to_be_known():
    """A missing cell holds the code of the first level, which the network need not know."""
    coin = DiscreteNetwork(DAG(["coin"]), {"coin": ("tails", "heads")}, {"coin": np.array([0.25, 0.75])})
    schema = Schema([Variable("coin", Kind.DISCRETE, ("edge", "heads", "tails"))])
    tosses = Table(schema, (np.array([1, 2, 0], dtype=np.uint16),))
    seen = IncompleteTable.of(tosses, [[True, True, False]])
    assert log_likelihoods(coin, seen) == pytest.approx([log(0.75), log(0.25), 0.0])
    with pytest.raises(DataError, match="has the level 'edge', which the network does not know"):
        log_likelihoods(coin, tosses)
