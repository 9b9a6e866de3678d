"""The typing rule, on Arrow columns and on text cells."""

import datetime as dt
import decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dagora
from dagora.base.errors import DataError
from dagora.base.wording import render
from dagora.data.columns.cells import is_plain, null_missing, parse_numbers
from dagora.data.columns.column_profile import MAX_INTEGER_LEVELS, ColumnProfile
from dagora.data.columns.column_type import type_column
from dagora.data.schema import MAX_LEVELS, Kind
from dagora.data.table import check_column
from tests.data.table_strategies import quick

DISCRETE, CONTINUOUS = Kind.DISCRETE, Kind.CONTINUOUS


def typed(values, declared=None, arrow=None):
    return type_column("v", null_missing(pa.chunked_array([pa.array(values, type=arrow)])), declared)


def cells(values, declared=None):
    """Type text as the cells of a CSV file are typed."""
    return type_column("v", parse_numbers(null_missing(pa.chunked_array([values]))), declared)


def decode(column):
    return [column.variable.levels[code] for code in column.values]


def test_days_as_spreadsheets_count_them_are_those_of_1940_to_2050():
    start = dt.date(1899, 12, 30)  # which makes up for a leap day that 1900 did not have
    first, last = ((day - start).days for day in (dt.date(1940, 1, 1), dt.date(2050, 12, 31)))
    days = [(first, last), (first - 1, last), (first, last + 1), (1, 2)]
    found = [ColumnProfile("day", pa.chunked_array([pair])).are_sheet_days for pair in days]
    assert found == [True, False, False, False]


@quick
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=60))
def test_integers_are_discrete_up_to_twenty_distinct_values(values):
    for column in (typed(values), cells([str(value) for value in values])):
        check_column(column.variable, column.values)
        if len(set(values)) <= MAX_INTEGER_LEVELS:
            assert column.variable.levels == tuple(str(value) for value in sorted(set(values)))
            assert decode(column) == [str(value) for value in values]
        else:
            assert column.variable.kind is CONTINUOUS
            assert column.values.tolist() == [float(value) for value in values]


@quick
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_floats_are_continuous_bit_for_bit(values):
    # Of values seen five times each, the next tests decide.
    values = [*values, *(1e6 + i / 7 for i in range(30))]
    for column in (typed(values), cells([repr(value) for value in values])):
        assert column.variable.kind is CONTINUOUS
        assert column.values.tobytes() == np.array(values).tobytes()


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("values", "levels"),
    [
        ([0.0, 1.0] * 5, ("0", "1")),
        ([0.5, 1.0, 2.0] * 5, ("0.5", "1", "2")),
        ([0.5, 1.0, 2.0] * 4, None),  # four times each is too few to tell
        ([float(i) for i in range(20)] * 5, tuple(map(str, range(20)))),
        ([float(i) for i in range(21)] * 50, None),
        ([i + 0.5 for i in range(10)] * 5, tuple(f"{i}.5" for i in range(10))),
        ([i + 0.5 for i in range(11)] * 50, None),
        ([1.0, None] * 10, None),  # a constant says nothing
        ([*map(float, range(2000)), *([1.0] * 20_000)], None),
    ],
)
def test_floats_of_few_values_are_codes(values, levels):
    column = typed(values, arrow=pa.float64())
    assert column.variable.kind is (CONTINUOUS if levels is None else DISCRETE)
    if levels is not None:
        assert column.variable.levels == levels
        assert column.why == f"{len(levels)} distinct numbers"
    assert typed(values, CONTINUOUS, arrow=pa.float64()).variable.kind is CONTINUOUS


def test_every_type_says_why():
    reasons = [
        (typed(["a", "b"]), "text"),
        (typed([True, False]), "true or false"),
        (typed([1, 2, 2]), "2 distinct whole numbers"),
        (typed(list(range(25))), '25 distinct whole numbers: if they are codes, discrete=["v"]'),
        (typed(list(range(51))), "whole numbers"),
        (typed([1.5, 2.5]), "numbers"),
        (typed([1.5, 2.5], DISCRETE), "declared"),
        (typed([1, 2], CONTINUOUS), "declared"),
    ]
    for column, why in reasons:
        assert render(column.why) == why


def test_exactly_twenty_and_twenty_one():
    assert typed(list(range(20))).variable.cardinality == 20
    assert typed(list(range(21))).variable.kind is CONTINUOUS
    assert typed(list(range(21)), DISCRETE).variable.cardinality == 21
    assert typed(list(range(20)), CONTINUOUS).variable.kind is CONTINUOUS


def test_a_single_point_makes_a_column_continuous():
    assert cells(["1", "2"]).variable.kind is DISCRETE
    assert cells(["1", "2.0"]).variable.kind is CONTINUOUS
    assert cells(["1", "1e2"]).values.tolist() == [1.0, 100.0]


def test_the_last_cell_counts_as_much_as_the_first():
    column = pa.chunked_array([["1"] * 100_000, ["x"]])
    assert type_column("v", parse_numbers(column)).variable.levels == ("1", "x")


def test_text_is_discrete_even_with_many_levels():
    words = [f"w{i}" for i in range(5000)]
    assert typed(words).variable.cardinality == 5000


def test_booleans():
    assert typed([True, False, True]).variable.levels == ("False", "True")
    assert decode(typed([True, False, True])) == ["True", "False", "True"]
    assert cells(["true", "false"]).variable.levels == ("false", "true")
    assert typed([True, False], CONTINUOUS).values.tolist() == [1.0, 0.0]


def test_whole_floats_declared_discrete_are_written_like_integers():
    assert typed([0.0, 1.0, 10.0, 2.0], DISCRETE).variable.levels == ("0", "1", "2", "10")
    assert cells(["1.0", "2.50", "1"], DISCRETE).variable.levels == ("1", "2.5")
    assert typed([-0.0, 0.0], DISCRETE).variable.levels == ("0",)


@pytest.mark.every_case
@pytest.mark.parametrize(
    "arrow", [pa.int8(), pa.uint8(), pa.int16(), pa.uint64(), pa.float16(), pa.float32(), pa.decimal128(9, 2)]
)
def test_all_widths_of_numbers(arrow):
    values = [decimal.Decimal(3), decimal.Decimal(1)] if pa.types.is_decimal(arrow) else [3, 1]
    column = typed(values, CONTINUOUS, arrow)
    assert column.values.tolist() == [3.0, 1.0]
    assert decode(typed(values, DISCRETE, arrow)) == ["3", "1"]
    assert typed(values, None, arrow).variable.kind is (
        DISCRETE if pa.types.is_integer(arrow) else CONTINUOUS
    )


def test_cells_that_look_like_numbers_to_arrow_only():
    assert cells(["0x1F", "0X2A"]).variable.levels == ("0X2A", "0x1F")
    assert cells(["0x1F", "7"]).variable.levels == ("0x1F", "7")
    assert cells(["1_000", "2"]).variable.kind is DISCRETE
    assert cells([" 7 ", "\u00a08", "+9"]).values.tolist() == [7.0, 8.0, 9.0]


def test_declared_levels_stay_seen_or_not():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 0, 2], pa.int8()), [" b", "10", "9"])
    assert type_column("v", pa.chunked_array([column])).variable.levels == ("10", "9", "b")
    numbers = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), [10, 9, 1])
    kept = type_column("v", null_missing(pa.chunked_array([numbers])))
    assert kept.variable.levels == ("1", "9", "10")
    assert decode(kept) == ["10", "9"]
    assert type_column("v", pa.chunked_array([numbers]), CONTINUOUS).values.tolist() == [10.0, 9.0]


def test_chunks_with_dictionaries_of_their_own():
    chunks = [pa.array(["x", "y"]).dictionary_encode(), pa.array(["z", "x"]).dictionary_encode()]
    assert decode(type_column("v", null_missing(pa.chunked_array(chunks)))) == ["x", "y", "z", "x"]


def test_missing_words_among_the_declared_levels():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3]), ["nan", "a", "", "NA"])
    clean = type_column("v", null_missing(pa.chunked_array([column])))
    assert clean.variable.levels == ("NA", "a")
    assert clean.missing.tolist() == [True, False, True, False]


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        (["a", "", " ", "NaN", "nan", "NA", None], [False, True, True, True, True, False, True]),
        ([1.5, float("nan"), None], [False, True, True]),
        ([1, None], [False, True]),
        ([True, None], [False, True]),
        ([None, None], [True, True]),
    ],
)
def test_what_is_missing(values, missing):
    assert typed(values).missing.tolist() == missing


def test_nothing_missing_is_none():
    assert typed(["a"]).missing is None


def test_plain_text_is_visible_ascii():
    assert is_plain(pa.chunked_array([["a~!"], ["1.5", None]]))
    for cell in (" a", "a\n", "é", "\x7f", "a b", "a\u00a0"):
        assert not is_plain(pa.chunked_array([["ok"], [cell]]))


@pytest.mark.every_case
@pytest.mark.parametrize(
    "values",
    [
        [dt.date(2020, 1, 1)],
        [dt.datetime(2020, 1, 1, tzinfo=dt.UTC)],
        [dt.time(1)],
        [dt.timedelta(1)],
        [b"x"],
        [[1]],
        [{"a": 1}],
    ],
)
def test_other_types_are_refused(values):
    with pytest.raises(DataError, match=r"column 'v' holds .*: convert it, or leave it out \(drop=\[.v.\]\)"):
        typed(values)


def test_text_declared_continuous():
    assert typed(["1", " 2.5"], CONTINUOUS).values.tolist() == [1.0, 2.5]
    with pytest.raises(
        DataError,
        match=r"column 'v' is declared continuous, but 'x', 'y' .first in data row 3. are no numbers",
    ):
        cells(["1", None, "x", "y"], CONTINUOUS)
    with pytest.raises(DataError, match="'high' in data row 2"):
        type_column("v", pa.chunked_array([pa.array(["1", "high"]).dictionary_encode()]), CONTINUOUS)


@pytest.mark.parametrize("word", ["NA", "?", "None", "-", "12kg"])
def test_numbers_spoilt_by_a_word_are_refused(word):
    values = [f"{i}.5" for i in range(30)]
    values.insert(7, word)
    with pytest.raises(
        DataError,
        match=f"but also '{word.replace('?', '[?]')}' \\(first in data row 8\\): if that.*na=.*discrete=",
    ):
        cells(values)
    assert cells(values, DISCRETE).variable.cardinality == 31


def test_few_levels_or_mostly_words_are_not_spoilt_numbers():
    assert cells([*map(str, range(19)), "NA"]).variable.cardinality == 20
    assert cells([*map(str, range(20)), *(f"w{i}" for i in range(21))]).variable.cardinality == 41


def test_text_of_a_frame_that_spells_numbers_stays_text():
    assert typed([f"{i}" for i in range(30)]).variable.cardinality == 30


def test_decimal_commas_are_refused():
    with pytest.raises(DataError, match="decimal comma such as '0,5'"):
        cells([f"{i},5" for i in range(30)])


@pytest.mark.parametrize("declared", [None, DISCRETE, CONTINUOUS])
def test_infinite_numbers_are_refused(declared):
    for column in ([1.0, float("inf")], [1.0, float("-inf")]):
        with pytest.raises(DataError, match=r"column 'v' has infinite values .1., the first in data row 2"):
            typed(column, declared)
    with pytest.raises(DataError, match="infinite"):
        cells(["1.5", "Infinity"], declared)
    with pytest.raises(DataError, match="infinite"):
        cells(["1.5", "1e999"], declared)


def test_too_many_levels_suggest_leaving_the_column_out():
    with pytest.raises(DataError, match=r"100000 levels .at most 10000.: .*drop="):
        typed([f"k{i}" for i in range(100_000)])
    assert typed([f"k{i}" for i in range(MAX_LEVELS)]).variable.cardinality == MAX_LEVELS


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("mrn", np.random.default_rng(0).permutation(10_000)[:200] * 7, "called an identifier"),
        ("hospital", np.random.default_rng(1).choice(np.arange(1000, 9000, 97), 200), "belong together"),
    ],
)
def test_numbers_of_patients_and_hospitals_are_no_amounts(name, values, why):
    frame = {name: values, "x": np.arange(200) % 2, "y": np.arange(200) % 3}
    overview = dagora.inspect(frame)
    assert any(f"'{name}'" in warning and why in warning for warning in overview.warnings)
    shared = any("are not independent" in warning for warning in overview.warnings)
    assert shared == (name == "hospital")
