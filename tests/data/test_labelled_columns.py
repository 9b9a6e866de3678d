"""Numbers with labels, as statistics programs have them: levels where each has one, else numbers, and a sentence."""

import pyarrow as pa
import pytest

from dagora.base.wording import render
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.labelled_columns import MOST_NAMED, LabelReader, float_column, whole_numbers

LABELS = {1.0: "low", 2.0: "high"}


def read(
    column: list[object], reading: ReadingOptions, name: str = "dose"
) -> tuple[list[object], tuple[str, ...]]:
    reader = LabelReader(["dose", "age"], reading)
    return reader.read(name, pa.chunked_array([column]), LABELS).to_pylist(), tuple(map(render, reader.notes))


def test_labels_are_levels_unless_numbers_are_wanted() -> None:
    assert read([2, 1, None], ReadingOptions()) == (["high", "low", None], ())
    for reading in (
        ReadingOptions(continuous=["dose"]),
        ReadingOptions(numbers=["dose"]),
        ReadingOptions(numbers_for="NOTEARS"),
    ):
        assert read([2, 1, None], reading) == ([2, 1, None], ())
    assert read([2, 1], ReadingOptions(numbers_for="NOTEARS", discrete=["dose"]))[0] == ["high", "low"]


def test_values_without_a_label_stay_numbers_and_are_told() -> None:
    numbers, notes = read([2, 1, 37], ReadingOptions(na="NA"))
    assert numbers == [2, 1, 37]
    (note,) = notes
    assert "'dose' (1 is 'low', 2 is 'high')" in note
    assert 'if one means missing, na="NA,dose:1,dose:2"' in note
    assert read([37, 38], ReadingOptions()) == ([37, 38], ())


def test_an_option_lists_a_few_codes_only() -> None:
    reader = LabelReader(["dose"], ReadingOptions())
    reader.read("dose", pa.chunked_array([range(20)]), {float(k): f"label {k}" for k in range(12)})
    assert render(reader.notes[0]).count("dose:") == MOST_NAMED


@pytest.mark.parametrize(
    ("cells", "kind"),
    [([1.0, -3.0, None], "int64"), ([2.0**60], "double"), ([-(2.0**60)], "double"), ([0.5, 1.0], "double")],
)
def test_floats_that_are_whole_become_whole_numbers(cells: list[float], kind: str) -> None:
    """Beyond 2**53 a float does not tell whole numbers apart."""
    column = pa.chunked_array([pa.array(cells, pa.float64())])
    assert str(whole_numbers(column).type) == kind
    assert whole_numbers(column).to_pylist() == cells


def test_nothing_but_missing_values_stays_what_it_is() -> None:
    assert str(float_column([None, float("nan")]).type) == "double"
    assert float_column([None, float("nan")]).null_count == 2


def test_labels_that_nobody_has_are_no_levels() -> None:
    """They made edges dearer, as levels that no row has do."""
    reader = LabelReader(["dose"], ReadingOptions())
    labels = {1.0: "low", 2.0: "middle", 3.0: "high", 9.0: "refused"}
    column = reader.read("dose", pa.chunked_array([[3, None], [1, 3]]), labels)
    assert column.to_pylist() == ["high", None, "low", "high"]
    assert column.chunk(0).dictionary.to_pylist() == ["low", "high"]
