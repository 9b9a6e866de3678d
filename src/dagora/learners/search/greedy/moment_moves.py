"""The best single-edge change of a graph with short lists of gains, and what it does to the graph.

The moves are those of `moves`, also where gains are equal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.graph.bit_kernels import ONE, flip_bit, has_bit
from dagora.kernels.decorators import borrowing, kernel
from dagora.learners.search.greedy.moment_gains import (
    Bits,
    ClimbedGraph,
    ClimbLimits,
    Ints,
    Room,
    list_additions,
    refresh,
    slot_of,
)
from dagora.learners.search.greedy.moves import ADD, DELETE, NONE, REVERSE, edge_hash, is_tabu
from dagora.scores.local_score import PivotForm

# Masks that add up the bits of a word in pairs, fours and eights, and all eights.
PAIRS, FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
EIGHTS, ONES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


@borrowing
def turn_closes_cycle(graph: ClimbedGraph, tail: int, head: int) -> bool:
    """Return True if a path other than the edge itself leads from tail to head."""
    for slot in range(graph.sizes[head]):  # noqa: SIM110 - a kernel
        if has_bit(graph.above[graph.parents[head, slot]], tail):
            return True
    return False


@borrowing
def leads_to_tabu(tabu: Bits, graph_hash: np.uint64, kind: int, tail: int, head: int) -> bool:
    """Return True if a move leads to a graph whose hash is in the tabu list."""
    if len(tabu) == 0:
        return False
    after = graph_hash ^ edge_hash(tail, head)
    if kind == REVERSE:
        after ^= edge_hash(head, tail)
    return is_tabu(tabu, after)


@borrowing
def skip_cycles(
    form: PivotForm, graph: ClimbedGraph, limits: ClimbLimits, room: Room, child: int, bound: float
) -> None:
    """Pass over the first additions of a child that close cycles, as long as they gain at least `bound`."""
    while True:
        at = graph.first[child]
        if at == graph.length[child]:
            if graph.is_whole[child] or graph.gain[child, at - 1] < bound:
                return
            list_additions(form, graph, limits, room, child, True)
        elif graph.gain[child, at] >= bound and has_bit(graph.above[graph.added[child, at]], child):
            graph.first[child] = at + 1
        else:
            return


@borrowing
def best_change(
    form: PivotForm,
    graph: ClimbedGraph,
    limits: ClimbLimits,
    room: Room,
    tolerance: float,
    graph_hash: np.uint64,
    tabu: Bits,
) -> tuple[float, int, int, int]:
    """Gain, kind, tail and head of the best legal move; kind NONE where there is none.

    Of moves within the tolerance of the best, the first by tail, then by head.
    """
    found, kind, tail, head = -np.inf, NONE, -1, -1
    bound = -np.inf
    for attempt in range(2):
        # First find the largest gain, then the first move that comes within the tolerance of it.
        settled = attempt == 1
        for child in range(len(graph.sizes)):
            at = graph.first[child]
            if at == graph.length[child] or graph.gain[child, at] >= bound:
                skip_cycles(form, graph, limits, room, child, bound)
            for k in range(graph.first[child], graph.length[child]):
                gain, new = graph.gain[child, k], graph.added[child, k]
                if gain < bound or (not settled and gain <= found):
                    break
                if has_bit(graph.above[new], child) or leads_to_tabu(tabu, graph_hash, ADD, new, child):
                    continue
                if not settled:
                    found, bound = gain, gain
                    break
                if kind == NONE or (new, child) < (tail, head):
                    found, kind, tail, head = gain, ADD, new, child
            if graph.best_change[child] < bound or graph.best_change[child] == -np.inf:
                continue
            for slot in range(graph.sizes[child]):
                parent = graph.parents[child, slot]
                for way in range(DELETE, NONE):
                    gain = graph.deletion[child, slot] if way == DELETE else graph.turn[child, slot]
                    if gain == -np.inf or gain < bound or (not settled and gain <= found):
                        continue
                    if settled and kind != NONE and (parent, child) >= (tail, head):
                        continue
                    if way == REVERSE and turn_closes_cycle(graph, parent, child):
                        continue
                    if leads_to_tabu(tabu, graph_hash, way, parent, child):
                        continue
                    if settled:
                        found, kind, tail, head = gain, way, parent, child
                    else:
                        found, bound = gain, gain
        if found == -np.inf:
            break
        bound = found - tolerance
    return found, kind, tail, head


@borrowing
def unite_parents(graph: ClimbedGraph, child: int) -> None:
    """Set the ancestors of a node to its parents and theirs."""
    above = graph.above[child]
    for word in range(len(above)):
        above[word] = 0
    for slot in range(graph.sizes[child]):
        parent = graph.parents[child, slot]
        for word in range(len(above)):
            above[word] |= graph.above[parent, word]
        above[parent >> 6] |= ONE << np.uint64(parent & 63)


@borrowing
def count_bits(words: Bits) -> int:
    """The number of bits that are set."""
    total = 0
    for word in words:
        pairs = word - ((word >> np.uint64(1)) & PAIRS)
        fours = (pairs & FOURS) + ((pairs >> np.uint64(2)) & FOURS)
        eights = (fours + (fours >> np.uint64(4))) & EIGHTS
        total += int((eights * ONES) >> np.uint64(56))
    return total


@borrowing
def link(graph: ClimbedGraph, tail: int, head: int) -> None:
    """Add an edge; there must be room for it."""
    graph.parents[head, graph.sizes[head]] = tail
    graph.sizes[head] += 1
    flip_bit(graph.below[tail], head)
    for y in range(len(graph.sizes)):
        if y == head or has_bit(graph.above[y], head):
            above = graph.above[y]
            for word in range(len(above)):
                above[word] |= graph.above[tail, word]
            above[tail >> 6] |= ONE << np.uint64(tail & 63)


@kernel
def unlink(
    form: PivotForm, graph: ClimbedGraph, limits: ClimbLimits, room: Room, tail: int, head: int
) -> None:
    """Remove an edge. Additions that closed a cycle through it are no longer passed over."""
    last = graph.sizes[head] - 1
    for slot in range(slot_of(graph, tail, head), last):
        graph.parents[head, slot] = graph.parents[head, slot + 1]
    graph.sizes[head] = last
    flip_bit(graph.below[tail], head)
    columns = len(graph.sizes)
    below = np.empty(columns, dtype=np.int64)
    ranks = np.empty(columns, dtype=np.int64)
    number = 0
    for y in range(columns):
        if y == head or has_bit(graph.above[y], head):
            below[number] = y
            ranks[number] = count_bits(graph.above[y])  # a node has more ancestors than each of them
            number += 1
    for k in np.argsort(ranks[:number]):
        unite_parents(graph, below[k])
    for x in range(columns):
        if x == tail or has_bit(graph.above[tail], x):
            graph.first[x] = 0
            if graph.is_legal_only[x]:
                list_additions(form, graph, limits, room, x, False)


@kernel
def make_change(
    form: PivotForm, graph: ClimbedGraph, limits: ClimbLimits, room: Room, kind: int, tail: int, head: int
) -> bool:
    """Add, delete or reverse an edge; False, and nothing is done, where there is no room for a parent."""
    growing = head if kind == ADD else tail
    if kind != DELETE and graph.sizes[growing] == graph.parents.shape[1]:
        return False
    if kind == ADD:
        link(graph, tail, head)
    else:
        unlink(form, graph, limits, room, tail, head)
    if kind == REVERSE:
        link(graph, head, tail)
    refresh(form, graph, limits, room, head)
    if kind == REVERSE:
        refresh(form, graph, limits, room, tail)
    return True


@borrowing
def refresh_some(
    form: PivotForm, graph: ClimbedGraph, limits: ClimbLimits, room: Room, start: int, stop: int
) -> None:
    """Compute the gains of some children; the scores `own` of all must be known."""
    for child in range(start, stop):
        refresh(form, graph, limits, room, child)


@borrowing
def begin(graph: ClimbedGraph, order: Ints, scores: NDArray[np.float64]) -> None:
    """Fill in ancestors, children and scores of a graph whose parents stand there already."""
    for child in order:
        unite_parents(graph, child)
        for slot in range(graph.sizes[child]):
            flip_bit(graph.below[graph.parents[child, slot]], child)
    for child in range(len(order)):
        graph.own[child] = scores[child]
