"""Grow-shrink trees of a score that is a function of pivots, grown and followed within one kernel.

The trees are those of `grow_shrink_trees`. Here the way from the root is kept as rows of a Cholesky factor
over all columns: then the scores of all additions to a set cost a few operations each, and those of all
removals one inverse. A node is made when it is first reached, scored when it is first left or ended at.
Branches are all made at once, best first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import inlined, kernel
from dagora.scores.gaussian import COLLINEAR
from dagora.scores.local_score import PivotForm
from dagora.scores.pivot_form import cost_of, family_score, highest_cost

Ints = NDArray[np.int64]
ShortInts = NDArray[np.int32]
Floats = NDArray[np.float64]

NO_ROOM = -1  # in place of a node: the arrays are full
NOT_GROWN = -1  # branches of a node that was not left yet
NODES, BRANCHES, SCORED = 0, 1, 2  # entries of `used`
STAMP, DEPTH, FACTORED = 0, 1, 2  # entries of `at`


class MomentTrees(NamedTuple):
    """Nodes of all trees, those of the columns' roots first, and the branches of each side by side.

    Branch b adds the column `added[b]` and leads to the node `leads[b]`, or to none yet (−1). Node k has
    `branches[k]` of them from `first[k]` on; `value[k]` is its score after shrinkage, NaN where unknown.
    `used` counts nodes, branches and scored families.
    """

    added: ShortInts
    leads: ShortInts
    first: Ints
    branches: ShortInts
    value: Floats
    used: Ints


class Way(NamedTuple):
    """The way from a root to a node, and room to compute on it.

    `path` holds the columns added so far; row k of `rows` is row k of the Cholesky factor over all columns,
    `left` what the path leaves of the columns' variances, `shared` of their covariances with the child.
    `skipped[x]` is the present stamp where a branch adding x was passed, as x comes too late in the order.
    """

    place: Ints
    path: Ints
    at: Ints
    skipped: Ints
    free: NDArray[np.bool_]
    columns: Ints
    rows: Floats
    left: Floats
    shared: Floats
    costs: Floats
    inverse: Floats
    diagonal: Floats
    slopes: Floats
    log_determinant: Floats

    @classmethod
    def of(cls, columns: int) -> Way:
        """Room for a number of columns."""
        place, path, skipped, listed = np.zeros((4, columns), dtype=np.int64)
        free = np.zeros(columns, dtype=np.bool_)
        rows, inverse = np.empty((2, columns, columns))
        left, shared, costs, diagonal, slopes = np.empty((5, columns))
        return cls(
            place=place,
            path=path,
            at=np.zeros(3, dtype=np.int64),
            skipped=skipped,
            free=free,
            columns=listed,
            rows=rows,
            left=left,
            shared=shared,
            costs=costs,
            inverse=inverse,
            diagonal=diagonal,
            slopes=slopes,
            log_determinant=np.zeros(1),
        )


class TreeLimits(NamedTuple):
    """Pairs that must not be joined, the most parents, and the gain that counts as none."""

    apart: NDArray[np.bool_]
    max_parents: int
    tolerance: float


@inlined
def factor(form: PivotForm, way: Way, child: int) -> None:
    """Bring the factor from as far as it is known to the end of the path."""
    matrix = form.matrix[form.group[child]]
    columns = len(matrix)
    if way.at[FACTORED] < 0:
        for y in range(columns):
            way.left[y] = matrix[y, y]
            way.shared[y] = matrix[child, y]
        way.log_determinant[0] = 0.0
        way.at[FACTORED] = 0
    left, shared = way.left, way.shared
    for k in range(way.at[FACTORED], way.at[DEPTH]):
        new = way.path[k]
        row, of_new = way.rows[k], matrix[new]
        pivot = np.sqrt(left[new])
        for y in range(columns):
            row[y] = of_new[y]
        for above in range(k):
            weight = way.rows[above, new]
            row_above = way.rows[above]
            for y in range(columns):
                row[y] -= weight * row_above[y]
        scale = 1 / pivot
        of_child = row[child] * scale
        for y in range(columns):
            entry = row[y] * scale
            row[y] = entry
            left[y] -= entry * entry
            shared[y] -= of_child * entry
        way.log_determinant[0] += 2 * np.log(pivot)
    way.at[FACTORED] = way.at[DEPTH]


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
            trees.used[SCORED] += 1
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


@inlined
def invert_factor(way: Way, child: int) -> None:
    """The inverse of the path's factor, the diagonal of that of its block, and the child's slopes on it.

    Column i of the factor's inverse stands in row i of `way.inverse`, from its diagonal on.
    """
    size = way.at[DEPTH]
    inverse, slopes, diagonal, triangle = way.inverse, way.slopes, way.diagonal, way.costs
    for i in range(size):
        inverse[i, i] = 1 / way.rows[i, way.path[i]]
        diagonal[i] = inverse[i, i] * inverse[i, i]
        slopes[i] = inverse[i, i] * way.rows[i, child]
    for a in range(1, size):
        of_child = way.rows[a, child]
        scale = inverse[a, a]
        for b in range(a):
            triangle[b] = way.rows[b, way.path[a]]
        for i in range(a):
            entry = 0.0
            for b in range(i, a):
                entry -= triangle[b] * inverse[i, b]
            entry *= scale
            inverse[i, a] = entry
            diagonal[i] += entry * entry
            slopes[i] += entry * of_child


@inlined
def invert_block(way: Way, size: int) -> None:
    """From the inverse of the factor, that of the path's block."""
    inverse = way.inverse
    # Entry (i, j) is made from what stands right of it in rows i and j, and goes below the diagonal.
    for i in range(size):
        for j in range(i):
            entry = 0.0
            for b in range(i, size):
                entry += inverse[i, b] * inverse[j, b]
            inverse[i, j] = entry
    for i in range(size):
        for j in range(i):
            inverse[j, i] = inverse[i, j]
        inverse[i, i] = way.diagonal[i]


@inlined
def remove(way: Way, removed: int, size: int) -> None:
    """Take a column out of the path, and out of the inverse of its block; the last takes its place."""
    inverse, slopes = way.inverse, way.slopes
    scale, slope = 1 / inverse[removed, removed], slopes[removed]
    last = size - 1
    for i in range(size):
        if i != removed:
            share = inverse[i, removed] * scale
            slopes[i] -= share * slope
            for j in range(size):
                inverse[i, j] -= share * inverse[removed, j]
    way.path[removed], slopes[removed] = way.path[last], slopes[last]
    for j in range(size):
        inverse[removed, j] = inverse[last, j]
    for i in range(last):
        inverse[i, removed] = inverse[i, last]
    for i in range(last):
        way.diagonal[i] = inverse[i, i]


@inlined
def shrink(form: PivotForm, trees: MomentTrees, limits: TreeLimits, way: Way, child: int) -> float:
    """Remove parents of the path one by one, always the one whose loss helps most; return the score.

    What is left stands in the path, in no order.
    """
    factor(form, way, child)
    residual, determinant = way.left[child], way.log_determinant[0]
    size = whole = way.at[DEPTH]
    value = family_score(form, child, size, determinant, residual)
    if size < 2:
        return value
    invert_factor(way, child)
    group = form.group[child]
    floor = COLLINEAR * form.matrix[group, child, child]
    while size > 1:
        trees.used[SCORED] += size
        least = highest_cost(form, child, size - 1, determinant, value + limits.tolerance)
        best, best_rest = -1, residual
        for i in range(size):
            # Without a parent the determinant is multiplied by its entry in the inverse, the residual grows.
            rest = max(residual + way.slopes[i] * way.slopes[i] / way.diagonal[i], floor)
            cost = cost_of(form, group, size - 1, way.diagonal[i], rest)
            if cost < least or (best >= 0 and cost == least and way.path[i] < way.path[best]):
                best, best_rest, least = i, rest, cost
        if best < 0:
            break
        if size == whole:
            invert_block(way, size)
        determinant += np.log(way.diagonal[best])
        residual = best_rest
        remove(way, best, size)
        size -= 1
        value = family_score(form, child, size, determinant, residual)
    way.at[DEPTH] = size
    way.at[FACTORED] = -1
    return value


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
                trees.value[node] = shrink(form, trees, limits, way, child)
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
