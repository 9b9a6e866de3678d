"""The independences that a graph implies: answers to single questions, and a list of what could be tested.

A CPDAG implies what each of its members implies, a PAG what each graph with hidden causes in its class does:
one member answers for all. Two variables without an edge are independent given some set; the sets named here
have no variable to spare.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from dagora.base.errors import GraphError
from dagora.graph.adjustment import moralise, sum_bits
from dagora.graph.any_graph import AnyGraph, require_any_graph
from dagora.graph.bit_sets import members, reach
from dagora.graph.identification import CausalDAG
from dagora.graph.separators import eliminate, nearest_separator

Names = str | Iterable[str]


@dataclass(frozen=True, slots=True)
class Independence:
    """The statement that `a` and `b` are independent given some variables.

    >>> str(Independence("rain", "wet", ("season",)))
    'rain ⊥ wet | season'
    """

    a: str
    b: str
    given: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.a} ⊥ {self.b}" + (f" | {', '.join(self.given)}" if self.given else "")


def separated(graph: AnyGraph, x: Names, y: Names, given: Names = ()) -> bool:
    """Return True if the graph implies that `x` and `y` are independent given other variables.

    Parameters
    ----------
    graph : DAG, CPDAG or PAG
        A CPDAG and a PAG stand for all graphs of their class.
    x : str or names
        One variable, or several.
    y : str or names
        Others.
    given : str or names, default none
        The variables that are held fixed.

    Returns
    -------
    bool
        False does not say that they depend on each other: only that they may.

    Examples
    --------
    >>> from dagora.graph.cpdag import CPDAG
    >>> chain = CPDAG("abc", undirected=["ab", "bc"])
    >>> separated(chain, "a", "c"), separated(chain, "a", "c", "b")
    (False, True)
    """
    require_any_graph(graph)
    start, goal, held = (
        sum_bits({graph.index(name) for name in ([names] if isinstance(names, str) else names)})
        for names in (x, y, given)
    )
    for one, other in ((start, goal), (start, held), (goal, held)):
        if one & other:
            name = graph.nodes[next(members(one & other))]
            raise GraphError(f"'{name}' is in two of the sets: separation needs three sets without overlap")
    rows = moralise(graph.causal_class.member.parents, start | goal | held)
    return not reach(rows, start, held) & goal


def implied_independences(graph: AnyGraph) -> tuple[Independence, ...]:
    """List one independence for each pair of variables without an edge.

    Parameters
    ----------
    graph : DAG, CPDAG or PAG
        All graphs of a class imply the same.

    Returns
    -------
    tuple of Independence
        Each has `a`, `b` and `given`, a set with no variable to spare, and is text such as "a ⊥ d | c".

    Examples
    --------
    >>> from dagora.graph.dag import DAG
    >>> [str(one) for one in implied_independences(DAG("abcd", ["ac", "bc", "cd"]))]
    ['a ⊥ b', 'a ⊥ d | c', 'b ⊥ d | c']
    """
    return independences_of(require_any_graph(graph), combinations(range(len(graph)), 2))


def independences_of(graph: AnyGraph, pairs: Iterable[tuple[int, int]]) -> tuple[Independence, ...]:
    """The independences of some pairs of nodes; none of a pair that is joined."""
    dag = graph.causal_class.member
    found = []
    for a, b in pairs:
        given = smallest_known(dag, a, b)
        if given is not None:
            names = tuple(graph.nodes[node] for node in members(given))
            found.append(Independence(graph.nodes[a], graph.nodes[b], names))
    return tuple(found)


def smallest_known(dag: CausalDAG, a: int, b: int) -> int | None:
    """Of the minimal separators nearest to either of two nodes the smaller one; None where none is."""
    both = 1 << a | 1 << b
    if (dag.children[a] | dag.parents[a]) >> b & 1:
        return None
    rows = moralise(dag.parents, both)
    hidden = ((1 << len(rows)) - 1) & ~dag.observed
    if hidden:
        rows = eliminate(rows, hidden)
    sets = [nearest_separator(rows, a, b), nearest_separator(rows, b, a)]
    return min((one for one in sets if one is not None), key=int.bit_count, default=None)
