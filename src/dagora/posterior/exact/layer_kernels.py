"""Kernels that sum over all graphs of a few nodes, layer by layer from the roots.

Layer 1 are the roots; a node is in layer k + 1 where all its parents lie in the first k layers and at least
one of them in layer k. So every graph has one sequence of layers. With U the nodes placed before the last
layer L, and W = U ∪ L, the weights of all ways to go on sum to

    f(U, L) = Σ over ∅ ≠ M ⊆ V∖W of  f(W, M) Π over v ∈ M of D_v(U, L),        f = 1 where W = V,

where D_v(U, L) = Σ of the weights of the parent sets of v within W that meet L. All terms are positive; there
are 4^n of them and 3^n numbers f. (Talvitie, Vuoksenmaa & Koivisto 2019; Kuipers & Moffa 2017 walk over the
same partitions.)

Weights of real data differ by factors of e^100 000. Let Z_v(W) be the sum over all parent sets within W. Row
U of the table holds f(U, L) Π over v ∈ L of Z_v(U), divided by the largest of them, and D_v enters as the
share d = D_v / Z_v(W) ≤ 1. What is rounded to zero in a term is then less than TINY of the sum over all
graphs: the largest entry of row W, times the weight of all beginnings that end in (U, L), is itself a sum
over different graphs. Shares are built from y = Y / Z_v(W), Y the sum over the sets that contain one given
node, and from r = 1 − y, each accurate on its own; nothing is ever subtracted.

A set of parents of v is a mask over the other nodes, closed up (bit j − 1 is node j where j > v). The subset
L of V∖U has the place in row U that its mask has when closed up over the nodes outside U.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import kernel
from dagora.posterior.log_sums import add_logs

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Shares below this count as zero, so that products of a few stay normal numbers.
TINY = 1e-100


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
def subset_sums(logs: Floats) -> Floats:
    """Per mask, the log of the sum over all its submasks."""
    sums = logs.copy()
    step = 1
    while step < len(sums):
        for mask in range(len(sums)):
            if mask & step:
                sums[mask] = add_logs(sums[mask], sums[mask ^ step])
        step <<= 1
    return sums


@kernel
def sums_with(own: Floats, child: int, parent: int) -> Floats:
    """Log sums over the sets with `parent`, per set of the nodes other than child and parent."""
    closed = parent if parent < child else parent - 1
    logs = np.empty(len(own) // 2)
    for mask in range(len(logs)):
        logs[mask] = own[with_bit(mask, closed) | 1 << closed]
    return subset_sums(logs)


@kernel
def fill_shares(child: int, own: Floats, sums: Floats, with_parent: Floats, without_parent: Floats) -> None:
    """Shares y and r = 1 − y of the sum over the parent sets of one child, per parent and set of the rest."""
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
def fill_layers(outside: Integers, count: int, layers: Integers) -> None:
    """The set of nodes at each place of a row over the nodes outside."""
    layers[0] = 0
    for place in range(count):
        node = 1 << outside[place]
        for closed in range(1 << place):
            layers[closed | 1 << place] = layers[closed] | node


@kernel
def first_place(layer: int) -> int:
    """Place of the lowest bit that is set."""
    place = 0
    while not layer >> place & 1:
        place += 1
    return place


@kernel
def fill_meeting(
    placed: int,
    outside: Integers,
    count: int,
    layers: Integers,
    with_parent: NDArray[np.float64],
    without_parent: NDArray[np.float64],
    meeting: NDArray[np.float64],
) -> None:
    """Shares d of the parent sets within U ∪ L that meet L: per L and place of the child outside U."""
    meeting[0, :count] = 0.0
    for layer in range(1, 1 << count):
        first = first_place(layer)
        node = outside[first]
        smaller = layer ^ 1 << first
        rest = placed | layers[smaller]
        for place in range(count):
            if layer >> place & 1:
                continue
            child = outside[place]
            at = without_two(rest, child, node)
            share = with_parent[child, node, at] + without_parent[child, node, at] * meeting[smaller, place]
            meeting[layer, place] = share if share > TINY else 0.0


@kernel
def list_shares(layer: int, count: int, meeting: NDArray[np.float64], shares: Floats) -> int:
    """The shares of the children outside U ∪ L, in the order of row U ∪ L; return how many."""
    children = 0
    for place in range(count):
        if not layer >> place & 1:
            shares[children] = meeting[layer, place]
            children += 1
    return children


@kernel
def fold(rows: Floats, begin: int, shares: Floats, children: int, levels: Floats) -> float:
    """Σ over M of row[M] Π over v ∈ M of shares[v], one child at a time, the last first.

    The row begins at `begin`. What is left after each child is kept in `levels`: 2^c numbers from place 2^c
    on where c children are left.
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
    """The sum that `fold` gives, two children at a time and without a trace of them."""
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
    nodes: int,
    start: int,
    work: int,
    offsets: Integers,
    rows: Floats,
    scales: Floats,
    sums: NDArray[np.float64],
    with_parent: NDArray[np.float64],
    without_parent: NDArray[np.float64],
) -> int:
    """Fill the rows of U = start, start − 1, … until about `work` terms were summed; return what is next."""
    full = (1 << nodes) - 1
    outside = np.empty(nodes, dtype=np.int64)
    shares = np.empty(nodes)
    placed = start
    while placed >= 0 and work > 0:
        count = list_outside(nodes, placed, outside)
        begin = offsets[placed]
        if placed == full:
            rows[begin] = 1.0
            scales[placed] = 0.0
            placed -= 1
            continue
        layers = np.empty(1 << count, dtype=np.int64)
        meeting = np.empty((1 << count, count))
        levels = np.empty(1 << count)
        fill_layers(outside, count, layers)
        fill_meeting(placed, outside, count, layers, with_parent, without_parent, meeting)
        # First Π over v ∈ L of Z_v(U), in logs, layer by layer; then times f(U, L).
        rows[begin] = 0.0
        for place in range(count):
            child = outside[place]
            own = sums[child, without_bit(placed, child)]
            for layer in range(1 << place):
                rows[begin + (layer | 1 << place)] = rows[begin + layer] + own
        rows[begin] = largest = -np.inf
        for layer in range(1, 1 << count):
            together = placed | layers[layer]
            if rows[begin + layer] == -np.inf or scales[together] == -np.inf:
                rows[begin + layer] = -np.inf
                continue
            children = list_shares(layer, count, meeting, shares)
            total = total_of(rows, offsets[together], shares, children, levels)
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
