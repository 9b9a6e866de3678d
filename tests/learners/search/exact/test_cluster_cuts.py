"""Clusters against all subsets, cycles and orders against networkx."""

from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pytest

from dagora.graph.bits import unpack
from dagora.learners.search.components import place_all
from dagora.learners.search.exact.cluster_cuts import (
    arc_weights,
    cluster_row,
    order_along,
    positive_part,
    shortest_cycle,
    violated_clusters,
)
from tests.learners.search.exact.exact_oracles import random_lists


def random_point(rng, size, spread=3, most=3, density=0.5):
    """Candidates and values that sum to one for each child, on at most `spread` of its sets."""
    flat = random_lists(rng, size, most=most, density=density).flat
    values = np.zeros(len(flat.scores))
    for low, high in pairwise(flat.offsets):
        chosen = rng.choice(np.arange(low, high), size=min(spread, high - low), replace=False)
        values[chosen] = rng.dirichlet(np.ones(len(chosen)))
    return flat, values


def plain_sum(flat, values, cluster):
    """The cluster's sum, by its definition."""
    members = unpack(flat.masks, len(flat.offsets) - 1)
    return sum(
        values[row]
        for x in cluster
        for row in range(flat.offsets[x], flat.offsets[x + 1])
        if not members[row, list(cluster)].any()
    )


def least_sums(flat, values):
    """The sum of every set of two or more nodes."""
    size = len(flat.offsets) - 1
    return {
        cluster: plain_sum(flat, values, cluster)
        for count in range(2, size + 1)
        for cluster in combinations(range(size), count)
    }


def find(flat, values):
    point = positive_part(flat.masks, flat.offsets, values)
    clusters, violations = violated_clusters(point, arc_weights(point))
    return [
        tuple(np.flatnonzero(row).tolist()) for row in unpack(clusters, len(flat.offsets) - 1)
    ], violations


def test_arc_weights_sum_the_sets_with_a_parent():
    flat, values = random_point(np.random.default_rng(0), 70, spread=4, most=2, density=0.02)
    point = positive_part(flat.masks, flat.offsets, values)
    assert np.array_equal(point.rows, np.flatnonzero(values > 1e-6))
    assert np.array_equal(point.values, values[point.rows])
    members = unpack(flat.masks, 70)
    expected = np.zeros((70, 70))
    for x in range(70):
        own = slice(flat.offsets[x], flat.offsets[x + 1])
        expected[:, x] = values[own] @ members[own]
    assert np.allclose(arc_weights(point), expected)


@pytest.mark.parametrize("seed", range(30))
def test_violations_are_real_and_the_worst_is_found(seed):
    rng = np.random.default_rng(seed)
    flat, values = random_point(rng, int(rng.integers(3, 9)))
    sums = least_sums(flat, values)
    clusters, violations = find(flat, values)
    assert len(set(clusters)) == len(clusters)
    for cluster, violation in zip(clusters, violations, strict=True):
        assert violation == pytest.approx(1.0 - sums[cluster])
        assert violation >= 1e-3
    least = min(sums.values())
    if least < 1.0 - 1e-3:
        # On problems this small the walks miss no minimum.
        assert max(violations) == pytest.approx(1.0 - least)
    else:
        assert not clusters


@pytest.mark.parametrize("seed", range(30))
def test_no_cycle_of_an_integral_point_escapes(seed):
    rng = np.random.default_rng(seed)
    size = [6, 20, 70][seed % 3]
    flat = random_lists(rng, size, most=2, density=[0.5, 0.1, 0.01][seed % 3]).flat
    choice = np.array([rng.integers(low, high) for low, high in pairwise(flat.offsets)])
    values = np.zeros(len(flat.scores))
    values[choice] = 1.0 - 1e-9  # as precise as a linear program is
    graph = nx.DiGraph(np.ascontiguousarray(unpack(flat.masks[choice], size).T).astype(int))
    order = place_all(flat.masks[choice], np.arange(size + 1))
    acyclic = len(order) == size
    assert acyclic == nx.is_directed_acyclic_graph(graph)
    clusters, violations = find(flat, values)
    assert bool(clusters) != acyclic
    if acyclic:
        place = {x: k for k, x in enumerate(order.tolist())}
        assert sorted(place) == list(range(size))
        assert all(place[i] < place[j] for i, j in graph.edges)
    else:
        assert max(violations) == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(10))
def test_shortest_cycles(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 9))
    weights = rng.random((size, size)) * (rng.random((size, size)) < 0.3)
    np.fill_diagonal(weights, 0.0)
    weights[weights < 0.05] = 0.0
    length = {(i, j): 1.0 - weights[i, j] for i, j in np.argwhere(weights > 0).tolist()}
    cycles = list(nx.simple_cycles(nx.DiGraph(list(length))))
    cycle = np.empty(size, dtype=np.int64)
    for root in range(size):
        count = shortest_cycle(weights, root, cycle)
        lengths = [
            sum(length[arc] for arc in pairwise([*found, found[0]])) for found in cycles if root in found
        ]
        assert (count > 0) == bool(lengths)
        if count:
            nodes = cycle[:count][::-1].tolist()  # written from the end
            assert root in nodes
            assert sum(length[arc] for arc in pairwise([*nodes, nodes[0]])) == pytest.approx(min(lengths))


def test_both_forms_of_a_row():
    flat, values = random_point(np.random.default_rng(3), 8)
    cluster = (1, 4, 6)
    mask = np.array([sum(1 << x for x in cluster)], dtype=np.uint64)
    meeting, free, size = cluster_row(flat.masks, flat.offsets, mask)
    own = np.concatenate([np.arange(flat.offsets[x], flat.offsets[x + 1]) for x in cluster])
    assert size == 3
    assert sorted([*meeting, *free]) == own.tolist()
    assert values[free].sum() == pytest.approx(plain_sum(flat, values, cluster))
    assert values[meeting].sum() == pytest.approx(size - values[free].sum())


def test_an_order_along_acyclic_arcs_follows_them_all():
    rng = np.random.default_rng(4)
    names = rng.permutation(12)
    weights = np.triu(rng.random((12, 12)), 1)[np.ix_(names, names)]
    assert np.array_equal(order_along(weights), np.argsort(names))
