"""How time and memory grow with rows, columns and levels: searches from Parquet, and from memory.

    python benchmarks/how_large.py [--rows 100000 1000000 10000000] [--in-memory 10000000] [--output FILE.md]

Rows are drawn from a random network of text columns (at most 2 parents) by a writer that holds a million rows
at a time. Each run is a process of its own with two threads; a first run on few rows compiles. Up to
`--in-memory` rows the table is also read as a whole; then both must find the same graph.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path

from report import deliver, digits, machine, markdown_table
from runs import note, run_worker

COLUMNS, LEVELS, MIDDLE = 12, 4, 1_000_000
LARGE = 10_000_000  # rows from which on a table of 30 columns is searched too, by two methods
HEAD = (
    "method",
    "rows",
    "columns",
    "levels up to",
    "wall s",
    "CPU s",
    "passes",
    "peak GB",
    "in memory, wall s",
    "peak GB",
)


def line(
    folder: str, rows: int, columns: int, levels: int, in_memory: int, method: str = "hill-climb"
) -> tuple[list[str], float]:
    """One row of the table, and the seconds of the scan."""
    note(f"{method}: {rows:,} rows, {columns} columns, up to {levels} levels")
    file = Path(folder) / "rows.parquet"
    run_worker("how_large_run.py", "write", file, rows, columns, levels)
    found = run_worker("how_large_run.py", "scan", file, method, 2)
    assert found is not None
    whole = run_worker("how_large_run.py", "memory", file, method, 2) if rows <= in_memory else None
    if whole is not None and whole["edges"] != found["edges"]:
        raise SystemExit(f"{rows} rows: another graph than in memory")
    cells = [method, f"{rows:,}", f"{columns}", f"{levels}", digits(found["wall"]), digits(found["cpu"])]
    cells += [f"{found['passes']:.0f}", f"{found['peak'] / 1e9:.2f}"]
    cells += ["", ""] if whole is None else [digits(whole["wall"]), f"{whole['peak'] / 1e9:.2f}"]
    return cells, found["cpu"]


def main() -> None:
    parser = argparse.ArgumentParser(description="How time and memory grow.")
    parser.add_argument("--rows", type=int, nargs="+", default=[10**5, 10**6, 10**7])
    parser.add_argument("--in-memory", type=int, default=10**7, metavar="ROWS")
    parser.add_argument("--output", type=Path, metavar="FILE.md", help="also write the report here")
    options = parser.parse_args()
    begun = machine()
    lines, seconds = [], {}
    with tempfile.TemporaryDirectory() as folder:
        line(folder, 60_000, COLUMNS, LEVELS, 60_000)
        for rows in options.rows:
            cells, seconds[rows] = line(folder, rows, COLUMNS, LEVELS, options.in_memory)
            lines.append(cells)
        for columns in (30, 60):
            lines.append(line(folder, MIDDLE, columns, LEVELS, options.in_memory)[0])
        for levels in (8, 20):
            lines.append(line(folder, MIDDLE, COLUMNS, levels, options.in_memory)[0])
        if max(options.rows) >= LARGE:
            for method in ("hill-climb", "tabu"):
                lines.append(line(folder, LARGE, 30, LEVELS, 0, method)[0])
    table = markdown_table(HEAD, lines)
    slope = ""
    if len(options.rows) > 1:
        few, many = options.rows[-2:]
        power = math.log(seconds[many] / seconds[few]) / math.log(many / few)
        slope = f"\n\nFrom {few:,} to {many:,} rows CPU seconds grow as rows to the power {power:.2f}."
    deliver(f"{table}{slope}\n\n{begun}", options.output)


if __name__ == "__main__":
    main()
