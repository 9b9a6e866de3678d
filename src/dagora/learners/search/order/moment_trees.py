"""Grow-shrink trees of a score that is a function of pivots, grown and followed within one kernel.

The trees are those of `grow_shrink_trees`; a way from the root is that of `pivot_path`. A node is made when
it is first reached, scored when it is first left or ended at. Branches are all made at once, best first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import inlined, kernel
from dagora.learners.search.order.pivot_path import DEPTH, FACTORED, SCORED, STAMP, Way, factor, shrink
from dagora.scores.gaussian import COLLINEAR
from dagora.scores.local_score import PivotForm
from dagora.scores.pivot_form import cost_of, family_score, highest_cost

Ints = NDArray[np.int64]
ShortInts = NDArray[np.int32]
Floats = NDArray[np.float64]

NO_ROOM = -1  # in place of a node: the arrays are full
NOT_GROWN = -1  # branches of a node that was not left yet
NODES, BRANCHES = 0, 1  # entries of `used`


class MomentTrees(NamedTuple):
    """Nodes of all trees, those of the columns' roots first, and the branches of each side by side.

    Branch b adds the column `added[b]` and leads to the node `leads[b]`, or to none yet (−1). Node k has
    `branches[k]` of them from `first[k]` on; `value[k]` is its score after shrinkage, NaN where unknown.
    `used` counts nodes and branches.
    """

    added: ShortInts
    leads: ShortInts
    first: Ints
    branches: ShortInts
    value: Floats
    used: Ints


class TreeLimits(NamedTuple):
    """Pairs that must not be joined, the most parents, and the gain that counts as none."""

    apart: NDArray[np.bool_]
    max_parents: int
    tolerance: float


@inlined
def grow(form: PivotForm, trees: MomentTrees, limits: TreeLimits, way: Way, child: int, node: int) -> None:
    """Give a node its branches: the additions that improve the score, best first.

    A column that the path already determines explains nothing more, and is no branch.
    """
    factor(form, way, child)
    group, depth = form.group[child], way.at[DEPTH]
    matrix = form.matrix[group]
    residual, determinant = way.left[child], way.log_determinant[0]
    found = 0
    if depth < limits.max_parents and form.size[group, depth + 1] > -np.inf:
        for y in range(len(matrix)):
            way.free[y] = y != child and not limits.apart[child, y]
        for k in range(depth):
            way.free[way.path[k]] = False
        now = family_score(form, child, depth, determinant, residual)
        most = highest_cost(form, child, depth + 1, determinant, now + limits.tolerance)
        floor = COLLINEAR * matrix[child, child]
        for y in range(len(matrix)):
            if not way.free[y] or way.left[y] <= COLLINEAR * matrix[y, y]:
                continue
            way.at[SCORED] += 1
            rest = max(residual - way.shared[y] * way.shared[y] / way.left[y], floor)
            cost = cost_of(form, group, depth + 1, way.left[y], rest)
            if cost < most:
                way.columns[found] = y
                way.costs[found] = cost
                found += 1
    best_first(way.columns, way.costs, found)
    begin = trees.used[BRANCHES]
    for k in range(found):
        trees.added[begin + k] = way.columns[k]
        trees.leads[begin + k] = -1
    trees.first[node] = begin
    trees.branches[node] = found
    trees.used[BRANCHES] = begin + found


@inlined
def best_first(columns: Ints, costs: Floats, count: int) -> None:
    """Sort columns by rising costs, of equal ones the earlier first (Shell's method)."""
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(gap, count):
            column, cost = columns[k], costs[k]
            to = k
            while to >= gap and (
                costs[to - gap] > cost or (costs[to - gap] == cost and columns[to - gap] > column)
            ):
                columns[to], costs[to] = columns[to - gap], costs[to - gap]
                to -= gap
            columns[to], costs[to] = column, cost
        gap //= 3


@kernel
def follow(form: PivotForm, trees: MomentTrees, limits: TreeLimits, way: Way, child: int, cut: int) -> int:
    """The node at which a child's tree ends if its parents come from the places before `cut`.

    Nodes on the way are made and scored where that was not done before; NO_ROOM where there is none for that.
    Where the value of the end was not known, `way.path` up to `way.at[DEPTH]` is now its set after shrinkage.
    """
    columns = len(way.place)
    node = child
    way.at[STAMP] += 1
    way.at[DEPTH] = 0
    way.at[FACTORED] = -1
    stamp = way.at[STAMP]
    while True:
        if trees.branches[node] < 0:
            if trees.used[BRANCHES] + columns > len(trees.added):
                return NO_ROOM
            grow(form, trees, limits, way, child, node)
        branch = trees.first[node]
        end = branch + trees.branches[node]
        while branch < end and way.place[trees.added[branch]] >= cut:
            way.skipped[trees.added[branch]] = stamp
            branch += 1
        if branch == end:
            if np.isnan(trees.value[node]):
                trees.value[node] = shrink(form, way, child, limits.tolerance)
            return node
        way.path[way.at[DEPTH]] = trees.added[branch]
        way.at[DEPTH] += 1
        if trees.leads[branch] < 0:
            new = trees.used[NODES]
            if new >= len(trees.first):
                return NO_ROOM
            trees.leads[branch] = new
            trees.branches[new] = NOT_GROWN
            trees.value[new] = np.nan
            trees.used[NODES] = new + 1
        node = trees.leads[branch]
