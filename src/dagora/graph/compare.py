"""Compare graphs of any kind with the truth."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, overload

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


class EdgeDifferences(NamedTuple):
    """The edges in which an estimate differs from the truth, as both have them."""

    missing: tuple[str, ...]
    extra: tuple[str, ...]
    reversed: tuple[str, ...]

    def to_dict(self) -> dict[str, list[str]]:
        """JSON form."""
        return {"missing": list(self.missing), "extra": list(self.extra), "reversed": list(self.reversed)}


def list_differences(estimate: Graph, truth: Graph) -> EdgeDifferences:
    """List the edges that only one graph has, and those that the estimate marks differently.

    >>> from dagora.graph.dag import DAG
    >>> list_differences(DAG("abc", ["ba", "ac"]), DAG("abc", ["ab", "bc"]))
    EdgeDifferences(missing=('b → c',), extra=('a → c',), reversed=('b → a',))
    """
    own, true = edges_by_pair(estimate), edges_by_pair(truth)
    return EdgeDifferences(
        tuple(edge for pair, edge in true.items() if pair not in own),
        tuple(edge for pair, edge in own.items() if pair not in true),
        tuple(edge for pair, edge in own.items() if pair in true and edge != true[pair]),
    )


def edges_by_pair(graph: Graph) -> dict[frozenset[str], str]:
    """Each edge by its two nodes, as text."""
    directed = {frozenset(edge): f"{edge[0]} → {edge[1]}" for edge in graph.edges}
    return directed | {frozenset(edge): " — ".join(sorted(edge)) for edge in graph.undirected}
