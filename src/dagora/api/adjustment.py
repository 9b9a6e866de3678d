"""`dagora.adjustment`: what to adjust for, so that observed rows tell an effect, of one pair or of all."""

from __future__ import annotations

from pathlib import Path

from dagora.api.graph_source import GraphSource, class_of, notes_on_directions
from dagora.graph.adjustment import Adjustment, Names
from dagora.graph.adjustment_table import AdjustmentTable
from dagora.graph.any_graph import AnyGraph
from dagora.graph.interventions import with_knowledge
from dagora.graph.knowledge import Knowledge
from dagora.graph.knowledge_files import as_knowledge


def adjustment(
    graph: GraphSource, x: Names, y: str, *, knowledge: Knowledge | str | Path | None = None
) -> Adjustment:
    """Tell whether observed rows determine the effect of setting `x` on `y`, and what to adjust for.

    Parameters
    ----------
    graph : DAG, CPDAG, PAG, Result, network or file
        The arrows of a DAG are taken as causes. A CPDAG stands for all DAGs that the data cannot tell apart,
        and so does a result or a fitted network, which know what directions the data leave open. A PAG allows
        for hidden common causes; all others assume that there are none.
    x : str or names
        What is set: one variable, or several at once.
    y : str
        The outcome.
    knowledge : Knowledge or file, optional
        Directs edges that the graph leaves open.

    Returns
    -------
    Adjustment
        `verdict` is "zero", "adjustment", "g-formula" or "not identified". `optimal` is the set of least
        variance, `minimal` one of which nothing can be left out, `minimal_sets()` are all such, `is_valid(z)`
        judges any other, `open_edges` leave the effect open, and `to_text()` says all of it in words.

    Examples
    --------
    >>> from dagora.graph.cpdag import CPDAG
    >>> lines = [("severity", "drug"), ("severity", "death"), ("drug", "death")]
    >>> graph = CPDAG(["severity", "drug", "death"], [], lines)
    >>> adjustment(graph, "drug", "death").verdict
    'not identified'
    >>> in_time = Knowledge(tiers=[["severity"], ["drug"], ["death"]])
    >>> adjustment(graph, "drug", "death", knowledge=in_time).optimal
    ('severity',)
    """
    known, notes = known_class(graph, knowledge)
    return Adjustment(known, x, y, notes)


def all_adjustments(
    graph: GraphSource, *, knowledge: Knowledge | str | Path | None = None
) -> AdjustmentTable:
    """Tell for all ordered pairs of nodes what to adjust for, as `adjustment` does for one.

    Parameters
    ----------
    graph : DAG, CPDAG, PAG, Result, network or file
        The arrows of a DAG are taken as causes; what a CPDAG, a result or a fitted network leaves open stays
        open. A PAG allows for hidden common causes.
    knowledge : Knowledge or file, optional
        Directs edges that the graph leaves open.

    Returns
    -------
    AdjustmentTable
        `.pairs` has an `Adjustment` for each; `.to_text()` and `.to_csv()` have a line for each.

    Examples
    --------
    >>> from dagora.graph.dag import DAG
    >>> found = all_adjustments(DAG("abc", [("a", "b"), ("a", "c"), ("b", "c")]))
    >>> [(one.x, one.y, one.optimal) for one in found.pairs if one.verdict == "adjustment"]
    [(('a',), 'b', ()), (('a',), 'c', ()), (('b',), 'c', ('a',))]
    """
    return AdjustmentTable.of(*known_class(graph, knowledge))


def known_class(graph: GraphSource, knowledge: Knowledge | str | Path | None) -> tuple[AnyGraph, list[str]]:
    """The graph with what knowledge directs, and notes on what its directions rest on."""
    known, directions = class_of(graph)
    return with_knowledge(
        known, as_knowledge(knowledge, None).edges_only("an adjustment")
    ), notes_on_directions(directions)
