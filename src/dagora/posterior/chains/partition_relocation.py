"""A step of a chain over partitions that draws a new place for a node, given the partition of all others.

The place is drawn from its full conditional distribution (a Gibbs step), so that nothing is rejected. Places
are numbered as in `relocate`: among the blocks of the other nodes, 2r + 1 is block r itself and 2r a block of
the node's own before it. The node's own sum at both places is that of the label r. The sum of another node
depends only on how the place lies to its block (`sight`), of which there are four kinds, so that the log
scores of all places follow from four sums per node.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import inlined, kernel
from dagora.kernels.random import random_below
from dagora.posterior.chains.order_relocation import draw_position
from dagora.posterior.chains.partition_moves import sight
from dagora.posterior.space.lookup import (
    LOST,
    ROWS,
    SCALE,
    SIZE,
    START,
    TINY,
    Lookup,
    careful_sum,
    quick_in_block,
    row_sums,
    sum_in_block,
)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# The kinds of `sight`: the node is not before a block, alone in the block before it, with others in the block
# before it, or earlier.
BEHIND, ALONE, BESIDE, EARLIER = 0, 1, 2, 3
KINDS_OF_SIGHT = 4


@kernel
def relocate_to_any_block(
    lookup: Lookup, labels: Ints, values: Floats, blocks: int, random: NDArray[np.uint64], room: Floats
) -> int:
    """Draw a node's place; return the number of blocks. `room` has five rows of 2n + 2 numbers."""
    nodes = len(labels)
    moved = random_below(random, nodes)
    old, rest = leave_block(labels, moved, blocks)
    highest = place_scores(lookup, labels, values, moved, old, rest, room)
    new = draw_position(room[4, : 2 * rest + 1], highest, random)
    opened = new % 2 == 0
    changed = room[0]
    for node in range(nodes):
        if node != moved:
            changed[node] = sight(old, labels[node]) != sight(new, labels[node])
            labels[node] += opened and 2 * labels[node] + 1 > new
    labels[moved] = new // 2
    changed[moved] = new != old
    for node in range(nodes):
        if changed[node] > 0.0:
            value = quick_in_block(lookup, node, labels)
            values[node] = sum_in_block(lookup, node, labels) if np.isnan(value) else value
    return int(rest + opened)


@inlined
def leave_block(labels: Ints, moved: int, blocks: int) -> tuple[int, int]:
    """Renumber the blocks without a node; return the place that it leaves, and how many blocks are left."""
    own = labels[moved]
    alone = True
    for node in range(len(labels)):
        if node != moved and labels[node] == own:
            alone = False
    if alone:
        for node in range(len(labels)):
            labels[node] -= labels[node] > own
    return 2 * own + (not alone), blocks - alone


@kernel
def place_scores(
    lookup: Lookup, labels: Ints, values: Floats, moved: int, old: int, rest: int, room: Floats
) -> float:
    """Write the log score of every place to the last row of `room`; return the highest.

    `labels` number the blocks of the other nodes, and `values` are the sums where the node is at `old`.
    """
    nodes = len(labels)
    room[:KINDS_OF_SIGHT, : rest + 2] = 0.0
    sums = np.empty(KINDS_OF_SIGHT)
    for node in range(nodes):
        if node != moved:
            block = labels[node]
            sums_by_sight(lookup, node, moved, labels, sight(old, block), values[node], sums)
            for kind in range(KINDS_OF_SIGHT):
                room[kind, block] += sums[kind]
    for block in range(rest - 1, -1, -1):
        room[EARLIER, block] += room[EARLIER, block + 1]
    score = room[KINDS_OF_SIGHT]
    highest, behind = -np.inf, 0.0
    for label in range(rest + 1):
        labels[moved] = label
        value = quick_in_block(lookup, moved, labels)
        if np.isnan(value):
            value = sum_in_block(lookup, moved, labels)
        value += behind
        score[2 * label] = value + room[ALONE, label] + room[EARLIER, label + 1]
        highest = max(highest, score[2 * label])
        if label < rest:
            behind += room[BEHIND, label]
            value += room[BEHIND, label] + room[BESIDE, label + 1] + room[EARLIER, label + 2]
            score[2 * label + 1] = value
            highest = max(highest, value)
    return highest


@inlined
def sums_by_sight(
    lookup: Lookup, child: int, moved: int, labels: Ints, known: int, value: float, found: Floats
) -> None:
    """Write a child's log sum for each way in which the moved node may lie to its block.

    `labels` are those of the other nodes, and `value` is the sum for the way that is `known`. In the first
    block nothing is earlier, and no place is beside others in a block before it.
    """
    slot = lookup.slots[child, moved]
    if slot < 0:
        found[:] = value
        found[ALONE] = -np.inf
        return
    block = labels[child]
    size, rows, start = lookup.shapes[child, SIZE], lookup.shapes[child, ROWS], lookup.shapes[child, START]
    scales = lookup.shapes[child, SCALE]
    # The moved node itself counts in neither mask, and in no row.
    labels[moved] = len(labels)
    mask = outer = 0
    for c in range(size):
        label = labels[lookup.members[child, c]]
        mask |= (label < block) << c
        outer |= (label < block - 1) << c
    if slot >= size:
        at, away, own = start + mask * rows, start + outer * rows, 1 + slot - size
        inside, within, without = row_sums(lookup, child, labels, mask, outer, block)
        shrink = np.exp(lookup.scales[scales + outer] - lookup.scales[scales + mask])
        here, there = lookup.sums[at + own], lookup.sums[away + own]
        scale = lookup.scales[scales + mask]
        found[BEHIND] = log_difference(inside, within, without * shrink, mask != outer, scale)
        found[BESIDE] = log_difference(inside + here, within, without * shrink, mask != outer, scale)
        found[EARLIER] = log_difference(
            inside, within + here, (without + there) * shrink, mask != outer, scale
        )
        found[ALONE] = scale + np.log(here) if here > TINY else np.nan
    else:
        wide = mask | 1 << slot
        for kind in range(KINDS_OF_SIGHT):
            if kind == ALONE:
                high, low, limit = wide, mask, block + 1
            elif kind == BEHIND:
                high, low, limit = mask, outer, block
            else:
                high, low, limit = wide, outer | (1 << slot if kind == EARLIER else 0), block
            scale = lookup.scales[scales + high]
            inside, within, without = row_sums(lookup, child, labels, high, low, limit)
            if kind == ALONE:
                # Every row of earlier blocks counts with the moved node, and none without it.
                inside = 0.0
            shrink = np.exp(lookup.scales[scales + low] - scale)
            found[kind] = log_difference(inside, within, without * shrink, high != low, scale)
    found[known] = value
    if block == 0:
        found[BEHIND] = lookup.log_weights[start]
        found[BESIDE] = found[EARLIER] = 0.0
    for kind in range(KINDS_OF_SIGHT):
        if np.isnan(found[kind]):
            found[kind] = careful_sight(lookup, child, moved, labels, kind)


@inlined
def log_difference(inside: float, within: float, without: float, differ: bool, scale: float) -> float:
    """Log of inside + within − without, the last two equal unless they `differ`; NaN if digits are lost."""
    total = inside
    least = TINY
    if differ:
        total += within - without
        least = max(least, LOST * (inside + within))
    return scale + np.log(total) if total > least else np.nan


@kernel
def careful_sight(lookup: Lookup, child: int, moved: int, labels: Ints, kind: int) -> float:
    """The same sum in log space, family by family."""
    block = labels[child]
    doubled = np.empty_like(labels)
    for node in range(len(labels)):
        # The block before is needed at 2 · block − 1; where the moved node is alone, nothing else is.
        doubled[node] = 2 * labels[node] + (kind != ALONE and labels[node] == block - 1)
    if kind == BEHIND:
        doubled[moved] = 2 * block
    else:
        doubled[moved] = 2 * block - (2 if kind == EARLIER else 1)
    return careful_sum(lookup, child, doubled, 2 * block, True)
