"""What is written is read again."""

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from dagora.base.errors import DataError
from dagora.data import writers
from dagora.data.discretise import discretise
from dagora.data.incomplete import IncompleteTable
from dagora.data.readers import read_table
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.data.writers import write_table
from tests.data.table_strategies import quick, tables


def again(table, folder, name, **options):
    write_table(table, folder / name)
    return read_table(folder / name, **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


def same(table, other):
    """Equality down to the sign of zero."""
    bits = zip(table.columns, other.columns, strict=True)
    return table.equals(other) and all(a.tobytes() == b.tobytes() for a, b in bits)


@pytest.mark.full
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz"])
@quick
@given(table=tables(unseen=False))
def test_text_files(folder, name, table):
    assert same(again(table, folder, name), table)


@pytest.mark.full
@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.arrow"])
@quick
@given(table=tables(unseen=True))
def test_binary_files_keep_levels_that_no_row_has(folder, name, table):
    assert same(again(table, folder, name), table)


@pytest.mark.full
def test_many_rows_in_blocks(tmp_path):
    generator = np.random.default_rng(1)
    variables = [Variable("a", Kind.DISCRETE, ("no", "yes, quite")), Variable("x", Kind.CONTINUOUS)]
    codes = generator.integers(0, 2, 150_000).astype(np.uint16)
    table = Table(Schema(variables), (codes, generator.standard_normal(150_000)))
    for name in ("t.csv", "t.parquet"):
        assert same(again(table, tmp_path, name), table)


def test_whole_numbers_are_not_read_as_integers(tmp_path):
    table = Table.from_numpy([[1.0], [1e22], [-3.0], [1e-7], [123456.0]])
    write_table(table, tmp_path / "t.csv")
    lines = (tmp_path / "t.csv").read_text().split()
    assert lines == ["x0", "1.0", "1e+22", "-3.0", "1e-7", "123456.0"]
    assert read_table(tmp_path / "t.csv").equals(table)


def test_intervals_keep_their_order(tmp_path):
    table = discretise(Table.from_numpy([[float(i)] for i in range(24)]), "width", bins=12)
    for name in ("t.csv", "t.feather"):
        assert again(table, tmp_path, name).equals(table)


def test_integer_levels_beyond_twenty_need_to_be_declared(tmp_path):
    table = Table.from_numpy([[i] for i in range(0, 60, 2)], discrete=["x0"])
    assert again(table, tmp_path, "t.csv").schema[0].kind is Kind.CONTINUOUS
    assert again(table, tmp_path, "t.csv", discrete=["x0"]).equals(table)
    assert again(table, tmp_path, "t.parquet").equals(table)


def test_the_same_table_gives_the_same_bytes(tmp_path):
    table = Table.from_numpy([[1, 2], [3, 4]])
    for name in ("t.csv", "t.csv.gz", "t.parquet", "t.feather"):
        write_table(table, tmp_path / f"one_{name}")
        write_table(table, tmp_path / f"two_{name}")
        assert (tmp_path / f"one_{name}").read_bytes() == (tmp_path / f"two_{name}").read_bytes()


def test_what_cannot_be_written_leaves_no_file(tmp_path):
    table = Table.from_numpy([[1]])
    with pytest.raises(DataError, match="a table's name must end in"):
        write_table(table, tmp_path / "t.xlsx")
    with pytest.raises(DataError, match="there is no folder"):
        write_table(table, tmp_path / "none" / "t.csv")
    for level in ("", "nan", " "):
        blank = Table(Schema([Variable("a", Kind.DISCRETE, (level,))]), (np.zeros(1, dtype=np.uint16),))
        with pytest.raises(DataError, match=r"column 'a' has a level '.*', which reads as missing"):
            write_table(blank, tmp_path / "t.csv")
    assert not list(tmp_path.iterdir())


def test_cells_that_would_be_read_as_more_than_one_are_in_quotes():
    for cell in ("a,b", 'a"b', "a\nb", "a\rb"):
        assert writers.quote(cell, ",") == '"' + cell.replace('"', '""') + '"'
    assert writers.quote("a b;c", ",") == "a b;c"


def test_missing_cells_of_every_block_are_empty(tmp_path, monkeypatch):
    monkeypatch.setattr(writers, "ROWS_AT_ONCE", 2)
    whole = Table.from_numpy([["a", "1.5"], ["b", "2.5"], ["a", "3.5"], ["b", "4.5"], ["a", "5.5"]])
    table = IncompleteTable.of(whole, [[True, False, True, True, False], [True, True, True, False, True]])
    writers.write_table(table, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "x0,x1\na,1.5\n,2.5\na,3.5\nb,\n,5.5\n"


def test_levels_that_no_row_has_stay_in_a_parquet_file_however_many(tmp_path):
    levels = tuple(f"{k:0300}" for k in range(5000))
    table = Table(Schema([Variable("a", Kind.DISCRETE, levels)]), (np.zeros(3, dtype=np.uint16),))
    writers.write_table(table, tmp_path / "t.parquet")
    assert len(pq.read_table(tmp_path / "t.parquet")["a"].chunk(0).dictionary) == 5000
