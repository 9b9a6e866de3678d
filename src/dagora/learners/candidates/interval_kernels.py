"""The walk through one child's parent sets under BDeu, as compiled kernels; `interval_search` explains it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel

# Counts below this have their sums of logarithms in a table.
FEW = 16


class Child(NamedTuple):
    """One child and the columns that may be its parents, in the order in which the walk adds them.

    `tails[j]` numbers the cells of columns j, j + 1, …, and `hard[j, :mixed[j]]` are the rows whose cell
    holds several levels of the child. `pairs[i, j]` is the best score of columns i and j and their subsets.
    """

    codes: NDArray[np.int64]
    levels: NDArray[np.int64]
    values: NDArray[np.int64]
    own_levels: int
    ess: float
    tails: NDArray[np.int64]
    hard: NDArray[np.int64]
    mixed: NDArray[np.int64]
    pairs: NDArray[np.float64]
    x_log_x: NDArray[np.float64]


class Path(NamedTuple):
    """The set at which the walk stands: column `chosen[t]` was added to its first t columns.

    After t columns, `labels[t]` numbers the cells, `cells[t]` of them, of `configurations[t]` in all; `best`
    is the best score known among the subsets; columns from `following` up to `stop` are still to be added.
    """

    chosen: NDArray[np.int64]
    labels: NDArray[np.int64]
    cells: NDArray[np.int64]
    configurations: NDArray[np.float64]
    best: NDArray[np.float64]
    following: NDArray[np.int64]
    stop: NDArray[np.int64]


class Scratch(NamedTuple):
    """Working memory: a table of counts, a hash table of atoms, and per cell the sum over its atoms."""

    table: NDArray[np.int64]
    slots: NDArray[np.int64]
    keys: NDArray[np.int64]
    counts: NDArray[np.int64]
    fit: NDArray[np.float64]
    loss: NDArray[np.float64]
    touched: NDArray[np.int64]


@kernel
def split(
    labels: NDArray[np.int64],
    cells: int,
    codes: NDArray[np.int64],
    levels: int,
    work: Scratch,
    out: NDArray[np.int64],
) -> int:
    """Split cells by one more column: write the new labels to `out` and return how many there are."""
    table = work.table
    for k in range(cells * levels):
        table[k] = -1
    count = 0
    for i in range(len(labels)):
        k = labels[i] * levels + codes[i]
        if table[k] < 0:
            table[k] = count
            count += 1
        out[i] = table[k]
    return count


@kernel
def mark_mixed(
    labels: NDArray[np.int64], cells: int, child: Child, work: Scratch, out: NDArray[np.int64]
) -> int:
    """Write the rows of cells with several levels of the child to `out`; return how many there are."""
    seen = work.table
    for cell in range(cells):
        seen[cell] = -1
    for i in range(len(labels)):
        if seen[labels[i]] == -1:
            seen[labels[i]] = child.values[i]
        elif seen[labels[i]] != child.values[i]:
            seen[labels[i]] = -2
    count = 0
    for i in range(len(labels)):
        if seen[labels[i]] == -2:
            out[count] = i
            count += 1
    return count


@kernel
def log_rising(start: float, n: int, table: NDArray[np.float64]) -> float:
    """Return ln Γ(start + n) − ln Γ(start); `table` has it for small n."""
    return table[n] if n < FEW else math.lgamma(start + n) - math.lgamma(start)


@kernel
def fill(start: float, table: NDArray[np.float64]) -> None:
    """Write ln Γ(start + n) − ln Γ(start) for small n."""
    table[0] = 0.0
    for n in range(1, FEW):
        table[n] = table[n - 1] + math.log(start + n - 1)


@kernel
def count_levels(
    labels: NDArray[np.int64], cells: int, configurations: float, child: Child, work: Scratch
) -> tuple[float, int]:
    """BDeu of the child with parents of these cells, and how many cells of child and parents are occupied.

    Afterwards entry z · (levels + 1) of the table is the number of the child's levels in cell z.
    """
    r = child.own_levels
    table = work.table
    for k in range(cells * (r + 1)):
        table[k] = 0
    for i in range(len(labels)):
        table[labels[i] * (r + 1) + 1 + child.values[i]] += 1
    whole, part = child.ess / configurations, child.ess / configurations / r
    of_whole, of_part = np.empty(FEW), np.empty(FEW)
    fill(whole, of_whole)
    fill(part, of_part)
    score = 0.0
    occupied = 0
    for z in range(cells):
        total = 0
        here = 0
        for k in range(z * (r + 1) + 1, (z + 1) * (r + 1)):
            if table[k]:
                total += table[k]
                here += 1
                score += log_rising(part, table[k], of_part)
        score -= log_rising(whole, total, of_whole)
        table[z * (r + 1)] = here
        occupied += here
    return score, occupied


@kernel
def interval_bound(
    labels: NDArray[np.int64], configurations: float, occupied: int, tail: int, child: Child, work: Scratch
) -> float:
    """No set between P and P with all columns from `tail` on scores more than this.

    `labels` are the cells of P; `work.table` is as `count_levels` left it, and `occupied` what it returned.
    """
    r = child.own_levels
    bits = 4
    while (1 << bits) < 2 * child.mixed[tail]:
        bits += 1
    mask = (1 << bits) - 1
    slots, keys, counts = work.slots, work.keys, work.counts
    for unused in range(mask + 1):
        slots[unused] = -1
    atoms = 0
    for place in range(child.mixed[tail]):
        i = child.hard[tail, place]
        key = (labels[i] << 32) | child.tails[tail, i]
        slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits))
        while slots[slot] >= 0 and keys[slots[slot]] != key:
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot] = atoms
            keys[atoms] = key
            for x in range(r):
                counts[atoms, x] = 0
            atoms += 1
        counts[slots[slot], child.values[i]] += 1
    logs = child.x_log_x
    price = math.log(r)
    second = math.log(r + r * configurations / child.ess)
    mixed = 0
    for atom in range(atoms):
        total = first = other = 0
        fit = 0.0
        for x in range(r):
            n = int(counts[atom, x])
            total += n
            fit += logs[n]
            if n > first:
                first, other = n, first
            elif n > other:
                other = n
        if other == 0:
            continue
        without = fit - logs[first] - logs[other] + logs[first - 1] + logs[other - 1] - logs[total - 2]
        fit -= logs[total]
        z = keys[atom] >> 32
        if work.fit[z] == 0.0:
            work.touched[mixed] = z
            mixed += 1
            work.loss[z] = without - fit
        else:
            work.loss[z] = min(work.loss[z], without - fit)
        work.fit[z] += fit
    bound = -occupied * price
    for k in range(mixed):
        z = work.touched[k]
        by_levels = price - second
        by_fit = work.fit[z] + min(0.0, work.loss[z] - price - second) + work.table[z * (r + 1)] * price
        bound += min(by_levels, by_fit)
        work.fit[z] = 0.0
    return bound


@kernel
def prepare(
    child: Child, start: NDArray[np.int64], cells: int, configurations: float, work: Scratch
) -> float:
    """Fill in a child's tails and pairs; return the score of its required parents.

    `start` numbers the cells of those.
    """
    d = len(child.codes)
    here, there = np.empty_like(start), np.empty_like(start)
    count = 1
    child.tails[d] = 0
    child.mixed[d] = mark_mixed(child.tails[d], count, child, work, child.hard[d])
    for j in range(d - 1, -1, -1):
        count = split(child.tails[j + 1], count, child.codes[j], child.levels[j], work, child.tails[j])
        child.mixed[j] = mark_mixed(child.tails[j], count, child, work, child.hard[j])
    empty, _ = count_levels(start, cells, configurations, child, work)
    for i in range(d):
        one = split(start, cells, child.codes[i], child.levels[i], work, here)
        child.pairs[i, i] = max(
            empty, count_levels(here, one, configurations * child.levels[i], child, work)[0]
        )
        for j in range(i):
            two = split(here, one, child.codes[j], child.levels[j], work, there)
            size = configurations * child.levels[i] * child.levels[j]
            best = max(child.pairs[i, i], child.pairs[j, j])
            child.pairs[i, j] = max(best, count_levels(there, two, size, child, work)[0])
            child.pairs[j, i] = child.pairs[i, j]
    return empty


@kernel
def stop_of(depth: int, occupied: int, child: Child, path: Path, work: Scratch, slack: float) -> int:
    """The column from which on no set is worth a look that adds later columns only.

    It is found by bisection, after a look at the first column: at most sets, nothing can be added at all.
    """
    low, high = int(path.following[depth]), len(child.codes)
    best = path.best[depth]
    middle = low
    while low < high:
        bound = interval_bound(path.labels[depth], path.configurations[depth], occupied, middle, child, work)
        if bound > best + slack * abs(best):
            low = middle + 1
        else:
            high = middle
        middle = (low + high) // 2
    return low


@kernel
def walk(
    depth: int,
    child: Child,
    path: Path,
    work: Scratch,
    deepest: int,
    slack: float,
    steps: int,
    found: NDArray[np.uint64],
) -> tuple[int, int, int]:
    """Go on from `depth` for so many steps; sets that beat their known subsets go to `found`, as bits.

    Returns the depth (−1 at the end), the number of sets scored, and the number found.
    """
    scored = kept = 0
    while depth >= 0 and scored < steps:
        if path.following[depth] >= path.stop[depth]:
            depth -= 1
            continue
        j = path.following[depth]
        path.following[depth] += 1
        new = depth + 1
        path.chosen[depth] = j
        path.cells[new] = split(
            path.labels[depth], path.cells[depth], child.codes[j], child.levels[j], work, path.labels[new]
        )
        path.configurations[new] = path.configurations[depth] * child.levels[j]
        score, occupied = count_levels(
            path.labels[new], path.cells[new], path.configurations[new], child, work
        )
        scored += 1
        below = path.best[depth]
        for t in range(depth):
            below = max(below, child.pairs[path.chosen[t], j])
        if new <= 2:
            # The table of pairs has the set itself: compare with the sets that it was made from.
            below = path.best[0] if new == 1 else max(path.best[1], child.pairs[j, j])
        if score > below:
            for t in range(new):
                found[kept] |= np.uint64(1) << np.uint64(path.chosen[t])
            kept += 1
        path.best[new] = max(below, score)
        path.following[new] = j + 1
        path.stop[new] = 0
        if new < deepest:
            path.stop[new] = stop_of(new, occupied, child, path, work, slack)
            depth = new
    return depth, scored, kept
