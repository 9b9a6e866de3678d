"""Paths that Zhang's rules ask for: uncovered ones, and discriminating ones.

A path is uncovered if no two nodes with one between them are joined. The search goes over steps (the last two
nodes), breadth first, which finds a shortest walk. A walk may pass a node twice; only then all simple paths
are tried, one after another.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from dagora.graph.ancestral.end_marks import EndMarks

Step = Callable[[int, int], bool]


def uncovered_path(
    marks: EndMarks, begin: tuple[int, int], goal: int, allowed: Step, forbidden_last: int | None = None
) -> list[int] | None:
    """An uncovered path whose first two nodes are `begin`, to `goal`, along steps that are `allowed`.

    The node before the goal is not joined to `forbidden_last`, if one is given.
    """

    def ends(before: int, node: int) -> bool:
        return node == goal and (forbidden_last is None or not marks.are_joined(before, forbidden_last))

    came_from: dict[tuple[int, int], tuple[int, int] | None] = {begin: None}
    waiting = deque([begin])
    walk: list[int] = []
    while waiting and not walk:
        before, node = waiting.popleft()
        if ends(before, node):
            step: tuple[int, int] | None = (before, node)
            while step is not None:
                walk.append(step[1])
                step = came_from[step]
            walk = [*reversed([*walk, begin[0]])]
        elif node != goal:
            for after in marks.near(node):
                step = (node, after)
                if (
                    after not in {before, begin[0]}
                    and step not in came_from
                    and not marks.are_joined(before, after)
                    and allowed(node, after)
                ):
                    came_from[step] = (before, node)
                    waiting.append(step)
    if len(set(walk)) == len(walk):
        return walk or None
    return simple_path(marks, [*begin], goal, allowed, ends)


def simple_path(
    marks: EndMarks, path: list[int], goal: int, allowed: Step, ends: Callable[[int, int], bool]
) -> list[int] | None:
    """An uncovered path that begins with `path` and passes no node twice: depth first."""
    before, node = path[-2:]
    if node == goal:
        return path if ends(before, node) else None
    for after in marks.near(node):
        if after not in path and not marks.are_joined(before, after) and allowed(node, after):
            found = simple_path(marks, [*path, after], goal, allowed, ends)
            if found is not None:
                return found
    return None


def may_be_directed(marks: EndMarks) -> Step:
    """Return a test of steps that may be directed: no arrow at the first node, no tail at the second."""

    def is_allowed(one: int, other: int) -> bool:
        return not marks.is_arrow(other, one) and not marks.is_tail(one, other)

    return is_allowed


def circles_only(marks: EndMarks) -> Step:
    """Return a test of steps along edges with circles at both ends."""

    def is_allowed(one: int, other: int) -> bool:
        return marks.is_circle(other, one) and marks.is_circle(one, other)

    return is_allowed


def discriminating_path(marks: EndMarks, a: int, b: int, c: int) -> list[int] | None:
    """A shortest path d, …, a, b, c that discriminates for b.

    Then d and c are not joined, and the nodes between d and b are colliders on the path and cause c.
    """
    if not marks.is_arrow(b, a) or not marks.is_directed(a, c):
        return None
    after = {a: b}
    waiting = deque([a])
    while waiting:
        node = waiting.popleft()
        for other in marks.near(node):
            if other in {b, c} or other in after or not marks.is_arrow(other, node):
                continue
            after[other] = node
            if not marks.are_joined(other, c):
                path = [other]
                while path[-1] != b:
                    path.append(after[path[-1]])
                return [*path, c]
            if marks.is_arrow(node, other) and marks.is_directed(other, c):
                waiting.append(other)
            else:
                del after[other]  # from another node, it may be a collider
    return None
