"""Adjustment identification distances beside gadjid's: the same counts, and CPU seconds on one thread.

    python benchmarks/peers.py gadjid
    python benchmarks/distances.py [--nodes 50 200 500 1000] [--repeats 5] [--output FILE.md]

Pairs of random DAGs with 2 edges per node. The seconds include reading the adjacency matrix.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

import dagora
from dagora.graph.adjustment_distances import RULES, adjustment_distance
from report import deliver, digits, machine, markdown_table, promises, verdict
from runs import one_thread, run_worker

PROMISE_NODES, PROMISE_RATIO = 500, 2.0


def edges(graph: dagora.DAG) -> dict[str, object]:
    """A graph for the worker."""
    return {"nodes": len(graph), "edges": np.argwhere(graph.to_numpy()).tolist()}


def measure(guess: dagora.DAG, truth: dagora.DAG, repeats: int) -> tuple[list[int], list[float]]:
    """Our counts, and the median CPU seconds of each rule."""
    counts, seconds = [], []
    for rule in RULES:
        times = []
        for _ in range(repeats + 1):
            start = time.process_time()
            found = adjustment_distance(guess, truth, rule)
            times.append(time.process_time() - start)
        counts.append(found)
        seconds.append(median(times[1:]))
    return counts, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", nargs="+", type=int, default=[50, 200, 500, 1000])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    pairs = [[dagora.random_dag("er", size, 2, seed) for seed in (1, 2)] for size in options.nodes]
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder) / "job.json"
        repeated = [[edges(graph) for graph in pair] for pair in pairs for _ in range(options.repeats)]
        job.write_text(json.dumps({"pairs": repeated}))
        theirs = run_worker("distances_gadjid.py", job, peer="gadjid", RAYON_NUM_THREADS="1", **one_thread())
    assert theirs is not None
    rows, kept = [], []
    for k, pair in enumerate(pairs):
        counts, seconds = measure(*pair, options.repeats)
        here = slice(k * options.repeats, (k + 1) * options.repeats)
        assert theirs["counts"][here][0] == counts, "other counts than gadjid's"
        for number, rule in enumerate(RULES):
            other = median(times[number] for times in theirs["seconds"][here])
            ratio = seconds[number] / other
            rows.append([str(len(pair[0])), rule, digits(seconds[number]), digits(other), f"{ratio:.2f}"])
            if len(pair[0]) == PROMISE_NODES and rule == "parent":
                promised = f"at most {PROMISE_RATIO:g} × gadjid's seconds"
                kept.append(
                    ["parent, 500 nodes", promised, f"{ratio:.2f} ×", verdict(ratio <= PROMISE_RATIO)]
                )
    table = markdown_table(["nodes", "rule", "dagora, s", "gadjid, s", "ratio"], rows)
    deliver("\n\n".join([machine("dagora", "numba"), table, promises(kept)]), options.output)


if __name__ == "__main__":
    main()
