"""d-separation: which independences a DAG implies.

A path is open given Z if each collider on it is in Z or has a descendant in Z, and no other node on it is in
Z. X and Y are d-separated by Z if no path between them is open. The test searches from X over pairs of a node
and the direction in which it was reached, each at most once, so it takes time linear in the edges
(Bayes-ball, Shachter 1998).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import GraphError
from dagora.graph.cpdag import Graph
from dagora.graph.dag import DAG

Names = str | Iterable[str]


def d_separated(dag: DAG, x: Names, y: Names, given: Names = ()) -> bool:
    """Return True if every path between `x` and `y` is blocked by `given`; each is a name or several.

    >>> sprinkler = DAG(["rain", "sprinkler", "wet"], [("rain", "wet"), ("sprinkler", "wet")])
    >>> d_separated(sprinkler, "rain", "sprinkler"), d_separated(sprinkler, "rain", "sprinkler", ["wet"])
    (True, False)
    """
    start, goal, observed = (_positions(dag, names) for names in (x, y, given))
    for one, other in ((start, goal), (start, observed), (goal, observed)):
        if one & other:
            name = dag.nodes[min(one & other)]
            raise GraphError(f"'{name}' is in two of the sets: d-separation needs three sets without overlap")
    return not goal & _reachable(dag.to_numpy(), start, observed)


def markov_blanket(dag: DAG, node: str) -> frozenset[str]:
    """Parents, children and the children's other parents: given these, the node is independent of the rest.

    >>> sorted(markov_blanket(DAG("abcd", ["ac", "bc", "cd"]), "a"))
    ['b', 'c']
    """
    blanket = moral_graph(dag)[dag.index(node)]
    return frozenset(dag.nodes[i] for i in np.flatnonzero(blanket))


def moral_graph(graph: Graph) -> NDArray[np.bool_]:
    """Symmetric matrix of the moral graph: the skeleton, with the parents of each node joined.

    All members of an equivalence class have the same one, and their CPDAG too: two nodes that are not joined
    have a common child in all members or in none.

    >>> moral_graph(DAG("abc", ["ac", "bc"])).astype(int)
    array([[0, 1, 1],
           [1, 0, 1],
           [1, 1, 0]])
    """
    matrix = graph.to_numpy()
    moral = matrix | matrix.T
    arrows = matrix & ~matrix.T
    for child in range(len(graph)):
        parents = np.flatnonzero(arrows[:, child])
        moral[np.ix_(parents, parents)] = True
    np.fill_diagonal(moral, val=False)
    return moral


def _positions(dag: DAG, names: Names) -> set[int]:
    """Positions of one name or several."""
    return {dag.index(name) for name in ([names] if isinstance(names, str) else names)}


def _reachable(matrix: NDArray[np.bool_], start: set[int], observed: set[int]) -> set[int]:
    """All unobserved nodes with an open path from `start`."""
    children: list[list[int]] = [[] for _ in range(len(matrix))]
    parents: list[list[int]] = [[] for _ in range(len(matrix))]
    for tail, head in np.argwhere(matrix).tolist():
        children[tail].append(head)
        parents[head].append(tail)
    visited: set[tuple[int, bool]] = set()
    walk = [(node, True) for node in start]  # True: arrived from a child, against the arrows
    while walk:
        node, upwards = walk.pop()
        if (node, upwards) in visited:
            continue
        visited.add((node, upwards))
        if node not in observed:
            walk.extend((child, False) for child in children[node])
        # A path goes on to the parents from an unobserved node reached from a child (no collider there), and
        # from an observed node reached from a parent (an observed collider, or a descendant of one).
        if upwards != (node in observed):
            walk.extend((parent, True) for parent in parents[node])
    return {node for node, _ in visited if node not in observed}
