"""The probability of each class given all other columns, row by row.

It is that of the whole row with this class, divided by the sum over all classes. Only the class's own table
or regression and those of its children differ between classes, so rows in which the class's Markov blanket
was seen need nothing else. In other rows, what was not seen is summed or integrated out of the whole network:
exactly, unless a discrete node that bears on it has a missing number as a parent. Then the missing values are
drawn, with weights and with the same random numbers for every row: a prediction depends on its row alone. The
probabilities are the weighted mean over the draws of those given each drawn row.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.data.incomplete import IncompleteTable
from dagora.data.schema import Kind, Schema, Variable
from dagora.network.incomplete.matching import in_network_order
from dagora.network.incomplete.row_estimates import PatternRows, rows_by_pattern
from dagora.network.likelihood import log_likelihoods
from dagora.network.networks import DiscreteNetwork, MixedNetwork
from dagora.network.node_likelihood import node_log_likelihoods

Floats = NDArray[np.float64]
Classifying = DiscreteNetwork | MixedNetwork

LEAST = -1e300  # ln of a probability that is too small for a number
ROWS_AT_ONCE = 200  # whose missing values are drawn together
SEED = 0  # of these draws: the same row in the same place gets the same answer


def class_chances(network: Classifying, target: str, columns: IncompleteTable) -> Floats:
    """P(class | all other columns): a row for each row, a column for each level of the class.

    >>> from dagora.data.table import Table
    >>> from dagora.graph.dag import DAG
    >>> from dagora.network.networks import DiscreteNetwork
    >>> levels = {"ill": ("no", "yes"), "test": ("-", "+")}
    >>> tables = {"ill": np.array([0.9, 0.1]), "test": np.array([[0.8, 0.2], [0.1, 0.9]])}
    >>> network = DiscreteNetwork(DAG(["ill", "test"], [("ill", "test")]), levels, tables)
    >>> tests = Table.from_numpy([["+"], ["-"]], names=["test"])
    >>> class_chances(network, "ill", IncompleteTable.of(tests, [[True, False]])).round(3).tolist()
    [[0.667, 0.333], [0.9, 0.1]]
    """
    columns = in_network_order(network, columns)
    blanket = markov_blanket(network, target)
    seen = np.ones(columns.n_rows, dtype=np.bool_)
    for node in blanket:
        seen &= columns.seen[columns.schema.index(node)]
    chances = np.zeros((columns.n_rows, len(network.model.levels[target])))
    known = {node: columns.columns[columns.schema.index(node)][seen] for node in blanket}
    chances[seen] = given_blanket(network, target, known, int(seen.sum()))
    rest = np.flatnonzero(~seen)
    if not len(rest):
        return chances
    if not isinstance(network, MixedNetwork) or network.model.kind != "mixed":
        chances[rest] = by_likelihoods(network, target, columns.take(rest))
        return chances
    for rows in rows_by_pattern(network, without_target(columns, target), rest):
        exact = rows.exact(target)
        if exact is not None and exact.probabilities is not None:
            chances[rows.where] = exact.probabilities
        else:
            chances[rows.where] = by_draws(network, target, rows)
    return chances


def without_target(columns: IncompleteTable, target: str) -> IncompleteTable:
    """The columns with the class missing in every row."""
    seen = columns.seen.copy()
    seen[columns.schema.index(target)] = False
    return replace(columns, seen=seen)


def markov_blanket(network: Classifying, target: str) -> tuple[str, ...]:
    """Parents, children and their other parents: given these, nothing else bears on the target."""
    graph = network.graph
    children = graph.children(target)
    near = (*graph.parents(target), *children, *(one for child in children for one in graph.parents(child)))
    return tuple(node for node in dict.fromkeys(near) if node != target)


def given_blanket(network: Classifying, target: str, known: dict[str, NDArray[Any]], rows: int) -> Floats:
    """By the families in which the class is, from what was seen of them."""
    model = network.model
    logs = np.zeros((rows, len(model.levels[target])))
    with np.errstate(over="ignore", invalid="ignore"):
        for code in range(logs.shape[1]):
            columns = {**known, target: np.full(rows, code, dtype=np.int64)}
            for node in (target, *network.graph.children(target)):
                logs[:, code] += node_log_likelihoods(model, node, columns, model.tables)
    return normalise(logs)


def by_likelihoods(network: Classifying, target: str, columns: IncompleteTable) -> Floats:
    """By the probability of what was seen, together with each class."""
    levels = network.model.levels[target]
    others = columns.select([name for name in columns.names if name != target])
    with np.errstate(over="ignore", invalid="ignore"):
        logs = [
            log_likelihoods(network, with_class(others, target, levels, np.full(others.n_rows, code)))
            for code in range(len(levels))
        ]
    return normalise(np.stack(logs, axis=1))


def by_draws(network: MixedNetwork, target: str, rows: PatternRows) -> Floats:
    """By weighted draws of all that was not seen, and the class's probabilities given each of them."""
    drawn = rows.draws()
    shape = drawn.columns[target].shape
    near = markov_blanket(network, target)
    beside = {**rows.given, **drawn.columns}
    known = {node: np.broadcast_to(beside[node], shape).ravel() for node in near}
    chances = given_blanket(network, target, known, shape[0] * shape[1]).reshape(*shape, -1)
    weights = drawn.weights((target, *(node for node in near if node in drawn.columns)))
    return np.asarray((weights[..., None] * chances).sum(axis=0))


def normalise(logs: Floats) -> Floats:
    """Logarithms as probabilities; where all are too small for numbers, the classes are equally probable.

    >>> normalise(np.array([[0.0, -np.inf], [-np.inf, -np.inf]])).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    logs = np.maximum(np.nan_to_num(logs, nan=LEAST), LEAST)
    chances = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


def with_class(
    columns: IncompleteTable, target: str, levels: tuple[str, ...], codes: NDArray[Any]
) -> IncompleteTable:
    """Columns with the class as the last one."""
    variable = Variable(target, Kind.DISCRETE, levels)
    return IncompleteTable(
        Schema([*columns.schema, variable]),
        (*columns.columns, codes.astype(np.uint16)),
        np.vstack(
            [columns.seen.reshape(len(columns.columns), len(codes)), np.ones((1, len(codes)), dtype=np.bool_)]
        ),
    )
