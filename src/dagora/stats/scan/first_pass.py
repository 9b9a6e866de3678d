"""From a source to statistics: the first pass finds types and levels, and what cannot be learned from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError
from dagora.base.wording import col, option
from dagora.data.columns.cells import is_text
from dagora.data.columns.column_names import (
    check_names,
    columns_to_join,
    declare_kinds,
    kept_positions,
    resolve,
)
from dagora.data.columns.column_profile import UNIT
from dagora.data.columns.first_and_last_rows import refuse_end_rows, total_warning
from dagora.data.columns.ingest import WHY
from dagora.data.columns.missing import Na, NaWords, na_words
from dagora.data.columns.ordinal import ordinal_columns
from dagora.data.columns.overview import LEFT_OUT, ColumnSummary, Overview, level_list
from dagora.data.columns.reading_warnings import reading_warnings
from dagora.data.columns.spoilt_numbers import SpoiltNumbersError, data_row, refuse_together
from dagora.data.scan.codebook import (
    Coding,
    code_column,
    codes_in_profile,
    ends_in_profile,
    missing_words_of,
    order_coding,
    refuse_repeated_names,
    settle_marks,
    text_numbers,
    text_rows,
)
from dagora.data.scan.first_rows import FirstRows
from dagora.data.scan.profile import Profile, look_at_all, new_profiles
from dagora.data.scan.row_source import KnowsItsRows, SaysMore, SplitsCells
from dagora.data.scan.rows_that_count import RowsThatCount, rows_that_count
from dagora.data.scan.same_numbers import profiles_again, spelled_otherwise
from dagora.data.scan.screening_sample import ScreeningSample
from dagora.data.schema import Kind, Schema, Variable
from dagora.stats.data_warnings import keeping
from dagora.stats.scan.query_counts import Database, QueryCounts
from dagora.stats.scan.query_profiles import look_by_queries
from dagora.stats.scan.row_stream import RowStream, Words, complete_part
from dagora.stats.scan.scan_statistics import SAMPLE, ScanStatistics
from dagora.stats.scan.stream_counts import Counter, StreamCounts
from dagora.stats.scan.weighed_counts import WeighedCounts

if TYPE_CHECKING:
    from dagora.data.columns.reading_options import ReadingOptions
    from dagora.data.scan.row_source import RowSource


@dataclass
class ColumnNotes:
    """The facts about a column that `reading_warnings` needs."""

    name: str
    holes: Mapping[str, int]
    doubtful: Mapping[str, int]
    codes: Mapping[str, int] = field(default_factory=dict)


@runtime_checkable
class LooksByItself(Protocol):
    """A source whose rows are looked at, and counted, where they are."""

    def look(self, profiles: dict[str, Profile], words: Words, *, complete: bool) -> None:
        """Look at all rows, or at those without a missing value."""

    def counter(
        self,
        stream: RowStream,
        codings: Sequence[Coding],
        filled: Words | None,
        cardinalities: NDArray[np.int64],
        jobs: int,
    ) -> Counter:
        """The counter of the rows there; `stream` numbers the passes."""


def scan_source(
    source: RowSource, reading: ReadingOptions, jobs: int = 1, database: Database | None = None
) -> ScanStatistics:
    """Statistics of a source, after a first pass over it (a second where incomplete rows are left out).

    With a `database`, no row leaves it: it is asked for distinct values, counts and sums.
    """
    # Where rows may not leave a database, none is drawn.
    sample, first_rows = ScreeningSample(), FirstRows()
    look = partial(look_at_rows, sample) if database is None else partial(look_by_queries, database)
    first_look = look if database is not None else partial(look_at_rows, sample, first_rows=first_rows)
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
    counted = refuse_unscanned(source, reading, pushed_down=database is not None)
    source = rows_that_count(source, reading)
    schema = source.schema()
    names = check_names(schema.names)
    if list(names) != list(schema.names):
        raise DataError(f"{source.title}: names of columns must not begin or end with a blank")
    names = tuple(names[place] for place in kept_positions(names, reading))
    declared = declare_kinds(names, reading)
    dropped_names = resolve(reading.drop, schema.names)
    told = na_words(reading.na, names, None if reading.only is not None else dropped_names)
    words: Words = {name: told.of(name) for name in names}
    state = source.state()
    profiles = new_profiles(schema, names, declared, text_cells=source.text_cells)
    first_look(source, profiles, words)
    rows = next(iter(profiles.values())).rows
    if not rows:
        raise DataError(f"{source.title}: there are no rows: at least one is needed")
    passes = 1
    refuse_repeated_names(list(profiles.values()))
    separator = source.separator if isinstance(source, SplitsCells) else ""
    settle_marks(profiles, reading.decimal, separator)
    for name in columns_to_join(names, reading):
        profiles[name].join = True
    for profile in profiles.values():
        profile.reader = text_numbers(profile)
    spelled = tuple(name for name in names if profiles[name].reader is not None)
    if spelled:
        anew = new_profiles(schema, spelled, declared, text_cells=source.text_cells)
        for name, profile in anew.items():
            profile.follow(profiles[name])
        look(source, anew, words)
        profiles |= anew
        passes += 1
    others = {name: spelled_otherwise(profiles[name], words[name]) for name in names if words[name]}
    if any(others.values()):
        words |= {name: (*words[name], *found) for name, found in others.items()}
        anew = profiles_again(
            schema, profiles, {name: found for name, found in others.items() if found}, declared
        )
        look(source, anew, words)
        profiles |= anew
        passes += 1
    # What is wrong with a column may stand in rows that are dropped.
    postponed: list[DataError] = []
    drop = reading.missing == "drop"
    wanted = frozenset(reading.wanted)
    decided = decide(
        profiles.values(),
        told,
        expected=drop,
        postponed=postponed if drop else None,
        wanted=wanted,
        na=reading.na,
    )
    kept = {name: coding for name, coding in decided.items() if isinstance(coding, Coding)}
    holes = {name: coding.words for name, coding in kept.items() if coding.words}
    incomplete = [name for name in kept if profiles[name].missing or name in holes]
    if incomplete and reading.missing == "error":
        refuse_missing(profiles[incomplete[0]], holes.get(incomplete[0], ()))
    complete = rows
    if postponed and not incomplete:
        refuse_together(postponed)
    if incomplete:
        words = {name: (*words[name], *holes.get(name, ())) for name in kept}
        again = new_profiles(schema, tuple(kept), declared, text_cells=source.text_cells)
        for name, profile in again.items():
            profile.follow(profiles[name])
            profile.read_as = kept[name].read_as if told.finds(name) else None
            if is_text(profile.type):
                profile.all_texts = (*(profiles[name].all_texts or ()), *text_rows(profiles[name]))
                profile.all_cells = profiles[name].n_values
        look(source, again, words, complete=True)
        complete = next(iter(again.values())).rows
        if not complete:
            raise DataError(f"{source.title}: no row is left: all {rows} have a missing value")
        decided |= decide(
            again.values(), NaWords(()), expected=False, wanted=wanted, again=True, na=reading.na
        )
        kept = {name: coding for name, coding in decided.items() if isinstance(coding, Coding)}
        kept = {name: replace(coding, words=words[name]) for name, coding in kept.items()}
        profiles |= {name: replace(again[name], missing=profiles[name].missing) for name in again}
    elif any(words.values()):
        kept = {name: replace(coding, words=words[name]) for name, coding in kept.items()}
    if not kept:
        first, why = next((name, str(reason)) for name, reason in decided.items())
        raise DataError(f"no column can be used: '{first}' ({why}){keeping(first, why)}")
    ordinal = ordinal_columns(names, reading)
    kept = {name: order_coding(coding, ordinal.get(name)) for name, coding in kept.items()}
    edges = [cell for name, coding in kept.items() for cell in ends_in_profile(profiles[name], coding)]
    refuse_end_rows(edges, complete)
    overview = overview_of(source, profiles, {**decided, **kept}, rows, rows - complete, reading, holes, told)
    grouped = any(reason == UNIT for reason in decided.values())
    odd = first_rows.warnings(kept, words, rows, grouped=grouped)
    if counted is not None:
        overview = replace(overview, columns=(*overview.columns, counted))
    overview = replace(overview, warnings=(*total_warning(edges, complete), *overview.warnings, *odd))
    codings, schema_found = list(kept.values()), Schema(coding.variable for coding in kept.values())
    filled = words if incomplete else None
    counter: Counter
    effective = None
    if database is None:
        stream = RowStream(source, codings, complete, state, filled, reading.weights)
        stream.passes = passes + bool(incomplete)
        levels = schema_found.cardinalities
        if isinstance(source, LooksByItself):
            counter = source.counter(stream, codings, filled, levels, jobs)
        elif reading.weights is not None:
            counter = WeighedCounts(stream, levels, complete, reading.weights, jobs)
            effective = counter.effective
        else:
            counter = StreamCounts(stream, levels, complete, jobs)
    else:
        counter = QueryCounts(database, codings, complete, filled)
    return ScanStatistics(
        counter, schema_found, complete, overview, sample.table(codings, schema_found, complete), effective
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


def look_at_rows(
    sample: ScreeningSample,
    source: RowSource,
    profiles: dict[str, Profile],
    words: Words,
    *,
    complete: bool = False,
    first_rows: FirstRows | None = None,
) -> None:
    """Look at all rows, or at those without a missing value: here, or where the source looks by itself."""
    if isinstance(source, LooksByItself):
        source.look(profiles, words, complete=complete)
        return
    if isinstance(source, RowsThatCount):  # rows are repeated or left out
        for profile in profiles.values():
            profile.knows_rows = False
    expected = source.expected_rows() if isinstance(source, KnowsItsRows) else None
    sample.begin(len(profiles), expected)
    for batch in source.batches(list(profiles)):
        rows = complete_part(batch, words) if complete and batch.num_rows else batch
        if batch.num_rows:
            look_at_all(profiles.values(), rows, words)
            sample.add(rows, profiles)
            if first_rows is not None:
                first_rows.add(batch)


def decide(
    profiles: Iterable[Profile],
    told: NaWords,
    *,
    expected: bool,
    postponed: list[DataError] | None = None,
    wanted: Collection[str] = (),
    again: bool = False,
    na: Na = "auto",
) -> dict[str, Coding | str]:
    """The coding of each column, or why it is left out; errors are noted in `postponed`, where that is given.

    Columns that are `wanted` stay even if they look like an identifier, as do all columns that were kept
    before rows were dropped (`again`). A column with a postponed error has a
    coding that only says what means missing in it.
    """
    decided: dict[str, Coding | str] = {}
    spoilt: list[DataError] = []
    for profile in profiles:
        keep = profile.declared is not None or profile.name in wanted
        try:
            finds = told.finds(profile.name)
            found = code_column(profile, finds=finds, wanted=keep, expected=expected, again=again, na=na)
            if isinstance(found, Coding):
                found = replace(found, text=is_text(profile.type))
            decided[profile.name] = found
        except DataError as problem:
            if postponed is None and not isinstance(problem, SpoiltNumbersError):
                raise
            (spoilt if postponed is None else postponed).append(problem)
            holes = missing_words_of(profile, expected=expected) if told.finds(profile.name) else ()
            decided[profile.name] = Coding(Variable(profile.name, Kind.CONTINUOUS), "", holes)
    refuse_together(spoilt)
    return decided


def refuse_missing(profile: Profile, words: tuple[str, ...]) -> None:
    """Refuse missing values; name the first column that has one."""
    read = ", ".join(f"'{word}'" for word in words)
    also = f" ({read} among numbers counts as missing)" if words else ""
    seen = {**(profile.firsts or {}), **profile.suspects}
    firsts = [seen[word] for word in words if word in seen]
    row = min([*firsts, *([profile.first_missing] if profile.missing else [])]) + 1
    where = data_row(", ", row if profile.knows_rows else None)
    raise DataError(
        f"cells are missing{also}, the first in {col(profile.name)}{where}: choose "
        f"{option('missing', 'drop')} to leave out such rows, or leave the column out "
        f"({option('drop', profile.name)})"
    )


def overview_of(
    source: RowSource,
    profiles: dict[str, Profile],
    decided: dict[str, Coding | str],
    rows: int,
    dropped: int,
    reading: ReadingOptions,
    holes: Words,
    told: NaWords,
) -> Overview:
    """The overview of the source, with its warnings."""
    summaries, noted = [], []
    for name, coding in decided.items():
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
        codes = codes_in_profile(profiles[name], coding) if told.leaves_codes(name) else {}
        lost = counts_of(profiles[name], holes.get(name, ()))
        noted.append(ColumnNotes(name, lost, counts_of(profiles[name], coding.doubtful or ()), codes))
    variables = [coding.variable for coding in decided.values() if isinstance(coding, Coding)]
    overview = Overview(tuple(summaries), rows, dropped, reading.non_defaults(), source=source.title)
    notes = source.notes if isinstance(source, SaysMore) else ()
    return replace(overview, warnings=(*notes, *reading_warnings(overview, noted, variables)))


def counts_of(profile: Profile, words: Iterable[str]) -> dict[str, int]:
    """The counts of words, where they are known: once at least."""
    return {word: max(1, profile.tallies.get(word, 1)) for word in words}
