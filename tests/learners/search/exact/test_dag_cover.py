"""Covers against a linear program over all DAGs; inequalities against all DAGs; mixtures of DAGs are not cut off."""

import numpy as np
import pytest
from scipy.optimize import linprog

from dagora.graph.enumerate import all_parent_sets
from dagora.learners.search.exact.cluster_cuts import positive_part
from dagora.learners.search.exact.dag_cover import (
    best_dag,
    cover,
    cover_inequality,
    cover_row,
    entries_on,
    violated_covers,
)

DAGS = {size: np.array(list(all_parent_sets(size))) for size in (3, 4, 5)}
FOUR = np.arange(4)


def random_point(rng, size, sets=3):
    """A point with some parent sets for each node, whose values sum to at most 1."""
    masks, offsets, values = [], [0], []
    for x in range(size):
        chosen = rng.permutation([m for m in range(1, 1 << size) if not m >> x & 1])[:sets]
        masks += [[int(m)] for m in chosen]
        values += rng.dirichlet(np.ones(sets)).tolist()
        offsets.append(len(masks))
    return positive_part(np.array(masks, dtype=np.uint64), np.array(offsets), np.array(values))


def mixture(rng, size, dags=4):
    """A mixture of random DAGs."""
    chosen = DAGS[size][rng.integers(len(DAGS[size]), size=dags)]
    weights = rng.dirichlet(np.ones(dags))
    masks, offsets, values = [], [0], []
    for x in range(size):
        masks += [[int(m)] for m in chosen[:, x]]
        values += weights.tolist()
        offsets.append(len(masks))
    return positive_part(np.array(masks, dtype=np.uint64), np.array(offsets), np.array(values))


def uses(entries, size):
    """Which entries each DAG on the nodes has."""
    owner = np.repeat(np.arange(size), np.diff(entries.starts))
    return DAGS[size][:, owner] == entries.sets


@pytest.mark.parametrize("seed", range(20))
def test_the_best_dag_and_the_least_cover(seed):
    rng = np.random.default_rng(seed)
    size = 3 + seed % 3
    entries = entries_on(random_point(rng, size), np.arange(size))
    listed = uses(entries, size)
    gains = rng.normal(size=len(entries.sets))
    used = np.empty(len(gains), dtype=np.bool_)
    best = best_dag(entries, gains, np.empty(1 << size), used)
    assert best == pytest.approx((listed @ np.maximum(gains, 0.0)).max())
    assert best == pytest.approx(gains[used].sum())

    least = linprog(np.ones(len(listed)), A_ub=-listed.T.astype(float), b_ub=-entries.values).fun
    found = cover(entries, gains)
    assert found == pytest.approx(least if least > 1.0001 else 1.0, abs=1e-7)
    if found > 1.0:
        assert gains @ entries.values == pytest.approx(found)
        assert (listed @ gains).max() == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(12))
def test_an_inequality_holds_for_every_dag_and_not_for_the_point(seed):
    rng = np.random.default_rng(100 + seed)
    size = 4 + seed % 2
    nodes = np.arange(size)
    point = random_point(rng, size)
    assert len(violated_covers(point, nodes[None, :])[0])
    table, side = cover_inequality(point, nodes)
    sums = table[nodes, DAGS[size]].sum(axis=1)
    assert sums.max() == side
    rows, weights = cover_row(point.masks, np.arange(0, 3 * size + 1, 3), nodes, table)
    assert point.values[rows] @ weights > side + 1e-3
    # Lifted: no coefficient can be larger, or a DAG with that set would be beyond the side.
    for x in range(size):
        for parents in range(1, 1 << size):
            if not parents >> x & 1:
                assert sums[DAGS[size][:, x] == parents].max() == side


@pytest.mark.parametrize("seed", range(20))
def test_mixtures_of_dags_are_not_cut_off(seed):
    rng = np.random.default_rng(200 + seed)
    size = 3 + seed % 3
    point = mixture(rng, size)
    assert not len(violated_covers(point, np.arange(size)[None, :])[0])
    # Nor on some of their nodes.
    assert not len(violated_covers(point, np.sort(rng.permutation(size)[:3])[None, :])[0])


def test_parents_outside_the_nodes_do_not_count():
    # On nodes 1 and 2 each wants the other with value 0.8; their other parents lie outside.
    masks = np.array([[0], [0b0101], [0b1000], [0b0010], [0], [0]], dtype=np.uint64)
    point = positive_part(masks, np.array([0, 1, 3, 5, 6]), np.array([1.0, 0.8, 0.2, 0.8, 0.2, 1.0]))
    entries = entries_on(point, np.array([1, 2]))
    assert entries.sets.tolist() == [2, 1]
    assert entries.values.tolist() == [0.8, 0.8]
    table, side = cover_inequality(point, np.array([1, 2]))
    assert (table[0, 2], table[1, 1], side) == (1.0, 1.0, 1.0)
