"""Kernels for the posterior of every family: the probability of all graphs is sent through the layers.

The table of `layer_kernels` says how likely each step from one layer to the next is. Going through the sets U
upward, each state (U, L) hands its probability on to the next layers M, and to the families of their nodes. A
share y of what a child gets goes to the parent sets that contain the first node of L, the rest to those that
meet the rest of L, and so on. Only products and sums of positive numbers occur, so small probabilities have
as many correct digits as large ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import inlined, kernel
from dagora.posterior.exact.layer_kernels import (
    Floats,
    LayerTable,
    Outside,
    ParentShares,
    first_place,
    fold,
    list_shares,
    meeting_shares,
    nodes_outside,
    with_bit,
    without_two,
)
from dagora.posterior.log_sums import add_logs


class Flow(NamedTuple):
    """The probability of all graphs by family, gathered while it passes through the layers.

    `arrivals` has the layout of the table's rows: arrivals times the entry is the probability that a graph's
    layers pass through (U, L). `sent[v, l]` gathers, per set of the nodes other than v and l, how likely v
    takes its parents from that set and l, with l among them; `roots[v]` how likely v has no parents.
    """

    arrivals: Floats
    sent: NDArray[np.float64]
    roots: Floats


class FlowWorkspace(NamedTuple):
    """Working arrays for one state (U, L): shares of the children, sums of `fold`, their gradients, flows."""

    shares: Floats
    levels: Floats
    spread: Floats
    joined: Floats


@inlined
def sum_of_products(left: Floats, right: Floats, start: int, count: int) -> float:
    """Σ left[i] · right[start + i] for i below `count`."""
    # Four sums side by side: one alone waits for itself at every addition.
    one = two = three = four = 0.0
    i = 0
    while i + 4 <= count:
        one += left[i] * right[start + i]
        two += left[i + 1] * right[start + i + 1]
        three += left[i + 2] * right[start + i + 2]
        four += left[i + 3] * right[start + i + 3]
        i += 4
    while i < count:
        one += left[i] * right[start + i]
        i += 1
    return (one + two) + (three + four)


@kernel
def unfold(
    rows: Floats, begin: int, children: int, weight: float, workspace: FlowWorkspace, arrivals: Floats
) -> None:
    """Send `weight` back through `fold`: to the next layers (`arrivals`) and to each child (`joined`).

    A row (p, q, r, s) with shares x and y gets the arrivals (1, x, y, x y) times the weight; the first child
    is joined by x (q + y s) times the weight, the second by y (r + x s).
    """
    shares, levels, spread, joined = workspace
    spread[0] = weight
    for child in range(children - 1):
        half = 1 << child
        share = shares[child]
        joined[child] = share * sum_of_products(spread, levels, 3 * half, half)
        for i in range(half):
            spread[half + i] = share * spread[i]
    half = 1 << (children - 1)
    share = shares[children - 1]
    other = begin + half
    joined[children - 1] = share * sum_of_products(spread, rows, other, half)
    for i in range(half):
        arrivals[begin + i] += spread[i]
    for i in range(half):
        arrivals[other + i] += share * spread[i]


@kernel
def send_rows(nodes: int, start: int, work: int, table: LayerTable, shares: ParentShares, flow: Flow) -> int:
    """Send on what arrived in the rows U = start, start + 1, … for about `work` terms; return the next U.

    In the example of `layer_kernels` arrivals begin as ⅓ throughout row ∅ = (0, 1, 1, 1). At L = {a} the
    probability ⅓ goes to roots[a]. Of the next layers only {b} is left, with share ½ and row {a} = (0, 1), so
    total = ½, and ⅓ / ½ · ½ = ⅓ arrives at place {b} of row {a} and joins child b: sent[b, a] = ⅓. At L = {a,
    b} both are roots. In the end roots = (⅔, ⅔) and sent[a, b] = sent[b, a] = ⅓.
    """
    full = (1 << nodes) - 1
    offsets, rows, _ = table
    arrivals, sent, roots = flow
    children_shares = np.empty(nodes)
    joined = np.empty(nodes)
    placed = start
    while placed < full and work > 0:
        begin = offsets[placed]
        outside = nodes_outside(nodes, placed)
        count = outside.number
        meeting = meeting_shares(outside, shares)
        flows = np.zeros((1 << count, count))
        workspace = FlowWorkspace(children_shares, np.empty(1 << count), np.empty(1 << count), joined)
        for layer in range(1, 1 << count):
            visited = arrivals[begin + layer] * rows[begin + layer]
            if visited == 0.0:
                continue
            if placed == 0:
                for place in range(count):
                    if layer >> place & 1:
                        roots[outside.nodes[place]] += visited
            children = list_shares(layer, count, meeting, children_shares)
            if children == 0:
                continue
            first = offsets[placed | outside.layers[layer]]
            total = fold(rows, first, children_shares, children, workspace.levels)
            work -= 1 << children
            if total <= 0.0:
                continue
            unfold(rows, first, children, visited / total, workspace, arrivals)
            child = 0
            for place in range(count):
                if not layer >> place & 1:
                    flows[layer, place] = joined[child]
                    child += 1
        share_families(outside, shares, meeting, flows, sent)
        work -= 1 << count
        placed += 1
    return placed


@kernel
def share_families(
    outside: Outside,
    shares: ParentShares,
    meeting: NDArray[np.float64],
    flows: NDArray[np.float64],
    sent: NDArray[np.float64],
) -> None:
    """Split the flow into each child, by the first node of L among its parents, into `sent`."""
    placed, nodes, count, layers = outside
    with_parent, without_parent = shares
    for layer in range((1 << count) - 1, 0, -1):
        first = first_place(layer)
        node = nodes[first]
        smaller = layer ^ 1 << first
        rest = placed | layers[smaller]
        for place in range(count):
            flow = flows[layer, place]
            if flow == 0.0 or layer >> place & 1:
                continue
            child = nodes[place]
            at = without_two(rest, child, node)
            flow /= meeting[layer, place]
            sent[child, node, at] += flow * with_parent[child, node, at]
            flows[smaller, place] += flow * without_parent[child, node, at] * meeting[smaller, place]


@kernel
def add_families(child: int, own: Floats, sent: NDArray[np.float64], families: Floats) -> None:
    """Add to each family of a child what was sent to it, undoing the sums over subsets one node at a time."""
    size = len(own) // 2
    bits = 0
    while 1 << bits < size:
        bits += 1
    stages = np.empty((bits + 1, size))
    for parent in range(len(sent)):
        if parent == child:
            continue
        closed = parent if parent < child else parent - 1
        for mask in range(size):
            stages[0, mask] = own[with_bit(mask, closed) | 1 << closed]
        for bit in range(bits):
            for mask in range(size):
                value = stages[bit, mask]
                if mask >> bit & 1:
                    value = add_logs(value, stages[bit, mask ^ 1 << bit])
                stages[bit + 1, mask] = value
        flow = sent[parent].copy()
        for bit in range(bits - 1, -1, -1):
            for mask in range(size):
                if not mask >> bit & 1 or flow[mask] == 0.0:
                    continue
                total = stages[bit + 1, mask]
                other = mask ^ 1 << bit
                flow[other] += flow[mask] * np.exp(stages[bit, other] - total)
                flow[mask] *= np.exp(stages[bit, mask] - total)
        for mask in range(size):
            families[with_bit(mask, closed) | 1 << closed] += flow[mask]
