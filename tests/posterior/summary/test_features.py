"""Features of graphs against networkx, and estimates against plain averages."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.base.errors import OptionError
from dagora.graph.dag import DAG
from dagora.posterior.summary.features import (
    PAIRS,
    adjacent,
    blankets,
    distinct_graphs,
    edges,
    estimate,
    pair_feature,
    paths,
)
from tests.posterior.oracle import draws_of
from tests.random_tables import random_dag


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 9))
def test_pairs_as_networkx_says(seed: int, nodes: int) -> None:
    generator = np.random.default_rng(seed)
    graphs = [random_dag(generator, nodes) for _ in range(3)]
    stack = np.array([graph.to_numpy() for graph in graphs])
    before = stack.copy()
    found = {name: measure(stack) for name, measure in PAIRS.items()}
    assert np.array_equal(stack, before)
    for k, graph in enumerate(graphs):
        peer = graph.to_networkx()
        for i, a in enumerate(graph.nodes):
            children = set(peer.successors(a))
            blanket = {p for child in children for p in peer.predecessors(child)}
            blanket = (blanket | children | set(peer.predecessors(a))) - {a}
            for j, b in enumerate(graph.nodes):
                assert found["edge"][k, i, j] == peer.has_edge(a, b)
                assert found["adjacent"][k, i, j] == (peer.has_edge(a, b) or peer.has_edge(b, a))
                assert found["path"][k, i, j] == (a != b and nx.has_path(peer, a, b))
                assert found["blanket"][k, i, j] == (b in blanket)
    assert found["ancestor"] is not found["path"]
    assert np.array_equal(found["ancestor"], found["path"])


def test_names() -> None:
    assert (pair_feature("edge"), pair_feature("adjacent")) == (edges, adjacent)
    assert (pair_feature("ancestor"), pair_feature("blanket")) == (paths, blankets)
    with pytest.raises(OptionError, match="did you mean 'path'"):
        pair_feature("paths")


@pytest.mark.parametrize("nodes", [3, 64, 70])
def test_distinct_graphs(nodes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(nodes)
    pool = list(dict.fromkeys(random_dag(generator, nodes) for _ in range(40)))[:4]
    order = [[2, 0, 2, 1], [1, 1, 0, 3]]
    draws = draws_of([[pool[k] for k in chain] for chain in order])
    found = distinct_graphs(draws.names, draws.parents)
    assert found.index.tolist() == [[0, 1, 0, 2], [2, 2, 1, 3]], "in the order of appearance"
    assert [found.graph(k) for k in range(len(found))] == [pool[k] for k in (2, 0, 1, 3)]
    sizes = found.values(lambda stack: stack.sum(axis=(1, 2)))
    assert sizes.tolist() == [len(pool[k].edges) for k in (2, 0, 1, 3)]
    monkeypatch.setattr("dagora.posterior.summary.features.BLOCK", 1)
    assert found.values(lambda stack: stack.sum(axis=(1, 2))).tolist() == sizes.tolist()
    assert sum(len(stack) for _, stack in found.matrices()) == 4


def test_estimates_are_weighted_means() -> None:
    generator = np.random.default_rng(3)
    values, weights = generator.normal(size=(4, 500)), generator.exponential(size=(4, 500))
    weights /= weights.sum()
    found = estimate(values, weights)
    assert found.mean == pytest.approx(np.average(values, weights=weights))
    assert float(found) == found.mean
    # Of independent draws the error is that of a ratio of means.
    assert found.error == pytest.approx(np.sqrt((weights**2 * (values - found.mean) ** 2).sum()), rel=0.25)
    same = estimate(np.full((4, 50), 0.5), np.full((4, 50), 1 / 200))
    assert (same.mean, same.error) == (pytest.approx(0.5), pytest.approx(0.0, abs=1e-12))
    assert str(found).startswith(f"{found.mean:.4g} ± ")


@pytest.mark.full
def test_errors_are_as_large_as_they_say() -> None:
    """Over many runs of sticky chains, estimates differ from the truth by about their standard errors."""
    generator = np.random.default_rng(4)
    ratios = []
    for _ in range(200):
        state = generator.random(4) < 0.3
        chain = np.empty((4, 400))
        for t in range(400):
            move = generator.random(4) < 0.3
            state = np.where(move, generator.random(4) < 0.3, state)
            chain[:, t] = state
        found = estimate(chain, np.full(chain.shape, 1 / chain.size))
        ratios.append((found.mean - 0.3) / found.error)
    assert 0.85 < np.std(ratios) < 1.15
    assert abs(np.mean(ratios)) < 0.25


def test_empty_graph_has_nothing() -> None:
    stack = np.array([DAG("abc").to_numpy()])
    assert not any(measure(stack).any() for measure in PAIRS.values())
