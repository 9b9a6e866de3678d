"""The data sets of the RBNets paper: counts of its table 1, the split at the mean, both readings of gaps."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dagora.base.errors import DataError
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.papers.rbnets.data_sets import (
    DATA_SETS,
    KEPT,
    REMOVED,
    DataSet,
    cells_of,
    prepare_table,
    two_states,
    with_seen_levels,
)


@pytest.fixture
def data(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DAGORA_DATA", str(data_dir))
    return data_dir


@pytest.mark.parametrize(
    ("name", "reading", "rows"),
    [
        ("voting", KEPT, 435),
        ("voting", REMOVED, 232),
        ("segment", KEPT, 2305),
        ("horse colic", KEPT, 300),
        ("horse colic", REMOVED, 6),
        ("sponge", KEPT, 76),
        ("sponge", REMOVED, 54),
        ("water*", KEPT, 500),
        ("alarm*", KEPT, 1000),
        ("hailfinder*", KEPT, 500),
        ("parkinson", KEPT, 756),
        ("androgen", KEPT, 1687),
    ],
)
def test_variables_are_those_of_table_1(data: Path, name: str, reading: str, rows: int) -> None:
    table = prepare_table({"data": name, "reading": reading})
    assert (len(table.names), table.n_rows) == (DATA_SETS[name].variables, rows)
    assert [len(np.unique(codes)) for codes in table.columns] == [v.cardinality for v in table.schema]


@pytest.mark.parametrize("name", ["segment", "horse colic", "ozone"])
def test_numbers_are_split_at_the_mean_of_what_is_there(data: Path, name: str) -> None:
    entry = DATA_SETS[name]
    frame = pd.read_csv(data / entry.source).drop(columns=list(entry.without))
    table = two_states(entry, KEPT)
    for i, column in enumerate(frame):
        values = frame[column].to_numpy(dtype=float)
        expected = np.where(np.isnan(values), 2, values > np.nanmean(values))
        np.testing.assert_array_equal(table.codes(i), expected)
    without = two_states(entry, REMOVED)
    complete = frame.dropna()
    for i, column in enumerate(complete):
        values = complete[column].to_numpy(dtype=float)
        np.testing.assert_array_equal(without.codes(i), values > values.mean())


def test_text_stays_and_a_gap_is_a_level(data: Path) -> None:
    table = prepare_table({"data": "voting", "reading": KEPT})
    assert table.schema[0].levels == ("n", "y", "missing")
    frame = pd.read_csv(data / "tables/voting.csv.gz")
    assert (table.codes(0) == 2).sum() == frame["handicapped-infants"].isna().sum()
    assert prepare_table({"data": "voting", "reading": REMOVED}).schema[0].levels == ("n", "y")


def test_halves_share_no_row_and_miss_none(data: Path) -> None:
    halves = [prepare_table({"data": "sponge", "reading": KEPT, "half": half}) for half in (0, 1)]
    assert [half.n_rows for half in halves] == [38, 38]

    def rows(table: Table) -> list[tuple[str, ...]]:
        words = [np.array(v.levels)[codes] for v, codes in zip(table.schema, table.columns, strict=True)]
        return list(zip(*words, strict=True))

    together = sorted(rows(halves[0]) + rows(halves[1]))
    assert together == sorted(rows(prepare_table({"data": "sponge", "reading": KEPT})))
    assert rows(halves[0]) != rows(halves[1])


def test_a_smaller_sample_is_the_beginning_of_a_larger_one(data: Path) -> None:
    small, large = (prepare_table({"data": "alarm*", "rows": rows}) for rows in (200, 2000))
    for i in range(len(small.names)):
        words = [np.array(t.schema[i].levels)[t.codes(i)] for t in (small, large)]
        np.testing.assert_array_equal(words[0], words[1][:200])


def test_levels_that_no_row_has_are_not_declared() -> None:
    schema = Schema([Variable("a", Kind.DISCRETE, ("x", "y", "z"))])
    table = with_seen_levels(Table(schema, (np.array([2, 0, 2], dtype=np.uint16),)))
    assert table.schema[0].levels == ("x", "z")
    assert table.codes(0).tolist() == [1, 0, 1]


def test_another_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGORA_DATA", str(tmp_path))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"x,y\n1,2\n"))
    with pytest.raises(DataError, match="has no column class: it is not the file meant"):
        cells_of(DataSet("a", 2, 1, "a.csv.gz", ("class",)))
