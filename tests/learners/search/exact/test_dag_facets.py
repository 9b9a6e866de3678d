"""The facets are valid on all 543 DAGs, tight on enough of them, and leave nothing but DAGs; cuts are found by them."""

from collections import Counter
from itertools import combinations, permutations

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import linprog

from dagora.graph.enumerate import all_parent_sets
from dagora.learners.search.exact.cluster_cuts import arc_weights, positive_part
from dagora.learners.search.exact.dag_facets import CLASSES, facet_row, facets, separators, violated_facets
from tests.learners.search.exact.exact_oracles import random_lists

COLUMNS = [(x, code) for x in range(4) for code in range(1, 8)]
ENTRIES = [8 * x + code for x, code in COLUMNS]


def code_of(mask, x, size=4):
    """Number of a set of nodes other than x, given as bits of all nodes."""
    others = [y for y in range(size) if y != x]
    return sum(1 << j for j, y in enumerate(others) if mask >> y & 1)


@pytest.fixture(scope="module")
def dags():
    vectors = np.zeros((543, 32))
    for row, masks in zip(vectors, all_parent_sets(4), strict=True):
        for x in range(4):
            row[8 * x + code_of(masks[x], x)] = 1.0
    return vectors[:, ENTRIES]


def test_there_are_as_many_as_published():
    coefficients, sides = facets()
    # 135 facets in all, less 28 lower bounds and 4 that say a node has one parent set.
    assert len({tuple(row) for row in coefficients.tolist()}) == len(sides) == 135 - 28 - 4
    assert len(CLASSES) == 15
    assert not coefficients[:, ::8].any()  # no coefficient for the empty set


@pytest.mark.full
def test_a_relabelled_facet_is_a_facet():
    coefficients, _ = facets()
    sizes = Counter(class_of(row) for row in coefficients)
    assert sorted(sizes.values()) == [1, 1, 1, 4, 4, 4, 4, 6, 6, 6, 6, 12, 12, 12, 24]


def test_every_facet_is_valid_and_defines_a_facet(dags):
    coefficients, sides = facets()
    for row, side in zip(coefficients[:, ENTRIES], sides, strict=True):
        values = dags @ row
        assert values.max() == side
        tight = dags[values == side]
        # 28 affinely independent points: as many as a facet of a full-dimensional polytope in 28 dimensions has.
        assert np.linalg.matrix_rank(np.column_stack([tight, np.ones(len(tight))])) == 28


@pytest.mark.full
def test_nothing_but_dags_is_left(dags):
    # With all 135 inequalities a linear program has a DAG as its solution; without any one class it has not.
    coefficients, sides = facets()
    one_set = np.zeros((4, 28))
    for k, (x, _) in enumerate(COLUMNS):
        one_set[x, k] = 1.0
    rows = np.vstack([coefficients[:, ENTRIES], one_set])
    limits = np.concatenate([sides, np.ones(4)])
    kind = np.array([class_of(row) for row in coefficients] + [-1] * 4)
    rng = np.random.default_rng(0)
    for label in sorted(set(kind) - {-1}):
        for noise in (0.0, 0.2, 0.5):
            goal = rows[np.argmax(kind == label)] + noise * rng.random(28)
            best = (dags @ goal).max()
            assert -linprog(-goal, A_ub=rows, b_ub=limits).fun == pytest.approx(best)
            if noise == 0.0:
                kept = kind != label
                assert -linprog(-goal, A_ub=rows[kept], b_ub=limits[kept]).fun > best + 0.1


def class_of(row):
    """A number for facets that differ in their labels only."""
    orbit = []
    for labels in permutations(range(4)):
        moved = np.zeros(32, dtype=np.int64)
        for x in range(4):
            for mask in range(16):
                if not mask >> x & 1:
                    named = sum(1 << labels[y] for y in range(4) if mask >> y & 1)
                    moved[8 * labels[x] + code_of(named, labels[x])] = row[8 * x + code_of(mask, x)]
        orbit.append(int("".join(map(str, moved)), 3))
    return min(orbit)


def random_point(rng, size):
    """Candidates and values that sum to one for each child, concentrated on few sets."""
    flat = random_lists(rng, size, most=3, density=0.5).flat
    values = np.zeros(len(flat.scores))
    for low, high in zip(flat.offsets[:-1], flat.offsets[1:], strict=True):
        chosen = rng.choice(np.arange(low, high), size=min(3, high - low), replace=False)
        values[chosen] = rng.dirichlet(np.ones(len(chosen)))
    return flat, values


def distances_by_brute_force(flat, values, size):
    """The distance of the farthest facet for every connected three or four nodes, each with arcs in and out."""
    coefficients, sides = facets()
    lengths = np.sqrt((coefficients**2).sum(axis=1))
    involved = (coefficients.reshape(-1, 4, 8) > 0).any(axis=2)
    child = np.repeat(np.arange(size), np.diff(flat.offsets))
    graph = nx.DiGraph()
    for row in np.flatnonzero(values > 1e-6):
        graph.add_edges_from((i, int(child[row])) for i in range(size) if int(flat.masks[row, 0]) >> i & 1)
    found = {}
    for count in (3, 4):
        wanted = involved[:, :count].all(axis=1) & ~involved[:, count:].any(axis=1)
        for nodes in combinations(range(size), count):
            part = graph.subgraph(nodes)
            degrees = [*dict(part.in_degree()).values(), *dict(part.out_degree()).values()]
            if len(part) < count or min(degrees) == 0 or not nx.is_weakly_connected(part):
                continue
            point = np.zeros(32)
            for x, node in enumerate(nodes):
                for row in range(flat.offsets[node], flat.offsets[node + 1]):
                    mask = sum(
                        1 << y for y, other in enumerate(nodes) if int(flat.masks[row, 0]) >> other & 1
                    )
                    point[8 * x + code_of(mask, x)] += values[row]
            farthest = ((coefficients @ point - sides) / lengths)[wanted].max()
            if farthest > 1e-3:
                found[nodes] = farthest
    return found


@pytest.mark.parametrize("seed", range(20))
def test_the_farthest_facet_of_every_few_nodes_is_found(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(3, 8))
    flat, values = random_point(rng, size)
    point = positive_part(flat.masks, flat.offsets, values)
    known = separators()
    arcs = arc_weights(point) > 1e-6
    nodes, which, distances = violated_facets(point, arcs, known, 10**6)
    found = {
        tuple(sorted(int(x) for x in row if x >= 0)): value
        for row, value in zip(nodes, distances, strict=True)
    }
    assert len(found) == len(nodes)
    expected = distances_by_brute_force(flat, values, size)
    assert found.keys() == expected.keys()
    assert all(found[key] == pytest.approx(expected[key]) for key in found)
    for row, facet, distance in zip(nodes, which, distances, strict=True):
        rows, weights = facet_row(flat.masks, flat.offsets, row, known.coefficients[facet])
        excess = weights @ values[rows] - known.sides[facet]
        assert excess / known.lengths[facet] == pytest.approx(distance)


def test_no_network_is_cut_off():
    rng = np.random.default_rng(5)
    size = 7
    flat = random_lists(rng, size, most=3, density=0.6).flat
    known = separators()
    for _ in range(30):
        order = rng.permutation(size)
        before = 0
        chosen = np.zeros(len(flat.scores))
        for x in order.tolist():
            rows = range(flat.offsets[x], flat.offsets[x + 1])
            fitting = [row for row in rows if not int(flat.masks[row, 0]) & ~before]
            chosen[rng.choice(fitting)] = 1.0
            before |= 1 << x
        for _ in range(20):
            facet = rng.integers(len(known.sides))
            nodes = rng.permutation(size)[:4]
            if facet < known.triples:
                nodes[3] = -1
            rows, weights = facet_row(flat.masks, flat.offsets, nodes, known.coefficients[facet])
            assert weights @ chosen[rows] <= known.sides[facet]


def test_the_limit_on_the_number_of_sets_is_kept():
    flat, values = random_point(np.random.default_rng(1), 7)
    point = positive_part(flat.masks, flat.offsets, values)
    known = separators()
    arcs = arc_weights(point) > 1e-6
    everything = violated_facets(point, arcs, known, 10**6)[0]
    some = violated_facets(point, arcs, known, 10)[0]
    assert len(some) < min(11, len(everything))
    assert np.array_equal(some, everything[: len(some)])
