"""The dual PC algorithm: independence tests given small sets and, at the same cost, given their complements.

As in PC, all pairs are adjacent at first. The edge x — y is removed if some set T separates x and y, that is,
if their partial correlation given T is not significant. Round 0 tests marginally and given all other
variables. Round r tests, for the neighbourhood S of x (without y), given S, given each r nodes of S, and
given S without each r nodes. Edges are removed at the end of a round, so the skeleton does not depend on the
order of the columns. Then v-structures are directed, and all edges whose direction follows from them.
(Giudice, Kuipers & Moffa 2023, "The dual PC algorithm and the role of Gaussianity for structure learning of
Bayesian networks".)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.base.events import Event
from dagora.graph.cpdag import CPDAG
from dagora.graph.equivalence import Matrix
from dagora.graph.knowledge import Knowledge
from dagora.learners.constraint.named_tests import check_level, contradictory_tests, edges_left, known_edges
from dagora.learners.constraint.orientation import orient
from dagora.learners.constraint.partial_correlations import (
    GIVEN_REST,
    GIVEN_SET,
    MORE,
    NONE,
    inverse_correlations,
    search_sets,
    significance_limits,
)
from dagora.learners.constraint.skeleton import named_lines
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.scores.usable_moments import gaussian_moments, refuse_discrete, refuse_duplicates
from dagora.stats.name_order import in_name_order
from dagora.stats.statistics import Moments, Statistics

OWNER = "the method dual-pc"
# Sets that are tested between two checks of the time limit: below a second.
SETS_PER_CHECK = 100_000
# A test of a marginal correlation has rows − 3 degrees of freedom.
FEWEST_ROWS = 4


def dual_pc(statistics: Statistics, run: Run, *, alpha: float = 0.05) -> Outcome:
    """Learn a class of graphs from tests at level `alpha`.

    >>> from dagora.data.table import Table
    >>> from dagora.stats.table import TableStatistics
    >>> a, b, noise = np.random.default_rng(0).normal(size=(3, 500))
    >>> table = Table.from_numpy(np.stack([a, b, a + b + noise], axis=1), names=["a", "b", "c"])
    >>> dual_pc(TableStatistics(table), Run()).graph.edges
    (('a', 'c'), ('b', 'c'))
    """
    refuse_discrete(statistics.schema, OWNER)
    own, statistics = statistics.schema.names, in_name_order(statistics)
    names = statistics.schema.names
    forbidden, _ = known_edges(run.knowledge, names)
    moments = gaussian_moments(statistics, OWNER)
    refuse_duplicates(moments, statistics.schema, OWNER)
    if moments.n < FEWEST_ROWS:
        raise DataError(f"{OWNER} cannot make a single test: there are too few rows")
    found = find_skeleton(moments, alpha, run, forbidden, names)
    matrix, given_up, new = orient(found.adjacent, found.separates)
    warnings = contradictory_tests(given_up, new=new)
    if found.untested:
        warnings.append(
            f"no test given all other {len(names) - 2} variables was possible: there are too few rows "
            f"({moments.n}), or columns determine each other; smaller sets were tested"
        )
    edges = edges_left(int(found.adjacent.sum()) // 2, found.tests)
    late = f"stopped in round {found.order}: {run.budget.reason}; there may be too many edges: {edges}"
    return Outcome(
        CPDAG.from_numpy(matrix, names).reorder(own),
        "finished" if found.finished else "time-limit",
        edges if found.finished else late,
        stats={"tests": float(found.tests), "rounds": float(found.order)},
        warnings=tuple(warnings),
    )


def dual_pc_skeleton(moments: Moments, alpha: float = 0.05, run: Run | None = None) -> Matrix:
    """The pairs that no tested set separates, as a symmetric matrix; knowledge of the run is not used."""
    plain = Run() if run is None else replace(run, knowledge=Knowledge())
    none = np.zeros_like(moments.scatter, dtype=np.bool_)
    return find_skeleton(moments, alpha, plain, none).adjacent


@dataclass
class DualSkeleton:
    """Adjacent pairs, and the set that separates each other pair (None: all other variables).

    `tests` and `order` count the tests and rounds so far. `finished` is False if time ran out, `untested` is
    True if no test given all other variables was possible.
    """

    adjacent: Matrix
    separating: dict[tuple[int, int], frozenset[int] | None] = field(default_factory=dict)
    tests: int = 0
    order: int = 0
    finished: bool = True
    untested: bool = False

    def separates(self, a: int, c: int, b: int) -> bool:
        """Return True if c is in the set that separates a and b."""
        between = self.separating[min(a, b), max(a, b)]
        return between is None or c in between


def find_skeleton(
    moments: Moments, alpha: float, run: Run, forbidden: Matrix, names: Sequence[str] = ()
) -> DualSkeleton:
    """Test round by round until no neighbourhood is large enough; `forbidden` pairs are never adjacent.

    With `names`, events carry the skeleton.
    """
    check_level(alpha)
    spread = np.sqrt(np.diag(moments.scatter))
    correlations = np.clip(moments.scatter / np.outer(spread, spread), -1.0, 1.0)
    np.fill_diagonal(correlations, 1.0)
    size = len(correlations)
    limits = significance_limits(moments.n, max(1, size - 1), alpha)
    skeleton = first_round(correlations, limits, forbidden)
    # The first round with the present neighbourhood of each node.
    unchanged_since = np.ones(size, dtype=np.int64)
    while True:
        sizes = skeleton.adjacent.sum(axis=1) - 1
        if sizes.max(initial=0) <= skeleton.order:
            return skeleton
        skeleton.order += 1
        for x, y in separated_pairs(skeleton, correlations, limits, unchanged_since, run, names):
            skeleton.adjacent[x, y] = skeleton.adjacent[y, x] = False
            unchanged_since[[x, y]] = skeleton.order + 1
        if not skeleton.finished:
            return skeleton


def first_round(
    correlations: NDArray[np.float64], limits: NDArray[np.float64], forbidden: Matrix
) -> DualSkeleton:
    """Test every pair marginally and given all other variables."""
    size = len(correlations)
    marginally = np.abs(correlations) <= limits[0]
    given_rest = np.zeros_like(marginally)
    inverse = inverse_correlations(correlations)
    testable = inverse is not None and limits[-1] > 0
    if inverse is not None and testable:
        given_rest = np.abs(inverse) <= limits[-1]
    adjacent = ~(marginally | given_rest | forbidden | np.eye(size, dtype=np.bool_))
    skeleton = DualSkeleton(
        adjacent, tests=size * (size - 1) // (1 if testable else 2), untested=not testable
    )
    for i, j in np.argwhere(np.triu(~adjacent, 1)).tolist():
        # A pair independent both ways has no common child: given the rest that would make it dependent.
        only_marginally = marginally[i, j] and not given_rest[i, j]
        skeleton.separating[i, j] = frozenset() if only_marginally else None
    return skeleton


def separated_pairs(
    skeleton: DualSkeleton,
    correlations: NDArray[np.float64],
    limits: NDArray[np.float64],
    unchanged_since: NDArray[np.int64],
    run: Run,
    names: Sequence[str],
) -> list[tuple[int, int]]:
    """Find the pairs that a set of this round separates, and store the separating sets in the skeleton."""
    pairs = np.argwhere(skeleton.adjacent).tolist()
    separated: list[tuple[int, int]] = []
    for done, (x, y) in enumerate(pairs):
        if done % 100 == 0:
            lines = partial(named_lines, skeleton.adjacent, names) if names else None
            message = f"sets of {skeleton.order} variables"
            run.on_event(Event("testing", done, total=len(pairs), message=message, lines=lines))
        if run.budget.exhausted:
            skeleton.finished = False
            break
        if (min(x, y), max(x, y)) in skeleton.separating:
            continue
        around = [node for node in np.flatnonzero(skeleton.adjacent[x]).tolist() if node != y]
        if len(around) < skeleton.order:
            continue
        # If S has not changed since, an earlier round tested these sets as complements of its own.
        tested = unchanged_since[x] <= len(around) - skeleton.order < skeleton.order
        members = [x, y, *around]
        chosen = separating_set(skeleton, correlations, limits, members, run, tested=bool(tested))
        if chosen is not None:
            skeleton.separating[min(x, y), max(x, y)] = chosen
            separated.append((x, y))
    return separated


def separating_set(
    skeleton: DualSkeleton,
    correlations: NDArray[np.float64],
    limits: NDArray[np.float64],
    members: list[int],
    run: Run,
    *,
    tested: bool,
) -> frozenset[int] | None:
    """Look for a set among members[2:], of this round's sizes, that separates members[0] and members[1].

    `tested`: an earlier round tested these sets, if the correlations have an inverse.
    """
    block = np.ascontiguousarray(correlations[np.ix_(members, members)])
    inverse = inverse_correlations(block)
    around = frozenset(members[2:])
    if inverse is not None:
        if tested:
            return None
        skeleton.tests += 1
        if abs(inverse[0, 1]) <= limits[len(around)]:
            return around
        if skeleton.order == len(around):
            return None
    dual = inverse is not None
    size = min(skeleton.order, len(around) - skeleton.order) if dual else skeleton.order
    subset = np.arange(2, 2 + size, dtype=np.int64)
    while True:
        how, tests = search_sets(
            block, block if inverse is None else inverse, dual, skeleton.order, limits, subset, SETS_PER_CHECK
        )
        skeleton.tests += tests
        if how == NONE:
            return None
        if how == MORE:
            if run.budget.exhausted:
                skeleton.finished = False
                return None
            continue
        chosen = frozenset(members[int(row)] for row in subset)
        assert how in {GIVEN_SET, GIVEN_REST}
        return chosen if how == GIVEN_SET else around - chosen
