"""How much faster two workers of a Dask cluster are than one: learning from a Dask frame, and the bootstrap.

    python benchmarks/dask_workers.py [--rows 5000000] [--columns 30] [--samples 200] [--repeats 3]

A worker is a process with one thread and 2 GB of memory, on this machine, beside the process that asks. Rows
are drawn from a random network and written as Parquet files, 250 000 rows each; hill climbing learns from all
of them, where the workers read and count them. The bootstrap sends a table of 5000 rows × 60 columns and
learns by hill climbing from samples of it. Before the clock starts, each cluster has done the same work on a
few rows or samples, so that kernels are loaded. Both numbers of workers must find the same graphs. Seconds
are wall-clock seconds, the median of the repeats, in which the numbers of workers take turns; CPU seconds are
those of the busiest worker. Wall-clock seconds mean little on a machine that others use too: two workers need
two cores of their own.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import dagora
from dagora.data.writers import write_table
from large_table import random_network
from report import deliver, digits, machine, promises, seconds, verdict
from runs import note

ROWS, COLUMNS, SAMPLES, REPEATS = 5_000_000, 30, 200, 3
PIECE = 250_000
FEW = 20_000
PROMISE = 1.6
MEMORY = "2GB"


def write_rows(folder: Path, rows: int, columns: int, in_a_file: int) -> Path:
    """Rows of a random network, in files of so many."""
    folder.mkdir()
    network = random_network(columns, 3)
    for number, start in enumerate(range(0, rows, in_a_file)):
        piece = dagora.sample_network(network, min(in_a_file, rows - start), seed=number)
        write_table(piece, folder / f"{number:04}.parquet")
    return folder


def from_frame(folder: Path) -> Callable[[Any], object]:
    """Hill climbing from the files of a folder, which the workers read; returns the graph and its score."""
    import dask.dataframe as dd

    def work(client: Any) -> object:  # noqa: ARG001 (Dask knows the last client)
        result = dagora.learn(dd.read_parquet(folder), "hill-climb")
        return result.graph.edges, result.score

    return work


def by_samples(samples: int) -> Callable[[Any], object]:
    """The bootstrap of a table; returns the graphs of all samples."""
    table = dagora.sample_network(random_network(60, 3), 5000, seed=3)

    def work(client: Any) -> object:
        return dagora.bootstrap(table, "hill-climb", samples=samples, dask=client).marks.tobytes()

    return work


def timed(
    workers: int, rehearse: Callable[[Any], object], work: Callable[[Any], object]
) -> tuple[float, float, object]:
    """Wall-clock seconds, CPU seconds of the busiest worker, and what was found, by a new cluster."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            memory_limit=MEMORY,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        Client(cluster) as client,
    ):
        rehearse(client)
        before = client.run(time.process_time)
        begun = time.perf_counter()
        found = work(client)
        wall = time.perf_counter() - begun
        after = client.run(time.process_time)
        if before.keys() != after.keys():
            raise SystemExit("a worker was lost on the way: more memory is needed")
        return wall, max(after[worker] - before[worker] for worker in after), found


def compare(
    title: str, rehearse: Callable[[Any], object], work: Callable[[Any], object], repeats: int
) -> list[str]:
    """A line: seconds by one and by two workers, and how many times as fast two are."""
    walls: dict[int, list[float]] = {1: [], 2: []}
    busiest: dict[int, list[float]] = {1: [], 2: []}
    known: object = None
    for repeat in range(repeats):
        for workers in (1, 2):
            wall, cpu, found = timed(workers, rehearse, work)
            note(f"{title}, {workers} workers, repeat {repeat + 1}: {wall:.1f} s, busiest {cpu:.1f} CPU s")
            known = found if known is None else known
            if found != known:
                raise SystemExit(f"{title}: {workers} workers found something else")
            walls[workers].append(wall)
            busiest[workers].append(cpu)
    faster = median(walls[1]) / median(walls[2])
    shares = median(busiest[1]) / median(busiest[2])
    measured = (
        f"{faster:.2f} times as fast: {seconds(walls[1])} s by one, {seconds(walls[2])} s by two "
        f"(CPU of the busiest worker {digits(median(busiest[1]))} and {digits(median(busiest[2]))} s, "
        f"{shares:.2f} times)"
    )
    return [title, f"two workers ≥ {PROMISE} × one", measured, verdict(faster >= PROMISE)]


def main() -> None:
    """Print a line for each kind of work."""
    parser = argparse.ArgumentParser(description="Two workers of a Dask cluster against one.")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--columns", type=int, default=COLUMNS)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--output", type=Path, metavar="FILE.md", help="also write the report here")
    options = parser.parse_args()
    where = machine("dagora", "numpy", "numba", "dask", "distributed")
    with tempfile.TemporaryDirectory() as folder:
        few = write_rows(Path(folder, "few"), FEW, options.columns, FEW // 8)
        many = write_rows(Path(folder, "many"), options.rows, options.columns, PIECE)
        lines = [
            compare(
                f"hill climbing, {options.rows:,} rows × {options.columns} columns in "
                f"{len(list(many.iterdir()))} partitions",
                from_frame(few),
                from_frame(many),
                options.repeats,
            ),
            compare(
                f"bootstrap, {options.samples} samples of 5000 rows × 60 columns",
                by_samples(4),
                by_samples(options.samples),
                options.repeats,
            ),
        ]
    deliver(
        "\n\n".join(["## Two workers of a Dask cluster against one", promises(lines), where]), options.output
    )


if __name__ == "__main__":
    main()
