"""The part of a network that is relevant to a question, with the evidence inserted.

`do(x = v)` removes the arrows into x (Pearl 2000). Barren nodes are left out: they are neither asked for, nor
known, nor ancestors of such nodes. Observed levels select from tables, observed values move intercepts. The
rest is then connected only through unobserved nodes: parts without a target do not affect the answer
(d-separation).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dagora.network.inference.factors import Factor
from dagora.network.model import NetworkModel
from dagora.network.regressions import Lines

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NodeEvidence:
    """Codes of discrete nodes and values of continuous ones: observed, or set by an intervention."""

    seen: Mapping[str, float] = field(default_factory=dict)
    do: Mapping[str, float] = field(default_factory=dict)

    @property
    def values(self) -> dict[str, float]:
        """All values, observed or set."""
        return {**self.seen, **self.do}


@dataclass(frozen=True, eq=False)
class ReducedRegression:
    """A continuous node with the evidence inserted: a regression per configuration of discrete parents."""

    node: str
    discrete: tuple[str, ...]
    continuous: tuple[str, ...]
    lines: Lines


@dataclass(frozen=True, eq=False)
class InferenceProblem:
    """The relevant parts of a network for a question."""

    sizes: Mapping[str, int]
    factors: list[Factor]
    """Tables of discrete nodes."""
    lines: list[ReducedRegression]
    """Continuous nodes, parents before children."""
    open_choices: list[str]
    """Discrete nodes that depend on continuous parents that were not observed."""


def relevant_nodes(model: NetworkModel, targets: Iterable[str], known: NodeEvidence) -> list[str]:
    """Targets, observed nodes and their ancestors once interventions have cut arrows; in topological order.

    >>> from dagora.graph.dag import DAG
    >>> graph = DAG("abcd", ["ab", "bc", "cd"])
    >>> tables = {node: np.full((2,) * (1 + len(graph.parents(node))), 0.5) for node in graph}
    >>> model = NetworkModel(graph, dict.fromkeys("abcd", ("n", "y")), tables)
    >>> [relevant_nodes(model, [one], NodeEvidence(do={do: 1})) for one, do in ("ba", "cb")]
    [['a', 'b'], ['b', 'c']]
    """
    found: set[str] = set()
    stack = [*targets, *known.seen]
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            if node not in known.do:
                stack.extend(model.parents[node])
    return [node for node in model.order if node in found]


def set_up(model: NetworkModel, targets: Iterable[str], known: NodeEvidence) -> InferenceProblem:
    """Insert the evidence into the parts that are relevant to the targets."""
    values = known.values
    codes = {node: int(value) for node, value in values.items() if node in model.levels}
    factors, lines, open_choices = [], [], []
    for node in relevant_nodes(model, targets, known):
        if node in known.do:
            continue
        if node in model.tables:
            factors.append(Factor((*model.parents[node], node), model.distributions[node]).restrict(codes))
        elif node in model.lines:
            lines.append(line_given(model, node, values, codes))
        elif any(parent not in values for parent in model.continuous_parents(node)):
            open_choices.append(node)
        else:
            factors.append(choice_given(model, node, values).restrict(codes))
    sizes = {node: len(levels) for node, levels in model.levels.items()}
    return InferenceProblem(sizes, factors, lines, open_choices)


def line_given(
    model: NetworkModel, node: str, values: Mapping[str, float], codes: Mapping[str, int]
) -> ReducedRegression:
    """A regression in which observed parents have their values."""
    given = model.lines[node]
    discrete, continuous = model.discrete_parents(node), model.continuous_parents(node)
    index = tuple(codes.get(parent, slice(None)) for parent in discrete)
    intercepts, slopes, sds = given.intercepts[index], given.slopes[index], given.sds[index]
    observed = [i for i, parent in enumerate(continuous) if parent in values]
    free = [i for i, parent in enumerate(continuous) if parent not in values]
    if observed:
        intercepts = intercepts + slopes[..., observed] @ [values[continuous[i]] for i in observed]
    return ReducedRegression(
        node,
        tuple(parent for parent in discrete if parent not in codes),
        tuple(continuous[i] for i in free),
        Lines(intercepts, slopes[..., free], sds),
    )


def choice_given(model: NetworkModel, node: str, values: Mapping[str, float]) -> Factor:
    """The table of a discrete node whose continuous parents are all observed."""
    parents = np.array([values[parent] for parent in model.continuous_parents(node)])
    chances = model.choices[node].log_probabilities(parents)
    return Factor.of_logs((*model.discrete_parents(node), node), chances)


def bearing_on(targets: Iterable[str], factors: list[Factor]) -> tuple[list[Factor], list[Factor]]:
    """Divide factors into those that are connected with a target, and the others."""
    holding: dict[str, list[int]] = {}
    for position, factor in enumerate(factors):
        for variable in factor.variables:
            holding.setdefault(variable, []).append(position)
    reached, near = set(targets), set()
    stack = list(reached)
    while stack:
        for position in holding.pop(stack.pop(), ()):
            near.add(position)
            fresh = set(factors[position].variables) - reached
            reached |= fresh
            stack.extend(fresh)
    return (
        [factor for position, factor in enumerate(factors) if position in near],
        [factor for position, factor in enumerate(factors) if position not in near],
    )
