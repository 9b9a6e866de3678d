"""The first look at the columns of a database, by queries: distinct values while few, else ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dagora.data.columns.cells import is_text
from dagora.data.columns.dates import NUMBERED_DAYS, spell_days
from dagora.data.columns.ingest import is_temporal
from dagora.data.columns.missing import often_means_missing
from dagora.data.columns.missing_codes import CODES, NumberFacts
from dagora.data.scan.codebook import is_categorical
from dagora.data.scan.profile import WRAP, Profile, as_words, clean_cells, sum_of_squares, with_cleaned_words
from dagora.data.scan.sql import as_double, literal, quote, relation, trim
from dagora.stats.scan.query_counts import condition, present

if TYPE_CHECKING:
    from collections.abc import Collection

    from dagora.data.scan.row_source import RowSource
    from dagora.stats.scan.query_counts import Database
    from dagora.stats.scan.row_stream import Words

MOST_DAYS = 200 * 366  # of the years that `spell_days` knows


def look_by_queries(
    database: Database,
    source: RowSource,  # noqa: ARG001 - the rows themselves are not looked at
    profiles: dict[str, Profile],
    words: Words,
    *,
    complete: bool = False,
) -> None:
    """Fill the profiles of all columns, over all rows or those without a missing value."""
    schema = database.schema()
    where = condition(schema, words) if complete else ""
    rows = relation(database.query, where)
    for profile in profiles.values():
        kind = schema.field(profile.name).type
        filled = present(profile.name, kind, words.get(profile.name, ()))
        look_at_column(database, profile, rows, filled, words.get(profile.name, ()))


def look_at_column(
    database: Database, profile: Profile, rows: str, filled: str, words: Collection[str]
) -> None:
    """Fill one profile; `filled` is the condition that a cell is not missing."""
    import pyarrow as pa

    column = quote(profile.name)
    (counts,) = answer(
        database,
        f"SELECT count(*) AS n, sum(CASE WHEN {filled} THEN 1 ELSE 0 END) AS filled FROM {rows}",  # noqa: S608
    )
    profile.rows = int(counts["n"])
    profile.missing = profile.rows - int(counts["filled"] or 0)
    profile.first_missing = 0 if profile.missing else -1
    profile.knows_rows = False
    if is_temporal(profile.type) or profile.missing == profile.rows:
        return
    inner = f"(SELECT {column} FROM {rows}) AS dagora_cells WHERE {filled}"  # noqa: S608
    most = profile.most_values
    found = list(database.ask(f"SELECT DISTINCT {column} FROM {inner} LIMIT {most + 1}"))  # noqa: S608
    if is_categorical(profile.type):
        # All levels that are declared, in their order, whichever of them occur.
        levels = clean_cells(found[0].column(0), words).dictionary.to_pylist()
        profile.firsts = dict.fromkeys(levels, 0) if len(levels) <= most else None
        return
    firsts: dict[Any, int] = {}
    for batch in found:
        cells = batch.column(0)
        if is_text(profile.type):
            cells = with_cleaned_words(as_words(cells), words)
        for value in cells.drop_null().to_pylist():
            # SQL knows no negative zero either: both are found among the same values.
            firsts.setdefault(value + 0.0 if isinstance(value, float) else value, len(firsts))
    # In the order of the values, as SQL hands them out in any.
    profile.firsts = dict.fromkeys(sorted(firsts), 0) if len(firsts) <= most else None
    if profile.firsts is not None:
        count_values(database, profile, inner, column)
    if is_text(profile.type) and profile.firsts is not None:
        count_suspects(database, profile, inner)
    elif is_text(profile.type):
        profile.suspects = {text: 0 for text in firsts if often_means_missing(text)}
        texts = [text for text in firsts if text not in profile.suspects]
        profile.examples.add(pa.array(texts, pa.string()))
        profile.numbers = False  # the other texts are not known
    if not is_text(profile.type) and not is_boolean(profile):
        measure(database, profile, inner, column)
        if profile.firsts is None and profile.infinite < 0:
            note_numbers(database, profile, inner, column)


def count_values(database: Database, profile: Profile, inner: str, column: str) -> None:
    """Note how often each of a few values occurs."""
    asked = f"SELECT {column} AS value, count(*) AS n FROM {inner} GROUP BY {column}"  # noqa: S608
    for row in answer(database, asked):
        value = row["value"].strip() if isinstance(row["value"], str) else row["value"]
        profile.tallies[value] = profile.tallies.get(value, 0) + int(row["n"])


def note_numbers(database: Database, profile: Profile, inner: str, column: str) -> None:
    """Note what tells whether some of many numbers stand for missing."""
    codes = ", ".join(f"{code:.10g}" for code in CODES)
    asked = f"SELECT {column} AS code, count(*) AS n FROM {inner} AND {column} IN ({codes}) GROUP BY {column}"  # noqa: S608
    found = {float(row["code"]): int(row["n"]) for row in answer(database, asked)}
    number = as_double(profile.name)
    (about,) = answer(
        database,
        f"SELECT count(*) AS n, min({number}) AS low, max({number}) AS high, avg({number}) AS mean, "  # noqa: S608
        f"avg({number} * {number}) AS square FROM {inner} AND NOT {column} IN ({codes})",
    )
    n = int(about["n"])
    if n:
        low, high, mean, square = (float(about[key]) for key in ("low", "high", "mean", "square"))
        profile.facts = NumberFacts(found, n, low, high, n * mean, n * square)


def count_suspects(database: Database, profile: Profile, inner: str) -> None:
    """Note texts that often mean missing, and how many cells have one."""
    found = [text for text in profile.firsts or () if often_means_missing(text)]
    if not found:
        return
    profile.suspects = dict.fromkeys(found, 0)
    listed = ", ".join(map(literal, found))
    (about,) = answer(
        database,
        f"SELECT count(*) AS n FROM {inner} AND {trim(profile.name)} IN ({listed})",  # noqa: S608
    )
    profile.suspected = int(about["n"])


def is_boolean(profile: Profile) -> bool:
    """Return True if a column holds truth values."""
    import pyarrow as pa

    return bool(pa.types.is_boolean(profile.type))


def measure(database: Database, profile: Profile, inner: str, column: str) -> None:
    """Note the range of numbers, and what tells whether they number the rows."""
    import pyarrow as pa

    (about,) = answer(
        database,
        f"SELECT min({column}) AS low, max({column}) AS high, "  # noqa: S608
        f"sum(CASE WHEN {column} = floor({column}) THEN 0 ELSE 1 END) AS broken, "
        f"count(DISTINCT {column}) AS different FROM {inner}",
    )
    low, high = float(about["low"]), float(about["high"])
    cells = profile.rows - profile.missing
    if np.isinf([low, high]).any():
        profile.infinite, profile.infinities = 0, 1
        return
    profile.low, profile.high = low, high
    days = pa.types.is_integer(profile.type) and NUMBERED_DAYS[0] <= low <= high <= NUMBERED_DAYS[1]
    profile.spells_days = days and are_days(database, inner, column)
    profile.whole = pa.types.is_integer(profile.type) or not int(about["broken"] or 0)
    profile.repeats = int(about["different"]) < cells
    if profile.whole and not profile.repeats and high - low == cells - 1:
        first, last = int(low), int(high)
        squares = sum_of_squares(last) - sum_of_squares(first - 1)
        profile.note_sums(((first + last) * cells // 2) & WRAP, squares & WRAP)


def are_days(database: Database, inner: str, column: str) -> bool:
    """Return True if whole numbers all spell days; there are not so many days as such numbers."""
    import pyarrow as pa

    found = list(database.ask(f"SELECT DISTINCT {column} FROM {inner} LIMIT {MOST_DAYS + 1}"))  # noqa: S608
    numbers = pa.chunked_array([batch.column(0) for batch in found])
    return len(numbers) <= MOST_DAYS and spell_days(numbers)


def answer(database: Database, query: str) -> list[dict[str, Any]]:
    """The rows of a small result."""
    return [row for batch in database.ask(query) for row in batch.to_pylist()]
