"""Ranges of numbers, asked for or known: P(x > 1), P(a < x < b | y > 2), P(level=yes | x > 1).

Given a configuration of discrete nodes, a continuous node is normal: the range has a probability in closed
form, and the configurations are summed over. Where two ranges are of nodes that depend on each other even
then, and for the distribution of a continuous node given a range, weighted samples estimate the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import QueryError
from dagora.base.wording import option
from dagora.network.inference.answer import Answer, Distribution, Ends, Interval, SampleEstimate, uncertainty
from dagora.network.inference.components import Component
from dagora.network.inference.estimating import estimate, estimate_of, require_one_kind
from dagora.network.inference.exact import impossible_evidence, joint_table, reduce_question
from dagora.network.inference.factors import Factor, MemoryLimit
from dagora.network.inference.problem import NodeEvidence, set_up
from dagora.network.inference.question import (
    Question,
    check_known,
    check_targets,
    check_value,
    check_variable,
)
from dagora.network.inference.ranges import Range, codes_within
from dagora.network.inference.settings import QuerySettings
from dagora.network.inference.weighting import WeightedRows, draw_weighted_rows
from dagora.network.model import NetworkModel

Array = NDArray[np.float64]

UNCORRELATED = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class RangeChance(Answer):
    """The probability of an event with ranges of numbers in it."""

    probability: float
    standard_error: float | None = None
    """Standard error of the simulation, where it was estimated."""
    row_error: float | None = field(default=None, kw_only=True)
    """Posterior standard deviation: the uncertainty that comes from the rows, given the graph."""
    row_interval: Ends | None = field(default=None, kw_only=True)
    """The ends of an interval that has a posterior probability of 95 %, given the graph."""

    def lines(self) -> list[str]:
        """The probability."""
        return [f"{self.probability:.6g}" + uncertainty(self.row_interval, self.standard_error, None)]

    def content(self) -> dict[str, Any]:
        """The probability and its uncertainty."""
        found: dict[str, Any] = {"probability": self.probability}
        if self.standard_error is not None:
            found["standard_error"] = self.standard_error
        if self.row_error is not None and self.row_interval is not None:
            found |= {
                "row_error": self.row_error,
                "row_low": self.row_interval[0],
                "row_high": self.row_interval[1],
            }
        return found

    def numbers(self) -> Array:
        """The probability."""
        return np.array([self.probability])

    def listed(self) -> list[tuple[str, float, float | None]]:
        """The probability, and its standard error where it was estimated."""
        return [("", self.probability, self.standard_error)]

    def with_row_uncertainty(self, errors: Array, interval: Interval) -> RangeChance:
        """The same answer with what comes from the rows."""
        low, high = (float(np.clip(end[0], 0, 1)) for end in interval)
        return replace(self, row_error=float(errors[0]), row_interval=(low, high))


def in_ranges(model: NetworkModel, question: Question, settings: QuerySettings) -> Answer:
    """Answer a question with ranges of numbers; known ranges are of continuous variables."""
    if question.kind == "MAP":
        raise QueryError("MAP needs values as evidence, and no ranges of numbers: give a value")
    known = check_known(model, question.given, question.do)
    asked = check_targets(model, question, known)
    limits = {check_variable(model, name): range_ for name, range_ in question.given_within.items()}
    codes = event_codes(model, question)
    if not codes and not question.within:
        require_one_kind(model, asked)
    everything = [*asked, *limits]
    no_form = any(name not in model.levels for name in asked) and not question.within
    if no_form and settings.method == "exact":
        raise QueryError(
            f"the distribution of '{asked[0]}' given a range has no closed form: "
            f"{option('method', 'sampling')} estimates it"
        )
    by_samples = settings.method == "sampling" or no_form
    if by_samples or (settings.method == "auto" and set_up(model, everything, known).open_choices):
        return in_ranges_estimated(model, question, asked, known, codes, settings)
    ranges = {**limits, **{name: one for name, one in question.within.items() if name not in model.levels}}
    found = weights_over(model, asked, ranges, limits, known, settings.limits)
    if found is None:
        if settings.method == "exact":
            raise QueryError(
                "ranges of numbers that depend on each other have no closed form: "
                f"{option('method', 'sampling')} estimates it"
            )
        return in_ranges_estimated(model, question, asked, known, codes, settings)
    discrete, weights, inside = found
    if question.within:
        event = inside[np.ix_(*(codes.get(name, range(len(model.levels[name]))) for name in discrete))]
        return RangeChance(question, asked, None, float(min(1.0, event.sum())))
    others = tuple(axis for axis, name in enumerate(discrete) if name not in asked)
    order = [name for name in discrete if name in asked]
    table = weights.sum(axis=others).transpose([order.index(name) for name in asked])
    return Distribution(question, asked, None, {name: model.levels[name] for name in asked}, table)


def event_codes(model: NetworkModel, question: Question) -> dict[str, list[int]]:
    """The levels of each discrete variable that an event allows."""
    codes = {}
    for name, value in question.event.items():
        if check_variable(model, name) not in model.levels:
            raise QueryError(
                f"'{name}' is continuous: a single value has no probability; ask for a range such as "
                f"P({name} > {value})"
            )
        codes[name] = [int(check_value(model, name, value))]
    for name, range_ in question.within.items():
        if check_variable(model, name) in model.levels:
            codes[name] = codes_within(model, name, range_)
    return codes


def weights_over(
    model: NetworkModel,
    asked: Sequence[str],
    ranges: Mapping[str, Range],
    limits: Mapping[str, Range],
    known: NodeEvidence,
    memory: MemoryLimit,
) -> tuple[tuple[str, ...], Array, Array] | None:
    """Discrete variables, their distribution given all that is known, and the part inside all ranges.

    None where two ranges are of nodes that depend on each other in some configuration.
    """
    reduced = reduce_question(model, [*asked, *limits], known, memory)
    used = [component for component in reduced.components if any(name in component.nodes for name in ranges)]
    if any(depend(component, [name for name in ranges if name in component.nodes]) for component in used):
        return None
    levels = (name for name in asked if name in model.levels)
    discrete = tuple(dict.fromkeys([*levels, *(name for component in used for name in component.discrete)]))
    weights = joint_table(model, reduced, discrete, known, memory)
    inside = np.ones_like(weights)
    for component in used:
        for place, name in enumerate(component.nodes):
            if name in ranges:
                share = ranges[name].chances(
                    component.means[:, place], component.covariances[:, place, place]
                )
                sizes = [reduced.problem.sizes[one] for one in component.discrete]
                aligned = Factor(component.discrete, share.reshape(sizes)).align(discrete)
                if name in limits:
                    weights = weights * aligned
                else:
                    inside = inside * aligned
    total = weights.sum()
    if not total > 0:
        raise no_such_rows(model, limits, known)
    return discrete, weights / total, weights / total * inside


def depend(component: Component, names: Sequence[str]) -> bool:
    """Return True if some of the nodes are correlated in a configuration."""
    places = [component.nodes.index(name) for name in names]
    part = component.covariances[:, places][:, :, places]
    scale = np.sqrt(np.einsum("kii->ki", part))
    off = np.abs(part) * (1 - np.eye(len(places)))
    return bool((off > UNCORRELATED * scale[:, :, None] * scale[:, None, :]).any())


def no_such_rows(model: NetworkModel, limits: Mapping[str, Range], known: NodeEvidence) -> QueryError:
    """The error for ranges of probability zero."""
    if not limits:
        return impossible_evidence(model, known)
    named = ", ".join(range_.written(name) for name, range_ in limits.items())
    return QueryError(f"the evidence has probability zero, so there is no answer: {named}")


def in_ranges_estimated(
    model: NetworkModel,
    question: Question,
    asked: Sequence[str],
    known: NodeEvidence,
    codes: Mapping[str, Sequence[int]],
    settings: QuerySettings,
) -> Answer:
    """Estimate the answer from weighted samples, of which those in the known ranges count."""
    everything = list(dict.fromkeys([*asked, *question.given_within]))
    drawn = draw_weighted_rows(model, everything, known, settings.samples, settings.seed)
    kept = drawn.weights * inside_all(drawn, question.given_within)
    if not kept.sum() > 0:
        named = ", ".join(range_.written(name) for name, range_ in question.given_within.items())
        raise QueryError(f"none of {settings.samples:,} samples has {named}: take more {option('samples')}")
    rows = WeightedRows(drawn.columns, kept / kept.sum())
    if not question.within:
        return estimate(model, question, asked, known, settings, rows)
    numbers = {name: range_ for name, range_ in question.within.items() if name not in model.levels}
    event = inside_all(rows, numbers)
    for name, allowed in codes.items():
        event = event * np.isin(rows.columns[name].astype(np.int64), list(allowed))
    return chance_of(question, tuple(asked), rows, event, settings)


def inside_all(rows: WeightedRows, ranges: Mapping[str, Range]) -> Array:
    """One where a row lies in all ranges, else zero."""
    found = np.ones(len(rows.weights))
    for name, range_ in ranges.items():
        values = rows.columns[name]
        above = values >= range_.low if range_.with_low else values > range_.low
        below = values <= range_.high if range_.with_high else values < range_.high
        found = found * (above & below)
    return found


def chance_of(
    question: Question, asked: tuple[str, ...], rows: WeightedRows, event: Array, settings: QuerySettings
) -> RangeChance:
    """The share of weighted rows in which an event happens, with its standard error."""
    share, error = rows.mean_and_error(event)
    found: SampleEstimate = estimate_of(rows, settings)
    # A share that no sample has, or all have, may still be off by the weight of one more sample.
    error = max(error, 1 / (rows.effective + 1))
    return RangeChance(question, asked, found, share, error if found.reliable else None)
