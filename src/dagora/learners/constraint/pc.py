"""The PC algorithm: a skeleton from tests of independence, then directions from separating sets (stable PC).

Tests need only moments or counts. Columns are sorted by name first, so their order in the table does not
matter.

Directions can come from all separating sets: conservative (Ramsey et al. 2006), or by majority (Colombo &
Maathuis 2014). For each path a — c — b whose ends are not adjacent, a and b are tested given every set of
neighbours of one of them, as far as sets of that size can be tested and are allowed. If c is in none of the
sets that separate them, the path is a → c ← b; if it is in some but not in all (by majority: in exactly
half), it is ambiguous, which is no v-structure.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from dagora.base.phrases import amount
from dagora.graph.cpdag import CPDAG
from dagora.graph.equivalence import Matrix
from dagora.learners.constraint.named_tests import (
    check_level,
    contradictory_tests,
    edges_left,
    known_edges,
    learn_by_test,
    named_separations,
    separator_search,
    too_few_rows,
)
from dagora.learners.constraint.orientation import Separates, colliders, orient, orient_in_haste
from dagora.learners.constraint.skeleton import Given, Pair, Skeleton, find_skeleton, in_parts, sets_around
from dagora.learners.independence.protocol import IndependenceTest
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.stats.statistics import Statistics

OWNER = "the method pc"
# Orientations by a vote of all separating sets around the ends of a path.
VOTES = ("conservative", "majority")


def pc(
    statistics: Statistics,
    run: Run,
    *,
    test: str = "auto",
    alpha: float = 0.01,
    orientation: str = "max",
    max_given: int | None = None,
) -> Outcome:
    """Learn a class of graphs from tests at level `alpha`.

    >>> from dagora.data.table import Table
    >>> from dagora.stats.table import TableStatistics
    >>> a, b, noise = np.random.default_rng(0).normal(size=(3, 500))
    >>> table = Table.from_numpy(np.stack([a, b, a + b + noise], axis=1), names=["a", "b", "c"])
    >>> pc(TableStatistics(table), Run()).graph.edges
    (('a', 'c'), ('b', 'c'))
    """
    graph_by = partial(pc_by, run=run, alpha=alpha, orientation=orientation, max_given=max_given)
    return learn_by_test(statistics, test, OWNER, alpha, graph_by)


def pc_by(
    test: IndependenceTest,
    run: Run,
    *,
    alpha: float = 0.01,
    orientation: str = "max",
    max_given: int | None = None,
    owner: str = OWNER,
) -> Outcome:
    """Learn a class of graphs with any test; ties are decided by the order of its columns."""
    check_level(alpha)
    names = test.names
    forbidden, required = known_edges(run.knowledge, names)
    one_way = forbidden.T & ~forbidden
    largest = orientation != "first"
    roots = run.knowledge.without_parents(names)
    search = separator_search(test, owner, largest=largest, roots=roots)
    apart, joined = forbidden & forbidden.T, required | required.T
    found = find_skeleton(search, alpha, run, apart, joined, max_given, names, roots)
    known, impossible = directions(found.adjacent, required, one_way)
    found.adjacent &= ~impossible
    doubtful = given_up = 0
    early, new = not found.finished, False
    if early:  # without all separating sets the tests determine no direction
        matrix = orient_in_haste(found.adjacent, known)
    else:
        separates: Separates = votes_on_new_pairs(found, known, test, alpha, run)
        if orientation in VOTES:
            majority = orientation == "majority"
            separates, doubtful = by_votes(found, known, test, alpha, run, majority=majority)
            found.finished = not run.budget.exhausted
        matrix, given_up, new = orient(found.adjacent, separates, known, lambda a, b: -found.p_of(a, b))
    warnings = []
    if impossible.any():
        warnings.append(
            f"{int(impossible.sum()) // 2} edges were dropped: every direction of them is forbidden"
        )
    warnings += contradictory_tests(given_up, new=new)
    if doubtful:
        warnings.append(
            f"separating sets disagree on {amount(doubtful, 'path')} a — c — b: whether a → c ← b is open, "
            "and no v-structure was made"
        )
    warnings += too_few_rows(found, search.max_given)
    edges = edges_left(int(found.adjacent.sum()) // 2, found.tests)
    late = (
        f"stopped at sets of {found.level}: {run.budget.reason}; there may be too many edges, and "
        + ("no edge was directed by the tests" if early else "directions may be wrong")
        + f": {edges}"
    )
    return Outcome(
        CPDAG.from_numpy(matrix, names),
        "finished" if found.finished else "time-limit",
        edges if found.finished else late,
        stats={"tests": float(found.tests), "largest_set": float(max(0, found.level))},
        warnings=tuple(warnings),
        separating_sets=named_separations(found, names),
    )


def directions(adjacent: Matrix, required: Matrix, one_way: Matrix) -> tuple[Matrix, Matrix]:
    """The edges whose direction is known, and those for which no direction is possible.

    Edges with one possible direction can form a cycle: then the last of them is impossible.
    """
    known = required.copy()
    impossible = np.zeros_like(known)
    reach = np.eye(len(known), dtype=np.bool_)
    for tail, head in [
        *np.argwhere(required).tolist(),
        *np.argwhere(one_way & adjacent & ~required).tolist(),
    ]:
        if reach[head, tail]:
            impossible[tail, head] = impossible[head, tail] = True
        else:
            known[tail, head] = True
            reach |= np.outer(reach[:, tail], reach[head])
    return known, impossible


def undecided(found: Skeleton, known: Matrix) -> list[tuple[int, int, int]]:
    """The paths a — c — b whose ends are not adjacent, but those known to be a → c ← b."""
    return [(a, c, b) for a, c, b in colliders(found.adjacent) if not (known[a, c] and known[b, c])]


def by_votes(
    found: Skeleton, known: Matrix, test: IndependenceTest, alpha: float, run: Run, *, majority: bool
) -> tuple[Separates, int]:
    """A function that decides by votes if c separates a and b, and the number of ambiguous paths."""
    paths = undecided(found, known)
    separating = all_separating(found, test, alpha, {(a, b) for a, _, b in paths}, run)
    votes = {(a, c, b): share_with(found, separating[a, b], a, c, b) for a, c, b in paths}
    doubtful = sum(share == 0.5 if majority else 0 < share < 1 for share in votes.values())

    def separates(a: int, c: int, b: int) -> bool:
        share = votes.get((a, c, b), 0.0)  # a path that is known to be a → c ← b has no votes
        return share >= 0.5 if majority else share > 0

    return separates, doubtful


def votes_on_new_pairs(
    found: Skeleton, known: Matrix, test: IndependenceTest, alpha: float, run: Run
) -> Separates:
    """As the skeleton; pairs not tested before, because their edge is forbidden, are decided by majority."""
    untested = {(a, b) for a, _, b in undecided(found, known)} - found.separations.keys()
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
    roots = run.knowledge.without_parents(test.names)
    separating: dict[Pair, list[Given]] = {pair: [] for pair in sorted(pairs)}
    sizes = range(min(found.max_given, found.level + 1) + 1) if found.level >= 0 else ()
    for size in sizes:
        cases = (
            (pair, given) for pair in separating for given in sets_around(found.adjacent, *pair, size, roots)
        )
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
