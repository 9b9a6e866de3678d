"""Columns of both kinds on rows that are scanned: one pass gives what `bic-mixed` and the test `mixed` need."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dagora
import dagora.stats.scan.row_stream as row_stream
from dagora.api.fitted_parameters import reason_without_fit
from dagora.base.errors import RowsUnavailableError
from dagora.base.wording import render
from dagora.stats.name_order import in_name_order
from dagora.stats.table import TableStatistics


def mixed(rows=600):
    """A number that follows a level, a level that follows a number, and columns beside them."""
    rng = np.random.default_rng(0)
    drug = rng.integers(0, 3, rows)
    dose = rng.normal(size=rows) * 40 + 1e4 + 60.0 * (drug == 1)
    cured = (dose + rng.normal(size=rows) * 20 > 1e4 + 20).astype(int)
    return pd.DataFrame(
        {
            "drug": np.array(["a", "b", "c"])[drug],
            "dose": dose,
            "cured": cured,
            "age": rng.normal(size=rows) + 0.5 * cured,
            "none": rng.integers(0, 2, rows),
        }
    )


def as_source(table, kind):
    if kind == "dask":
        return pytest.importorskip("dask.dataframe").from_pandas(table, npartitions=3)
    return lambda: pa.Table.from_pandas(table, preserve_index=False).to_batches(max_chunksize=64)


@pytest.mark.full
@pytest.mark.parametrize("kind", ["function", "dask"])
def test_both_kinds_of_columns_as_in_memory(kind, monkeypatch):
    monkeypatch.setattr(row_stream, "PIECE_ROWS", 128)
    table = mixed()
    known = dagora.Table.from_frame(table)
    scanned = dagora.open_rows(as_source(table, kind))
    one, other = scanned.indicator_moments(), TableStatistics(known).indicator_moments()
    assert one.starts.tolist() == other.starts.tolist()
    assert one.moments.n == other.moments.n
    assert np.allclose(one.moments.mean, other.moments.mean, atol=1e-12)
    assert np.allclose(one.moments.scatter, other.moments.scatter, rtol=1e-10, atol=1e-9)
    before = scanned.passes
    assert in_name_order(scanned).indicator_moments().moments.n == len(table)
    assert scanned.passes == before, "they are kept"
    for method, options in (("hill-climb", {}), ("pc", {"test": "mixed"})):
        found, expected = dagora.learn(scanned, method, **options), dagora.learn(known, method, **options)
        assert found.graph == expected.graph, method
        if method == "hill-climb":
            assert len(found.graph.edges) == 3
            assert found.score == pytest.approx(expected.score, rel=1e-12)


def test_parameters_of_both_kinds_need_a_sample():
    scanned = dagora.open_rows(as_source(mixed(), "function"))
    assert render(reason_without_fit(scanned)).endswith("take a sample (sample=100000)")
    with pytest.raises(RowsUnavailableError, match=r"the rows themselves, .* sample=100000"):
        dagora.fit(dagora.learn(scanned, "hill-climb").graph, scanned)


def test_a_database_that_counts_by_itself_refuses_both_kinds():
    duckdb = pytest.importorskip("duckdb")
    table = mixed()
    with duckdb.connect() as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE made AS SELECT * FROM given")
        found = dagora.learn(dagora.open_rows(connection, table="made"), "hill-climb")
        assert found.graph == dagora.learn(dagora.Table.from_frame(table), "hill-climb").graph
        scanned = dagora.open_rows(connection, table="made", push_down=True)
        with pytest.raises(
            RowsUnavailableError,
            match=r"^push_down takes tables of one kind of columns only: leave push_down out",
        ):
            dagora.learn(scanned, "hill-climb")
