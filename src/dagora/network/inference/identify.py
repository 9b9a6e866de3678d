"""Identification of answers about do(...): equal in all graphs that fit equally well, or what settles them.

If x is set, the joint distribution of y and z is the same in every graph of the class where no edge at x is
open on the way to one of them (Perković 2020); then so is the distribution of y given z.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dagora.base.phrases import some_of
from dagora.graph.adjustment import Adjustment, list_names, why_open
from dagora.graph.dag import Edge
from dagora.graph.directions import Directions, without_arrows
from dagora.network.inference.answer import Answer, Density, Distribution
from dagora.network.model import NetworkModel

FROM_ROWS = "`dagora effect`"


def adjustments_of(model: NetworkModel, answer: Answer) -> list[Adjustment]:
    """The effects of setting variables in the class of the graph, on each variable asked for or given."""
    question, open_ = answer.question, directions_of(model).open
    graph = without_arrows(model.graph, open_)
    return [Adjustment(graph, question.do, name) for name in (*answer.variables, *question.known_of)]


def directions_of(model: NetworkModel) -> Directions:
    """The knowledge about the directions of the graph; none is open where they were given."""
    return (None if model.origin is None else model.origin.directions) or Directions()


def deciding_edges(found: list[Adjustment]) -> tuple[Edge, ...]:
    """The edges whose direction leaves an answer open."""
    return tuple(dict.fromkeys(edge for one in found for edge in one.open_edges))


def causal_notes(model: NetworkModel, answer: Answer, found: list[Adjustment]) -> Iterator[str]:
    """Lines about the directions on which an answer about do(...) depends."""
    open_ = deciding_edges(found)
    if open_ and same_in_class(answer):
        yield "all graphs that fit equally well give this answer, if there are no hidden common causes"
    elif open_:
        yield f"not identified from these data alone: {why_open(found[0].x, open_)}"
        if not isinstance(answer, Distribution | Density) or answer.class_range is None:
            yield "the range over the graphs that fit equally well was not computed"
        yield f"{FROM_ROWS} tells the effect for each of these directions, with an interval"
        return
    yield from basis(model, answer)
    if len(found) == 1:
        yield from how_identified(found[0])


def basis(model: NetworkModel, answer: Answer) -> Iterator[str]:
    """A line about who determines the arrows that decide an answer."""
    set_ = answer.question.do
    if model.origin is None or model.origin.directions is None:
        yield f"the arrows are taken as the {'network' if model.origin is None else 'graph'} has them"
        return
    directions = model.origin.directions
    unsure = [edge for edge in directions.unsure if not {*set_}.isdisjoint(edge)]
    unseen = directions.rest_on_unseen
    weak = ", ".join(f"{tail} → {head}" for tail, head in unsure if (tail, head) not in unseen)
    unchecked = [edge for edge in directions.unchecked if not {*set_}.isdisjoint(edge)]
    if unchecked:
        named = some_of([f"{tail} → {head}" for tail, head in unchecked])
        yield f"it is not known whether the direction of {named} rests on weak edges"
    if directions.assumed_by:
        yield f"the directions rest on what {directions.assumed_by} assumes"
    elif unsure:
        for tail, head in (edge for edge in unsure if edge in unseen):
            named = ", ".join(f"{one} — {other}" for one, other in unseen[tail, head])
            yield f"the direction of {tail} → {head} rests on whether {named} exists, which no data show"
        if weak:
            yield f"the direction of {weak} rests on weak evidence for or against edges"
    elif not unchecked:
        yield f"{directions.determined_by} the arrows that decide it, if there are no hidden common causes"


def how_identified(found: Adjustment) -> Iterator[str]:
    """A line about the way from rows to an answer that the graph identifies."""
    if found.verdict == "zero":
        yield f"no directed path leads from {' or '.join(found.x)} to {found.y}: nothing changes there"
    elif found.verdict == "adjustment":
        best = list_names(found.optimal or ())
        yield f"identified by adjusting for {best} ({FROM_ROWS} does it from rows, with an interval)"
    else:
        yield "identified, but by no one adjustment set"


def same_in_class(answer: Answer) -> bool:
    """Return True if the smallest and the largest value over the class are known and agree."""
    if not isinstance(answer, Distribution | Density) or answer.class_range is None:
        return False
    return bool(np.allclose(*answer.class_range, rtol=1e-9, atol=1e-12))
