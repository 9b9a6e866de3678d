"""Steps of a chain over ordered partitions (Kuipers & Moffa 2017).

Every DAG belongs to exactly one partition: its nodes without parents are the first block, and a node is in
the block after the last of its parents. So a node of a later block has at least one parent in the block
just before it, and all of them in earlier ones; the sum of the weights of such families, multiplied over
nodes, is the total weight of the partition's DAGs. The chain has no bias towards graphs with many orders,
as chains over orders have.
Now and then single edges are changed (see `graph_moves`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import kernel
from dagora.kernel_random import random_below, random_unit
from dagora.posterior.chains.chain_state import (
    ACCEPTED,
    KEPT,
    STEPS,
    Chain,
    Kept,
    Plan,
    is_kept,
    steps_to_draw,
)
from dagora.posterior.chains.graph_moves import blocks_of, rewire
from dagora.posterior.chains.order_kernels import keep_from_order
from dagora.posterior.chains.partition_moves import IMPOSSIBLE, KINDS, propose
from dagora.posterior.space.lookup import Lookup, draw_family, quick_touching, sum_in_block

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Once in so many steps single edges are changed instead, so many times per node.
REWIRE_EVERY, CHANGES = 32, 2


@kernel
def partition_steps(lookup: Lookup, chain: Chain, kept: Kept, plan: Plan, steps: int) -> None:
    """Make many steps, and keep graphs when the plan says so."""
    for node in range(len(chain.places)):
        chain.values[node] = sum_in_block(lookup, node, chain.places)
    left = steps
    while left > 0:
        few = min(left, steps_to_draw(chain.counters[STEPS], plan))
        chain.counters[ACCEPTED] += walk_partitions(lookup, chain.places, chain.values, chain.random, few)
        chain.counters[STEPS] += few
        left -= few
        if is_kept(chain, kept, plan):
            keep_from_partition(lookup, chain, kept)


@kernel
def walk_partitions(
    lookup: Lookup, labels: Ints, values: Floats, random: NDArray[np.uint64], steps: int
) -> int:
    """Propose and accept or refuse; return how many proposals were accepted."""
    nodes = len(labels)
    proposed = np.empty(nodes, dtype=np.int64)
    changed = np.empty(nodes, dtype=np.bool_)
    fresh = np.empty(nodes)
    blocks = labels.max() + 1
    accepted = 0
    graph = np.empty((nodes, (nodes + 63) // 64), dtype=np.uint64)
    for _ in range(steps):
        if random_below(random, REWIRE_EVERY) == 0 and nodes > 1:
            accepted += rewire(lookup, labels, values, random, graph, CHANGES * nodes)
            blocks = labels.max() + 1
            continue
        kind = KINDS[random_below(random, len(KINDS))]
        result, ratio = propose(kind, labels, blocks, random, proposed, changed)
        if result == IMPOSSIBLE:
            continue
        gain = 0.0
        for node in range(nodes):
            if changed[node]:
                fresh[node] = quick_touching(lookup, node, proposed)
                gain += fresh[node] - values[node]
        if np.isnan(gain):
            gain = careful_gain(lookup, proposed, changed, values, fresh)
        if random_unit(random) <= np.exp(min(gain + ratio, 0.0)):
            accepted += 1
            blocks = result
            for node in range(nodes):
                labels[node] = proposed[node]
                if changed[node]:
                    values[node] = fresh[node]
    return accepted


@kernel
def careful_gain(
    lookup: Lookup, proposed: Ints, changed: NDArray[np.bool_], values: Floats, fresh: Floats
) -> float:
    """Gain of a partition, where quick sums do not have the digits."""
    gain = 0.0
    for node in range(len(proposed)):
        if changed[node]:
            fresh[node] = sum_in_block(lookup, node, proposed)
            gain += fresh[node] - values[node]
            if gain == -np.inf:
                break
    return gain


@kernel
def keep_from_partition(lookup: Lookup, chain: Chain, kept: Kept) -> None:
    """Draw a graph of the partition, and keep it."""
    draw = chain.counters[KEPT]
    log_score = 0.0
    for node in range(len(chain.places)):
        log_total = sum_in_block(lookup, node, chain.places)
        row, later = kept.parents[draw, node], chain.places[node] > 0
        log_score += draw_family(lookup, node, chain.places, later, log_total, chain.random, row)
    kept.log_scores[draw] = log_score
    chain.counters[KEPT] += 1


@kernel
def start_partition(lookup: Lookup, chain: Chain, spare: Kept) -> None:
    """Turn a random order into the partition of a graph that is drawn given it; `spare` has room for one."""
    keep_from_order(lookup, chain, spare)
    chain.counters[KEPT] = 0
    chain.places[:] = blocks_of(spare.parents[0])
