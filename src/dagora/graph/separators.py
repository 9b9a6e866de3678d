"""Minimal separators of an undirected graph: sets of nodes that part one node from another, none to spare.

Rows are Python integers used as bit sets. The nodes that may not be in a separator are removed beforehand,
with their neighbours joined (`eliminate`), which keeps every path.
"""

from __future__ import annotations

from collections.abc import Iterator

from dagora.graph.bit_sets import members, reach


def eliminate(rows: list[int], gone: int) -> list[int]:
    """Remove nodes; two nodes that a path over removed nodes joined are joined by an edge.

    >>> eliminate([0b010, 0b101, 0b010], 0b010)
    [4, 0, 1]
    """
    left, seen = list(rows), 0
    for node in members(gone):
        if seen >> node & 1:
            continue
        part = component(rows, node, ~gone)
        seen |= part
        around = border(rows, part)
        for other in members(around):
            left[other] |= around & ~(1 << other)
    return [0 if gone >> node & 1 else row & ~gone for node, row in enumerate(left)]


def component(rows: list[int], start: int, removed: int) -> int:
    """The nodes that are joined to one by paths without the nodes removed."""
    return reach(rows, 1 << start, removed)


def border(rows: list[int], part: int) -> int:
    """The nodes that are joined to a part, and not in it."""
    around = 0
    for node in members(part):
        around |= rows[node]
    return around & ~part


def nearest_separator(rows: list[int], a: int, b: int) -> int | None:
    """The minimal separator of a and b that is nearest to b; None where they are joined.

    >>> nearest_separator([0b0010, 0b0101, 0b1010, 0b0100], 0, 3)
    4
    """
    if rows[a] >> b & 1:
        return None
    return border(rows, component(rows, a, rows[b]))


def minimal_separators(rows: list[int], a: int, b: int) -> Iterator[int]:
    """All minimal separators of two nodes, the nearest to a first (Shen & Liang 1997).

    Each is the border of b's part when a's part, grown by one node of a known separator, is cut out.

    >>> path = [0b0010, 0b0101, 0b1010, 0b0100]
    >>> list(minimal_separators(path, 0, 3))
    [2, 4]
    """
    if rows[a] >> b & 1:
        return
    waiting = [border(rows, component(rows, b, rows[a]))]
    known = set(waiting)
    yield from waiting
    while waiting:
        separator = waiting.pop(0)
        part = component(rows, a, separator)
        for node in members(separator & ~rows[b]):
            cut = border(rows, part | 1 << node)
            found = border(rows, component(rows, b, cut))
            if found not in known:
                known.add(found)
                waiting.append(found)
                yield found
