"""Turns of single columns: where in the order would one raise the score most, and moving it there.

Only columns that would add the moving one, or have added it, change with its place; and its own parents
change only where the last of them, in the order, comes behind it. So a turn grows some dozen columns,
however many there are. Several columns are looked at together: first what each touches, then all scores,
child by child, because one tree serves all that ask about its child, and last where each gains most.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import borrowing, inlined, kernel
from dagora.learners.search.alarm import Flag
from dagora.learners.search.order.wide.growth import (
    Floats,
    GrownParents,
    GrowthLimits,
    Ints,
    ShortInts,
    has_added,
    would_add,
)
from dagora.learners.search.order.wide.growth_rows import Bench
from dagora.learners.search.order.wide.growth_trees import GrowthTrees, grow, keep
from dagora.scores.local_score import PivotForm

# Places of a column: in front of all others, or where it is.
FRONT, STAY = -1, -2


class Order(NamedTuple):
    """An order, and the place of each column in it."""

    order: Ints
    place: Ints

    @classmethod
    def of(cls, order: Ints) -> Order:
        """An order."""
        return cls(order.copy(), np.argsort(order))


class Turns(NamedTuple):
    """Columns that are looked at together, with all that a place of theirs depends on.

    `touched[m, :number[m]]` are the columns that change with the place of `moving[m]`, and `value` their
    scores where it stands on the other side of them. From place `since[m, k]` on, it has itself the score
    `own[m, k]`; there are `places[m]` of these, the last places first.
    """

    moving: Ints
    touched: ShortInts
    number: Ints
    value: Floats
    since: ShortInts
    own: Floats
    places: Ints

    @classmethod
    def of(cls, moving: Ints, columns: int) -> Turns:
        """Nothing is known of these columns yet."""
        shape = (len(moving), columns + 1)
        return cls(
            moving=moving,
            touched=np.empty(shape, dtype=np.int32),
            number=np.zeros(len(moving), dtype=np.int64),
            value=np.empty(shape),
            since=np.empty(shape, dtype=np.int32),
            own=np.empty(shape),
            places=np.zeros(len(moving), dtype=np.int64),
        )

    def questions(self) -> tuple[Ints, Ints]:
        """Families to score, child by child: the row of `touched`, and the slot there (−1: own places)."""
        rows = np.repeat(np.arange(len(self.moving)), self.number + 1)
        slots = np.arange(len(rows)) + self.number[rows] - np.cumsum(self.number + 1)[rows]
        children = np.where(slots < 0, self.moving[rows], self.touched[rows, slots])
        by_child = np.argsort(children, kind="stable")
        return rows[by_child], slots[by_child]

    def pieces(self, rows: Ints, slots: Ints, most: int) -> list[slice]:
        """Up to so many pieces of the questions; all about one child are in one piece."""
        children = np.where(slots < 0, self.moving[rows], self.touched[rows, slots])
        begins = np.flatnonzero(np.r_[True, children[1:] != children[:-1]])
        size = max(1, len(begins) // most)
        cuts = [*begins[::size].tolist(), len(rows)]
        return [slice(*pair) for pair in pairwise(cuts)]


@borrowing
def find_touched(
    form: PivotForm,
    limits: GrowthLimits,
    growth: GrownParents,
    row: Floats,
    turns: Turns,
    place: Ints,
    first: int,
    last: int,
) -> None:
    """List the columns that grow otherwise if one changes sides, for those from `first` to before `last`."""
    for m in range(first, last):
        moving = turns.moving[m]
        found, here = 0, place[moving]
        for u in range(len(place)):
            if place[u] < here:
                touches = would_add(form, limits, growth, row, u, moving)
            else:
                touches = has_added(growth, u, moving)
            if touches:
                turns.touched[m, found] = u
                found += 1
        turns.number[m] = found


@borrowing
def score_places(
    form: PivotForm, limits: GrowthLimits, trees: GrowthTrees, bench: Bench, turns: Turns, place: Ints, m: int
) -> bool:
    """The moving column's own score at all places; False where there is no room.

    It grows from all others first. Before the last of those that it added, it has to do without that one.
    """
    moving = turns.moving[m]
    cut, found = len(place), 0
    while True:
        value = grow(form, limits, trees, bench, place, moving, cut, -1, False)
        if np.isnan(value):
            return False
        last = -1
        for k in range(bench.depth[0]):
            last = max(last, place[bench.path[k]])
        turns.own[m, found], turns.since[m, found] = value, last
        found += 1
        if last < 0:
            turns.places[m] = found
            return True
        cut = last


@borrowing
def answer(
    form: PivotForm,
    limits: GrowthLimits,
    trees: GrowthTrees,
    bench: Bench,
    turns: Turns,
    place: Ints,
    rows: Ints,
    slots: Ints,
    stop: Flag,
) -> bool:
    """Score what some questions ask; False where there is no room. Nothing more is scored if time is up."""
    for k in range(len(rows)):
        if stop[0]:
            return True
        m, slot = rows[k], slots[k]
        if slot < 0:
            if not score_places(form, limits, trees, bench, turns, place, m):
                return False
            continue
        moving, u = turns.moving[m], turns.touched[m, slot]
        is_behind = place[u] < place[moving]
        value = grow(form, limits, trees, bench, place, u, place[u], moving, is_behind)
        if np.isnan(value):
            return False
        turns.value[m, slot] = value
    return True


@kernel
def best_place(growth: GrownParents, turns: Turns, place: Ints, m: int, tolerance: float) -> int:
    """The place behind which a column raises the score most, FRONT or STAY."""
    here, touched = place[turns.moving[m]], turns.touched[m, : turns.number[m]]
    events = np.empty(1 + len(touched) + turns.places[m], dtype=np.int64)
    events[0] = FRONT
    for k in range(len(touched)):
        events[1 + k] = place[touched[k]]
    for k in range(turns.places[m]):
        events[1 + len(touched) + k] = turns.since[m, k]
    events = np.unique(events)
    best, best_total = STAY, -np.inf
    for attempt in range(2):
        # First the score at the present place, then the places that are better.
        for k in range(len(events)):
            after = events[k]
            following = events[k + 1] if k + 1 < len(events) else len(place)
            is_here = after < here <= following
            if is_here != (attempt == 0):
                continue
            total = 0.0
            for each in range(turns.places[m]):
                if turns.since[m, each] <= after:
                    total += turns.own[m, each]
                    break
            for slot in range(len(touched)):
                # Its score is known where the column stands, and on the other side.
                there = place[touched[slot]]
                is_known = (there <= after) == (there < here)
                total += growth.value[touched[slot]] if is_known else turns.value[m, slot]
            if is_here:
                best_total = total
            elif total > best_total + tolerance:
                best, best_total = after, total
    return best


@inlined
def shift(order: Order, moving: int, to: int) -> None:
    """Move a column to a place; those in between close up."""
    here = order.place[moving]
    step = 1 if to > here else -1
    for k in range(here, to, step):
        order.order[k] = order.order[k + step]
        order.place[order.order[k]] = k
    order.order[to] = moving
    order.place[moving] = to


@borrowing
def regrow(
    form: PivotForm,
    limits: GrowthLimits,
    growth: GrownParents,
    trees: GrowthTrees,
    bench: Bench,
    place: Ints,
    children: Ints,
) -> bool:
    """Grow some columns anew at their places and keep that; False where there was no room for one of them."""
    for child in children:
        value = grow(form, limits, trees, bench, place, child, place[child], -1, False)
        if np.isnan(value):
            return False
        keep(form, limits, growth, bench, child, value)
    return True


@borrowing
def move(
    form: PivotForm,
    limits: GrowthLimits,
    growth: GrownParents,
    trees: GrowthTrees,
    bench: Bench,
    order: Order,
    moving: int,
    behind: int,
    touched: Ints,
) -> tuple[float, int]:
    """Move a column behind another (or to the FRONT) if that gains; return the gain, 0 where it does not.

    NaN where there is no room. Also how many columns changed: they are the first of `touched`.
    """
    place = order.place
    here = place[moving]
    to = 0 if behind < 0 else place[behind] + (place[behind] < here)
    number = 0
    for k in range(min(here, to), max(here, to) + 1):
        u = order.order[k]
        if u == moving:
            touches = True
        elif k < here:
            touches = would_add(form, limits, growth, bench.row, u, moving)
        else:
            touches = has_added(growth, u, moving)
        if touches:
            touched[number] = u
            number += 1
    before = after = 0.0
    for k in range(number):
        before += growth.value[touched[k]]
    shift(order, moving, to)
    room = regrow(form, limits, growth, trees, bench, place, touched[:number])
    for k in range(number):
        after += growth.value[touched[k]]
    if room and after > before + limits.tolerance:
        return after - before, number
    shift(order, moving, here)
    regrow(form, limits, growth, trees, bench, place, touched[:number])
    return 0.0 if room else np.nan, 0


@kernel
def mark_changed(growth: GrownParents, touched: Ints, changed: NDArray[np.bool_]) -> None:
    """Mark columns that changed, those that they have added, and those that have added them."""
    is_touched = np.zeros(len(changed), dtype=np.bool_)
    for x in touched:
        is_touched[x] = changed[x] = True
        for k in range(growth.depth[x]):
            changed[growth.path[x, k]] = True
    for u in range(len(changed)):
        for k in range(growth.depth[u]):
            if is_touched[growth.path[u, k]]:
                changed[u] = True


@kernel
def move_some(
    form: PivotForm,
    limits: GrowthLimits,
    growth: GrownParents,
    trees: GrowthTrees,
    bench: Bench,
    turns: Turns,
    order: Order,
    behind: Ints,
    first: int,
    changed: NDArray[np.bool_],
) -> tuple[int, int]:
    """Move columns, from row `first` on; return how many moved, and the row without room (−1: none)."""
    touched = np.empty(len(order.place), dtype=np.int64)
    moved = 0
    for m in range(first, len(turns.moving)):
        if behind[m] == STAY:
            continue
        moving = turns.moving[m]
        gain, number = move(form, limits, growth, trees, bench, order, moving, behind[m], touched)
        if np.isnan(gain):
            return moved, m
        if number > 0:
            mark_changed(growth, touched[:number], changed)
            moved += 1
    return moved, -1


@kernel
def choose(growth: GrownParents, turns: Turns, order: Order, tolerance: float, behind: Ints) -> None:
    """For each column looked at the one behind which it should move, FRONT or STAY."""
    for m in range(len(turns.moving)):
        after = best_place(growth, turns, order.place, m, tolerance)
        behind[m] = order.order[after] if after >= 0 else after
