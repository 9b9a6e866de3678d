"""The codes of scanned columns: their kinds and levels, which are left out, and which rows are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from dagora.base.errors import DataError
from dagora.base.wording import col, option
from dagora.data.columns.cells import is_text
from dagora.data.columns.missing import Na, NaWords
from dagora.data.columns.ordinal import ordinal_columns
from dagora.data.columns.spoilt_numbers import SpoiltNumbersError, data_row, refuse_together
from dagora.data.scan.codebook import Coding, code_column, missing_words_of, order_coding
from dagora.data.scan.profile import Profile
from dagora.data.schema import Kind, Schema, Variable
from dagora.stats.data_warnings import keeping
from dagora.stats.scan.column_passes import ColumnPasses
from dagora.stats.scan.row_stream import Words


@dataclass(frozen=True)
class ColumnCodings:
    """The columns of a source, coded, and how many rows are counted.

    `words` are the texts that mean missing in the columns that are used, `holes` those of them that were
    found among numbers.
    """

    decided: dict[str, Coding | str]  # a coding, or the reason why the column is left out
    words: Words
    holes: Words
    complete_rows: int
    leave_rows_out: bool  # some rows may have a missing value

    @cached_property
    def used(self) -> dict[str, Coding]:
        """The columns that are used."""
        return codings_of(self.decided)

    @cached_property
    def codings(self) -> list[Coding]:
        """Their codings, in their order."""
        return list(self.used.values())

    @cached_property
    def schema(self) -> Schema:
        """Their kinds and levels."""
        return Schema(coding.variable for coding in self.codings)


def codings_of(decided: Mapping[str, Coding | str]) -> dict[str, Coding]:
    """The codings of the columns that are not left out."""
    return {name: coding for name, coding in decided.items() if isinstance(coding, Coding)}


def code_columns(passes: ColumnPasses) -> ColumnCodings:
    """Decide how each column is coded; rows with a missing value are refused, or one pass leaves them out."""
    reading, drop = passes.reading, passes.reading.missing == "drop"
    wanted = frozenset(reading.wanted)
    # What is wrong with a column may stand in rows that are dropped.
    postponed: list[DataError] = []
    decided = decide(
        passes.profiles.values(),
        passes.told,
        expected=drop,
        postponed=postponed if drop else None,
        wanted=wanted,
        na=reading.na,
    )
    used = codings_of(decided)
    holes = {name: coding.words for name, coding in used.items() if coding.words}
    incomplete = [name for name in used if passes.profiles[name].missing or name in holes]
    if incomplete and not drop:
        refuse_missing(passes.profiles[incomplete[0]], holes.get(incomplete[0], ()))
    complete_rows = passes.rows
    if incomplete:
        passes.words = {name: (*passes.words[name], *holes.get(name, ())) for name in used}
        again = passes.look_at_complete_rows(used)
        complete_rows = next(iter(again.values())).rows
        if not complete_rows:
            raise DataError(f"{passes.source.title}: no row is left: all {passes.rows} have a missing value")
        decided |= decide(
            again.values(), NaWords(()), expected=False, wanted=wanted, again=True, na=reading.na
        )
        passes.profiles |= {
            name: replace(profile, missing=passes.profiles[name].missing) for name, profile in again.items()
        }
    else:
        refuse_together(postponed)
    ordinal = ordinal_columns(passes.names, reading)
    decided |= {
        name: order_coding(replace(coding, words=passes.words[name]), ordinal.get(name))
        for name, coding in codings_of(decided).items()
    }
    columns = ColumnCodings(decided, passes.words, holes, complete_rows, bool(incomplete))
    if not columns.used:
        first, why = next((name, str(reason)) for name, reason in decided.items())
        raise DataError(f"no column can be used: '{first}' ({why}){keeping(first, why)}")
    return columns


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
