"""Steps that change single edges: they help where partitions mix slowly, among equivalent graphs.

A graph is drawn given the partition. Its edges are added, deleted and reversed one at a time, each change
accepted by the ratio of weights (structure MCMC, Madigan & York 1995). The chain continues from the partition
of the resulting graph. Drawing a graph given its partition and walking among graphs both leave the posterior
over graphs invariant, and so the one over partitions. Every graph that the knowledge permits can be reached
this way, even if no partition between two permitted ones has a permitted graph.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.graph.bit_kernels import flip_bit, has_bit
from dagora.graph.bits import Rows
from dagora.kernels.decorators import kernel
from dagora.kernels.random import random_below, random_unit
from dagora.kernels.rows import copy_row
from dagora.posterior.space.family_draws import draw_family
from dagora.posterior.space.lookup import ROWS, SIZE, START, Lookup, sum_in_block

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@kernel
def rewire(lookup: Lookup, labels: Ints, values: Floats, random: Rows, graph: Rows, changes: int) -> bool:
    """Draw a graph, propose `changes` changes, and go to its partition; `graph` is room for its bit rows."""
    nodes = len(labels)
    weights = np.empty(nodes)
    for node in range(nodes):
        weights[node] = draw_family(lookup, node, labels, labels[node] > 0, values[node], random, graph[node])
    moved = False
    for _ in range(changes):
        parent = random_below(random, nodes)
        child = random_below(random, nodes - 1)
        child += child >= parent
        reverse = random_below(random, 2) == 0
        moved |= change_edge(lookup, weights, graph, parent, child, reverse, random)
    if moved:
        copy_row(blocks_of(graph), labels)
        for node in range(nodes):
            values[node] = sum_in_block(lookup, node, labels)
    return moved


@kernel
def change_edge(
    lookup: Lookup, weights: Floats, graph: Rows, parent: int, child: int, reverse: bool, random: Rows
) -> bool:
    """Propose to reverse an edge, or else to delete it if it is there and to add it if it is not."""
    present = has_bit(graph[child], parent)
    if reverse and not present:
        return False
    flip_bit(graph[child], parent)
    if reverse:
        flip_bit(graph[parent], child)
    at_child, at_parent = family_weight(lookup, child, graph[child]), weights[parent]
    if reverse:
        at_parent = family_weight(lookup, parent, graph[parent])
    gain = at_child - weights[child] + at_parent - weights[parent]
    possible = gain > -np.inf and random_unit(random) <= np.exp(min(gain, 0.0))
    # The new edge, if there is one, must not close a cycle.
    if possible and reverse:
        possible = not is_ancestor(graph, parent, child)
    elif possible and not present:
        possible = not is_ancestor(graph, child, parent)
    if possible:
        weights[child], weights[parent] = at_child, at_parent
        return True
    flip_bit(graph[child], parent)
    if reverse:
        flip_bit(graph[parent], child)
    return False


@kernel
def family_weight(lookup: Lookup, child: int, parents: NDArray[np.uint64]) -> float:
    """Log weight of a family given as a bit row; −∞ outside of the space."""
    size, rows = lookup.shapes[child, SIZE], lookup.shapes[child, ROWS]
    mask = row = found = 0
    for c in range(size + rows - 1):
        if has_bit(parents, lookup.members[child, c]):
            found += 1
            if c < size:
                mask |= 1 << c
            elif row:
                return -np.inf
            else:
                row = 1 + c - size
    for node in range(len(lookup.shapes)):
        found -= has_bit(parents, node)
    if found:
        return -np.inf
    return float(lookup.log_weights[lookup.shapes[child, START] + (row << size) + mask])


@kernel
def is_ancestor(graph: Rows, above: int, below: int) -> bool:
    """Return True if a directed path leads from one node to another."""
    nodes = len(graph)
    seen = np.zeros(nodes, dtype=np.bool_)
    stack = np.empty(nodes, dtype=np.int64)
    stack[0] = below
    waiting = 1
    while waiting:
        waiting -= 1
        row = graph[stack[waiting]]
        if has_bit(row, above):
            return True
        for node in range(nodes):
            if not seen[node] and has_bit(row, node):
                seen[node] = True
                stack[waiting] = node
                waiting += 1
    return False


@kernel
def blocks_of(graph: Rows) -> Ints:
    """Each node's block: the number of edges on the longest path that ends in it."""
    nodes = len(graph)
    labels = np.zeros(nodes, dtype=np.int64)
    risen = True
    while risen:
        risen = False
        for child in range(nodes):
            for parent in range(nodes):
                if labels[child] <= labels[parent] and has_bit(graph[child], parent):
                    labels[child] = labels[parent] + 1
                    risen = True
    return labels
