"""Draw one of the families that make up a sum of weights (`lookup`): first its row, then one of the row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import inlined, kernel
from dagora.kernels.random import random_unit
from dagora.posterior.space.lookup import LOST, Lookup, core_before

Ints = NDArray[np.int64]

# A family whose log probability is below this is never drawn: e^−45 is 3e-20, and the step of doubles at 1 is
# 2e-16.
NEGLIGIBLE = -45.0


@kernel
def draw_family(
    lookup: Lookup,
    child: int,
    places: Ints,
    touching: bool,
    log_total: float,
    random: NDArray[np.uint64],
    parents: NDArray[np.uint64],
) -> float:
    """Draw one of the families that make up a sum, by its weight; write its bit row, return its log weight.

    `touching` demands a parent whose place is just below the child's, as in a partition's later blocks.
    """
    size, rows, start, _ = lookup.shapes[child]
    limit = places[child]
    mask, needed = core_before(lookup, child, places, limit)
    # First a row, by its share of the total, then one of its families: of many rows few are looked into.
    left = random_unit(random)
    chosen_row, chosen_mask = 0, 0
    chosen_free = not touching
    for row in range(rows):
        place = -1 if row == 0 else places[lookup.members[child, size + row - 1]]
        if place >= limit:
            continue
        free = not touching or (row > 0 and place == limit - 1)
        share = row_share(lookup, start + (row << size), mask, needed, free, log_total)
        if share > np.exp(NEGLIGIBLE):
            chosen_row, chosen_free = row, free
            if left <= share:
                break
            left -= share
    at = start + (chosen_row << size)
    subset = mask
    while left > 0.0:
        if chosen_free or subset & needed:
            share = lookup.log_weights[at + subset] - log_total
            if share > NEGLIGIBLE:
                # If rounding leaves `left` above zero to the end, the last family stays chosen.
                chosen_mask = subset
                left -= np.exp(share)
        if subset == 0:
            break
        subset = (subset - 1) & mask
    parents[:] = 0
    for c in range(size):
        if chosen_mask >> c & 1:
            set_bit(parents, lookup.members[child, c])
    if chosen_row:
        set_bit(parents, lookup.members[child, size + chosen_row - 1])
    return float(lookup.log_weights[start + (chosen_row << size) + chosen_mask])


@inlined
def row_share(lookup: Lookup, at: int, mask: int, needed: int, free: bool, log_total: float) -> float:
    """Share of a total that the families of one row have; without `free` those with a needed core member."""
    whole = float(np.exp(lookup.log_sums[at + mask] - log_total))
    if free:
        return whole
    if needed == 0:
        return 0.0
    share = whole - float(np.exp(lookup.log_sums[at + (mask & ~needed)] - log_total))
    if share > LOST * whole:
        return share
    share = 0.0
    subset = mask
    while subset:
        if subset & needed:
            share += float(np.exp(lookup.log_weights[at + subset] - log_total))
        subset = (subset - 1) & mask
    return share


@inlined
def set_bit(row: NDArray[np.uint64], bit: int) -> None:
    """Put one node into a set."""
    row[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
