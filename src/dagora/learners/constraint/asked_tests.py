"""What methods by tests have in common: tests by name, how sets are looked for, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable

from dagora.base.errors import DataError, KnowledgeError, OptionError, RowsUnavailableError
from dagora.base.wording import counted, option
from dagora.data.schema import Kind
from dagora.graph.knowledge import Knowledge
from dagora.learners.constraint.gaussian_sets import GaussianSets
from dagora.learners.constraint.skeleton import LevelSearch, Skeleton, TestedSets
from dagora.learners.independence.cells import CellTest
from dagora.learners.independence.counted import CountTest
from dagora.learners.independence.features import FeatureTest
from dagora.learners.independence.fisher_z import FisherZ
from dagora.learners.independence.mixed import MixedTest
from dagora.learners.independence.protocol import IndependenceTest
from dagora.learners.independence.residuals import ResidualTest
from dagora.learners.result import SeparatingSet
from dagora.stats.statistics import Statistics

# Tests for tables with both kinds of columns.
FOR_BOTH_KINDS = ("cells", "mixed")
# By name, what makes a test for an owner, whom errors name.
TESTS: dict[str, Callable[[Statistics, str], IndependenceTest]] = {
    "fisher-z": FisherZ,
    "x2": lambda statistics, owner: CountTest(statistics, "x2", owner),
    "g2": lambda statistics, owner: CountTest(statistics, "g2", owner),
    "g2-seen": lambda statistics, owner: CountTest(statistics, "g2-seen", owner),
    "cells": CellTest,
    "mixed": MixedTest,
    "features": FeatureTest,
    "hsic": lambda statistics, owner: ResidualTest(statistics, "hsic", owner),
    "dcov": lambda statistics, owner: ResidualTest(statistics, "dcov", owner),
    "gcm": lambda statistics, owner: ResidualTest(statistics, "gcm", owner),
}


def named_test(statistics: Statistics, name: str, owner: str) -> tuple[str, IndependenceTest]:
    """A test by name, with the name of what it is: "auto" looks at the columns.

    So do tests for both kinds of columns where there is one kind.
    """
    one_kind = len({variable.kind for variable in statistics.schema}) == 1
    by_columns = name == "auto" or (one_kind and name in FOR_BOTH_KINDS)
    chosen = default_test(statistics) if by_columns else name
    return chosen, TESTS[chosen](statistics, owner)


def default_test(statistics: Statistics) -> str:
    """The test for some columns: partial correlations of numbers, X² of levels; both kinds by cells of rows.

    Without rows both kinds are tested by `mixed`, which needs only sums.
    """
    kinds = {variable.kind for variable in statistics.schema}
    if len(kinds) == 1:
        return "fisher-z" if kinds == {Kind.CONTINUOUS} else "x2"
    try:
        statistics.rows()
    except RowsUnavailableError:
        return "mixed"
    return "cells"


def level_search(test: IndependenceTest, owner: str, *, largest: bool) -> LevelSearch:
    """What looks for separating sets with a test; refused where there are too few rows for any."""
    search: LevelSearch = (
        GaussianSets(test, largest=largest)
        if isinstance(test, FisherZ)
        else TestedSets(test, largest=largest)
    )
    if search.most < 0:
        raise DataError(f"{owner} cannot make a single test: there are too few rows")
    return search


def check_level(alpha: float) -> None:
    """Refuse a level of tests that is none."""
    if not 0 < alpha < 1:
        raise OptionError(f"option 'alpha' must lie between 0 and 1, not {alpha}")


def refuse_max_parents(knowledge: Knowledge, names: tuple[str, ...], owner: str) -> None:
    """Refuse a limit on parents, which tests of pairs know nothing of."""
    if knowledge.max_parents is not None and knowledge.max_parents < len(names) - 1:
        raise KnowledgeError(
            f"{owner} cannot obey {option('max_parents', knowledge.max_parents)}: it tests pairs and counts "
            "no parents; use ges or hill-climb"
        )


def too_few_rows(found: Skeleton, most: int) -> list[str]:
    """A warning where larger sets should have been tested."""
    if found.level < most or not (found.adjacent.sum(axis=1) - 1 > most).any():
        return []
    return [f"sets of more than {most} columns could not be tested: there are too few rows"]


def named_separations(found: Skeleton, names: tuple[str, ...]) -> tuple[SeparatingSet, ...]:
    """What separates pairs, by name; pairs that are independent given nothing are left out."""
    some = [(pair, separation) for pair, separation in found.separations.items() if separation.given]
    return tuple(
        SeparatingSet(names[a], names[b], tuple(names[k] for k in given), p)
        for (a, b), (given, p) in sorted(some)
    )


def edges_left(number: int, tests: int) -> str:
    """What tests have left, in words.

    >>> edges_left(1, 12)
    '1 edge is left after 12 tests'
    """
    are = "is" if number == 1 else "are"
    return f"{counted(number, 'edge')} {are} left after {counted(tests, 'test')}"
