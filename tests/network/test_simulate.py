"""Simulated tables against the models they claim to come from."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from dagora.base.errors import OptionError
from dagora.data.schema import Kind
from dagora.graph.dag import DAG
from dagora.network.mechanisms import Fourier, Linear, Perceptron
from dagora.network.simulate import POISSON_CLIP, SEMS, simulate
from tests.network.network_oracles import matrix

# Nodes in an order that is not topological, with a root, a collider, a chain and an isolated node.
GRAPH = DAG("edcbaz", [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", "e"), ("a", "e")])
ROWS = 20_000
NOISE = {
    "gaussian": stats.norm(),
    "exponential": stats.expon(),
    "gumbel": stats.gumbel_r(),
    "mlp": stats.norm(),
    "fourier": stats.norm(),
}
LINEAR = ("gaussian", "exponential", "gumbel")
# Thirty columns are tested in one go: a level of 1e-3 for all of them together. The shape of a law is judged
# at this level, its mean and variance by bounds of their own, which are much sharper.
LEVEL = 1e-3 / 30


def residuals(simulation):
    X = matrix(simulation.table)
    for i, node in enumerate(simulation.graph):
        parents = list(simulation.graph.parent_indices(i))
        yield node, X[:, i] - (simulation.mechanisms[node](X[:, parents]) if parents else 0), X[:, parents]


@pytest.mark.parametrize("sem", NOISE)
def test_what_the_mechanism_leaves_is_the_noise_and_independent_of_the_parents(sem):
    scales = np.array([0.5, 1.0, 2.0, 1.0, 3.0, 0.1])
    simulation = simulate(GRAPH, sem, ROWS, seed=1, noise_scale=scales)
    np.testing.assert_array_equal(simulation.noise_scale, scales)
    for scale, (_, residual, parents) in zip(scales, residuals(simulation), strict=True):
        noise = residual / scale
        assert stats.kstest(noise, NOISE[sem].cdf).pvalue > LEVEL
        assert noise.mean() == pytest.approx(NOISE[sem].mean(), abs=4.5 * NOISE[sem].std() / np.sqrt(ROWS))
        # The variance of a sample variance is (kurtosis + 2) σ⁴ / n.
        spread = np.sqrt((NOISE[sem].stats("k") + 2) / ROWS) * NOISE[sem].var()
        assert noise.var() == pytest.approx(NOISE[sem].var(), abs=4.5 * spread)
        for parent in parents.T:
            assert stats.spearmanr(noise, parent).pvalue > LEVEL


@pytest.mark.parametrize("sem", LINEAR)
def test_linear_models_have_the_implied_covariance(sem):
    simulation = simulate(GRAPH, sem, 100_000, seed=2)
    W = simulation.weights
    inverse = np.linalg.inv(np.eye(6) - W)
    expected = inverse.T @ (NOISE[sem].var() * np.eye(6)) @ inverse
    observed = np.cov(matrix(simulation.table).T)
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    # Standard error of a covariance of standardised columns; the noise's excess kurtosis bounds theirs.
    error = np.sqrt((2 + NOISE[sem].stats("k")) / 100_000)
    assert (np.abs(observed - expected) / scale < 4.5 * error).all()


@pytest.mark.parametrize("sem", [*LINEAR, "logistic", "poisson"])
def test_weights_sit_on_the_edges_and_in_their_range(sem):
    simulation = simulate(GRAPH, sem, 10, seed=3)
    np.testing.assert_array_equal(simulation.weights != 0, GRAPH.to_numpy())
    sizes = np.abs(simulation.weights[simulation.weights != 0])
    low, high = (0.1, 0.5) if sem == "poisson" else (0.5, 2.0)
    assert ((low <= sizes) & (sizes <= high)).all()
    narrow = simulate(GRAPH, sem, 10, seed=3, weight_range=(0.3, 0.3)).weights
    np.testing.assert_allclose(np.abs(narrow), 0.3 * GRAPH.to_numpy())


def test_logistic_columns_are_bernoulli_given_their_parents():
    simulation = simulate(GRAPH, "logistic", ROWS, seed=4)
    assert simulation.table.schema.kinds == {Kind.DISCRETE}
    assert {variable.levels for variable in simulation.table.schema} == {("0", "1")}
    assert simulation.noise_scale is None
    X = matrix(simulation.table)
    for i in range(6):
        predictor = X @ simulation.weights[:, i]
        for value in np.unique(predictor):
            rows = predictor == value
            expected = 1 / (1 + np.exp(-value))
            assert stats.binomtest(int(X[rows, i].sum()), int(rows.sum()), expected).pvalue > 1e-4


def test_poisson_columns_are_counts_with_the_rate_of_their_parents():
    simulation = simulate(GRAPH, "poisson", ROWS, seed=5)
    assert simulation.table.schema.kinds == {Kind.CONTINUOUS}
    X = matrix(simulation.table)
    np.testing.assert_array_equal(X, np.round(X))
    assert X.min() == 0
    for i in range(6):
        rate = np.exp(np.clip(X @ simulation.weights[:, i], -5, 5))
        # Pearson residuals have mean 0 and variance 1; the variance of their squares is 2 + 1/rate.
        pearson = (X[:, i] - rate) / np.sqrt(rate)
        assert abs(pearson.mean()) < 4.5 / np.sqrt(ROWS)
        assert abs((pearson**2).mean() - 1) < 4.5 * np.sqrt((2 + 1 / rate).mean() / ROWS)


def test_poisson_does_not_explode():
    names = [f"x{i}" for i in range(40)]
    dense = DAG(names, [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]])
    X = matrix(simulate(dense, "poisson", 500, seed=6, weight_range=(0.5, 2.0)).table)
    assert X.max() < np.exp(POISSON_CLIP) + 8 * np.exp(POISSON_CLIP / 2)


@pytest.mark.parametrize(
    ("sem", "kind"), [("mlp", Perceptron), ("fourier", Fourier), ("gaussian", Linear), ("poisson", Linear)]
)
def test_mechanisms_are_of_their_family(sem, kind):
    simulation = simulate(GRAPH, sem, 10, seed=7)
    assert {type(simulation.mechanisms[node]) for node in GRAPH if GRAPH.parents(node)} == {kind}
    assert (simulation.weights is None) == (kind is not Linear)


def test_almost_without_noise_the_children_are_their_mechanism():
    scales = [1e-9 if GRAPH.parents(node) else 1.0 for node in GRAPH]
    for sem in ("mlp", "fourier", "gaussian"):
        for _, residual, parents in residuals(simulate(GRAPH, sem, 500, seed=8, noise_scale=scales)):
            if parents.size:
                assert np.abs(residual).max() < 1e-7


def test_fourier_without_nonlinearity_has_weights():
    simulation = simulate(GRAPH, "fourier", 10, seed=9, nonlinearity=0)
    np.testing.assert_array_equal(simulation.weights != 0, GRAPH.to_numpy())


def test_fourier_is_less_linear_the_larger_its_nonlinearity():
    pair = DAG("ab", [("a", "b")])
    shares = {}
    for nonlinearity in (0.0, 0.5, 5.0):
        r2 = []
        for seed in range(60):
            a, b = simulate(
                pair, "fourier", 300, seed, nonlinearity=nonlinearity, noise_scale=[1.0, 1e-6]
            ).table.columns
            r2.append(np.corrcoef(a, b)[0, 1] ** 2)
        shares[nonlinearity] = np.mean(r2)
    assert shares[0.0] == pytest.approx(1)
    assert shares[0.0] - 0.02 > shares[0.5] > shares[5.0] + 0.1


@pytest.mark.parametrize("sem", SEMS)
def test_a_seed_decides_everything(sem):
    first, again, other = (simulate(GRAPH, sem, 300, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(matrix(first.table), matrix(again.table))
    assert (matrix(first.table) != matrix(other.table)).any()
    assert first.table.names == GRAPH.nodes
    assert first.table.n_rows == 300


@pytest.mark.parametrize("sem", SEMS)
def test_mechanisms_do_not_depend_on_the_number_of_rows(sem):
    few, many = simulate(GRAPH, sem, 3, seed=1), simulate(GRAPH, sem, 3000, seed=1)
    parents = np.random.default_rng(0).normal(size=(5, 2))
    np.testing.assert_array_equal(few.mechanisms["d"](parents), many.mechanisms["d"](parents))


@pytest.mark.parametrize("sem", SEMS)
def test_an_isolated_node_is_independent_of_every_other(sem):
    X = matrix(simulate(GRAPH, sem, 5000, seed=10).table)
    for i in range(5):
        assert stats.spearmanr(X[:, 5], X[:, i]).pvalue > 1e-3


def test_a_graph_without_edges_is_noise():
    X = matrix(simulate(DAG("ab"), "mlp", 5000, seed=0).table)
    assert stats.kstest(X[:, 0], "norm").pvalue > 1e-3
    assert abs(np.corrcoef(X.T)[0, 1]) < 4.5 / np.sqrt(5000)


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sem": "cauchy"}, "no sem named 'cauchy'.*gaussian, exponential"),
        ({"rows": 0}, "rows must be"),
        ({"rows": 1.5}, "rows must be"),
        ({"seed": -1}, "seed must be"),
        ({"noise_scale": 0.0}, "noise_scale must be finite and above 0"),
        ({"noise_scale": -1.0}, "noise_scale"),
        ({"noise_scale": float("nan")}, "noise_scale"),
        ({"noise_scale": [1.0, 2.0]}, r"one per node \(6\), not 2"),
        ({"sem": "logistic", "noise_scale": 2.0}, "'logistic' has no noise_scale"),
        ({"sem": "poisson", "noise_scale": [2.0] * 6}, "'poisson' has no noise_scale"),
        ({"weight_range": (2.0, 0.5)}, "weight_range"),
        ({"weight_range": (0.0, 0.5)}, "weight_range"),
        ({"nonlinearity": 1.0}, "belong to the sem 'fourier'"),
        ({"published": True}, "belong to the sem 'fourier'"),
        ({"sem": "fourier", "nonlinearity": -0.1}, "nonlinearity must be"),
        ({"sem": "fourier", "nonlinearity": float("inf")}, "nonlinearity must be"),
        ({"relations": "clg"}, "relations belongs to the sem 'mixed', not to 'gaussian'"),
        ({"sem": "mixed", "relations": "bent"}, "relations is one of clg, shift, both, curved, not 'bent'"),
        ({"sem": "mixed", "noise_scale": 2.0}, "'mixed' has no noise_scale"),
    ],
)
def test_bad_options(arguments, message):
    with pytest.raises(OptionError, match=message):
        simulate(**{"graph": GRAPH, "sem": "gaussian", "rows": 10, "seed": 0, **arguments})


def test_values_beyond_floating_point_are_refused():
    names = [f"x{i}" for i in range(8)]
    chain = DAG(names, pairwise(names))
    with pytest.raises(OptionError, match="'x4' overflow"):
        simulate(chain, "gaussian", 10, seed=0, weight_range=(1e100, 1e100))


@pytest.mark.parametrize("relations", ["clg", "shift", "both", "curved"])
def test_half_of_a_mixed_table_is_discrete_and_follows_its_mechanisms(relations):
    simulation = simulate(GRAPH, "mixed", ROWS, seed=4, relations=relations)
    table = simulation.table
    kinds = {variable.name: variable.kind for variable in table.schema}
    assert sum(kind is Kind.DISCRETE for kind in kinds.values()) == 3
    if relations in {"clg", "shift"}:
        assert not [
            (a, b) for a, b in GRAPH.edges if kinds[a] is Kind.CONTINUOUS and kinds[b] is Kind.DISCRETE
        ]
    X = matrix(table)
    for i, node in enumerate(GRAPH):
        parents = X[:, list(GRAPH.parent_indices(i))]
        mechanism = simulation.mechanisms[node]
        told = mechanism(parents)
        if kinds[node] is Kind.CONTINUOUS:
            noise = (X[:, i] - told[:, 0]) / mechanism.deviations[mechanism.configurations(parents)]
            assert stats.kstest(noise, "norm").pvalue > LEVEL
        else:
            shares = np.exp(told) / np.exp(told).sum(axis=1, keepdims=True)
            seen = np.eye(shares.shape[1])[X[:, i].astype(int)]
            # The levels drawn, beside their probabilities: overall, and along each parent.
            for weight in (np.ones(ROWS), *parents.T):
                error = (weight[:, None] * (seen - shares)).sum(axis=0)
                spread = np.sqrt((weight[:, None] ** 2 * shares * (1 - shares)).sum(axis=0))
                assert (np.abs(error) < 4.5 * spread).all()
        curved = relations == "curved" and any(
            kinds[parent] is Kind.CONTINUOUS for parent in GRAPH.parents(node)
        )
        assert mechanism.squares.any() == curved
