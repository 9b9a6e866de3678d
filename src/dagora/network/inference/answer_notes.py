"""Notes on what an answer rests on: the rows, the range of the data, and directions."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace

from dagora.base.errors import QueryError
from dagora.data.columns.study_design import describe_choice, is_case_column
from dagora.graph.separation import d_separated
from dagora.network.inference.answer import Answer, Density, Distribution, Explanation
from dagora.network.inference.asking import ask
from dagora.network.inference.class_range import range_over_class
from dagora.network.inference.contrast import AnswerContrast
from dagora.network.inference.identify import adjustments_of, causal_notes
from dagora.network.inference.question import Question, make_question, quote
from dagora.network.inference.row_uncertainty import SECONDS, uncertainty_from_rows
from dagora.network.inference.settings import QuerySettings
from dagora.network.model import NetworkModel
from dagora.network.origin import Origin

FEW_ROWS = 10
"""Rows with the same evidence below which an answer warns."""

NOT_COMPUTED = "how far other rows would move it was not computed"

MOST_EVIDENCE = 30
"""Pieces of evidence up to which the rows that have them are estimated."""


def with_notes(
    model: NetworkModel, answer: Answer, settings: QuerySettings, seconds: float = SECONDS
) -> Answer:
    """The same answer with its uncertainty, and lines about what it rests on.

    `seconds` is the time for the uncertainty that comes from the rows.
    """
    if isinstance(answer, AnswerContrast):
        return contrast_with_notes(model, answer, settings, seconds)
    set_ = adjustments_of(model, answer) if answer.question.do else []
    if model.origin is None:
        return replace(answer, notes=tuple(causal_notes(model, answer, set_))) if set_ else answer
    lines = [
        *extrapolation(model, answer.question),
        *skip_notes(model.origin, answer.question),
        *choice_notes(model, answer),
        *few_rows(model, answer.question, settings),
    ]
    if not isinstance(answer, Explanation):
        rows = uncertainty_from_rows(model, answer, settings, seconds)
        if rows is None:
            lines.append(NOT_COMPUTED)
        else:
            answer = answer.with_row_uncertainty(rows.errors, rows.interval)
    if set_ and isinstance(answer, Distribution | Density):
        answer = replace(answer, class_range=range_over_class(model, answer, settings, set_))
    lines += causal_notes(model, answer, set_) if set_ else ()
    return replace(answer, notes=tuple(lines))


def contrast_with_notes(
    model: NetworkModel, answer: AnswerContrast, settings: QuerySettings, seconds: float
) -> Answer:
    """A contrast with its uncertainty, and the lines of both answers."""
    first, second = (with_notes(model, one, settings, 0.0) for one in (answer.first, answer.second))
    lines = [line for line in dict.fromkeys([*first.notes, *second.notes]) if line != NOT_COMPUTED]
    if model.origin is None:
        return replace(answer, notes=tuple(lines))
    rows = uncertainty_from_rows(model, answer, settings, seconds)
    if rows is None:
        return replace(answer, notes=(*lines, NOT_COMPUTED))
    return replace(answer.with_row_uncertainty(rows.errors, rows.interval), notes=tuple(lines))


def extrapolation(model: NetworkModel, question: Question) -> Iterator[str]:
    """A line for each value, range or measurement that lies outside of the data."""
    ranges = {} if model.origin is None else dict(model.origin.ranges)
    for name, (least, most, written) in known_numbers(question, ranges.keys()).items():
        low, high = ranges[name]
        if least > high or most < low:
            yield f"{written} lies outside of the data ({low:g} to {high:g}): the answer is extrapolated"


def known_numbers(question: Question, names: Set[str]) -> dict[str, tuple[float, float, str]]:
    """Between which numbers some of these variables are known to lie, and how that was said.

    A measurement leaves two sd to either side.
    """
    found = {
        name: (float(value), float(value), f"{name}={value}")
        for name, value in {**question.given, **question.do}.items()
        if name in names
    }
    for name, range_ in question.given_within.items():
        found[name] = range_.low, range_.high, range_.written(name)
    for name in names & question.likelihood.keys():
        value, sd = (question.likelihood[name][part] for part in ("value", "sd"))
        found[name] = value - 2 * sd, value + 2 * sd, f"the measurement {name}={value:g}"
    return {name: known for name, known in found.items() if name in names}


def skip_notes(origin: Origin, question: Question) -> Iterator[str]:
    """A line for each variable of a question that was seen only where another one has a certain value."""
    known = {**question.given, **question.do}
    for column, where, value in origin.skipped:
        if column in {*question.of, *known} and str(known.get(where)) != value:
            yield (
                f"{quote(column)} was seen only where {quote(where)}={quote(value)}: elsewhere the answer is "
                "extrapolated"
            )


def choice_notes(model: NetworkModel, answer: Answer) -> Iterator[str]:
    """A line for each variable by which rows seem to be chosen, where that bears on the answer."""
    known = {*answer.question.given, *answer.question.do}
    for name, levels in model.levels.items():
        if name not in known and is_case_column(name, levels):
            asked = answer.variables
            if name in asked or not d_separated(model.graph, name, asked, known):
                yield describe_choice(name, levels)


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
