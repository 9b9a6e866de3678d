"""Counting many sets of columns over many rows: in memory, and in one pass over files and databases.

    python benchmarks/engines.py [--rows 1000000] [--columns 30] [--sets 2000] [--output FILE.md]

Columns have 2 to 12 levels, sets have 1 to 4 columns. Each way runs in a process of its own, on one core; a
first call on few rows loads its compiled kernels. Seconds are CPU seconds of counting (all threads of an
engine together), and of the first pass that finds types and levels; memory is the most that the process ever
held. Every way must find the same counts.
"""

from __future__ import annotations

import argparse
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from report import deliver, digits, machine, markdown_table
from runs import note, one_thread, run_worker

ROWS, COLUMNS, SETS = 1_000_000, 30, 2000
WAYS = {
    "one": "in memory, set by set",
    "blocks": "in memory, by blocks of rows",
    "parquet": "Parquet, text",
    "arrow": "Arrow, text",
    "polars": "polars, lazy frame on the Parquet file",
    "duckdb": "DuckDB, table",
    "group-by": "DuckDB, GROUP BY for each set (100 sets, scaled to all)",
}


def measure(rows: int, columns: int, sets: int) -> list[list[str]]:
    """A line for each way, with its time relative to the first."""
    lines: list[list[str]] = []
    first: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        run_worker("count_sets.py", "write", rows, columns, sets, folder)
        for way, title in WAYS.items():
            if way in ("duckdb", "group-by") and not find_spec("duckdb"):
                continue
            note(title)
            found = run_worker("count_sets.py", way, rows, columns, sets, folder, **one_thread())
            assert found is not None
            first = first or found
            if (found.get("digest", first["digest"]), found["some"]) != (first["digest"], first["some"]):
                raise SystemExit(f"{title}: other counts than {WAYS['one']}")
            speed = f"{first['seconds'] / found['seconds']:.1f}"
            opening = digits(found["opening"]) if found["opening"] else ""
            lines.append([title, digits(found["seconds"]), speed, opening, f"{found['peak'] / 1e9:.2f}"])
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description="Counting many sets of columns over many rows.")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--columns", type=int, default=COLUMNS)
    parser.add_argument("--sets", type=int, default=SETS)
    parser.add_argument("--output", type=Path, metavar="FILE.md", help="also write the report here")
    options = parser.parse_args()
    where = machine("dagora", "numpy", "numba", "pyarrow")
    lines = measure(options.rows, options.columns, options.sets)
    title = f"{options.rows:,} rows × {options.columns} columns, {options.sets} sets of 1–4 columns"
    text = [
        "## Counting",
        f"{title}; all counts equal.",
        markdown_table(["way", "CPU s", "times as fast", "first pass, CPU s", "peak GB"], lines),
        where,
    ]
    deliver("\n\n".join(text), options.output)


if __name__ == "__main__":
    main()
