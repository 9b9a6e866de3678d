import numpy as np
import pytest

from dagora.base.errors import DataError
from dagora.data.schema import MAX_LEVELS, Kind, Schema, Variable
from dagora.data.table import Table

A = Variable("a", Kind.DISCRETE, ("no", "yes"))
X = Variable("x", Kind.CONTINUOUS)


def codes(*values):
    return np.array(values, dtype=np.uint16)


@pytest.fixture
def table():
    return Table(Schema([A, X]), (codes(0, 1, 1), np.array([0.5, 1.5, 2.5])))


def test_columns_are_read_only_but_the_callers_arrays_are_not():
    values = np.array([1.0, 2.0])
    table = Table(Schema([X]), (values,))
    with pytest.raises(ValueError, match="read-only"):
        table.values(0)[0] = 9
    values[0] = 3.0


def test_select_and_take(table):
    assert table.select(["x", "a"]).names == ("x", "a")
    assert table.take([2, 0]).values(1).tolist() == [2.5, 0.5]
    one = table.take(np.array([True, False, False]))
    assert one.n_rows == 1
    assert one.schema == table.schema
    with pytest.raises(DataError, match="no column named 'b'"):
        table.select(["b"])


def test_codes_of_discrete_and_values_of_continuous_columns_only(table):
    with pytest.raises(DataError, match="'x' is continuous"):
        table.codes(1)
    with pytest.raises(DataError, match="'a' is discrete"):
        table.values(0)


def test_equality_needs_the_same_schema_and_the_same_rows(table):
    assert table.equals(table.take([0, 1, 2]))
    assert not table.equals(table.take([0, 2, 1]))
    assert not table.equals(table.take([0, 1]))
    assert not table.equals(table.select(["x", "a"]))
    assert not table.equals(table.select(["a"]))
    other = Table(Schema([Variable("a", Kind.DISCRETE, ("no", "yes", "maybe")), X]), table.columns)
    assert not table.equals(other)


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("variables", "columns", "message"),
    [
        ([A, X], (codes(0),), "one array per column"),
        ([A, X], (codes(0), np.array([1.0, 2.0])), "all of one length"),
        ([A], (np.array([0, 1]),), "must be uint16"),
        ([A], (codes(0, 2),), "beyond its 2 levels"),
        ([X], (np.array([1, 2]),), "must be float64"),
        ([X], (np.array([1.0, np.nan]),), "infinite or missing"),
        ([X], (np.array([1.0, np.inf]),), "infinite or missing"),
        (
            [Variable("id", Kind.DISCRETE, tuple(map(str, range(MAX_LEVELS + 1))))],
            (codes(0),),
            "10001 levels",
        ),
    ],
)
def test_what_a_table_refuses(variables, columns, message):
    with pytest.raises(DataError, match=message):
        Table(Schema(variables), columns)


def test_no_rows_can_be_chosen():
    table = Table.from_numpy([["no"], ["yes"]])
    assert table.take([]).n_rows == 0
    assert table.take([]).schema == table.schema
