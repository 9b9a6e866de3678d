"""A step of a chain over orders that draws a new position for a node, given the order of all others.

The position is drawn from its full conditional distribution (a Gibbs step), so that nothing is rejected. Let
r_0, r_1, … be the other nodes in their order, and the node stand before r_p. Then

    log score(p) = own(p) + Σ_{k<p} without(k) + Σ_{k≥p} with(k)

own(p) being the log sum of the node's families with parents among r_0 … r_{p−1}, and with(k), without(k)
those of r_k where the node comes before it and where it does not. One of the two is known from where the node
stands; the other differs by the one row of an extra parent, and is summed anew only for core members. So all
positions together cost about as much as a few proposals of one position (Kuipers, Suter & Moffa 2022 draw
positions in this way).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import inlined, kernel
from dagora.kernels.random import random_below, random_unit
from dagora.posterior.space.family_draws import NEGLIGIBLE
from dagora.posterior.space.lookup import ROWS, SCALE, SIZE, START, TINY, Lookup, quick_before, sum_before

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# A sum is taken anew if the node's families are all but this share of it: a difference would lose its digits.
REMAINDER = 1e-6
# Scaled weights are compared with sums that differ from their scale by up to this many nats.
FAR = 600.0


@kernel
def relocate_anywhere(
    lookup: Lookup, places: Ints, values: Floats, random: NDArray[np.uint64], order: Ints, room: Floats
) -> bool:
    """Draw a node's position; return True if it moved. `room` has three rows of n numbers."""
    nodes = len(order)
    node = order[random_below(random, nodes)]
    old = places[node]
    take_out(order, places, old)
    highest = position_scores(lookup, places, values, order, old, room)
    score = room[2]
    new = draw_position(score[:nodes], highest, random)
    put_in(order, places, node, new)
    for position in range(min(old, new), max(old, new) + 1 if new != old else 0):
        moved = order[position]
        fresh = quick_before(lookup, moved, places, position)
        values[moved] = sum_before(lookup, moved, places, position) if np.isnan(fresh) else fresh
    return bool(new != old)


@kernel
def position_scores(
    lookup: Lookup, places: Ints, values: Floats, order: Ints, old: int, room: Floats
) -> float:
    """Write the log score of every position of the order's last node to `room[2]`; return the highest.

    `values` are the sums where the node is at `old` among the others.
    """
    nodes = len(order)
    node = order[nodes - 1]
    before, after, score = room[0], room[1], room[2]
    # before[p]: the sum of without(k) over k < p; after[p]: the sum of with(k) over k ≥ p.
    before[0] = after[nodes - 1] = 0.0
    for k in range(nodes - 1):
        other = order[k]
        there = k >= old
        changed = other_sum(lookup, other, node, places, k, values[other], there)
        after[k], score[k] = (values[other], changed) if there else (changed, values[other])
    for k in range(nodes - 1):
        before[k + 1] = before[k] + score[k]
    for k in range(nodes - 2, -1, -1):
        after[k] += after[k + 1]
    own_sums(lookup, node, order, places, score)
    highest = -np.inf
    for p in range(nodes):
        score[p] += before[p] + after[p]
        highest = max(highest, score[p])
    return highest


@inlined
def other_sum(
    lookup: Lookup, child: int, node: int, places: Ints, limit: int, value: float, there: bool
) -> float:
    """A child's log sum if the node is taken from the nodes before it (it is `there`) or added to them."""
    slot = lookup.slots[child, node]
    if slot < 0:
        return value
    size = lookup.shapes[child, SIZE]
    if slot >= size:
        mask = 0
        for c in range(size):
            mask |= (places[lookup.members[child, c]] < limit) << c
        distance = lookup.scales[lookup.shapes[child, SCALE] + mask] - value
        if abs(distance) < FAR:
            at = lookup.shapes[child, START] + mask * lookup.shapes[child, ROWS]
            share = lookup.sums[at + 1 + slot - size] * np.exp(distance)
            if not there:
                return value + float(np.log1p(share))
            if share < 1.0 - REMAINDER:
                return value + float(np.log1p(-share))
    # The node's own place says whether it counts.
    place = places[node]
    places[node] = len(places) if there else -1
    fresh = quick_before(lookup, child, places, limit)
    if np.isnan(fresh):
        fresh = sum_before(lookup, child, places, limit)
    places[node] = place
    return fresh


@kernel
def own_sums(lookup: Lookup, node: int, order: Ints, places: Ints, sums: Floats) -> None:
    """Write the node's log sum at each position among the others."""
    size, rows, start = lookup.shapes[node, SIZE], lookup.shapes[node, ROWS], lookup.shapes[node, START]
    scales = lookup.shapes[node, SCALE]
    mask = 0
    total = lookup.sums[start]
    for p in range(len(order)):
        if p > 0:
            slot = lookup.slots[node, order[p - 1]]
            if slot >= size:
                total += lookup.sums[start + mask * rows + 1 + slot - size]
            elif slot >= 0:
                mask |= 1 << slot
                at = start + mask * rows
                total = lookup.sums[at]
                for e in range(rows - 1):
                    total += lookup.sums[at + 1 + e] * (places[lookup.members[node, size + e]] < p)
            else:
                sums[p] = sums[p - 1]
                continue
        if total > TINY:
            sums[p] = lookup.scales[scales + mask] + np.log(total)
        else:
            sums[p] = sum_before(lookup, node, places, p)


@inlined
def draw_position(score: Floats, highest: float, random: NDArray[np.uint64]) -> int:
    """Draw a position by the log scores, and leave their weights in their place."""
    total = 0.0
    for p in range(len(score)):
        near = score[p] - highest
        score[p] = np.exp(near) if near > NEGLIGIBLE else 0.0
        total += score[p]
    left = random_unit(random) * total
    chosen = 0
    for p in range(len(score)):
        if score[p] > 0.0:
            chosen = p
            left -= score[p]
            if left <= 0.0:
                break
    return chosen


@inlined
def take_out(order: Ints, places: Ints, position: int) -> None:
    """Take the node at a position out of an order: it goes to the end, and counts as before no other."""
    node = order[position]
    for p in range(position, len(order) - 1):
        order[p] = order[p + 1]
        places[order[p]] = p
    order[len(order) - 1] = node
    places[node] = len(order)


@inlined
def put_in(order: Ints, places: Ints, node: int, position: int) -> None:
    """Put the node that was taken out at a position."""
    for p in range(len(order) - 1, position, -1):
        order[p] = order[p - 1]
        places[order[p]] = p
    order[position] = node
    places[node] = position
