"""What a file would take as a table: by its own numbers, in bytes of a cell as it is stored and as it is typed."""

import gzip
from pathlib import Path

import pyarrow as pa
import pytest

from dagora.data import large_files
from dagora.data.binary_files import Description
from dagora.data.large_files import PER_BYTE, PER_CELL, bytes_of, memory_for, memory_for_text, unpacked_size


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("kind", "size"),
    [
        (pa.float64(), 8 + 8),
        (pa.float32(), 4 + 8),
        (pa.int8(), 1 + 2),
        (pa.int16(), 2 + 2),
        (pa.int32(), 4 + 8),
        (pa.bool_(), 1 + 2),
        (pa.dictionary(pa.int32(), pa.string()), 4 + 2),
    ],
)
def test_a_cell_takes_what_is_stored_and_what_it_becomes(kind: pa.DataType, size: int) -> None:
    """Few values become codes of two bytes, others numbers of eight."""
    assert bytes_of(kind) == size


@pytest.mark.parametrize(("rows", "memory"), [(None, 500 + 8 * 30), (10, 10 * (16 + 14))])
def test_a_file_takes_what_its_batches_or_its_rows_do(
    rows: int | None, memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An Arrow file states its bytes, to which a number for each cell comes; a Parquet file its rows."""
    schema = pa.schema([("x", pa.float64()), ("word", pa.string())])
    about = Description(schema, rows, cells=30, bytes=500, largest=500)
    monkeypatch.setattr(large_files, "describe", lambda file, form: about)
    assert memory_for(Path("t.parquet")) == memory


def test_text_takes_memory_for_its_bytes_and_for_its_cells(tmp_path: Path) -> None:
    row = "1;2;3\n"
    (tmp_path / "t.csv").write_text(row * 1000)
    expected = PER_BYTE * 6000 + PER_CELL * 3000
    assert memory_for_text(tmp_path / "t.csv") == pytest.approx(expected, rel=0.01)
    with gzip.open(tmp_path / "t.csv.gz", "wt") as handle:
        handle.write(row * 1000)
    assert unpacked_size(tmp_path / "t.csv.gz") == 6000
    assert memory_for_text(tmp_path / "t.csv.gz") == pytest.approx(expected, rel=0.01)
