"""Tables as frames and back again: nothing is lost, and a package that is missing is named."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given

import dagora
from dagora.base.errors import DataError
from dagora.data.readers import read_table
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.data.writers import write_table
from tests.data.table_strategies import quick, tables

DOSE = Variable("dose", Kind.DISCRETE, ("none at all", "low", "10", "9", "never seen"))
TABLE = Table(
    Schema([DOSE, Variable("x", Kind.CONTINUOUS), Variable("", Kind.CONTINUOUS)]),
    (np.array([1, 0, 3, 2], dtype=np.uint16), np.array([0.1, -0.0, 1e-308, 3.0]), np.arange(4.0)),
)
WAYS = ("to_pandas", "to_polars", "to_arrow")


@pytest.mark.parametrize("way", WAYS)
def test_a_frame_holds_words_and_numbers(way: str) -> None:
    frame = getattr(TABLE, way)()
    columns = {
        name: list(frame[name].to_pylist() if way == "to_arrow" else frame[name]) for name in TABLE.names
    }
    assert columns == {
        "dose": ["low", "none at all", "9", "10"],
        "x": [0.1, -0.0, 1e-308, 3.0],
        "": [0, 1, 2, 3],
    }


def test_levels_are_declared_in_order() -> None:
    assert list(TABLE.to_pandas()["dose"].cat.categories) == list(DOSE.levels)
    assert not TABLE.to_pandas()["dose"].cat.ordered, "levels are in an order, but need not mean one"
    assert TABLE.to_polars()["dose"].dtype.categories.to_list() == list(DOSE.levels)
    assert TABLE.to_arrow()["dose"].chunk(0).dictionary.to_pylist() == list(DOSE.levels)


@pytest.mark.parametrize("way", [*WAYS, "t.parquet", "t.feather"])
@pytest.mark.parametrize("ordered", [True, False])
def test_an_order_that_means_something_survives(way: str, ordered: bool, tmp_path: Path) -> None:
    levels = ("low", "medium", "high") if ordered else ("high", "low", "medium")
    table = Table(
        Schema([Variable("dose", Kind.DISCRETE, levels, ordered)]), (np.array([1, 0, 2], dtype=np.uint16),)
    )
    if way in WAYS:
        again = Table.from_frame(getattr(table, way)())
    else:
        write_table(table, tmp_path / way)
        again = read_table(tmp_path / way)
    assert again.equals(table)
    assert again.schema[0].ordered is (ordered or way == "to_polars")


def test_a_filled_table_keeps_the_order() -> None:
    levels = ["low", "medium", "high"]
    doses = pd.Categorical([None, *levels * 5], categories=levels, ordered=True)
    rows = pd.DataFrame({"dose": doses, "ill": ["no"] * 8 + ["yes"] * 8})
    network = dagora.fit(dagora.DAG(["dose", "ill"]), rows, missing="model")
    filled = dagora.impute(network, rows).table.to_pandas()["dose"]
    assert (filled.cat.ordered, list(filled.cat.categories)) == (True, levels)
    beside = Table.from_frame(rows, missing="level").schema[0]
    assert (beside.levels, beside.ordered) == ((*levels, "missing"), False)


@pytest.mark.full
@pytest.mark.parametrize("way", WAYS)
@quick
@given(table=tables(unseen=True))
def test_there_and_back(way: str, table: Table) -> None:
    again = Table.from_frame(getattr(table, way)())
    assert again.equals(table)
    for ours, theirs in zip(table.columns, again.columns, strict=True):
        assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("way", WAYS)
def test_no_rows_and_many_levels(way: str) -> None:
    empty = TABLE.take([])
    assert len(getattr(empty, way)()) == 0
    levels = tuple(f"level {i:04}" for i in range(3000))
    wide = Table(Schema([Variable("a", Kind.DISCRETE, levels)]), (np.arange(0, 3000, 7, dtype=np.uint16),))
    assert Table.from_frame(getattr(wide, way)()).equals(wide)


def test_a_frame_may_be_changed() -> None:
    frame = TABLE.to_pandas()
    frame.loc[0, "x"] = 7.0
    assert TABLE.values(1)[0] == 0.1
    assert isinstance(frame, pd.DataFrame)
    assert isinstance(TABLE.to_polars(), pl.DataFrame)


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_package_that_is_not_there_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(DataError, match=f"^to_{package} needs the package {package}: pip install {package}$"):
        getattr(TABLE, f"to_{package}")()


def test_a_frame_is_a_copy() -> None:
    frame = TABLE.to_pandas()
    frame.loc[0, "x"] = 7.0
    assert TABLE.values(1)[0] == 0.1
