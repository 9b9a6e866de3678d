"""Texts too many to be kept, as one example of each form: by those the rules for columns judge all of them.

The form of a text that may be a number or a date is a pattern: its marks as they stand, its runs of digits by
their length, and by whether the first begins with zero; of dates with slashes, which numbers are above 12; a
unit after a number as it stands. No rule tells texts of one form apart. Other texts are words, of which the
first few are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from dagora.data.columns.cells import ZERO_PADDED
from dagora.data.columns.dates import IS_DATE, SLASHES, as_days
from dagora.data.columns.levels import IS_NUMBER, NUMBER, UNIT_OF_MEASURE
from dagora.data.columns.spelled_numbers import CURRENCY, PLAIN_MARKS, marks_of_plain, rewrite_numbers

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

MARKS = "".join(map(chr, PLAIN_MARKS)) + CURRENCY
# A number or a date is shorter than this, however it is written.
LIKE_NUMBER_OR_DATE = rf"{IS_DATE}|^[0-9eETZ+.,'%():/ {MARKS}-]{{1,40}}$|^{NUMBER} ?{UNIT_OF_MEASURE}$"
ENDS_IN_UNIT = re.compile(f"(?P<number>{NUMBER}) ?(?P<unit>{UNIT_OF_MEASURE})")
DIGITS = re.compile("[0-9]+")
LONG_RUN = 5  # digits: a year has four, and groups of thousands have three
UP_TO_12, ABOVE_12 = "(?:0?[0-9]|1[0-2])", "(?:1[3-9]|[2-9][0-9])"
MOST_FORMS = 200  # numbers of one spelling, with any digits before and after a mark, have about fifty
MOST_WORDS = 6  # one more than a message lists


@dataclass(frozen=True)
class Example:
    """The first text of a form, its row, and how many texts of that form there are, batch by batch."""

    text: str
    row: int
    count: int = 1


@dataclass
class Examples:
    """An example of each form of texts, and the first words that are of none; `words` counts those.

    `tells_point` says that the plain numbers so far tell what their points are.
    """

    forms: dict[str, Example] = field(default_factory=dict)
    first_words: dict[str, int] = field(default_factory=dict)
    words: int = 0
    tells_point: bool = False

    def add(self, texts: pa.Array, first_row: int = 0, rows: Sequence[int] | None = None) -> None:
        """Add texts (null: none), which stand in consecutive rows from the first, or in `rows`."""
        import pyarrow.compute as pc

        encoded = texts.dictionary_encode()
        indices = np.asarray(encoded.indices.fill_null(-1))
        codes, places = np.unique(indices, return_index=True)
        places = places[codes >= 0]
        left = encoded.dictionary
        where = np.asarray(rows)[places] if rows is not None else places + first_row
        like = np.asarray(pc.match_substring_regex(left, LIKE_NUMBER_OR_DATE))
        self._add_words(left.filter(~like), where[~like])
        left, where = left.filter(like), where[like]
        for form in self.forms:
            left, where = self._take(form, left, where)
        while len(left) and len(self.forms) < MOST_FORMS:
            left, where = self._take(form_of(left[0].as_py()), left, where)
        self._add_words(left, where)

    def add_plain(self, texts: pa.ChunkedArray, first_row: int, *, whole: bool) -> None:
        """Add plain numbers: of those only leading zeros and points matter."""
        import pyarrow.compute as pc

        telling: list[str | None] = []
        padded = pc.match_substring_regex(texts, ZERO_PADDED)
        if pc.any(padded).as_py():
            telling.append(texts.filter(padded)[0].as_py())
        if not whole and not self.tells_point:
            marks = marks_of_plain(texts.unique().drop_null().to_pylist())
            self.tells_point = marks is not None and marks.mark == "point"
            telling += [marks.example, marks.beside] if marks is not None else []
        for text in filter(None, telling):
            row = first_row + texts.index(text).as_py()
            self.forms.setdefault(form_of(text), Example(text, row, 0))
        first = next(iter(self.forms), None)
        if first is not None:
            self.forms[first] = replace(self.forms[first], count=self.forms[first].count + len(texts))

    def _add_words(self, texts: pa.Array, rows: NDArray[np.int64]) -> None:
        self.words += len(texts)
        for text, row in zip(texts[:MOST_WORDS].to_pylist(), rows.tolist(), strict=False):
            if len(self.first_words) < MOST_WORDS:
                self.first_words.setdefault(text, row)

    def _take(
        self, form: str, texts: pa.Array, rows: NDArray[np.int64]
    ) -> tuple[pa.Array, NDArray[np.int64]]:
        """Count the texts of a form; return the others."""
        import pyarrow.compute as pc

        same = np.asarray(pc.match_substring_regex(texts, f"^(?:{form})$"))
        if not same.any():
            return texts, rows
        place = int(same.argmax())
        known = self.forms.get(form) or Example(texts[place].as_py(), int(rows[place]), 0)
        self.forms[form] = replace(known, count=known.count + int(same.sum()))
        return texts.filter(~same), rows[~same]

    def texts(self) -> dict[str, Example]:
        """The examples by their texts, in the order of their rows; words share the count of all words."""
        each = self.words / max(1, len(self.first_words))
        words = {text: Example(text, row, round(each)) for text, row in self.first_words.items()}
        found = words | {example.text: example for example in self.forms.values()}
        return dict(sorted(found.items(), key=lambda item: item[1].row))

    def append(self, other: Examples, rows: int) -> Examples:
        """The examples of these texts followed by others, whose rows are counted on from here."""
        later = {form: replace(one, row=one.row + rows) for form, one in other.forms.items()}
        forms = later | {
            form: replace(one, count=one.count + (later[form].count if form in later else 0))
            for form, one in self.forms.items()
        }
        words = self.first_words | {
            text: row + rows for text, row in other.first_words.items() if text not in self.first_words
        }
        return Examples(
            dict(list(forms.items())[:MOST_FORMS]),
            dict(list(words.items())[:MOST_WORDS]),
            self.words + other.words,
            self.tells_point or other.tells_point,
        )


def form_of(text: str) -> str:
    r"""The pattern of all texts of one form.

    >>> form_of("1,234,567"), form_of("012 %")
    ('[1-9],[0-9]{3},[0-9]{3}', '0[0-9]{2}\\ %')
    """
    if found := re.fullmatch(SLASHES, text):  # a number above 12 tells where the day stands
        first, second = (ABOVE_12 if int(part) > 12 else UP_TO_12 for part in found.groups())
        return f"{first}/{second}/[0-9]{{4}}"
    found = None if IS_NUMBER.fullmatch(text) else ENDS_IN_UNIT.fullmatch(text)
    if found:
        return f"{form_of(found['number'])} ?{re.escape(found['unit'])}"
    parts, end = [], 0
    for run in DIGITS.finditer(text):
        parts.append(re.escape(text[end : run.start()]))
        length = run.end() - run.start()
        if not end:
            parts.append("0" if run[0][0] == "0" else "[1-9]")
            length -= 1
        if length:
            parts.append(f"[0-9]{{{length}}}" if length < LONG_RUN else f"[0-9]{{{LONG_RUN},}}")
        end = run.end()
    return "".join([*parts, re.escape(text[end:])])


@dataclass(frozen=True)
class TextNumbers:
    """Reads texts as the numbers that they stand for, as examples of all texts of their column decide."""

    name: str
    examples: tuple[str, ...]
    decimal: str | None = None
    days: bool = False

    def plain(self, texts: pa.ChunkedArray) -> pa.ChunkedArray:
        """The texts as plain numbers, or dates as days."""
        import pyarrow as pa

        whole = pa.chunked_array([*texts.chunks, pa.array(self.examples, texts.type)])
        if self.days:
            return as_days(self.name, whole).slice(0, len(texts))
        return rewrite_numbers(whole, 0, len(whole), self.decimal).cells.slice(0, len(texts))

    def plain_list(self, texts: Iterable[str]) -> pa.ChunkedArray:
        """The same for a list."""
        import pyarrow as pa

        return self.plain(pa.chunked_array([pa.array(texts, pa.string())]))
