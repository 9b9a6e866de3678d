"""The rules by which a column is discrete, continuous or left out, over a profile of its values.

Rows in memory, rows that are scanned and rows at several sites each make a profile; the rules are these.

Text, booleans and integers with at most 20 distinct values are discrete. So are floats that are codes in
disguise: at most 20 distinct whole values (10, if they have fractions), each seen five times on average.
Other numbers are continuous. Numbers of rows, identifiers, names, free text, places and dates are left out.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dagora.base.wording import option
from dagora.data.columns.arrow_numbers import truths_of
from dagora.data.columns.cells import is_text
from dagora.data.columns.dates import IS_DATE, IS_TIME, spell_days, spells_dates
from dagora.data.columns.levels import (
    CODE_WITH_LETTER,
    DECIMAL_COMMA,
    NEARLY_NUMBER,
    NUMBER,
    NUMBER_BESIDE_CODES,
    THOUSANDS,
    UNIT_OF_MEASURE,
)
from dagora.data.columns.missing import often_means_missing
from dagora.data.columns.names import (
    IS_CODE,
    IS_DAY,
    IS_MOMENT,
    IS_PLACE,
    UNNAMED,
    called_group,
    called_identifier,
    called_unit,
)
from dagora.data.columns.several_values import WRITTEN_TOGETHER, answers_in_digits
from dagora.data.columns.spelled_numbers import SEEN_EACH, plainly
from dagora.data.schema import MAX_LEVELS, Kind

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

MAX_INTEGER_LEVELS = 20  # more: numbers that were measured turn into categories; fewer: codes into numbers
MAX_FRACTION_LEVELS = 10  # fractions are rarely codes
LIKE_CODES = 50  # distinct whole numbers up to which a continuous column may well hold codes
FIRST_LOOK = 1000  # cells that usually tell that a column of numbers has many values
FEWEST_VALUES = 20  # a column with at most as many cells is not judged to identify rows
EMPTY, DATES, CONSTANT = "every cell is missing", "dates or times", "a constant number"
TOO_MANY = f"more than {MAX_LEVELS}"
IN_ORDER = "categories in order"
UNIT = "says which rows belong together"
PLACES = "codes of places"
CODES = "codes of a classification"
NUMBERS_IN_TEXT = "numbers written as text"
NEARLY_ALL = 0.9  # share of the texts that are numbers with units, or without
MOST_UNITS = 3  # of one column; more are parts of codes
SECONDS = (946_684_800, 2_208_988_800)  # since 1970, until the first day of 2000 and of 2040
SHEET_DAYS = (14_611, 55_153)  # since 1900, as spreadsheets count: the first day of 1940, the last of 2050
LONG = 9  # digits of numbers that are no measurements, if all have as many and none occurs twice
EXACT = 2.0**53  # larger whole numbers are rounded
SURE_DIGITS = 14  # at least, of a number that was rounded because it has many; 1.5e20 has two
LONG_CODES = "a different long number in every row"
NUMBERED_DATES = "dates written as numbers"
# Reasons that `decide_kind` gives for numbers that nobody declared.
OF_NUMBERS = re.compile("([0-9]+ distinct |whole )?(whole )?numbers?\\b")


class Decision(NamedTuple):
    """The kind of a column, and the reason in a few words."""

    kind: Kind
    why: str


class ColumnProfile:
    """The facts about a column that the rules need, computed when they are needed.

    `column` holds its cells, or its distinct values; then `cells` says how many cells are not missing. Of
    texts too many to be kept (`crowded`) it holds examples; `weights` says how many texts each stands for.
    """

    differing = "a different number in every row"
    crowded = False
    weights: NDArray[np.int64] | None = None

    def __init__(self, name: str, column: pa.ChunkedArray, cells: int | None = None) -> None:
        import pyarrow as pa

        self.name = name
        self.type = column.type
        self.cells = len(column) - column.null_count if cells is None else cells
        self.is_real = bool(pa.types.is_floating(column.type) or pa.types.is_decimal(column.type))
        self._column = column

    @cached_property
    def values(self) -> pa.Array | None:
        """The distinct values; None for numbers so many that they cannot be codes."""
        import pyarrow as pa
        import pyarrow.compute as pc

        def distinct(column: pa.ChunkedArray) -> pa.Array:
            # Arrow tells -0.0 from 0.0.
            return (pc.add(column.cast(pa.float64()), 0.0) if self.is_real else column).unique().drop_null()

        if is_text(self.type):
            return distinct(self._column)
        long = len(self._column) > FIRST_LOOK
        if long and len(distinct(self._column.slice(0, FIRST_LOOK))) > LIKE_CODES:
            return None
        values = distinct(self._column)
        return values if len(values) <= LIKE_CODES else None

    @cached_property
    def is_whole(self) -> bool:
        """True if all numbers are whole."""
        import pyarrow.compute as pc

        values = self._column if self.values is None else self.values
        return bool(pc.all(pc.equal(values, pc.floor(values))).as_py())

    @cached_property
    def all_differ(self) -> bool:
        """True if no number occurs twice."""
        import pyarrow.compute as pc

        if self.values is not None:
            return len(self.values) == self.cells
        return bool(pc.count_distinct(self._column, mode="only_valid").as_py() == self.cells)

    @cached_property
    def runs_on(self) -> bool:
        """True if the numbers run from the smallest to the largest, each once, in any order."""
        import pyarrow.compute as pc

        ends = pc.min_max(self._column).as_py()
        return bool(ends["max"] - ends["min"] == self.cells - 1) and self.all_differ

    @cached_property
    def are_seconds(self) -> bool:
        """True if every whole number is a second, or a thousandth of one, of the years 2000 to 2040."""
        import pyarrow.compute as pc

        ends = pc.min_max(self._column).as_py()
        return count_seconds(ends["min"], ends["max"])

    @cached_property
    def are_long_codes(self) -> bool:
        """True if the smallest and the largest number have as many digits, more than are measured."""
        import pyarrow.compute as pc

        ends = pc.min_max(self._column).as_py()
        return are_long(ends["min"], ends["max"])

    @cached_property
    def are_sheet_days(self) -> bool:
        """True if a spreadsheet would show all numbers as days of the years 1940 to 2050."""
        import pyarrow.compute as pc

        ends = pc.min_max(self._column).as_py()
        return bool(SHEET_DAYS[0] <= ends["min"] and ends["max"] <= SHEET_DAYS[1])

    @cached_property
    def are_days(self) -> bool:
        """True if every whole number spells a day, as 20180317 does."""
        return spell_days(self._column)


def count_seconds(low: float, high: float) -> bool:
    """Return True if all numbers between two are seconds, or thousandths, of the years 2000 to 2040.

    >>> count_seconds(1_520_000_000, 1_600_000_000), count_seconds(0, 1_600_000_000)
    (True, False)
    """
    return any(unit * SECONDS[0] <= low and high <= unit * SECONDS[1] for unit in (1, 1000))


def are_long(low: float, high: float) -> bool:
    """Return True if two whole numbers have as many digits, nine or more, and all of them say something.

    >>> are_long(103_456_789, 998_765_432), are_long(99_999_999, 100_000_000), are_long(1.5e20, 9.25e20)
    (True, False, False)
    """
    digits = [f"{number:.0f}" for number in (low, high)]
    exact = all(len(str(int(word)).rstrip("0")) > SURE_DIGITS for word in digits) if high > EXACT else True
    return bool(low > 0 and len(digits[0]) == len(digits[1]) >= LONG and exact)


def decide_kind(profile: ColumnProfile) -> Decision:
    """Decide whether a column that nobody declared is discrete or continuous.

    >>> import pyarrow as pa
    >>> decide_kind(ColumnProfile("dose", pa.chunked_array([[10, 5, 10]])))
    Decision(kind=<Kind.DISCRETE: 'discrete'>, why='2 distinct whole numbers')
    >>> decide_kind(ColumnProfile("dose", pa.chunked_array([[0.5, 1.5]]), cells=9)).why
    'numbers'
    """
    import pyarrow as pa

    if not profile.is_real and not pa.types.is_integer(profile.type):
        return Decision(Kind.DISCRETE, nature(profile.type))
    if profile.values is None:
        return Decision(Kind.CONTINUOUS, "numbers" if profile.is_real else "whole numbers")
    number = len(profile.values)
    if profile.is_real:
        most = MAX_INTEGER_LEVELS if profile.is_whole else MAX_FRACTION_LEVELS
        if 1 < number <= min(most, profile.cells // SEEN_EACH):
            return Decision(Kind.DISCRETE, f"{number} distinct numbers")
        if number <= MAX_INTEGER_LEVELS or not profile.is_whole:
            return Decision(Kind.CONTINUOUS, "numbers")
    answers = answers_in_digits(profile.values.to_pylist())
    if answers is not None:
        how = f"{WRITTEN_TOGETHER} ('{answers}')"
        return Decision(Kind.DISCRETE, f"{number} distinct whole numbers, which {how}")
    if number <= MAX_INTEGER_LEVELS:
        return Decision(Kind.DISCRETE, f"{number} distinct whole number{'s' * (number != 1)}")
    hint = f"if they are codes, {option('discrete', profile.name)}"
    return Decision(Kind.CONTINUOUS, f"{number} distinct whole numbers: {hint}")


def nature(kind: pa.DataType) -> str:
    """Name what a column that is discrete by its type holds."""
    import pyarrow as pa

    if pa.types.is_boolean(kind):
        return "true or false"
    if pa.types.is_dictionary(kind):
        return IN_ORDER if kind.ordered else "categories"
    return "text"


def reason_to_leave_out(profile: ColumnProfile) -> str | None:
    """Return why a column says nothing about rows; None if nothing speaks against it.

    >>> import pyarrow as pa
    >>> reason_to_leave_out(ColumnProfile("row", pa.chunked_array([range(1, 101)])))
    'numbers the rows'
    >>> reason_to_leave_out(ColumnProfile("name", pa.chunked_array([[f"person {i}" for i in range(100)]])))
    '100 levels in 100 rows: names or free text'
    >>> reason_to_leave_out(ColumnProfile("age", pa.chunked_array([[20, 30, 40] * 30])))
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not profile.cells:
        return EMPTY
    if pa.types.is_temporal(profile.type):
        return DATES
    texts = profile.values if is_text(profile.type) else None
    if (
        texts is not None
        and begin_with_digits(texts)
        and pc.all(pc.match_substring_regex(texts, IS_DATE)).as_py()
    ):
        return DATES
    if profile.cells <= FEWEST_VALUES and not profile.name.startswith(UNNAMED):
        return None
    if texts is not None:
        times = len(texts) > FEWEST_VALUES and begin_with_digits(texts)
        if times and pc.all(pc.match_substring_regex(texts, IS_TIME)).as_py():
            return DATES
        crowded = profile.crowded or len(texts) > MAX_LEVELS
        many = crowded or len(texts) > max(FEWEST_VALUES, profile.cells / 2)
        if many and spells_dates(texts):  # of months and quarters; few of them are levels
            return DATES
        if many and not are_spoilt_numbers(texts, profile.weights):
            return numbers_in_text(profile.name, texts, profile.weights) or names_or_text(
                MAX_LEVELS + 1 if crowded else len(texts), profile.cells
            )
        return UNIT if len(texts) > FEWEST_VALUES and called_unit(profile.name) else None
    return reason_numbers_identify(profile)


def begin_with_digits(texts: pa.Array) -> bool:
    """Return True if the first text begins with a digit, as dates and times do: patterns cost far more."""
    return not len(texts) or texts[0].as_py()[:1].isdigit()


def names_or_text(levels: int, cells: int) -> str:
    """Why a text column of so many levels in so many cells is left out.

    >>> names_or_text(30, 40), names_or_text(20_000, 90_000)
    ('30 levels in 40 rows: names or free text', 'more than 10000 levels in 90000 rows: names or free text')
    """
    number = str(levels) if levels <= MAX_LEVELS else TOO_MANY
    return f"{number} levels in {cells} rows: names or free text"


def numbers_in_text(name: str, texts: pa.Array, weights: NDArray[np.int64] | None = None) -> str | None:
    """Say that texts are numbers, perhaps with units, and how they become such; None where they are not.

    >>> import pyarrow as pa
    >>> numbers_in_text("weight", pa.array(["80.3 kg", "75kg", "170 lb"]))
    "numbers written as text ('kg', 'lb'): leave the units out of the cells, and write all in one unit"
    """
    import pyarrow.compute as pc

    if pc.any(pc.match_substring_regex(texts, "^[+-]?0[0-9]")).as_py():  # codes
        return None
    if share_of(texts, f"^{NUMBER}$", weights) == 1:
        return f"{NUMBERS_IN_TEXT}: {option('continuous', name)} reads them"
    spelled = plainly([text for text in texts.to_pylist() if not often_means_missing(text)])
    if spelled is not None:
        how = spelled[1].removeprefix("written ")
        return f"{NUMBERS_IN_TEXT} ({how}): {option('continuous', name)} reads them"
    odd = texts.filter(pc.match_substring_regex(texts, f"^({NEARLY_NUMBER})$"))
    if len(odd) and share_of(texts, f"^({NUMBER}|{NEARLY_NUMBER})$", weights) >= NEARLY_ALL:
        return f"{NUMBERS_IN_TEXT} in several ways ('{odd[0]}'): write plain numbers"
    in_units = f"^{NUMBER}( ?({UNIT_OF_MEASURE}|[*#†‡]{{1,3}}))?$"
    if share_of(texts, in_units, weights) < NEARLY_ALL:
        return None
    numbers = texts.filter(pc.match_substring_regex(texts, in_units))
    units = pc.replace_substring_regex(numbers, f"^{NUMBER} ?", "").unique().to_pylist()
    named = sorted(filter(None, units))
    if not 0 < len(named) <= MOST_UNITS:
        return None
    told = ", ".join(f"'{unit}'" for unit in named)
    if not any(map(re.compile("[^*#†‡]").search, named)):
        return f"{NUMBERS_IN_TEXT} ({told}): leave the marks out of the cells"
    one = ", and write all in one unit" if len(units) > 1 else ""
    return f"{NUMBERS_IN_TEXT} ({told}): leave the units out of the cells{one}"


def can_be_levels(why: str) -> bool:
    """Return True if a column that is left out for a reason would be kept where it is declared discrete.

    >>> [can_be_levels(why) for why in (EMPTY, DATES, names_or_text(30, 40), names_or_text(20_000, 90_000))]
    [False, False, True, False]
    """
    return why not in (EMPTY, DATES) and not why.startswith(TOO_MANY)


def reason_numbers_identify(profile: ColumnProfile) -> str | None:
    """Return why whole numbers are no amounts: they number or identify rows, groups, places or days."""
    import pyarrow as pa

    name = profile.name
    unit = called_unit(name) or called_group(name)
    called_so = called_identifier(name) or unit or bool(IS_PLACE.match(name))
    whole = pa.types.is_integer(profile.type)
    many = profile.values is None or len(profile.values) > FEWEST_VALUES
    if IS_CODE.match(name) and many and (whole or pa.types.is_floating(profile.type)):
        return CODES
    real = pa.types.is_floating(profile.type) and profile.is_whole
    if not whole and not (called_so and real):
        return LONG_CODES if real and many and profile.are_long_codes and profile.all_differ else None
    if profile.runs_on:
        return "numbers the rows"
    if (called_identifier(name) or called_unit(name)) and profile.all_differ:
        return f"{profile.differing}, and called an identifier"
    if not many:
        return None
    if unit:
        return UNIT
    if IS_PLACE.match(name):
        return PLACES
    if are_moments(profile):
        return NUMBERED_DATES
    long = profile.are_long_codes and not profile.are_seconds
    return LONG_CODES if long and profile.all_differ else None


def are_moments(profile: ColumnProfile) -> bool:
    """Return True if whole numbers are days or seconds, by themselves or by the name of their column."""
    if IS_MOMENT.search(profile.name) and profile.are_seconds:
        return True
    return profile.are_days or bool(IS_DAY.search(profile.name) and profile.are_sheet_days)


def is_constant(column: pa.ChunkedArray, *, whole_numbers: bool = False) -> bool:
    """Return True if a column holds one number only, of floats; `whole_numbers` says whether of any.

    >>> import pyarrow as pa
    >>> [is_constant(pa.chunked_array([[k, None, k]])) for k in (3.5, 3, "3")]
    [True, False, False]
    """
    from pyarrow import types

    floats = types.is_floating(column.type) or types.is_decimal(column.type)
    return (floats or (whole_numbers and types.is_integer(column.type))) and (
        len(column.slice(0, FIRST_LOOK).unique().drop_null()) <= 1 and len(column.unique().drop_null()) == 1
    )


def are_spoilt_numbers(texts: pa.Array, weights: NDArray[np.int64] | None = None) -> bool:
    """Return True if most texts, but not all, are numbers, or have a decimal comma: a measurement then."""
    import pyarrow.compute as pc

    number = f"({number_among(texts)}|{DECIMAL_COMMA}|{THOUSANDS})"
    share = share_of(texts, rf"^(\({number}\)|[+-]? ?{number})$", weights)
    commas = pc.any(pc.match_substring(texts, ",")).as_py()
    return bool(share > 0.5 and (commas or share < 1))


def number_among(texts: pa.Array) -> str:
    """The pattern of numbers among some texts: 1E5 is none beside codes such as 1A5.

    >>> import pyarrow as pa
    >>> [re.fullmatch(number_among(pa.array(["1E5", other])), "1E5") is None for other in ("1A5", "7", "few")]
    [True, False, False]
    """
    import pyarrow.compute as pc

    codes = pc.any(pc.match_substring_regex(texts, f"^{CODE_WITH_LETTER}$")).as_py()
    return NUMBER_BESIDE_CODES if codes else NUMBER


def share_of(texts: pa.Array, pattern: str, weights: NDArray[np.int64] | None = None) -> float:
    """The share of texts that a pattern matches; `weights` say how many texts each stands for.

    >>> import pyarrow as pa
    >>> texts = pa.array(["1", "few"])
    >>> share_of(texts, "^[0-9]$"), share_of(texts, "^[0-9]$", np.array([3, 1]))
    (0.5, 0.75)
    """
    import pyarrow.compute as pc

    same = truths_of(pc.match_substring_regex(texts, pattern))
    return float(np.average(same, weights=weights)) if len(same) else 0.0
