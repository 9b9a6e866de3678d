"""Parquet files: a small one does not become a large one, and an honest one is read as it was written."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dagora
from dagora.data.file_limits import BYTES_PER_CELL, CELLS_FREELY

LONG = "x" * 1_000_000


@pytest.mark.parametrize("groups", [1, 4])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_a_few_bytes_that_become_gigabytes_are_refused_before_that(tmp_path, kind, groups) -> None:
    """Each row says no more than that it has the one text that is there."""
    rows = 600 // groups * groups
    assert rows * len(LONG) > BYTES_PER_CELL * CELLS_FREELY
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, dtype=np.int32)), pa.array([LONG], kind))
    file = tmp_path / "bomb.parquet"
    table = pa.table({"a": column, "b": ["u", "v"] * (rows // 2)})
    pq.write_table(table, file, compression="zstd", store_schema=False, row_group_size=rows // groups)
    assert file.stat().st_size < 5_000
    pool = pa.default_memory_pool()
    most = max(pool.max_memory(), pool.bytes_allocated() + BYTES_PER_CELL * CELLS_FREELY)
    with pytest.raises(dagora.DataError, match=r"unpacks to \d+ MiB or more, far more than its size"):
        dagora.read_table(file)
    assert pool.max_memory() <= most
    assert dagora.read_table(file, drop=["a"]).names == ("b",), "what is left out is not read"


def test_types_that_cannot_be_used_are_refused_unread(tmp_path) -> None:
    file = tmp_path / "wide.parquet"
    pq.write_table(pa.table({"a": pa.array([b"ab"] * 9, pa.binary(2)), "b": ["u", "v", "u"] * 3}), file)
    with pytest.raises(dagora.DataError, match="'a' holds values of type fixed_size_binary"):
        dagora.read_table(file)


def test_honest_files_are_read_as_they_were_written(tmp_path) -> None:
    frame = pd.DataFrame({
        "a.b": ["x", "y", "x"] * 40,
        "size": pd.Categorical(["small", "large", "small"] * 40, categories=["small", "large"], ordered=True),
        "dose": np.arange(120) / 7,
        "code": [3, 1, 2] * 40,
        "ill": [True, False, True] * 40,
    })  # fmt: skip
    file = tmp_path / "honest.parquet"
    frame.to_parquet(file, row_group_size=50)
    table = dagora.read_table(file)
    expected = dagora.Table.from_frame(frame)
    assert table.schema == expected.schema
    assert all(np.array_equal(one, other) for one, other in zip(table.columns, expected.columns, strict=True))
    views = pa.table(
        {"v": pa.array(["x", "y"] * 5, pa.string_view()), "s": pa.array(["u", None] * 5, pa.large_string())}
    )
    pq.write_table(views, file)
    assert dagora.read_table(file, missing="level").schema[1].levels == ("missing", "u")


def test_a_column_whose_name_is_a_part_of_another(tmp_path) -> None:
    """Arrow reads the part b of the column a, too, where the column "a.b" is asked for."""
    file = tmp_path / "t.parquet"
    parts = pa.array([{"b": 9, "c": "x"}, {"b": 8, "c": "y"}] * 20)
    pq.write_table(pa.table({"a": parts, "a.b": ["u", "v"] * 20, "d": [1, 2] * 20}), file)
    table = dagora.read_table(file, drop=["a"])
    assert table.names == ("a.b", "d")
    assert table.schema[0].levels == ("u", "v")
