"""The graphs that questions take: one in memory, a result, a network, or a file of any of these."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from dagora.base.phrases import some_of
from dagora.formats.registry import read_content
from dagora.graph.any_graph import AnyGraph, require_any_graph
from dagora.graph.dag import DAG
from dagora.graph.directions import Directions, without_arrows
from dagora.learners.result import Result
from dagora.network.gaussian_process.network import GaussianProcessNetwork
from dagora.network.networks import DiscreteNetwork, GaussianNetwork, MixedNetwork, Network

GraphSource = AnyGraph | Result | Network | GaussianProcessNetwork | str | Path
GIVEN = Directions()  # those of a graph that was not learned


def class_of(source: GraphSource) -> tuple[AnyGraph, Directions]:
    """The graph with lines where the data leave directions open, and what is known about directions."""
    content = read_source(source)
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


def notes_on_directions(directions: Directions) -> list[str]:
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


def with_start(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options in which the graph to start from is a graph, where a result, a network or a file was given.

    >>> from dagora import DAG, Result
    >>> with_start({"start": Result(DAG("ab", ["ab"]), "tabu", "finished", "")})["start"].edges
    (('a', 'b'),)
    """
    start = options.get("start")
    if start is None:
        return dict(options)
    content = read_source(start) if isinstance(start, str | Path) else start
    return {**options, "start": getattr(content, "graph", content)}


def read_source(source: GraphSource) -> AnyGraph | Result | Network | GaussianProcessNetwork:
    """The content of a file; anything else as it is."""
    return read_content(source) if isinstance(source, str | Path) else source
