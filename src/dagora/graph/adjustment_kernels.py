"""Kernels that judge the adjustment sets of one graph in another: one walk over the edges per treatment.

A walk from the treatment t is in one of four states at each node it comes to:

CAUSAL   over arrows away from t, past no node of the set
BELOW    further along such a walk, behind a node of the set: the set holds what t changes on the way
DOWN     over another walk that is open given the set, last along an arrow
UP       the same, last against an arrow

A node that is reached in one of the last three states is not validly adjusted for by the set. No walk returns
to t (Henckel, Würtzen & Weichwald 2024).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import borrowing

Integers = NDArray[np.int32]
Marks = NDArray[np.uint8]
# The lists of neighbours in `starts`: of a DAG of the class, and of the class itself.
PARENTS, CHILDREN, ARROWS_IN, LINES, ONWARD = range(5)
PARENT, ANCESTOR, OPTIMAL = range(3)
CAUSAL, BELOW, DOWN, UP = 1, 2, 4, 8
# Rows of `marks`: about the treatment in the guess and in the truth, and one set's.
GUESSED, GUESSED_OPEN, TRUE, TRUE_OPEN, CHOSEN, BETWEEN, BELOW_T, SEEN = range(8)


@borrowing
def spread_further(
    starts: Integers, nodes: Integers, kind: int, origin: int, found: Marks, stack: Integers, top: int
) -> None:
    """Mark all nodes that lists of one kind lead to from the first `top` nodes of the stack."""
    while top:
        top -= 1
        node = stack[top]
        for k in range(starts[kind, node], starts[kind, node + 1]):
            other = nodes[k]
            if other != origin and not found[other]:
                found[other] = 1
                stack[top] = other
                top += 1


@borrowing
def spread(starts: Integers, nodes: Integers, kind: int, origin: int, found: Marks, stack: Integers) -> None:
    """Mark all nodes that lists of one kind lead to from `origin`, which itself is never entered."""
    stack[0] = origin
    spread_further(starts, nodes, kind, origin, found, stack, 1)


@borrowing
def find_open(starts: Integers, nodes: Integers, origin: int, found: Marks, stack: Integers) -> None:
    """Mark the nodes of possibly directed walks that begin with an undirected edge at `origin`."""
    top = 0
    for k in range(starts[LINES, origin], starts[LINES, origin + 1]):
        found[nodes[k]] = 1
        stack[top] = nodes[k]
        top += 1
    spread_further(starts, nodes, ONWARD, origin, found, stack, top)


@borrowing
def enter(
    starts: Integers,
    nodes: Integers,
    kind: int,
    node: int,
    state: int,
    origin: int,
    seen: Marks,
    stack: Integers,
    top: int,
) -> int:
    """Put the neighbours of a node on the stack in a state that is new to them."""
    for k in range(starts[kind, node], starts[kind, node + 1]):
        other = nodes[k]
        if other != origin and not seen[other] & state:
            seen[other] |= state
            stack[top] = other * 16 + state
            top += 1
    return top


@borrowing
def walk(starts: Integers, nodes: Integers, origin: int, chosen: Marks, seen: Marks, stack: Integers) -> None:
    """Write the states in which walks from `origin` reach each node, given the set `chosen`."""
    for node in range(len(seen)):
        seen[node] = 0
    top = enter(starts, nodes, CHILDREN, origin, CAUSAL, origin, seen, stack, 0)
    top = enter(starts, nodes, PARENTS, origin, UP, origin, seen, stack, top)
    while top:
        top -= 1
        node, state = stack[top] >> 4, stack[top] & 15
        if state == BELOW:
            top = enter(starts, nodes, CHILDREN, node, BELOW, origin, seen, stack, top)
        elif state == UP:
            if not chosen[node]:
                top = enter(starts, nodes, PARENTS, node, UP, origin, seen, stack, top)
                top = enter(starts, nodes, CHILDREN, node, DOWN, origin, seen, stack, top)
        elif chosen[node]:
            top = enter(starts, nodes, PARENTS, node, UP, origin, seen, stack, top)
            if state == CAUSAL:
                top = enter(starts, nodes, CHILDREN, node, BELOW, origin, seen, stack, top)
        else:
            top = enter(starts, nodes, CHILDREN, node, state, origin, seen, stack, top)


@borrowing
def choose_optimal(
    starts: Integers,
    nodes: Integers,
    origin: int,
    outcome: int,
    below: Marks,
    between: Marks,
    chosen: Marks,
    stack: Integers,
) -> None:
    """Mark the parents of the nodes on causal paths from `origin` to `outcome`, without these nodes."""
    for node in range(len(chosen)):
        between[node] = 0
        chosen[node] = 0
    between[outcome] = 1
    stack[0] = outcome
    top = 1
    while top:
        top -= 1
        node = stack[top]
        for k in range(starts[PARENTS, node], starts[PARENTS, node + 1]):
            other = nodes[k]
            if below[other]:
                if not between[other]:
                    between[other] = 1
                    stack[top] = other
                    top += 1
            elif other != origin:
                chosen[other] = 1


@borrowing
def count_mistakes(
    true_starts: Integers,
    true_nodes: Integers,
    starts: Integers,
    nodes: Integers,
    rule: int,
    marks: Marks,
    stack: Integers,
) -> int:
    """Count the ordered pairs (t, y) for which what the guess says about the effect is wrong in the truth.

    It says that the effect is zero, that the class leaves it open, or which set to adjust for.
    """
    size = marks.shape[1]
    mistakes = 0
    for t in range(size):
        for row in range(SEEN):
            for node in range(size):
                marks[row, node] = 0
        spread(starts, nodes, ONWARD, t, marks[GUESSED], stack)
        find_open(starts, nodes, t, marks[GUESSED_OPEN], stack)
        spread(true_starts, true_nodes, ONWARD, t, marks[TRUE], stack)
        find_open(true_starts, true_nodes, t, marks[TRUE_OPEN], stack)
        if rule == PARENT:
            for k in range(starts[ARROWS_IN, t], starts[ARROWS_IN, t + 1]):
                marks[CHOSEN, nodes[k]] = 1
        elif rule == ANCESTOR:
            spread(starts, nodes, ARROWS_IN, t, marks[CHOSEN], stack)
        else:
            spread(starts, nodes, CHILDREN, t, marks[BELOW_T], stack)
        if rule != OPTIMAL:
            walk(true_starts, true_nodes, t, marks[CHOSEN], marks[SEEN], stack)
        for y in range(size):
            if y == t:
                continue
            zero = marks[CHOSEN, y] if rule == PARENT else not marks[GUESSED, y]
            if zero:
                mistakes += marks[TRUE, y]
            elif marks[GUESSED_OPEN, y] or marks[TRUE_OPEN, y]:
                mistakes += marks[GUESSED_OPEN, y] != marks[TRUE_OPEN, y]
            else:
                if rule == OPTIMAL:
                    choose_optimal(starts, nodes, t, y, marks[BELOW_T], marks[BETWEEN], marks[CHOSEN], stack)
                    walk(true_starts, true_nodes, t, marks[CHOSEN], marks[SEEN], stack)
                mistakes += (marks[SEEN, y] & (BELOW | DOWN | UP)) != 0
    return mistakes
