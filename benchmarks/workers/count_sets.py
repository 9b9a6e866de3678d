"""Count many sets of columns in one of several ways: seconds, memory, and a digest of the counts, as JSON.

python count_sets.py WAY ROWS COLUMNS SETS
"""

from __future__ import annotations

import hashlib
import json
import resource
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import dagora
import dagora.stats.table as table_module
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.stats.statistics import CellCounts
from dagora.stats.table import TableStatistics

CHUNK = 1_000_000
FEW = 5000


def random_table(rows: int, columns: int) -> Table:
    """Independent columns of 2 to 12 levels, some of them rare."""
    rng = np.random.default_rng(1)
    levels = rng.integers(2, 13, columns)
    weights = [rng.dirichlet(np.ones(size)) for size in levels]
    codes = np.empty((columns, rows), dtype=np.uint16)
    for start in range(0, rows, CHUNK):
        for column, own in enumerate(weights):
            size = min(CHUNK, rows - start)
            codes[column, start : start + size] = rng.choice(len(own), size=size, p=own)
    variables = [
        Variable(f"x{k}", Kind.DISCRETE, tuple(f"l{level:02}" for level in range(size)))
        for k, size in enumerate(levels)
    ]
    return Table(Schema(variables), tuple(codes))


def random_sets(columns: int, number: int) -> list[list[int]]:
    """Sets of one to four columns."""
    rng = np.random.default_rng(2)
    return [rng.permutation(columns)[: rng.integers(1, 5)].tolist() for _ in range(number)]


def write(folder: Path, rows: int, columns: int) -> None:
    """Write the table in pieces: Parquet with text, Arrow, and a DuckDB file where DuckDB is installed."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = random_table(rows, columns)
    schema = pa.schema([(name, pa.string()) for name in table.names])
    with (
        pq.ParquetWriter(folder / "rows.parquet", schema) as parquet,
        pa.OSFile(str(folder / "rows.arrow"), "wb") as file,
        pa.ipc.new_file(file, schema) as arrow,
    ):
        for start in range(0, rows, CHUNK):
            part = table.take(np.arange(start, min(rows, start + CHUNK))).to_arrow().cast(schema)
            parquet.write_table(part)
            arrow.write_table(part, max_chunksize=1 << 17)
    if find_spec("duckdb"):
        import duckdb

        with duckdb.connect(str(folder / "rows.db")) as database:
            database.execute(f"CREATE TABLE rows AS SELECT * FROM '{folder / 'rows.parquet'}'")


def opened(way: str, folder: Path) -> Any:
    """Statistics of the rows in a file."""
    if way == "polars":
        import polars as pl

        return dagora.open_rows(pl.scan_parquet(folder / "rows.parquet"))
    if way == "duckdb":
        return dagora.open_rows(f"duckdb:{folder / 'rows.db'}", table="rows")
    return dagora.open_rows(folder / f"rows.{way}")


def digest(counts: CellCounts) -> str:
    """A text that differs for different counts."""
    return hashlib.sha256(counts.values.tobytes() + counts.offsets.tobytes()).hexdigest()


def main() -> None:
    way, rows, columns, number = sys.argv[1], *map(int, sys.argv[2:5])
    folder = Path(sys.argv[5])
    if way == "write":
        write(folder, rows, columns)
        print("{}")
        return
    table_module.BLOCKS_FROM = 1 << 62 if way == "one" else 0
    sets = random_sets(columns, number)
    TableStatistics(random_table(FEW, columns)).counts(sets)
    started = time.process_time()
    in_memory = way in ("one", "blocks")
    statistics = TableStatistics(random_table(rows, columns)) if in_memory else opened(way, folder)
    opening = 0.0 if in_memory else time.process_time() - started
    started = time.process_time()
    counts = statistics.counts(sets)
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "opening": opening, "peak": peak, "digest": digest(counts)}))


if __name__ == "__main__":
    main()
