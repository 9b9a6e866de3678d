"""What a search on a sample saves on scanned rows: passes and seconds with it and without, for equal results.

    python benchmarks/screening.py [--rows 1000000] [--columns 30] [--formats parquet csv] [--output FILE.md]

Rows are those of `how_large.py`, as a Parquet file and as CSV. Each run is a process of its own with one
thread. Both runs of a line must find the same graph and the same score, or the benchmark stops.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from report import deliver, digits, machine, markdown_table
from runs import note, run_worker

METHODS = ("hill-climb", "tabu", "ges")
HEAD = (
    "source",
    "method",
    "passes",
    "without",
    "CPU s",
    "without",
    "wall s",
    "without",
    "peak GB",
    "without",
)


def line(file: Path, method: str) -> list[str]:
    """One row of the table."""
    note(f"{method} from {file.suffix[1:]}")
    screened = run_worker("how_large_run.py", "scan", file, method, 1)
    plain = run_worker("how_large_run.py", "plain", file, method, 1)
    assert screened is not None
    assert plain is not None
    if (screened["edges"], screened["score"]) != (plain["edges"], plain["score"]):
        raise SystemExit(f"{method} from {file}: another result with a sample than without")
    pairs = [(screened[what], plain[what]) for what in ("passes", "cpu", "wall", "peak")]
    cells = [f"{number:.0f}" for number in pairs[0]]
    cells += [digits(number) for pair in pairs[1:3] for number in pair]
    return [file.suffix[1:], method, *cells, *(f"{number / 1e9:.2f}" for number in pairs[3])]


def write_csv(file: Path) -> Path:
    """The rows of a Parquet file as CSV."""
    import pyarrow.csv as arrow_csv
    import pyarrow.parquet as pq

    rows = pq.ParquetFile(file)
    made = file.with_suffix(".csv")
    with arrow_csv.CSVWriter(made, rows.schema_arrow) as writer:
        for batch in rows.iter_batches():
            writer.write_batch(batch)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description="What a search on a sample saves.")
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--formats", nargs="+", choices=("parquet", "csv"), default=["parquet", "csv"])
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--output", type=Path, metavar="FILE.md", help="also write the report here")
    options = parser.parse_args()
    begun = machine()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.parquet"
        run_worker("how_large_run.py", "write", file, 60_000, options.columns, 4)
        run_worker("how_large_run.py", "scan", file, "ges", 1)  # compiles
        run_worker("how_large_run.py", "write", file, options.rows, options.columns, 4)
        files = [file if form == "parquet" else write_csv(file) for form in options.formats]
        lines = [line(each, method) for each in files for method in options.methods]
    table = markdown_table(HEAD, lines)
    deliver(f"{options.rows:,} rows × {options.columns} columns.\n\n{table}\n\n{begun}", options.output)


if __name__ == "__main__":
    main()
