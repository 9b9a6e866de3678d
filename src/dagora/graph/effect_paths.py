"""The edges of a graph on paths from x to y: causal ones, and those by which x and y go together otherwise.

A path without a collider that begins with an edge into x leads up to a common source and down to y. Two
pebbles find all such paths of a DAG: one starts at x, one at y, and the later of the two in topological order
moves to one of its parents, until they meet. As the later one moves, they never cross.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from dagora.graph.ancestral.pag import PAG
from dagora.graph.any_graph import AnyGraph
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG, Edge

Pair = frozenset[str]
State = tuple[str, str]


class EffectPaths(NamedTuple):
    """Edges on directed paths from x to y, and on other paths that make x and y dependent."""

    causal: frozenset[Pair]
    other: frozenset[Pair] = frozenset()


def effect_paths(graph: AnyGraph, x: Collection[str], y: str, *, identified: bool) -> EffectPaths:
    """The edges on paths from x to y; of a class that identifies the effect, those of one member.

    Where the effect is not identified, and in a PAG, only edges whose direction is known count.

    >>> found = effect_paths(DAG("sxmy", ["sx", "sy", "xm", "my"]), "x", "y", identified=True)
    >>> [sorted("".join(sorted(pair)) for pair in pairs) for pairs in found]
    [['mx', 'my'], ['sx', 'sy']]
    """
    if isinstance(graph, PAG):
        arrows = [(one, other) for one, sign, other in graph.marked_edges if sign == "-->"]
        return EffectPaths(_causal(arrows, x, y))
    if not identified:
        return EffectPaths(_causal(graph.edges, x, y))
    member = graph.extension() if isinstance(graph, CPDAG) else graph
    other: set[Pair] = set()
    for cause in x:
        other |= _other_paths(member, cause, y, set(x) - {cause})
    causal = _causal(member.edges, x, y)
    return EffectPaths(causal, frozenset(other) - causal)


def _causal(arrows: Iterable[Edge], x: Collection[str], y: str) -> frozenset[Pair]:
    """The edges on directed paths that meet x in their first node only."""
    kept = [(tail, head) for tail, head in arrows if head not in x and tail != y]
    below = _reach(kept, x)
    above = _reach([(head, tail) for tail, head in kept], [y])
    return frozenset(frozenset(edge) for edge in kept if edge[0] in below and edge[1] in above)


def _reach(steps: Iterable[Edge], start: Collection[str]) -> set[str]:
    """The nodes that steps lead to, those at the start included."""
    onward: dict[str, list[str]] = {}
    for tail, head in steps:
        onward.setdefault(tail, []).append(head)
    found, waiting = set(start), list(start)
    while waiting:
        for node in onward.get(waiting.pop(), ()):
            if node not in found:
                found.add(node)
                waiting.append(node)
    return found


def _other_paths(dag: DAG, x: str, y: str, without: Collection[str]) -> set[Pair]:
    """The edges on paths between x and y without a collider that begin with an edge into x."""
    place = {name: rank for rank, name in enumerate(dag.order)}
    came: dict[State, list[tuple[State, Pair]]] = {(x, y): []}
    met: list[tuple[State, Pair]] = []
    waiting = list(came)
    while waiting:
        state = waiting.pop()
        first = place[state[0]] > place[state[1]]
        moved, other = state if first else state[::-1]
        for parent in dag.parents(moved):
            step = (state, frozenset((parent, moved)))
            if parent == other:
                met += [step] if parent != x else []
            elif parent not in without:
                after = (parent, other) if first else (other, parent)
                if after not in came:
                    came[after] = []
                    waiting.append(after)
                came[after].append(step)
    found, seen = set(), set()
    while met:
        state, pair = met.pop()
        found.add(pair)
        if state not in seen:
            seen.add(state)
            met += came[state]
    return found
