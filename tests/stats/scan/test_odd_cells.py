"""Odd cells and odd sources: scanned rows are read, or refused, as rows in memory are."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dagora
from dagora.errors import DataError


def both(path, **options):
    """The rows in memory and scanned: the same columns and the same graph; the scanned ones."""
    known, scanned = dagora.read_table(path, **options), dagora.open_rows(path, **options)
    assert scanned.schema.variables == known.schema.variables
    assert scanned.n_rows == known.n_rows
    assert dagora.learn(scanned, "hill-climb").graph == dagora.learn(known, "hill-climb").graph
    return scanned


def written(folder, text):
    (folder / "rows.csv").write_text(text, encoding="utf-8")
    return folder / "rows.csv"


def parquet(folder, columns):
    pq.write_table(pa.table(columns), folder / "rows.parquet")
    return folder / "rows.parquet"


def test_a_level_of_dropped_rows_only_is_no_level(tmp_path):
    path = written(tmp_path, "a,b\n" + "p,x\nq,y\n" * 20 + "r,\n")
    scanned = both(path, missing="drop")
    assert scanned.schema[0].levels == ("p", "q")
    assert dagora.learn(scanned, "hill-climb").graph.edges == (("a", "b"),)
    both(parquet(tmp_path, {"a": ["p", "q"] * 20 + ["r"], "b": ["x", "y"] * 20 + [None]}), missing="drop")
