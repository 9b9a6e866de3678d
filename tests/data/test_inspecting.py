"""How data are understood, before anything is learned."""

from dagora.data.columns.column_profile import CONSTANT
from dagora.data.columns.overview import LEFT_OUT
from dagora.data.inspecting import inspect


def test_missing_values_are_counted_or_their_rows_dropped_as_asked() -> None:
    data = {"x": [1.5, None, 2.5, 3.5], "a": [0, 1, 1, 0]}
    assert inspect(data).dropped == 0
    assert inspect(data).columns[0].missing == 1
    assert inspect(data, missing="drop").dropped == 1


def test_a_constant_number_is_left_out_as_learn_does() -> None:
    column = inspect({"x": [1.5, 1.5, 1.5], "a": [0, 1, 1]}).columns[0]
    assert (column.type, column.why) == (LEFT_OUT, CONSTANT)
