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
import pyarrow as pa

import dagora
import dagora.stats.table as table_module
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.stats.statistics import CellCounts
from dagora.stats.table import TableStatistics

CHUNK = 1_000_000
FEW = 5000
# Sets that are counted by a query each; their time is scaled up to all.
SOME = 100


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


def hashed(values: Any) -> str:
    """The same for numbers."""
    return hashlib.sha256(np.asarray(values, dtype=np.int64).tobytes()).hexdigest()


def peak() -> int:
    """The most memory that this process ever held, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def grouped(folder: Path, sets: list[list[int]]) -> list[int]:
    """Counts of some sets, each by a query of its own to DuckDB."""
    import duckdb

    found: list[int] = []
    with duckdb.connect(str(folder / "rows.db"), read_only=True) as database:
        for each in sets:
            names = ", ".join(f"x{column}" for column in each)
            query = f"SELECT count(*) FROM rows GROUP BY {names} ORDER BY {names}"
            found += [count for (count,) in database.execute(query).fetchall()]
    return found


def main() -> None:
    way, rows, columns, number = sys.argv[1], *map(int, sys.argv[2:5])
    folder = Path(sys.argv[5])
    if way == "write":
        write(folder, rows, columns)
        print("{}")
        return
    if way == "group-by":
        started = time.process_time()
        values = grouped(folder, random_sets(columns, number)[:SOME])
        seconds = (time.process_time() - started) * number / SOME
        print(json.dumps({"seconds": seconds, "opening": 0.0, "peak": peak(), "some": hashed(values)}))
        return
    table_module.BLOCKS_FROM = 1 << 62 if way == "one" else 0
    sets = random_sets(columns, number)
    few = random_table(FEW, columns)
    TableStatistics(few).counts(sets)
    texts = few.to_arrow().cast(pa.schema([(name, pa.string()) for name in few.names]))
    dagora.open_rows(lambda: texts).counts(sets)
    started = time.process_time()
    in_memory = way in ("one", "blocks")
    statistics = TableStatistics(random_table(rows, columns)) if in_memory else opened(way, folder)
    opening = 0.0 if in_memory else time.process_time() - started
    started = time.process_time()
    counts = statistics.counts(sets)
    seconds = time.process_time() - started
    some = hashed(counts.values[: counts.offsets[SOME]])
    found = {"seconds": seconds, "opening": opening, "peak": peak(), "digest": digest(counts), "some": some}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
