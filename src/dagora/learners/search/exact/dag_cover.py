"""Inequalities on a few nodes that a point violates, found by covering the point with DAGs.

Look at n nodes C. What a parent set P of x ∈ C leaves there is an entry (x, S), S = P ∩ C, with the total
value z(x, S) of such sets. If the point is a mixture of DAGs, then DAGs D with weights λ(D) that sum to 1
cover it: Σ λ(D) · [D gives x the parents S] ≥ z(x, S). So the least total weight of a cover,

    min Σ λ(D)  =  max { Σ a(x, S) z(x, S) : a ≥ 0 and Σ a(x, S_D(x)) ≤ 1 for every DAG D on C },

is above 1 only for a point that no mixture of DAGs explains, and the best a is an inequality that proves it
(target cuts: Buchheim, Liers & Oswald 2008). The simplex method starts with one DAG for each entry. The next
DAG is the one with the largest Σ a, by dynamic programming over subsets of C.

The coefficients are then made integers, and those of sets that the point does not use are raised one after
the other as far as every DAG allows (lifting). The side is the largest sum over all DAGs, computed in
integers, so the inequality holds whatever the simplex method did.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.graph.bit_kernels import has_bit
from dagora.kernels.decorators import kernel
from dagora.learners.search.exact.cluster_cuts import LpPoint

# Numbers below count as zero in the simplex method, and as no violation.
ZERO = 1e-9
LEAST_EXCESS = 1e-4

# A point that is less than this beyond an inequality is not worth a cut.
LEAST_DISTANCE = 1e-3

# Steps of the simplex method after which a set of nodes is given up.
STEPS = 300

# Coefficients must be multiples of 1 / k for some k up to this.
LARGEST_DENOMINATOR = 24


class Entries(NamedTuple):
    """The entries of a point on n nodes: those of the x-th are `starts[x]` to `starts[x + 1]`.

    Bit y of `sets[k]` says that the y-th node is in the set. Empty sets are left out.
    """

    sets: NDArray[np.int64]
    values: NDArray[np.float64]
    starts: NDArray[np.int64]


@kernel
def entries_on(point: LpPoint, nodes: NDArray[np.int64]) -> Entries:
    """The entries of a point on some nodes."""
    n = len(nodes)
    room = 0
    for x in nodes:
        room += point.starts[x + 1] - point.starts[x]
    sets = np.empty(room, dtype=np.int64)
    values = np.empty(room)
    starts = np.empty(n + 1, dtype=np.int64)
    count = 0
    for x in range(n):
        starts[x] = count
        for k in range(point.starts[nodes[x]], point.starts[nodes[x] + 1]):
            code = code_on(point.masks[point.rows[k]], nodes)
            if code == 0:
                continue
            at = starts[x]
            while at < count and sets[at] != code:
                at += 1
            if at == count:
                sets[at] = code
                values[at] = 0.0
                count += 1
            values[at] += point.values[k]
    starts[n] = count
    return Entries(sets[:count], values[:count], starts)


@kernel
def code_on(mask: NDArray[np.uint64], nodes: NDArray[np.int64]) -> int:
    """The intersection of a parent set with some nodes, as bits of a number."""
    code = 0
    for y in range(len(nodes)):
        if has_bit(mask, nodes[y]):
            code |= 1 << y
    return code


@kernel
def best_entry(entries: Entries, gains: NDArray[np.float64], x: int, before: int) -> int:
    """The entry of the x-th node with the largest positive gain within the nodes `before`; −1 for none."""
    best = -1
    for k in range(entries.starts[x], entries.starts[x + 1]):
        if entries.sets[k] & ~before == 0 and gains[k] > (0.0 if best < 0 else gains[best]):
            best = k
    return best


@kernel
def best_dag(
    entries: Entries, gains: NDArray[np.float64], best: NDArray[np.float64], used: NDArray[np.bool_]
) -> float:
    """The largest sum of gains over DAGs that give each node one of its entries or no parents.

    `used` becomes the DAG's entries; `best` is room for a number per subset of the nodes.
    """
    n = len(entries.starts) - 1
    best[0] = 0.0
    for within in range(1, 1 << n):
        best[within] = -1.0
        for x in range(n):
            if within >> x & 1:
                before = within ^ (1 << x)
                k = best_entry(entries, gains, x, before)
                best[within] = max(best[within], best[before] + (0.0 if k < 0 else gains[k]))
    for k in range(len(used)):
        used[k] = False
    within = (1 << n) - 1
    while within:
        last, entry, top = -1, -1, 0.0
        for x in range(n):
            before = within ^ (1 << x)
            if within >> x & 1:
                k = best_entry(entries, gains, x, before)
                value = best[before] + (0.0 if k < 0 else gains[k])
                if last < 0 or value > top:
                    last, entry, top = x, k, value
        if entry >= 0:
            used[entry] = True
        within ^= 1 << last
    return float(best[(1 << n) - 1])


@kernel
def cover(entries: Entries, gains: NDArray[np.float64]) -> float:
    """The least weight of DAGs that cover the entries, if it is above 1; `gains` becomes the dual solution.

    Returns 1 where the weight is 1 or less, and where the simplex method takes too long.
    """
    m = len(entries.values)
    inverse = np.eye(m)
    weights = entries.values.copy()
    costs = np.ones(m)  # 1 for a DAG, 0 for a surplus
    best = np.empty(1 << (len(entries.starts) - 1))
    used = np.empty(m, dtype=np.bool_)
    column = np.empty(m)
    for _ in range(STEPS):
        total = 0.0
        for i in range(m):
            total += costs[i] * weights[i]
        if total <= 1.0 + LEAST_EXCESS:
            return 1.0
        enters = -1
        for k in range(m):
            gains[k] = 0.0
            for i in range(m):
                gains[k] += costs[i] * inverse[i, k]
            if gains[k] < (-ZERO if enters < 0 else gains[enters]):
                enters = k
        if enters < 0 and best_dag(entries, gains, best, used) <= 1.0 + ZERO:
            return total
        for i in range(m):
            column[i] = 0.0
            if enters >= 0:
                column[i] = -inverse[i, enters]
            else:
                for k in range(m):
                    if used[k]:
                        column[i] += inverse[i, k]
        leaves = -1
        for i in range(m):
            if column[i] > ZERO and (leaves < 0 or weights[i] * column[leaves] < weights[leaves] * column[i]):
                leaves = i
        if leaves < 0:
            return 1.0
        pivot(inverse, weights, column, leaves)
        costs[leaves] = 0.0 if enters >= 0 else 1.0
    return 1.0


@kernel
def pivot(
    inverse: NDArray[np.float64], weights: NDArray[np.float64], column: NDArray[np.float64], leaves: int
) -> None:
    """Exchange one column of the basis: its inverse and the weights of its columns follow."""
    m = len(weights)
    for k in range(m):
        inverse[leaves, k] /= column[leaves]
    weights[leaves] /= column[leaves]
    for i in range(m):
        if i != leaves and column[i] != 0.0:
            for k in range(m):
                inverse[i, k] -= column[i] * inverse[leaves, k]
            weights[i] = max(0.0, weights[i] - column[i] * weights[leaves])


@kernel
def make_integers(gains: NDArray[np.float64]) -> bool:
    """Multiply by the least number that makes all of them integers; False where there is none."""
    for factor in range(1, LARGEST_DENOMINATOR + 1):
        whole = True
        for gain in gains:
            whole = whole and abs(gain * factor - round(gain * factor)) < 1e-6
        if whole:
            for k in range(len(gains)):
                gains[k] = round(gains[k] * factor)
            return True
    return False


@kernel
def largest_sum(table: NDArray[np.float64], fixed: int, parents: int, best: NDArray[np.float64]) -> float:
    """The largest sum of `table[x, parents of x]` over all DAGs, for a table that is monotone in the set.

    The node `fixed`, if it is not −1, has exactly the given parents and adds nothing.
    """
    n = len(table)
    best[0] = 0.0
    for within in range(1, 1 << n):
        best[within] = -np.inf
        for x in range(n):
            before = within ^ (1 << x)
            if within >> x & 1 and x == fixed:
                if parents & ~before == 0:
                    best[within] = max(best[within], best[before])
            elif within >> x & 1:
                best[within] = max(best[within], best[before] + table[x, before])
    return float(best[(1 << n) - 1])


@kernel
def raise_supersets(table: NDArray[np.float64], x: int, parents: int, least: float) -> None:
    """Raise the coefficients of all supersets of a set of parents to at least this."""
    for more in range(table.shape[1]):
        if parents & ~more == 0 and not more >> x & 1:
            table[x, more] = max(table[x, more], least)


@kernel
def lift(entries: Entries, gains: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Coefficients [x, set] of all sets, and the side: Σ table[x, S(x)] ≤ side for every DAG.

    A set that is no entry gets the most that is left beside it: the side less the largest sum of the others.
    Smaller sets come first.
    """
    n = len(entries.starts) - 1
    table = np.zeros((n, 1 << n))
    best = np.empty(1 << n)
    for x in range(n):
        for k in range(entries.starts[x], entries.starts[x + 1]):
            raise_supersets(table, x, entries.sets[k], gains[k])
    side = largest_sum(table, -1, 0, best)
    for size in range(1, n):
        for x in range(n):
            for parents in range(1 << n):
                count = 0
                for y in range(n):
                    count += parents >> y & 1
                if count == size and not parents >> x & 1:
                    most = side - largest_sum(table, x, parents, best)
                    if most > table[x, parents]:
                        raise_supersets(table, x, parents, most)
    return table, side


@kernel
def violated_covers(point: LpPoint, sets: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The sets of nodes on which a point cannot be covered with weight 1, and by how much it exceeds that.

    >>> from dagora.learners.search.exact.cluster_cuts import positive_part
    >>> masks = np.array([[6], [0], [5], [0], [3], [0]], dtype=np.uint64)  # both others, or none
    >>> point = positive_part(masks, np.array([0, 2, 4, 6]), np.full(6, 0.5))
    >>> which, distance = violated_covers(point, np.array([[0, 1], [0, 2], [1, 2]]))
    >>> which.size
    0
    >>> which, distance = violated_covers(point, np.array([[0, 1, 2]]))
    >>> which, distance.round(3)  # one at most has both others as parents, but the values sum to 3/2
    (array([0]), array([0.289]))
    """
    found = np.empty(len(sets), dtype=np.int64)
    distances = np.empty(len(sets))
    count = 0
    for k in range(len(sets)):
        entries = entries_on(point, sets[k])
        gains = np.empty(len(entries.values))
        weight = cover(entries, gains)
        if weight > 1.0:
            length = 0.0
            for gain in gains:
                length += gain * gain
            distance = (weight - 1.0) / np.sqrt(length)
            if distance > LEAST_DISTANCE:
                found[count] = k
                distances[count] = distance
                count += 1
    return found[:count], distances[:count]


@kernel
def cover_inequality(point: LpPoint, nodes: NDArray[np.int64]) -> tuple[NDArray[np.float64], float]:
    """The lifted inequality that a point violates on some nodes, as `lift` returns it.

    Its side is −1 where the coefficients are no integers.
    """
    entries = entries_on(point, nodes)
    gains = np.empty(len(entries.values))
    cover(entries, gains)
    if not make_integers(gains):
        return np.zeros((len(nodes), 1)), -1.0
    return lift(entries, gains)


@kernel
def cover_row(
    masks: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    nodes: NDArray[np.int64],
    table: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """An inequality on some nodes for all candidate sets: rows with a coefficient, and the coefficients."""
    room = 0
    for x in nodes:
        room += offsets[x + 1] - offsets[x]
    rows = np.empty(room, dtype=np.int64)
    weights = np.empty(room)
    count = 0
    for x in range(len(nodes)):
        for row in range(offsets[nodes[x]], offsets[nodes[x] + 1]):
            weight = table[x, code_on(masks[row], nodes)]
            if weight != 0.0:
                rows[count] = row
                weights[count] = weight
                count += 1
    return rows[:count], weights[:count]
