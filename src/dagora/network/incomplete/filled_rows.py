"""Draws of missing cells, all holes of a row together, for networks with any kinds of nodes.

In each row, the missing levels are drawn from their exact distribution given all that was seen, with the
missing numbers integrated out; then the numbers from their normal distribution given the levels. So draws are
independent of each other, however rare what was seen, in most networks. Two cases are not:

- A discrete node with a missing number among its parents makes numbers other than normal. There, candidates
  are drawn from a normal approximation for each configuration of levels, and weighed (`weighed_draws`).
- Where too many levels hang together, some of them stay as they were while the others are drawn, and the next
  time others (Gibbs sampling in blocks).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Budget, OutOfTimeError
from dagora.data.incomplete import IncompleteTable
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.network.drawing import draw_node
from dagora.network.incomplete.group_plan import GroupPlan, affordable_plans
from dagora.network.incomplete.hole_groups import Group, Holes, find_holes
from dagora.network.incomplete.weighed_draws import CANDIDATES, Proposal, pick
from dagora.network.model import Model
from dagora.network.node_likelihood import node_log_likelihoods

Floats = NDArray[np.float64]
Columns = dict[str, NDArray[Any]]
# Numbers that are held in memory at a time, about.
BLOCK = 1 << 21


class FilledRows:
    """Copies of a table's rows with every hole filled; `sweep` draws the holes anew.

    At first a hole has a value that was seen elsewhere in its column.

    >>> from dagora.network.regressions import Lines
    >>> whole = Table.from_numpy([["no", "1.5"], ["yes", "2.5"]], names=["ill", "dose"])
    >>> rows = FilledRows(IncompleteTable.of(whole, [[True, False], [True, True]]), copies=1, seed=1)
    >>> tables = {"ill": np.array([0.5, 0.5])}
    >>> lines = {"dose": Lines(np.array([1.5, 2.5]), np.zeros((2, 0)), np.array([0.1, 0.1]))}
    >>> model = Model(DAG(["ill", "dose"], [("ill", "dose")]), {"ill": ("no", "yes")}, tables, {}, lines)
    >>> rows.sweep(model).round(3)  # ln of the density of what was seen in each row
    array([0.69, 0.69])
    >>> rows.table().codes(0).tolist()
    [0, 1]
    """

    def __init__(self, table: IncompleteTable, copies: int, seed: int) -> None:
        self.copies, self.n_rows = copies, table.n_rows
        self._schema = table.schema
        self._rng = np.random.default_rng([seed, 47])
        self._seen = dict(zip(table.names, table.seen, strict=True))
        self.columns: Columns = {}
        """Codes or numbers of each column: a row for each copy."""
        self._scales: dict[str, tuple[float, float]] = {}
        for variable, column, seen in zip(table.schema, table.columns, table.seen, strict=True):
            filled = np.tile(column, (copies, 1))
            if seen.any():
                filled[:, ~seen] = self._rng.choice(column[seen], size=(copies, int((~seen).sum())))
            self.columns[variable.name] = filled
            if variable.kind is Kind.CONTINUOUS:
                known = column[seen] if seen.any() else np.zeros(1)
                self._scales[variable.name] = (float(known.mean()), float(known.std()))
        self._holes: tuple[DAG, Holes] | None = None
        self._plans: dict[int, list[GroupPlan]] = {}
        self.independent = True
        """Whether the last draws do not depend on those before."""
        self.impossible = np.zeros(table.n_rows, dtype=np.bool_)
        """Rows whose holes cannot be filled: what was seen has probability 0."""
        self.effective = np.full(table.n_rows, np.inf)
        """How many independent candidates those were worth of which the last draws were picked."""

    def table(self) -> Table:
        """The filled copies as they are now, one below the other."""
        return Table(self._schema, tuple(self.columns[name].ravel() for name in self._schema.names))

    def sweep(self, model: Model, budget: Budget | None = None) -> Floats:
        """Draw every hole anew; return ln of the density of what was seen in each row.

        Where discrete nodes judge numbers, that density is an estimate; where levels stay as they are, NaN.
        Where time is up, `OutOfTimeError` is raised; every hole is filled, with what was drawn last.
        """
        begun = self._holes is not None
        if self._holes is None or self._holes[0] != model.graph:
            self._holes, self._plans = (model.graph, find_holes(model.graph, self._seen)), {}
        holes = self._holes[1]
        logs = np.zeros(self.n_rows)
        self.independent = True
        self.impossible[:] = False
        self.effective[:] = np.inf
        for node, rows in holes.whole.items():
            columns = {one: self.columns[one][0, rows] for one in (node, *model.parents[node])}
            found = node_log_likelihoods(model, node, columns, model.distributions)
            logs[rows] += found
            if node in model.levels:
                self.impossible[rows] |= np.isneginf(found)
        for number, group in enumerate(holes.groups):
            plans = self._plans.get(number) or affordable_plans(model, group, self._rng)
            if len(plans) == 1:
                self._plans[number] = plans
            if budget is not None and budget.exhausted:
                raise OutOfTimeError
            for plan in plans:
                whole = len(plans) == 1
                self.independent &= whole and not plan.judging
                size = plan.cells + self.copies * (2 + 2 * CANDIDATES * bool(plan.judging)) * len(
                    group.members
                )
                step = max(1, BLOCK // (size if whole else size * self.copies))
                for start in range(0, len(group.rows), step):
                    rows = group.rows[start : start + step]
                    logs[rows] += self._draw(model, group, plan, rows, whole=whole, begun=begun)
        for node, rows in holes.last.items():
            part = {one: self.columns[one][:, rows].ravel() for one in model.parents[node]}
            drawn = draw_node(model, node, part, self.copies * len(rows), self._rng)
            self.columns[node][:, rows] = drawn.reshape(self.copies, len(rows))
        return logs

    def _draw(
        self,
        model: Model,
        group: Group,
        plan: GroupPlan,
        rows: NDArray[np.int64],
        *,
        whole: bool,
        begun: bool,
    ) -> Floats:
        """Draw the holes of a group in some rows; return ln of what was seen of it."""
        near = {one for node in group.families for one in (node, *model.parents[node])}
        # Where all is drawn, copies have the same distribution: it is worked out once.
        given = {
            name: self.columns[name][0, rows] if whole else self.columns[name][:, rows].ravel()
            for name in near
        }
        cases, picks = (len(rows), self.copies) if whole else (len(rows) * self.copies, 1)
        proposal = Proposal(model, plan, given, cases, self.scales(model))
        masses = proposal.log_masses
        if whole:
            self.impossible[rows] |= np.isneginf(masses)
        if plan.judging:
            before = {name: self.columns[name][:, rows].reshape(picks, cases) for name in near}
            picked = pick(proposal, picks, before if begun else None, self._rng)
            drawn, masses = picked.columns, picked.log_masses
            if whole:
                self.effective[rows] = np.minimum(self.effective[rows], picked.effective)
        else:
            drawn = proposal.draw(picks, self._rng)
        for name, column in drawn.items():
            self.columns[name][:, rows] = column.reshape(self.copies, len(rows))
        return masses if whole else np.full(len(rows), np.nan)

    def scales(self, model: Model) -> dict[str, tuple[float, float]]:
        """Mean and standard deviation of what was seen of each number; where it is 0, that of its lines."""
        return {
            node: (mean, sd or float(model.lines[node].sds.max()) or 1.0)
            for node, (mean, sd) in self._scales.items()
            if node in model.lines
        }
