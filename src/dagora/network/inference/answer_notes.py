"""Notes on what an answer rests on: the rows, the range of the data, and directions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dagora.base.errors import QueryError
from dagora.network.inference.answer import Answer, Density, Distribution, ask
from dagora.network.inference.class_range import range_over_class
from dagora.network.inference.question import Question, make_question, quote
from dagora.network.inference.row_uncertainty import SECONDS, spread_from_rows
from dagora.network.inference.settings import QuerySettings
from dagora.network.model import NetworkModel

FEW_ROWS = 10
"""Rows with the same evidence below which an answer warns."""

MOST_EVIDENCE = 30
"""Pieces of evidence up to which the rows that have them are estimated."""


def with_notes(
    model: NetworkModel, answer: Answer, settings: QuerySettings, seconds: float = SECONDS
) -> Answer:
    """The same answer with its uncertainty, and lines about what it rests on.

    `seconds` is the time for the uncertainty that comes from the rows.
    """
    if model.origin is None:
        given = answer.question.do
        return replace(answer, notes=("the arrows are taken as the network has them",)) if given else answer
    lines = [*extrapolation(model, answer.question), *few_rows(model, answer.question, settings)]
    if isinstance(answer, Distribution | Density):
        answer = replace(answer, row_errors=spread_from_rows(model, answer, settings, seconds))
        if answer.question.do:
            answer = replace(answer, class_range=range_over_class(model, answer, settings))
        if answer.row_errors is None:
            lines.append("how far other rows would move it was not computed")
    lines += directions(model, answer)
    return replace(answer, notes=tuple(lines))


def extrapolation(model: NetworkModel, question: Question) -> Iterator[str]:
    """A line for each value that lies outside of the data."""
    ranges = {} if model.origin is None else model.origin.ranges
    for name, value in {**question.given, **question.do}.items():
        low, high = ranges.get(name, (-float("inf"), float("inf")))
        if not low <= float(value if name in ranges else 0.0) <= high:
            yield (
                f"{name}={value} lies outside of the data ({low:g} to {high:g}): the answer is extrapolated"
            )


def few_rows(model: NetworkModel, question: Question, settings: QuerySettings) -> Iterator[str]:
    """A line about the number of rows that have the discrete evidence, if that is small."""
    known = {**question.given, **question.do}
    levels = {name: value for name, value in known.items() if name in model.levels}
    if model.origin is None or not levels or len(levels) > MOST_EVIDENCE:
        return
    expected = float(model.origin.n_rows)
    before: dict[str, str | int | float] = {}
    try:
        for name, value in levels.items():
            found = ask(model, make_question("P", {name: value}, None, before), settings)
            if not isinstance(found, Distribution) or found.estimated is not None:
                return
            expected *= next(iter(found.probabilities.values()))
            before[name] = value
    except QueryError:
        return
    if expected < FEW_ROWS:
        named = ", ".join(f"{quote(name)}={quote(value)}" for name, value in levels.items())
        added = "" if model.origin.prior.is_zero else f"; {model.origin.prior.describe()}"
        yield (
            f"about {expected:.2g} of {model.origin.n_rows:,} rows have {named}: too few to rely on{added}"
        )


def directions(model: NetworkModel, answer: Answer) -> Iterator[str]:
    """Lines about the directions on which an answer about do(...) depends."""
    nodes, origin = answer.question.do, model.origin
    if not nodes or origin is None:
        return
    if origin.directions is None:
        yield "the arrows are taken as the graph has them"
        return
    if origin.directions.assumed_by:
        yield f"the directions rest on what {origin.directions.assumed_by} assumes"
        return
    at_nodes = [edge for edge in origin.directions.open if not {*nodes}.isdisjoint(edge)]
    weak = [edge for edge in origin.directions.unsure if not {*nodes}.isdisjoint(edge)]
    if at_nodes:
        named = ", ".join(f"{tail} — {head}" for tail, head in at_nodes)
        yield f"the data do not determine the direction of {named}, on which the answer depends"
        if not isinstance(answer, Distribution | Density) or answer.class_range is None:
            yield "the range over the graphs that fit equally well was not computed"
    if weak:
        named = ", ".join(f"{tail} → {head}" for tail, head in weak)
        yield f"the direction of {named} rests on weak evidence for or against edges"
    if not at_nodes and not weak:
        who = origin.directions.determined_by
        yield f"{who} the arrows at {', '.join(nodes)}, if there are no hidden common causes"
