"""The distribution of the missing values of rows given what was seen there: exact, or by weighted draws.

All rows have the same pattern of missing values. The distribution of a missing value is exact unless a
discrete node that bears on it has a missing continuous parent: then the row's missing values are drawn from
the approximations of `importance_sampling`, and weighted. A value without observed descendants is drawn
forward. All rows use the same random numbers, so an answer depends on its row alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.network.drawing import Noise, draw_node
from dagora.network.model import NetworkModel
from dagora.network.node_likelihood import node_log_likelihoods
from dagora.network.proposals.gaussian_block import BlockDistribution, regression_terms
from dagora.network.proposals.importance_sampling import MissingValueProposal, block_columns, exact_factors
from dagora.network.proposals.missing_groups import MissingGroup, split_groups
from dagora.network.proposals.proposal_plan import MOST_CELLS, ProposalPlan, make_plan
from dagora.network.proposals.row_factors import Floats, RowFactor, SharedNoise, find_order, marginal

Columns = dict[str, NDArray[Any]]
Scales = Mapping[str, tuple[float, float]]
# Forward draws from which the mean and standard deviation of each continuous node are taken.
SCALE_DRAWS = 1000


class UnaffordableError(Exception):
    """Too many missing discrete values of a row depend on each other."""


@dataclass(frozen=True, eq=False)
class WeightedDraws:
    """Draws of the missing values (draws × rows each), with a log weight for each group of them."""

    columns: Columns
    log_weights: Mapping[str, tuple[Floats, ...]]
    """By node: of the groups on which its draws depend; without an entry, draws have equal weights."""
    impossible: NDArray[np.bool_]
    """Rows whose observed values have probability 0."""

    def weights(self, nodes: Collection[str]) -> Floats:
        """Weights that sum to 1 in each row, for questions about these nodes."""
        different = {id(one): one for node in nodes for one in self.log_weights.get(node, ())}
        shape = next(iter(self.columns.values())).shape
        logs = sum(different.values(), start=np.zeros(shape))
        raw = np.exp(logs - np.maximum(logs.max(axis=0), -1e300))
        return np.asarray(raw / np.maximum(raw.sum(axis=0), 1e-300))


@dataclass(frozen=True, eq=False)
class ValueDistribution:
    """Of one missing node in each row: probabilities of its levels, or mean and standard deviation."""

    probabilities: Floats | None = None
    mean: Floats | None = None
    sd: Floats | None = None


class RowPosteriors:
    """The missing nodes of some rows with one pattern of missing values.

    `given` has a value of each observed node for every row. `scales` are a mean and standard deviation of
    each continuous node, of the network and not of the rows. Nodes that are `fixed` were set from outside.

    >>> from dagora.graph.dag import DAG
    >>> tables = {"rain": np.array([0.8, 0.2]), "wet": np.array([[0.9, 0.1], [0.3, 0.7]])}
    >>> graph = DAG(["rain", "wet"], [("rain", "wet")])
    >>> model = NetworkModel(graph, {"rain": ("no", "yes"), "wet": ("no", "yes")}, tables)
    >>> rows = RowPosteriors(model, {"wet": np.array([1, 0])}, 2, {})
    >>> rows.exact("rain").probabilities.round(3).tolist()
    [[0.364, 0.636], [0.923, 0.077]]
    """

    def __init__(
        self, model: NetworkModel, given: Columns, rows: int, scales: Scales, fixed: Collection[str] = ()
    ) -> None:
        self._fixed = fixed
        self._model, self._given, self._rows, self._scales = model, given, rows, scales
        self.gone = tuple(node for node in model.order if node not in given)
        self._rank = {node: i for i, node in enumerate(model.order)}
        self._children = {node: model.graph.children(node) for node in model.graph}
        self._unheard: set[str] = set()
        for node in reversed(self.gone):
            if all(child in self._unheard for child in self._children[node]):
                self._unheard.add(node)
        self._parts: dict[tuple[str, ...], GroupDistribution | None] = {}

    @cached_property
    def impossible(self) -> NDArray[np.bool_]:
        """Rows in which a family that was seen as a whole has probability 0."""
        found = np.zeros(self._rows, dtype=np.bool_)
        for node in self._given:
            if node in self._fixed or node not in self._model.levels:
                continue
            if all(one in self._given for one in self._model.parents[node]):
                found |= np.isneginf(
                    node_log_likelihoods(self._model, node, self._given, self._model.distributions)
                )
        return found

    def exact(self, node: str) -> ValueDistribution | None:
        """The distribution of a missing node; None where it can only be drawn."""
        above = self._ancestors(node) & self._unheard
        group = self._group_of(node, (set(self.gone) - self._unheard) | above)
        if group.members not in self._parts:
            plan = make_plan(self._model, group, tuple(n for n in group.members if n in self._model.levels))
            usable = plan.fits and not plan.reweighted
            self._parts[group.members] = (
                GroupDistribution(self._model, plan, self._given, self._rows, self._scales)
                if usable
                else None
            )
        part = self._parts[group.members]
        return None if part is None else part.distribution(node)

    def _ancestors(self, node: str) -> set[str]:
        """A missing node and its ancestors up to observed ones."""
        found, waiting = {node}, [node]
        while waiting:
            new = [one for one in self._model.parents[waiting.pop()] if one not in self._given]
            waiting += [one for one in new if one not in found]
            found |= set(new)
        return found

    def _group_of(self, node: str, members: set[str]) -> MissingGroup:
        return next(group for group in self._groups(members) if node in group.members)

    def _groups(self, members: set[str]) -> list[MissingGroup]:
        left_out = set(self.gone) - members
        keys = split_groups(members, left_out, self._model.parents, self._children, self._rank)
        return [MissingGroup(*key, np.arange(self._rows)) for key in keys]

    def draw(self, draws: int, noise: Noise | None = None) -> WeightedDraws:
        """Draw all missing values; raises `UnaffordableError` if too many levels depend on each other."""
        rng = noise or SharedNoise(0, self._rows)
        columns: Columns = {}
        weights: dict[str, tuple[Floats, ...]] = {}
        impossible = self.impossible.copy()
        for group in self._groups(set(self.gone) - self._unheard):
            plan = self._affordable(group)
            near = {one for node in group.families for one in (node, *self._model.parents[node])}
            given = {name: self._given[name] for name in near if name in self._given}
            proposal = MissingValueProposal(self._model, plan, given, self._rows, self._scales)
            impossible |= np.isneginf(proposal.log_masses)
            drawn = proposal.draw(draws, rng)
            columns.update(drawn)
            if plan.reweighted:
                own = (proposal.log_weights(drawn),)
                weights.update(dict.fromkeys(drawn, own))
        for node in self.gone:
            if node in self._unheard:
                beside = {**self._given, **columns}
                wide = {
                    one: np.broadcast_to(beside[one], (draws, self._rows)).ravel()
                    for one in self._model.parents[node]
                }
                drawn_last = draw_node(self._model, node, wide, draws * self._rows, rng)
                columns[node] = drawn_last.reshape(draws, self._rows)
                above = {id(part): part for one in wide for part in weights.get(one, ())}
                weights[node] = tuple(above.values())
        return WeightedDraws(columns, weights, impossible)

    def _affordable(self, group: MissingGroup) -> ProposalPlan:
        levels = tuple(name for name in group.members if name in self._model.levels)
        for weight_only in (False, True):
            plan = make_plan(self._model, group, levels, weight_only=weight_only)
            if plan.fits:
                return plan
        raise UnaffordableError


class GroupDistribution:
    """The exact distribution of a group of missing values."""

    def __init__(
        self, model: NetworkModel, plan: ProposalPlan, given: Columns, rows: int, scales: Scales
    ) -> None:
        self._rows, self._plan = rows, plan
        self._sizes = {name: len(model.levels[name]) for name in plan.discrete}
        self._blocks = []
        for block in plan.blocks:
            columns, shape = block_columns(model, block, given, self._sizes, rows)
            terms = regression_terms(model, block, columns, shape, scales)
            self._blocks.append(BlockDistribution(block, terms, scales))
        self._factors: list[RowFactor] = [
            *exact_factors(model, plan, given, rows),
            *(block.factor for block in self._blocks),
        ]

    def distribution(self, node: str) -> ValueDistribution | None:
        """Of one node; None where its table would be too large."""
        if node in self._sizes:
            chances = self._chances((node,))
            return None if chances is None else ValueDistribution(probabilities=chances)
        place = next(k for k, block in enumerate(self._plan.blocks) if node in block.continuous)
        chances = self._chances(self._plan.blocks[place].discrete)
        if chances is None:
            return None
        means, variances = self._blocks[place].moments(node)
        axes = tuple(range(1, chances.ndim))
        mean = (chances * means).sum(axis=axes)
        off = means - mean.reshape(-1, *([1] * len(axes)))
        spread = (chances * (variances + off**2)).sum(axis=axes)
        return ValueDistribution(mean=mean, sd=np.sqrt(np.maximum(spread, 0.0)))

    def _chances(self, kept: Sequence[str]) -> Floats | None:
        """The joint distribution of some discrete nodes in each row; NaN in impossible rows."""
        scopes = [factor.variables for factor in self._factors]
        order, _, cells = find_order([*scopes, kept], self._sizes, kept)
        if cells > MOST_CELLS:
            return None
        logs = marginal(self._factors, order, kept, self._sizes, self._rows)
        flat = logs.reshape(self._rows, -1)
        with np.errstate(invalid="ignore"):
            raw = np.exp(flat - flat.max(axis=1, keepdims=True))
            return np.asarray((raw / raw.sum(axis=1, keepdims=True)).reshape(logs.shape))


def network_scales(
    model: NetworkModel, fixed: Mapping[str, float] | None = None
) -> dict[str, tuple[float, float]]:
    """Mean and standard deviation of each continuous node of a network, by forward draws of a fixed seed.

    Nodes that are `fixed` have no distribution of their own.
    """
    rng = np.random.default_rng(61)
    columns: Columns = {}
    scales = {}
    for node in model.order:
        if fixed and node in fixed:
            value = fixed[node]
            columns[node] = np.full(SCALE_DRAWS, value if node not in model.levels else int(value))
            continue
        columns[node] = draw_node(model, node, columns, SCALE_DRAWS, rng)
        if node in model.lines:
            sd = float(columns[node].std())
            scales[node] = (float(columns[node].mean()), sd or float(model.lines[node].sds.max()) or 1.0)
    return scales
