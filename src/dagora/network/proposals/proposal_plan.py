"""Plans for sampling the missing values of a group: the role of each family in the proposal.

Given the discrete variables, missing continuous ones are jointly Gaussian, unless a discrete node has one of
them as a parent. The softmax of such a node shapes the proposal and enters the importance weight. Where that
would need too large tables, it enters the weight only.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from dagora.network.model import NetworkModel
from dagora.network.proposals.missing_groups import MissingGroup
from dagora.network.proposals.row_factors import find_order

# Floats of a row's largest table above which some discrete variables keep their value while the others are
# drawn: up to here, at least 64 rows are worked on together (`filled_rows.BLOCK`).
MOST_CELLS = 1 << 15
# A block of k continuous variables holds about this many arrays of (k + 1)² floats for each cell: terms of
# regressions, the softmax's expansion, both approximations, their Cholesky factors, and temporaries.
BLOCK_ARRAYS = 8


@dataclass(frozen=True)
class GaussianBlock:
    """Missing continuous variables that are jointly Gaussian given discrete ones."""

    continuous: tuple[str, ...]
    families: tuple[str, ...]  # continuous nodes whose regressions hold one of these variables
    discrete: tuple[str, ...]  # missing discrete variables on which the regressions depend
    children: tuple[str, ...] = ()  # discrete children; they shape the proposal


@dataclass(frozen=True)
class ProposalPlan:
    """A plan for sampling the missing values of one group."""

    discrete: tuple[str, ...]  # drawn jointly; other missing discrete variables keep their current value
    blocks: tuple[GaussianBlock, ...]
    exact: tuple[str, ...]  # families of discrete variables only: they enter the proposal exactly
    reweighted: tuple[str, ...]  # discrete children of missing continuous parents: they enter the weight
    order: tuple[str, ...]  # of elimination
    cells: int  # of a row's largest table
    widest: frozenset[str]  # the variables of that table

    @property
    def fits(self) -> bool:
        """Return True if the work on a row is affordable."""
        return self.cells <= MOST_CELLS or len(self.discrete) <= 1


def make_plan(
    model: NetworkModel, group: MissingGroup, discrete: tuple[str, ...], *, weight_only: bool = False
) -> ProposalPlan:
    """Plan to draw these discrete variables of a group, and all its continuous ones.

    With `weight_only`, discrete children do not shape the proposal of their continuous parents.
    """
    continuous = tuple(name for name in group.members if name not in model.levels)
    free = set(discrete)
    family = {node: (node, *model.parents[node]) for node in group.families}
    reweighted = tuple(
        node for node in group.families if node in model.choices and set(family[node]) & set(continuous)
    )
    touching = [
        node for node in group.families if node in model.lines and set(family[node]) & set(continuous)
    ]
    tied = touching if weight_only else [*touching, *reweighted]
    blocks = tuple(
        GaussianBlock(
            tuple(name for name in continuous if name in part),
            tuple(node for node in touching if set(family[node]) & part),
            tuple(name for name in discrete if any(name in family[n] for n in tied if set(family[n]) & part)),
            tuple(node for node in tied if node in reweighted and set(family[node]) & part),
        )
        for part in connected_parts(continuous, [set(family[node]) & set(continuous) for node in tied])
    )
    exact = tuple(node for node in group.families if node not in reweighted and node not in touching)
    sizes = {name: len(model.levels[name]) for name in discrete}
    scopes = [block.discrete for block in blocks] + [set(family[node]) & free for node in exact]
    order, widest, cells = find_order([*scopes, *([name] for name in discrete)], sizes)
    for block in blocks:
        slopes = sum(len(model.levels[child]) for child in block.children) * len(block.continuous)
        each = max(BLOCK_ARRAYS * (len(block.continuous) + 1) ** 2, slopes)
        cost = prod(sizes[name] for name in block.discrete) * each
        if cost > cells:
            widest, cells = frozenset(block.discrete), cost
    return ProposalPlan(discrete, blocks, exact, reweighted, tuple(order), cells, widest)


def affordable_plans(
    model: NetworkModel, group: MissingGroup, rng: np.random.Generator
) -> list[ProposalPlan]:
    """Return one plan for all discrete variables of a group, or several for some each if that is too much."""
    missing = tuple(name for name in group.members if name in model.levels)
    whole = make_plan(model, group, missing)
    for plan in (whole, make_plan(model, group, missing, weight_only=True)):
        if plan.fits:
            return [plan]
    plans: list[ProposalPlan] = []
    waiting = set(missing)
    while waiting:
        plan = whole
        while not plan.fits:
            wide = sorted(plan.widest)
            spare = [name for name in wide if name not in waiting] or wide
            left_out = spare[int(rng.integers(len(spare)))]
            plan = make_plan(model, group, tuple(name for name in plan.discrete if name != left_out))
        waiting -= set(plan.discrete)
        plans.append(plan)
    return plans


def connected_parts(variables: tuple[str, ...], links: list[set[str]]) -> list[set[str]]:
    """Split the variables into parts that no link connects.

    >>> [sorted(part) for part in connected_parts(("x", "y", "z"), [{"x"}, {"x", "z"}, {"y"}])]
    [['x', 'z'], ['y']]
    """
    parts: list[set[str]] = []
    for name in variables:
        if any(name in part for part in parts):
            continue
        part, grown = {name}, True
        while grown:
            wider = part.union(*(link for link in links if link & part))
            part, grown = wider, wider != part
        parts.append(part)
    return parts
