"""Trees of the columns that a child adds, whichever it may: kept as far as they were needed.

A node stands for the columns that a child has added so far. It lists those that would raise the child's score
next, best first: the child adds the first of them that it may. So where a node is known, a few look-ups take
the place of a pass over all columns. A node keeps at most `LISTED` columns; where none of them is allowed and
there may be others, the child grows on without a tree. What is kept never changes what is grown: a node is
computed from its columns alone, in one order, by the same instructions. (Andrews, Ramsey, Sanchez Romero,
Camchong & Kummerfeld 2023 keep the lists of all columns, which do not fit into memory with thousands.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import borrowing
from dagora.learners.search.order.pivot_path import DEPTH
from dagora.learners.search.order.wide.growth import (
    Floats,
    GrownParents,
    GrowthLimits,
    Ints,
    ShortInts,
    residual_to_beat,
)
from dagora.learners.search.order.wide.growth_rows import (
    LISTED,
    Bench,
    find_gains,
    fit_path,
    may_add,
    value_of_path,
)
from dagora.scores.local_score import PivotForm

# The nodes and the entries of lists that a child keeps; a full tree is begun anew. By hand: of 1000 columns
# of degree 4, a child needs 80 to 140 nodes with some 20 columns each.
NODES, ENTRIES = 1024, 16384
# Entries of all trees together, where that leaves less for each, but at least so many of each.
ALL_ENTRIES, LEAST_ENTRIES = 40_000_000, 4096
NODE, ENTRY = 0, 1  # columns of `used`


class GrowthTrees(NamedTuple):
    """For each child a tree, whose root is node 0.

    Node k of child u lists the `number[u, k]` columns that stand from `first[u, k]` on in row u of `column`,
    best first; `node` leads to where each is added, 0 where that is not known yet. `is_whole` says that no
    other column gains. `value` is the score after shrinkage, NaN until it is asked for. `used` counts nodes
    and entries.
    """

    first: ShortInts
    number: ShortInts
    is_whole: NDArray[np.bool_]
    value: Floats
    column: ShortInts
    node: ShortInts
    used: ShortInts

    @classmethod
    def of(cls, columns: int, room: int) -> GrowthTrees:
        """Empty trees of so many columns, in which a child may add `room` others."""
        entries = min(ENTRIES, max(LEAST_ENTRIES, ALL_ENTRIES // columns))
        nodes, entries = max(NODES, 2 * room), max(entries, LISTED * (room + 2))
        return cls(
            first=np.empty((columns, nodes), dtype=np.int32),
            number=np.empty((columns, nodes), dtype=np.int32),
            is_whole=np.empty((columns, nodes), dtype=np.bool_),
            value=np.empty((columns, nodes)),
            column=np.empty((columns, entries), dtype=np.int32),
            node=np.empty((columns, entries), dtype=np.int32),
            used=np.zeros((columns, 2), dtype=np.int32),
        )


@borrowing
def add_node(
    form: PivotForm, limits: GrowthLimits, trees: GrowthTrees, bench: Bench, child: int, depth: int
) -> int:
    """Add the node of the first `depth` columns of the path; −1 where the tree is full."""
    node, first = trees.used[child]
    if node == trees.first.shape[1] or first + len(bench.listed) > trees.column.shape[1]:
        return -1
    gains, listed, listed_gain = bench.gains, bench.listed, bench.listed_gain
    found, room = 0, len(listed)
    trees.is_whole[child, node] = True
    least = find_gains(form, limits, bench, child, depth)
    if least < np.inf:
        for y in range(len(gains)):
            if not gains[y] > least or not may_add(limits, bench, child, depth, y):
                continue
            found = min(found, room - 1)
            to = found
            while to > 0 and listed_gain[to - 1] < gains[y]:
                listed_gain[to], listed[to] = listed_gain[to - 1], listed[to - 1]
                to -= 1
            listed_gain[to], listed[to] = gains[y], y
            found += 1
            if found == room:
                least = listed_gain[found - 1]
                trees.is_whole[child, node] = False
    for k in range(found):
        trees.column[child, first + k] = listed[k]
        trees.node[child, first + k] = 0
    trees.first[child, node], trees.number[child, node] = first, found
    trees.value[child, node] = np.nan
    trees.used[child, NODE], trees.used[child, ENTRY] = node + 1, first + found
    return int(node)


@borrowing
def grow_without_tree(
    form: PivotForm,
    limits: GrowthLimits,
    bench: Bench,
    place: Ints,
    child: int,
    cut: int,
    other: int,
    is_before: bool,
) -> bool:
    """Add the best allowed column to the path as long as that gains; False where there is no room."""
    gains = bench.gains
    while True:
        depth = bench.depth[0]
        most = find_gains(form, limits, bench, child, depth)
        if most == np.inf:
            return True
        best = -1
        for y in range(len(gains)):
            if not gains[y] > most or not (is_before if y == other else place[y] < cut):
                continue
            if may_add(limits, bench, child, depth, y):
                best, most = y, gains[y]
        if best < 0:
            return True
        if depth == len(bench.path):
            return False
        bench.path[depth] = best
        bench.depth[0] = depth + 1


@borrowing
def grow(
    form: PivotForm,
    limits: GrowthLimits,
    trees: GrowthTrees,
    bench: Bench,
    place: Ints,
    child: int,
    cut: int,
    other: int,
    is_before: bool,
) -> float:
    """The score of a child with what it grows from the places before `cut`, NaN where there is no room.

    The column `other` (−1: none) counts as one before it, or as one behind it, wherever it stands. What was
    grown, before shrinkage, stands in the path.
    """
    depth, node, came_by = 0, 0, -1
    while True:
        if node == 0 and (depth > 0 or trees.used[child, NODE] == 0):
            node = add_node(form, limits, trees, bench, child, depth)
            if node < 0:
                trees.used[child, :] = 0
                depth, node, came_by = 0, 0, -1
                continue
            if came_by >= 0:
                trees.node[child, came_by] = node
        came_by = -1
        first = trees.first[child, node]
        for entry in range(first, first + trees.number[child, node]):
            y = trees.column[child, entry]
            if is_before if y == other else place[y] < cut:
                came_by = entry
                break
        if came_by < 0:
            break
        if depth == len(bench.path):
            return np.nan
        bench.path[depth] = trees.column[child, came_by]
        depth += 1
        node = trees.node[child, came_by]
    bench.depth[0] = depth
    if not trees.is_whole[child, node]:
        if not grow_without_tree(form, limits, bench, place, child, cut, other, is_before):
            return np.nan
        if bench.depth[0] > depth:
            return value_of_path(form, limits, bench, child)
    if np.isnan(trees.value[child, node]):
        trees.value[child, node] = value_of_path(form, limits, bench, child)
    return float(trees.value[child, node])


@borrowing
def keep(
    form: PivotForm, limits: GrowthLimits, growth: GrownParents, bench: Bench, child: int, value: float
) -> None:
    """Keep what was just grown for a child."""
    fit_path(form, bench, child)
    depth = bench.depth[0]
    growth.depth[child] = depth
    for k in range(depth):
        growth.path[child, k] = bench.path[k]
        for b in range(k + 1):
            growth.factor[child, k, b] = bench.factor[k, b]
        growth.slope[child, k] = bench.slope[k]
    rest = bench.way.left[child]
    beaten = residual_to_beat(form, limits, child, depth, rest)
    growth.needed[child] = rest - beaten if beaten >= 0 else np.inf
    growth.value[child] = value


@borrowing
def fill_parents(
    form: PivotForm, limits: GrowthLimits, growth: GrownParents, bench: Bench, dag: NDArray[np.bool_]
) -> None:
    """Fill in the parents that shrinkage leaves of what each column has added."""
    way = bench.way
    for child in range(len(growth.depth)):
        depth = growth.depth[child]
        bench.depth[0] = depth
        for k in range(depth):
            bench.path[k] = growth.path[child, k]
        value_of_path(form, limits, bench, child)
        for k in range(way.at[DEPTH]):
            dag[way.path[k], child] = True
