"""Learn one graph for Benchpress: it reads a table, and writes marks, seconds and the number of tests.

Benchpress hands over `snakemake`, with the paths of the table and of the three files, and what the JSON file
of a comparison says: method, score, datatype and timeout. With a timeout the best graph found by then is
written.
"""

from __future__ import annotations

import csv
import time
from pathlib import Path
from typing import Any

import dagora

snakemake: Any = globals()["snakemake"]


def columns_of(file: str, *, discrete: bool) -> dict[str, list[Any]]:
    """The columns of a file; that of a discrete table holds the numbers of levels in its second line."""
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    names, *rows = csv.reader(lines[:1] + lines[2:] if discrete else lines)
    columns = zip(names, zip(*rows, strict=True), strict=True)
    return {name: list(cells) if discrete else [float(cell) for cell in cells] for name, cells in columns}


def chosen(name: str) -> str | None:
    """A value of the JSON file; None where it says null."""
    value = str(snakemake.wildcards[name])
    return None if value in {"None", "null"} else value


def main() -> None:
    """Learn, and write the three files."""
    limit = chosen("timeout")
    begun = time.perf_counter()
    discrete = str(snakemake.wildcards["datatype"]) == "discrete"
    result = dagora.learn(
        columns_of(snakemake.input["data"], discrete=discrete),
        str(snakemake.wildcards["method"]),
        score=chosen("score"),
        discrete=["all"] if discrete else (),
        seed=int(snakemake.wildcards["replicate"]),
        time_limit=None if limit is None else float(limit),
    )
    seconds = time.perf_counter() - begun
    with Path(snakemake.output["adjmat"]).open("w", encoding="utf-8", newline="") as marks:
        writer = csv.writer(marks)
        writer.writerow(result.graph.nodes)
        writer.writerows(result.graph.to_numpy().astype(int).tolist())
    Path(snakemake.output["time"]).write_text(str(seconds), encoding="utf-8")
    Path(snakemake.output["ntests"]).write_text("None", encoding="utf-8")


main()
