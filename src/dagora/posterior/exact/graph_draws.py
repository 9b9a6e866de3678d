"""Kernels that draw graphs from the table of `layer_kernels`: the layers one after the other, then parents.

Every draw is independent of the others and has exactly the posterior's distribution, but for rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.posterior.exact.layer_kernels import (
    Floats,
    LayerTable,
    ParentShares,
    fold,
    list_outside,
    with_bit,
    without_bit,
    without_two,
)


class FamilyWeights(NamedTuple):
    """Log weights of the families by child and mask, their sums over subsets, and the heaviest first."""

    own: NDArray[np.float64]
    sums: NDArray[np.float64]
    order: NDArray[np.int64]


@kernel
def meeting_share(child: int, placed: int, layer: int, nodes: int, shares: ParentShares) -> float:
    """The share d of the parent sets of a child within U ∪ L that meet L."""
    share = 0.0
    rest = placed
    for node in range(nodes - 1, -1, -1):
        if layer >> node & 1:
            at = without_two(rest, child, node)
            share = shares.with_parent[child, node, at] + shares.without_parent[child, node, at] * share
            rest |= 1 << node
    return share


@kernel
def pick_layer(
    rows: Floats, begin: int, shares: Floats, children: int, levels: Floats, uniform: float
) -> int:
    """Draw M with probability proportional to row[M] Π over v ∈ M of shares[v]; −1 where all are zero."""
    total = fold(rows, begin, shares, children, levels)
    if total <= 0.0:
        return -1
    left = uniform * total
    weight = 1.0
    chosen = 0
    for child in range(children):
        last = child + 1 == children
        without = weight * (rows[begin + chosen] if last else levels[(2 << child) + chosen])
        one = chosen | 1 << child
        with_it = weight * shares[child] * (rows[begin + one] if last else levels[(2 << child) + one])
        if with_it > 0.0 and (left >= without or without == 0.0):
            left -= without
            weight *= shares[child]
            chosen = one
    return chosen


@kernel
def pick_parents(
    child: int, placed: int, layer: int, log_share: float, weights: FamilyWeights, uniform: float
) -> int:
    """Draw the parents of a child within U ∪ L, at least one of them in L; heavy families are tried first."""
    own, order = weights.own[child], weights.order[child]
    within = without_bit(placed | layer, child)
    closed_layer = without_bit(layer, child)
    total = weights.sums[child, within] + log_share
    left = uniform
    chosen = -1
    for k in range(len(order)):
        family = order[k]
        if own[family] == -np.inf:
            break
        if family & ~within or (closed_layer and not family & closed_layer):
            continue
        chosen = family
        left -= np.exp(own[family] - total)
        if left < 0.0:
            break
    return with_bit(chosen, child)


@kernel
def draw_graphs(
    table: LayerTable,
    weights: FamilyWeights,
    shares: ParentShares,
    uniforms: NDArray[np.float64],
    parents: NDArray[np.int64],
    log_scores: Floats,
) -> None:
    """Draw one graph per row of `parents`, from 2n uniforms each: for the layers, then for the families.

    In the example of `layer_kernels` row ∅ is (0, 1, 1, 1) with the sum 3. The first uniform u picks the
    first layer: u < ⅓ takes {b}, since a is asked first and the layers without a have the share ⅓; u < ⅔
    takes {a}, the rest {a, b}. After {b} only {a} can follow, and the third uniform, for the parents of a,
    has one family to choose from: {b}. See the doctest of `GraphSums.draws`.
    """
    nodes = len(weights.own)
    outside = np.empty(nodes, dtype=np.int64)
    children_shares = np.empty(nodes)
    levels = np.empty(1 << nodes)
    for k in range(len(parents)):
        placed = 0
        layer = 0
        depth = 0
        score = 0.0
        while placed | layer != (1 << nodes) - 1:
            together = placed | layer
            children = list_outside(nodes, together, outside)
            for place in range(children):
                children_shares[place] = 1.0
                if layer:
                    children_shares[place] = meeting_share(outside[place], placed, layer, nodes, shares)
            begin = table.offsets[together]
            chosen = pick_layer(table.rows, begin, children_shares, children, levels, uniforms[k, depth])
            following = 0
            for place in range(children):
                if chosen >> place & 1:
                    child = outside[place]
                    following |= 1 << child
                    log_share = np.log(children_shares[place])
                    uniform = uniforms[k, nodes + child]
                    found = pick_parents(child, placed, layer, log_share, weights, uniform)
                    parents[k, child] = found
                    score += weights.own[child, without_bit(found, child)]
            placed = together
            layer = following
            depth += 1
        log_scores[k] = score
