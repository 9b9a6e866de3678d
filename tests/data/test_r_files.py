"""Columns and frames of R, as its format has them."""

import datetime as dt
from typing import Any

import numpy as np
import pytest

from dagora.base.errors import DataError, OptionError
from dagora.data.r_files import check_frame, choose_frame, column_of, factor_of, labels_of
from dagora.data.r_format import INTEGER, LIST, LOGICAL, MISSING_INTEGER, REAL, STRINGS, RObject

at = dt.datetime.fromisoformat


def of_class(kind: int, values: Any, name: str) -> RObject:
    return RObject(kind, np.asarray(values), {"class": RObject(STRINGS, [name])})


def frame(**columns: RObject) -> RObject:
    about = {"class": RObject(STRINGS, ["data.frame"]), "names": RObject(STRINGS, list(columns))}
    return RObject(LIST, list(columns.values()), about)


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("column", "values"),
    [
        (RObject(REAL, np.array([1.0, np.nan, 2.0])), [1, None, 2]),
        (RObject(REAL, np.array([1.5, np.nan])), [1.5, None]),
        (RObject(INTEGER, np.array([3, MISSING_INTEGER])), [3, None]),
        (RObject(LOGICAL, np.array([1, 0, MISSING_INTEGER])), [True, False, None]),
        (RObject(STRINGS, ["a", None]), ["a", None]),
        (of_class(REAL, [1.0, np.nan], "Date"), [at("1970-01-02"), None]),
        (of_class(REAL, [86_400.5], "POSIXct"), [at("1970-01-02T00:00:00.5")]),
    ],
)
def test_columns(column: RObject, values: list[object]) -> None:
    assert column_of("x", column).to_pylist() == values


def test_levels_of_a_factor_in_their_order() -> None:
    found = factor_of("x", np.array([2, MISSING_INTEGER, 1]), ["low", "high"])
    assert found.to_pylist() == ["high", None, "low"]
    assert found.chunk(0).dictionary.to_pylist() == ["low", "high"]
    for code in (0, 3):
        with pytest.raises(DataError, match="column 'x' has a level that is not listed"):
            factor_of("x", np.array([code]), ["low", "high"])


def test_what_is_no_column() -> None:
    for column in (
        RObject(LIST, []),
        RObject(REAL, np.zeros(4), {"dim": RObject(INTEGER, np.array([2, 2]))}),
    ):
        with pytest.raises(DataError, match="holds lists or other objects of R"):
            column_of("x", column)


def test_a_frame_has_names_and_columns_of_one_length() -> None:
    x, y = RObject(REAL, np.zeros(2)), RObject(REAL, np.zeros(3))
    check_frame(frame(x=x, y=x))
    with pytest.raises(DataError, match="differ in length"):
        check_frame(frame(x=x, y=y))
    with pytest.raises(DataError, match="columns and names differ in number"):
        check_frame(RObject(LIST, [x, x], frame(x=x).attributes))
    with pytest.raises(DataError, match="it holds no data frame of R"):
        check_frame(RObject(LIST, [x]))


def test_one_of_several_frames_is_chosen_by_name() -> None:
    one, two, other = frame(), frame(), RObject(REAL, np.zeros(1))
    saved = [("one", one), ("number", other), ("two", two)]
    assert choose_frame(saved, "two") is two
    assert choose_frame(saved[:2], None) is one
    with pytest.raises(OptionError, match="several data frames"):
        choose_frame(saved, None)
    with pytest.raises(OptionError, match="there is no data frame 'number'"):
        choose_frame(saved, "number")


def test_labels_of_values() -> None:
    names = {"names": RObject(STRINGS, ["low", "high", "none"])}
    labels = RObject(REAL, np.array([1.0, 2.0, np.nan]), names)
    assert labels_of(RObject(REAL, np.zeros(1), {"labels": labels})) == {1.0: "low", 2.0: "high"}
    assert labels_of(RObject(REAL, np.zeros(1))) == {}
