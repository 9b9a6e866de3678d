"""Find the cells of a column that are missing under another name: `NA`, `?`, `n/a`, `.` and the like.

Where the other cells are numbers, such a word is missing: a measurement is not a level. In other columns the
table alone cannot tell. If the user has said what to do with missing values, the words count as missing;
otherwise they stay levels. Both are told.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dagora.data.columns.cells import ZERO_PADDED, is_text, null_where, parse_undeclared, without_levels
from dagora.data.columns.levels import NUMBER
from dagora.data.columns.missing import means_missing_among
from dagora.data.schema import Kind

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class MissingWords:
    """Cells with missing values as nulls; how often each word was missing, and each doubtful one was not."""

    cells: pa.ChunkedArray
    holes: Mapping[str, int] = field(default_factory=dict)
    doubtful: Mapping[str, int] = field(default_factory=dict)


def find_missing(
    cells: pa.ChunkedArray, *, wanted: bool, levels: Collection[str] = (), declared: Kind | None = None
) -> MissingWords:
    """Make missing values of words that mean missing; `wanted` says that the user expects missing values.

    `levels` are known to be levels.

    >>> import pyarrow as pa
    >>> find_missing(pa.chunked_array([["1", "?", "3"]]), wanted=False)
    MissingWords(cells=<pyarrow.lib.ChunkedArray ...>
    [
      [
        1,
        null,
        3
      ]
    ], holes={'?': 1}, doubtful={})
    >>> find_missing(pa.chunked_array([["low", "NA", "high"]]), wanted=False).doubtful
    {'NA': 1}
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(cells.type):
        return find_levels(cells, wanted=wanted or declared is Kind.CONTINUOUS, levels=levels)
    if not is_text(cells.type):
        return MissingWords(cells)
    words = cells.unique().drop_null()
    known = words.to_pylist()
    suspects = [word for word in known if word not in levels and means_missing_among(word, known)]
    if not suspects:
        return MissingWords(cells)
    suspect = pa.array(suspects, cells.type)
    counts = count_values(cells, suspects)
    others = words.filter(pc.invert(pc.is_in(words, value_set=suspect)))
    numbers = (
        len(others) > 0
        and pc.all(pc.match_substring_regex(others, f"^{NUMBER}$")).as_py()
        and not pc.any(pc.match_substring_regex(others, ZERO_PADDED)).as_py()
    )
    if not (wanted or declared is Kind.CONTINUOUS or (numbers and declared is None)):
        return MissingWords(cells, doubtful=counts)
    rest = null_where(cells, pc.is_in(cells, value_set=suspect))
    return MissingWords(parse_undeclared(rest, declared) if numbers else rest, holes=counts)


def find_levels(cells: pa.ChunkedArray, *, wanted: bool, levels: Collection[str]) -> MissingWords:
    """Do so in a categorical column; its other levels stay declared."""

    def suspect(level: str) -> bool:
        return level.strip() not in levels and means_missing_among(level, known)

    whole = without_levels(cells, lambda _: False)
    known = [str(level) for level in whole.dictionary.to_pylist()]
    named = [level for level in known if suspect(level)]
    counts = count_values(as_text(whole), named) if named else {}
    if not counts:
        return MissingWords(cells)
    if not wanted:
        return MissingWords(cells, doubtful=counts)
    import pyarrow as pa

    return MissingWords(pa.chunked_array([without_levels(cells, suspect)]), holes=counts)


def as_text(column: pa.DictionaryArray) -> pa.ChunkedArray:
    """The cells of a categorical column as text."""
    import pyarrow as pa

    return pa.chunked_array([column.dictionary_decode().cast(pa.string())])


def count_values(cells: pa.ChunkedArray, words: list[str]) -> dict[str, int]:
    """Count how often each of a few words occurs; those that do not are left out."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = cells.filter(pc.is_in(cells, value_set=pa.array(words, cells.type)))
    return {str(entry["values"]): entry["counts"].as_py() for entry in pc.value_counts(found)}
