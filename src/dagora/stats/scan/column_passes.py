"""The passes over scanned rows that find the types and levels of their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.data.columns.cells import is_text
from dagora.data.columns.column_names import (
    check_names,
    columns_to_join,
    declare_kinds,
    kept_positions,
    resolve,
)
from dagora.data.columns.missing import na_words
from dagora.data.scan.codebook import Coding, refuse_repeated_names, settle_marks, text_numbers, text_rows
from dagora.data.scan.first_rows import FirstRows
from dagora.data.scan.profile import Profile, look_at_all, new_profiles
from dagora.data.scan.row_source import KnowsItsRows, SplitsCells
from dagora.data.scan.rows_that_count import RowsThatCount
from dagora.data.scan.same_numbers import profiles_again, spelled_otherwise
from dagora.data.scan.screening_sample import ScreeningSample
from dagora.stats.scan.query_counts import Database
from dagora.stats.scan.query_profiles import look_by_queries
from dagora.stats.scan.row_stream import RowStream, Words, complete_part
from dagora.stats.scan.stream_counts import Counter

if TYPE_CHECKING:
    from dagora.data.columns.reading_options import ReadingOptions
    from dagora.data.scan.row_source import RowSource


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


class ColumnPasses:
    """The passes over a source in which its columns are looked at, before anything is counted.

    `words` are the texts of each column that mean a missing value, `profiles` the cells that were seen,
    `rows` the number of all rows, and `number` that of the passes. With a `database`, no row leaves it.
    """

    def __init__(self, source: RowSource, reading: ReadingOptions, database: Database | None) -> None:
        self.source, self.reading, self.database = source, reading, database
        # Where rows may not leave a database, none is drawn.
        self.sample, self.first_rows = ScreeningSample(), FirstRows()
        self._schema = source.schema()
        names = check_names(self._schema.names)
        if list(names) != list(self._schema.names):
            raise DataError(f"{source.title}: names of columns must not begin or end with a blank")
        self.names = tuple(names[place] for place in kept_positions(names, reading))
        self._declared = declare_kinds(self.names, reading)
        dropped = resolve(reading.drop, self._schema.names)
        self.told = na_words(reading.na, self.names, None if reading.only is not None else dropped)
        self.words: Words = {name: self.told.of(name) for name in self.names}
        self.state = source.state()
        self.profiles = self.empty_profiles(self.names)
        self.rows = self.number = 0

    def empty_profiles(self, names: tuple[str, ...]) -> dict[str, Profile]:
        """New profiles of some columns."""
        return new_profiles(self._schema, names, self._declared, text_cells=self.source.text_cells)

    def look(self, profiles: dict[str, Profile], *, complete: bool = False, first: bool = False) -> None:
        """Fill profiles in one pass over all rows, or over those without a missing value."""
        self.number += 1
        if self.database is not None:
            look_by_queries(self.database, self.source, profiles, self.words, complete=complete)
            return
        first_rows = self.first_rows if first else None
        look_at_rows(self.sample, self.source, profiles, self.words, complete=complete, first_rows=first_rows)

    def look_first(self) -> None:
        """Look at all rows, and settle how the numbers of each column are written."""
        self.look(self.profiles, first=True)
        self.rows = next(iter(self.profiles.values())).rows
        if not self.rows:
            raise DataError(f"{self.source.title}: there are no rows: at least one is needed")
        refuse_repeated_names(list(self.profiles.values()))
        separator = self.source.separator if isinstance(self.source, SplitsCells) else ""
        settle_marks(self.profiles, self.reading.decimal, separator)
        for name in columns_to_join(self.names, self.reading):
            self.profiles[name].join = True
        for profile in self.profiles.values():
            profile.reader = text_numbers(profile)

    def look_at_spelled_numbers(self) -> None:
        """Look again at columns whose texts are numbers, such as 1.234,5."""
        spelled = tuple(name for name in self.names if self.profiles[name].reader is not None)
        if spelled:
            again = self.empty_profiles(spelled)
            for name, profile in again.items():
                profile.follow(self.profiles[name])
            self._look_again(again)

    def look_at_other_spellings(self) -> None:
        """Look again at columns with other spellings of a word that means missing, such as -9.0 for -9."""
        spellings = {
            name: found
            for name in self.names
            if self.words[name] and (found := spelled_otherwise(self.profiles[name], self.words[name]))
        }
        if spellings:
            self.words |= {name: (*self.words[name], *found) for name, found in spellings.items()}
            self._look_again(profiles_again(self._schema, self.profiles, spellings, self._declared))

    def _look_again(self, profiles: dict[str, Profile]) -> None:
        self.look(profiles)
        self.profiles |= profiles

    def look_at_complete_rows(self, used: Mapping[str, Coding]) -> dict[str, Profile]:
        """Profiles of the columns that are used, over the rows without a missing value."""
        again = self.empty_profiles(tuple(used))
        for name, profile in again.items():
            seen = self.profiles[name]
            profile.follow(seen)
            profile.read_as = used[name].read_as if self.told.finds(name) else None
            if is_text(profile.type):
                profile.all_texts = (*(seen.all_texts or ()), *text_rows(seen))
                profile.all_cells = seen.n_values
        self.look(again, complete=True)
        return again


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
