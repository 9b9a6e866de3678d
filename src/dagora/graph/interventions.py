"""The equivalence class under interventions, which determine directions that observation alone cannot.

A regime is a set of rows in which some variables, its targets, were set from outside. If exactly one end of
an edge is a target of some regime, the edge's direction shows there: setting the child cuts the edge, setting
the parent does not. Two graphs are equivalent under interventions exactly if they have the same skeleton, the
same v-structures, and these edges in the same direction (Hauser & Bühlmann 2012, theorem 10, for a family of
regimes in which no variable is a target always). Meek's rules find the directions that follow from these.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import KnowledgeError
from dagora.graph.any_graph import AnyGraph, without_pag
from dagora.graph.cpdag import CPDAG, Graph
from dagora.graph.dag import DAG, Edge
from dagora.graph.equivalence import consistent_extension, cpdag_matrix, meek_closure, v_structures
from dagora.graph.knowledge import Knowledge

Matrix = NDArray[np.bool_]


def separated_by_regimes(nodes: Sequence[str], regimes: Iterable[Collection[str]]) -> Matrix:
    """[i, j]: whether in some regime exactly one of both nodes was set, so that an edge shows its direction.

    >>> separated_by_regimes("abc", [{"a"}]).astype(int)
    array([[0, 1, 1],
           [1, 0, 0],
           [1, 0, 0]])
    """
    apart = np.zeros((len(nodes), len(nodes)), dtype=np.bool_)
    for targets in regimes:
        is_set = np.array([node in targets for node in nodes], dtype=np.bool_)
        apart |= is_set[:, None] != is_set[None, :]
    return apart


def directed_by_regimes(completed: Matrix, dag: Matrix, apart: Matrix) -> Matrix:
    """Completed graph of a DAG's class under interventions, from the completed graph of its class without.

    >>> chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> directed_by_regimes(cpdag_matrix(chain), chain, separated_by_regimes("abc", [{"b"}])).astype(int)
    array([[0, 1, 0],
           [0, 0, 1],
           [0, 0, 0]])
    """
    shown = apart & completed & completed.T & ~dag
    return meek_closure(completed & ~shown) if shown.any() else completed


def interventional_cpdag(
    dag: DAG, regimes: Iterable[Collection[str]], knowledge: Knowledge | None = None
) -> CPDAG:
    """Completed graph of all DAGs that cannot be told from `dag`, although some variables were set.

    Edges whose other direction the knowledge forbids are directed too, with all that follows from them.

    >>> chain = DAG("abc", [("a", "b"), ("b", "c")])
    >>> interventional_cpdag(chain, [{"c"}]).undirected
    (('a', 'b'),)
    >>> interventional_cpdag(chain, [], Knowledge(tiers=[["a"], ["b"]])).undirected
    ()
    """
    matrix = dag.to_numpy()
    fixed = separated_by_regimes(dag.nodes, regimes)
    if knowledge is not None:
        fixed |= knowledge.forbidden_matrix(dag.nodes)
    return CPDAG.from_numpy(directed_by_regimes(cpdag_matrix(matrix), matrix, fixed), dag.nodes)


def directed_by_knowledge(graph: Graph, knowledge: Knowledge) -> Graph:
    """The graph with every undirected edge directed whose direction follows from knowledge.

    >>> directed_by_knowledge(CPDAG("abc", [], ["ab", "bc"]), Knowledge(tiers=[["a"], ["b"]])).edges
    (('a', 'b'), ('b', 'c'))
    >>> directed_by_knowledge(DAG("ab", ["ba"]), Knowledge(tiers=[["a"], ["b"]]))
    Traceback (most recent call last):
    dagora.KnowledgeError: the knowledge forbids b → a, which the graph has
    >>> directed_by_knowledge(CPDAG("abc", [], ["ab", "bc"]), Knowledge(tiers=[["a", "c"], ["b"]]))
    Traceback (most recent call last):
    dagora.KnowledgeError: the knowledge contradicts the graph: ...
    """
    matrix, forbidden = graph.to_numpy(), knowledge.forbidden_matrix(graph.nodes)
    absent = np.argwhere(knowledge.required_matrix(graph.nodes) & ~(matrix | matrix.T))
    if len(absent):
        tail, head = (graph.nodes[i] for i in absent[0])
        raise KnowledgeError(f"the knowledge requires {tail} → {head}, which the graph does not have")
    left = matrix & ~forbidden
    lost = np.argwhere(matrix & ~(left | left.T))
    if len(lost):
        tail, head = (graph.nodes[i] for i in lost[0])
        raise KnowledgeError(f"the knowledge forbids {tail} → {head}, which the graph has")
    if isinstance(graph, DAG):
        return graph
    member, agreeing = consistent_extension(matrix), consistent_extension(left)
    if member is not None and (agreeing is None or v_structures(agreeing) != v_structures(member)):
        raise KnowledgeError(
            "the knowledge contradicts the graph: no DAG that the graph stands for agrees with it"
        )
    return CPDAG.from_numpy(left if member is None else meek_closure(left), graph.nodes)


def with_knowledge(graph: AnyGraph, known: Knowledge) -> AnyGraph:
    """The same where there is any knowledge, which goes with no PAG.

    >>> with_knowledge(CPDAG("ab", [], ["ab"]), Knowledge(tiers=[["a"], ["b"]])).edges
    (('a', 'b'),)
    """
    if known.is_empty:
        return graph
    return directed_by_knowledge(without_pag(graph, "knowledge"), known)


def shown_by_interventions(graph: AnyGraph, regimes: Sequence[Collection[str]]) -> set[Edge]:
    """The edges of a graph whose direction shows through interventions only.

    >>> sorted(shown_by_interventions(DAG("abc", [("a", "b"), ("b", "c")]), [{"c"}]))
    [('b', 'c')]
    """
    if not any(regimes):
        return set()
    plain = without_pag(graph, "what interventions show")
    dag = plain.extension() if isinstance(plain, CPDAG) else plain
    without = {frozenset(edge) for edge in CPDAG.from_dag(dag).undirected}
    return {edge for edge in interventional_cpdag(dag, regimes).edges if frozenset(edge) in without}
