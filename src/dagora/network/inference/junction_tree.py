"""Exact inference on a discrete network by a junction tree, built once and calibrated on any evidence.

The moral graph is triangulated (`elimination`), its cliques form a tree, and two passes of messages leave
every clique with the joint distribution of its variables and the evidence (Lauritzen and Spiegelhalter 1988;
division by separators as in Jensen, Lauritzen and Olesen 1990). Messages are scaled to a largest entry of 1
and the logarithms of the scales are added. If the factors of a clique span more than a float can hold, the
passes are run again on logarithms.

A clique's axes are those it shares with its parent, in the parent's order, and then its own. So a message
fits its parent by new axes alone, without a transposition. (A `BucketTree` is faster for many rows with few
missing values.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import QueryError
from dagora.graph.bit_sets import members
from dagora.graph.dag import DAG
from dagora.network.inference.arithmetic import LOGARITHMIC, PLAIN, Arithmetic, Overspan, log_span
from dagora.network.inference.elimination import eliminate, moral_bits

Array = NDArray[np.float64]

MOST_CELLS = 50_000_000
"""Cells that the cliques of a tree may have together (400 MB; a calibration needs as much again)."""

CELLS_AT_ONCE = 1 << 19
"""Cells of the largest clique times rows that are calibrated together: few enough for a processor's cache."""


class TabularNetwork(Protocol):
    """A network of probability tables: a `DiscreteNetwork`, or the tables of a `Model`."""

    @property
    def graph(self) -> DAG:
        """The graph."""

    @property
    def levels(self) -> Mapping[str, tuple[str, ...]]:
        """The levels of every node."""

    @property
    def tables(self) -> Mapping[str, Array]:
        """The conditional probabilities of every node."""


@dataclass(frozen=True, eq=False)
class Clique:
    """A node of the tree."""

    variables: tuple[int, ...]
    """Positions in the graph, in the order of the axes."""
    parent: int
    """Which clique it hangs on; −1 for the root of a tree."""
    own: tuple[int, ...]
    """Axes that the parent does not share."""
    others: tuple[int, ...]
    """Axes of the parent that this clique does not share."""
    into: tuple[slice | None, ...]
    """Index that brings a message's axes into place among the parent's."""


class JunctionTree:
    """The tree of a discrete network.

    >>> from dagora.network.networks import DiscreteNetwork
    >>> graph = DAG(["rain", "wet"], [("rain", "wet")])
    >>> tables = {"rain": np.array([0.8, 0.2]), "wet": np.array([[0.9, 0.1], [0.3, 0.7]])}
    >>> tree = JunctionTree(DiscreteNetwork(graph, {"rain": ("no", "yes"), "wet": ("no", "yes")}, tables))
    >>> seen = tree.calibrate({"wet": 1})
    >>> seen.marginal("rain").round(4), round(float(np.exp(seen.log_probability)), 4)
    (array([0.3636, 0.6364]), 0.22)
    """

    def __init__(self, network: TabularNetwork, most_cells: int = MOST_CELLS) -> None:
        graph = network.graph
        self.nodes = graph.nodes
        self._position = {node: i for i, node in enumerate(self.nodes)}
        self.sizes = [len(network.levels[node]) for node in self.nodes]
        # Variables of one level have no axis: a table may have more of them than numpy has axes.
        families = [
            [v for v in (*graph.parent_indices(i), i) if self.sizes[v] > 1] for i in range(len(self.nodes))
        ]
        elimination = eliminate(moral_bits(families, len(self.nodes)), self.sizes)
        if elimination.cells > most_cells:
            raise QueryError(
                f"the network has width {elimination.width}: its tables need {elimination.cells:,} cells "
                f"({8 * elimination.cells:,} bytes), and {most_cells:,} are allowed"
            )
        self.width, self.cells = elimination.width, elimination.cells
        self._cliques = build_cliques(elimination.order, elimination.neighbours, self.sizes)
        self._clique_cells = [prod(self.sizes[v] for v in clique.variables) for clique in self._cliques]
        self._holding: list[set[int]] = [set() for _ in self.nodes]
        for k, clique in enumerate(self._cliques):
            for v in clique.variables:
                self._holding[v].add(k)
        self._single = [self._find([v] if size > 1 else []) for v, size in enumerate(self.sizes)]
        self._potentials = [np.ones([self.sizes[v] for v in clique.variables]) for clique in self._cliques]
        for node, family in zip(self.nodes, families, strict=True):
            home = self._find(family)
            variables = self._cliques[home].variables
            table = np.asarray(network.tables[node]).reshape([self.sizes[v] for v in family])
            table = table.transpose([family.index(v) for v in variables if v in family])
            self._potentials[home] *= table.reshape([self.sizes[v] if v in family else 1 for v in variables])
        self._spans = [log_span(potential) for potential in self._potentials]

    def _find(self, family: Sequence[int]) -> int:
        """The smallest clique that holds a family."""
        held = set.intersection(*(self._holding[v] for v in family)) if family else range(len(self._cliques))
        return min(held, key=lambda k: (self._clique_cells[k], k))

    def calibrate(self, evidence: Mapping[str, int] | None = None) -> CalibratedTree:
        """Condition on the codes of observed nodes; tables keep an axis of length 1 for each of them."""
        seen = {self._position[node]: code for node, code in (evidence or {}).items()}

        def reduce_clique(clique: Clique, potential: Array) -> Array:
            picked = [slice(seen[v], seen[v] + 1) if v in seen else slice(None) for v in clique.variables]
            return potential[tuple(picked)]

        potentials = [
            reduce_clique(clique, potential)[None]
            for clique, potential in zip(self._cliques, self._potentials, strict=True)
        ]
        beliefs, log_probability = self._pass_messages(potentials)
        return CalibratedTree(self, beliefs, float(log_probability[0]), seen)

    def log_probabilities(self, codes: NDArray[np.integer]) -> Array:
        """Ln P(evidence) of many rows: one column per node of the graph, −1 where nothing was observed."""
        found = np.zeros(len(codes))
        largest = max((potential.size for potential in self._potentials), default=1)
        step = max(1, CELLS_AT_ONCE // largest)
        for start in range(0, len(codes), step):
            found[start : start + step] = self._log_probabilities(codes[start : start + step])
        return found

    def _log_probabilities(self, codes: NDArray[np.integer]) -> Array:
        """The same for rows that are few enough to be held together."""
        potentials: list[Array] = [potential[None] for potential in self._potentials]
        for v, home in enumerate(self._single):
            column = codes[:, v]
            if (column >= 0).any():
                likely = np.eye(self.sizes[v])[column]
                likely[column < 0] = 1.0
                shape = [self.sizes[v] if other == v else 1 for other in self._cliques[home].variables]
                potentials[home] = potentials[home] * likely.reshape(len(codes), *shape)
        return self._pass_messages(potentials, back=False)[1]

    def _pass_messages(self, potentials: list[Array], *, back: bool = True) -> tuple[list[Array], Array]:
        """Beliefs of the cliques and ln P(evidence); without the messages back, only the second is right."""
        try:
            return self._send(potentials, PLAIN, back=back)
        except Overspan:
            with np.errstate(divide="ignore"):
                logs = [np.log(potential) for potential in potentials]
            return self._send(logs, LOGARITHMIC, back=back)

    def _send(
        self, potentials: list[Array], arithmetic: Arithmetic, *, back: bool
    ) -> tuple[list[Array], Array]:
        """Messages to the roots and back; every table has the rows as its first axis, or 1 for all rows."""
        beliefs = list(potentials)
        upward = list(potentials)
        spans = list(self._spans)
        log_probability = np.zeros(1)
        for k in reversed(range(len(beliefs))):
            clique = self._cliques[k]
            belief, scale = arithmetic.scale(beliefs[k])
            log_probability = log_probability + scale
            message = arithmetic.sum_over(belief, tuple(axis + 1 for axis in clique.own))
            if clique.parent < 0:
                beliefs[k] = arithmetic.times(belief, arithmetic.inverse(expand(message, len(clique.own))))
                log_probability = log_probability + arithmetic.log_of(message.reshape(len(message)))
                continue
            beliefs[k], upward[k] = belief, message
            spans[clique.parent] += arithmetic.span(message)
            arithmetic.check(spans[clique.parent])
            beliefs[clique.parent] = arithmetic.times(
                beliefs[clique.parent], message[(slice(None), *clique.into)]
            )
        if not back:
            return beliefs, log_probability
        for k, clique in enumerate(self._cliques):
            if clique.parent < 0:
                continue
            above = arithmetic.sum_over(beliefs[clique.parent], tuple(axis + 1 for axis in clique.others))
            ratio = arithmetic.times(above, arithmetic.inverse(upward[k]))
            beliefs[k] = arithmetic.times(beliefs[k], expand(ratio, len(clique.own)))
        return [arithmetic.plain(belief) for belief in beliefs], log_probability


@dataclass(frozen=True, eq=False)
class CalibratedTree:
    """A tree calibrated on one set of evidence."""

    tree: JunctionTree
    beliefs: list[Array]
    log_probability: float
    """ln P(evidence); −∞ where it is impossible, and then all distributions are zero."""
    seen: Mapping[int, int]

    def marginal(self, node: str) -> Array:
        """P(node | evidence)."""
        tree = self.tree
        position = tree._position[node]  # noqa: SLF001
        home = tree._single[position]  # noqa: SLF001
        others = tuple(a for a, v in enumerate(tree._cliques[home].variables) if v != position)  # noqa: SLF001
        found = np.asarray(self.beliefs[home][0].sum(axis=others)).reshape(-1)
        if position not in self.seen:
            return np.asarray(found)
        full = np.zeros(tree.sizes[position])
        full[self.seen[position]] = found[0]
        return full


def build_cliques(order: Sequence[int], neighbours: Sequence[int], sizes: Sequence[int]) -> list[Clique]:
    """The maximal cliques of an elimination order as a forest, parents before children.

    The clique of a variable hangs on that of the first of its neighbours to be eliminated next. Where it
    holds all of that clique, it takes its place.
    """
    rank = {v: i for i, v in enumerate(order)}
    held = {v: neighbours[v] | 1 << v for v in order}
    place = {v: v for v in order}  # by which variable's clique another's was replaced
    parent: dict[int, int] = {}
    for v in order:
        around = list(members(neighbours[v]))
        if not around:
            parent[v] = -1
            continue
        above = min(around, key=rank.__getitem__)
        parent[v] = above
        if place[above] == above and held[above] == neighbours[v]:
            place[above] = v

    def final(v: int) -> int:
        while place[v] != v:
            v = place[v]
        return v

    # A clique that took the place of the one above hangs where that one hung.
    hangs: dict[int, int] = {}
    for v in order:
        if place[v] != v:
            continue
        above = parent[v]
        while above >= 0 and final(above) == v:
            above = parent[above]
        hangs[v] = final(above) if above >= 0 else -1
    below: dict[int, list[int]] = {}
    for v, above in hangs.items():
        below.setdefault(above, []).append(v)
    cliques: list[Clique] = []
    number: dict[int, int] = {-1: -1}
    waiting = list(below.get(-1, []))
    while waiting:
        v = waiting.pop()
        above = number[hangs[v]]
        over = cliques[above].variables if above >= 0 else ()
        inside = {u for u in members(held[v]) if sizes[u] > 1}
        shared = tuple(u for u in over if u in inside)
        variables = (*shared, *sorted(inside - set(shared)))
        number[v] = len(cliques)
        cliques.append(
            Clique(
                variables,
                above,
                tuple(range(len(shared), len(variables))),
                tuple(axis for axis, u in enumerate(over) if u not in inside),
                tuple(slice(None) if u in inside else None for u in over),
            )
        )
        waiting.extend(below.get(v, []))
    return cliques


def expand(table: Array, axes: int) -> Array:
    """Add axes of length 1 at the end."""
    return table.reshape(*table.shape, *[1] * axes)
