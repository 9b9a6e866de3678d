"""The PC algorithm: a skeleton from tests of independence, then directions from what separates (stable PC).

Tests ask for moments, or for counts, so the method runs wherever these are to be had. Columns are taken in
the order of their names: where they stand does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dagora.constraint.gaussian_sets import GaussianSets
from dagora.constraint.orientation import Separates, orient
from dagora.constraint.skeleton import LevelSearch, TestedSets, find_skeleton
from dagora.constraint.votes import by_votes, with_untested
from dagora.data.schema import Kind, Schema
from dagora.errors import DataError, KnowledgeError, OptionError
from dagora.graph.cpdag import CPDAG
from dagora.graph.equivalence import Matrix
from dagora.graph.knowledge import Knowledge
from dagora.independence.counted import CountTest, Reading
from dagora.independence.features import FeatureTest
from dagora.independence.fisher_z import FisherZ
from dagora.independence.independence_test import IndependenceTest
from dagora.independence.mixed import MixedTest
from dagora.independence.residuals import ResidualTest
from dagora.result import Outcome, SeparatingSet
from dagora.run import Run
from dagora.stats.name_order import in_name_order
from dagora.stats.statistics import Statistics
from dagora.wording import option

OWNER = "the method pc"
# By name, what makes a test.
TESTS: dict[str, Callable[[Statistics], IndependenceTest]] = {
    "fisher-z": lambda statistics: FisherZ(statistics, OWNER),
    "x2": lambda statistics: count_test(statistics, "x2"),
    "g2": lambda statistics: count_test(statistics, "g2"),
    "g2-seen": lambda statistics: count_test(statistics, "g2-seen"),
    "mixed": lambda statistics: MixedTest(statistics, OWNER),
    "features": lambda statistics: FeatureTest(statistics, OWNER),
    "hsic": lambda statistics: ResidualTest(statistics, "hsic", OWNER),
    "dcov": lambda statistics: ResidualTest(statistics, "dcov", OWNER),
    "gcm": lambda statistics: ResidualTest(statistics, "gcm", OWNER),
}
# Orientations for which all sets around the ends of a path have a vote.
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
    ordered = in_name_order(statistics)
    name = default_test(ordered.schema) if test in {"auto", "mixed"} else test
    tester = TESTS[name](ordered)
    outcome = pc_by(tester, run, alpha=alpha, orientation=orientation, max_given=max_given)
    message = f"{outcome.message}, by {name} at level {alpha:g}"
    return replace(outcome, graph=outcome.graph.reorder(statistics.schema.names), message=message)


def pc_by(
    test: IndependenceTest,
    run: Run,
    *,
    alpha: float = 0.01,
    orientation: str = "max",
    max_given: int | None = None,
    owner: str = OWNER,
) -> Outcome:
    """Learn a class of graphs with any test; of equals, what comes first in its columns counts."""
    if not 0 < alpha < 1:
        raise OptionError(f"option 'alpha' must lie between 0 and 1, not {alpha}")
    names = test.names
    forbidden, required = constraints(run.knowledge, names, owner)
    one_way = forbidden.T & ~forbidden
    largest = orientation != "first"
    search: LevelSearch = (
        GaussianSets(test, largest=largest)
        if isinstance(test, FisherZ)
        else TestedSets(test, largest=largest)
    )
    if search.most < 0:
        raise DataError(f"{owner} cannot make a single test: there are too few rows")
    found = find_skeleton(search, alpha, run, forbidden & forbidden.T, required | required.T, max_given)
    known, impossible = directions(found.adjacent, required, one_way)
    found.adjacent &= ~impossible
    separates: Separates = with_untested(found, test, alpha, run)
    doubtful = 0
    if orientation in VOTES and found.finished:
        separates, doubtful = by_votes(found, test, alpha, run, majority=orientation == "majority")
        found.finished = not run.budget.exhausted
    matrix, given_up, new = orient(found.adjacent, separates, known, lambda a, b: -found.p_of(a, b))
    warnings = []
    if impossible.any():
        warnings.append(
            f"{int(impossible.sum()) // 2} edges were dropped: every direction of them is forbidden"
        )
    if given_up or new:
        contradiction = f"{given_up} v-structures contradict others and were given up" if given_up else ""
        invented = "some edges could only be directed with new v-structures" if new else ""
        both = " and ".join(filter(None, (contradiction, invented)))
        warnings.append(f"the tests do not agree on one class of graphs: {both}")
    if doubtful:
        warnings.append(
            f"{doubtful} paths a — c — b are left undirected at c: separating sets disagree on them"
        )
    if found.level >= search.most and (found.adjacent.sum(axis=1) - 1 > search.most).any():
        warnings.append(
            f"sets of more than {search.most} columns could not be tested: there are too few rows"
        )
    edges = f"{int(found.adjacent.sum()) // 2} edges are left after {found.tests} tests"
    late = (
        f"stopped at sets of {found.level}: {run.budget.reason}; there may be too many edges, and directions "
        f"may be wrong: {edges}"
    )
    return Outcome(
        CPDAG.from_numpy(matrix, names),
        "finished" if found.finished else "time-limit",
        edges if found.finished else late,
        stats={"tests": float(found.tests), "largest_set": float(max(0, found.level))},
        warnings=tuple(warnings),
        separating_sets=tuple(
            SeparatingSet(names[a], names[b], tuple(names[k] for k in given), p)
            for (a, b), (given, p) in sorted(found.separations.items())
            if given
        ),
    )


def default_test(schema: Schema) -> str:
    """The test for some columns: partial correlations of numbers, X² of levels, `mixed` for both."""
    kinds = {variable.kind for variable in schema}
    if len(kinds) > 1:
        return "mixed"
    return "fisher-z" if kinds == {Kind.CONTINUOUS} else "x2"


def count_test(statistics: Statistics, reading: Reading) -> CountTest:
    """A test of counts."""
    return CountTest(statistics, reading, OWNER)


def constraints(knowledge: Knowledge, names: tuple[str, ...], owner: str) -> tuple[Matrix, Matrix]:
    """Forbidden and required edges."""
    if knowledge.max_parents is not None and knowledge.max_parents < len(names) - 1:
        raise KnowledgeError(
            f"{owner} cannot obey {option('max_parents', knowledge.max_parents)}: it tests pairs and counts "
            "no parents; use ges or hill-climb"
        )
    forbidden = knowledge.forbidden_matrix(names)
    np.fill_diagonal(forbidden, val=False)
    return forbidden, knowledge.required_matrix(names)


def directions(adjacent: Matrix, required: Matrix, one_way: Matrix) -> tuple[Matrix, Matrix]:
    """The edges whose direction is known, and those that no direction is left for, as both would be wrong.

    Edges that may go one way only can form a cycle: then the last of them cannot be there.
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
