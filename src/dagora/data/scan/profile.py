"""The first pass over a source: what is in its columns, in memory that does not grow with the rows.

Of each column the distinct values are kept while they are few enough to be levels. Beyond that the range of
its numbers is, and of its texts an example of each form (`examples.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dagora.data.columns.cells import is_text, missing_numbers, null_missing, null_where, parse_floats
from dagora.data.columns.column_profile import LIKE_CODES, MAX_INTEGER_LEVELS
from dagora.data.columns.column_type import check_type
from dagora.data.columns.dates import as_days, spell_days
from dagora.data.columns.ingest import is_temporal
from dagora.data.columns.levels import IS_NUMBER
from dagora.data.columns.missing import ALL_OFTEN_MISSING, often_means_missing
from dagora.data.columns.missing_codes import NumberFacts, facts_of, facts_of_levels
from dagora.data.scan.examples import Examples, TextNumbers
from dagora.data.schema import MAX_LEVELS, Kind

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

MOST_EXACT = 2.0**62  # larger numbers do not run on without a gap
WRAP = (1 << 64) - 1  # sums are taken modulo 2⁶⁴, so that they never overflow


@dataclass
class Profile:
    """The running profile of a column.

    `firsts` are the distinct values with the first row of each, in order of appearance; None once they are
    too many. `numbers` says whether all cells are numbers, or text that spells numbers; `whole` whether all
    are whole, `integers` whether they are also written or stored so. `repeats` says that a number was seen
    twice in one batch. `suspects` are texts that often mean missing, such as NA, with the first row of each;
    `suspected` is how many cells have one. None of them makes a column no numbers. `examples` are those of
    other texts, where texts are too many to be kept; `reader` reads such texts as numbers, where an earlier
    look found that they stand for numbers but are not written plainly (12 %). `days` says that dates are read
    as numbers, `spells_days` that all numbers may be days such as 20180317, `fewest` up to how many texts are
    never rewritten as numbers. `knows_rows` says that rows are numbered: those of a database that counts
    by itself are not. Where rows were left out since a first look, `read_as` is the type of numbers that it
    found in text, `all_texts` are the distinct texts that it saw, in `all_cells` cells. `words` are those
    that mean missing; `same_numbers` are texts that spell such a number in another way, where texts are too
    many to be kept. `tallies` are counts of the values that are kept, `facts` what tells whether numbers
    stand for missing where they are too many. `decimal` is the mark before decimals that was decided for the
    file, where numbers can be read in two ways. `join` says that levels that differ only in case are one.
    """

    name: str
    type: pa.DataType
    declared: Kind | None
    text_cells: bool
    rows: int = 0
    missing: int = 0
    first_missing: int = -1
    firsts: dict[Any, int] | None = field(default_factory=dict)
    numbers: bool = True
    whole: bool = True
    integers: bool = True
    repeats: bool = False
    suspects: dict[str, int] = field(default_factory=dict)
    suspected: int = 0
    examples: Examples = field(default_factory=Examples)
    reader: TextNumbers | None = None
    days: bool = False
    spells_days: bool = True
    fewest: int = MAX_INTEGER_LEVELS
    knows_rows: bool = True
    read_as: pa.DataType | None = None
    all_texts: Sequence[str] | None = None
    all_cells: int | None = None
    words: Collection[str] = ()
    same_numbers: dict[str, None] = field(default_factory=dict)
    tallies: dict[Any, int] = field(default_factory=dict)
    facts: NumberFacts = field(default_factory=NumberFacts, compare=False)  # sums are rounded
    decimal: str | None = None
    join: bool = False
    infinite: int = -1
    infinities: int = 0
    low: float = np.inf
    high: float = -np.inf
    sums: list[int] = field(default_factory=lambda: [0, 0])

    def follow(self, before: Profile) -> None:
        """Take what an earlier look decided about how cells are read."""
        self.decimal, self.join, self.reader = before.decimal, before.join, before.reader

    @property
    def most_values(self) -> int:
        """The most distinct values that are kept: of numbers, as many as may be codes."""
        text = is_text(self.type) or self.declared is Kind.DISCRETE or self._categorical
        return MAX_LEVELS if text else LIKE_CODES

    @property
    def _categorical(self) -> bool:
        import pyarrow as pa

        return bool(pa.types.is_dictionary(self.type))

    def look(self, cells: pa.Array, words: Collection[str]) -> None:
        """Look at some more cells; `words` mean missing."""
        import pyarrow as pa

        begin, self.rows, self.words = self.rows, self.rows + len(cells), words
        if is_temporal(self.type):
            return
        text = is_text(self.type)
        if text and (self.firsts is not None or pa.types.is_dictionary(cells.type)):
            column = with_cleaned_words(as_words(cells), words)
        else:
            column = clean_cells(cells, words, days_of=self.name if self.days else None)
        if column.null_count:
            self.missing += column.null_count
            if self.first_missing < 0:
                self.first_missing = begin + column.is_null().index(value=True).as_py()
        if column.null_count == len(column):
            return
        if pa.types.is_dictionary(column.type) and self._categorical:
            if self.firsts is not None:
                self._keep(column.dictionary if isinstance(column, pa.DictionaryArray) else column, begin)
            return
        before = self.firsts
        if text:
            self._suspect(column, begin)
        if self.firsts is not None:
            self._keep(column, begin)
        if not text:
            self._measure(column, begin)
            if before is None:
                self._note_numbers(column)
        elif before is None:
            self._read_texts(column, begin)

    def _suspect(self, column: pa.Array, begin: int) -> None:
        """Note texts that often mean missing."""
        import pyarrow as pa
        import pyarrow.compute as pc

        worded = pa.types.is_dictionary(column.type)
        listed = column.dictionary if worded else column
        if not pc.any(suspicious(listed)).as_py():
            return
        texts = column.dictionary_decode() if worded else column
        rows = np.flatnonzero(np.asarray(suspicious(texts)))
        found = texts.take(pa.array(rows)).dictionary_encode()
        self.suspected += len(rows)
        for word, place in zip(
            found.dictionary.to_pylist(),
            np.unique(np.asarray(found.indices), return_index=True)[1],
            strict=True,
        ):
            self.suspects.setdefault(word, begin + int(rows[place]))

    def _read_texts(self, column: pa.Array, begin: int) -> None:
        """Note the numbers that some texts spell, where values are too many to be kept, or their forms."""
        import pyarrow as pa

        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        texts = null_where(pa.chunked_array([column]), pa.chunked_array([suspicious(column)]))
        if texts.null_count == len(texts):
            return
        numbers = self._parse(texts if self.reader is None else self.reader.plain(texts))
        if numbers is None or self.reader is not None:
            self.examples.add(texts.combine_chunks(), begin)
        else:
            self.examples.add_plain(texts, begin, whole=self.integers)
        if numbers is not None:
            self._note_same(texts, numbers)
            self._measure(numbers.combine_chunks(), begin)
            self._note_numbers(numbers)

    def _parse(self, texts: pa.ChunkedArray) -> pa.ChunkedArray | None:
        """Texts that spell plain numbers as those; None from the first on that spells none."""
        if not self.numbers:
            return None
        if not is_text(texts.type):  # dates as days
            self.integers = False
            return texts
        numbers = parse_integers(texts) if self.integers else None
        self.integers = numbers is not None
        numbers = parse_floats(texts) if numbers is None else numbers
        self.numbers = numbers is not None
        return numbers

    def _keep(self, column: pa.Array, begin: int) -> None:
        """Note distinct values that are new."""
        import pyarrow as pa

        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        known = self.firsts or {}
        values = encoded.dictionary.to_pylist()
        counts = np.bincount(np.asarray(encoded.indices.drop_null()), minlength=len(values))
        for value, count in zip(values, counts.tolist(), strict=True):
            if count:
                self.tallies[value] = self.tallies.get(value, 0) + count
        fresh = [place for place, value in enumerate(values) if value not in known]
        if fresh:
            indices = np.asarray(encoded.indices.drop_null())
            rows = np.arange(len(indices))
            if encoded.null_count:
                rows = np.flatnonzero(np.asarray(encoded.is_valid()))
            first = np.full(len(values), -1, dtype=np.int64)
            first[indices[::-1]] = rows[::-1]  # of several assignments the last one stays
            for place in sorted((place for place in fresh if first[place] >= 0), key=first.__getitem__):
                known[values[place]] = begin + int(first[place])
        self.firsts = known
        if len(known) > self.most_values:
            self.firsts = None
            if is_text(self.type):
                self.judge_text(known)
            self.facts = facts_of_tallies(self.tallies, self.reader)
            self.tallies = {}

    def _note_same(self, texts: pa.ChunkedArray, numbers: pa.ChunkedArray) -> None:
        """Note texts that spell a number which means missing."""
        if self.text_cells and missing_numbers(self.words):
            lost = null_missing(numbers, self.words).is_null()
            self.same_numbers |= dict.fromkeys(texts.filter(lost).unique().drop_null().to_pylist())

    def _note_numbers(self, column: pa.Array | pa.ChunkedArray) -> None:
        """Note what tells whether some of the numbers stand for missing."""
        import pyarrow as pa

        if not pa.types.is_boolean(column.type):
            values = np.asarray(column.drop_null().cast(pa.float64(), safe=False))
            self.facts = self.facts.add(facts_of(values[np.isfinite(values)]))

    def judge_text(self, values: dict[str, int]) -> None:
        """Take values that are too many to be kept as numbers, if all are, and keep examples of them."""
        import pyarrow as pa

        others = {value: row for value, row in values.items() if not often_means_missing(value)}
        if not others:
            return
        texts = pa.chunked_array([pa.array(others, pa.string())])
        self.examples.add(texts.combine_chunks(), rows=list(others.values()))
        numbers = self._parse(texts if self.reader is None else self.reader.plain(texts))
        if numbers is not None:
            self._note_same(texts, numbers)
            self.measure_distinct(numbers.to_numpy())

    def measure_distinct(self, values: NDArray[Any]) -> None:
        """Note the range of numbers that text spells, given all distinct ones so far."""
        import pyarrow as pa

        self.repeats = len(values) < self.n_values
        self._measure(pa.array(values), 0)

    def _measure(self, column: pa.Array, begin: int) -> None:
        """Note the range of numbers, and what tells whether they number the rows."""
        import pyarrow as pa

        if pa.types.is_boolean(column.type):
            return
        if pa.types.is_decimal(column.type):
            column = column.cast(pa.float64())
        values = np.asarray(column.drop_null())
        if values.dtype.kind == "f":
            infinite = np.isinf(values)
            if infinite.any():
                if self.infinite < 0:
                    place = int(infinite.argmax())
                    self.infinite = begin + int(np.flatnonzero(np.asarray(column.is_valid()))[place])
                self.infinities += int(infinite.sum())
                values = values[~infinite]
            if not len(values):
                return
            self.whole = self.whole and bool((values == np.floor(values)).all())
        self.low, self.high = min(self.low, float(values.min())), max(self.high, float(values.max()))
        self.spells_days = self.spells_days and spell_days(pa.chunked_array([values]))
        if self.whole and not self.repeats:
            ordered = np.sort(values)
            self.repeats = bool((ordered[1:] == ordered[:-1]).any())
            bounded = np.clip(values, -MOST_EXACT, MOST_EXACT) if values.dtype.kind == "f" else values
            exact = bounded.astype(np.int64).astype(np.uint64)
            self.sums[0] = (self.sums[0] + int(exact.sum())) & WRAP
            self.sums[1] = (self.sums[1] + int((exact * exact).sum())) & WRAP

    def note_sums(self, total: int, squares: int) -> None:
        """Take the sum of all numbers and that of their squares, both modulo 2⁶⁴, as known from elsewhere."""
        self.sums = [total, squares]

    @property
    def n_values(self) -> int:
        """The number of cells that are not missing, and hold no text that often means missing."""
        return self.rows - self.missing - self.suspected

    @property
    def numbers_the_rows(self) -> bool:
        """True if whole numbers run on from the smallest to the largest, each once, in any order."""
        cells = self.n_values
        if self.repeats or not self.whole or self.high - self.low != cells - 1:
            return False
        low, high = int(self.low), int(self.high)
        squares = sum_of_squares(high) - sum_of_squares(low - 1)
        return self.sums == [((low + high) * cells // 2) & WRAP, squares & WRAP]


def facts_of_tallies(tallies: Mapping[Any, int], reader: TextNumbers | None = None) -> NumberFacts:
    """The facts about counted values that are numbers, or texts of numbers; others are left out."""
    counts: dict[float, int] = {}
    values: Iterable[Any] = tallies
    if reader is not None:
        tallies = {text: count for text, count in tallies.items() if not often_means_missing(text)}
        values = reader.plain_list(tallies).to_pylist()
    for value, count in zip(values, tallies.values(), strict=True):
        if not isinstance(value, str) or IS_NUMBER.fullmatch(value):
            number = float(value)
            if np.isfinite(number):
                counts[number] = counts.get(number, 0) + count
    return facts_of_levels(counts)


def sum_of_squares(number: int) -> int:
    """0² + 1² + … + number²; for negative numbers, what keeps differences of such sums right.

    >>> sum_of_squares(3) - sum_of_squares(-3)  # (−2)² + (−1)² + 0² + 1² + 2² + 3²
    19
    """
    return number * (number + 1) * (2 * number + 1) // 6


def parse_integers(texts: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Texts as whole numbers; None where one of them is written otherwise, such as 1.0."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pc.all(pc.match_substring_regex(texts, "^-?[0-9]+$")).as_py():
        return None
    try:
        return texts.cast(pa.int64())
    except pa.ArrowInvalid:  # beyond 64 bits
        return None


def suspicious(texts: pa.Array) -> pa.Array:
    """A mask of the texts that often mean missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.is_in(texts, value_set=pa.array(ALL_OFTEN_MISSING, texts.type))


def clean_cells(cells: pa.Array, words: Collection[str], days_of: str | None = None) -> pa.Array:
    """Cells whose missing ones are null, text without margins; those of a column of dates as days.

    Negative zeros become zeros, so that they are found among the values seen before.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    raw = pa.chunked_array([cells])
    column = null_missing(raw if days_of is None else as_days(days_of, raw), words)
    if pa.types.is_floating(column.type):
        column = pc.add(column, 0.0)
    found = column.combine_chunks()
    return found.chunk(0) if isinstance(found, pa.ChunkedArray) else found


def as_words(cells: pa.Array) -> pa.DictionaryArray:
    """Text as a list of words, and a place in it for each cell."""
    import pyarrow as pa

    if pa.types.is_string_view(cells.type):
        cells = cells.cast(pa.large_string())
    return cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()


def cleaned_words(words: pa.Array, missing: Collection[str]) -> pa.Array:
    """Words without margins; those that mean missing are null."""
    import pyarrow as pa

    return null_missing(pa.chunked_array([words]), missing).combine_chunks()


def with_cleaned_words(column: pa.DictionaryArray, missing: Collection[str]) -> pa.DictionaryArray:
    """Text cells whose words have no margins and differ; cells that mean missing are null."""
    import pyarrow as pa

    words = cleaned_words(column.dictionary, missing)
    if words.equals(column.dictionary):
        return column
    again = words.dictionary_encode()
    return pa.DictionaryArray.from_arrays(again.indices.take(column.indices), again.dictionary)


def new_profiles(
    schema: pa.Schema, names: Sequence[str], declared: dict[str, Kind], *, text_cells: bool
) -> dict[str, Profile]:
    """A profile for each column; types that no table can hold are refused, unless they will be left out."""
    import pyarrow as pa

    found = {}
    for name in names:
        kind = schema.field(name).type
        wanted = declared.get(name)
        days = is_temporal(kind) and wanted is Kind.CONTINUOUS
        if days:
            kind = pa.float64()
        if not is_temporal(kind) or wanted is not None:
            check_type(name, kind)
        fewest = 0 if wanted is Kind.CONTINUOUS else MAX_INTEGER_LEVELS
        found[name] = Profile(name, kind, wanted, text_cells, days=days, fewest=fewest)
        found[name].integers = is_text(kind) or bool(pa.types.is_integer(kind))
    return found


def look_at_all(
    profiles: Iterable[Profile], batch: pa.RecordBatch, words: dict[str, tuple[str, ...]]
) -> None:
    """Look at a batch of rows."""
    for profile in profiles:
        profile.look(batch.column(profile.name), words.get(profile.name, ()))
