"""Sums of family weights, which chains need about a million times a second.

The total weight of a child's families with parents in a given set is a sum over rows: row 0, and those whose
extra parent is in the set, each at the mask of the core members in the set. For each mask the rows stand side
by side, divided by the largest of them, so that a sum is a few additions and one logarithm. Where all
permitted rows are too small for that, the sum is taken in log space.

The total weight of the families with at least one parent in a given block is a difference: the sum with the
block minus the sum without it. Where this difference would lose its digits, the families are summed one by
one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import inlined, kernel
from dagora.posterior.log_sums import add_logs
from dagora.posterior.space.family_tables import FamilyTables

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# A sum of scaled weights below this may have lost digits to underflow (the smallest normal number is 2e-308).
TINY = 1e-280
# A difference below this share of the sum it is taken from has lost 7 of its 16 digits.
LOST = 1e-7

# Columns of `Lookup.shapes`.
SIZE, ROWS, START, SCALE = 0, 1, 2, 3


class Lookup(NamedTuple):
    """Family tables in few arrays, because passing each to a kernel takes time.

    `members[i]` has the core of child i and then its extras, and `slots[i, j]` is the place of node j among
    them, −1 if j can be no parent of i. `shapes[i]` has the size of the core, the number
    of rows, where the child's weights start, and where its scales start. `sums` holds the sums over subsets,
    for each mask the rows side by side, divided by exp of the mask's scale.

    Example: child 0 has the core (1,) and the extra 2. Its families are {}, {1} in row 0 and {2}, {1, 2} in
    row 1. With the weights 1, 2 and 3, 4 the sums over subsets are 1, 3 and 3, 7, so the scales are ln 3
    (mask 0) and ln 7 (mask 1) and `sums` is (1/3, 3/3, 3/7, 7/7). If node 1 comes before the child and node 2
    after it, the mask is 1 and only row 0 counts: the total weight of {} and {1} is 7 · 3/7 = 3.
    """

    members: Ints
    slots: NDArray[np.int16]
    shapes: Ints
    log_weights: Floats
    log_sums: Floats
    scales: Floats
    sums: Floats


def lookup_of(tables: FamilyTables) -> Lookup:
    """Arrange the tables for fast sums."""
    nodes = len(tables.starts)
    members = np.full((nodes, max(1, nodes - 1)), -1, dtype=np.int64)
    for child, (size, count) in enumerate(zip(tables.sizes, tables.counts, strict=True)):
        members[child, :size] = tables.cores[child, :size]
        members[child, size : size + count] = tables.extras[child, :count]
    slots = np.full((nodes, nodes), -1, dtype=np.int16)
    for child, row in enumerate(members):
        known = np.flatnonzero(row >= 0)
        slots[child, row[known]] = known
    scale_starts = np.concatenate([[0], np.cumsum(1 << tables.sizes)])
    shapes = np.stack([tables.sizes, 1 + tables.counts, tables.starts, scale_starts[:-1]], axis=1)
    lookup = Lookup(
        members,
        slots,
        np.ascontiguousarray(shapes, dtype=np.int64),
        tables.log_weights,
        tables.log_sums,
        np.empty(scale_starts[-1]),
        np.empty(len(tables.log_sums)),
    )
    arrange(lookup)
    return lookup


@kernel
def arrange(lookup: Lookup) -> None:
    """Fill scales and scaled sums."""
    for child in range(len(lookup.shapes)):
        size, rows, start, scales = lookup.shapes[child]
        for mask in range(1 << size):
            scale = -np.inf
            for row in range(rows):
                scale = max(scale, lookup.log_sums[start + (row << size) + mask])
            lookup.scales[scales + mask] = scale
            for row in range(rows):
                value = lookup.log_sums[start + (row << size) + mask]
                scaled = 0.0 if value == -np.inf else np.exp(value - scale)
                lookup.sums[start + mask * rows + row] = scaled


@inlined
def quick_before(lookup: Lookup, child: int, places: Ints, limit: int) -> float:
    """`sum_before` by scaled sums; NaN where they underflow."""
    size, rows = lookup.shapes[child, SIZE], lookup.shapes[child, ROWS]
    mask = 0
    for c in range(size):
        mask |= (places[lookup.members[child, c]] < limit) << c
    at = lookup.shapes[child, START] + mask * rows
    total = lookup.sums[at]
    for e in range(rows - 1):
        # A product, because the processor would mispredict a branch half of the time.
        total += lookup.sums[at + 1 + e] * (places[lookup.members[child, size + e]] < limit)
    return lookup.scales[lookup.shapes[child, SCALE] + mask] + np.log(total) if total > TINY else np.nan


@kernel
def sum_before(lookup: Lookup, child: int, places: Ints, limit: int) -> float:
    """Log of the total weight of the child's families whose parents all have places below the limit."""
    value = quick_before(lookup, child, places, limit)
    return careful_sum(lookup, child, places, limit, False) if np.isnan(value) else value


@inlined
def row_sums(
    lookup: Lookup, child: int, labels: Ints, mask: int, outer: int, block: int
) -> tuple[float, float, float]:
    """Sums over rows: extras in the block before, at `mask`; earlier ones at `mask`, and at `outer`."""
    size, rows, start = lookup.shapes[child, SIZE], lookup.shapes[child, ROWS], lookup.shapes[child, START]
    at, away = start + mask * rows, start + outer * rows
    inside, within, without = 0.0, lookup.sums[at], lookup.sums[away]
    for e in range(rows - 1):
        label = labels[lookup.members[child, size + e]]
        inside += lookup.sums[at + 1 + e] * (label == block - 1)
        within += lookup.sums[at + 1 + e] * (label < block - 1)
        without += lookup.sums[away + 1 + e] * (label < block - 1)
    return inside, within, without


@inlined
def quick_in_block(lookup: Lookup, child: int, labels: Ints) -> float:
    """`sum_in_block` by scaled sums; NaN where they underflow or a difference loses its digits."""
    label = labels[child]
    mask = outer = 0
    for c in range(lookup.shapes[child, SIZE]):
        place = labels[lookup.members[child, c]]
        mask |= (place < label) << c
        outer |= (place < label - 1) << c
    inside, within, without = row_sums(lookup, child, labels, mask, outer, label)
    scale = lookup.scales[lookup.shapes[child, SCALE] + mask]
    total, least = inside, TINY
    if mask != outer:
        least = max(least, LOST * (inside + within))
        if without > 0.0:
            without *= np.exp(lookup.scales[lookup.shapes[child, SCALE] + outer] - scale)
        total += within - without
    value = scale + np.log(total) if total > least else np.nan
    return value if label > 0 else lookup.log_weights[lookup.shapes[child, START]]


@kernel
def sum_in_block(lookup: Lookup, child: int, labels: Ints) -> float:
    """Log of the total weight of the families that a child may have in its block of a partition.

    All parents are in earlier blocks, and at least one is in the block just before; the first block has none.
    """
    value = quick_in_block(lookup, child, labels)
    return careful_sum(lookup, child, labels, labels[child], True) if np.isnan(value) else value


@inlined
def core_before(lookup: Lookup, child: int, places: Ints, limit: int) -> tuple[int, int]:
    """Core members of a child whose place is below the limit, and those just below it, as masks."""
    mask = needed = 0
    for c in range(lookup.shapes[child, 0]):
        place = places[lookup.members[child, c]]
        mask |= (place < limit) << c
        needed |= (place == limit - 1) << c
    return mask, needed


@kernel
def careful_sum(lookup: Lookup, child: int, places: Ints, limit: int, touching: bool) -> float:
    """The same sums in log space; family by family if `touching` demands a parent just below the limit."""
    size, rows, start, _ = lookup.shapes[child]
    mask, needed = core_before(lookup, child, places, limit)
    total = -np.inf
    for row in range(rows):
        place = -1 if row == 0 else places[lookup.members[child, size + row - 1]]
        if place >= limit:
            continue
        at = start + (row << size)
        if not touching or (row > 0 and place == limit - 1):
            total = add_logs(total, lookup.log_sums[at + mask])
            continue
        subset = mask if needed else 0
        while subset:
            if subset & needed:
                total = add_logs(total, lookup.log_weights[at + subset])
            subset = (subset - 1) & mask
    return total
