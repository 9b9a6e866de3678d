"""The options of every command that reads a table: how to read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import click

from dagora.base.events import Event, Observer
from dagora.cli.gathering import Decorator, F, gather_options
from dagora.cli.live_line import live_line
from dagora.cli.terminal import echo
from dagora.data.columns.reading_options import READING, NameList, ReadingOptions, select_options

if TYPE_CHECKING:
    from dagora.data.columns.overview import Overview
    from dagora.data.columns.reading_options import Purpose, ReadingOption
    from dagora.data.made_tables import ReadTable
    from dagora.data.series import Timing
    from dagora.data.table import Table
    from dagora.learners.method import Method
    from dagora.parties.horizontal.plan.codebook import Codebook
    from dagora.parties.horizontal.session.federation import Site
    from dagora.stats.scan.scan_statistics import ScanStatistics


@dataclass(frozen=True)
class Reading:
    """Options for reading a table: `given` are all reading options by name."""

    given: Mapping[str, Any]
    query: str | None = None
    sample: int | None = None
    scan: bool = False
    push_down: bool = False

    @property
    def from_table(self) -> str | None:
        """The table of a database, or the sheet of a spreadsheet."""
        return self.given.get("table")

    @property
    def says_nothing(self) -> bool:
        """True if all options are at their defaults, in a command that can model missing values."""
        return self.is_default("auto")

    def is_default(self, missing: str) -> bool:
        """Return True if all options are at their defaults, where `missing` is that of missing values."""
        return self == Reading({entry.name: entry.default for entry in select_options(missing=missing)})

    def scans(self, data: str) -> bool:
        """Return True if the rows are not read into memory."""
        from dagora.base.errors import OptionError
        from dagora.stats.row_sources import is_address, stays_outside

        if not is_address(data) and self.query is not None:
            raise OptionError("--query goes with a database, such as duckdb:FILE")
        if self.scan and self.sample is not None:
            raise OptionError("--scan reads all rows, --sample some of them: leave one of them out")
        if self.push_down and (self.sample is not None or not is_address(data)):
            raise OptionError("--push-down is for all rows of a database: leave it out")
        return self.sample is None and (self.scan or stays_outside(data))

    def open_scan(self, data: str, jobs: int, **purpose: Unpack[Purpose]) -> ScanStatistics:
        """Statistics of rows that stay where they are."""
        from dagora.stats.data_warnings import check_learnable
        from dagora.stats.row_sources import database_of, source_of
        from dagora.stats.scan.first_pass import scan_source

        live_line().phase(f"reading {data}")
        options = self.options(**purpose)
        if options.missing == "auto":
            options = replace(options, missing="error", why_not_model=None)
        source = source_of(data, self.from_table, self.query, self.given["separator"])
        rows = scan_source(source, options, jobs, database_of(source) if self.push_down else None)
        numbers = bool(options.numbers_for)
        check_learnable(rows.schema, rows.n_rows, rows.overview, numbers_only=numbers)
        return rows

    def scan_large(
        self,
        data: str,
        jobs: int,
        method: Method | None,
        score: str | None,
        asked: Mapping[str, Any],
        **purpose: Unpack[Purpose],
    ) -> ScanStatistics | None:
        """Statistics of a file that is too large to be kept in memory; None where it is read as ever."""
        from dagora.learners.large_sources import scan_if_large

        if self.sample is not None:
            return None
        return scan_if_large(data, method, score, asked, self.options(**purpose), jobs)

    def draw_sample(self, data: str, seed: int, options: ReadingOptions) -> ReadTable:
        """A sample of rows that stay where they are; an error where none is asked for."""
        from dagora.base.errors import OptionError
        from dagora.data.scan.row_sample import sample_source
        from dagora.stats.row_sources import source_of
        from dagora.stats.scan.scan_statistics import SAMPLE

        if self.sample is None:
            raise OptionError(
                f"this needs the rows themselves, in memory: learn from a sample of them (--sample {SAMPLE})"
            )
        return sample_source(
            source_of(data, self.from_table, self.query, self.given["separator"]), self.sample, seed, options
        )

    def table(self, path: str, *, part: bool = False, **purpose: Unpack[Purpose]) -> Table:
        """Read a table without missing values; `any_table` explains the rest."""
        from dagora.data.table import require_table

        return require_table(self.any_table(path, part=part, **purpose))

    def any_table(
        self, path: str, *, part: bool = False, seed: int = 0, **purpose: Unpack[Purpose]
    ) -> ReadTable:
        """Read a table, with missing values if `why_not_model` is given; or a sample of it, drawn by `seed`.

        One `part` of a table may have a single row. What the table is read for is as in `ReadingOptions`.
        """
        from dagora.base.files import naming
        from dagora.data.readers import read_any
        from dagora.stats.data_warnings import check_learnable

        live_line().phase(f"reading {path}")
        options = self.options(**purpose)
        if part:  # of which the other columns do not decide
            options = replace(options, trends=False)
        outside = self.scans(path) or self.sample is not None
        table = self.draw_sample(path, seed, options) if outside else read_any(Path(path), options)
        with naming(path):
            numbers = bool(options.numbers_for)
            check_learnable(table.schema, table.n_rows + part, table.overview, numbers_only=numbers)
        return table

    def options(self, **purpose: Unpack[Purpose]) -> ReadingOptions:
        """The same options as the library takes them."""
        listed: dict[str, Any] = {
            name: tuple(map(NameList, value)) if READING[name].type == "names" else value
            for name, value in self.given.items()
        }
        return ReadingOptions(**listed, **purpose)


@dataclass(frozen=True)
class CellReading:
    """Options for the cells of a table whose columns a codebook describes: `given` are reading options."""

    given: Mapping[str, Any]
    query: str | None = None

    @property
    def from_table(self) -> str | None:
        """The table of a database, or the sheet of a spreadsheet."""
        return self.given.get("table")

    def site(self, path: str, name: str, codebook: Codebook, timing: Timing | None = None) -> Site:
        """Read the columns of the codebook, as it writes them, and the weights of rows.

        The rows are in the order of time where `timing` says which columns hold time and series.
        """
        from dataclasses import replace

        from dagora.base.errors import speaking
        from dagora.base.files import naming
        from dagora.base.wording import COMMAND
        from dagora.data.series import Panel
        from dagora.data.table import require_table
        from dagora.parties.horizontal.plan.coded_rows import check_weights, follow_codebook, reading_by
        from dagora.parties.horizontal.session.federation import Site, site_of

        live_line().phase(f"reading {path}")
        asked = ReadingOptions(**self.given, cuts=False, trends=False)
        with speaking(COMMAND.lacking("drop", "of the agreed columns")):
            following = reading_by(codebook, asked)
            if timing is not None:
                following = replace(
                    following,
                    only=frozenset({*(following.only or ()), *timing.columns}),
                    wanted=timing.columns,
                    numbers=(timing.time,),
                    in_time=timing.columns,
                )
            table = self._read(path, following)
            with naming(path):
                if timing is None:
                    site = site_of(name, table)
                    check_weights(site.weights, codebook.largest_weight)
                    return replace(site, table=follow_codebook(site.table, codebook))
                panel = Panel.of_table(require_table(table), timing.time, timing.series)
                return Site(name, follow_codebook(require_table(panel.table), codebook), panel=panel)

    def _read(self, path: str, following: ReadingOptions) -> ReadTable:
        """All rows of a file, of files, or of a database."""
        from dagora.data.readers import read_any
        from dagora.data.scan.row_sample import read_source
        from dagora.stats.row_sources import source_of, stays_outside

        if self.query is None and not stays_outside(path):
            return read_any(Path(path), following)
        return read_source(source_of(path, self.from_table, self.query, self.given["separator"]), following)


def show_overview(overview: Overview, path: str, *, everything: bool = False, err: bool = True) -> None:
    """Say how a table was understood; warnings go to standard error."""
    first, *others = overview.lines(everything=everything)
    for line in (f"{path}: {first}", *others):
        echo(line, err=err)
    show_warnings(overview.warnings)


@contextmanager
def overview_first(
    table: ReadTable | ScanStatistics | None, path: str, on_event: Observer, *, brief: bool = False
) -> Iterator[Observer]:
    """Say how a table was understood as soon as a learner has found it usable, before its first event.

    Data that no learner can use get one line, which says why, and nothing else. `brief` says that the result
    holds the overview: then only its warnings are shown.
    """
    silent = live_line().silent
    waiting = [] if silent or table is None or table.overview is None else [table.overview]

    def tell() -> None:
        while waiting:
            overview = waiting.pop()
            if brief:
                show_warnings(overview.warnings)
            else:
                show_overview(overview, path)

    def observe(event: Event) -> None:
        tell()
        on_event(event)

    yield observe
    tell()


def show_warnings(warnings: Iterable[str], kind: str = "warning") -> None:
    """Print warnings or notes, a line each, on standard error."""
    for warning in warnings:
        echo(f"dagora: {kind}: {' '.join(warning.split())}", err=True)


def option_of(entry: ReadingOption) -> Decorator:
    """The command's option for a reading option."""
    kind = click.Choice(entry.choices) if entry.choices else None
    return click.option(
        f"--{entry.name.replace('_', '-')}",
        type=click.IntRange(entry.low) if entry.type == "integer" else kind,
        multiple=entry.type == "names",
        default=entry.default,
        show_default=isinstance(entry.default, str),
        metavar=entry.metavar,
        help=entry.help,
    )


def given_options(missing: str | None = None, names: Iterable[str] = ()) -> list[Decorator]:
    """The command's options for the reading options that `select_options` returns."""
    return [option_of(entry) for entry in select_options(names, missing)]


class LagsType(click.ParamType[int | str]):
    """A whole number of at least 1, auto, or auto:N."""

    name = "number"

    def convert(
        self, value: object, _parameter: click.Parameter | None, _context: click.Context | None
    ) -> int | str:
        """Read the option."""
        text = str(value)
        word, colon, most = text.partition(":")
        if word == "auto" and (not colon or (most.isdigit() and int(most) > 0)):
            return text
        if not text.isdigit() or not int(text):
            self.fail(f"'{text}' is not a whole number of at least 1, auto, or auto:N")
        return int(text)


INTERVENTIONS = click.option(
    "--interventions",
    metavar="COLUMN",
    help="Column that says which variable was set from outside in a row (several: A+B; empty: none), or "
    "COLUMN:LEVEL=A,LEVEL=B+C. Such a row does not count for what that variable depends on.",
)
TIME_OPTIONS = (
    click.option(
        "--time",
        metavar="COLUMN",
        help="Column that says when a row was, for series: numbers, dates or periods (2024-01, 2024-Q1).",
    ),
    click.option(
        "--series",
        metavar="COLUMN",
        help="Column that says which series a row belongs to; without it, there is one.",
    ),
    click.option(
        "--lags",
        type=click.IntRange(1),
        help="How many steps back a variable may depend on, with --time.  [default: 1]",
    ),
)
CHOSEN_LAGS = click.option(
    "--lags",
    type=LagsType(),
    help="How many steps back a variable may depend on, with --time; auto chooses by a score, auto:N among 1 "
    "to N.  [default: 1]",
)
QUERY: Decorator = click.option("--query", metavar="SQL", help="Query to a database whose result is read.")
# Reading options that a site chooses by itself: the codebook has the columns.
CELLS = ("missing", "na", "separator", "table", "decimal", "counts", "weights")
SOURCE_OPTIONS = (
    QUERY,
    click.option(
        "--sample",
        type=click.IntRange(1),
        metavar="N",
        help="Read N rows, drawn uniformly in one pass, as a table in memory.",
    ),
    click.option(
        "--scan",
        is_flag=True,
        help="Read the rows of a file anew for every round of questions instead of keeping them in memory; "
        "folders, patterns and databases are always read so.",
    ),
    click.option(
        "--push-down",
        is_flag=True,
        help="Let a database count and sum by itself, so that no row leaves it (slower).",
    ),
)


@dataclass(frozen=True)
class TimeRequest:
    """Options about time."""

    time: str | None
    series: str | None
    lags: int | str | None

    @property
    def timing(self) -> Timing | None:
        """The columns of time and series; None where the rows are no series."""
        from dagora.base.errors import OptionError
        from dagora.data.series import Timing

        timing = Timing.read(self.time, self.series)
        if timing is None and self.lags is not None:
            raise OptionError("--lags goes with --time, which says when a row was")
        return timing

    def settings(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of `learn`, with the number of lags where it was given."""
        from dagora.base.errors import OptionError

        if self.lags is None:
            return dict(asked)
        if "lags" in asked:
            raise OptionError("--lags and --option lags=N say the same: leave one of them out")
        return {**asked, "lags": self.lags}


@dataclass(frozen=True)
class SiteTime:
    """A site's columns of time; the plan has the number of lags."""

    time: str | None
    series: str | None

    @property
    def timing(self) -> Timing | None:
        """The columns of time and series; None where the rows are no series."""
        from dagora.data.series import Timing

        return Timing.read(self.time, self.series)


def site_time_options(command: F) -> F:
    """Add the columns of time and series to a command, which gets them as one argument `in_time`."""
    return gather_options(command, SiteTime, "in_time", TIME_OPTIONS[:2])


def time_options(command: F) -> F:
    """Add the options about time to a command, which gets them as one argument `in_time`."""
    return gather_options(command, TimeRequest, "in_time", TIME_OPTIONS)


def time_options_with_choice(command: F) -> F:
    """The same for a command that can choose the number of lags."""
    return gather_options(command, TimeRequest, "in_time", (*TIME_OPTIONS[:2], CHOSEN_LAGS))


def data_options(command: F) -> F:
    """Add the reading options to a command, which gets them as one argument `reading`."""
    return reading_options(command, None)


def data_options_with_model(command: F) -> F:
    """The same for a command that can model missing values."""
    return reading_options(command, "auto")


def reading_options(command: F, missing: str | None) -> F:
    """Add the reading options to a command; `missing` is as in `select_options`."""
    return gather_options(command, Reading, "reading", (*given_options(missing), *SOURCE_OPTIONS), READING)


def cell_options(command: F) -> F:
    """Add the reading options that a codebook leaves open to a command, which gets them as `reading`."""
    options = (*given_options(names=CELLS), QUERY)
    return gather_options(command, CellReading, "reading", options, CELLS)
