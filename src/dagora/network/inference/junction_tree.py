"""Exact inference on a discrete network by a junction tree, made once and asked about any evidence.

The moral graph is triangulated (`elimination`), its cliques form a tree, and two passes of messages leave
every clique with the joint distribution of its variables and the evidence (Lauritzen and Spiegelhalter 1988;
division by separators as in Jensen, Lauritzen and Olesen 1990). Messages are scaled to a largest entry of 1
and the scales add up as logarithms. Where the factors of a clique span more than a float can hold, the passes
are run again on logarithms.

A clique's axes are those it shares with its parent, in the parent's order, and then its own. So a message
fits its parent by new axes alone, without a transposition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import QueryError
from dagora.graph.dag import DAG
from dagora.network.inference.arithmetic import LOGARITHMIC, PLAIN, Arithmetic, Overspan, log_span
from dagora.network.inference.elimination import eliminate, members, moral_bits

Array = NDArray[np.float64]

MOST_CELLS = 50_000_000
"""Cells that the cliques of a tree may have together (400 MB; a calibration needs as much again)."""

CELLS_AT_ONCE = 1 << 19
"""Cells of the largest clique times rows that are calibrated together: few enough for a processor's cache."""


class Tables(Protocol):
    """What a tree needs of a network: a `DiscreteNetwork`, or the part of another that has tables."""

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


@dataclass(frozen=True)
class Place:
    """Where a node's family is found: the clique, the axes to sum out, and the order of those that stay."""

    clique: int
    summed: tuple[int, ...]
    transposed: tuple[int, ...]


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

    def __init__(self, network: Tables, most_cells: int = MOST_CELLS) -> None:
        graph = network.graph
        self.nodes = graph.nodes
        self._position = {node: i for i, node in enumerate(self.nodes)}
        self.sizes = [len(network.levels[node]) for node in self.nodes]
        self._families = [(*graph.parent_indices(i), i) for i in range(len(self.nodes))]
        # Variables of one level have no axis: a table may have more of them than numpy has axes.
        families = [[v for v in family if self.sizes[v] > 1] for family in self._families]
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
        self._homes = [self._find(family) for family in families]
        self._single = [self._find([v] if size > 1 else []) for v, size in enumerate(self.sizes)]
        self._set_tables(network.tables)

    def with_tables(self, tables: Mapping[str, Array]) -> JunctionTree:
        """The same tree for other parameters of the same graph; nothing is triangulated again."""
        tree = object.__new__(JunctionTree)
        tree.__dict__.update(self.__dict__)
        tree._set_tables(tables)
        return tree

    def _find(self, family: Sequence[int]) -> Place:
        """The smallest clique that holds a family."""
        held = set.intersection(*(self._holding[v] for v in family)) if family else range(len(self._cliques))
        best = min(held, key=lambda k: (self._clique_cells[k], k))
        variables = self._cliques[best].variables
        kept = [v for v in variables if v in family]
        return Place(
            best,
            tuple(axis for axis, v in enumerate(variables) if v not in family),
            tuple(kept.index(v) for v in family if v in kept),
        )

    def _set_tables(self, tables: Mapping[str, Array]) -> None:
        """Multiply each table into the clique of its family."""
        self._potentials = [np.ones([self.sizes[v] for v in clique.variables]) for clique in self._cliques]
        for node, home, family in zip(self.nodes, self._homes, self._families, strict=True):
            variables = self._cliques[home.clique].variables
            present = [v for v in family if self.sizes[v] > 1]
            table = np.asarray(tables[node]).reshape([self.sizes[v] for v in present])
            order = [v for v in variables if v in present]
            table = table.transpose([present.index(v) for v in order])
            shape = [self.sizes[v] if v in present else 1 for v in variables]
            self._potentials[home.clique] *= table.reshape(shape)
        self._spans = [log_span(potential) for potential in self._potentials]

    def calibrate(self, evidence: Mapping[str, int] | None = None) -> Calibrated:
        """Condition on the codes of observed nodes; tables keep an axis of length 1 for each of them."""
        seen = {self._position[node]: code for node, code in (evidence or {}).items()}

        def reduced(clique: Clique, potential: Array) -> Array:
            picked = [slice(seen[v], seen[v] + 1) if v in seen else slice(None) for v in clique.variables]
            return potential[tuple(picked)]

        potentials = [
            reduced(clique, potential)[None]
            for clique, potential in zip(self._cliques, self._potentials, strict=True)
        ]
        beliefs, log_probability = self._pass_messages(potentials)
        return Calibrated(self, beliefs, float(log_probability[0]), seen)

    def calibrate_many(self, codes: NDArray[np.integer]) -> CalibratedRows:
        """Condition on many rows at once: one column per node of the graph, −1 where nothing was observed.

        All rows are held together; `expected_families` goes through them in parts.
        """
        codes = np.asarray(codes)
        potentials: list[Array] = [potential[None] for potential in self._potentials]
        for v, place in enumerate(self._single):
            column = codes[:, v]
            if (column >= 0).any():
                likely = np.eye(self.sizes[v])[column]
                likely[column < 0] = 1.0
                variables = self._cliques[place.clique].variables
                shape = [self.sizes[v] if other == v else 1 for other in variables]
                potentials[place.clique] = potentials[place.clique] * likely.reshape(len(codes), *shape)
        beliefs, log_probabilities = self._pass_messages(potentials)
        return CalibratedRows(self, beliefs, np.broadcast_to(log_probabilities, len(codes)))

    def expected_families(
        self, codes: NDArray[np.integer], weights: Array | None = None
    ) -> tuple[dict[str, Array], Array]:
        """Expected counts of every family given many rows, and the log-probability of each row.

        A row counts `weights` times, once by default; a row of probability zero counts nothing.

        >>> from dagora.network.networks import DiscreteNetwork
        >>> tables = {"coin": np.array([0.25, 0.75])}
        >>> coin = DiscreteNetwork(DAG(["coin"]), {"coin": ("tails", "heads")}, tables)
        >>> counts, _ = JunctionTree(coin).expected_families(np.array([[0], [-1]]))
        >>> counts["coin"]
        array([1.25, 0.75])
        """
        codes = np.asarray(codes)
        weights = np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=np.float64)
        counts = [np.zeros([self.sizes[v] for v in clique.variables]) for clique in self._cliques]
        log_probabilities = np.zeros(len(codes))
        for part in self.parts(len(codes)):
            found = self.calibrate_many(codes[part])
            log_probabilities[part] = found.log_probabilities
            usable = np.where(np.isfinite(found.log_probabilities), weights[part], 0.0)
            for k, belief in enumerate(found.beliefs):
                rows = np.broadcast_to(belief, (len(usable), *belief.shape[1:]))
                counts[k] += np.tensordot(usable, rows, axes=1)
        families = {}
        for node, home in zip(self.nodes, self._homes, strict=True):
            families[node] = self._in_table_form(counts[home.clique][None], home, node)[0]
        return families, log_probabilities

    def parts(self, rows: int) -> Iterator[slice]:
        """Slices of rows that are few enough to be calibrated together."""
        largest = max((potential.size for potential in self._potentials), default=1)
        step = max(1, CELLS_AT_ONCE // largest)
        for start in range(0, rows, step):
            yield slice(start, min(start + step, rows))

    def _pass_messages(self, potentials: list[Array]) -> tuple[list[Array], Array]:
        try:
            return self._calibrated(potentials, PLAIN)
        except Overspan:
            with np.errstate(divide="ignore"):
                logs = [np.log(potential) for potential in potentials]
            return self._calibrated(logs, LOGARITHMIC)

    def _calibrated(self, potentials: list[Array], arithmetic: Arithmetic) -> tuple[list[Array], Array]:
        """Messages to the roots and back; every table has the rows as its first axis, or 1 for all rows."""
        beliefs = list(potentials)
        upward = list(potentials)
        spans = list(self._spans)
        log_probability = np.zeros(1)
        for k in reversed(range(len(beliefs))):
            clique = self._cliques[k]
            belief, scale = arithmetic.scaled(beliefs[k])
            log_probability = log_probability + scale
            message = arithmetic.summed(belief, tuple(axis + 1 for axis in clique.own))
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
        for k, clique in enumerate(self._cliques):
            if clique.parent < 0:
                continue
            above = arithmetic.summed(beliefs[clique.parent], tuple(axis + 1 for axis in clique.others))
            ratio = arithmetic.times(above, arithmetic.inverse(upward[k]))
            beliefs[k] = arithmetic.times(beliefs[k], expand(ratio, len(clique.own)))
        return [arithmetic.plain(belief) for belief in beliefs], log_probability

    def _in_table_form(self, belief: Array, place: Place, node: str) -> Array:
        """The distribution of a family with the axes of the node's table, rows first."""
        found = belief.sum(axis=tuple(axis + 1 for axis in place.summed))
        found = found.transpose(0, *(axis + 1 for axis in place.transposed))
        family = self._families[self._position[node]]
        lengths = iter(found.shape[1:])
        shape = [next(lengths) if self.sizes[v] > 1 else 1 for v in family]
        return np.asarray(found.reshape(len(found), *shape))


@dataclass(frozen=True, eq=False)
class Calibrated:
    """A tree after one set of evidence; distributions are those given the evidence."""

    tree: JunctionTree
    beliefs: list[Array]
    log_probability: float
    """ln P(evidence); −∞ where it is impossible, and then all distributions are zero."""
    seen: Mapping[int, int]

    def family(self, node: str) -> Array:
        """P(parents…, node | evidence), with the axes of the node's table."""
        tree = self.tree
        position = tree._position[node]  # noqa: SLF001
        place = tree._homes[position]  # noqa: SLF001
        found = tree._in_table_form(self.beliefs[place.clique], place, node)[0]  # noqa: SLF001
        family = tree._families[position]  # noqa: SLF001
        if not any(v in self.seen for v in family):
            return np.asarray(found)
        full = np.zeros([tree.sizes[v] for v in family])
        full[
            tuple(slice(self.seen[v], self.seen[v] + 1) if v in self.seen else slice(None) for v in family)
        ] = found
        return full

    def marginal(self, node: str) -> Array:
        """P(node | evidence)."""
        tree = self.tree
        position = tree._position[node]  # noqa: SLF001
        place = tree._single[position]  # noqa: SLF001
        found = np.asarray(self.beliefs[place.clique][0].sum(axis=place.summed)).reshape(-1)
        if position not in self.seen:
            return np.asarray(found)
        full = np.zeros(tree.sizes[position])
        full[self.seen[position]] = found[0]
        return full


@dataclass(frozen=True, eq=False)
class CalibratedRows:
    """A tree after many rows of evidence; every distribution has the rows as its first axis."""

    tree: JunctionTree
    beliefs: list[Array]
    log_probabilities: Array
    """ln P(evidence) of each row."""

    def family(self, node: str) -> Array:
        """P(parents…, node | evidence) of each row."""
        tree = self.tree
        place = tree._homes[tree._position[node]]  # noqa: SLF001
        found = tree._in_table_form(self.beliefs[place.clique], place, node)  # noqa: SLF001
        return np.broadcast_to(found, (len(self.log_probabilities), *found.shape[1:]))

    def marginal(self, node: str) -> Array:
        """P(node | evidence) of each row."""
        family = self.family(node)
        return np.asarray(family.sum(axis=tuple(range(1, family.ndim - 1))))


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
        around = members(neighbours[v])
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
