"""Parents that a column grows from those before it in an order, kept so that a move is quickly weighed.

Each column keeps the columns that it added, with the Cholesky factor of their block. So k² operations tell
whether one more allowed column would have been added on the way: in most cases it would not, and nothing has
to be grown again. (The trees of `moment_trees` keep what was grown for every set; with thousands of columns
they do not fit into memory.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import inlined, kernel, vectorised
from dagora.learners.search.order.pivot_path import DEPTH, FACTORED, SCORED, Way, factor, shrink
from dagora.scores.gaussian import COLLINEAR
from dagora.scores.local_score import PivotForm
from dagora.scores.pivot_form import family_score, highest_cost

Ints = NDArray[np.int64]
ShortInts = NDArray[np.int32]
Floats = NDArray[np.float64]

# A column that lowers a residual by this share less than the one that was added may have been added instead:
# both numbers are rounded.
ROUNDING = 1e-9


class GrownParents(NamedTuple):
    """The columns that each column has grown from those before it.

    Row u of `path` holds the `depth[u]` columns that u added, first to last; `factor[u]` is the Cholesky
    factor of their block, `slope[u]` the row of u below it, `won[u, k]` by how much step k lowered the
    residual, `needed[u]` by how much one more column would have to. `value[u]` is the score after shrinkage.
    """

    path: ShortInts
    depth: Ints
    factor: Floats
    slope: Floats
    won: Floats
    needed: Floats
    value: Floats

    @classmethod
    def of(cls, columns: int, room: int) -> GrownParents:
        """For so many columns, of which each may add `room` others."""
        slope, won = np.zeros((2, columns, room))
        needed, value = np.zeros((2, columns))
        return cls(
            path=np.zeros((columns, room), dtype=np.int32),
            depth=np.zeros(columns, dtype=np.int64),
            factor=np.zeros((columns, room, room)),
            slope=slope,
            won=won,
            needed=needed,
            value=value,
        )


class GrowthLimits(NamedTuple):
    """Pairs that must not be joined, if there are any; the most parents; the gain that counts as none."""

    apart: NDArray[np.bool_]
    any_apart: bool
    max_parents: int
    tolerance: float


class Bench(NamedTuple):
    """Room to grow one column at a time. `variance[g]` is the diagonal of the matrix of group g.

    `allowed` is 1 for the columns that may be added and 0 for the others. `won[k]` is by how much step k
    lowered the residual, `rest[k]` the residual before it. `row` is room for a row of a factor.
    """

    way: Way
    variance: Floats
    allowed: Floats
    gains: Floats
    won: Floats
    rest: Floats
    row: Floats
    kept: Ints

    @classmethod
    def of(cls, form: PivotForm, room: int) -> Bench:
        """Room for adding so many columns."""
        columns = len(form.group)
        allowed, gains = np.empty((2, columns))
        return cls(
            way=Way.of(columns, room),
            variance=np.ascontiguousarray(np.diagonal(form.matrix, axis1=1, axis2=2)),
            allowed=allowed,
            gains=gains,
            won=np.empty(room),
            rest=np.empty(room + 1),
            row=np.empty(room),
            kept=np.empty(room, dtype=np.int64),
        )


@vectorised
def largest_gain(left: Floats, shared: Floats, allowed: Floats, variance: Floats, gains: Floats) -> float:
    """By how much each allowed column would lower the residual, into `gains`; return the most."""
    best = 0.0
    for y in range(len(left)):
        gain = allowed[y] * shared[y] * shared[y] / left[y]
        gain = gain if left[y] > COLLINEAR * variance[y] else 0.0
        gains[y] = gain
        best = max(best, gain)
    return best


@vectorised
def subtract_squares(left: Floats, shared: Floats, row: Floats, slope: float) -> None:
    """Take one row of a factor off variances and off covariances with a column."""
    for y in range(len(left)):
        left[y] -= row[y] * row[y]
        shared[y] -= slope * row[y]


@inlined
def allow_before(limits: GrowthLimits, bench: Bench, place: Ints, child: int, cut: int) -> None:
    """Allow a child the columns at the places before `cut`."""
    allowed = bench.allowed
    for y in range(len(allowed)):
        allowed[y] = 1.0 if place[y] < cut else 0.0
    if limits.any_apart:
        for y in range(len(allowed)):
            if limits.apart[child, y]:
                allowed[y] = 0.0
    allowed[child] = 0.0


@inlined
def begin(form: PivotForm, bench: Bench, child: int) -> None:
    """Start with no parents."""
    group = form.group[child]
    way, variance, of_child = bench.way, bench.variance[group], form.matrix[group, child]
    left, shared = way.left, way.shared
    for y in range(len(left)):
        left[y] = variance[y]
        shared[y] = of_child[y]
    way.log_determinant[0] = 0.0
    way.at[DEPTH] = way.at[FACTORED] = 0
    bench.rest[0] = variance[child]


@inlined
def residual_to_beat(form: PivotForm, limits: GrowthLimits, child: int, depth: int, rest: float) -> float:
    """The residual below which one more parent gains; −1 where no more can be added."""
    if depth >= limits.max_parents or form.size[form.group[child], depth + 1] == -np.inf:
        return -1.0
    now = family_score(form, child, depth, 0.0, rest)
    return highest_cost(form, child, depth + 1, 0.0, now + limits.tolerance)


@kernel
def extend(form: PivotForm, limits: GrowthLimits, bench: Bench, child: int) -> bool:
    """Add the best allowed column as long as that gains; False where there is no room for that."""
    way = bench.way
    variance = bench.variance[form.group[child]]
    floor = COLLINEAR * variance[child]
    while True:
        depth = way.at[DEPTH]
        rest = bench.rest[depth]
        beaten = residual_to_beat(form, limits, child, depth, rest)
        if beaten < 0:
            return True
        most = largest_gain(way.left, way.shared, bench.allowed, variance, bench.gains)
        way.at[SCORED] += len(variance)
        if not max(rest - most, floor) < beaten:
            return True
        if depth == len(way.path):
            return False
        new = 0
        while bench.gains[new] != most:
            new += 1
        way.path[depth] = new
        way.at[DEPTH] = depth + 1
        factor(form, way, child)
        bench.allowed[new] = 0.0
        bench.won[depth] = most
        bench.rest[depth + 1] = max(way.left[child], floor)


@kernel
def go_back(form: PivotForm, bench: Bench, child: int, depth: int) -> None:
    """Leave only the first columns that were added."""
    begin(form, bench, child)
    way = bench.way
    for k in range(depth):
        row = way.rows[k]
        subtract_squares(way.left, way.shared, row, row[child])
        way.log_determinant[0] += 2 * np.log(row[way.path[k]])
    way.at[DEPTH] = way.at[FACTORED] = depth


@inlined
def value_after_shrinkage(form: PivotForm, limits: GrowthLimits, bench: Bench, child: int) -> float:
    """The score of what shrinkage leaves of the path, which stays as it is."""
    way = bench.way
    depth = way.at[DEPTH]
    for k in range(depth):
        bench.kept[k] = way.path[k]
    value = shrink(form, way, child, limits.tolerance)
    for k in range(depth):
        way.path[k] = bench.kept[k]
    way.at[DEPTH] = way.at[FACTORED] = depth
    return value


@kernel
def grow_before(
    form: PivotForm,
    limits: GrowthLimits,
    bench: Bench,
    place: Ints,
    child: int,
    cut: int,
    other: int,
    is_before: bool,
) -> float:
    """The score of a child with what it grows from the places before `cut`, NaN where there is no room.

    The column `other` (−1: none) counts as one before it, or as one behind it, wherever it stands.
    """
    allow_before(limits, bench, place, child, cut)
    if other >= 0:
        bench.allowed[other] = 1.0 if is_before and not limits.apart[child, other] else 0.0
    begin(form, bench, child)
    if not extend(form, limits, bench, child):
        return np.nan
    return value_after_shrinkage(form, limits, bench, child)


@kernel
def keep(
    form: PivotForm, limits: GrowthLimits, growth: GrownParents, bench: Bench, child: int, value: float
) -> None:
    """Keep what was just grown for a child."""
    way = bench.way
    depth = way.at[DEPTH]
    growth.depth[child] = depth
    for k in range(depth):
        growth.path[child, k] = way.path[k]
        for b in range(k + 1):
            growth.factor[child, k, b] = way.rows[b, way.path[k]]
        growth.slope[child, k] = way.rows[k, child]
        growth.won[child, k] = bench.won[k]
    rest = bench.rest[depth]
    beaten = residual_to_beat(form, limits, child, depth, rest)
    growth.needed[child] = rest - beaten if beaten >= 0 else np.inf
    growth.value[child] = value


@inlined
def load(form: PivotForm, growth: GrownParents, bench: Bench, child: int) -> None:
    """Bring back what was kept of a child, as far as shrinkage needs it."""
    way = bench.way
    depth = growth.depth[child]
    rest = bench.variance[form.group[child], child]
    for k in range(depth):
        way.path[k] = growth.path[child, k]
        for b in range(k + 1):
            way.rows[b, way.path[k]] = growth.factor[child, k, b]
        way.rows[k, child] = growth.slope[child, k]
        rest -= growth.slope[child, k] ** 2
    way.left[child] = max(rest, COLLINEAR * bench.variance[form.group[child], child])
    way.log_determinant[0] = 0.0
    way.at[DEPTH] = way.at[FACTORED] = depth


@inlined
def would_add(
    form: PivotForm, limits: GrowthLimits, growth: GrownParents, row: Floats, child: int, new: int
) -> bool:
    """Return True if a child would add a column that it was not allowed so far; in doubt, too.

    `row` is room for a row of the factor.
    """
    if limits.any_apart and limits.apart[child, new]:
        return False
    group = form.group[child]
    floor = COLLINEAR * form.matrix[group, new, new]
    left, shared = form.matrix[group, new, new], form.matrix[group, new, child]
    for a in range(growth.depth[child]):
        if left <= floor:
            return False
        if shared * shared >= (1 - ROUNDING) * growth.won[child, a] * left:
            return True
        entry = form.matrix[group, new, growth.path[child, a]]
        for b in range(a):
            entry -= growth.factor[child, a, b] * row[b]
        entry /= growth.factor[child, a, a]
        row[a] = entry
        left -= entry * entry
        shared -= entry * growth.slope[child, a]
    return bool(left > floor and shared * shared >= (1 - ROUNDING) * growth.needed[child] * left)


@inlined
def has_added(growth: GrownParents, child: int, column: int) -> bool:
    """Return True if a child has added a column."""
    for k in range(growth.depth[child]):  # noqa: SIM110 - numba compiles loops, no generators
        if growth.path[child, k] == column:
            return True
    return False
