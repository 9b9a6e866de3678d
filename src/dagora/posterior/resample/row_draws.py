"""Rows drawn anew: as many with replacement, half of them without, or half of them with replacement.

A row that is drawn twice looks to a test of independence like two rows that agree, so tests find dependence
where there is none: at level 0.05 a test of correlation on 100 rows drawn with replacement rejects 0.16
of true independences, on half of the rows without replacement 0.05. Scores are less sensitive, and all
rows with replacement vary as data of the same size do (Efron 1979; Friedman, Goldszmidt & Wyner 1999).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.base.options import find
from dagora.data.designed import DesignedTable
from dagora.data.interventions import Interventions
from dagora.learners.method import Method
from dagora.stats.capabilities import capabilities_of
from dagora.stats.designed import DesignStatistics
from dagora.stats.interventional import InterventionalStatistics
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.statistics import Statistics
from dagora.stats.table import TableStatistics

Positions = NDArray[np.int64]

WAYS: dict[str, Callable[[np.random.Generator, int], Positions]] = {
    "rows": lambda random, n: random.integers(0, n, n),
    "halves": lambda random, n: random.permutation(n)[: n // 2],
    "half-rows": lambda random, n: random.integers(0, n, n // 2),
}
IN_WORDS = {
    "rows": "as many rows, drawn with replacement",
    "halves": "half of the rows, drawn without replacement",
    "half-rows": "half as many rows, drawn with replacement",
}

IMPUTE = "impute"
IN_WORDS[IMPUTE] = "the rows with missing values drawn, from networks fitted to rows drawn with replacement"

FEWEST, MOST = 2, 1_000_000  # one sample has no spread; a million bounds memory


def check_number(samples: object) -> None:
    """Refuse a number of samples that is none, or more than anybody can wait for."""
    if isinstance(samples, bool) or not isinstance(samples, int) or not FEWEST <= samples <= MOST:
        raise OptionError(
            f"the number of samples must be a whole number from {FEWEST} to {MOST}, not {samples!r}"
        )


def drawn_as_seen(method: Method) -> str:
    """A caution about tests on completed tables; empty for other methods."""
    if not method.by_tests:
        return ""
    seen = ": without multiple imputation each test counts the rows that saw its columns"
    return (
        "tests on a completed table take drawn cells for seen ones, and find too many edges"
        f"{seen if method.tests_seen_rows else ''}"
    )


def way_for(name: str, method: Method) -> str:
    """The way to draw rows for a method: the one that was named, else the one that suits it.

    >>> from dagora.learners.registry import method_named
    >>> way_for("auto", method_named("pc")), way_for("auto", method_named("ges"))
    ('halves', 'rows')
    """
    if method.returns == "pag":
        counting = "multiple imputation" if name == IMPUTE else "the bootstrap"
        instead = "each test then counts the rows that saw its columns" if name == IMPUTE else "or use pc"
        raise OptionError(
            f"{counting} counts edges of DAGs and CPDAGs, and the method {method.name} returns a PAG, "
            f"whose edges have marks: leave {counting} out{':' if name == IMPUTE else ','} {instead}"
        )
    if name == IMPUTE:
        return name
    if name == "auto":
        return "halves" if method.by_tests else "rows"
    find("way to draw rows", name, {"auto": None, **WAYS, IMPUTE: None})
    return name


def seeds_of(seed: int, sample: int) -> tuple[np.random.Generator, int]:
    """The random numbers that draw a sample, and the seed of the learner on it.

    They do not depend on how many samples there are, nor on the order in which they are learned.
    """
    own = np.random.SeedSequence(seed, spawn_key=(sample,))
    return np.random.default_rng(own), int(own.generate_state(1, np.uint32)[0])


def drawn_statistics(statistics: Statistics, way: str, random: np.random.Generator) -> Statistics:
    """Statistics of a sample of the rows; of rows in groups, whole groups are drawn."""
    if not isinstance(statistics, DesignStatistics):
        return statistics_of_rows(statistics, drawn_rows(way, statistics.n_rows, random))
    designed = statistics.designed
    if designed.design.groups is None:
        return DesignStatistics(designed.take(drawn_rows(way, designed.n_rows, random)))
    return DesignStatistics(drawn_groups(way, designed, random))


def drawn_groups(way: str, designed: DesignedTable, random: np.random.Generator) -> DesignedTable:
    """The rows of groups that are drawn as rows are; a group that is drawn twice counts as two groups.

    >>> from dagora.data.columns.row_design import RowDesign
    >>> from dagora.data.table import Table
    >>> design = RowDesign(groups=np.array([0, 1, 1, 2]), by_group="g")
    >>> table = DesignedTable(Table.from_numpy([[0.5], [1.5], [2.5], [3.5]]), design)
    >>> some = drawn_groups("rows", table, np.random.default_rng(3))
    >>> some.table.values(0).tolist(), some.design.groups.tolist()
    ([0.5, 0.5, 3.5], [0, 1, 2])
    """
    groups = designed.design.groups
    assert groups is not None
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    starts = np.cumsum(sizes) - sizes
    chosen = drawn_rows(way, len(sizes), random)
    places = np.concatenate([order[starts[one] : starts[one] + sizes[one]] for one in chosen.tolist()])
    drawn = designed.take(places)
    again = np.repeat(np.arange(len(chosen)), sizes[chosen])
    return replace(drawn, design=replace(drawn.design, groups=again))


def in_words(way: str, statistics: Statistics) -> str:
    """The way a sample is drawn, in words."""
    grouped = isinstance(statistics, DesignStatistics) and statistics.designed.design.groups is not None
    return IN_WORDS[way].replace("rows", "groups of rows") if grouped else IN_WORDS[way]


def drawn_rows(way: str, n_rows: int, random: np.random.Generator) -> Positions:
    """Positions of the rows of a sample, sorted, so that memory is read in order.

    >>> drawn_rows("halves", 6, np.random.default_rng(1)).tolist()
    [0, 2, 4]
    """
    return np.sort(WAYS[way](random, n_rows))


def check_drawable(statistics: Statistics) -> None:
    """Refuse sums whose rows cannot be drawn.

    Sites could draw rows by agreed seeds. But then whoever sees the sums of many samples knows how often each
    row counts in each, and has enough equations to solve for the rows.
    """
    if capabilities_of(statistics).federation is not None:
        raise OptionError(
            "the bootstrap draws rows, and these stay at their sites, as sums of many samples of them would "
            "tell what they are: learn at one site, or without it"
        )
    if capabilities_of(statistics).release is not None:
        raise OptionError("the bootstrap draws rows, and these are sums with noise for privacy: use learn")
    if not isinstance(statistics, IncompleteStatistics | DesignStatistics):
        statistics.rows()


def statistics_of_rows(statistics: Statistics, rows: Positions) -> Statistics:
    """Statistics of some rows, with their missing values and interventions.

    >>> from dagora.data.table import Table
    >>> table = Table.from_numpy([[0, 0], [1, 1], [0, 1]], names=["a", "b"], discrete=["a", "b"])
    >>> statistics_of_rows(TableStatistics(table), np.array([0, 0, 2])).counts([(0,), (1,)]).values.tolist()
    [3, 2, 1]
    """
    if isinstance(statistics, IncompleteStatistics):
        return IncompleteStatistics(statistics.table.take(rows))
    table = statistics.rows().take(rows)
    if isinstance(statistics, InterventionalStatistics):
        found = statistics.interventions
        return InterventionalStatistics(table, Interventions(found.regimes, found.of_row[rows]))
    return TableStatistics(table)
