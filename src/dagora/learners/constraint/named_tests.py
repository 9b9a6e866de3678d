"""Shared by the methods by tests: tests by name, checks of options and knowledge, messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dagora.base.errors import DataError, OptionError, RowsUnavailableError
from dagora.base.phrases import amount
from dagora.base.wording import setting
from dagora.data.schema import Kind
from dagora.graph.equivalence import Matrix
from dagora.graph.knowledge import Knowledge
from dagora.learners.constraint.gaussian_sets import GaussianSets
from dagora.learners.constraint.skeleton import Marks, SeparatorSearch, Skeleton, TestedSets
from dagora.learners.independence.cells import CellTest
from dagora.learners.independence.counted import CountTest
from dagora.learners.independence.features import FeatureTest
from dagora.learners.independence.fisher_z import FisherZ
from dagora.learners.independence.latent import LatentTest
from dagora.learners.independence.mixed import MixedTest
from dagora.learners.independence.protocol import IndependenceTest
from dagora.learners.independence.residuals import ResidualTest
from dagora.learners.independence.seen_rows import SeenRowTest, account
from dagora.learners.independence.trend import TrendTest
from dagora.learners.outcome import Outcome, SeparatingSet
from dagora.stats.declared_order import DeclaredOrder, declared_order
from dagora.stats.name_order import in_name_order
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.statistics import Statistics

# Tests for tables with both kinds of columns.
FOR_BOTH_KINDS = ("cells", "mixed")


# Makes a test by its name; the second argument is the method that errors name.
TESTS: dict[str, Callable[[Statistics, str], IndependenceTest]] = {
    "fisher-z": FisherZ,
    "x2": lambda statistics, owner: CountTest(statistics, "x2", owner),
    "g2": lambda statistics, owner: CountTest(statistics, "g2", owner),
    "g2-seen": lambda statistics, owner: CountTest(statistics, "g2-seen", owner),
    "latent": LatentTest,
    "trend": TrendTest,
    "cells": CellTest,
    "mixed": MixedTest,
    "features": FeatureTest,
    "hsic": lambda statistics, owner: ResidualTest(statistics, "hsic", owner),
    "dcov": lambda statistics, owner: ResidualTest(statistics, "dcov", owner),
    "gcm": lambda statistics, owner: ResidualTest(statistics, "gcm", owner),
}


def named_test(statistics: Statistics, name: str, owner: str) -> tuple[str, IndependenceTest]:
    """A test by name, and its own name: "auto" is chosen by the kinds of the columns.

    So are the tests for both kinds if all columns are of one kind.
    """
    one_kind = len({variable.kind for variable in statistics.schema}) == 1
    by_kinds = name == "auto" or (one_kind and name in FOR_BOTH_KINDS)
    chosen = default_test(statistics) if by_kinds else name
    if isinstance(statistics, IncompleteStatistics):
        return chosen, SeenRowTest(statistics, lambda part: TESTS[chosen](part, owner))
    return chosen, TESTS[chosen](statistics, owner)


def learn_by_test(
    statistics: Statistics, name: str, owner: str, alpha: float, learn: Callable[[IndependenceTest], Outcome]
) -> Outcome:
    """Learn with a test by name, on the columns in the order of their names; the outcome says which test."""
    order = declared_order(statistics) if name == "auto" else DeclaredOrder()
    name, tester = named_test(in_name_order(statistics), "latent" if order.usable else name, owner)
    outcome = learn(tester)
    cautions, rows = account(tester)
    why = order.said(name, setting("test", default_test(statistics)))
    return replace(
        outcome,
        graph=outcome.graph.reorder(statistics.schema.names),
        message="; ".join(filter(None, [f"{outcome.message}, by {name} at level {alpha:g}", why])),
        warnings=(*outcome.warnings, *cautions),
        stats={**outcome.stats, **rows},
    )


def default_test(statistics: Statistics) -> str:
    """Fisher's z for continuous columns, X² for discrete ones, `cells` for both; without rows `mixed`."""
    kinds = {variable.kind for variable in statistics.schema}
    if len(kinds) == 1:
        return "fisher-z" if kinds == {Kind.CONTINUOUS} else "x2"
    if isinstance(statistics, IncompleteStatistics):
        return "cells"
    try:
        statistics.rows()
    except RowsUnavailableError:
        return "mixed"
    return "cells"


def separator_search(
    test: IndependenceTest, owner: str, *, largest: bool, roots: Marks | None = None
) -> SeparatorSearch:
    """A search for separating sets with a test; raises if there are too few rows for any test."""
    search: SeparatorSearch = (
        GaussianSets(test, largest=largest, roots=roots)
        if isinstance(test, FisherZ)
        else TestedSets(test, largest=largest, roots=roots)
    )
    if search.max_given < 0:
        raise DataError(f"{owner} cannot make a single test: there are too few rows")
    return search


def check_level(alpha: float) -> None:
    """Raise unless `alpha` is between 0 and 1."""
    if not 0 < alpha < 1:
        raise OptionError(f"option 'alpha' must lie between 0 and 1, not {alpha}")


def known_edges(knowledge: Knowledge, names: tuple[str, ...]) -> tuple[Matrix, Matrix]:
    """The matrices of forbidden and of required edges."""
    forbidden = knowledge.forbidden_matrix(names)
    np.fill_diagonal(forbidden, val=False)
    return forbidden, knowledge.required_matrix(names)


def contradictory_tests(given_up: int, *, new: bool) -> list[str]:
    """A warning if v-structures were given up, or if edges had to be directed with new ones."""
    if not (given_up or new):
        return []
    contradiction = f"{given_up} v-structures contradict others and were given up" if given_up else ""
    invented = "some edges could only be directed with new v-structures" if new else ""
    both = " and ".join(filter(None, (contradiction, invented)))
    return [f"the tests do not agree on one class of graphs: {both}"]


def too_few_rows(found: Skeleton, most: int) -> list[str]:
    """A warning if larger sets should have been tested but have too few rows."""
    if found.level < most or not (found.adjacent.sum(axis=1) - 1 > most).any():
        return []
    return [f"sets of more than {most} columns could not be tested: there are too few rows"]


def named_separations(found: Skeleton, names: tuple[str, ...]) -> tuple[SeparatingSet, ...]:
    """The separating sets by name, without the pairs that are marginally independent."""
    some = [(pair, separation) for pair, separation in found.separations.items() if separation.given]
    return tuple(
        SeparatingSet(names[a], names[b], tuple(names[k] for k in given), p)
        for (a, b), (given, p) in sorted(some)
    )


def edges_left(number: int, tests: int) -> str:
    """The number of edges that are left, as a message.

    >>> edges_left(1, 12)
    '1 edge is left after 12 tests'
    """
    are = "is" if number == 1 else "are"
    return f"{amount(number, 'edge')} {are} left after {amount(tests, 'test')}"
