"""Steps of a chain over ordered partitions (Kuipers & Moffa 2017).

Every DAG belongs to exactly one partition: its nodes without parents are the first block, and any other node
is in the block after the last of its parents. So a node of a later block has at least one parent in the block
just before its own, and all of them in earlier blocks. The sum of the weights of such families, multiplied
over nodes, is the total weight of the partition's DAGs. Chains over orders prefer graphs that agree with many
orders; this chain has no such bias. One step in `REWIRE_EVERY` changes single edges (see `graph_moves`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.kernels.random import random_below, random_unit
from dagora.kernels.rows import copy_row
from dagora.posterior.chains.chain_state import (
    ACCEPTED,
    KEPT,
    STEPS,
    ChainState,
    KeptDraws,
    Schedule,
    is_kept,
    steps_to_draw,
)
from dagora.posterior.chains.graph_moves import blocks_of, rewire
from dagora.posterior.chains.keep_graph import keep_graph
from dagora.posterior.chains.order_kernels import order_of, walk_orders
from dagora.posterior.chains.partition_moves import IMPOSSIBLE, KINDS, number_of_blocks, propose
from dagora.posterior.chains.partition_relocation import relocate_to_any_block
from dagora.posterior.space.lookup import Lookup, quick_in_block, sum_in_block

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Steps per node that a chain makes over orders before it begins with partitions.
ORDER_STEPS = 100
# Of STEPS_OF_KINDS steps one draws a new block for a node (`relocate_to_any_block`).
STEPS_OF_KINDS = 2
# One step in REWIRE_EVERY changes single edges instead, CHANGES proposals per node.
REWIRE_EVERY, CHANGES = 32, 2


@kernel
def partition_steps(lookup: Lookup, chain: ChainState, kept: KeptDraws, plan: Schedule, steps: int) -> None:
    """Make `steps` steps, and keep a graph whenever the plan says so."""
    for node in range(len(chain.places)):
        chain.values[node] = sum_in_block(lookup, node, chain.places)
    left = steps
    while left > 0:
        few = min(left, steps_to_draw(chain.counters[STEPS], plan))
        chain.counters[ACCEPTED] += walk_partitions(lookup, chain.places, chain.values, chain.random, few)
        chain.counters[STEPS] += few
        left -= few
        if is_kept(chain, kept, plan):
            keep_graph(lookup, chain, kept, in_blocks=True)


@kernel
def walk_partitions(
    lookup: Lookup, labels: Ints, values: Floats, random: NDArray[np.uint64], steps: int
) -> int:
    """Propose and accept or reject; return how many proposals were accepted.

    With the blocks {a, b}, {c} the labels are (0, 0, 1). Splitting the first block proposes (0, 1, 2). All
    but a have other families to choose from: b needs the parent a, and c a parent b. Their log sums go to
    `fresh`. The proposal is accepted with probability min(1, exp(gain + ratio)), the log ratio that of
    `propose`.
    """
    nodes = len(labels)
    proposed = np.empty(nodes, dtype=np.int64)
    changed = np.empty(nodes, dtype=np.bool_)
    fresh = np.empty(nodes)
    blocks = number_of_blocks(labels)
    accepted = 0
    room = np.empty((5, 2 * nodes + 2))
    graph = np.empty((nodes, (nodes + 63) // 64), dtype=np.uint64)
    for _ in range(steps):
        if random_below(random, REWIRE_EVERY) == 0 and nodes > 1:
            accepted += rewire(lookup, labels, values, random, graph, CHANGES * nodes)
            blocks = number_of_blocks(labels)
            continue
        if random_below(random, STEPS_OF_KINDS) == 0:
            blocks = relocate_to_any_block(lookup, labels, values, blocks, random, room)
            accepted += 1
            continue
        kind = KINDS[random_below(random, len(KINDS))]
        result, ratio = propose(kind, labels, blocks, random, proposed, changed)
        if result == IMPOSSIBLE:
            continue
        gain = 0.0
        for node in range(nodes):
            if changed[node]:
                fresh[node] = quick_in_block(lookup, node, proposed)
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
    """Gain of a partition, where the scaled sums of `quick_in_block` lose their digits."""
    gain = 0.0
    for node in range(len(proposed)):
        if changed[node]:
            fresh[node] = sum_in_block(lookup, node, proposed)
            gain += fresh[node] - values[node]
            if gain == -np.inf:
                break
    return gain


@kernel
def start_partition(lookup: Lookup, chain: ChainState, spare: KeptDraws) -> None:
    """Turn an order into the partition of a graph drawn given that order; `spare` has room for one draw.

    The order first walks to where the mass is, which orders do faster than partitions.
    """
    nodes = len(chain.places)
    order = order_of(lookup, chain)
    walk_orders(lookup, chain.places, chain.values, chain.random, order, ORDER_STEPS * nodes)
    keep_graph(lookup, chain, spare, in_blocks=False)
    chain.counters[KEPT] = 0
    copy_row(blocks_of(spare.parents[0]), chain.places)
