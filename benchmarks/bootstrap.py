"""Whether edges found in a share p of bootstrap samples are true with probability p, and what samples cost.

Tables are simulated from random networks, discrete and Gaussian. Each method learns from samples of each
table's rows; pairs of variables are put in bins by the share of samples that join them, and in each bin the
share of true pairs is counted. The same goes for compelled edges: an edge is true if every graph in the class
of the true graph has it. A calibrated share lies on the diagonal of the picture.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from numpy.typing import NDArray

import dagora
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.papers.charts import ChartPanel, Series, draw_panels
from large_table import random_network

Floats = NDArray[np.float64]

NODES, DEGREE = 12, 3
ROWS = {"discrete": 1000, "gaussian": 200}
METHODS = {"discrete": ("hill-climb", "pc"), "gaussian": ("hill-climb", "ges", "pc")}
CUTS = np.array([0.0, 0.005, 0.2, 0.4, 0.6, 0.8, 0.995, 1.01])
WHAT = ("joined", "compelled")


def simulated(kind: str, seed: int) -> tuple[Table, DAG]:
    """A table of random mechanisms on a random graph, and the graph."""
    if kind == "gaussian":
        graph = dagora.random_dag("er", NODES, DEGREE, seed=seed)
        return dagora.simulate(graph, kind, ROWS[kind], seed=seed, weight_range=(0.2, 1.0)).table, graph
    network = random_network(NODES, seed)
    return dagora.sample_network(network, ROWS[kind], seed=seed), network.graph


def bins(shares: Floats, true: NDArray[np.bool_]) -> Floats:
    """For each bin: the number of pairs, the sum of their shares, and how many are true."""
    place = np.digitize(shares, CUTS) - 1
    size = len(CUTS) - 1
    parts = (np.bincount(place, weights, size) for weights in (None, shares, true))
    return np.stack([np.asarray(part, dtype=np.float64) for part in parts])


def calibration(kind: str, method: str, samples: int, seeds: range) -> dict[str, Floats]:
    """Bins of all tables together, for pairs that are joined and for edges that are compelled."""
    found = {what: np.zeros((3, len(CUTS) - 1)) for what in WHAT}
    upper = np.triu_indices(NODES, k=1)
    other = ~np.eye(NODES, dtype=np.bool_)
    for seed in seeds:
        table, graph = simulated(kind, seed)
        strengths = dagora.bootstrap(table, method, samples=samples, seed=seed)
        marks = graph.to_numpy()
        class_marks = dagora.CPDAG.from_dag(graph).to_numpy()
        found["joined"] += bins(strengths.adjacency_frequency[upper], (marks | marks.T)[upper])
        compelled = class_marks & ~class_marks.T
        found["compelled"] += bins(strengths.compelled_frequency[other], compelled[other])
    return found


def show(kind: str, method: str, what: str, counted: Floats) -> None:
    """A line: in each bin the mean share of samples, the share of true ones, and their number."""
    cells = " | ".join(
        f"{total / number:.2f} → {true / number:.2f} ({number:.0f})" if number else "–"
        for number, total, true in counted.T
    )
    print(f"| {kind} | {method} | {what} | {cells} |", flush=True)


def series(method: str, counted: Floats) -> Series:
    """Points of the bins that hold at least ten pairs."""
    number, total, true = counted[:, counted[0] >= 10]
    return Series(method, tuple((total / number).tolist()), tuple((true / number).tolist()))


def cpu_seconds() -> tuple[float, float]:
    """Seconds of CPU so far, of this process and of those that it started and that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time(), children.ru_utime + children.ru_stime


def clock(table: Path | None) -> None:
    """Seconds of 200 hill climbs by one process and by two, of which the busiest counts."""
    data = (
        dagora.sample_network(random_network(60, 3), 5000, seed=3)
        if table is None
        else dagora.read_table(table)
    )
    name = "60 columns, 5000 rows" if table is None else table.name
    dagora.bootstrap(data, "hill-climb", samples=2)
    before = cpu_seconds()[1]
    subprocess.run([sys.executable, "-c", "import dagora.posterior.resample.sample_process"], check=True)
    start = cpu_seconds()[1] - before
    print(f"starting a process takes {start:.1f} s of CPU")
    alone, marks = 0.0, None
    for jobs in (1, 2):
        begun, before = perf_counter(), cpu_seconds()
        strengths = dagora.bootstrap(data, "hill-climb", samples=200, jobs=jobs)
        wall = perf_counter() - begun
        own, other = (after - then for after, then in zip(cpu_seconds(), before, strict=True))
        print(
            f"{name}: {strengths.samples} hill climbs, jobs={jobs}: {wall:.1f} s, "
            f"CPU {own:.1f} + {other:.1f} s"
        )
        if jobs == 1:
            alone, marks = own, strengths.marks
    same = "the same graphs" if np.array_equal(marks, strengths.marks) else "OTHER GRAPHS"
    print(
        f"{same}; by CPU of the busiest process {alone / max(own, other):.2f} times as fast, "
        f"{2 * alone / (own + other - start):.2f} times without starting"
    )


def main() -> None:
    """Print the table of bins, draw the picture, and time the samples."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=30, help="simulated tables of each kind")
    parser.add_argument("--samples", type=int, default=200, help="bootstrap samples of each table")
    parser.add_argument("--picture", type=Path, help="file of the picture")
    parser.add_argument(
        "--time",
        nargs="?",
        const="",
        help="a table to time 200 hill climbs on, instead; by default a simulated one",
    )
    given = parser.parse_args()
    if given.time is not None:
        clock(Path(given.time) if given.time else None)
        return
    panels = []
    for kind, methods in METHODS.items():
        found = {m: calibration(kind, m, given.samples, range(given.tables)) for m in methods}
        for what in WHAT:
            for method in methods:
                show(kind, method, what, found[method][what])
            diagonal = Series("calibrated", (0.0, 1.0), (0.0, 1.0), published=True)
            lines = tuple(series(method, found[method][what]) for method in methods)
            panels.append(ChartPanel(f"{kind}, {what}", (diagonal, *lines)))
    if given.picture:
        title = "Share of true edges by share of samples"
        drawing = draw_panels(
            panels, columns=2, x_label="share of samples", y_label="share that is true", title=title
        )
        given.picture.write_text(drawing, encoding="utf-8")


if __name__ == "__main__":
    main()
