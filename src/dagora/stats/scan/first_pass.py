"""From a source to statistics: the first pass finds types and levels, and what cannot be learned from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dagora.base.errors import OptionError
from dagora.base.wording import option
from dagora.data.columns.column_profile import UNIT
from dagora.data.columns.first_and_last_rows import refuse_end_rows, total_warning
from dagora.data.columns.ingest import WHY
from dagora.data.columns.overview import LEFT_OUT, ColumnSummary, Overview, level_list
from dagora.data.columns.reading_warnings import reading_warnings
from dagora.data.scan.codebook import codes_in_profile, ends_in_profile
from dagora.data.scan.row_source import SaysMore
from dagora.data.scan.rows_that_count import rows_that_count
from dagora.data.schema import Kind
from dagora.stats.scan.column_coding import ColumnCodings, code_columns
from dagora.stats.scan.column_passes import ColumnPasses, LooksByItself
from dagora.stats.scan.query_counts import Database, QueryCounts
from dagora.stats.scan.row_stream import RowStream
from dagora.stats.scan.scan_statistics import SAMPLE, ScanStatistics
from dagora.stats.scan.stream_counts import Counter, StreamCounts
from dagora.stats.scan.weighed_counts import WeighedCounts

if TYPE_CHECKING:
    from dagora.data.columns.reading_options import ReadingOptions
    from dagora.data.scan.profile import Profile
    from dagora.data.scan.row_source import RowSource


@dataclass
class ColumnNotes:
    """The facts about a column that `reading_warnings` needs."""

    name: str
    holes: Mapping[str, int]
    doubtful: Mapping[str, int]
    codes: Mapping[str, int] = field(default_factory=dict)


def scan_source(
    source: RowSource, reading: ReadingOptions, jobs: int = 1, database: Database | None = None
) -> ScanStatistics:
    """Statistics of a source, after a first pass over it (more where texts or incomplete rows ask for them).

    With a `database`, no row leaves it: it is asked for distinct values, counts and sums.
    """
    refuse_unscanned_options(reading)
    row_column = refuse_unscanned(source, reading, pushed_down=database is not None)
    passes = ColumnPasses(rows_that_count(source, reading), reading, database)
    passes.look_first()
    passes.look_at_spelled_numbers()
    passes.look_at_other_spellings()
    columns = code_columns(passes)
    overview = scan_overview(passes, columns, row_column)
    counter = counter_of_rows(passes, columns, jobs)
    return ScanStatistics(
        counter,
        columns.schema,
        columns.complete_rows,
        overview,
        passes.sample.table(columns.codings, columns.schema, columns.complete_rows),
        counter.effective if isinstance(counter, WeighedCounts) else None,
    )


def refuse_unscanned_options(reading: ReadingOptions) -> None:
    """Refuse ways of reading that need all rows in memory."""
    if reading.missing not in ("error", "drop"):
        raise OptionError(
            "missing values of rows that are scanned are refused or dropped "
            f"({option('missing', 'drop')}): for {option('missing', reading.missing)} take a sample "
            f"({option('sample', SAMPLE)})"
        )
    if reading.discretise is not None:
        raise OptionError(
            f"columns of rows that are scanned are not cut into intervals: leave {option('discretise')} out, "
            f"or take a sample ({option('sample', SAMPLE)})"
        )
    if reading.ranks:
        raise OptionError(
            f"ranks need all rows at once, and these are scanned: leave {option('ranks')} out, or take a "
            f"sample ({option('sample', SAMPLE)})"
        )


def refuse_unscanned(
    source: RowSource, reading: ReadingOptions, *, pushed_down: bool
) -> ColumnSummary | None:
    """Refuse what scanned rows cannot be; the summary of the column that says how they count."""
    if reading.group is not None:
        raise OptionError(
            f"rows that are scanned are taken as independent: {option('group')} needs a file that is read "
            f"into memory, or a sample ({option('sample', SAMPLE)})"
        )
    for what, column in reading.about_rows.items():
        if pushed_down:
            raise OptionError(
                f"{option('push_down')} counts every row once: leave it out, or let the query repeat rows in "
                f"the place of {option(what)}"
            )
        if isinstance(source, LooksByItself):
            raise OptionError(
                f"frames of Dask are counted by row: leave {option(what)} out, or write them to Parquet "
                "files, which take it"
            )
        return ColumnSummary(column, LEFT_OUT, WHY[what])
    return None


def scan_overview(passes: ColumnPasses, columns: ColumnCodings, row_column: ColumnSummary | None) -> Overview:
    """The overview of scanned rows; refuses first and last rows that are no data, such as totals."""
    ends = [
        cell
        for coding in columns.codings
        for cell in ends_in_profile(passes.profiles[coding.variable.name], coding)
    ]
    refuse_end_rows(ends, columns.complete_rows)
    overview = overview_of(passes, columns)
    grouped = any(reason == UNIT for reason in columns.decided.values())
    counted = passes.reading.counts is not None
    odd = passes.first_rows.warnings(
        columns.used, columns.words, passes.rows, grouped=grouped, counted=counted
    )
    if row_column is not None:
        overview = replace(overview, columns=(*overview.columns, row_column))
    warnings = (*total_warning(ends, columns.complete_rows), *overview.warnings, *odd)
    return replace(overview, warnings=warnings)


def overview_of(passes: ColumnPasses, columns: ColumnCodings) -> Overview:
    """The overview of the source, with its warnings."""
    source, profiles, rows = passes.source, passes.profiles, passes.rows
    summaries, noted = [], []
    for name, coding in columns.decided.items():
        missing = profiles[name].missing
        if isinstance(coding, str):
            summaries.append(ColumnSummary(name, LEFT_OUT, coding, missing=missing))
            continue
        variable = coding.variable
        values = level_list(variable.levels)
        if variable.kind is Kind.CONTINUOUS:
            values = f"{profiles[name].low:g} to {profiles[name].high:g}"
        summaries.append(
            ColumnSummary(name, str(variable.kind), coding.why, values, variable.cardinality, missing)
        )
        codes = codes_in_profile(profiles[name], coding) if passes.told.leaves_codes(name) else {}
        lost = counts_of(profiles[name], columns.holes.get(name, ()))
        noted.append(ColumnNotes(name, lost, counts_of(profiles[name], coding.doubtful or ()), codes))
    dropped, given = rows - columns.complete_rows, passes.reading.non_defaults()
    overview = Overview(tuple(summaries), rows, dropped, given, source=source.title)
    notes = source.notes if isinstance(source, SaysMore) else ()
    return replace(overview, warnings=(*notes, *reading_warnings(overview, noted, [*columns.schema])))


def counter_of_rows(passes: ColumnPasses, columns: ColumnCodings, jobs: int) -> Counter:
    """The counter of the rows: queries of a database, the source by itself, or a stream of its rows."""
    source, complete, weights = passes.source, columns.complete_rows, passes.reading.weights
    filled = columns.words if columns.leave_rows_out else None
    if passes.database is not None:
        return QueryCounts(passes.database, columns.codings, complete, filled)
    stream = RowStream(source, columns.codings, complete, passes.state, filled, weights)
    stream.passes = passes.number
    levels = columns.schema.cardinalities
    if isinstance(source, LooksByItself):
        return source.counter(stream, columns.codings, filled, levels, jobs)
    if weights is not None:
        return WeighedCounts(stream, levels, complete, weights, jobs)
    return StreamCounts(stream, levels, complete, jobs)


def counts_of(profile: Profile, words: Iterable[str]) -> dict[str, int]:
    """The counts of words, where they are known: once at least."""
    return {word: max(1, profile.tallies.get(word, 1)) for word in words}
