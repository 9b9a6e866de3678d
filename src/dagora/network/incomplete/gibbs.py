"""Draws of missing cells by Gibbs sampling, for networks whose nodes are of both kinds.

Every cell that is missing is drawn anew given the rest of its row, column after column, in sweeps. A level is
drawn from its exact distribution given parents and children. A number is drawn from the normal distribution
that its own line and the lines of its continuous children make together; if it has discrete children, that
draw is a proposal, which their probabilities accept or refuse. Such chains stay long where they begin if what
was seen can have come about in very different ways. So they begin with draws by importance: the missing cells
of a row are drawn along the arrows many times, and one of these is taken, in proportion to the probability
that it gives to what was seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.data.incomplete import IncompleteTable
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.network.drawing import configurations, draw_node, node_means, node_sds
from dagora.network.model import Model
from dagora.network.node_likelihood import node_log_likelihoods

Floats = NDArray[np.float64]
Columns = dict[str, NDArray[Any]]
# Candidates for the first filling of a row, and rows that are drawn at a time.
CANDIDATES, BLOCK = 100, 2000
# A line without noise would hold its child to it for ever: it is given this share of a standard deviation.
SMALLEST_SD = 1e-9


class FilledRows:
    """Copies of a table's rows, one below the other, with every hole filled; `sweep` draws the holes anew.

    At first a hole has a value that was seen elsewhere in its column, or 0 where none was.

    >>> from dagora.graph.dag import DAG
    >>> whole = Table.from_numpy([["no", "1.5"], ["yes", "2.5"]], names=["ill", "dose"])
    >>> rows = FilledRows(IncompleteTable.of(whole, [[True, False], [True, True]]), copies=1, seed=1)
    >>> tables = {"ill": np.array([0.0, 1.0])}
    >>> from dagora.network.regressions import Lines
    >>> lines = {"dose": Lines(np.array([0.0, 2.0]), np.zeros((2, 0)), np.array([1.0, 1.0]))}
    >>> rows.sweep(Model(DAG(["ill", "dose"], [("ill", "dose")]), {"ill": ("no", "yes")}, tables, {}, lines))
    >>> rows.table().codes(0).tolist()
    [0, 1]
    """

    def __init__(self, table: IncompleteTable, copies: int, seed: int) -> None:
        self._table = table
        self._copies = copies
        self._schema = table.schema
        self._rng = np.random.default_rng([seed, 47])
        self.columns: Columns = {}
        self._gone: dict[str, NDArray[np.int64]] = {}
        for variable, column, seen in zip(table.schema, table.columns, table.seen, strict=True):
            stacked = np.tile(column, copies)
            gone = np.flatnonzero(~np.tile(seen, copies))
            if len(gone) and seen.any():
                stacked[gone] = self._rng.choice(column[seen], size=len(gone))
            self.columns[variable.name] = stacked
            self._gone[variable.name] = gone

    def holes(self, name: str) -> NDArray[np.int64]:
        """The rows in which a column is missing, of all copies."""
        return self._gone[name]

    def table(self) -> Table:
        """The filled rows as they are now."""
        return Table(self._schema, tuple(self.columns[name].copy() for name in self._schema.names))

    def begin(self, model: Model) -> None:
        """Fill every hole by importance, all holes of a row together."""
        rows = np.flatnonzero(~self._table.seen.all(axis=0))
        for start in range(0, len(rows), BLOCK):
            self._begin_with(model, rows[start : start + BLOCK])

    def _begin_with(self, model: Model, rows: NDArray[np.int64]) -> None:
        number, size = self._table.n_rows, len(rows) * CANDIDATES
        columns: Columns = {}
        logs = np.zeros(size)
        for node in model.order:
            place = self._schema.index(node)
            seen = np.repeat(self._table.seen[place][rows], CANDIDATES)
            given = np.repeat(self._table.columns[place][rows], CANDIDATES)
            columns[node] = (
                given
                if seen.all()
                else np.where(seen, given, draw_node(model, node, columns, size, self._rng))
            )
            if seen.any():
                columns[node] = columns[node].astype(given.dtype)
                logs += np.where(seen, node_log_likelihoods(model, node, columns, model.distributions), 0.0)
        logs = logs.reshape(len(rows), CANDIDATES)
        logs[np.isneginf(logs).all(axis=1)] = 0.0
        for copy in range(self._copies):
            best = (logs + self._rng.gumbel(size=logs.shape)).argmax(axis=1)
            chosen = np.arange(len(rows)) * CANDIDATES + best
            for node, column in columns.items():
                gone = ~self._table.seen[self._schema.index(node)][rows]
                self.columns[node][copy * number + rows[gone]] = column[chosen[gone]]

    def sweep(self, model: Model) -> None:
        """Draw every hole anew, given the rest of its row."""
        children = {node: model.graph.children(node) for node in model.graph}
        for variable in self._schema:
            node, gone = variable.name, self._gone[variable.name]
            if not len(gone) or node not in model.parents:
                continue
            near = {node, *model.parents[node], *children[node]}
            near.update(parent for child in children[node] for parent in model.parents[child])
            part = {name: self.columns[name][gone] for name in near}
            draw = self._levels if variable.kind is Kind.DISCRETE else self._numbers
            self.columns[node][gone] = draw(model, node, children[node], part)

    def _levels(self, model: Model, node: str, children: tuple[str, ...], part: Columns) -> NDArray[Any]:
        """Levels, each from its distribution given parents and children."""
        rows, number = len(part[node]), len(model.levels[node])
        chances = np.empty((rows, number))
        for level in range(number):
            given = {**part, node: np.full(rows, level, dtype=part[node].dtype)}
            chances[:, level] = log_chances(model, (node, *children), given)
        impossible = np.isneginf(chances).all(axis=1)
        chances[impossible] = 0.0  # nothing in the row is possible: any level is as good
        # The largest of log chances with Gumbel noise is a draw.
        return np.asarray((chances + self._rng.gumbel(size=chances.shape)).argmax(axis=1), dtype=np.uint16)

    def _numbers(self, model: Model, node: str, children: tuple[str, ...], part: Columns) -> NDArray[Any]:
        """Numbers from the product of lines; discrete children accept or refuse them."""
        lines = model.lines[node]
        sds = np.broadcast_to(node_sds(model, lines, node, part), len(part[node]))
        precision = 1 / np.maximum(sds, SMALLEST_SD) ** 2
        weighted = precision * node_means(model, lines, node, part)
        for child in children:
            if child not in model.lines:
                continue
            slope = slope_on(model, child, node, part)
            sd = np.maximum(node_sds(model, model.lines[child], child, part), SMALLEST_SD)
            rest = part[child] - node_means(model, model.lines[child], child, part) + slope * part[node]
            precision = precision + slope**2 / sd**2
            weighted = weighted + slope * rest / sd**2
        proposed = weighted / precision + self._rng.standard_normal(len(precision)) / np.sqrt(precision)
        choosing = tuple(child for child in children if child not in model.lines)
        if not choosing:
            return np.asarray(proposed)
        before = log_chances(model, choosing, part)
        after = log_chances(model, choosing, {**part, node: proposed})
        with np.errstate(invalid="ignore"):
            accepted = np.log(self._rng.random(len(before))) < np.where(
                np.isneginf(before), 0.0, after - before
            )
        return np.where(accepted, proposed, part[node])


def log_chances(model: Model, nodes: tuple[str, ...], columns: Mapping[str, NDArray[Any]]) -> Floats:
    """Ln of the probability or density of some nodes together, given their parents, row by row."""
    total: Floats = np.zeros(len(columns[nodes[0]]))
    for node in nodes:
        total = total + node_log_likelihoods(model, node, columns, model.distributions)
    return total


def slope_on(model: Model, child: str, parent: str, columns: Mapping[str, NDArray[Any]]) -> Floats:
    """The slope of a continuous child on one of its continuous parents, row by row."""
    position = model.continuous_parents(child).index(parent)
    rows = len(columns[child])
    slopes = model.lines[child].slopes[configurations(model, child, columns)]
    return np.broadcast_to(slopes[..., position], (rows,)).astype(np.float64)
