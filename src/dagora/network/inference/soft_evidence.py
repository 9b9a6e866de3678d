"""Evidence that is not certain, as a child of its variable that was seen.

Likelihood (virtual) evidence says how probable what was noticed is at each level (Pearl 1988). A child with
these numbers in its table says the same, and every way to answer takes it. A measurement with an error is a
child with that standard deviation. A range of levels is likelihood evidence of ones and zeros.

Soft evidence says which distribution a variable has once all is known (Jeffrey 1965). The likelihoods that
bring it about are q / P(x | what else is known); for several variables iterative proportional fitting finds
them (Valtorta, Kim & Vomlel 2002).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import QueryError
from dagora.base.phrases import among
from dagora.graph.dag import DAG
from dagora.network.inference.exact import joint_table, reduce_question
from dagora.network.inference.factors import MemoryLimit
from dagora.network.inference.problem import NodeEvidence, set_up
from dagora.network.inference.question import Question, Value, check_known, check_variable
from dagora.network.inference.ranges import codes_within
from dagora.network.model import NetworkModel
from dagora.network.regressions import Lines

Array = NDArray[np.float64]

SUM_TOLERANCE = 1e-6
CLOSE = 1e-12
"""Largest distance of fitted distributions from those that were asked for."""
MOST_SWEEPS = 10_000


class SeenChildren:
    """Children to be added to a network, with the values that were seen of them."""

    def __init__(self, model: NetworkModel) -> None:
        self.before = model
        self.edges: list[tuple[str, str]] = []
        self.tables: dict[str, Array] = {}
        self.lines: dict[str, Lines] = {}
        self.seen: dict[str, Value] = {}

    def add_weights(self, name: str, weights: Array) -> None:
        """Add a child that was seen with a probability in proportion to `weights`, by the level of `name`."""
        child = self._child_of(name)
        share = weights / weights.max()
        self.tables[child] = np.stack([1.0 - share, share], axis=1)
        self.seen[child] = "yes"

    def add_measurement(self, name: str, value: float, sd: float) -> None:
        """Add a child that measures `name` with a normal error."""
        child = self._child_of(name)
        self.lines[child] = Lines(np.array(0.0), np.ones(1), np.array(sd))
        self.seen[child] = value

    def model(self) -> NetworkModel:
        """The network with its new children."""
        before = self.before
        children = [*self.tables, *self.lines]
        graph = DAG([*before.graph.nodes, *children], [*before.graph.edges, *self.edges])
        levels = {**before.levels, **dict.fromkeys(self.tables, ("no", "yes"))}
        tables, lines = {**before.tables, **self.tables}, {**before.lines, **self.lines}
        return NetworkModel(graph, levels, tables, before.choices, lines)

    def _child_of(self, name: str) -> str:
        child = f"likelihood of {name}"
        while child in self.before.parents or child in self.seen:
            child += "'"
        self.edges.append((name, child))
        return child


def as_values(model: NetworkModel, question: Question, limits: MemoryLimit) -> tuple[NetworkModel, Question]:
    """A network and a question in which evidence that is not certain became values of added children.

    Ranges of numbers stay as they are.

    >>> coin = NetworkModel(DAG(["coin"]), {"coin": ("t", "h")}, {"coin": np.array([0.5, 0.5])})
    >>> asked = Question("P", ("coin",), likelihood={"coin": {"t": 0.2, "h": 0.8}})
    >>> as_values(coin, asked, MemoryLimit())[1]
    Question(P(coin | 'likelihood of coin'=yes))
    """
    children = SeenChildren(model)
    left = {}
    for name, range_ in question.given_within.items():
        if check_variable(model, name) in model.levels:
            weights = np.zeros(len(model.levels[name]))
            weights[codes_within(model, name, range_)] = 1.0
            children.add_weights(name, weights)
        else:
            left[name] = range_
    for name, numbers in question.likelihood.items():
        if check_variable(model, name) in model.levels:
            children.add_weights(name, check_numbers(model, name, numbers, "likelihood"))
        else:
            children.add_measurement(name, *check_measurement(name, numbers))
    if question.soft:
        if left:
            raise QueryError(
                f"soft evidence does not go with a range of '{next(iter(left))}', which is continuous: give "
                "a value of it, or likelihoods instead of soft evidence"
            )
        wanted = {}
        for name, numbers in question.soft.items():
            if check_variable(model, name) not in model.levels:
                raise QueryError(
                    f"'{name}' is continuous, and soft evidence is about levels: give a measurement, as in "
                    f"likelihood({name}, value=1, sd=0.5)"
                )
            wanted[name] = check_numbers(model, name, numbers, "soft")
        known = check_known(children.model(), {**question.given, **children.seen}, question.do)
        for name, weights in likelihoods_for(children.model(), wanted, known, limits).items():
            children.add_weights(name, weights)
    given = {**question.given, **children.seen}
    return children.model(), replace(question, given=given, given_within=left, likelihood={}, soft={})


def check_numbers(model: NetworkModel, name: str, numbers: Mapping[str, float], kind: str) -> Array:
    """One number for each level, of which soft evidence sums to 1."""
    levels = model.levels[name]
    for level, number in numbers.items():
        if level not in levels:
            raise QueryError(f"'{name}' has no level '{level}': {among(levels)}")
        if not 0 <= number < np.inf:
            raise QueryError(
                f"{kind} evidence of '{name}' has {number:g} for '{level}': it must be 0 or more"
            )
    lacking = [level for level in levels if level not in numbers]
    if lacking:
        raise QueryError(
            f"{kind} evidence of '{name}' says nothing of '{lacking[0]}': give every level a number"
        )
    found = np.array([numbers[level] for level in levels], dtype=np.float64)
    if not found.sum() > 0:
        raise QueryError(f"{kind} evidence of '{name}' is zero for all levels")
    if kind == "soft" and abs(found.sum() - 1) > SUM_TOLERANCE:
        raise QueryError(f"soft evidence of '{name}' sums to {found.sum():.6g}, not to 1")
    return found / found.sum() if kind == "soft" else found


def check_measurement(name: str, numbers: Mapping[str, float]) -> tuple[float, float]:
    """The value of a measurement and its standard deviation."""
    if set(numbers) != {"value", "sd"}:
        raise QueryError(
            f"'{name}' is continuous: its likelihood is a measurement, as in likelihood({name}, value=1, "
            "sd=0.5)"
        )
    if not numbers["sd"] > 0:
        raise QueryError(f"the sd of a measurement of '{name}' must be above 0, not {numbers['sd']:g}")
    return numbers["value"], numbers["sd"]


def likelihoods_for(
    model: NetworkModel, wanted: Mapping[str, Array], known: NodeEvidence, limits: MemoryLimit
) -> dict[str, Array]:
    """The likelihoods that give variables their wanted distributions, all together."""
    names = tuple(wanted)
    if set_up(model, names, known).open_choices:
        raise QueryError(
            f"soft evidence needs the exact distribution of '{names[0]}', which depends on numbers that are "
            "not given: give likelihoods instead"
        )
    table = joint_table(model, reduce_question(model, names, known, limits), names, known, limits)
    return fit_margins(table, names, [wanted[name] for name in names])


def fit_margins(table: Array, names: Sequence[str], wanted: Sequence[Array]) -> dict[str, Array]:
    """Iterative proportional fitting: one factor per axis so that the margins are those wanted.

    >>> found = fit_margins(np.array([0.25, 0.75]), ["a"], [np.array([0.5, 0.5])])["a"]
    >>> found.round(6).tolist()
    [1.0, 0.333333]
    """
    factors = [np.ones(size) for size in table.shape]
    for _ in range(MOST_SWEEPS):
        furthest = 0.0
        for axis, margin in enumerate(wanted):
            here = table.sum(axis=tuple(k for k in range(table.ndim) if k != axis))
            if ((margin > 0) & (here <= 0)).any():
                raise QueryError(
                    f"soft evidence of '{names[axis]}' gives a chance to a level that is impossible given "
                    "the rest"
                )
            furthest = max(furthest, float(np.abs(here - margin).max()))
            ratio = np.where(margin > 0, margin / np.where(here > 0, here, 1.0), 0.0)
            factor = factors[axis] * ratio
            factors[axis] = factor / factor.max()  # only proportions count, and these may grow without bound
            table = table * ratio.reshape([-1 if k == axis else 1 for k in range(table.ndim)])
        if furthest < CLOSE or len(wanted) == 1:
            return dict(zip(names, factors, strict=True))
    raise QueryError(
        f"no distribution was found that has all the soft evidence: {', '.join(names)} contradict each "
        "other, or leave only distributions without some of their combinations"
    )
