"""Kernels that sum over all graphs of a few nodes, layer by layer from the roots.

Layer 1 holds the roots. A node is in layer k + 1 if all its parents lie in the first k layers and at least
one of them in layer k. So every graph has exactly one sequence of layers. Let U be the nodes placed before
the last layer L, and W = U ∪ L. The weights of all ways to go on sum to

    f(U, L) = Σ over ∅ ≠ M ⊆ V∖W of  f(W, M) Π over v ∈ M of D_v(U, L),        f = 1 where W = V,

where D_v(U, L) = Σ of the weights of the parent sets of v within W that meet L. All terms are positive; there
are 4^n of them and 3^n numbers f. (Talvitie, Vuoksenmaa & Koivisto 2019; Kuipers & Moffa 2017 walk over the
same partitions.)

Weights of real data differ by factors of e^100 000. Let Z_v(W) be the sum over all parent sets within W. Row
U of the table holds f(U, L) Π over v ∈ L of Z_v(U), divided by the largest of them, and D_v enters as the
share d = D_v / Z_v(W) ≤ 1. What is rounded to zero in a term is then less than TINY of the sum over all
graphs: the largest entry of row W, times the weight of all beginnings that end in (U, L), is itself a sum
over different graphs. Shares are built from y = Y / Z_v(W), Y the sum over the sets that contain one given
node, and from r = 1 − y, each computed accurately by itself; nothing is ever subtracted.

A parent set of v is a mask over the other nodes, closed up (bit j − 1 is node j where j > v). The subset L of
V∖U has the place in row U that its mask has when closed up over the nodes of U.

An example that all kernels here share: two nodes a and b, all four families with weight 1, so three graphs.
Then Z_b(∅) = 1, Z_b({a}) = 2, and b takes a as its parent with the share y = ½. Row {a, b} is (1). Row {a}
has the places ∅ and {b} and is (0, 2), divided by its largest entry (0, 1). Row ∅ has the places ∅, {a}, {b},
{a, b} and is (0, 1, 1, 1): at {a} stands a → b, at {b} stands b → a, at {a, b} the graph without edges. Its
sum 3 is the number of graphs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.posterior.log_sums import sum_over_subsets

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Shares below this count as zero: products of three are then still normal numbers (the smallest is 2e-308).
TINY = 1e-100


class LayerTable(NamedTuple):
    """The numbers f, scaled: row U begins at `offsets[U]` of `rows`, and is divided by exp(`scales[U]`)."""

    offsets: Integers
    rows: Floats
    scales: Floats


class ParentShares(NamedTuple):
    """Shares y (`with_parent`) and r = 1 − y (`without_parent`), by child v, parent l and mask.

    The mask is a set of the nodes other than v and l, closed up over both. y is the share that the parent
    sets with l have in the total weight of the parent sets of v within that set and l.
    """

    with_parent: Floats
    without_parent: Floats


class Outside(NamedTuple):
    """The nodes outside U: the first `number` of `nodes`, ascending.

    `layers[k]` is the set of nodes at place k of row U: k is the mask that is closed up over U.
    """

    placed: int
    nodes: Integers
    number: int
    layers: Integers


@kernel
def without_bit(mask: int, position: int) -> int:
    """Close a mask up over a position whose bit is not set."""
    return (mask & ((1 << position) - 1)) | (mask >> (position + 1) << position)


@kernel
def with_bit(mask: int, position: int) -> int:
    """Undo `without_bit`: open a gap at a position."""
    low = (1 << position) - 1
    return (mask & low) | ((mask & ~low) << 1)


@kernel
def without_two(mask: int, one: int, other: int) -> int:
    """Close a mask up over two positions whose bits are not set."""
    return without_bit(without_bit(mask, max(one, other)), min(one, other))


@kernel
def sums_with(own: Floats, child: int, parent: int) -> Floats:
    """Log sums over the sets with `parent`, per set of the nodes other than child and parent."""
    closed = parent if parent < child else parent - 1
    logs = np.empty(len(own) // 2)
    for mask in range(len(logs)):
        logs[mask] = own[with_bit(mask, closed) | 1 << closed]
    sum_over_subsets(logs)
    return logs


@kernel
def fill_shares(child: int, own: Floats, sums: Floats, with_parent: Floats, without_parent: Floats) -> None:
    """Write the shares y and r = 1 − y of one child from the log weights of its families and their sums."""
    for parent in range(len(with_parent)):
        if parent == child:
            continue
        closed = parent if parent < child else parent - 1
        logs = sums_with(own, child, parent)
        for mask in range(len(logs)):
            rest = sums[with_bit(mask, closed)]
            if logs[mask] == -np.inf and rest == -np.inf:
                with_parent[parent, mask] = without_parent[parent, mask] = 0.0
            else:
                with_parent[parent, mask] = 1.0 / (1.0 + np.exp(rest - logs[mask]))
                without_parent[parent, mask] = 1.0 / (1.0 + np.exp(logs[mask] - rest))


@kernel
def list_outside(nodes: int, placed: int, outside: Integers) -> int:
    """List the nodes that are not placed, ascending; return how many."""
    count = 0
    for node in range(nodes):
        if not placed >> node & 1:
            outside[count] = node
            count += 1
    return count


@kernel
def nodes_outside(nodes: int, placed: int) -> Outside:
    """The nodes outside U with the sets at all places of row U."""
    outside = np.empty(nodes, dtype=np.int64)
    count = list_outside(nodes, placed, outside)
    layers = np.empty(1 << count, dtype=np.int64)
    layers[0] = 0
    for place in range(count):
        node = 1 << outside[place]
        for closed in range(1 << place):
            layers[closed | 1 << place] = layers[closed] | node
    return Outside(placed, outside, count, layers)


@kernel
def first_place(layer: int) -> int:
    """Place of the lowest bit that is set."""
    place = 0
    while not layer >> place & 1:
        place += 1
    return place


@kernel
def meeting_shares(outside: Outside, shares: ParentShares) -> Floats:
    """Shares d of the parent sets within U ∪ L that meet L: per L and place of the child outside U.

    With l the first node of L and L' the rest, d(L) = y + r d(L'): the sets that contain l, and of those
    without l the ones that meet L'.
    """
    placed, nodes, count, layers = outside
    with_parent, without_parent = shares
    meeting = np.empty((1 << count, count))
    meeting[0, :] = 0.0
    for layer in range(1, 1 << count):
        first = first_place(layer)
        node = nodes[first]
        smaller = layer ^ 1 << first
        rest = placed | layers[smaller]
        for place in range(count):
            if layer >> place & 1:
                continue
            child = nodes[place]
            at = without_two(rest, child, node)
            share = with_parent[child, node, at] + without_parent[child, node, at] * meeting[smaller, place]
            meeting[layer, place] = share if share > TINY else 0.0
    return meeting


@kernel
def list_shares(layer: int, count: int, meeting: NDArray[np.float64], shares: Floats) -> int:
    """Write to `shares` those of the nodes outside U ∪ L, in the order of row U ∪ L; return their number."""
    children = 0
    for place in range(count):
        if not layer >> place & 1:
            shares[children] = meeting[layer, place]
            children += 1
    return children


@kernel
def fold(rows: Floats, begin: int, shares: Floats, children: int, levels: Floats) -> float:
    """Σ over M of row[M] Π over v ∈ M of shares[v], summed over one child at a time, the last first.

    The row begins at `begin`. `levels` keeps the partial sums: 2^c numbers from place 2^c on where c children
    are left. A row (p, q, r, s) with shares x and y becomes levels[2:4] = (p + y r, q + y s), and then
    levels[1] = p + y r + x (q + y s), which is the answer.
    """
    if children == 0:
        return float(rows[begin])
    half = 1 << (children - 1)
    share = shares[children - 1]
    other = begin + half
    for i in range(half):
        levels[half + i] = rows[begin + i] + share * rows[other + i]
    for left in range(children - 2, -1, -1):
        half = 1 << left
        share = shares[left]
        for i in range(half):
            levels[half + i] = levels[2 * half + i] + share * levels[3 * half + i]
    return float(levels[1])


@kernel
def total_of(rows: Floats, begin: int, shares: Floats, children: int, levels: Floats) -> float:
    """The sum that `fold` gives, over two children at a time; the partial sums are overwritten."""
    if children < 2:
        return fold(rows, begin, shares, children, levels)
    half = 1 << (children - 2)
    one, two = shares[children - 2], shares[children - 1]
    for i in range(half):
        at = begin + i
        levels[i] = (rows[at] + one * rows[at + half]) + two * (
            rows[at + 2 * half] + one * rows[at + 3 * half]
        )
    left = children - 2
    while left >= 2:
        half = 1 << (left - 2)
        one, two = shares[left - 2], shares[left - 1]
        for i in range(half):
            levels[i] = (levels[i] + one * levels[i + half]) + two * (
                levels[i + 2 * half] + one * levels[i + 3 * half]
            )
        left -= 2
    return float(levels[0] + shares[0] * levels[1]) if left else float(levels[0])


@kernel
def fill_rows(
    nodes: int, start: int, work: int, table: LayerTable, sums: NDArray[np.float64], shares: ParentShares
) -> int:
    """Fill the rows of U = start, start − 1, … until about `work` terms are summed; return the next U.

    `sums[v, mask]` is ln Z_v. In the example above, row {a, b} is set to (1). Row {a} then needs f({a}, {b})
    = 1 and Z_b({a}) = 2: its logs are (−∞, ln 2), its scale ln 2, its entries (0, 1). Row ∅ has at {a}:
    Z_a(∅) = 1 times f(∅, {a}) = exp(scale of row {a}) · 1 · d = 2 · ½ = 1, the graph a → b.
    """
    full = (1 << nodes) - 1
    offsets, rows, scales = table
    children_shares = np.empty(nodes)
    placed = start
    while placed >= 0 and work > 0:
        begin = offsets[placed]
        if placed == full:
            rows[begin] = 1.0
            scales[placed] = 0.0
            placed -= 1
            continue
        outside = nodes_outside(nodes, placed)
        count = outside.number
        meeting = meeting_shares(outside, shares)
        levels = np.empty(1 << count)
        # First Π over v ∈ L of Z_v(U), in logs, layer by layer; then times f(U, L).
        rows[begin] = 0.0
        for place in range(count):
            child = outside.nodes[place]
            own = sums[child, without_bit(placed, child)]
            for layer in range(1 << place):
                rows[begin + (layer | 1 << place)] = rows[begin + layer] + own
        rows[begin] = largest = -np.inf
        for layer in range(1, 1 << count):
            together = placed | outside.layers[layer]
            if rows[begin + layer] == -np.inf or scales[together] == -np.inf:
                rows[begin + layer] = -np.inf
                continue
            children = list_shares(layer, count, meeting, children_shares)
            total = total_of(rows, offsets[together], children_shares, children, levels)
            rows[begin + layer] += scales[together] + np.log(total)
            largest = max(largest, rows[begin + layer])
            work -= 1 << children
        for layer in range(1 << count):
            value = rows[begin + layer]
            share = np.exp(value - largest) if value > -np.inf else 0.0
            rows[begin + layer] = share if share > TINY else 0.0
        scales[placed] = largest
        work -= 1 << count
        placed -= 1
    return placed
