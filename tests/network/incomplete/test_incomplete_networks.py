"""Expectations, EM, draws and imputation, against enumeration and closed forms."""

from itertools import product

import numpy as np
import pytest

import dagora
from dagora.base.errors import DataError
from dagora.data.incomplete import IncompleteTable
from dagora.network.gaussian_moments import implied_moments
from dagora.network.incomplete.bucket_tree import BucketTree
from dagora.network.incomplete.fitting import fit_discrete_by_em, fit_gaussian_by_em
from dagora.network.incomplete.matching import node_codes
from dagora.network.inference.junction_tree import JunctionTree
from dagora.stats.observed.statistics import IncompleteStatistics

EDGES = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", "e"), ("f", "e")]
LEVELS = {"a": 2, "b": 3, "c": 2, "d": 3, "e": 2, "f": 2}


def random_network(seed: int) -> dagora.DiscreteNetwork:
    rng = np.random.default_rng(seed)
    graph = dagora.DAG("abcdef", EDGES)
    tables = {}
    for node in graph:
        shape = [LEVELS[one] for one in (*graph.parents(node), node)]
        raw = rng.gamma(0.7, size=shape)
        tables[node] = raw / raw.sum(axis=-1, keepdims=True)
    levels = {node: tuple(f"l{k}" for k in range(size)) for node, size in LEVELS.items()}
    return dagora.DiscreteNetwork(graph, levels, tables)


def with_holes(network: dagora.DiscreteNetwork, rows: int, seed: int) -> IncompleteTable:
    return dagora.punch_holes(dagora.sample_network(network, rows, seed), "mcar:0.5", seed)


def enumerated(network: dagora.DiscreteNetwork, codes: np.ndarray) -> tuple[dict, np.ndarray, list]:
    """Expected family counts, log-likelihoods and marginals, by all completions of each row."""
    nodes = list(network.graph)
    families = {node: (*network.graph.parents(node), node) for node in nodes}
    counts = {node: np.zeros_like(network.tables[node]) for node in nodes}
    logs, marginals = [], []
    for row in codes.T:
        free = [range(LEVELS[n]) if c == LEVELS[n] else [c] for n, c in zip(nodes, row, strict=True)]
        cells = [dict(zip(nodes, cell, strict=True)) for cell in product(*free)]
        weights = np.array(
            [np.prod([network.tables[n][tuple(c[m] for m in families[n])] for n in nodes]) for c in cells]
        )
        logs.append(np.log(weights.sum()))
        weights /= weights.sum()
        marginal = {node: np.zeros(LEVELS[node]) for node in nodes}
        for cell, weight in zip(cells, weights, strict=True):
            for node in nodes:
                counts[node][tuple(cell[m] for m in families[node])] += weight
                marginal[node][cell[node]] += weight
        marginals.append(marginal)
    return counts, np.array(logs), marginals


@pytest.mark.parametrize("seed", [1, 2])
def test_expectations_are_those_of_all_completions(seed: int) -> None:
    network = random_network(seed)
    table = with_holes(network, 40, seed)
    codes = node_codes(network, table)
    tree = BucketTree(network)
    expected, logs, marginals = enumerated(network, codes)
    counts, total = tree.expectations(network, codes, np.ones(40))
    assert total == pytest.approx(logs.sum())
    np.testing.assert_allclose(tree.log_likelihoods(network, codes), logs)
    for node in network.graph:
        np.testing.assert_allclose(counts[node], expected[node], atol=1e-9)
    for i, (node, chances) in enumerate(zip(tree.nodes, tree.marginals(network, codes), strict=True)):
        rows = np.flatnonzero(codes[i] == LEVELS[node])
        np.testing.assert_allclose(chances, [marginals[row][node] for row in rows], atol=1e-9)


def test_expectations_agree_with_the_junction_tree() -> None:
    network = random_network(5)
    codes = node_codes(network, with_holes(network, 10, 5))
    tree, junction = BucketTree(network), JunctionTree(network)
    logs = tree.log_likelihoods(network, codes)
    for row in range(10):
        seen = {n: int(c) for n, c in zip(network.graph, codes[:, row], strict=True) if c < LEVELS[n]}
        assert junction.calibrate(seen).log_probability == pytest.approx(logs[row])


def test_draws_have_the_probabilities_given_what_was_seen() -> None:
    network = random_network(3)
    codes = np.repeat(node_codes(network, with_holes(network, 6, 3)), 3000, axis=1)
    tree = BucketTree(network)
    drawn = tree.draw(network, codes, (1,))
    assert (drawn[codes < np.array(list(LEVELS.values()))[:, None]] == codes[
        codes < np.array(list(LEVELS.values()))[:, None]]).all()  # fmt: skip
    _, _, marginals = enumerated(network, codes[:, ::3000])
    for k, marginal in enumerate(marginals):
        for i, node in enumerate(network.graph):
            share = np.bincount(drawn[i, 3000 * k : 3000 * (k + 1)], minlength=LEVELS[node]) / 3000
            np.testing.assert_allclose(share, marginal[node], atol=0.04)


@pytest.mark.full
def test_em_climbs_and_ends_at_a_fixed_point() -> None:
    network = random_network(4)
    table = with_holes(network, 200, 4)
    found = fit_discrete_by_em(network.graph, table, tolerance=1e-10)
    assert len(found.steps) > 3
    assert (np.diff(found.steps) > -1e-8).all()
    codes = node_codes(found.network, table)
    counts, total = BucketTree(found.network).expectations(found.network, codes, np.ones(200))
    assert total == pytest.approx(found.log_likelihood, abs=1e-4)
    for node in network.graph:
        mass = counts[node].sum(axis=-1, keepdims=True)
        gap = np.abs(counts[node] / np.maximum(mass, 1e-12) - found.network.tables[node]) * (mass > 1)
        assert gap.max() < 1e-2


def test_without_holes_em_is_counting() -> None:
    network = random_network(6)
    whole = dagora.sample_network(network, 100, 1)
    complete = IncompleteTable.of(whole, np.ones((6, 100), dtype=bool))
    plain = dagora.fit(network.graph, whole, ess=2.0)
    by_em = dagora.fit(network.graph, complete, ess=2.0)
    for node in network.graph:
        np.testing.assert_allclose(by_em.tables[node], plain.tables[node], atol=1e-9)


def gaussian_case() -> tuple[dagora.DAG, dagora.Table, IncompleteTable]:
    graph = dagora.DAG("abc", [("a", "b"), ("b", "c")])
    slopes = {"a": np.zeros(0), "b": np.array([1.5]), "c": np.array([-1.0])}
    truth = dagora.GaussianNetwork(graph, {"a": 1, "b": 0, "c": 2}, slopes, {"a": 1, "b": 0.5, "c": 1})
    whole = dagora.sample_network(truth, 300, 1)
    return graph, whole, dagora.punch_holes(whole, "mcar:0.3", 1)


def test_gaussian_em_climbs_and_is_regression_without_holes() -> None:
    graph, whole, holes = gaussian_case()
    statistics = IncompleteStatistics(holes)
    values = np.stack(holes.columns, axis=1)
    found = fit_gaussian_by_em(graph, values, holes.seen.T, statistics.moments())
    assert (np.diff(found.steps) > -1e-8).all()
    assert abs(found.network.coefficients["b"][0] - 1.5) < 0.15
    complete = IncompleteTable.of(whole, np.ones((3, 300), dtype=bool))
    plain, by_em = dagora.fit(graph, whole), dagora.fit(graph, complete)
    for node in graph:
        np.testing.assert_allclose(by_em.coefficients[node], plain.coefficients[node], atol=1e-7)
        assert by_em.sds[node] == pytest.approx(plain.sds[node], abs=1e-7)


def test_levels_are_imputed_with_their_probability() -> None:
    network = random_network(8)
    table = with_holes(network, 30, 8)
    codes = node_codes(network, table)
    _, _, marginals = enumerated(network, codes)
    filled = dagora.impute(network, table, draws=2, seed=3)
    assert len(filled.cells) == table.missing
    for cell in filled.cells:
        chances = marginals[cell.row - 1][cell.column]
        assert cell.probability == pytest.approx(chances.max())
        assert network.levels[cell.column][int(chances.argmax())] == cell.value
    for one in (filled.table, *filled.draws):
        for i in range(6):
            np.testing.assert_array_equal(one.columns[i][table.seen[i]], table.columns[i][table.seen[i]])
    assert not filled.draws[0].equals(filled.draws[1])
    assert dagora.impute(network, table, draws=2, seed=3).draws[1].equals(filled.draws[1])


def test_numbers_are_imputed_with_their_standard_deviation() -> None:
    graph, whole, holes = gaussian_case()
    network = dagora.fit(graph, whole)
    mean, covariance = implied_moments(network.model)
    filled = dagora.impute(network, holes, draws=1)
    assert len(filled.cells) == holes.missing
    for cell in filled.cells[:50]:
        row, i = cell.row - 1, "abc".index(cell.column)
        here = np.flatnonzero(holes.seen[:, row])
        weights = np.linalg.solve(covariance[np.ix_(here, here)], covariance[here, i]) if len(here) else []
        values = np.array([holes.columns[j][row] for j in here])
        assert cell.value == pytest.approx(mean[i] + (values - mean[here]) @ weights)
        assert cell.sd == pytest.approx(np.sqrt(covariance[i, i] - covariance[i, here] @ weights))
    assert not filled.draws[0].equals(filled.table)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"z": ["x", None]}, "no column of the data is a node"),
        ({"a": ["l0", None], "z": ["x", None]}, "column 'z' has missing values but is no node"),
        ({"a": ["l9", None, "l0"]}, "has the level 'l9', which the network does not know"),
    ],
)
def test_what_cannot_be_imputed_is_refused(data: dict, words: str) -> None:
    with pytest.raises(DataError, match=words):
        dagora.impute(random_network(1), data)
