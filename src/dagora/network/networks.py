"""A graph with its parameters: probability tables, linear-Gaussian regressions, or both kinds of node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import GraphError, QueryError
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.network.drawing import as_drawn_table, check_rows, seed_sequence
from dagora.network.inference.answer import Answer
from dagora.network.inference.answer_notes import with_notes
from dagora.network.inference.asking import ask
from dagora.network.inference.conditional_rows import draw_given
from dagora.network.inference.question import (
    SHAPE,
    Uncertain,
    Value,
    check_known,
    make_question,
    with_uncertain,
)
from dagora.network.inference.question_reader import parse
from dagora.network.inference.sensitivity import SPREAD, sensitivity_of
from dagora.network.inference.sensitivity_result import Sensitivity
from dagora.network.inference.settings import SAMPLES, check_settings
from dagora.network.model import NetworkModel
from dagora.network.origin import Origin
from dagora.network.regressions import Lines as Lines  # noqa: PLC0414 (public here, too)
from dagora.network.regressions import Softmax as Softmax  # noqa: PLC0414


class QueryableNetwork:
    """A network that answers questions and draws rows; all networks share this base.

    `origin` says what the parameters rest on, where they were fitted.
    """

    origin: Origin | None = None

    @property
    def model(self) -> NetworkModel:
        """The network as inference and drawing see it."""
        raise NotImplementedError

    def query(
        self,
        question: str | None = None,
        *,
        of: str | Iterable[str] | Mapping[str, Value] | None = None,
        given: Mapping[str, Value] | None = None,
        do: Mapping[str, Value] | None = None,
        likelihood: Uncertain | None = None,
        soft: Uncertain | None = None,
        method: str = "auto",
        samples: int = SAMPLES,
        seed: int = 0,
        memory: int | str | None = None,
    ) -> Answer:
        """Answer a question such as `P(cancer | smoker=yes)`.

        `P(a, b | c=yes, x=1.5)` is a joint distribution given levels and values, `P(a=yes | …)` the
        probability of an event, `MAP(a, b | …)` the most probable levels together, `MAP(* | …)` of all that
        is not given; `do(d=no)` after the bar sets a variable instead of observing it. Ranges such as
        `P(x > 140 | a < y <= b)` and contrasts such as `P(a=yes | b=no) - P(a=yes | b=yes)` are understood,
        too. Instead of the text, `of`, `given` and `do` may be given; a mapping `of` is an event.

        `likelihood={"test": {"yes": 0.8, "no": 0.2}}` is likelihood (virtual) evidence: how probable what was
        noticed is at each level; of a number it is a measurement, {"value": 140, "sd": 5}. `soft` says which
        probabilities the levels have once all is known (Jeffrey's rule).

        Answers are exact if they can be. `method="sampling"` estimates them from weighted samples; `auto`
        does so by itself only where a discrete node depends on continuous nodes that are not given. `memory`
        bounds the largest table (2 GiB, or half of what is free).
        """
        if (question is None) == (of is None) or (question is not None and (given or do)):
            raise QueryError(f"give either a text, or of=, given= and do=: {SHAPE}")
        check_given(given, do, likelihood, soft)
        if of is not None and not are_names(of):
            raise QueryError(f"of takes names of variables, or a mapping of them to levels, not {of!r}")
        asked = parse(question) if of is None else make_question("P", of, None, given, do)
        asked = with_uncertain(asked, likelihood or {}, soft or {})
        settings = check_settings(method, samples, seed, memory)
        return with_notes(self.model, ask(self.model, asked, settings), settings)

    def sensitivity(
        self,
        question: str,
        *,
        spread: float = SPREAD,
        likelihood: Uncertain | None = None,
        soft: Uncertain | None = None,
        memory: int | str | None = None,
    ) -> Sensitivity:
        """Say how far each parameter, and each piece of evidence, moves the answer to a question.

        The question has one number for an answer: the chance of an event, a mean, or a contrast of these.
        Each parameter is moved down and up by `spread`, a share of its value; the others of its row of a
        table keep their proportions.
        """
        check_given(likelihood, soft)
        asked = with_uncertain(parse(question), likelihood or {}, soft or {})
        return sensitivity_of(self.model, asked, check_settings("auto", 1, 0, memory), spread)

    def sample(
        self,
        rows: int,
        seed: int,
        *,
        evidence: Mapping[str, Value] | None = None,
        do: Mapping[str, Value] | None = None,
        memory: int | str | None = None,
    ) -> Table:
        """Draw rows, given evidence or interventions if there are any: those have their value in each row."""
        check_rows(rows)
        check_given(evidence, do)
        rng = np.random.default_rng(seed_sequence(seed))
        known = check_known(self.model, evidence or {}, do or {})
        limits = replace(check_settings("exact", 1, seed, memory).limits, asked="rows")
        return as_drawn_table(self.model, draw_given(self.model, known, rows, rng, limits))


@dataclass(frozen=True, eq=False)
class DiscreteNetwork(QueryableNetwork):
    """Conditional probability tables.

    `tables[x]` has one axis per parent, in the order of `graph.parents(x)`, and the levels of `x` last; it
    sums to one along that last axis.

    >>> graph = DAG(["rain", "wet"], [("rain", "wet")])
    >>> levels = {"rain": ("no", "yes"), "wet": ("no", "yes")}
    >>> tables = {"rain": np.array([0.8, 0.2]), "wet": np.array([[0.9, 0.1], [0.3, 0.7]])}
    >>> network = DiscreteNetwork(graph, levels, tables)
    >>> network.tables["wet"][1]  # given that it rains
    array([0.3, 0.7])
    >>> network.query("P(rain | wet=yes)")
    P(rain | wet=yes)
      rain=no   0.363636
      rain=yes  0.636364
    """

    graph: DAG
    levels: Mapping[str, tuple[str, ...]]
    tables: Mapping[str, NDArray[np.float64]]
    name: str = "network"
    origin: Origin | None = None

    def __post_init__(self) -> None:
        for node in self.graph:
            if node not in self.levels or node not in self.tables:
                raise GraphError(f"'{node}' has no levels or no table")
            expected = tuple(len(self.levels[name]) for name in (*self.graph.parents(node), node))
            check_table(node, self.tables[node], expected)

    @cached_property
    def model(self) -> NetworkModel:
        """The network as inference and drawing see it."""
        return NetworkModel(self.graph, self.levels, self.tables, origin=self.origin)


@dataclass(frozen=True, eq=False)
class GaussianNetwork(QueryableNetwork):
    """Linear regressions with Gaussian noise: x = intercept + Σ coefficient · parent + sd · N(0, 1).

    `coefficients[x]` follows the order of `graph.parents(x)`.

    >>> graph = DAG(["dose", "effect"], [("dose", "effect")])
    >>> slopes = {"dose": np.zeros(0), "effect": np.array([1.5])}
    >>> network = GaussianNetwork(graph, {"dose": 0.0, "effect": 1.0}, slopes, {"dose": 1.0, "effect": 0.5})
    >>> network.coefficients["effect"], network.sds["effect"]
    (array([1.5]), 0.5)
    >>> network.query("P(dose | effect=2.5)")
    P(dose | effect=2.5)
      dose  mean 0.9  sd 0.316228
    """

    graph: DAG
    intercepts: Mapping[str, float]
    coefficients: Mapping[str, NDArray[np.float64]]
    sds: Mapping[str, float]
    name: str = "network"
    origin: Origin | None = None

    def __post_init__(self) -> None:
        for node in self.graph:
            if node not in self.intercepts or node not in self.coefficients or node not in self.sds:
                raise GraphError(f"'{node}' has no regression")
            if len(self.coefficients[node]) != len(self.graph.parents(node)):
                raise GraphError(f"'{node}' needs one coefficient per parent")
            numbers = [self.intercepts[node], self.sds[node], *self.coefficients[node]]
            if not np.isfinite(numbers).all() or self.sds[node] < 0:
                raise GraphError(
                    f"the regression of '{node}' needs finite numbers and a standard deviation ≥ 0"
                )

    @cached_property
    def model(self) -> NetworkModel:
        """The network as inference and drawing see it."""
        lines = {
            node: Lines(np.array(self.intercepts[node]), self.coefficients[node], np.array(self.sds[node]))
            for node in self.graph
        }
        return NetworkModel(self.graph, lines=lines, origin=self.origin)


@dataclass(frozen=True, eq=False)
class MixedNetwork(QueryableNetwork):
    """Discrete and continuous nodes in one graph, with edges in any direction between the kinds.

    A node with `levels` is discrete. It has a table as in a `DiscreteNetwork` if all its parents are
    discrete, else a `Softmax` among the `choices`. Every other node is continuous and has `lines`.

    >>> graph = DAG(["ill", "fever", "rest"], [("ill", "fever"), ("fever", "rest")])
    >>> network = MixedNetwork(
    ...     graph,
    ...     levels={"ill": ("no", "yes"), "rest": ("no", "yes")},
    ...     tables={"ill": np.array([0.9, 0.1])},
    ...     choices={"rest": Softmax([0.0, -76.0], [[0.0], [2.0]])},
    ...     lines={"fever": Lines([36.8, 38.9], np.zeros((2, 0)), [0.3, 0.6])},
    ... )
    >>> network.query("P(fever | ill=yes)").mean
    {'fever': 38.9}
    """

    graph: DAG
    levels: Mapping[str, tuple[str, ...]]
    tables: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    choices: Mapping[str, Softmax] = field(default_factory=dict)
    lines: Mapping[str, Lines] = field(default_factory=dict)
    name: str = "network"
    origin: Origin | None = None

    def __post_init__(self) -> None:
        for node in self.graph:
            kinds = [node in part for part in (self.tables, self.choices, self.lines)]
            if sum(kinds) != 1 or (node in self.levels) == (node in self.lines):
                raise GraphError(
                    f"'{node}' needs levels and a table, levels and a softmax, or lines: one of these three"
                )
        for node in self.graph:
            configurations = tuple(len(self.levels[name]) for name in self.model.discrete_parents(node))
            slopes = len(self.model.continuous_parents(node))
            if node in self.lines:
                check_shape(
                    f"the array of slopes of '{node}'", self.lines[node].slopes, (*configurations, slopes)
                )
                continue
            expected = (*configurations, len(self.levels[node]))
            if node in self.choices:
                check_shape(
                    f"the array of slopes of '{node}'", self.choices[node].slopes, (*expected, slopes)
                )
            elif slopes:
                raise GraphError(f"'{node}' has a continuous parent and needs a softmax, not a table")
            else:
                check_table(node, self.tables[node], expected)

    @cached_property
    def model(self) -> NetworkModel:
        """The network as inference and drawing see it."""
        return NetworkModel(
            self.graph, self.levels, self.tables, self.choices, self.lines, origin=self.origin
        )


Network = DiscreteNetwork | GaussianNetwork | MixedNetwork


def are_names(of: object) -> bool:
    """Return True for a name, several names, or a mapping by names."""
    several = isinstance(of, Mapping | list | tuple | set | frozenset)
    return isinstance(of, str) or (
        several and all(isinstance(name, str) for name in cast("Iterable[object]", of))
    )


def check_given(*known: object) -> None:
    """Refuse evidence that is no mapping."""
    for some in known:
        if some is not None and not isinstance(some, Mapping):
            raise QueryError(f"evidence is a mapping such as {{'smoker': 'yes'}}, not {some!r}")


def check_table(node: str, table: NDArray[np.float64], expected: tuple[int, ...]) -> None:
    """Refuse a table of the wrong shape, or one that does not hold probabilities."""
    check_shape(f"the table of '{node}'", table, expected)
    if not np.isfinite(table).all() or (table < 0).any() or not np.allclose(table.sum(axis=-1), 1, atol=1e-3):
        raise GraphError(f"the table of '{node}' is not made of probabilities that sum to 1")


def check_shape(what: str, array: NDArray[np.float64], expected: tuple[int, ...]) -> None:
    """Refuse an array that does not fit the parents."""
    if array.shape != expected:
        raise GraphError(f"{what} has shape {array.shape}, not {expected}")


def require_network(value: object) -> Network:
    """Return a network as it is; refuse anything else with the way to get one.

    >>> require_network(DAG("ab"))
    Traceback (most recent call last):
    dagora.GraphError: a network with parameters is needed, not a DAG: fit(graph, data) makes one
    """
    if isinstance(value, DiscreteNetwork | GaussianNetwork | MixedNetwork):
        return value
    raise GraphError(
        f"a network with parameters is needed, not a {type(value).__name__}: fit(graph, data) makes one"
    )
