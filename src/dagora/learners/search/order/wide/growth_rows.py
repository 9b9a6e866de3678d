"""Growing one column: what its path leaves of the others, their gains, and the factor of the path."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagora.kernels.decorators import borrowing, inlined, vectorised
from dagora.learners.search.order.pivot_path import DEPTH, FACTORED, SCORED, Way, shrink
from dagora.learners.search.order.wide.growth import Floats, GrowthLimits, Ints, residual_to_beat
from dagora.scores.gaussian import COLLINEAR
from dagora.scores.local_score import PivotForm

CHILD, ROWS = 0, 1  # entries of `state`
# Of the columns that would gain most, so many are listed at a time. By hand: of 1000 columns of degree 4,
# most children have some 20.
LISTED = 32


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
def find_gains(form: PivotForm, limits: GrowthLimits, bench: Bench, child: int, depth: int) -> float:
    """Write the gains of all columns, given the first `depth` of the path; return the least that counts.

    It is infinite where none may be added: then nothing is written.
    """
    follow(form, bench, child, depth)
    least = gain_to_beat(form, limits, bench, child, depth)
    if least < np.inf:
        gains_of_all(bench.left, bench.shared, bench.variance[form.group[child]], bench.gains)
        bench.way.at[SCORED] += len(bench.gains)
    return least


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
