"""NOTEARS with published=true beside an independent implementation of algorithm 1, on the same rows.

    python benchmarks/notears_published.py [--tables 20] [--first-seed 700] [--output FILE.md]

ER2 and SF4 graphs in turn, d = 10, n = 1000, λ = 0 and 0.1, ω = 0.3. The other implementation is the oracle
of the tests, `tests/learners/optimise/algorithm_one.py`: it shares no code with the library.
Both have SciPy's L-BFGS-B, and rounding in its line searches can decide in which local minimum either ends.
"""

from __future__ import annotations

import argparse
import runpy
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np

import dagora
from report import deliver, digits, machine, markdown_table, promises, verdict
from runs import note

ORACLE = Path(__file__).parents[1] / "tests" / "optimise" / "algorithm_one.py"
GRAPHS = (("er", 2.0), ("sf", 4.0))
NODES, ROWS, PENALTIES, THRESHOLD = 10, 1000, (0.0, 0.1), 0.3
TABLES, FIRST_SEED = 20, 700
WITHIN, SAME, TIMES = 0.005, 0.8, 1.5


@dataclass(frozen=True)
class Pair:
    """F before the threshold and CPU seconds of both, and whether the supports after it are the same."""

    ours: float
    theirs: float
    cpu_ours: float
    cpu_theirs: float
    same: bool


def compare(seed: int, lambda1: float) -> Pair:
    """Both on one table."""
    oracle = runpy.run_path(str(ORACLE))
    kind, degree = GRAPHS[seed % len(GRAPHS)]
    graph = dagora.random_dag(kind, NODES, degree, seed=seed)
    table = dagora.simulate(graph, "gaussian", ROWS, seed=seed).table
    rows = np.column_stack(table.columns)
    started = process_time()
    ours = dagora.learn(table, "notears", published=True, lambda1=lambda1, threshold=THRESHOLD)
    between = process_time()
    theirs = oracle["algorithm_one"](rows, lambda1)
    ended = process_time()
    if ours.raw_weights is None:
        raise AssertionError("the published algorithm keeps its raw weights")
    same = np.array_equal(np.abs(ours.raw_weights) >= THRESHOLD, np.abs(theirs) >= THRESHOLD)
    return Pair(
        ours.stats["objective_before_threshold"],
        oracle["program_value"](rows, theirs, lambda1),
        between - started,
        ended - between,
        same,
    )


def main() -> None:
    """Run both on all tables and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tables", type=int, default=TABLES)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    compare(given.first_seed, 0.1)  # so that no time has the compilation
    rows, kept = [], []
    for lambda1 in PENALTIES:
        pairs = []
        for seed in range(given.first_seed, given.first_seed + given.tables):
            pairs.append(compare(seed, lambda1))
            note(f"λ = {lambda1:g}, seed {seed}: {pairs[-1]}")
        ours, theirs = (
            float(np.mean([getattr(pair, name) for pair in pairs])) for name in ("ours", "theirs")
        )
        same = sum(pair.same for pair in pairs)
        cpu_ours, cpu_theirs = (
            sum(getattr(pair, name) for pair in pairs) for name in ("cpu_ours", "cpu_theirs")
        )
        rows.append([
            f"{lambda1:g}", str(len(pairs)), f"{ours:.4f}", f"{theirs:.4f}", f"{same}",
            digits(cpu_ours), digits(cpu_theirs),
        ])  # fmt: skip
        label = f"λ = {lambda1:g}"
        off = abs(ours / theirs - 1)
        kept += [
            [label, f"mean F within {WITHIN:.1%}", f"{off:.2%}", verdict(off <= WITHIN)],
            [label, f"same support on {SAME:.0%}", f"{same / len(pairs):.0%}",
             verdict(same >= SAME * len(pairs))],
            [label, f"at most {TIMES} × the CPU", f"{cpu_ours / cpu_theirs:.2f} ×",
             verdict(cpu_ours <= TIMES * cpu_theirs)],
        ]  # fmt: skip
    header = ("λ", "tables", "mean F, ours", "mean F, oracle", "same support", "CPU s, ours", "CPU s, oracle")
    text = "\n\n".join([
        "## NOTEARS as published", machine("dagora", "scipy"), markdown_table(header, rows), promises(kept),
    ])  # fmt: skip
    deliver(text, given.output)


if __name__ == "__main__":
    main()
