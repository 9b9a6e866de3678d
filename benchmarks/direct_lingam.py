"""DirectLiNGAM: time against the package lingam, and how far its graphs are from the truth.

    OMP_NUM_THREADS=1 python benchmarks/direct_lingam.py [--tables 3] [--graphs 20] [-h]

Time: random graphs of 50 nodes and 2 edges a node, linear relations, exponential noise, 1000 rows; CPU
seconds of our whole method and of lingam's, and whether the orders of the columns are equal. Truth: random
graphs of 10 nodes and 2 edges a node, the same noise and rows. The peer is in `.bench/lingam`
(`python benchmarks/peers.py lingam`).
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from statistics import mean, median

import dagora
from boss import by_peer, table_of, timed
from dagora.graph.metrics import compare
from dagora.learners.nongaussian.causal_fit import read_columns
from dagora.learners.nongaussian.direct_lingam import direct_order
from dagora.learners.run import Run
from dagora.stats.table import TableStatistics
from peers import pinned, require
from report import deliver, digits, machine, markdown_table, promises, verdict
from runs import note

PEER, NOISE = "lingam", "exponential"
FASTER, NEAR = 15.0, 2
NODES, ROWS = 10, 1000


def against_the_peer(tables: int, file: Path, limit: float) -> tuple[list[list[str]], list[str]]:
    """A line per table, and the promise."""
    dagora.learn(table_of(0, NOISE), "lingam")  # kernels are compiled
    lines, ratios, equal = [], [], []
    for seed in range(1, tables + 1):
        note(f"table {seed}")
        table = table_of(seed, NOISE)
        columns = read_columns(TableStatistics(table), dagora.Knowledge(), "lingam")
        order = direct_order(columns, Run())
        _, ours = timed(lambda table=table: dagora.learn(table, "lingam"))
        found = by_peer(PEER, table, file, limit)
        if found is None:
            lines.append([str(seed), digits(ours), f"not done after {limit:.0f} s", "", ""])
            continue
        ratios.append(found["cpu"] / ours)
        equal.append(order == found["order"])
        lines.append(
            [
                str(seed),
                digits(ours),
                digits(found["cpu"]),
                f"{ratios[-1]:.0f}×",
                "yes" if equal[-1] else "no",
            ]
        )
    measured = (
        f"{median(ratios):.0f}×, {sum(equal)} of {tables} orders equal" if ratios else "lingam not done"
    )
    met = bool(ratios) and median(ratios) >= FASTER and sum(equal) == tables
    return lines, ["DirectLiNGAM, time", f"≥ {FASTER:.0f}×, same order", measured, verdict(met)]


def against_the_truth(graphs: int) -> list[str]:
    """The promise about small graphs."""
    distances = []
    for seed in range(graphs):
        truth = dagora.random_dag("er", NODES, 2, seed=seed)
        table = dagora.simulate(truth, NOISE, ROWS, seed=seed).table
        distances.append(compare(dagora.learn(table, "lingam").graph, truth).shd)
    near = sum(distance <= NEAR for distance in distances)
    measured = (
        f"mean {mean(distances):.2g}, median {median(distances):g}, most {max(distances)}; {near} of {graphs}"
    )
    return [f"SHD at {NODES} nodes", f"≤ {NEAR}", measured, verdict(near == graphs)]


def main() -> None:
    parser = argparse.ArgumentParser(description="DirectLiNGAM against its peer and the truth.")
    parser.add_argument("--tables", type=int, default=3)
    parser.add_argument("--graphs", type=int, default=20)
    parser.add_argument("--limit", type=float, default=300.0, help="CPU seconds of a peer's run")
    parser.add_argument("--output", type=Path, help="write the report to this file too")
    arguments = parser.parse_args()
    require([PEER])
    with tempfile.TemporaryDirectory() as folder:
        lines, promise = against_the_peer(arguments.tables, Path(folder) / "rows.npy", arguments.limit)
    header = ["table", "dagora, s", "lingam, s", "times as fast", "same order"]
    kept = promises([promise, against_the_truth(arguments.graphs)])
    parts = ["CPU seconds, weights included.", markdown_table(header, lines), kept, pinned([PEER])]
    deliver("\n\n".join([*parts, machine("dagora", "numpy", "scipy")]), arguments.output)


if __name__ == "__main__":
    main()
