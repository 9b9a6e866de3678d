"""Directions from all separating sets: conservative (Ramsey et al. 2006), or by majority.

For each path a — c — b whose ends are not adjacent, a and b are tested given every set around them. If c is
in none of the sets that separate them, the path is a → c ← b; if it is in some but not in all, it is in
doubt. By majority (Colombo & Maathuis 2014) only half counts as doubt. A path in doubt is no v-structure.
"""

from __future__ import annotations

import numpy as np

from dagora.constraint.orientation import Separates, colliders
from dagora.constraint.skeleton import Skeleton, sets_around
from dagora.independence.independence_test import IndependenceTest
from dagora.run import Run

Path = tuple[int, int, int]


def by_votes(
    found: Skeleton, test: IndependenceTest, alpha: float, run: Run, *, majority: bool
) -> tuple[Separates, int]:
    """What says whether the node between two others separates them, and how many paths are in doubt."""
    votes = {path: share_with(found, test, alpha, path, run) for path in colliders(found.adjacent, never)}
    doubtful = sum(share == 0.5 if majority else 0 < share < 1 for share in votes.values())

    def separates(a: int, c: int, b: int) -> bool:
        return votes[a, c, b] >= 0.5 if majority else votes[a, c, b] > 0

    return separates, doubtful


def with_untested(found: Skeleton, test: IndependenceTest, alpha: float, run: Run) -> Separates:
    """As the skeleton says; pairs that were not tested, since their edge is forbidden, are tested now."""
    votes: dict[Path, bool] = {}

    def separates(a: int, c: int, b: int) -> bool:
        if (min(a, b), max(a, b)) in found.separations:
            return found.separates(a, c, b)
        if (a, c, b) not in votes:
            votes[a, c, b] = share_with(found, test, alpha, (a, c, b), run) >= 0.5
        return votes[a, c, b]

    return separates


def share_with(found: Skeleton, test: IndependenceTest, alpha: float, path: Path, run: Run) -> float:
    """Of the sets around the ends of a path that separate them, the share that has the node between them."""
    a, c, b = path
    having = separating = 0
    for size in range(min(test.most, found.level) + 1):
        sets = list(sets_around(found.adjacent, a, b, size))
        if not sets or run.budget.exhausted:
            break
        ends = np.full(len(sets), a), np.full(len(sets), b)
        p = test.p_values(*ends, np.array(sets, dtype=np.int64).reshape(len(sets), size))
        found.tests += len(sets)
        for given, value in zip(sets, p.tolist(), strict=True):
            if value > alpha:
                separating += 1
                having += c in given
    return having / separating if separating else float(found.separates(a, c, b))


def never(a: int, c: int, b: int) -> bool:  # noqa: ARG001 - every path is asked for
    """Say that no node separates any others."""
    return False
