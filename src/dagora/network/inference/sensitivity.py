"""The sensitivity of an answer to single parameters, and to single pieces of evidence.

Of a table, P(event | evidence) is a quotient of two linear functions of any one parameter θ, if the others of
its row keep their proportions:  (P(event, evidence) + a (θ' − θ)) / (P(evidence) + c (θ' − θ)). The slopes a
and c come from one elimination per variable, which leaves its own table out (Laskey 1995; Chan & Darwiche
2002; van der Gaag, Renooij & Coupé 2007). So the answer at both ends of a range and the derivative are exact.

Where the network has regressions, or evidence is soft, the question is asked again for each end of a range,
and the derivative is a central difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError, QueryError
from dagora.network.inference.answer import Answer
from dagora.network.inference.arithmetic import Overspan
from dagora.network.inference.asking import ask
from dagora.network.inference.chance import event_codes
from dagora.network.inference.exact import impossible_evidence
from dagora.network.inference.factors import Factor, MemoryLimit, Product, find_order
from dagora.network.inference.problem import NodeEvidence, relevant_nodes
from dagora.network.inference.question import Question, check_known, check_targets, quote, quote_name
from dagora.network.inference.row_uncertainty import nodes_behind
from dagora.network.inference.sensitivity_result import EvidenceInfluence, ParameterInfluence, Sensitivity
from dagora.network.inference.settings import QuerySettings
from dagora.network.inference.soft_evidence import as_values
from dagora.network.model import NetworkModel

Array = NDArray[np.float64]

SPREAD = 0.1
"""Share of its value by which a parameter is moved down and up."""

MOST_ASKED = 2000
"""Parameters for which a question is asked again: some seconds."""

STEP = 1e-4
"""Step of a central difference, as a share of the range of a parameter."""

UNMOVED = 1e-12


@dataclass(frozen=True, eq=False)
class RowSlopes:
    """P(event, evidence) and P(evidence), in one scale, with their slopes in each parameter of a table."""

    event: float
    evidence: float
    event_slopes: Array
    evidence_slopes: Array

    def answers(self, change: Array) -> Array:
        """The answer after each parameter changed by so much."""
        with np.errstate(divide="ignore", invalid="ignore"):
            above, below = (
                self.event + self.event_slopes * change,
                self.evidence + self.evidence_slopes * change,
            )
            return np.where(below > UNMOVED * self.evidence, above / below, np.nan)

    def derivatives(self) -> Array:
        """The derivative of the answer in each parameter."""
        rise = self.event_slopes * self.evidence - self.evidence_slopes * self.event
        return np.asarray(rise / self.evidence**2)


def sensitivity_of(
    model: NetworkModel, question: Question, settings: QuerySettings, spread: float = SPREAD
) -> Sensitivity:
    """The answer with each parameter moved by a share of its value, and without each piece of evidence."""
    if isinstance(spread, bool) or not 0 < spread < 1:
        raise OptionError(option="spread", value=spread, must="be a number between 0 and 1, such as 0.1")
    answer = ask(model, question, settings)
    value = number_of(answer)
    if answer.estimated is not None:
        raise QueryError(
            "sensitivity needs exact answers, and this one is estimated: give the numbers on which discrete "
            "variables depend"
        )
    sides = [replace(question, against=None), *([question.against[1]] if question.against else [])]
    closed = all(has_closed_form(model, side, settings) for side in sides)
    if closed:
        found = closed_form(model, question, settings, spread)
    else:
        found = asked_again(model, question, settings, spread)
    moved = [one for one in found if one.swing(value) > UNMOVED]
    moved.sort(key=lambda one: -one.swing(value))
    evidence = tuple(without_each(model, question, settings))
    return Sensitivity(answer, value, spread, tuple(moved), evidence, closed)


def number_of(answer: Answer) -> float:
    """The one number of an answer; refused where there are several."""
    listed = answer.listed()
    if len(listed) != 1:
        name = answer.variables[0]
        raise QueryError(
            f"sensitivity is that of one number, and {answer.question} has {len(listed)}: ask for an event, "
            f"such as P({quote_name(name)}=LEVEL | ...)"
        )
    return listed[0][1]


def has_closed_form(model: NetworkModel, question: Question, settings: QuerySettings) -> bool:
    """Return True for a chance that depends on tables alone, given evidence that does not depend on them."""
    if question.soft or not (question.event or question.within):
        return False
    plain, asked = as_values(model, question, settings.limits)
    if asked.given_within:
        return False
    known = check_known(plain, asked.given, asked.do)
    relevant = relevant_nodes(plain, check_targets(plain, asked, known), known)
    return all(node in plain.tables or node in known.do for node in relevant)


def closed_form(
    model: NetworkModel, question: Question, settings: QuerySettings, spread: float
) -> list[ParameterInfluence]:
    """The influence of every parameter of the tables that bear on a question."""
    first = dict(table_influences(model, replace(question, against=None), settings, spread))
    if question.against is None:
        return list(first.values())
    sign, other = question.against
    second = dict(table_influences(model, other, settings, spread))
    values = [number_of(ask(model, one, settings)) for one in (replace(question, against=None), other)]
    found = []
    for key in dict.fromkeys([*first, *second]):
        one, two = first.get(key), second.get(key)
        known = one or two
        if known is None:
            continue
        left = one or replace(known, answer_low=values[0], answer_high=values[0], derivative=0.0)
        right = two or replace(known, answer_low=values[1], answer_high=values[1], derivative=0.0)
        found.append(compared(left, right, sign, values[0], values[1]))
    return found


def compared(
    left: ParameterInfluence, right: ParameterInfluence, sign: str, first: float, second: float
) -> ParameterInfluence:
    """The influence of one parameter on the difference or ratio of two answers."""
    if sign == "-":
        return replace(
            left,
            answer_low=left.answer_low - right.answer_low,
            answer_high=left.answer_high - right.answer_high,
            derivative=left.derivative - right.derivative,
        )
    rise = (left.derivative * second - first * right.derivative) / second**2
    low, high = (
        above / below if below else float("nan")
        for above, below in ((left.answer_low, right.answer_low), (left.answer_high, right.answer_high))
    )
    return replace(left, answer_low=low, answer_high=high, derivative=rise)


def table_influences(
    model: NetworkModel, question: Question, settings: QuerySettings, spread: float
) -> Iterator[tuple[tuple[object, ...], ParameterInfluence]]:
    """Each parameter of the relevant tables with its influence on the chance of an event."""
    plain, asked = as_values(model, question, settings.limits)
    known = check_known(plain, asked.given, asked.do)
    targets = check_targets(plain, asked, known)
    codes = {node: int(value) for node, value in known.values.items()}
    event = []
    for name, allowed in event_codes(plain, asked).items():
        inside = np.zeros(len(plain.levels[name]))
        inside[allowed] = 1.0
        event.append(Factor((name,), inside))
    nodes = [node for node in relevant_nodes(plain, targets, known) if node not in known.do]
    factors = {
        node: Factor((*plain.parents[node], node), plain.distributions[node]).restrict(codes)
        for node in nodes
    }
    for node in nodes:
        if node not in model.parents or len(plain.levels[node]) == 1:
            continue  # evidence that stands in for a variable is no parameter
        slopes = slopes_of(plain, node, factors, event, codes, known, settings.limits)
        table = plain.distributions[node]
        low, high = table * (1 - spread), np.minimum(1.0, table * (1 + spread))
        below, above, rise = slopes.answers(low - table), slopes.answers(high - table), slopes.derivatives()
        for cell in np.ndindex(table.shape):
            if np.isfinite(below[cell]) and np.isfinite(above[cell]):
                yield (
                    (node, *cell),
                    ParameterInfluence(
                        name_of(plain, node, cell),
                        float(table[cell]),
                        float(low[cell]),
                        float(high[cell]),
                        float(below[cell]),
                        float(above[cell]),
                        float(rise[cell]),
                    ),
                )


def slopes_of(
    model: NetworkModel,
    node: str,
    factors: Mapping[str, Factor],
    event: list[Factor],
    codes: Mapping[str, int],
    known: NodeEvidence,
    limits: MemoryLimit,
) -> RowSlopes:
    """The chances of event and evidence, and how they rise with each parameter of a node's table."""
    family = (*model.parents[node], node)
    free = [name for name in family if name not in codes]
    others = [factor for name, factor in factors.items() if name != node]
    place = tuple(codes.get(name, slice(None)) for name in family)
    table = model.distributions[node]
    gradients, logs = [], []
    for parts in (others, [*others, *event]):
        found, log_scale = product_over(parts, free, model, limits)
        gradient = np.zeros(table.shape)
        gradient[place] = found
        gradients.append(gradient)
        logs.append(log_scale)
    shift = logs[0]
    if shift == -np.inf:
        raise impossible_evidence(model, known)
    evidence, both = gradients[0], gradients[1] * np.exp(logs[1] - shift)
    total = float((table * evidence).sum())
    if not total > 0:
        raise impossible_evidence(model, known)
    chance = float((table * both).sum())
    return RowSlopes(chance, total, row_slopes(table, both), row_slopes(table, evidence))


def product_over(
    parts: list[Factor], free: list[str], model: NetworkModel, limits: MemoryLimit
) -> tuple[Array, float]:
    """The product of factors, summed over all variables but some; and the logarithm of its scale."""
    sizes = {name: len(levels) for name, levels in model.levels.items()}
    hidden = {name for factor in parts for name in factor.variables} - set(free)
    whole = Factor(tuple(free), np.ones([sizes[name] for name in free]))
    order = find_order([*parts, whole], sizes, [hidden], limits)

    def over(*, logs: bool) -> tuple[Array, float]:
        product = Product(parts, logs=logs)
        for name in order:
            product.sum_out(name)
        remaining = product.over(free)
        if logs and not product.is_impossible:  # `over` divides by the largest entry
            total = sum(factor.align(free) for factor in product.factors) if product.factors else np.zeros(1)
            most = float(np.max(total))
            return np.broadcast_to(remaining, whole.table.shape), product.log_scale + most
        return np.broadcast_to(remaining, whole.table.shape), product.log_scale

    try:
        return over(logs=False)
    except Overspan:
        return over(logs=True)


def row_slopes(table: Array, gradient: Array) -> Array:
    """The slope of Σ table · gradient in each parameter, where the rest of its row keeps its proportions.

    Where a parameter is 1, the others rise alike.

    >>> row_slopes(np.array([0.5, 0.25, 0.25]), np.array([1.0, 0.0, 0.0])).round(3).tolist()
    [1.0, -0.667, -0.667]
    """
    weighted = table * gradient
    rest = weighted.sum(axis=-1, keepdims=True) - weighted
    alike = (gradient.sum(axis=-1, keepdims=True) - gradient) / max(1, table.shape[-1] - 1)
    left = 1.0 - table
    return np.asarray(gradient - np.where(left > UNMOVED, rest / np.where(left > UNMOVED, left, 1.0), alike))


def name_of(model: NetworkModel, node: str, cell: tuple[int, ...]) -> str:
    """A parameter of a table as it is read: P(wet=yes | rain=no).

    >>> from dagora.graph.dag import DAG
    >>> two = NetworkModel(DAG("ab", ["ab"]), dict.fromkeys("ab", ("n", "y")))
    >>> name_of(two, "b", (0, 1))
    'P(b=y | a=n)'
    """
    *above, level = cell
    parents = [name for name in model.parents[node] if name in model.levels]
    given = ", ".join(
        f"{quote_name(name)}={quote(model.levels[name][code])}"
        for name, code in zip(parents, above, strict=True)
    )
    return f"P({quote_name(node)}={quote(model.levels[node][level])}{' | ' if given else ''}{given})"


def asked_again(
    model: NetworkModel, question: Question, settings: QuerySettings, spread: float
) -> list[ParameterInfluence]:
    """The influence of every parameter that bears on a question, which is asked again for each."""
    changes = [change for node in nodes_behind(model, question) for change in changes_of(model, node, spread)]
    if len(changes) > MOST_ASKED:
        raise QueryError(
            f"{len(changes):,} parameters bear on {question}, and {MOST_ASKED:,} can be tried: give more "
            "evidence, or ask a network of discrete variables, whose sensitivity has a closed form"
        )

    def answer(change: ParameterChange, to: float) -> float:
        return number_of(ask(change.made(to), question, settings))

    found = []
    for change in changes:
        step = STEP * (change.high - change.low)
        below, above = change.value - step, min(change.value + step, change.high)
        try:
            low, high = answer(change, change.low), answer(change, change.high)
            rise = (answer(change, above) - answer(change, below)) / (above - below)
        except QueryError:  # evidence that would be impossible
            continue
        found.append(ParameterInfluence(change.name, change.value, change.low, change.high, low, high, rise))
    return found


@dataclass(frozen=True, eq=False)
class ParameterChange:
    """A parameter that can be moved, with its range."""

    name: str
    value: float
    low: float
    high: float
    made: Callable[[float], NetworkModel]


def changes_of(model: NetworkModel, node: str, spread: float) -> Iterator[ParameterChange]:
    """The parameters of one node."""
    if node in model.tables:
        table = model.distributions[node]
        for cell in np.ndindex(table.shape):
            here = float(table[cell])
            if here > 0 and table.shape[-1] > 1:
                high = min(here * (1 + spread), (1 + here) / 2)

                def with_cell(to: float, cell: tuple[int, ...] = cell) -> NetworkModel:
                    return with_table(model, node, moved_row(table, cell, to))

                yield ParameterChange(name_of(model, node, cell), here, here * (1 - spread), high, with_cell)
    elif node in model.lines:
        yield from changes_of_lines(model, node, spread)
    else:
        raise QueryError(f"'{node}' is discrete and depends on numbers: its logistic regression has no range")


def changes_of_lines(model: NetworkModel, node: str, spread: float) -> Iterator[ParameterChange]:
    """The intercepts, slopes and sds of a regression; intercepts move by a share of the sd."""
    lines = model.lines[node]
    discrete, continuous = model.discrete_parents(node), model.continuous_parents(node)
    for part in ("intercepts", "slopes", "sds"):
        array = getattr(lines, part)
        for cell in np.ndindex(array.shape):
            here = float(array[cell])
            above = cell[: len(discrete)]
            size = float(lines.sds[above]) if part == "intercepts" else abs(here)
            if size == 0:
                continue

            def with_number(to: float, part: str = part, cell: tuple[int, ...] = cell) -> NetworkModel:
                moved = getattr(lines, part).copy()
                moved[cell] = to
                return replace(model, lines={**model.lines, node: replace(lines, **{part: moved})})

            given = [
                f"{quote_name(name)}={quote(model.levels[name][code])}"
                for name, code in zip(discrete, above, strict=True)
            ]
            where = f" at {', '.join(given)}" if given else ""
            words = {"intercepts": "intercept", "sds": "sd"}.get(part) or f"slope on {continuous[cell[-1]]}"
            yield ParameterChange(
                f"{words} of {quote_name(node)}{where}",
                here,
                here - spread * size,
                here + spread * size,
                with_number,
            )


def moved_row(table: Array, cell: tuple[int, ...], to: float) -> Array:
    """A table in which one parameter is set and the others of its row keep their proportions.

    Where the parameter was 1, the others rise alike.
    """
    moved = table.copy()
    row = moved[cell[:-1]]
    rest = 1 - row[cell[-1]]
    row[:] = row * (1 - to) / rest if rest > UNMOVED else (1 - to) / (len(row) - 1)
    row[cell[-1]] = to
    return moved


def with_table(model: NetworkModel, node: str, table: Array) -> NetworkModel:
    """The network with another table of one node."""
    return replace(model, tables={**model.tables, node: table})


def without_each(
    model: NetworkModel, question: Question, settings: QuerySettings
) -> Iterator[EvidenceInfluence]:
    """The answer without each piece of evidence; those that are set stay."""
    sides = [replace(question, against=None), *([question.against[1]] if question.against else [])]
    for name in dict.fromkeys(name for side in sides for name in side.known_of):
        left = [without(side, name) for side in sides]
        asked = (
            left[0] if question.against is None else replace(left[0], against=(question.against[0], left[1]))
        )
        try:
            yield EvidenceInfluence(name, said_of(sides, name), number_of(ask(model, asked, settings)))
        except QueryError:
            continue


def without(question: Question, name: str) -> Question:
    """The question without what is known of a variable."""
    return replace(
        question,
        given={key: value for key, value in question.given.items() if key != name},
        given_within={key: value for key, value in question.given_within.items() if key != name},
        likelihood={key: value for key, value in question.likelihood.items() if key != name},
        soft={key: value for key, value in question.soft.items() if key != name},
    )


def said_of(sides: list[Question], name: str) -> str:
    """The evidence on a variable, in the words of the question."""
    found = []
    for side in sides:
        if name in side.given:
            found.append(f"{quote_name(name)}={quote(side.given[name])}")
        elif name in side.given_within:
            found.append(side.given_within[name].written(quote_name(name)))
        elif name in side.likelihood:
            found.append(f"likelihood of {quote_name(name)}")
        elif name in side.soft:
            found.append(f"soft evidence of {quote_name(name)}")
    return " or ".join(dict.fromkeys(found))
