"""The interface between learning and parties: questions go out, and only the sum of the answers comes back.

`counts` and `moments` return sums over all sites; `gather` returns every site's own answer and is for methods
whose answers are shown, with the owners' consent. Each federation has its own way to keep sums secret.

`OpenFederation` asks sites in this process and adds their answers in the clear, the same integers as a secure
one. The tests compare every secure federation with it, and the experiments of papers use it because it is
fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError
from dagora.base.files import naming
from dagora.base.wording import option
from dagora.data.accepting import incomplete_refusal
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.designed import DesignedTable
from dagora.data.incomplete import IncompleteTable
from dagora.data.made_tables import ReadTable
from dagora.data.schema import Schema
from dagora.data.series import Panel, Timing
from dagora.data.table import Table, require_table
from dagora.data.time_steps import same_step
from dagora.parties.horizontal.plan.codebook import Codebook
from dagora.parties.horizontal.plan.coded_rows import (
    CodedRows,
    check_series,
    code_rows,
    follow_codebook,
    fraction_bits,
)
from dagora.parties.horizontal.plan.drafting import by_ranks, codebook_of
from dagora.parties.horizontal.plan.plan import (
    BASIS,
    COUNTS,
    FOURTH,
    INDICATORS,
    LAGGED,
    LARGEST_ROWS,
    MOMENTS,
    MOST_CELLS,
    WEIGHTS,
)
from dagora.parties.horizontal.session.fourth_sums import FourthMoments
from dagora.parties.horizontal.session.row_sums import (
    SUMMED,
    WeightSums,
    read_basis_moments,
    read_fourth_moments,
    read_indicator_moments,
    read_lagged_moments,
    read_moments,
)
from dagora.parties.transport.messages import Value
from dagora.stats.basis import BasisMoments
from dagora.stats.indicators import IndicatorMoments
from dagora.stats.statistics import Moments

TaskQuestion = Mapping[str, Value]
Answer = dict[str, Value]
Sets = Sequence[tuple[int, ...]]

# Fewer rows than this do not make the fixed point finer.
FEWEST_ROWS = 1024


class LargestTable(NamedTuple):
    """The most columns and cells of a joint table that may be asked for."""

    columns: int
    cells: int


class Federation(Protocol):
    """Sites that answer questions; only sums of answers are seen, unless they are meant to be shown."""

    @property
    def parties(self) -> tuple[str, ...]:
        """The sites' names, sorted."""

    @property
    def schema(self) -> Schema:
        """The columns that the sites have agreed on."""

    @property
    def largest_table(self) -> LargestTable:
        """The largest joint table that may be asked for."""

    def counts(self, sets: Sets) -> NDArray[np.int64]:
        """Counts over all sites of every cell of each set of columns, set after set.

        The columns of a set are given in order; the first one varies slowest.
        """

    def moments(self) -> Moments:
        """First and second moments of the continuous columns over all sites."""

    def weight_sums(self) -> WeightSums | None:
        """The number of rows of all sites and sums of their weights; None where rows count alike.

        Where they do not, counts are sums of weights, and moments have these in place of a number of rows.
        """

    def basis_moments(self, functions: int) -> BasisMoments:
        """Moments of that many basis functions of each continuous column over all sites."""

    def indicator_moments(self) -> IndicatorMoments:
        """Moments of columns, squares and indicators of levels over all sites."""

    def lagged_moments(self, lags: int) -> Moments:
        """Moments of windows of time of the continuous columns over all series of all sites."""

    def fourth_moments(self, sets: Sets) -> list[FourthMoments]:
        """Moments up to products of four columns over all sites, of sets of continuous columns."""

    def gather(self, task: str, question: TaskQuestion) -> dict[str, Answer]:
        """Every site's own answer, by name: not secret."""


@dataclass
class Site:
    """One party's rows, and the state it keeps between questions.

    `weights` are those of the rows, in the unit of all sites; None where rows count alike. Where the rows are
    series, `panel` has their starts (the table's rows are in its order), and `lags` is the
    number of steps that the plan allows windows to reach back.
    """

    name: str
    table: Table
    panel: Panel | None = field(default=None, kw_only=True)
    weights: NDArray[np.float64] | None = field(default=None, kw_only=True)
    lags: int = field(default=0, kw_only=True)
    memory: dict[str, Any] = field(default_factory=dict)


def rows_together(sites: Iterable[Site]) -> int:
    """A bound on the rows of sites that are all in this process; the fewer, the finer the fixed point."""
    return max(FEWEST_ROWS, sum(site.table.n_rows for site in sites))


def site_of(name: str, table: ReadTable) -> Site:
    """A site with these rows, and their weights where they have any."""
    if isinstance(table, IncompleteTable):
        raise incomplete_refusal(table)
    if not isinstance(table, DesignedTable):
        return Site(name, table)
    if table.design.groups is not None:
        raise no_groups()
    return Site(name, table.table, weights=table.design.given_weights)


def no_groups() -> OptionError:
    """The error about groups of rows, which no sum over sites knows of."""
    return OptionError(
        f"over sites rows are taken as independent: leave {option('group')} out, or learn at one site"
    )


def codebook_of_sites(sites: Iterable[Site], reading: ReadingOptions | None = None) -> Codebook:
    """A codebook that fits the rows of sites which one person may see; `reading` says which are ranked."""
    listed = list(sites)
    tables = {site.name: site.table for site in listed}
    book = codebook_of(tables, largest_weight=largest_weight(listed))
    return by_ranks(book, tables.values(), reading) if reading is not None and reading.ranks else book


def largest_weight(sites: Iterable[Site]) -> float:
    """The largest weight of a row of these sites; 0 where rows count alike."""
    return max((float(site.weights.max()) for site in sites if site.weights is not None), default=0.0)


Task = Callable[[Site, TaskQuestion], Answer]


@dataclass(frozen=True)
class OpenFederation:
    """Sites in this process whose answers are added in the clear; their tables follow the codebook."""

    sites: Sequence[Site]
    tasks: Mapping[str, Task]
    codebook: Codebook
    largest_rows: int = LARGEST_ROWS
    step: float = 0.0

    @classmethod
    def over(
        cls,
        sites: Sequence[Site],
        tasks: Mapping[str, Task],
        codebook: Codebook | None = None,
        step: float = 0.0,
        lags: int = 0,
    ) -> OpenFederation:
        """Let sites follow a codebook, by default one that fits all their tables."""
        book = codebook or codebook_of_sites(sites)
        following = [replace(site, table=follow_codebook(site.table, book), lags=lags) for site in sites]
        return cls(following, tasks, book, rows_together(sites), step)

    @property
    def parties(self) -> tuple[str, ...]:
        """The sites' names, sorted."""
        return tuple(sorted(site.name for site in self.sites))

    @property
    def schema(self) -> Schema:
        """The columns of the codebook."""
        return self.codebook.schema

    @property
    def largest_table(self) -> LargestTable:
        """All columns, and as many cells as one sum can have."""
        return LargestTable(len(self.schema), MOST_CELLS)

    @cached_property
    def _rows(self) -> list[CodedRows]:
        return [
            code_rows(site.table, self.codebook, self.largest_rows, site.panel, site.weights)
            for site in self.sites
        ]

    @property
    def _bits(self) -> int:
        return fraction_bits(self.largest_rows)

    def _sum(self, kind: str, *arguments: object) -> NDArray[np.int64]:
        answers = [SUMMED[kind](rows, *arguments) for rows in self._rows]
        return np.asarray(np.sum(answers, axis=0, dtype=np.int64))

    def counts(self, sets: Sets) -> NDArray[np.int64]:
        """Sum of the sites' counts."""
        return self._sum(COUNTS, sets)

    def moments(self) -> Moments:
        """Moments from the sum of the sites' sums."""
        return read_moments(self._sum(MOMENTS), self.codebook, self._bits)

    def weight_sums(self) -> WeightSums | None:
        """Sums of weights over the sites."""
        return WeightSums.read(self._sum(WEIGHTS)) if self.codebook.largest_weight else None

    def basis_moments(self, functions: int) -> BasisMoments:
        """Moments of basis functions from the sum of the sites' sums."""
        return read_basis_moments(self._sum(BASIS, functions), self.codebook, self._bits, functions)

    def indicator_moments(self) -> IndicatorMoments:
        """Moments of the widened table from the sum of the sites' sums."""
        return read_indicator_moments(self._sum(INDICATORS), self.codebook, self._bits)

    def lagged_moments(self, lags: int) -> Moments:
        """Moments of windows of time from the sum of the sites' sums."""
        for site in self.sites:
            check_series(site.panel, self.step)
        return read_lagged_moments(self._sum(LAGGED, lags), self.codebook, self._bits, lags)

    def fourth_moments(self, sets: Sets) -> list[FourthMoments]:
        """Moments up to products of four columns from the sum of the sites' sums."""
        return read_fourth_moments(self._sum(FOURTH, sets), self.codebook, self._bits, sets)

    def gather(self, task: str, question: TaskQuestion) -> dict[str, Answer]:
        """Every site's own answer, by name."""
        self.codebook.refuse_ranks("a method that learns from each site alone")
        return {site.name: self.tasks[task](site, question) for site in self.sites}


# The length of a step where no series has two.
ANY_STEP = 1.0


def in_series(sites: Sequence[Site], timing: Timing) -> tuple[list[Site], float]:
    """The sites with their rows in the order of time, and the length of a step, which all must share.

    A series whose name is at two sites is refused: windows that reach from one site to the other would be
    lost.
    """
    found: dict[str, Panel] = {}
    if any(site.weights is not None for site in sites):
        raise OptionError(
            f"rows that follow each other in time are taken as they stand: leave {option('weights')} out, or "
            f"leave {option('time')} out"
        )
    for site in sites:
        with naming(site.name):
            found[site.name] = Panel.of_table(site.table, timing.time, timing.series)
    steps = {name: panel.step for name, panel in found.items() if panel.step is not None}
    first = next(iter(steps), "")
    for name, step in steps.items():
        if not same_step(step, steps[first]):
            raise DataError(
                f"the steps of time are {steps[first]:.7g} long at {first} and {step:.7g} at {name}: sites "
                "need steps of one length"
            )
    homes: dict[str, str] = {}
    for name, panel in found.items():
        for label in dict.fromkeys(panel.labels) if timing.series is not None else ():
            if label in homes:
                raise DataError(
                    f"the series '{label}' (column '{timing.series}') is at {homes[label]} and at {name}: a "
                    "series lives whole at one site; if these are two, give them two names"
                )
            homes[label] = name
    ordered = [Site(name, require_table(panel.table), panel=panel) for name, panel in found.items()]
    return ordered, steps.get(first) or ANY_STEP
