"""Files of statistics: written and read without loss; what others wrote is refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dagora
from dagora import DataError
from dagora.stats.stored.statistics_file import read_statistics
from dagora.stats.stored.writing_statistics import NOTE

MIXED = {"a": ["x", "y", "z"] * 20, "b": ["u", "v"] * 30, "n": list(np.random.default_rng(0).normal(size=60))}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return dagora.statistics(MIXED).save(tmp_path / "m.stats")


def test_nothing_is_lost(file: Path) -> None:
    saved, read = dagora.statistics(MIXED), read_statistics(file)
    assert read.schema == saved.schema
    assert read.n_rows == saved.n_rows
    assert read.sources == saved.sources
    assert np.array_equal(read.moments().scatter, saved.moments().scatter)
    assert np.array_equal(read.indicator_moments().moments.scatter, saved.indicator_moments().moments.scatter)
    assert np.array_equal(read.contingency((0, 1)).counts, saved.contingency((0, 1)).counts)
    assert dagora.learn(file).score == dagora.learn(saved).score


def test_sets_of_several_sizes_are_kept(tmp_path: Path) -> None:
    kept = dagora.statistics({"a": [0, 1] * 9, "b": [0, 1] * 9, "c": [0, 1] * 9}, sets=[["a", "b"]])
    read = read_statistics(kept.save(tmp_path / "s.stats"))
    assert set(read.tables.tables) == {(0, 1), (2,)}
    assert read.contingency((2,)).counts.tolist() == [9, 9]


def rewritten(file: Path, change, rows=None) -> Path:
    """The file with another description, or other rows."""
    table = pq.read_table(file)
    note = json.loads(table.schema.metadata[NOTE.encode()])
    change(note)
    table = table if rows is None else rows(table)
    pq.write_table(table.replace_schema_metadata({NOTE: json.dumps(note)}), file)
    return file


def replaced(table: pa.Table, name: str, place: int, value: object) -> pa.Table:
    values = table[name].to_pylist()
    values[place] = value
    at = table.schema.get_field_index(name)
    return table.set_column(at, table.schema.field(name), pa.array(values, table.schema.field(name).type))


def nothing(note: dict) -> None:
    pass


@pytest.mark.parametrize(
    ("change", "rows", "said"),
    [
        (lambda note: note.update(format=2), None, "it has format 2, and this version of dagora reads 1"),
        (lambda note: note.update(rows=59), None, "does not have the 59 rows|between 1 and"),
        (lambda note: note.update(rows="60"), None, "stands where a whole number"),
        (lambda note: note.update(sets=[[0, 7]]), None, "stands where a whole number"),
        (lambda note: note.update(sets=[[1, 0]]), None, "no set of discrete columns"),
        (lambda note: note.update(sets=[]), None, "one after the other"),
        (lambda note: note["columns"].pop(), None, "no set|features|does not have"),
        (lambda note: note["columns"][0].update(kind="odd"), None, "does not fit"),
        (
            lambda note: note["columns"][0].update(levels=["x", "y"]),
            None,
            "a level that its column does not have",
        ),
        (lambda note: note["columns"][0].update(levels=["x", "x", "z"]), None, "odd way"),
        (lambda note: note.update(units=[0]), None, "one sum for each"),
        (lambda note: note.update(units=[10**9] * 7), None, "whole number from"),
        (lambda note: note.pop("columns"), None, "does not fit"),
        (nothing, lambda table: replaced(table, "count", 0, 10**15), "between 1 and the number of rows"),
        (nothing, lambda table: replaced(table, "count", 0, 11), "does not have the 60 rows"),
        (nothing, lambda table: replaced(table, "level_1", 0, 9), "a level that its column does not have"),
        (nothing, lambda table: replaced(table, "level_1", 0, 2), "twice|other counts"),
        (
            nothing,
            lambda table: replaced(table, "sum", len(table) - 1, "f" * 4000),
            "no whole number in base 16",
        ),
        (nothing, lambda table: replaced(table, "sum", len(table) - 1, "-1"), "negative|beyond 1"),
        (
            nothing,
            lambda table: replaced(table, "sum", len(table) - 2, "f" * 60),
            "a correlation is beyond 1",
        ),
        (nothing, lambda table: replaced(table, "first", len(table) - 1, 99), "not there"),
        (nothing, lambda table: table.slice(0, len(table) - 1), "one sum for each"),
        (nothing, lambda table: table.drop_columns(["sum"]), "does not fit"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(file: Path, change, rows, said) -> None:
    rewritten(file, change, rows)
    with pytest.raises(DataError, match=said) as refused:
        dagora.learn(file)
    assert str(refused.value).startswith(str(file))
    assert "\n" not in str(refused.value)


def with_sums(numbers: dict[tuple[int, int | None], int]):
    """Change sums; `None` stands for no second feature."""

    def change(table: pa.Table) -> pa.Table:
        for place, key in enumerate(
            zip(table["first"].to_pylist(), table["second"].to_pylist(), strict=True)
        ):
            if key in numbers:
                table = replaced(table, "sum", place, format(numbers[key], "x"))
        return table

    return change


def with_counts(table: pa.Table, counts: list[int]) -> pa.Table:
    for place, count in enumerate(counts):
        table = replaced(table, "count", place, count)
    return table


def test_products_that_no_rows_have_are_refused(tmp_path: Path) -> None:
    """Each pair of columns could be correlated so, and all three together could not."""
    file = dagora.statistics({name: [0.25, 1.5, 2.0, 0.5, 4.0] for name in "xyz"}).save(tmp_path / "c.stats")
    products = {(0, 1): 9, (1, 2): 9, (0, 2): -9, **{(k, k): 10 for k in range(3)}}
    no_sums = {(k, None): 0 for k in range(3)}
    rewritten(file, lambda note: note.update(units=[0] * 3), with_sums({**no_sums, **products}))
    with pytest.raises(DataError, match="its sums of products are not those of any rows"):
        dagora.learn(file)
    rewritten(file, nothing, with_sums({(0, 2): 9}))
    assert dagora.learn(file, "tabu").graph.nodes == ("x", "y", "z")


def test_levels_have_the_same_counts_in_tables_and_sums(file: Path) -> None:
    """The tables have two rows more of the first level, and two less of the second."""
    rewritten(file, nothing, lambda table: with_counts(table, [11, 11, 9, 9, 10, 10]))
    with pytest.raises(DataError, match="'a' has other counts in its tables than in its sums"):
        dagora.learn(file)


@pytest.mark.parametrize(
    ("products", "named"),
    [({(0, 3): 12, (0, 4): 8, (1, 3): 8, (1, 4): 12}, "'a' and 'b'"), ({(1, 2): 1}, "'a'")],
)
def test_pairs_of_levels_have_the_same_counts_in_tables_and_sums(
    file: Path, products: dict[tuple[int, int], int], named: str
) -> None:
    """All single levels have the right counts; no row has two levels of one column."""
    rewritten(file, nothing, with_sums({(0, 3): 10, (0, 4): 10, (1, 3): 10, (1, 4): 10, (1, 2): 0}))
    assert dagora.learn(file, "hill-climb").score is not None
    rewritten(file, nothing, with_sums(products))
    with pytest.raises(DataError, match=f": {named}: the tables have other counts than the sums of products"):
        dagora.learn(file)


def test_tables_of_several_columns_agree_on_pairs(tmp_path: Path) -> None:
    columns = {name: [k >> place & 1 for k in range(16)] for place, name in enumerate("abcd")}
    file = dagora.statistics(columns, sets=[["a", "b", "c"], ["a", "b", "d"]]).save(tmp_path / "p.stats")
    counts = pq.read_table(file)["count"].to_pylist()
    assert counts == [2] * 16
    for place in (8, 9, 14, 15):
        counts[place] += 1
    for place in (10, 11, 12, 13):
        counts[place] -= 1
    rewritten(file, nothing, lambda table: with_counts(table, counts))
    with pytest.raises(DataError, match="'a' and 'b': the counts in one table are not those in another"):
        dagora.learn(file)


def test_other_files_are_refused(tmp_path: Path, file: Path) -> None:
    plain = tmp_path / "plain.stats"
    pq.write_table(pa.table({"a": [1, 2]}), plain)
    with pytest.raises(DataError, match="it is no file of statistics"):
        dagora.learn(plain)
    plain.write_bytes(b"not parquet at all")
    with pytest.raises(DataError, match="cannot be read, it may be damaged"):
        dagora.learn(plain)
    plain.write_bytes(b"")
    with pytest.raises(DataError, match="empty"):
        dagora.learn(plain)
    with pytest.raises(DataError, match=r"there is no file|no such"):
        dagora.learn(tmp_path / "gone.stats")
    content = file.read_bytes()
    for cut in (len(content) // 2, len(content) - 9):
        plain.write_bytes(content[:cut])
        with pytest.raises(DataError, match="damaged"):
            dagora.learn(plain)


@pytest.mark.full
def test_flipped_bytes_never_crash(tmp_path: Path, file: Path) -> None:
    content = bytearray(file.read_bytes())
    rng = np.random.default_rng(5)
    other = tmp_path / "flipped.stats"
    for _ in range(60):
        damaged = bytearray(content)
        for place in rng.integers(0, len(content), 3):
            damaged[place] ^= int(rng.integers(1, 256))
        other.write_bytes(bytes(damaged))
        try:
            read_statistics(other)
        except DataError as refused:
            assert "\n" not in str(refused)
