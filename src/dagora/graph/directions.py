"""The directions of a learned graph: which of them the data determine, and which edges that rests on.

The data leave an edge open if some graph of the same class has it the other way. What directs the others is
the presence of further edges, as in the v-structure a → c ← b, and the absence of one between a and b. Where
one of these is weak, so is the direction: it is determined only if it stays when the weak edges are taken
away, each alone and all together, and when an absent one that would cost little is added. Where no data
show whether two variables depend on each other (`unseen`), edges around them are weak, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import FormatError
from dagora.base.phrases import some_of
from dagora.graph.cpdag import CPDAG, Graph
from dagora.graph.dag import DAG, Edge
from dagora.graph.equivalence import cpdag_matrix
from dagora.graph.interventions import directed_by_regimes, separated_by_regimes
from dagora.graph.knowledge import Knowledge

Matrix = NDArray[np.bool_]

WEAK = 3.0
"""Nats below which an edge is weak: the graph with it is less than 20 times as probable as that without."""

MOST_WORK = 100_000
"""Weak edges times edges up to which weak edges are taken away or added one by one: about a second at most.

Of more, all are taken away or added together only."""

MOST_PAIRS = 10_000
"""Pairs that no data show times edges up to which edges around them are taken away one by one."""

MOST_NAMED = 3
"""Weak edges that a sentence names."""

MOST_LISTED = 20
"""Weak edges that a direction lists where they were taken away or added together only.

A result of 4,900 edges, 2,000 of them weak, was a file of 70 MB with all of them at each direction."""


@dataclass(frozen=True)
class Directions:
    """The edges of a DAG whose direction the data do not determine."""

    open: tuple[Edge, ...] = ()
    """Edges that another DAG of the same class has the other way, as the DAG has them."""
    unsure: Mapping[Edge, tuple[Edge, ...]] = field(default_factory=dict)
    """Edges that all DAGs of the class have the same way, but only because of these weak edges.

    Those that the DAG does not have would cost little if they were added, or are among the `unseen`.
    """
    unseen: tuple[Edge, ...] = ()
    """Pairs of variables of which no data show whether they depend on each other."""
    unchecked: tuple[Edge, ...] = ()
    """Edges that all DAGs of the class have the same way, but nobody knows whether because of weak edges."""
    assumed_by: str = ""
    """The method whose assumptions, and not independences alone, direct every edge."""
    with_knowledge: bool = False
    """True if knowledge was given that may direct edges, too."""
    together: int = 0
    """The number of weak edges that were taken away or added together only, as each alone takes too long."""

    @property
    def determined_by(self) -> str:
        """Who determines the directions that are not open, with the verb."""
        return "the data and the knowledge determine" if self.with_knowledge else "the data determine"

    @property
    def undetermined(self) -> tuple[Edge, ...]:
        """All edges whose direction is not determined."""
        return (*self.open, *self.unsure, *self.unchecked)

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        unsure = [[*edge, [list(weak) for weak in weak_edges]] for edge, weak_edges in self.unsure.items()]
        content: dict[str, Any] = {"open": [list(edge) for edge in self.open], "unsure": unsure}
        if self.assumed_by:
            content["assumed_by"] = self.assumed_by
        if self.unseen:
            content["unseen"] = [list(pair) for pair in self.unseen]
        if self.unchecked:
            content["unchecked"] = [list(edge) for edge in self.unchecked]
        if self.together:
            content["together"] = self.together
        return {**content, "with_knowledge": True} if self.with_knowledge else content

    @classmethod
    def from_dict(cls, content: object, graph: DAG) -> Directions:
        """Undo `to_dict`; edges that the graph does not have are refused, but as weak ones.

        >>> chain = DAG("abc", [("a", "b"), ("b", "c")])
        >>> Directions.from_dict({"open": [["b", "c"]], "unsure": [["a", "b", [["b", "c"]]]]}, chain).unsure
        {('a', 'b'): (('b', 'c'),)}
        >>> Directions.from_dict({"open": [["c", "b"]]}, chain)
        Traceback (most recent call last):
        dagora.FormatError: "directions" must name edges of the graph, not ['c', 'b']
        """
        if not isinstance(content, dict):
            raise FormatError('"directions" must be an object with "open" and "unsure"')

        present, nodes = set(graph.edges), set(graph.nodes)

        def pairs(listed: object) -> Iterator[Edge]:
            for pair in listed if isinstance(listed, list) else [listed]:
                texts = pair if isinstance(pair, list) and all(isinstance(one, str) for one in pair) else []
                if not len(texts) == len({*texts} & nodes) == 2:
                    raise FormatError(f'"directions" must name edges of the graph, not {pair!r}')
                yield texts[0], texts[1]

        def edges(listed: object) -> Iterator[Edge]:
            for edge in pairs(listed):
                if edge not in present:
                    raise FormatError(f'"directions" must name edges of the graph, not {[*edge]!r}')
                yield edge

        unsure: dict[Edge, tuple[Edge, ...]] = {}
        entries = content.get("unsure", [])
        for entry in entries if isinstance(entries, list) else [entries]:
            if not isinstance(entry, list) or len(entry) != 3:
                raise FormatError(f'"unsure" must have triples [from, to, weak edges], not {entry!r}')
            (edge,) = edges([entry[:2]])
            unsure[edge] = tuple(pairs(entry[2]))
        return cls(
            tuple(edges(content.get("open", []))),
            unsure,
            tuple(pairs(content.get("unseen", []))),
            tuple(edges(content.get("unchecked", []))),
            str(content.get("assumed_by", "")),
            content.get("with_knowledge") is True,
            int(content.get("together", 0)),
        )

    @property
    def rest_on_unseen(self) -> dict[Edge, tuple[Edge, ...]]:
        """The unsure edges that rest on a pair of which no data show anything, with these pairs.

        >>> Directions(unsure={("a", "c"): (("a", "b"), ("a", "c"))}, unseen=(("a", "b"),)).rest_on_unseen
        {('a', 'c'): (('a', 'b'),)}
        """
        found = {edge: tuple(w for w in weak if w in self.unseen) for edge, weak in self.unsure.items()}
        return {edge: pairs for edge, pairs in found.items() if pairs}


def directions_of(
    dag: DAG,
    gains: Mapping[Edge, float],
    regimes: Collection[Collection[str]],
    knowledge: Knowledge,
    absent: Iterable[Edge] = (),
    unseen: Sequence[Edge] = (),
    *,
    checked: bool = True,
) -> Directions:
    """Find the edges whose direction the data, the interventions and the knowledge do not determine.

    `gains` are the nats that the edges add, in either direction; an edge that is not among them is not weak.
    Where they are not known at all (not `checked`), only knowledge of an edge itself determines its
    direction. Required edges are never weak. `absent` are edges that would cost little if they were added.
    `unseen` are pairs of which no data show anything: a direction rests on such a pair if it changes with an
    edge between the two, or without edges around them.

    >>> collider = DAG("abc", [("a", "c"), ("b", "c")])
    >>> directions_of(collider, {("a", "c"): 50.0, ("b", "c"): 0.1}, (), Knowledge()).unsure
    {('a', 'c'): (('b', 'c'),), ('b', 'c'): (('b', 'c'),)}
    >>> directions_of(collider, {}, (), Knowledge(), absent=[("a", "b")]).unsure
    {('a', 'c'): (('a', 'b'),), ('b', 'c'): (('a', 'b'),)}
    >>> directions_of(collider, {}, (), Knowledge(), unseen=[("b", "a")]).rest_on_unseen
    {('a', 'c'): (('b', 'a'),), ('b', 'c'): (('b', 'a'),)}
    >>> directions_of(collider, {}, (), Knowledge(required=[("a", "c")]), checked=False).unchecked
    (('b', 'c'),)
    """
    fixed = separated_by_regimes(dag.nodes, regimes) | knowledge.forbidden_matrix(dag.nodes)
    found = Unsure(dag, fixed)
    around_one_by_one = len(unseen) * len(dag.edges) <= MOST_PAIRS
    for pair in unseen:
        for changed in changed_around(dag, pair, one_by_one=around_one_by_one):
            found.note(changed, [pair], knowledge)
    weak = weak_edges(dag, gains, knowledge)
    place = {name: k for k, name in enumerate(dag.order)}
    added = {pair: pair if place[pair[0]] < place[pair[1]] else pair[::-1] for pair in absent}
    few_weak, few_added = (len(some) * len(dag.edges) <= MOST_WORK for some in (weak, added))
    for edge in weak if few_weak else ():
        found.note(with_edges(dag, [edge], present=False), [edge])
    for pair, edge in added.items() if few_added else ():
        found.note(with_edges(dag, [edge], present=True), [pair])
    if not few_added:
        found.note(with_edges(dag, added.values(), present=True), [*added][:MOST_LISTED])
    found.note_others(with_edges(dag, weak, present=False), weak if few_weak else weak[:MOST_LISTED], weak)
    unsure = {
        edge: tuple(dict.fromkeys(found.rests_on[edge])) for edge in dag.edges if edge in found.rests_on
    }
    open_ = tuple(edge for edge in dag.edges if not found.known[dag.index(edge[0]), dag.index(edge[1])])
    settled = {*open_, *unsure, *knowledge.required}
    unchecked = tuple(
        edge
        for edge in (() if checked else dag.edges)
        if edge not in settled and knowledge.allows(*reversed(edge))
    )
    together = len(weak) * (not few_weak) + len(added) * (not few_added)
    return Directions(
        open_, unsure, tuple(unseen), unchecked, with_knowledge=knowledge.directs, together=together
    )


class Unsure:
    """The edges of a DAG that its class has the same way, and what their directions rest on."""

    def __init__(self, dag: DAG, fixed: Matrix) -> None:
        self.known = directed_edges(dag.to_numpy(), fixed)
        self.rests_on: dict[Edge, list[Edge]] = {}
        self._nodes, self._fixed = dag.nodes, fixed

    def note(self, changed: Matrix, weak: Sequence[Edge], knowledge: Knowledge | None = None) -> None:
        """Note that edges which a changed graph leaves open rest on weak ones, unless knowledge directs."""
        for tail, head in self._open_in(changed):
            if knowledge is None or knowledge.allows(head, tail):
                self.rests_on.setdefault((tail, head), []).extend(weak)

    def note_others(self, changed: Matrix, weak: Sequence[Edge], all_weak: Collection[Edge]) -> None:
        """The same for edges of which nothing is noted so far; a weak edge also rests on itself."""
        itself = frozenset(all_weak)
        for edge in self._open_in(changed):
            self.rests_on.setdefault(edge, [*[edge] * (edge in itself and edge not in weak), *weak])

    def _open_in(self, changed: Matrix) -> Iterator[Edge]:
        for i, j in np.argwhere(self.known & ~directed_edges(changed, self._fixed)):
            yield self._nodes[i], self._nodes[j]


def weak_edges(dag: DAG, gains: Mapping[Edge, float], knowledge: Knowledge) -> list[Edge]:
    """The edges worth little that are not required, in the order of the graph's edges."""
    worth = {frozenset(edge): gain for edge, gain in gains.items()}
    return [
        edge
        for edge in dag.edges
        if worth.get(frozenset(edge), WEAK) < WEAK and edge not in knowledge.required
    ]


def directed_edges(dag: Matrix, fixed: Matrix) -> Matrix:
    """The edges that all DAGs of a class have the same way; of those in `fixed`, the direction is known."""
    completed = directed_by_regimes(cpdag_matrix(dag), dag, fixed)
    return completed & ~completed.T


def with_edges(dag: DAG, edges: Iterable[Edge], *, present: bool) -> Matrix:
    """The matrix of a graph with some edges put in, or taken out.

    >>> with_edges(DAG("ab"), [("a", "b")], present=True).astype(int).tolist()
    [[0, 1], [0, 0]]
    """
    matrix = dag.to_numpy()
    for tail, head in edges:
        matrix[dag.index(tail), dag.index(head)] = present
    return matrix


def changed_around(dag: DAG, pair: Edge, *, one_by_one: bool) -> Iterator[Matrix]:
    """The graph with an edge between a pair, and without those around it, all of them and each alone.

    Around the pair are edges among it and the neighbours of its first variable, which has missing values: a
    wrong guess at these values, as the missing edge of the pair would bring, shows there.

    >>> graph = DAG("abc", [("b", "c"), ("c", "a")])
    >>> [int(matrix.sum()) for matrix in changed_around(graph, ("a", "b"), one_by_one=False)]
    [3, 0]
    """
    near = {*pair, *dag.parents(pair[0]), *dag.children(pair[0])}
    around = [edge for edge in dag.edges if near.issuperset(edge)]
    first = pair if dag.order.index(pair[0]) < dag.order.index(pair[1]) else pair[::-1]
    yield with_edges(dag, [first], present=True)
    yield with_edges(dag, around, present=False)
    for edge in around if one_by_one else ():
        yield with_edges(dag, [edge], present=False)


def name_weak(
    weak: Collection[Edge],
    gains: Mapping[Edge, float],
    costs: Mapping[Edge, float],
    unseen: Collection[Edge] = (),
) -> str:
    """Name the weak edges that a direction rests on, with their nats: what they add, or would cost.

    >>> name_weak([("b", "c"), ("a", "b")], {("b", "c"): 0.08}, {("a", "b"): 1.25})
    'b — c (0.1 nats), the absence of a — b (which would cost 1.2 nats)'
    >>> name_weak([("a", "b")], {}, {}, unseen=[("a", "b")])
    'whether a — b exists (no data show it)'
    """
    named = [
        f"whether {tail} — {head} exists (no data show it)"
        if (tail, head) in unseen
        else f"the absence of {tail} — {head} (which would cost {costs[tail, head]:.1f} nats)"
        if (tail, head) in costs
        else f"{tail} — {head} ({gains.get((tail, head), 0.0):.1f} nats)"
        for tail, head in weak
    ]
    return some_of(named, MOST_NAMED)


def without_arrows(graph: Graph, edges: Collection[Edge]) -> Graph:
    """The graph with lines in the place of some arrows.

    >>> without_arrows(DAG("abc", [("a", "b"), ("b", "c")]), [("a", "b")]).undirected
    (('a', 'b'),)
    """
    if not edges:
        return graph
    lines = frozenset(edges)
    return CPDAG(graph.nodes, [edge for edge in graph.edges if edge not in lines], edges)
