"""Tests of independence and PC against causal-learn, dcor and hyppo, in one run.

    OMP_NUM_THREADS=1 python benchmarks/independence.py [--repeats 3] [--output FILE.md]

PC by Fisher's z on 100 Gaussian variables (random graph, weights of size 0.1 to 1, 10 000 rows) and by counts
on 1000 rows of the network alarm, at level 0.01: CPU seconds, ours with directions, and whether skeletons are
equal. Distance covariance and HSIC of 100 rows: milliseconds a test; peers have 199 permutations. The peers
are in `.bench/independence` (`python benchmarks/peers.py independence`).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np

import dagora
from dagora.learners.independence.residuals import ResidualTest
from dagora.learners.independence.row_kernels import KERNELS
from dagora.stats.table import TableStatistics
from peers import pinned, require
from report import deliver, digits, machine, markdown_table, promises, verdict
from runs import network_file, one_thread, run_worker

PEER = "independence"
PROMISED = {"gaussian": 200.0, "alarm": 20.0, "dcov": 20.0, "hsic": 20.0}


def gaussian() -> dagora.Table:
    """Rows of a linear model."""
    rng = np.random.default_rng(1)
    graph = dagora.random_dag("er", 100, 2.07, seed=1)
    weights = rng.uniform(0.1, 1, size=(100, 100)) * rng.choice([-1, 1], size=(100, 100))
    values = np.zeros((10_000, 100))
    for i in graph.order_indices:
        parents = list(graph.parent_indices(i))
        values[:, i] = values[:, parents] @ weights[parents, i] + rng.standard_normal(10_000)
    return dagora.Table.from_numpy(values, list(graph.nodes))


def alarm() -> dagora.Table:
    """Rows of a discrete network."""
    return dagora.read_network(network_file("alarm")).sample(1000, seed=1)


def matrix(table: dagora.Table) -> np.ndarray:
    """The columns side by side, levels as numbers."""
    return np.column_stack(table.columns)


def learned(table: dagora.Table, test: str, repeats: int) -> tuple[float, set[tuple[int, int]]]:
    """The median of CPU seconds, and the skeleton."""
    times = []
    dagora.learn(table, "pc", test=test)  # kernels are compiled
    for _ in range(repeats):
        start = process_time()
        graph = dagora.learn(table, "pc", test=test, alpha=0.01, orientation="first").graph
        times.append(process_time() - start)
    place = {name: k for k, name in enumerate(table.names)}
    pairs = {tuple(sorted((place[a], place[b]))) for a, b in (*graph.edges, *graph.undirected)}
    return median(times), pairs


def tested(rows: np.ndarray, measure: str, repeats: int) -> float:
    """CPU seconds of a test on fresh columns."""
    table = dagora.Table.from_numpy(rows, ["x", "y"])
    times = []
    for _ in range(200 * repeats + 1):
        test = ResidualTest(TableStatistics(table), measure, "the benchmark")
        start = process_time()
        test.p_values(np.array([0]), np.array([1]), np.empty((1, 0), dtype=np.int64))
        times.append(process_time() - start)
    return float(np.mean(times[1:]))


def compared(rows: np.ndarray, measure: str, theirs: float) -> str:
    """Our distance covariance beside dcor's; hyppo chooses another width of similarities."""
    if measure == "hsic":
        return ""
    one, other = (KERNELS[measure].matrix(column) for column in rows.T)
    return f"statistic {np.vdot(one, other) / len(rows):.6g}, theirs {theirs:.6g}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Tests of independence against their peers.")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path, help="write the report to this file too")
    arguments = parser.parse_args()
    require([PEER])
    lines, kept = [], []

    def row(problem: str, name: str, ours: float, theirs: float, unit: float, note: str) -> None:
        ratio = theirs / ours
        lines.append([problem, digits(ours * unit), digits(theirs * unit), f"{ratio:.0f}×", note])
        print(" | ".join(lines[-1]), file=sys.stderr, flush=True)
        kept.append([problem, f"≥ {PROMISED[name]:.0f}×", f"{ratio:.0f}×", verdict(ratio >= PROMISED[name])])

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npy"
        for name, table, ours, theirs in (
            ("gaussian", gaussian(), "fisher-z", "fisherz"),
            ("alarm", alarm(), "g2-seen", "gsq"),
        ):
            np.save(file, matrix(table).astype(np.float64 if name == "gaussian" else np.int64))
            mine, pairs = learned(table, ours, arguments.repeats)
            peer = run_worker("tests_of_peers.py", "pc", file, theirs, 0.01, peer=PEER, **one_thread())
            assert peer is not None, "there was no limit"
            other = {tuple(pair) for pair in peer["pairs"]}
            note = f"{len(pairs)} edges, {len(pairs ^ other)} of the skeleton differ"
            row(f"PC, {name}, {ours} (s)", name, mine, peer["cpu"], 1.0, note)
        rows = np.random.default_rng(2).normal(size=(100, 2))
        rows[:, 1] += np.cos(rows[:, 0])
        np.save(file, rows)
        for measure in ("dcov", "hsic"):
            mine = tested(rows, measure, arguments.repeats)
            peer = run_worker("tests_of_peers.py", measure, file, 10, peer=PEER, **one_thread())
            assert peer is not None, "there was no limit"
            note = compared(rows, measure, peer["statistic"])
            row(f"{measure}, 100 rows (ms)", measure, mine, peer["cpu"], 1e3, note)
    header = ["problem", "dagora", "peer", "ratio", ""]
    text = "\n\n".join(
        [markdown_table(header, lines), promises(kept), pinned([PEER]), machine("dagora", "numpy", "scipy")]
    )
    deliver(text, arguments.output)


if __name__ == "__main__":
    main()
