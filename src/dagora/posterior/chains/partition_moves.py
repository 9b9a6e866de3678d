"""Proposals of a chain over ordered partitions (Kuipers & Moffa 2017), with their proposal ratios.

A partition is a label per node, 0 to m − 1, every label in use. There are four kinds of proposals. The kind
is chosen with fixed probabilities, and each kind is reversible on its own. All choices below are uniform:

- split or join, by a fair coin. Split: choose a block of at least two nodes, the size of its first part, and
  the nodes of that part. Join: choose two neighbouring blocks.
- relocation: choose a node and another place for it, in a block of the other nodes or in a block of its own
  before, between or after them. The other nodes stay as they are, so the way back is as likely.
- swap of neighbours: choose two neighbouring blocks and a node of each, which change places.
- swap: choose any two nodes, which change places.

An impossible proposal (a join in the one-block partition, a swap within a block) counts as a step that stays:
leaving it out would give such partitions too little weight.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.kernels.random import random_below

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Random = NDArray[np.uint64]

SPLIT_JOIN, RELOCATION, NEIGHBOURS, SWAP = 0, 1, 2, 3
IMPOSSIBLE = 0
# One of these is drawn for every proposal: a kind is as frequent as it is listed.
KINDS = (SPLIT_JOIN, SPLIT_JOIN, RELOCATION, RELOCATION, RELOCATION, RELOCATION, NEIGHBOURS, SWAP)


@kernel
def propose(
    kind: int, labels: Ints, blocks: int, random: Random, proposed: Ints, changed: Flags
) -> tuple[int, float]:
    """Write the proposed labels and which nodes' sums change; return the number of blocks and the log ratio.

    The ratio is the probability of proposing the way back over that of the way there. The number of blocks is
    `IMPOSSIBLE` where there is nothing to propose.
    """
    for node in range(len(labels)):
        proposed[node] = labels[node]
        changed[node] = False
    if kind == SPLIT_JOIN:
        if random_below(random, 2) == 0:
            return split(labels, blocks, random, proposed, changed)
        return join(labels, blocks, random, proposed, changed)
    if kind == RELOCATION:
        return relocate(labels, blocks, random, proposed, changed), 0.0
    if kind == NEIGHBOURS:
        return swap_neighbours(labels, blocks, random, proposed, changed), 0.0
    return swap_any(labels, blocks, random, proposed, changed), 0.0


@kernel
def split(labels: Ints, blocks: int, random: Random, proposed: Ints, changed: Flags) -> tuple[int, float]:
    """Split a block in two."""
    sizes = block_sizes(labels, blocks)
    many = number_of_large(sizes)
    if many == 0:
        return IMPOSSIBLE, 0.0
    rank = random_below(random, many)
    block = 0
    while sizes[block] < 2 or rank > 0:
        rank -= sizes[block] > 1
        block += 1
    size = sizes[block]
    first = 1 + random_below(random, size - 1)
    wanted, left = first, size
    for node in range(len(labels)):
        if labels[node] > block:
            proposed[node] += 1
        elif labels[node] == block:
            # Each subset of the wanted size is as likely as any other.
            if random_below(random, left) < wanted:
                wanted -= 1
            else:
                proposed[node] += 1
            left -= 1
    for node in range(len(labels)):
        changed[node] = proposed[node] == block + 1 or proposed[node] == block + 2
    return blocks + 1, math.log(many) + log_ways(size, first) - math.log(blocks)


@kernel
def join(labels: Ints, blocks: int, random: Random, proposed: Ints, changed: Flags) -> tuple[int, float]:
    """Join two neighbouring blocks."""
    if blocks == 1:
        return IMPOSSIBLE, 0.0
    sizes = block_sizes(labels, blocks)
    block = random_below(random, blocks - 1)
    first, second = sizes[block], sizes[block + 1]
    many = 1 + number_of_large(sizes) - (first > 1) - (second > 1)
    for node in range(len(labels)):
        proposed[node] -= labels[node] > block
        changed[node] = labels[node] == block + 1 or labels[node] == block + 2
    return blocks - 1, math.log(blocks - 1) - log_ways(first + second, first) - math.log(many)


@kernel
def log_ways(size: int, first: int) -> float:
    """Log of one over the probability of one split of a block with a first part of the given size."""
    return (
        math.log(size - 1)
        + math.lgamma(size + 1.0)
        - math.lgamma(first + 1.0)
        - math.lgamma(size - first + 1.0)
    )


@kernel
def relocate(labels: Ints, blocks: int, random: Random, proposed: Ints, changed: Flags) -> int:
    """Take one node elsewhere.

    Among the `rest` blocks of the other nodes, place 2r + 1 is block r itself and place 2r the gap before it.
    """
    nodes = len(labels)
    if nodes == 1:
        return IMPOSSIBLE
    moved = random_below(random, nodes)
    alone = True
    for node in range(nodes):
        if node != moved and labels[node] == labels[moved]:
            alone = False
    rest = blocks - alone
    old = 2 * labels[moved] + (not alone)
    new = random_below(random, 2 * rest)
    new += new >= old
    opened = new % 2 == 0
    for node in range(nodes):
        if node == moved:
            proposed[node] = new // 2
            changed[node] = True
        else:
            block = labels[node] - (alone and labels[node] > labels[moved])
            proposed[node] = block + (opened and 2 * block + 1 > new)
            changed[node] = sight(old, block) != sight(new, block)
    return int(rest + opened)


@kernel
def sight(place: int, block: int) -> int:
    """Position of a place relative to a block (places as in `relocate`).

    0: not before it; 1: a new block just before it; 2: the existing block just before it; 3: earlier.

    A node's sum changes only if the moved node's old and new place differ in this.
    """
    ahead = 2 * block + 1 - place
    return min(max(ahead, 0), 3)


@kernel
def swap_neighbours(labels: Ints, blocks: int, random: Random, proposed: Ints, changed: Flags) -> int:
    """Swap two nodes of neighbouring blocks."""
    if blocks == 1:
        return IMPOSSIBLE
    block = random_below(random, blocks - 1)
    one = member(labels, block, random)
    other = member(labels, block + 1, random)
    return swap(labels, blocks, one, other, proposed, changed)


@kernel
def swap_any(labels: Ints, blocks: int, random: Random, proposed: Ints, changed: Flags) -> int:
    """Swap any two nodes."""
    if len(labels) == 1:
        return IMPOSSIBLE
    one = random_below(random, len(labels))
    other = random_below(random, len(labels) - 1)
    other += other >= one
    return swap(labels, blocks, one, other, proposed, changed)


@kernel
def swap(labels: Ints, blocks: int, one: int, other: int, proposed: Ints, changed: Flags) -> int:
    """Swap two nodes; within a block there is nothing to swap."""
    low, high = min(labels[one], labels[other]), max(labels[one], labels[other])
    if low == high:
        return IMPOSSIBLE
    proposed[one], proposed[other] = labels[other], labels[one]
    for node in range(len(labels)):
        changed[node] = low < proposed[node] <= high + 1
    changed[one] = changed[other] = True
    return blocks


@kernel
def member(labels: Ints, block: int, random: Random) -> int:
    """Draw a node of a block."""
    size = 0
    for label in labels:
        size += label == block
    rank = random_below(random, size)
    node = 0
    while labels[node] != block or rank > 0:
        rank -= labels[node] == block
        node += 1
    return node


@kernel
def block_sizes(labels: Ints, blocks: int) -> Ints:
    """Number of nodes of each block."""
    sizes = np.zeros(blocks, dtype=np.int64)
    for label in labels:
        sizes[label] += 1
    return sizes


@kernel
def number_of_large(sizes: Ints) -> int:
    """Number of blocks with more than one node."""
    large = 0
    for size in sizes:
        large += size > 1
    return large


@kernel
def number_of_blocks(labels: Ints) -> int:
    """Number of blocks; the last one's label is one less."""
    last = -1
    for label in labels:
        last = max(last, label)
    return last + 1
