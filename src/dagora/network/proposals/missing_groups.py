"""Groups of missing values that must be drawn jointly, given a graph.

A missing value without observed descendants is drawn last, by forward sampling. The others fall into groups:
two are in one group if they are in one family (a node and its parents) that depends on observed values. Given
the observed values, groups are independent, so rows with different patterns share the work on a group that
they have in common.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.graph.dag import DAG

Rows = NDArray[np.int64]
Key = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class MissingGroup:
    """Missing nodes of some rows, and the nodes whose families depend on them."""

    members: tuple[str, ...]
    families: tuple[str, ...]
    rows: Rows


@dataclass(frozen=True)
class MissingGroups:
    """All groups; the rows in which a node is drawn last; the rows in which a node's family is complete."""

    groups: tuple[MissingGroup, ...]
    last: dict[str, Rows]
    whole: dict[str, Rows]


def find_missing_groups(graph: DAG, seen: dict[str, NDArray[np.bool_]]) -> MissingGroups:
    """Find the groups of rows; `seen` has the rows in which each node was observed.

    >>> seen = {node: np.array([node == "b", node != "a", node == "a"]) for node in "abc"}
    >>> found = find_missing_groups(DAG("abc", [("a", "b"), ("b", "c")]), seen)
    >>> [(group.members, group.families, group.rows.tolist()) for group in found.groups]
    [(('a',), ('a', 'b'), [0, 1])]
    >>> {node: rows.tolist() for node, rows in found.last.items()}
    {'b': [2], 'c': [0, 2]}
    """
    masks = np.stack([seen[node] for node in graph])
    patterns, place = np.unique(masks, axis=1, return_inverse=True)
    sorted_rows = np.argsort(place.ravel(), kind="stable")
    starts = np.searchsorted(place.ravel()[sorted_rows], np.arange(patterns.shape[1] + 1))
    parents = {node: graph.parents(node) for node in graph}
    children = {node: graph.children(node) for node in graph}
    rank = {node: i for i, node in enumerate(graph.order)}
    groups: dict[Key, list[Rows]] = {}
    last: dict[str, list[Rows]] = {}
    for k, pattern in enumerate(patterns.T):
        rows = sorted_rows[starts[k] : starts[k + 1]]
        gone = {node for node, here in zip(graph, pattern.tolist(), strict=True) if not here}
        unheard: set[str] = set()
        for node in sorted(gone, key=rank.__getitem__, reverse=True):
            if all(child in unheard for child in children[node]):
                unheard.add(node)
                last.setdefault(node, []).append(rows)
        for key in split_groups(gone - unheard, unheard, parents, children, rank):
            groups.setdefault(key, []).append(rows)
    return MissingGroups(
        tuple(MissingGroup(*key, np.sort(np.concatenate(parts))) for key, parts in groups.items()),
        {node: np.sort(np.concatenate(last[node])) for node in graph.order if node in last},
        {
            node: np.flatnonzero(np.logical_and.reduce([seen[one] for one in (node, *parents[node])]))
            for node in graph
        },
    )


def split_groups(
    gone: set[str],
    unheard: set[str],
    parents: dict[str, tuple[str, ...]],
    children: dict[str, tuple[str, ...]],
    rank: dict[str, int],
) -> list[Key]:
    """Split the missing nodes of a row into groups, each with the families that depend on it."""
    found: list[Key] = []
    left = set(gone)
    for first in sorted(gone, key=rank.__getitem__):
        if first not in left:
            continue
        members, families, waiting = {first}, set(), [first]
        while waiting:
            node = waiting.pop()
            for head in (node, *(child for child in children[node] if child not in unheard)):
                families.add(head)
                near = {one for one in (head, *parents[head]) if one in gone} - members
                members |= near
                waiting += near
        left -= members
        ordered = (tuple(sorted(part, key=rank.__getitem__)) for part in (members, families))
        found.append((next(ordered), next(ordered)))
    return found
