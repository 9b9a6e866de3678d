"""BOSS against causal-learn's BOSS, GRaSP and GES, in one run.

    OMP_NUM_THREADS=1 python benchmarks/boss.py [--tables 3] [--limit 900] [--output FILE.md]

BOSS: random graphs of 50 nodes and 2 edges a node, linear relations, normal noise, 1000 rows; CPU seconds of
BOSS with one start and with ten, and of causal-learn's BOSS, GRaSP and GES with the same penalty (BIC's); and
the BIC that each reaches, all computed by us. A peer that is not done after `--limit` CPU seconds is ended,
and its cell says so. The peer is in `.bench/independence` (`python benchmarks/peers.py independence`).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np

import dagora
from dagora.graph.cpdag import CPDAG
from dagora.scores.local_score import TIE
from peers import pinned, require
from report import deliver, digits, machine, markdown_table, promises, verdict
from runs import one_thread, run_worker

PEERS = ["independence"]
NODES, ROWS, REPEATS = 50, 1000, 3
FASTER = 50.0


def timed(job: Callable[[], Any]) -> tuple[Any, float]:
    """The result, and the median of CPU seconds."""
    times = []
    for _ in range(REPEATS):
        start = process_time()
        found = job()
        times.append(process_time() - start)
    return found, median(times)


def table_of(seed: int, noise: str) -> dagora.Table:
    """Rows of a linear model."""
    return dagora.simulate(dagora.random_dag("er", NODES, 2, seed=seed), noise, ROWS, seed=seed).table


def by_peer(method: str, table: dagora.Table, file: Path, limit: float) -> dict[str, Any] | None:
    """What a peer found in a process of its own; None where it was not done after `limit` CPU seconds."""
    np.save(file, np.column_stack(table.columns))
    peer = "lingam" if method == "lingam" else "independence"
    return run_worker("orders_of_peers.py", method, file, limit, peer=peer, **one_thread())


def orders_searched(tables: int, file: Path, limit: float) -> tuple[list[list[str]], list[list[str]]]:
    """A line per table, and the promises."""
    lines, ratios, above, compared = [], [], [], 0
    dagora.learn(table_of(0, "gaussian"), "boss", starts=1)  # kernels are compiled
    for seed in range(1, tables + 1):
        table = table_of(seed, "gaussian")
        one, quick = timed(lambda table=table: dagora.learn(table, "boss", starts=1, penalty=1.0))
        ten, slow = timed(lambda table=table: dagora.learn(table, "boss", penalty=1.0))
        line = [str(seed), digits(quick), f"{one.score:.1f}", digits(slow), f"{ten.score:.1f}"]
        scores = []
        for method in ("boss", "grasp", "ges"):
            found = by_peer(method, table, file, limit)
            if found is None:
                line += [f"not done after {limit:.0f} s", ""]
                if method == "boss":
                    ratios.append((limit / quick, limit / slow))  # at least
                continue
            graph = CPDAG.from_numpy(np.array(found["marks"], dtype=np.bool_), table.names)
            scores.append(dagora.score(table, graph.extension(), score="bic-gaussian"))
            line += [digits(found["cpu"]), f"{scores[-1]:.1f}"]
            if method == "boss":
                ratios.append((found["cpu"] / quick, found["cpu"] / slow))
        above.append(ten.score >= max(scores, default=-np.inf) - TIE * abs(ten.score))
        compared += len(scores)
        lines.append(line)
        print(" | ".join(line), file=sys.stderr, flush=True)
    starts = [median(pair[k] for pair in ratios) for k in (0, 1)]
    kept = [
        [f"BOSS, {label}", f"≥ {FASTER:.0f}×", f"{ratio:.0f}×", verdict(ratio >= FASTER)]
        for label, ratio in zip(("one start", "ten starts"), starts, strict=True)
    ]
    held = f"{sum(above)} of {tables} tables, {compared} of {3 * tables} peers' runs done"
    kept.append(["BIC, ten starts", "not below any of the three peers", held, verdict(all(above))])
    return lines, kept


def main() -> None:
    parser = argparse.ArgumentParser(description="BOSS against its peers.")
    parser.add_argument("--tables", type=int, default=3)
    parser.add_argument("--limit", type=float, default=900.0, help="CPU seconds of a peer's run")
    parser.add_argument("--output", type=Path, help="write the report to this file too")
    arguments = parser.parse_args()
    require(PEERS)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npy"
        lines, kept = orders_searched(arguments.tables, file, arguments.limit)
    header = [
        "table", "boss, one start, s", "BIC", "ten starts, s", "BIC", "causal-learn BOSS, s", "BIC",
        "GRaSP, s", "BIC", "GES, s", "BIC",
    ]  # fmt: skip
    intro = "CPU seconds; the BIC of every graph is computed by dagora, higher is better."
    parts = [intro, markdown_table(header, lines), promises(kept), pinned(PEERS)]
    deliver("\n\n".join([*parts, machine("dagora", "numpy", "scipy")]), arguments.output)


if __name__ == "__main__":
    main()
