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

from dagora.kernels.decorators import borrowing, inlined, vectorised
from dagora.learners.search.order.pivot_path import DEPTH, FACTORED, SCORED, Way, shrink
from dagora.learners.search.order.wide.growth import (
    Floats,
    GrownParents,
    GrowthLimits,
    Ints,
    ShortInts,
    residual_to_beat,
)
from dagora.scores.gaussian import COLLINEAR
from dagora.scores.local_score import PivotForm

# Columns that a node lists, and the nodes and entries of lists that a child keeps; a full tree is begun anew.
# By hand: of 1000 columns of degree 4 a child needs 80 to 140 nodes with some 20 columns each.
LISTED, NODES, ENTRIES = 32, 1024, 16384
# Entries of all trees together, where that leaves less for each, but at least so many of each.
ALL_ENTRIES, LEAST_ENTRIES = 40_000_000, 4096
NODE, ENTRY = 0, 1  # columns of `used`
CHILD, ROWS = 0, 1  # entries of `state`


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


class Bench(NamedTuple):
    """Room to grow one column at a time. `variance[g]` is the diagonal of the matrix of group g.

    `path[:depth[0]]` holds the columns that were added. Row k of `rows` is what the columns before leave of
    the covariances of `done[k]` with all others, and `weight[k]` one over its variance, and
    `of_rows[k]` the slope of the child on it; there are
    `state[ROWS]` of them for the child `state[CHILD]`. `left` and `shared` are what they leave of all
    variances, and of covariances with the child. `factor` and `slope` are the Cholesky factor of the block of
    the path and the row of the child below it, in `way` they stand as shrinkage needs them.
    """

    way: Way
    variance: Floats
    path: Ints
    depth: Ints
    done: Ints
    state: Ints
    rows: Floats
    weight: Floats
    of_rows: Floats
    left: Floats
    shared: Floats
    gains: Floats
    listed: Ints
    listed_gain: Floats
    factor: Floats
    slope: Floats
    row: Floats

    @classmethod
    def of(cls, form: PivotForm, room: int) -> Bench:
        """Room for adding so many columns."""
        columns = len(form.group)
        left, shared, gains = np.empty((3, columns))
        weight, of_rows, slope, row = np.empty((4, room))
        path, done = np.zeros((2, room), dtype=np.int64)
        return cls(
            way=Way.of(columns, room),
            variance=np.ascontiguousarray(np.diagonal(form.matrix, axis1=1, axis2=2)),
            path=path,
            depth=np.zeros(1, dtype=np.int64),
            done=done,
            state=np.full(2, -1),
            rows=np.empty((room, columns)),
            weight=weight,
            of_rows=of_rows,
            left=left,
            shared=shared,
            gains=gains,
            listed=np.empty(LISTED, dtype=np.int64),
            listed_gain=np.empty(LISTED),
            factor=np.empty((room, room)),
            slope=slope,
            row=row,
        )


@vectorised
def subtract_four(
    row: Floats,
    given: Floats,
    a: Floats,
    b: Floats,
    c: Floats,
    d: Floats,
    of_a: float,
    of_b: float,
    of_c: float,
    of_d: float,
) -> None:
    """Into `row` what is `given`, less multiples of four rows: one pass instead of four."""
    for y in range(len(row)):
        row[y] = given[y] - (of_a * a[y] + of_b * b[y] + of_c * c[y] + of_d * d[y])


@borrowing
def explain_one(left: Floats, shared: Floats, a: Floats, weight: float, slope: float) -> None:
    """Take what a column explains off all variances, and off covariances with the child."""
    for y in range(len(left)):
        left[y] = left[y] - weight * a[y] * a[y]
        shared[y] = shared[y] - slope * a[y]


@borrowing
def explain_four(
    left: Floats, shared: Floats, a: Floats, b: Floats, c: Floats, d: Floats, weight: Floats, slope: Floats
) -> None:
    """The same for four columns in one pass over the others, to the last bit."""
    w0, w1, w2, w3 = weight[0], weight[1], weight[2], weight[3]
    s0, s1, s2, s3 = slope[0], slope[1], slope[2], slope[3]
    for y in range(len(left)):
        left[y] = left[y] - w0 * a[y] * a[y] - w1 * b[y] * b[y] - w2 * c[y] * c[y] - w3 * d[y] * d[y]
        shared[y] = shared[y] - s0 * a[y] - s1 * b[y] - s2 * c[y] - s3 * d[y]


@vectorised
def gains_of_all(left: Floats, shared: Floats, variance: Floats, gains: Floats) -> None:
    """By how much each column would lower the child's residual."""
    for y in range(len(left)):
        gain = shared[y] * shared[y] / left[y]
        gains[y] = gain if left[y] > COLLINEAR * variance[y] else 0.0


@borrowing
def follow(form: PivotForm, bench: Bench, child: int, depth: int) -> None:
    """Bring rows, `left` and `shared` to the first `depth` columns of the path."""
    state, path, done = bench.state, bench.path, bench.done
    left, shared, rows = bench.left, bench.shared, bench.rows
    weight, of_rows = bench.weight, bench.of_rows
    matrix, variance = form.matrix[form.group[child]], bench.variance[form.group[child]]
    common = 0
    known = state[ROWS] if state[CHILD] == child else 0
    while common < min(depth, known) and done[common] == path[common]:
        common += 1
    if state[CHILD] != child or common < state[ROWS]:
        # Always forth and never back, so that the last bits do not depend on what was grown before.
        of_child = matrix[child]
        for y in range(len(left)):
            left[y] = variance[y]
            shared[y] = of_child[y]
        k = 0
        while k + 4 <= common:
            explain_four(
                left, shared, rows[k], rows[k + 1], rows[k + 2], rows[k + 3], weight[k:], of_rows[k:]
            )
            k += 4
        while k < common:
            explain_one(left, shared, rows[k], weight[k], of_rows[k])
            k += 1
    for k in range(common, depth):
        new = path[k]
        row, of_new = rows[k], matrix[new]
        if k == 0:
            for y in range(len(row)):
                row[y] = of_new[y]
        given = of_new
        for above in range(0, k, 4):
            # Where fewer than four are left, the last of them stands in for others with a weight of zero.
            at = min(above + 1, k - 1), min(above + 2, k - 1), min(above + 3, k - 1)
            subtract_four(
                row,
                given,
                rows[above],
                rows[at[0]],
                rows[at[1]],
                rows[at[2]],
                weight[above] * rows[above, new],
                weight[at[0]] * rows[at[0], new] if above + 1 < k else 0.0,
                weight[at[1]] * rows[at[1], new] if above + 2 < k else 0.0,
                weight[at[2]] * rows[at[2], new] if above + 3 < k else 0.0,
            )
            given = row
        weight[k] = 1 / max(row[new], COLLINEAR * variance[new])
        of_rows[k] = weight[k] * row[child]
        explain_one(left, shared, row, weight[k], of_rows[k])
        done[k] = new
    state[CHILD], state[ROWS] = child, depth


@inlined
def gain_to_beat(form: PivotForm, limits: GrowthLimits, bench: Bench, child: int, depth: int) -> float:
    """By how much one more column must lower the residual, after `follow`; infinite where none may."""
    floor = COLLINEAR * bench.variance[form.group[child], child]
    rest = max(bench.left[child], floor)
    beaten = residual_to_beat(form, limits, child, depth, rest)
    return rest - beaten if beaten > floor else np.inf


@inlined
def may_add(limits: GrowthLimits, bench: Bench, child: int, depth: int, new: int) -> bool:
    """Return True if a column is not the child, not in the path and not to be kept apart from the child."""
    if new == child or (limits.any_apart and limits.apart[child, new]):
        return False
    for k in range(depth):  # noqa: SIM110 - numba compiles loops, no generators
        if bench.path[k] == new:
            return False
    return True


@borrowing
def add_node(
    form: PivotForm, limits: GrowthLimits, trees: GrowthTrees, bench: Bench, child: int, depth: int
) -> int:
    """Add the node of the first `depth` columns of the path; −1 where the tree is full."""
    node, first = trees.used[child]
    if node == trees.first.shape[1] or first + len(bench.listed) > trees.column.shape[1]:
        return -1
    follow(form, bench, child, depth)
    gains, listed, listed_gain = bench.gains, bench.listed, bench.listed_gain
    found, room = 0, len(listed)
    trees.is_whole[child, node] = True
    least = gain_to_beat(form, limits, bench, child, depth)
    if least < np.inf:
        gains_of_all(bench.left, bench.shared, bench.variance[form.group[child]], gains)
        bench.way.at[SCORED] += len(gains)
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
    variance, gains = bench.variance[form.group[child]], bench.gains
    while True:
        depth = bench.depth[0]
        follow(form, bench, child, depth)
        most = gain_to_beat(form, limits, bench, child, depth)
        if most == np.inf:
            return True
        gains_of_all(bench.left, bench.shared, variance, gains)
        bench.way.at[SCORED] += len(gains)
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
def fit_path(form: PivotForm, bench: Bench, child: int) -> None:
    """The factor of the path's block and the row of the child below it; also as shrinkage needs them."""
    way, path, factor, slope = bench.way, bench.path, bench.factor, bench.slope
    matrix, variance = form.matrix[form.group[child]], bench.variance[form.group[child]]
    depth = bench.depth[0]
    rest, log_determinant = variance[child], 0.0
    for a in range(depth):
        new = path[a]
        left, with_child = variance[new], matrix[new, child]
        for b in range(a):
            entry = matrix[new, path[b]]
            for c in range(b):
                entry -= factor[a, c] * factor[b, c]
            entry /= factor[b, b]
            factor[a, b] = entry
            left -= entry * entry
            with_child -= entry * slope[b]
            way.rows[b, new] = entry
        factor[a, a] = np.sqrt(max(left, COLLINEAR * variance[new]))
        slope[a] = with_child / factor[a, a]
        rest -= slope[a] * slope[a]
        log_determinant += 2 * np.log(factor[a, a])
        way.path[a] = new
        way.rows[a, new] = factor[a, a]
        way.rows[a, child] = slope[a]
    way.left[child] = max(rest, COLLINEAR * variance[child])
    way.log_determinant[0] = log_determinant
    way.at[DEPTH] = way.at[FACTORED] = depth


@inlined
def value_of_path(form: PivotForm, limits: GrowthLimits, bench: Bench, child: int) -> float:
    """The score of what shrinkage leaves of the path, which stays as it is."""
    fit_path(form, bench, child)
    return float(shrink(form, bench.way, child, limits.tolerance))


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
