"""Which variables were set in which rows: read from a column, or from a list, and told where it is forgotten."""

import numpy as np
import pytest

from dagora.base.errors import DataError, OptionError
from dagora.data.interventions import Interventions, Marks, find_marks, targets_of, warnings_of_marks
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table


def marked(*levels: str, rows: list[int]) -> Table:
    schema = Schema(
        [
            Variable("set", Kind.DISCRETE, levels),
            *(Variable(name, Kind.CONTINUOUS) for name in ("dose", "x+y")),
        ]
    )
    return Table(schema, (np.array(rows, dtype=np.uint16), np.arange(4.0), np.arange(4.0)))


def test_levels_that_no_row_has_do_not_shift_others() -> None:
    rest, marks = Marks("set").split(marked("dose", "none", "x+y", rows=[2, 1, 1, 2]))
    assert rest.names == ("dose", "x+y")
    assert [marks.regimes[k] for k in marks.of_row] == [("x+y",), (), (), ("x+y",)]
    assert marks.unset("x+y").tolist() == [False, True, True, False]
    assert marks.targets == ("x+y",)


@pytest.mark.every_case
@pytest.mark.parametrize("nothing", [None, float("nan"), "", "none", "-", "Observational", "missing"])
def test_what_says_that_nothing_was_set(nothing: object) -> None:
    assert targets_of(nothing, ["dose", "diet"]) == ()
    assert Interventions.of_rows([nothing, "dose"], ["dose"]).unset("dose").tolist() == [True, False]


def test_names_are_taken_as_they_are_before_they_are_split() -> None:
    assert targets_of("x+y", ["x", "y", "x+y"]) == ("x+y",)
    assert targets_of("x+y", ["x", "y"]) == ("x", "y")
    assert targets_of("none", ["none", "y"]) == ("none",)
    assert targets_of(("y", "x", "y"), ["x", "y"]) == ("x", "y")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("set:1=dose,1=diet", "gives the level '1' twice"),
        ("set:1=dose,2", "has '2' where a level"),
        ("set:1=", "has '1=' where a level"),
        ({"a": {"1": "x"}, "b": {"1": "x"}}, "one column"),
        ({"a": "x"}, "one column"),
    ],
)
def test_options_that_say_nothing_clear(given: object, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        Marks.read(given)


def test_a_column_of_marks_is_found_by_the_names_in_it() -> None:
    """A column without any name of a node is none, whatever else its levels are."""

    def found(*levels: str) -> str | None:
        return find_marks(Schema([Variable("set", Kind.DISCRETE, levels)]), ["dose", "diet", "x+y"])

    assert found("dose", "diet+dose", "none") == found("x+y", "none") == "set"
    assert found("none", "-") is None
    assert found("dose", "sport") is None
    assert find_marks(Schema([Variable("dose", Kind.DISCRETE, ("dose", "none"))]), ["dose"]) is None
    schema = Schema([Variable("set", Kind.DISCRETE, ("dose", "none"))])
    assert ["column 'set' names variables" in line for line in warnings_of_marks(schema, ["dose"])] == [True]
    assert warnings_of_marks(schema, ["diet"]) == []


def test_levels_that_the_column_does_not_have_are_named() -> None:
    with pytest.raises(DataError, match="the level '3', which column 'set' does not have"):
        Marks.read("set:3=dose").split(marked("1", "2", rows=[0, 1, 0, 1]))
