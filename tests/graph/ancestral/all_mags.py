"""All maximal ancestral graphs over few nodes with the independences of each, by plain enumeration.

Nothing here is shared with the code that is tested, but for the codes of marks.
"""

from functools import cache
from itertools import chain, combinations, product

import numpy as np

ARROW, TAIL = 2, 3
# Marks at the first and at the second node of a pair.
EDGES = (None, (TAIL, ARROW), (ARROW, TAIL), (ARROW, ARROW), (TAIL, TAIL))


def subsets(members):
    return chain.from_iterable(combinations(members, size) for size in range(len(members) + 1))


def ancestors(marks):
    """For each node, the set of nodes that a directed path leads from, with itself."""
    size = len(marks)
    reach = np.eye(size, dtype=int) + ((marks == ARROW) & (marks == TAIL).T)
    for _ in range(size):
        reach = np.minimum(1, reach @ reach)
    return [set(np.flatnonzero(reach[:, j]).tolist()) for j in range(size)], reach


def is_ancestral(marks):
    _, reach = ancestors(marks)
    arrows = marks == ARROW
    if (arrows & (reach.T == 1)).any():  # an arrow at j on i – j, and j leads to i
        return False
    lines = ((marks == TAIL) & (marks == TAIL).T).any(axis=0)
    return not (lines & arrows.any(axis=0)).any()


def connected(marks, above, x, y, given):
    """Whether a path from x to y is open: colliders cause something given, other nodes are not given."""
    open_colliders = set().union(*(above[z] for z in given))
    waiting = [(x, node) for node in np.flatnonzero(marks[x]).tolist()]
    seen = set(waiting)
    while waiting:
        before, node = waiting.pop()
        if node == y:
            return True
        for after in np.flatnonzero(marks[node]).tolist():
            collider = marks[before, node] == marks[after, node] == ARROW
            passes = node in open_colliders if collider else node not in given
            if after != x and passes and (node, after) not in seen:
                seen.add((node, after))
                waiting.append((node, after))
    return False


def independences(marks):
    """All (x, y, given) with x < y that the graph separates."""
    above, _ = ancestors(marks)
    size = len(marks)
    return frozenset(
        (x, y, given)
        for x, y in combinations(range(size), 2)
        for given in subsets([z for z in range(size) if z not in {x, y}])
        if not connected(marks, above, x, y, given)
    )


@cache
def classes(size, *, selection):
    """All classes of MAGs: the independences, with the marks that all members have in common (1 elsewhere)."""
    members = all_members(size)
    if not selection:
        members = {
            said: [marks for marks in found if not ((marks == TAIL) & (marks == TAIL).T).any()]
            for said, found in members.items()
        }
    return {
        said: np.where(np.all(np.array(found) == found[0], axis=0), found[0], 1).astype(np.int8)
        for said, found in members.items()
        if found
    }, members


@cache
def all_members(size):
    """All MAGs, by their independences."""
    pairs = list(combinations(range(size), 2))
    members = {}
    for edges in product(EDGES, repeat=len(pairs)):
        marks = np.zeros((size, size), dtype=np.int8)
        for (i, j), ends in zip(pairs, edges, strict=True):
            if ends:
                marks[j, i], marks[i, j] = ends
        if not is_ancestral(marks):
            continue
        said = independences(marks)
        if {(x, y) for x, y, _ in said} == {pair for pair in pairs if not marks[pair]}:  # it is maximal
            members.setdefault(said, []).append(marks)
    return members
