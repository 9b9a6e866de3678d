"""Draw the missing values of rows, all of a row jointly, for networks with any kinds of nodes.

In each row, the missing discrete values are drawn from their exact distribution given the observed values,
with the missing continuous ones integrated out; then the continuous ones from their Gaussian given the
discrete ones. So in most networks draws are independent, however rare the observed values. Two cases differ:

- A discrete node with a missing continuous parent makes that parent's distribution non-Gaussian. Candidates
  are drawn from Gaussian approximations and weighted (`importance_sampling`).
- If too many discrete variables depend on each other, some keep their value while the others are drawn, and
  others the next time (blocked Gibbs sampling).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import Budget, OutOfTimeError
from dagora.data.incomplete import IncompleteTable
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.network.drawing import draw_node
from dagora.network.model import NetworkModel
from dagora.network.node_likelihood import node_log_likelihoods
from dagora.network.proposals.importance_sampling import CANDIDATES, MissingValueProposal, resample
from dagora.network.proposals.missing_groups import MissingGroup, MissingGroups, find_missing_groups
from dagora.network.proposals.proposal_plan import ProposalPlan, affordable_plans

Floats = NDArray[np.float64]
Columns = dict[str, NDArray[Any]]
# Floats that are held in memory at a time, about (16 MiB).
BLOCK = 1 << 21


class FilledRows:
    """Copies of a table's rows with every missing value filled; `sweep` draws them anew.

    At first a missing value is one that was observed elsewhere in its column.

    >>> from dagora.network.regressions import Lines
    >>> whole = Table.from_numpy([["no", "1.5"], ["yes", "2.5"]], names=["ill", "dose"])
    >>> rows = FilledRows(IncompleteTable.of(whole, [[True, False], [True, True]]), copies=1, seed=1)
    >>> tables = {"ill": np.array([0.5, 0.5])}
    >>> lines = {"dose": Lines(np.array([1.5, 2.5]), np.zeros((2, 0)), np.array([0.1, 0.1]))}
    >>> graph = DAG(["ill", "dose"], [("ill", "dose")])
    >>> model = NetworkModel(graph, {"ill": ("no", "yes")}, tables, {}, lines)
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
        self._groups: tuple[DAG, MissingGroups] | None = None
        self._plans: dict[int, list[ProposalPlan]] = {}
        self.independent = True
        """True if the last draws do not depend on those before."""
        self.impossible = np.zeros(table.n_rows, dtype=np.bool_)
        """Rows whose missing values cannot be filled: the observed ones have probability 0."""
        self.effective = np.full(table.n_rows, np.inf)
        """The effective number of candidates among which the last draws were chosen; ∞ if draws are exact."""

    def table(self) -> Table:
        """The filled copies as they are now, one below the other."""
        return Table(self._schema, tuple(self.columns[name].ravel() for name in self._schema.names))

    def sweep(self, model: NetworkModel, budget: Budget | None = None) -> Floats:
        """Draw every missing value anew; return the log density of the observed values of each row.

        It is an estimate where discrete nodes have missing continuous parents, and NaN where discrete
        variables keep their value. If time is up, `OutOfTimeError` is raised; every missing value has its
        last draw then.
        """
        begun = self._groups is not None
        if self._groups is None or self._groups[0] != model.graph:
            self._groups, self._plans = (model.graph, find_missing_groups(model.graph, self._seen)), {}
        missing = self._groups[1]
        logs = np.zeros(self.n_rows)
        self.independent = True
        self.impossible[:] = False
        self.effective[:] = np.inf
        for node, rows in missing.whole.items():
            columns = {one: self.columns[one][0, rows] for one in (node, *model.parents[node])}
            found = node_log_likelihoods(model, node, columns, model.distributions)
            logs[rows] += found
            if node in model.levels:
                self.impossible[rows] |= np.isneginf(found)
        for number, group in enumerate(missing.groups):
            plans = self._plans.get(number) or affordable_plans(model, group, self._rng)
            if len(plans) == 1:
                self._plans[number] = plans
            if budget is not None and budget.exhausted:
                raise OutOfTimeError
            for plan in plans:
                whole = len(plans) == 1
                self.independent &= whole and not plan.reweighted
                size = plan.cells + self.copies * (2 + 2 * CANDIDATES * bool(plan.reweighted)) * len(
                    group.members
                )
                step = max(1, BLOCK // (size if whole else size * self.copies))
                for start in range(0, len(group.rows), step):
                    rows = group.rows[start : start + step]
                    logs[rows] += self._draw(model, group, plan, rows, whole=whole, begun=begun)
        for node, rows in missing.last.items():
            part = {one: self.columns[one][:, rows].ravel() for one in model.parents[node]}
            drawn = draw_node(model, node, part, self.copies * len(rows), self._rng)
            self.columns[node][:, rows] = drawn.reshape(self.copies, len(rows))
        return logs

    def _draw(
        self,
        model: NetworkModel,
        group: MissingGroup,
        plan: ProposalPlan,
        rows: NDArray[np.int64],
        *,
        whole: bool,
        begun: bool,
    ) -> Floats:
        """Draw the missing values of a group in some rows; return the log density of its observed values."""
        near = {one for node in group.families for one in (node, *model.parents[node])}
        # If all is drawn, copies have the same distribution: it is computed once.
        given = {
            name: self.columns[name][0, rows] if whole else self.columns[name][:, rows].ravel()
            for name in near
        }
        cases, picks = (len(rows), self.copies) if whole else (len(rows) * self.copies, 1)
        proposal = MissingValueProposal(model, plan, given, cases, self.scales(model))
        masses = proposal.log_masses
        if whole:
            self.impossible[rows] |= np.isneginf(masses)
        if plan.reweighted:
            before = {name: self.columns[name][:, rows].reshape(picks, cases) for name in near}
            resampled = resample(proposal, picks, before if begun else None, self._rng)
            drawn, masses = resampled.columns, resampled.log_masses
            if whole:
                self.effective[rows] = np.minimum(self.effective[rows], resampled.effective)
        else:
            drawn = proposal.draw(picks, self._rng)
        for name, column in drawn.items():
            self.columns[name][:, rows] = column.reshape(self.copies, len(rows))
        return masses if whole else np.full(len(rows), np.nan)

    def scales(self, model: NetworkModel) -> dict[str, tuple[float, float]]:
        """Mean and standard deviation of each continuous column as observed; if 0, that of its regression."""
        return {
            node: (mean, sd or float(model.lines[node].sds.max()) or 1.0)
            for node, (mean, sd) in self._scales.items()
            if node in model.lines
        }
