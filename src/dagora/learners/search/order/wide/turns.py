"""Turns of single columns: where in the order would one raise the score most, and moving it there.

Only columns that would add the moving one, or have added it, change with its place; and its own parents
change only where the last of them, in the order, comes behind it. So a turn grows some dozen columns,
however many there are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import inlined, kernel
from dagora.learners.search.alarm import Flag
from dagora.learners.search.order.pivot_path import DEPTH, shrink
from dagora.learners.search.order.wide.growth import (
    Bench,
    Floats,
    GrownParents,
    GrowthLimits,
    Ints,
    allow_before,
    begin,
    extend,
    go_back,
    grow_before,
    has_added,
    keep,
    load,
    value_after_shrinkage,
    would_add,
)
from dagora.scores.local_score import PivotForm

# Where a column moves: to the front, nowhere, or not known, because there was no room or no time.
FRONT, STAY, UNKNOWN = -1, -2, -3


class Order(NamedTuple):
    """An order, and the place of each column in it."""

    order: Ints
    place: Ints

    @classmethod
    def of(cls, order: Ints) -> Order:
        """An order."""
        return cls(order.copy(), np.argsort(order))


class Turn(NamedTuple):
    """Room for one turn.

    `touched[:at[0]]` are the columns that change with the place of the moving one, with their scores where it
    stands before them and behind them. From place `since[k]` on, the moving column has the score `own[k]`;
    there are `at[1]` of these, the last places first.
    """

    touched: Ints
    before: Floats
    behind: Floats
    since: Ints
    own: Floats
    events: Ints
    at: Ints

    @classmethod
    def of(cls, columns: int) -> Turn:
        """Room for so many columns."""
        before, behind = np.empty((2, columns))
        return cls(
            touched=np.empty(columns, dtype=np.int64),
            before=before,
            behind=behind,
            since=np.empty(columns + 1, dtype=np.int64),
            own=np.empty(columns + 1),
            events=np.empty(2 * columns + 2, dtype=np.int64),
            at=np.zeros(2, dtype=np.int64),
        )


@kernel
def find_touched(
    form: PivotForm,
    limits: GrowthLimits,
    growth: GrownParents,
    bench: Bench,
    turn: Turn,
    place: Ints,
    moving: int,
) -> None:
    """List the columns that grow otherwise if the moving one changes sides."""
    found = 0
    here = place[moving]
    for u in range(len(place)):
        if place[u] < here:
            touches = would_add(form, limits, growth, bench.row, u, moving)
        else:
            touches = has_added(growth, u, moving)
        if touches:
            turn.touched[found] = u
            found += 1
    turn.at[0] = found


@kernel
def score_touched(
    form: PivotForm,
    limits: GrowthLimits,
    growth: GrownParents,
    bench: Bench,
    turn: Turn,
    place: Ints,
    moving: int,
) -> bool:
    """Their scores with the moving column on either side; False where there is no room."""
    for k in range(turn.at[0]):
        u = turn.touched[k]
        is_before = place[moving] < place[u]
        value = grow_before(form, limits, bench, place, u, place[u], moving, not is_before)
        if np.isnan(value):
            return False
        turn.before[k] = growth.value[u] if is_before else value
        turn.behind[k] = value if is_before else growth.value[u]
    return True


@kernel
def score_places(
    form: PivotForm, limits: GrowthLimits, bench: Bench, turn: Turn, order: Order, moving: int
) -> bool:
    """The moving column's own score at all places; False where there is no room.

    It grows from all others first. Before the last of those that it added, it has to do without that one.
    """
    way, place = bench.way, order.place
    columns = len(place)
    allow_before(limits, bench, place, moving, columns)
    begin(form, bench, moving)
    cut, found = columns, 0
    while True:
        if not extend(form, limits, bench, moving):
            return False
        turn.own[found] = value_after_shrinkage(form, limits, bench, moving)
        last, first_without = -1, 0
        for k in range(way.at[DEPTH]):
            if place[way.path[k]] > last:
                last, first_without = place[way.path[k]], k
        turn.since[found] = last
        found += 1
        if last < 0:
            turn.at[1] = found
            return True
        for k in range(first_without, way.at[DEPTH]):
            bench.allowed[way.path[k]] = 1.0
        for k in range(last, cut):
            bench.allowed[order.order[k]] = 0.0
        cut = last
        go_back(form, bench, moving, first_without)


@kernel
def best_place(turn: Turn, place: Ints, moving: int, tolerance: float) -> int:
    """The place behind which the moving column raises the score most, FRONT or STAY."""
    here = place[moving]
    number = 0
    turn.events[number] = FRONT
    number += 1
    for k in range(turn.at[0]):
        turn.events[number] = place[turn.touched[k]]
        number += 1
    for k in range(turn.at[1]):
        turn.events[number] = turn.since[k]
        number += 1
    events = np.unique(turn.events[:number])
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
            for each in range(turn.at[1]):
                if turn.since[each] <= after:
                    total += turn.own[each]
                    break
            for each in range(turn.at[0]):
                total += turn.behind[each] if place[turn.touched[each]] <= after else turn.before[each]
            if is_here:
                best_total = total
            elif total > best_total + tolerance:
                best, best_total = after, total
    return best


@kernel
def find_places(
    form: PivotForm,
    limits: GrowthLimits,
    growth: GrownParents,
    bench: Bench,
    turn: Turn,
    order: Order,
    moving: Ints,
    found: Ints,
    stop: Flag,
) -> None:
    """For some columns the one behind which each should move, FRONT, STAY or UNKNOWN; nothing is moved."""
    for k in range(len(moving)):
        found[k] = UNKNOWN
        if stop[0]:
            continue
        find_touched(form, limits, growth, bench, turn, order.place, moving[k])
        if not score_touched(form, limits, growth, bench, turn, order.place, moving[k]):
            continue
        if not score_places(form, limits, bench, turn, order, moving[k]):
            continue
        after = best_place(turn, order.place, moving[k], limits.tolerance)
        found[k] = order.order[after] if after >= 0 else after


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


@kernel
def regrow(
    form: PivotForm, limits: GrowthLimits, growth: GrownParents, bench: Bench, place: Ints, child: int
) -> bool:
    """Grow a column anew at its place and keep that; False where there is no room."""
    value = grow_before(form, limits, bench, place, child, place[child], -1, False)
    if np.isnan(value):
        return False
    keep(form, limits, growth, bench, child, value)
    return True


@kernel
def regrow_all(
    form: PivotForm, limits: GrowthLimits, growth: GrownParents, bench: Bench, place: Ints, children: Ints
) -> bool:
    """Grow some columns anew; False where there was no room for one of them."""
    for child in children:  # noqa: SIM110 - numba compiles loops, no generators
        if not regrow(form, limits, growth, bench, place, child):
            return False
    return True


@kernel
def move(
    form: PivotForm,
    limits: GrowthLimits,
    growth: GrownParents,
    bench: Bench,
    turn: Turn,
    order: Order,
    moving: int,
    behind: int,
) -> float:
    """Move a column behind another (or to the FRONT) if that gains; return the gain, 0 where it does not.

    NaN where there is no room. Columns that changed are the first `turn.at[0]` of `turn.touched`.
    """
    place = order.place
    here = place[moving]
    to = 0 if behind < 0 else place[behind] + (place[behind] < here)
    touched = turn.touched
    number = 0
    for k in range(min(here, to), max(here, to) + 1):
        u = order.order[k]
        if u == moving:
            touched[number] = u
            number += 1
        elif k < here:
            if would_add(form, limits, growth, bench.row, u, moving):
                touched[number] = u
                number += 1
        elif has_added(growth, u, moving):
            touched[number] = u
            number += 1
    before = after = 0.0
    for k in range(number):
        before += growth.value[touched[k]]
    shift(order, moving, to)
    room = regrow_all(form, limits, growth, bench, place, touched[:number])
    for k in range(number):
        after += growth.value[touched[k]]
    if room and after > before + limits.tolerance:
        turn.at[0] = number
        return after - before
    turn.at[0] = 0
    shift(order, moving, here)
    regrow_all(form, limits, growth, bench, place, touched[:number])
    return 0.0 if room else np.nan


@kernel
def fill_graph(
    form: PivotForm, limits: GrowthLimits, growth: GrownParents, bench: Bench, dag: NDArray[np.bool_]
) -> None:
    """Fill in the graph that shrinkage leaves of what was grown."""
    way = bench.way
    for child in range(len(growth.depth)):
        load(form, growth, bench, child)
        shrink(form, way, child, limits.tolerance)
        for parent in way.path[: way.at[DEPTH]]:
            dag[parent, child] = True
