"""Dependence between columns of both kinds in simulated tables: four kinds of relations.

* `clg`: discrete columns come first; a continuous one has a regression and a noise of its own for each
  configuration of its discrete parents (conditional linear Gaussian).
* `shift`: the same order; levels shift the mean of a continuous column, slopes and noise are common.
* `both`: any order; as `shift`, and the logits of a discrete column are sums over its parents, with shifts by
  levels and slopes of numbers (softmax).
* `curved`: as `both`, with squares of numbers beside their slopes.

Half of the columns are discrete, with two to four levels. A continuous parent acts through z, its distance
from its mean in standard deviations, both taken from a pilot of `PILOT_ROWS` rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.network.mechanisms import Range, signed_uniform

RELATIONS = ("clg", "shift", "both", "curved")
PILOT_ROWS = 1000  # a mean and a standard deviation to about 3 %
SLOPES: Range = (0.5, 1.5)  # of standardised parents
LEVELS = ("a", "b", "c", "d")
# Standard deviations of what is drawn: of the logits of a table, and of what a parent adds to logits.
TABLE_LOGITS, ROOT_LOGITS, LEVEL_SHIFTS, LOGIT_SLOPES, LOGIT_SQUARES = 1.5, 0.5, 1.0, 1.5, 1.0
# Squares count less than slopes, so that no column is dominated by a few rows.
SQUARES = 0.7

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MixedMechanism:
    """intercepts[j] + z · slopes[j] + (z² − 1) · squares, with j the configuration of the discrete parents.

    `cards` has the number of levels of each parent, 0 for a number. Results are means with one column, or
    logits with a column per level; `deviations` are those of the noise of a mean, by configuration.

    >>> none, one = np.zeros((1, 1)), np.ones(1)
    >>> doubled = MixedMechanism((0,), none, np.full((1, 1, 1), 2.0), none, one, 0 * one, one)
    >>> doubled(np.array([[1.0], [3.0]])).tolist()
    [[2.0], [6.0]]
    """

    cards: tuple[int, ...]
    intercepts: Matrix
    slopes: Matrix
    squares: Matrix
    deviations: Matrix
    centre: Matrix
    scale: Matrix

    def __call__(self, parents: Matrix) -> Matrix:
        """Return the mean or the logits of each row."""
        own = self.configurations(parents)
        z = (parents[:, [card == 0 for card in self.cards]] - self.centre) / self.scale
        straight = self.intercepts[own] + np.einsum("nk,nko->no", z, self.slopes[own])
        return np.asarray(straight + (z * z - 1) @ self.squares)

    def configurations(self, parents: Matrix) -> NDArray[np.int64]:
        """The number of each row's configuration of the discrete parents."""
        number = np.zeros(len(parents), dtype=np.int64)
        for column, card in enumerate(self.cards):
            if card:
                number = number * card + parents[:, column].astype(np.int64)
        return number


def simulate_mixed(
    graph: DAG, relations: str, sizes: Range, rows: int, rng: np.random.Generator, noise: np.random.Generator
) -> tuple[Mapping[str, MixedMechanism], Table]:
    """Draw mechanisms by `rng`, and rows from them by `noise`."""
    cards = draw_kinds(graph, relations, rng)
    pilot, values = np.zeros((PILOT_ROWS, len(graph))), np.zeros((rows, len(graph)))
    mechanisms = {}
    for i in graph.order_indices:
        parents = list(graph.parent_indices(i))
        numbers = [parent for parent in parents if not cards[parent]]
        mechanism = draw_mechanism(
            int(cards[i]),
            tuple(cards[parents].tolist()),
            relations,
            sizes,
            (pilot[:, numbers].mean(axis=0), pilot[:, numbers].std(axis=0)),
            rng,
        )
        mechanisms[graph.nodes[i]] = mechanism
        for matrix, source in ((pilot, rng), (values, noise)):
            matrix[:, i] = draw_values(mechanism, matrix[:, parents], int(cards[i]), source)
    return mechanisms, mixed_table(graph, cards, values)


def draw_kinds(graph: DAG, relations: str, rng: np.random.Generator) -> NDArray[np.int64]:
    """The number of levels of each column, 0 for continuous ones; half of the columns are discrete."""
    half = len(graph) // 2
    if relations in {"clg", "shift"}:
        chosen = np.array(graph.order_indices[:half], dtype=np.int64)
    else:
        chosen = rng.permutation(len(graph))[:half]
    cards = np.zeros(len(graph), dtype=np.int64)
    cards[chosen] = rng.integers(2, len(LEVELS) + 1, half)
    return cards


def draw_mechanism(
    levels: int,
    cards: tuple[int, ...],
    relations: str,
    sizes: Range,
    pilot: tuple[Matrix, Matrix],
    rng: np.random.Generator,
) -> MixedMechanism:
    """Draw the dependence of a column of so many levels (0: continuous) on its parents."""
    discrete = [card for card in cards if card]
    q, k, wide = int(np.prod(discrete, dtype=np.int64)), len(cards) - len(discrete), max(1, levels)
    squares, deviations = np.zeros((k, wide)), np.ones(q)
    if levels and not k:
        intercepts = rng.normal(0, TABLE_LOGITS if discrete else ROOT_LOGITS, (q, levels))
        slopes = np.zeros((q, 0, levels))
    elif relations == "clg":
        intercepts = rng.normal(0, LEVEL_SHIFTS, (q, wide))
        slopes = signed_uniform(sizes, (q, k, wide), rng)
        deviations = rng.uniform(*SLOPES, q)
    else:
        shifts = np.zeros((*discrete, wide))
        for axis, card in enumerate(discrete):
            shape = [card if a == axis else 1 for a in range(len(discrete))]
            shifts = shifts + rng.normal(0, LEVEL_SHIFTS, (card, wide)).reshape(*shape, wide)
        intercepts = shifts.reshape(q, wide)
        common = rng.normal(0, LOGIT_SLOPES, (k, wide)) if levels else signed_uniform(sizes, (k, wide), rng)
        slopes = np.broadcast_to(common, (q, k, wide))
        if relations == "curved":
            squares = (
                rng.normal(0, LOGIT_SQUARES, (k, wide))
                if levels
                else SQUARES * signed_uniform(sizes, (k, wide), rng)
            )
    return MixedMechanism(cards, intercepts, slopes, squares, deviations, *pilot)


def draw_values(mechanism: MixedMechanism, parents: Matrix, levels: int, rng: np.random.Generator) -> Matrix:
    """Draw a column given its parents: numbers, or level numbers."""
    found = mechanism(parents)
    if not levels:
        deviations = mechanism.deviations[mechanism.configurations(parents)]
        return np.asarray(found[:, 0] + deviations * rng.standard_normal(len(found)))
    weights = np.exp(found - found.max(axis=1, keepdims=True)).cumsum(axis=1)
    chosen = (rng.random(len(found))[:, None] * weights[:, -1:] > weights).sum(axis=1)
    return np.asarray(chosen, dtype=np.float64)


def mixed_table(graph: DAG, cards: NDArray[np.int64], values: Matrix) -> Table:
    """Type the columns: those with levels are discrete, all others continuous."""
    variables, columns = [], []
    for i, node in enumerate(graph):
        if cards[i]:
            variables.append(Variable(node, Kind.DISCRETE, LEVELS[: cards[i]]))
            columns.append(values[:, i].astype(np.uint16))
        else:
            variables.append(Variable(node, Kind.CONTINUOUS))
            columns.append(np.ascontiguousarray(values[:, i]))
    return Table(Schema(variables), tuple(columns))
