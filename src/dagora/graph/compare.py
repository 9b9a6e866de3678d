"""Compare graphs of any kind with the truth."""

from __future__ import annotations

from collections.abc import Iterable
from typing import overload

from dagora.graph.ancestral.pag import PAG
from dagora.graph.any_graph import AnyGraph
from dagora.graph.cpdag import Graph
from dagora.graph.dag import Edge
from dagora.graph.metrics import Comparison
from dagora.graph.metrics import compare as compare_graphs
from dagora.graph.pag_metrics import PAGComparison, compare_pags


@overload
def compare(estimate: Graph, truth: Graph, dropped: Iterable[Edge] | None = None) -> Comparison: ...


@overload
def compare(
    estimate: AnyGraph, truth: AnyGraph, dropped: Iterable[Edge] | None = None
) -> Comparison | PAGComparison: ...


def compare(
    estimate: AnyGraph, truth: AnyGraph, dropped: Iterable[Edge] | None = None
) -> Comparison | PAGComparison:
    """Compare an estimated graph with the true one; nodes are matched by name.

    Parameters
    ----------
    estimate : DAG, CPDAG or PAG
        The learned graph.
    truth : DAG, CPDAG or PAG
        The true graph. A PAG is compared mark by mark with a PAG, or with the PAG of a true DAG in which
        nodes that the estimate lacks are hidden.
    dropped : list of edges, optional
        Edges that were removed from the estimate to break cycles; `raw` compares the estimate with them.

    Returns
    -------
    Comparison or PAGComparison
        Missing, extra and reversed edges, and measures such as the structural Hamming distance (`shd`).

    Examples
    --------
    >>> from dagora.graph.dag import DAG
    >>> truth = DAG("abc", [("a", "b"), ("b", "c")])
    >>> comparison = compare(DAG("abc", [("b", "a"), ("b", "c")]), truth)
    >>> comparison.dag.shd, comparison.skeleton.shd, comparison.cpdag.shd
    (1, 0, 0)
    >>> compare(truth, truth, dropped=[("c", "a")]).raw.shd
    1
    >>> compare(PAG("ab", [("a", "o->", "b")]), DAG("abh", [("h", "a"), ("h", "b")])).marks.to_dict()
    {'right': 1, 'open': 0, 'wrong': 1}
    """
    if isinstance(estimate, PAG) or isinstance(truth, PAG):
        return compare_pags(estimate, truth)
    return compare_graphs(estimate, truth, dropped)
