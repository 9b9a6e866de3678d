"""How the missing cells of a group are drawn: which families weigh levels, which numbers hang together.

Given levels, missing numbers are normal, as long as no discrete node has one of them as a parent. Families of
such discrete nodes are judges: they say where to draw numbers, and weigh what was drawn. Where that makes
tables too large, they only weigh.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from dagora.network.incomplete.hole_groups import Group
from dagora.network.incomplete.level_elimination import find_order
from dagora.network.model import Model

# Cells of a row's largest table above which some levels stay as they are while others are drawn. Where k
# numbers hang on a cell, it counts `NUMBERS` (k + 1)² times, or as often as judges have slopes.
MOST_CELLS, NUMBERS = 1 << 15, 8


@dataclass(frozen=True)
class Piece:
    """Missing numbers that hang together, the lines that say so, and the levels these depend on.

    `judges` are discrete nodes that depend on the numbers, and say where to draw them.
    """

    numbers: tuple[str, ...]
    families: tuple[str, ...]
    levels: tuple[str, ...]
    judges: tuple[str, ...] = ()


@dataclass(frozen=True)
class GroupPlan:
    """What is drawn together: `levels` (the other missing ones stay as they are) and the numbers of `pieces`.

    `weighing` are families that weigh levels alone, `judging` those of discrete nodes with a missing number
    among their parents. `cells` is the largest table of a row.
    """

    levels: tuple[str, ...]
    pieces: tuple[Piece, ...]
    weighing: tuple[str, ...]
    judging: tuple[str, ...]
    order: tuple[str, ...]
    cells: int
    widest: frozenset[str]

    @property
    def fits(self) -> bool:
        """Whether the work on a row is affordable."""
        return self.cells <= MOST_CELLS or len(self.levels) <= 1


def make_plan(model: Model, group: Group, levels: tuple[str, ...], *, aside: bool = False) -> GroupPlan:
    """Plan to draw these levels of a group, and all its numbers; judges that are `aside` only weigh."""
    numbers = tuple(name for name in group.members if name not in model.levels)
    free = set(levels)
    family = {node: (node, *model.parents[node]) for node in group.families}
    judging = tuple(
        node for node in group.families if node in model.choices and set(family[node]) & set(numbers)
    )
    touching = [node for node in group.families if node in model.lines and set(family[node]) & set(numbers)]
    tied = touching if aside else [*touching, *judging]
    pieces = tuple(
        Piece(
            tuple(name for name in numbers if name in part),
            tuple(node for node in touching if set(family[node]) & part),
            tuple(name for name in levels if any(name in family[n] for n in tied if set(family[n]) & part)),
            tuple(node for node in tied if node in judging and set(family[node]) & part),
        )
        for part in connected(numbers, [set(family[node]) & set(numbers) for node in tied])
    )
    weighing = tuple(node for node in group.families if node not in judging and node not in touching)
    sizes = {name: len(model.levels[name]) for name in levels}
    scopes = [piece.levels for piece in pieces] + [set(family[node]) & free for node in weighing]
    order, widest, cells = find_order([*scopes, *([name] for name in levels)], sizes)
    for piece in pieces:
        slopes = sum(len(model.levels[judge]) for judge in piece.judges) * len(piece.numbers)
        each = max(NUMBERS * (len(piece.numbers) + 1) ** 2, slopes)
        cost = prod(sizes[name] for name in piece.levels) * each
        if cost > cells:
            widest, cells = frozenset(piece.levels), cost
    return GroupPlan(levels, pieces, weighing, judging, tuple(order), cells, widest)


def affordable_plans(model: Model, group: Group, rng: np.random.Generator) -> list[GroupPlan]:
    """One plan that draws all levels of a group, or, where that is too much, several that draw some each."""
    missing = tuple(name for name in group.members if name in model.levels)
    whole = make_plan(model, group, missing)
    for plan in (whole, make_plan(model, group, missing, aside=True)):
        if plan.fits:
            return [plan]
    plans: list[GroupPlan] = []
    waiting = set(missing)
    while waiting:
        plan = whole
        while not plan.fits:
            wide = sorted(plan.widest)
            spare = [name for name in wide if name not in waiting] or wide
            left_out = spare[int(rng.integers(len(spare)))]
            plan = make_plan(model, group, tuple(name for name in plan.levels if name != left_out))
        waiting -= set(plan.levels)
        plans.append(plan)
    return plans


def connected(numbers: tuple[str, ...], links: list[set[str]]) -> list[set[str]]:
    """The numbers in parts that no link connects.

    >>> [sorted(part) for part in connected(("x", "y", "z"), [{"x"}, {"x", "z"}, {"y"}])]
    [['x', 'z'], ['y']]
    """
    parts: list[set[str]] = []
    for name in numbers:
        if any(name in part for part in parts):
            continue
        part, grown = {name}, True
        while grown:
            wider = part.union(*(link for link in links if link & part))
            part, grown = wider, wider != part
        parts.append(part)
    return parts
