import numpy as np
import pytest

from dagora.base.errors import OptionError
from dagora.graph.random_graphs import random_dag


@pytest.mark.parametrize(("nodes", "degree"), [(20, 1), (20, 4), (50, 2), (10, 0.5)])
def test_er_has_the_expected_number_of_edges(nodes, degree):
    draws = 200
    pairs = nodes * (nodes - 1) / 2
    share = degree * nodes / pairs
    counts = [len(random_dag("er", nodes, degree, seed).edges) for seed in range(draws)]
    spread = np.sqrt(pairs * share * (1 - share))
    assert abs(np.mean(counts) - degree * nodes) < 4 * spread / np.sqrt(draws)
    assert np.std(counts) == pytest.approx(spread, rel=0.25)  # binomial: the pairs are independent


@pytest.mark.parametrize("kind", ["er", "sf"])
def test_column_order_tells_nothing(kind):
    """An edge leads from an earlier to a later column half of the time."""
    forward = total = 0
    for seed in range(60):
        matrix = random_dag(kind, 20, 2, seed).to_numpy()
        forward += np.triu(matrix).sum()
        total += matrix.sum()
    assert abs(forward / total - 0.5) < 0.08


def test_er_pairs_are_equally_likely():
    seen = sum((m := random_dag("er", 6, 1, seed).to_numpy()) | m.T for seed in range(1500)).astype(float)
    pairs = seen[np.triu_indices(6, 1)] / 1500
    assert np.abs(pairs - 0.4).max() < 4 * np.sqrt(0.4 * 0.6 / 1500)


@pytest.mark.parametrize(("nodes", "degree"), [(1, 3), (2, 1), (30, 1), (30, 4), (5, 9), (10, 0)])
def test_sf_number_of_edges_and_children(nodes, degree):
    dag = random_dag("sf", nodes, degree, seed=3)
    assert len(dag.edges) == sum(min(new, degree) for new in range(nodes))
    assert dag.to_numpy().sum(axis=1).max() == min(degree, nodes - 1)


def test_sf_has_a_heavy_tail():
    """The largest hub has about degree · sqrt(nodes) edges, far beyond what equal chances would give."""
    largest = {
        kind: np.median([random_dag(kind, 400, 2, seed).to_numpy().sum(axis=0).max() for seed in range(10)])
        for kind in ("er", "sf")
    }
    assert largest["sf"] > 20
    assert largest["er"] < 12


@pytest.mark.full
def test_sf_degree_distribution():
    """Master equation of attachment to in-degree + 1: p_k (1 + a(k + 1)) = a k p_{k-1}, with a = m/(m + 1)."""
    m = 2
    a = m / (m + 1)
    parents = np.concatenate([random_dag("sf", 600, m, seed).to_numpy().sum(axis=0) for seed in range(10)])
    expected = 1 / (1 + a)
    for k in range(4):
        assert np.mean(parents == k) == pytest.approx(expected, abs=0.02)
        expected *= a * (k + 1) / (1 + a * (k + 2))


def test_capped_at_the_complete_graph():
    assert len(random_dag("er", 5, 100).edges) == len(random_dag("sf", 5, 100).edges) == 10


@pytest.mark.parametrize("kind", ["er", "sf"])
def test_the_seed_decides(kind):
    assert random_dag(kind, 30, 2, seed=5) == random_dag(kind, 30, 2, seed=5)
    assert random_dag(kind, 30, 2, seed=5) != random_dag(kind, 30, 2, seed=6)
    generator = np.random.default_rng(5)
    assert random_dag(kind, 30, 2, generator) == random_dag(kind, 30, 2, seed=5)
    assert random_dag(kind, 30, 2, generator) != random_dag(kind, 30, 2, seed=5)


def test_names():
    assert random_dag("er", 3, 1).nodes == ("x0", "x1", "x2")


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ba", 5, 1), "unknown kind of random graph 'ba': use er or sf"),
        (("er", 0, 1), "nodes must be a whole number, 1 or more, not 0"),
        (("er", 2.5, 1), "nodes must be a whole number"),
        (("er", True, 1), "nodes must be a whole number"),
        (("er", 5, -1), "degree must be a number, 0 or more, not -1"),
        (("er", 5, float("nan")), "degree must be a number"),
        (("er", 5, float("inf")), "degree must be a number"),
        (("er", 5, "2"), "degree must be a number"),
        (("sf", 5, 1.5), "whole number for a scale-free graph, not 1.5"),
        (("er", 5, 1, -3), "seed must be a whole number, 0 or more, not -3"),
        (("er", 5, 1, "a"), "seed must be a whole number"),
    ],
)
def test_refuses(arguments, message):
    with pytest.raises(OptionError, match=message):
        random_dag(*arguments)


def test_exactly_so_many_edges_and_every_pair_alike():
    draws = [random_dag("er", 6, 1, seed, exact=True).to_numpy() for seed in range(1500)]
    seen = np.sum([matrix | matrix.T for matrix in draws], axis=0)
    assert seen.sum() == 1500 * 12
    shares = seen[~np.eye(6, dtype=bool)] / 1500
    assert abs(shares - 6 / 15).max() < 0.06
    assert len(random_dag("er", 4, 100, exact=True).edges) == 6
    with pytest.raises(OptionError, match='exact=True is for kind="er"'):
        random_dag("sf", 5, 1, exact=True)
