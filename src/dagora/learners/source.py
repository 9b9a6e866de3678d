"""The data of a run: statistics of rows, or precomputed local scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from dagora.base.errors import OptionError
from dagora.base.options import Value
from dagora.base.phrases import amount
from dagora.base.wording import option
from dagora.data.columns.missing_pattern import check_missing, describe_missing
from dagora.data.columns.overview import Overview
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.incomplete import AnyTable, IncompleteTable
from dagora.data.interventions import GivenInterventions, Interventions, Marks
from dagora.data.series import Panel, Timing
from dagora.graph.knowledge import Knowledge
from dagora.graph.knowledge_files import as_knowledge
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.candidates.jkl import read_jkl
from dagora.learners.method import Method
from dagora.stats.accepting import as_statistics, statistics_of
from dagora.stats.capabilities import NoisyRelease, capabilities_of
from dagora.stats.data_warnings import check_learnable, data_warnings, fewer_rows
from dagora.stats.declared_order import DeclaredOrder, declared_order
from dagora.stats.designed import DesignStatistics
from dagora.stats.interventional import InterventionalStatistics
from dagora.stats.lagged import IncompleteSeries, LaggedStatistics, SeriesStatistics, series_statistics
from dagora.stats.observed.missing_tests import skip_patterns
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.scan.scan_statistics import ScanStatistics
from dagora.stats.statistics import Statistics
from dagora.stats.table import TableStatistics
from dagora.stats.windows import Windows, windows_behind


@dataclass(frozen=True)
class Source:
    """The data of a run: statistics of rows, or candidate parent sets with precomputed local scores."""

    rows: Statistics | None = None
    scored: Candidates | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The variables' names."""
        return self.statistics.schema.names if self.scored is None else self.scored.names

    @property
    def statistics(self) -> Statistics:
        """The statistics; an error where there are only scores."""
        if self.rows is None:
            raise OptionError("a .jkl file holds scores and no rows: choose a method that searches on scores")
        return self.rows

    @cached_property
    def declared_order(self) -> DeclaredOrder:
        """The columns whose levels have a declared order, and whether a default may use it."""
        return declared_order(self.statistics)

    @property
    def windows(self) -> Windows | LaggedStatistics | None:
        """The windows of time that are the rows, or sums over them; None where there are none."""
        return self.rows if isinstance(self.rows, LaggedStatistics) else windows_behind(self.rows)

    @property
    def windows_made(self) -> str:
        """The number of windows and their length, in words; empty where the rows are something else."""
        if self.windows is None:
            return ""
        steps = amount(self.windows.lags + 1, self.windows.unit or "step")
        return f"{amount(self.statistics.n_rows, 'window')} of {steps}"

    @property
    def data_warnings(self) -> list[str]:
        """Warnings about odd data; of series about their steps, and about windows."""
        if self.rows is None or self.noise is not None:
            return []
        if self.windows is None:
            return data_warnings(self.rows)
        few = fewer_rows(self.rows.n_rows, len(self.names), "windows", "columns in them")
        if isinstance(self.windows, LaggedStatistics):
            return [*self.windows.warnings, *few]
        return [*self.windows.warnings, *few, *data_warnings(statistics_of(self.windows.panel.table))]

    @property
    def unseen_pairs(self) -> list[tuple[str, str]]:
        """Pairs of columns of which no data show how they depend on each other, because of skip patterns."""
        if not isinstance(self.rows, IncompleteStatistics) or self.windows is not None:
            return []
        return [(one, other) for one, other, _ in skip_patterns(self.rows.table)]

    @property
    def in_memory(self) -> bool:
        """True if all rows are in memory: further counts are then cheap and reveal nothing to others."""
        return capabilities_of(self.rows).in_memory

    @property
    def noise(self) -> NoisyRelease | None:
        """The statistics, where they carry noise for privacy."""
        return capabilities_of(self.rows).release

    @property
    def noise_account(self) -> list[str]:
        """Sentences on what the noise guarantees and costs; empty without noise."""
        return [] if self.noise is None else self.noise.account()

    def noise_defaults(self, method: str) -> Mapping[str, Value]:
        """Options of a method that noise changes."""
        return {} if self.noise is None else self.noise.defaults(method)

    def obeying(self, knowledge: Knowledge, method: Method) -> Knowledge:
        """The knowledge, with the parent limit of noisy data or kept counts; a higher one is refused."""
        most = capabilities_of(self.rows).max_parents if self.noise is None else self.noise.max_parents
        if most is None or method.own_objective:
            return knowledge
        if (knowledge.max_parents or 0) > most:
            kept = "was released with noise" if self.noise is not None else "the statistics hold"
            raise OptionError(
                f"{option('max_parents', knowledge.max_parents)} asks for more than {kept}: "
                f"set {option('max_parents', most)}"
            )
        return as_knowledge(knowledge, most)

    @property
    def overview(self) -> Overview | None:
        """The account of how the table was read; None if the data are no table."""
        return capabilities_of(self.rows).overview

    @property
    def reading_warnings(self) -> tuple[str, ...]:
        """Warnings about how the data were understood."""
        return () if self.overview is None else self.overview.warnings

    @property
    def dropped_rows(self) -> str:
        """A sentence on rows that were dropped; empty if none was."""
        return "" if self.overview is None else self.overview.dropped_rows

    @property
    def interventions(self) -> Interventions | None:
        """The variables that were set from outside, and in which rows; None where none was."""
        return capabilities_of(self.rows).interventions

    @property
    def regimes(self) -> tuple[tuple[str, ...], ...]:
        """The sets of variables that were set from outside; empty where none was."""
        return () if self.interventions is None else self.interventions.regimes

    @property
    def rows_set(self) -> str:
        """In how many rows each variable was set, in words; empty where none was."""
        return "" if self.interventions is None else rows_set_in_words(self.interventions)

    @property
    def passes(self) -> dict[str, float]:
        """Counts of passes over the rows and of queries, if the rows are not in memory."""
        return self.rows.effort if isinstance(self.rows, ScanStatistics) else {}

    @property
    def queries(self) -> str:
        """A sentence on the number and width of queries to a database; empty if it did not count."""
        return self.rows.message if isinstance(self.rows, ScanStatistics) else ""

    @property
    def lost_cells(self) -> list[str]:
        """Sentences on rows that were dropped or count otherwise, and missing values that were modelled."""
        if isinstance(self.rows, IncompleteStatistics):
            steps = self.windows.panel.table if isinstance(self.windows, Windows) else None
            table = steps if isinstance(steps, IncompleteTable) else self.rows.table
            return [describe_missing(table.pattern)]
        design = capabilities_of(self.rows).design
        return [self.dropped_rows, "" if design is None else design.message]

    @property
    def account(self) -> dict[str, Any]:
        """The reading of the data, as JSON."""
        return {} if self.overview is None else self.overview.to_dict()


def rows_set_in_words(marks: Interventions) -> str:
    """In how many rows each variable was set."""
    left_out = (f"{name} {int((~marks.unset(name)).sum())}" for name in marks.targets)
    return f"rows in which a variable was set do not count for it ({', '.join(left_out)})"


def read_source(
    data: object,
    jobs: int,
    reading: ReadingOptions | None = None,
    interventions: GivenInterventions | None = None,
    timing: Timing | None = None,
) -> Source:
    """Read a table or a `.jkl` file; a Statistics or Candidates passes through."""
    if isinstance(data, str | Path) and str(data).lower().removesuffix(".gz").endswith(".jkl"):
        data = read_jkl(data)
    if isinstance(data, Candidates):
        said = list(reading.non_defaults()) if reading else []
        if said:
            raise OptionError(f"a .jkl file holds scores and no rows: leave {option(said[0])} out")
        if interventions is not None:
            raise OptionError(f"a .jkl file holds scores and no rows: leave {option('interventions')} out")
        if timing is not None:
            raise OptionError(f"a .jkl file holds scores and no rows: leave {option('time')} out")
        return Source(scored=data)
    source = Source(read_rows(data, jobs, reading, interventions, timing))
    check_learnable(
        source.statistics.schema,
        source.statistics.n_rows,
        source.overview,
        numbers_only=reading is not None and bool(reading.numbers_for),
        in_time=bool(capabilities_of(source.statistics).lagged),
    )
    if isinstance(source.rows, IncompleteStatistics):
        check_missing(source.names, source.rows.table.seen)
    return source


def read_rows(
    data: object,
    jobs: int = 1,
    reading: ReadingOptions | None = None,
    interventions: GivenInterventions | None = None,
    timing: Timing | None = None,
) -> Statistics:
    """Statistics of a table, perhaps with interventions in some rows, or of rows in time."""
    if timing is not None and interventions is not None:
        raise OptionError(
            f"{option('interventions')} does not go with {option('time')}: leave one of them out"
        )
    if timing is not None and reading is not None:
        if reading.discretise is not None:
            raise OptionError(f"{option('discretise')} does not go with {option('time')}: leave it out")
        reading = replace(
            reading,
            wanted=(*reading.wanted, *timing.columns),
            numbers=(*reading.numbers, timing.time),
            in_time=timing.columns,
        )
    if interventions is not None and reading is not None:
        reading = replace(reading, marks=marked_column(interventions))
    rows = as_statistics(data, jobs, reading)
    if timing is not None:
        return in_series(rows, timing, jobs)
    return rows if interventions is None else interventional_statistics(rows, interventions, jobs)


def in_series(rows: Statistics, timing: Timing, jobs: int) -> SeriesStatistics | IncompleteSeries:
    """Statistics of a table whose rows follow each other in time."""
    table: AnyTable
    if isinstance(rows, IncompleteStatistics) and windows_behind(rows) is None:
        table = rows.table
    elif type(rows) is TableStatistics:
        table = rows.rows()
    else:
        raise OptionError(f"{option('time')} needs a table of rows, not statistics of them")
    return series_statistics(Panel.of_table(table, timing.time, timing.series), jobs)


def refuse_design(rows: Statistics, name: str) -> None:
    """Refuse rows with weights or groups where an option takes rows as they stand."""
    if isinstance(rows, DesignStatistics):
        design = rows.designed.design
        own = "weights" if design.by_weight else "group"
        raise OptionError(f"{option(name)} does not go with {option(own)}: leave one of them out")


def marked_column(interventions: GivenInterventions | None) -> str | None:
    """The column that names the variables that were set; None if there is none."""
    return Marks.read(interventions).column if isinstance(interventions, str | Mapping) else None


def interventional_statistics(
    rows: Statistics, interventions: GivenInterventions, jobs: int
) -> InterventionalStatistics:
    """Statistics of a table in some of whose rows variables were set."""
    refuse_design(rows, "interventions")
    if type(rows) is not TableStatistics:
        raise OptionError(f"{option('interventions')} needs a table of rows, not statistics of them")
    table = rows.rows()
    if not isinstance(interventions, Mapping | Sequence):
        raise OptionError(
            "interventions takes a column, a mapping of its levels to variables, or a list with an entry per "
            f"row, not {interventions!r}"
        )
    if isinstance(interventions, str | Mapping):
        return InterventionalStatistics.of_marked(table, Marks.read(interventions), jobs)
    overview = table.overview
    if overview is not None and overview.kept is not None and len(interventions) == overview.rows:
        interventions = [interventions[row] for row in overview.kept]
    return InterventionalStatistics(table, Interventions.of_rows(interventions, table.names), jobs)
