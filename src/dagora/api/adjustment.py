"""`dagora.adjustment`: what to adjust for, so that observed rows tell the effect of setting a variable."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from dagora.base.phrases import some_of
from dagora.formats.registry import read_content
from dagora.graph.adjustment import Adjustment, Names
from dagora.graph.any_graph import AnyGraph, require_any_graph, without_pag
from dagora.graph.dag import DAG
from dagora.graph.directions import Directions, without_arrows
from dagora.graph.interventions import directed_by_knowledge
from dagora.graph.knowledge import Knowledge, as_knowledge
from dagora.learners.result import Result
from dagora.network.gaussian_process.network import GaussianProcessNetwork
from dagora.network.networks import DiscreteNetwork, GaussianNetwork, MixedNetwork, Network

Source = AnyGraph | Result | Network | GaussianProcessNetwork | str | Path
GIVEN = Directions()  # those of a graph that was not learned


def adjustment(
    graph: Source, x: Names, y: str, *, knowledge: Knowledge | str | Path | None = None
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
    known, directions = class_of(graph)
    if knowledge is not None:
        known = directed_by_knowledge(without_pag(known, "knowledge"), as_knowledge(knowledge, None))
    return Adjustment(known, x, y, notes_about(directions))


def class_of(source: Source) -> tuple[AnyGraph, Directions]:
    """The graph with lines where the data leave directions open, and what is known about directions."""
    content = read_content(source) if isinstance(source, str | Path) else source
    directions = GIVEN
    if isinstance(content, Result):
        graph, directions = content.graph, content.directions
    elif isinstance(content, DiscreteNetwork | GaussianNetwork | MixedNetwork):
        graph = content.graph
        if content.origin is not None and content.origin.directions is not None:
            directions = content.origin.directions
    elif isinstance(content, GaussianProcessNetwork):
        graph = content.graph
    else:
        graph = require_any_graph(content)
    return without_arrows(graph, directions.open) if isinstance(graph, DAG) else graph, directions


def notes_about(directions: Directions) -> list[str]:
    """Notes on what the directions of a learned graph rest on besides the graph."""
    if directions.assumed_by:
        return [f"every direction rests on what {directions.assumed_by} assumes"]
    notes = []
    unseen = directions.rest_on_unseen
    if weak := [f"{tail} → {head}" for tail, head in directions.unsure if (tail, head) not in unseen]:
        notes.append(f"weak evidence for or against edges alone directs {some_of(weak)}")
    if directions.unchecked:
        named = some_of([f"{tail} → {head}" for tail, head in directions.unchecked])
        notes.append(f"it is not known whether the direction of {named} rests on weak edges")
    if unseen:
        named = some_of([f"{tail} → {head}" for tail, head in unseen])
        pairs = some_of([f"{one} — {other}" for one, other in dict.fromkeys(chain(*unseen.values()))])
        notes.append(
            f"{named} would be open if there were an edge {pairs}, and no data show whether there is"
        )
    return notes
