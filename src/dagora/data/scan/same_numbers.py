"""Other spellings of numbers that mean missing: where -999 does, so do -999.0 and -9.99e2, as in memory.

Only the whole column tells whether its text is numbers, so they are found after the first look. From then on
they are words that mean missing in that column, and it is looked at once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagora.base.errors import DataError
from dagora.data.columns.cells import is_text, null_missing, parse_numbers
from dagora.data.scan.codebook import distinct_cells, number_type, plain_numbers, text_rows
from dagora.data.scan.profile import Profile, new_profiles

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from dagora.data.schema import Kind

    Words = dict[str, tuple[str, ...]]


def spelled_otherwise(profile: Profile, words: tuple[str, ...]) -> tuple[str, ...]:
    """Texts of a column of a file of text that spell a number which `words` say is missing."""
    if not (profile.text_cells and is_text(profile.type)):
        return ()
    texts = distinct_cells(profile)[0]
    try:
        numbers = as_numbers(profile, texts)
    except DataError:  # a date that is none: told where the column is coded
        return ()
    if is_text(numbers.type):
        return ()
    if profile.firsts is None:
        return tuple(profile.same_numbers)
    return tuple(texts.filter(null_missing(numbers, words).is_null()).to_pylist())


def as_numbers(profile: Profile, texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Distinct texts as the numbers that they stand for; as they are where one stands for none."""
    plain, _ = plain_numbers(profile, texts)
    return parse_numbers(plain) if is_text(plain.type) else plain


def profiles_again(
    schema: pa.Schema, profiles: Mapping[str, Profile], found: Words, declared: dict[str, Kind]
) -> dict[str, Profile]:
    """Empty profiles of columns with such texts, in which all of their texts decide how numbers are read."""
    again = new_profiles(schema, tuple(found), declared, text_cells=True)
    for name, profile in again.items():
        before = profiles[name]
        profile.follow(before)
        profile.all_texts, profile.all_cells = tuple(text_rows(before)), before.n_values
        if before.firsts is None:
            profile.read_as = number_type(before)
        else:
            profile.read_as = as_numbers(before, distinct_cells(before)[0]).type
    return again
