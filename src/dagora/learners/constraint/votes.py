"""Directions from all separating sets: conservative (Ramsey et al. 2006), or by majority.

For each path a — c — b whose ends are not adjacent, a and b are tested given every set of neighbours of one
of them, as far as sets of that size can be tested and are allowed. If c is in none of the sets that separate
them, the path is a → c ← b; if it is in some but not in all, it is ambiguous. By majority (Colombo & Maathuis
2014) only exactly half is ambiguous. An ambiguous path is no v-structure.
"""

from __future__ import annotations

from collections.abc import Iterable

from dagora.learners.constraint.orientation import Separates, colliders
from dagora.learners.constraint.skeleton import Given, Pair, Skeleton, in_parts, sets_around
from dagora.learners.independence.protocol import IndependenceTest
from dagora.learners.run import Run


def by_votes(
    found: Skeleton, test: IndependenceTest, alpha: float, run: Run, *, majority: bool
) -> tuple[Separates, int]:
    """A function that decides by votes if c separates a and b, and the number of ambiguous paths."""
    paths = colliders(found.adjacent)
    separating = all_separating(found, test, alpha, {(a, b) for a, _, b in paths}, run)
    votes = {(a, c, b): share_with(found, separating[a, b], a, c, b) for a, c, b in paths}
    doubtful = sum(share == 0.5 if majority else 0 < share < 1 for share in votes.values())

    def separates(a: int, c: int, b: int) -> bool:
        return votes[a, c, b] >= 0.5 if majority else votes[a, c, b] > 0

    return separates, doubtful


def votes_on_new_pairs(found: Skeleton, test: IndependenceTest, alpha: float, run: Run) -> Separates:
    """As the skeleton; pairs not tested before, because their edge is forbidden, are decided by majority."""
    untested = {(a, b) for a, _, b in colliders(found.adjacent)} - found.separations.keys()
    separating = all_separating(found, test, alpha, untested, run)

    def separates(a: int, c: int, b: int) -> bool:
        if (a, b) in separating:
            return share_with(found, separating[a, b], a, c, b) >= 0.5
        return found.separates(a, c, b)

    return separates


def all_separating(
    found: Skeleton, test: IndependenceTest, alpha: float, pairs: Iterable[Pair], run: Run
) -> dict[Pair, list[Given]]:
    """All sets of neighbours of either end that separate each pair, up to one more than the last level.

    A node with a tested edge has no larger neighbourhood; one with only required edges may have.
    """
    separating: dict[Pair, list[Given]] = {pair: [] for pair in sorted(pairs)}
    sizes = range(min(found.max_given, found.level + 1) + 1) if found.level >= 0 else ()
    for size in sizes:
        cases = ((pair, given) for pair in separating for given in sets_around(found.adjacent, *pair, size))
        for part, p_values in in_parts(test, cases, size, run):
            found.tests += len(part)
            for (pair, given), p in zip(part, p_values, strict=True):
                if p > alpha:
                    separating[pair].append(given)
    return separating


def share_with(found: Skeleton, separating: list[Given], a: int, c: int, b: int) -> float:
    """The share of the sets separating a and b that contain c."""
    if not separating:
        return float(found.separates(a, c, b))
    return sum(c in given for given in separating) / len(separating)
