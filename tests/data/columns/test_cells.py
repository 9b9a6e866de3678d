"""Cells of a file: what is trimmed, what is a number, what stays of categories."""

import pyarrow as pa
import pytest

from dagora.data.columns.cells import is_plain, null_missing, parse_floats, parse_numbers, without_levels


def column(*cells: str | None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(cells, pa.string())])


@pytest.mark.parametrize("cell", ["0x1F", "0X1F", "007", "few", "-nan"])
def test_what_is_no_number_leaves_the_column_text(cell: str) -> None:
    assert parse_numbers(column("1", cell)).to_pylist() == ["1", cell]
    assert parse_floats(column("1", "-nan")) is None


def test_what_is_not_visible_ascii_is_looked_at() -> None:
    assert is_plain(column("a!", "~"))
    assert not any(is_plain(column("a", cell)) for cell in ("é", "a b", "\x7f", "\ta"))
    assert null_missing(column("\xa0é\u2003", "\xa0"), words_nulled=True).to_pylist() == ["é", None]


def test_an_order_stays_where_a_level_means_missing() -> None:
    places = pa.array([0, 1, 2], pa.int32())
    ordered = pa.DictionaryArray.from_arrays(places, pa.array(["low", "?", "high"]), ordered=True)
    found = without_levels(pa.chunked_array([ordered]), lambda level: level == "?")
    assert found.type.ordered
    assert (found.to_pylist(), found.dictionary.to_pylist()) == (["low", None, "high"], ["low", "high"])
