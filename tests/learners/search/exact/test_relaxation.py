"""Prices of any size: the bound holds for every network, and no set of a network that is good enough is excluded."""

import numpy as np
import pytest

from dagora.graph.enumerate import all_parent_sets
from dagora.learners.search.exact.cluster_cuts import cluster_row
from dagora.learners.search.exact.relaxation import reduced_cost_bounds

NETWORKS = np.array(list(all_parent_sets(4)))
OFFSETS = np.arange(0, 33, 8)
MASKS = np.array([m for x in range(4) for m in range(16) if not m >> x & 1], dtype=np.uint64)
ROWS = np.stack(
    [
        [int(np.flatnonzero(MASKS[8 * x : 8 * x + 8] == m)[0]) + 8 * x for m in NETWORKS[:, x]]
        for x in range(4)
    ],
    axis=1,
)


@pytest.mark.parametrize("seed", range(20))
def test_all_543_networks(seed):
    rng = np.random.default_rng(seed)
    gains = rng.normal(size=32)
    reduced, paid = gains.copy(), 0.0
    for cluster in (3, 5, 6, 7, 11, 13, 14, 15):
        meeting, _, size = cluster_row(MASKS[:, None], OFFSETS, np.array([cluster], dtype=np.uint64))
        price = float(rng.exponential(0.3))
        reduced[meeting] -= price
        paid += price * (size - 1.0)
    bound, with_set = reduced_cost_bounds(reduced, OFFSETS, paid)
    worth = gains[ROWS].sum(axis=1)
    assert worth.max() <= bound + 1e-12
    excluded = 0
    for row in range(32):
        best = worth[(row == ROWS).any(axis=1)].max()
        assert best <= with_set[row] + 1e-12
        excluded += with_set[row] < worth.max()
    assert excluded > 0
