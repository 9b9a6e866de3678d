"""Gains of single-edge changes on a score of pivots: for each child the best additions, not all of them.

A matrix of all gains is too large for thousands of columns, and reading it at every step too slow. So each
child keeps a short list of its best additions, best first, and the gains of deleting and of turning each of
its edges. A change of a child's parents costs one pass over the columns, with the Cholesky factor of its
parents over all of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.graph.bit_kernels import has_bit
from dagora.kernels.decorators import borrowing
from dagora.scores.gaussian import COLLINEAR
from dagora.scores.local_score import PivotForm
from dagora.scores.pivot_form import cost_of, family_score

Ints = NDArray[np.int64]
ShortInts = NDArray[np.int32]
Floats = NDArray[np.float64]
Bits = NDArray[np.uint64]
Marks = NDArray[np.bool_]

# Additions that a child keeps. Where all of them close a cycle, the columns are looked at again.
LISTED = 64


class ClimbedGraph(NamedTuple):
    """A graph with the gains of its changes; a parent's slot is its place in the child's row of `parents`.

    Bit x of `above[y]` says that x is an ancestor of y, bit y of `below[x]` that y is a child of x.
    `deletion` and `turn` are the gains of deleting and of turning the edge in a slot, and `best_change` the
    largest of a child's. `added[x, k]` with `gain[x, k]` are its best additions, `length[x]` of them; those
    before `first[x]` close cycles. `is_whole` says that the list has every addition, `is_legal_only` that it
    has only those that closed no cycle when it was made.
    """

    parents: ShortInts
    sizes: Ints
    above: Bits
    below: Bits
    own: Floats
    deletion: Floats
    turn: Floats
    best_change: Floats
    added: ShortInts
    gain: Floats
    length: Ints
    first: Ints
    is_whole: Marks
    is_legal_only: Marks

    @classmethod
    def of(cls, columns: int, room: int) -> ClimbedGraph:
        """Without edges and with nothing known; with room for so many parents of each."""
        words = (columns + 63) // 64
        deletion, turn = np.full((2, columns, room), -np.inf)
        own, best_change = np.full((2, columns), -np.inf)
        return cls(
            parents=np.zeros((columns, room), dtype=np.int32),
            sizes=np.zeros(columns, dtype=np.int64),
            above=np.zeros((columns, words), dtype=np.uint64),
            below=np.zeros((columns, words), dtype=np.uint64),
            own=own,
            deletion=deletion,
            turn=turn,
            best_change=best_change,
            added=np.zeros((columns, LISTED), dtype=np.int32),
            gain=np.full((columns, LISTED), -np.inf),
            length=np.zeros(columns, dtype=np.int64),
            first=np.zeros(columns, dtype=np.int64),
            is_whole=np.ones(columns, dtype=np.bool_),
            is_legal_only=np.zeros(columns, dtype=np.bool_),
        )

    def with_room(self, room: int) -> ClimbedGraph:
        """The same with room for more parents."""
        bare = ClimbedGraph.of(1, 1)
        wider = {}
        for name in ("parents", "deletion", "turn"):
            old = getattr(self, name)
            new = np.full((len(old), room), getattr(bare, name)[0, 0], dtype=old.dtype)
            new[:, : old.shape[1]] = old
            wider[name] = new
        return self._replace(**wider)


class ClimbLimits(NamedTuple):
    """`barred[x, y]`: y must not become a parent of x; `required[x, y]`: it must stay one."""

    barred: Marks
    required: Marks
    max_parents: int


class Room(NamedTuple):
    """Room to compute in. `variance[g, y]` is what stands on the diagonal of the matrix of group g."""

    variance: Floats
    rows: Floats
    left: Floats
    shared: Floats
    is_parent: Marks
    costs: Floats
    factor: Floats
    pivots: Floats
    columns: Ints

    @classmethod
    def of(cls, form: PivotForm, room: int) -> Room:
        """For so many parents."""
        columns = len(form.group)
        left, shared = np.empty((2, columns))
        return cls(
            variance=np.ascontiguousarray(np.diagonal(form.matrix, axis1=1, axis2=2)),
            rows=np.empty((room, columns)),
            left=left,
            shared=shared,
            is_parent=np.zeros(columns, dtype=np.bool_),
            costs=np.empty(LISTED),
            factor=np.zeros((room + 2, room + 2)),
            pivots=np.zeros(room + 2),
            columns=np.zeros(room + 2, dtype=np.int64),
        )


@borrowing
def family_value(
    form: PivotForm, graph: ClimbedGraph, room: Room, child: int, without: int, more: int
) -> float:
    """The score of a child with its parents, without the one in a slot, and with one more (−1: none).

    As `cholesky_pivots` does, a column that those before it determine counts as one that explains nothing.
    """
    group = form.group[child]
    matrix = form.matrix[group]
    factor, pivots, columns = room.factor, room.pivots, room.columns
    size = 0
    for slot in range(graph.sizes[child]):
        if slot != without:
            columns[size] = graph.parents[child, slot]
            size += 1
    if more >= 0:
        columns[size] = more
        size += 1
    columns[size] = child
    log_determinant = 0.0
    for a in range(size + 1):
        i = columns[a]
        left = matrix[i, i]
        for b in range(a):
            entry = matrix[i, columns[b]]
            for c in range(b):
                entry -= factor[a, c] * factor[b, c]
            factor[a, b] = entry / pivots[b] if pivots[b] > 0 else 0.0
            left -= factor[a, b] * factor[a, b]
        least = COLLINEAR * matrix[i, i]
        pivots[a] = np.sqrt(left) if left > least else 0.0
        if a < size:
            log_determinant += np.log(max(left, least))
    return family_score(form, child, size, log_determinant, pivots[size] * pivots[size])


@borrowing
def project(form: PivotForm, graph: ClimbedGraph, room: Room, child: int) -> float:
    """Fill `left` and `shared`: what a child's parents leave of all variances, and of covariances with it.

    Return ln det of the parents' block.
    """
    group = form.group[child]
    matrix, variance = form.matrix[group], room.variance[group]
    left, shared = room.left, room.shared
    columns = len(left)
    of_child = matrix[child]
    for y in range(columns):
        left[y] = variance[y]
        shared[y] = of_child[y]
    log_determinant = 0.0
    for slot in range(graph.sizes[child]):
        new = graph.parents[child, slot]
        row = room.rows[slot]
        least = COLLINEAR * variance[new]
        pivot = left[new]
        log_determinant += np.log(max(pivot, least))
        if pivot <= least:
            for y in range(columns):
                row[y] = 0.0
            continue
        of_new = matrix[new]
        for y in range(columns):
            row[y] = of_new[y]
        for above in range(slot):
            row_above = room.rows[above]
            weight = row_above[new]
            for y in range(columns):
                row[y] -= weight * row_above[y]
        scale = 1 / np.sqrt(pivot)
        with_child = row[child] * scale
        for y in range(columns):
            entry = row[y] * scale
            row[y] = entry
            left[y] -= entry * entry
            shared[y] -= with_child * entry
    return log_determinant


@borrowing
def gain_of_addition(
    form: PivotForm, graph: ClimbedGraph, room: Room, child: int, new: int, log_determinant: float
) -> float:
    """The gain of one more parent, after `project`."""
    size = graph.sizes[child] + 1
    least = COLLINEAR * room.variance[form.group[child], new]
    left, rest = room.left[new], room.left[child]
    if left > least:
        rest -= room.shared[new] * room.shared[new] / left
    more = log_determinant + np.log(max(left, least))
    return float(family_score(form, child, size, more, rest) - graph.own[child])


@borrowing
def may_have_more(form: PivotForm, graph: ClimbedGraph, limits: ClimbLimits, child: int) -> bool:
    """Return True if a child may have one more parent."""
    size = graph.sizes[child]
    return bool(size < limits.max_parents and form.size[form.group[child], size + 1] > -np.inf)


@borrowing
def list_additions(
    form: PivotForm, graph: ClimbedGraph, limits: ClimbLimits, room: Room, child: int, legal_only: bool
) -> float:
    """List the best additions of a child, of equal ones the earlier first; return what `project` does."""
    log_determinant = project(form, graph, room, child)
    graph.first[child] = 0
    graph.length[child] = 0
    graph.is_whole[child] = True
    graph.is_legal_only[child] = legal_only
    if not may_have_more(form, graph, limits, child):
        return log_determinant
    group, size = form.group[child], graph.sizes[child] + 1
    variance, added, costs = room.variance[group], graph.added[child], room.costs
    residual, floor = room.left[child], COLLINEAR * variance[child]
    for slot in range(size - 1):
        room.is_parent[graph.parents[child, slot]] = True
    found = 0
    for y in range(len(variance)):
        if y == child or room.is_parent[y] or limits.barred[child, y]:
            continue
        if legal_only and has_bit(graph.above[y], child):
            continue
        left, least = room.left[y], COLLINEAR * variance[y]
        if left <= least:
            cost = cost_of(form, group, size, least, max(residual, floor))
        else:
            rest = max(residual - room.shared[y] * room.shared[y] / left, floor)
            cost = cost_of(form, group, size, left, rest)
        if found == LISTED:
            graph.is_whole[child] = False
            if cost >= costs[found - 1]:
                continue
            found -= 1
        to = found
        while to > 0 and costs[to - 1] > cost:
            costs[to], added[to] = costs[to - 1], added[to - 1]
            to -= 1
        costs[to], added[to] = cost, y
        found += 1
    for slot in range(size - 1):
        room.is_parent[graph.parents[child, slot]] = False
    for k in range(found):
        graph.gain[child, k] = gain_of_addition(form, graph, room, child, added[k], log_determinant)
    graph.length[child] = found
    return log_determinant


@borrowing
def find_best_change(graph: ClimbedGraph, child: int) -> None:
    """Set the largest gain of deleting or turning an edge into a child."""
    best = -np.inf
    for slot in range(graph.sizes[child]):
        best = max(best, graph.deletion[child, slot], graph.turn[child, slot])
    graph.best_change[child] = best


@borrowing
def slot_of(graph: ClimbedGraph, parent: int, child: int) -> int:
    """The slot of a parent."""
    slot = 0
    while graph.parents[child, slot] != parent:
        slot += 1
    return slot


@borrowing
def refresh(form: PivotForm, graph: ClimbedGraph, limits: ClimbLimits, room: Room, child: int) -> None:
    """Compute all gains that depend on a child's family; the scores `own` of its parents must be known."""
    graph.own[child] = family_value(form, graph, room, child, -1, -1)
    for slot in range(graph.sizes[child]):
        parent = graph.parents[child, slot]
        deletion = turn = -np.inf
        if not limits.required[child, parent]:
            deletion = family_value(form, graph, room, child, slot, -1) - graph.own[child]
            if not limits.barred[parent, child] and may_have_more(form, graph, limits, parent):
                turn = deletion + family_value(form, graph, room, parent, -1, child) - graph.own[parent]
        graph.deletion[child, slot], graph.turn[child, slot] = deletion, turn
    find_best_change(graph, child)
    log_determinant = list_additions(form, graph, limits, room, child, False)
    can_turn = may_have_more(form, graph, limits, child)
    for word in range(graph.below.shape[1]):
        if not graph.below[child, word]:
            continue
        for y in range(64 * word, min(64 * word + 64, len(graph.sizes))):
            if has_bit(graph.below[child], y):
                slot = slot_of(graph, child, y)
                turn = -np.inf
                if can_turn and not limits.barred[child, y] and graph.deletion[y, slot] > -np.inf:
                    more = gain_of_addition(form, graph, room, child, y, log_determinant)
                    turn = graph.deletion[y, slot] + more
                graph.turn[y, slot] = turn
                find_best_change(graph, y)
