import numpy as np
import pandas as pd
import pytest

from dagora.base.errors import DataError, DisagreementError, FormatError
from dagora.data.table import Table
from dagora.parties.horizontal.plan.codebook import Codebook, ColumnCoding
from dagora.parties.horizontal.plan.coded_rows import code_rows, follow_codebook
from dagora.parties.horizontal.plan.drafting import codebook_of, fitting_range
from dagora.stats.fixed_point import quantise


def table(**columns):
    return Table.from_frame(pd.DataFrame(columns))


def test_sites_that_write_a_column_in_words_and_in_numbers_are_refused():
    """Silently united, these would be four levels that tell which site a row is from."""
    tables = {"north": table(sick=["yes", "no"] * 5), "south": table(sick=[0, 1] * 5)}
    with pytest.raises(DisagreementError, match="'sick' has words as levels at north and numbers at south"):
        codebook_of(tables)


@pytest.mark.parametrize(
    ("tables", "line"),
    [
        ({"n": table(a=["x", "y"]), "s": table(b=["x", "y"])}, "'a' is a column of n but not of s"),
        ({"n": table(a=["x", "y"]), "s": table(a=[0.25, 1.5])}, "'a' is text at n and numbers at s"),
    ],
)
def test_tables_that_do_not_fit_together_are_refused(tables, line):
    with pytest.raises(DisagreementError, match=line):
        codebook_of(tables)


def test_levels_of_all_sites_are_united_and_sorted():
    book = codebook_of({"n": table(a=["x", "z"]), "s": table(a=["y", "x"])})
    assert book.schema[0].levels == ("x", "y", "z")


def test_whole_numbers_at_one_site_and_fractions_at_another_are_numbers():
    book = codebook_of({"n": table(a=[1, 2, 3, 1]), "s": table(a=[0.5, 1.5, 2.5, 7.25])})
    assert book.columns[0] == ColumnCoding("a", low=0.5, high=7.25)


def test_rare_levels_are_not_named():
    book = codebook_of({"n": table(a=["x"] * 9 + ["Anna Smith"])}, rare=5)
    assert book.columns[0] == ColumnCoding("a", levels=("x",), other=True)
    assert follow_codebook(table(a=["Anna Smith", "x"]), book).codes(0).tolist() == [1, 0]


def test_an_order_goes_into_the_codebook_and_is_kept_to():
    def graded(*order):
        return Table.from_frame(pd.DataFrame({"a": [*order] * 4}), ordinal={"a": order})

    book = codebook_of({"n": graded("low", "high"), "s": table(a=["high", "low", "low", "low"])})
    assert book.columns[0].to_dict() == {"name": "a", "levels": ["low", "high"], "ordered": True}
    assert Codebook.from_list(book.to_list()) == book
    assert book.schema[0].ordered
    assert follow_codebook(table(a=["high", "low"]), book).codes(0).tolist() == [1, 0]
    with pytest.raises(DataError, match="in the order high < low here, and low < high in the codebook"):
        follow_codebook(graded("high", "low"), book)
    with pytest.raises(DataError, match="lacks the levels wide, which it has at s"):
        codebook_of({"n": graded("low", "high"), "s": table(a=["wide", "low"])})


def test_a_margin_rounds_outwards():
    coding = fitting_range("x", -3.162, 2.331, 0.1)
    assert coding.low < -3.162 - 0.54
    assert coding.high > 2.331 + 0.54
    assert (coding.low, coding.high) == (-3.8, 2.9)


BAD = [
    ({"name": "a"}, "exactly one of"),
    ({"name": "a", "levels": ["x"], "range": [0, 1]}, "exactly one of"),
    ({"name": "a", "levles": ["x"]}, "no 'levles'"),
    ({"name": "a", "levels": []}, "levels must"),
    ({"name": "a", "levels": ["x", "x"]}, "twice"),
    ({"name": "a", "levels": ["x\x1b[31m"]}, "printable"),
    ({"name": "a\n", "levels": ["x"]}, "printable"),
    ({"name": "", "levels": ["x"]}, "needs a name"),
    ({"name": "a", "levels": "xy"}, "levels must"),
    ({"name": "a", "cuts": [2, 1]}, "increase"),
    ({"name": "a", "cuts": [float("nan")]}, "numbers"),
    ({"name": "a", "range": [1, 1]}, "smaller one first"),
    ({"name": "a", "range": [0, float("inf")]}, "two numbers"),
    ({"name": "a", "range": [True, 3]}, "two numbers"),
    ({"name": "a", "range": [0, 1], "other": True}, "goes with levels"),
    ({"name": "a", "cuts": [0, 1], "ordered": True}, "goes with levels"),
    ({"name": "a", "levels": ["x"], "ordered": True, "other": True}, "no place in an order"),
    ("a", "needs a name"),
]


@pytest.mark.parametrize(("content", "words"), BAD, ids=[str(bad[0])[:30] for bad in BAD])
def test_a_bad_column_is_one_line(content, words):
    with pytest.raises(FormatError, match=words):
        Codebook.from_list([content])


def test_names_once_and_at_least_one():
    with pytest.raises(FormatError, match="twice"):
        Codebook.from_list([{"name": "a", "range": [0, 1]}] * 2)
    with pytest.raises(FormatError, match="at least one"):
        Codebook.from_list([])


BOOK = Codebook(
    (
        ColumnCoding("a", levels=("no", "yes")),
        ColumnCoding("c", cuts=(1.0, 2.0)),
        ColumnCoding("x", low=0.0, high=10.0),
    )
)


def test_a_table_that_follows_is_recoded():
    given = table(x=[0.5, 2.0, 9.75], a=["yes", "no", "yes"], c=[0.5, 1.0, 7.25], more=[1, 2, 3])
    followed = follow_codebook(given, BOOK)
    assert followed.names == ("a", "c", "x")
    assert followed.codes(0).tolist() == [1, 0, 1]
    assert followed.codes(1).tolist() == [0, 0, 2]
    again = follow_codebook(followed, BOOK)
    assert all((one == two).all() for one, two in zip(again.columns, followed.columns, strict=True))
    rows = code_rows(followed, BOOK, 1024)
    assert rows.numbers.shape == (1, 3)
    assert rows.codes.tolist() == [[1, 0, 1], [0, 0, 2], [0, 0, 0]]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"a": ["yes", "no", "maybe"]}, "'a' has levels that the codebook lacks .'maybe'.*other = true"),
        ({"a": [0, 1, 0]}, "'a' has levels that the codebook lacks"),
        ({"a": [0.5, 1.25, 0.75]}, "'a' holds numbers that are not levels"),
        ({"x": ["low", "mid", "high"]}, "'x' holds text"),
        (
            {"x": [0.5, 2.0, 11.0]},
            "1 of 3 values are outside the codebook's range from 0 to 10, more than 1%",
        ),
    ],
)
def test_a_table_that_does_not_follow_is_refused(change, words):
    columns = {"x": [0.5, 2.0, 9.75], "a": ["yes", "no", "yes"], "c": [0.5, 1.0, 7.25]}
    with pytest.raises(DataError, match=words):
        follow_codebook(table(**{**columns, **change}), BOOK)


def test_one_percent_outside_the_range_is_moved_to_its_ends():
    values = np.linspace(0, 10, 1000)
    values[0], values[1] = -1e9, 1e9
    given = Table.from_numpy(values[:, None], names=["x"])
    book = Codebook((ColumnCoding("x", low=0.0, high=10.0),))
    numbers = code_rows(follow_codebook(given, book), book, 1024).numbers[0]
    assert (numbers[0], numbers[1]) == (-(1 << 26), 1 << 26)


def test_rounding_is_to_the_nearest_step():
    values = np.random.default_rng(0).uniform(-2, 6, 1000)
    back = 2.0 + 4.0 * quantise(values, -2.0, 6.0, 20) / 2.0**20
    assert np.abs(back - values).max() <= 4.0 * 2.0**-21 * (1 + 1e-9)
