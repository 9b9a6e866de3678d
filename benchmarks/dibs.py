"""How much of a posterior DiBS+ finds, by the number of its particles, against the exact posterior.

    python benchmarks/dibs.py [--particles 1 30 100] [--tables 10] [--output FILE.md]

Gaussian tables of 4 columns and 100 rows (ER graphs, 1.5 edges a node), scored by BGe. "Missed" is the
probability of all graphs that no particle became; "off" the largest error of an edge's probability.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from time import process_time

import numpy as np
from scipy.special import logsumexp

import dagora
from report import deliver, digits, machine, markdown_table

NODES, DEGREE, ROWS, STEPS = 4, 1.5, 100, 500
HEADER = ("particles", "missed, median", "missed, most", "off, median", "off, most", "CPU s, median")


def measure(particles: int, seed: int) -> tuple[float, float, float]:
    """What was missed, the largest error of an edge, and CPU seconds, on one table."""
    graph = dagora.random_dag("er", NODES, DEGREE, seed=seed)
    table = dagora.simulate(graph, "gaussian", ROWS, seed=seed).table
    exact = dagora.sample(table, "exact", draws=2)
    start = process_time()
    found = dagora.sample(table, "dibs", draws=particles, steps=STEPS, seed=seed)
    taken = process_time() - start
    missed = 1.0 - np.exp(logsumexp(found.draws.log_scores) - exact.stats["log_sum"])
    off = np.abs(found.edge_probability - exact.edge_probability).max()
    return float(missed), float(off), taken


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description="DiBS+ against the exact posterior.")
    parser.add_argument("--particles", nargs="+", type=int, default=[1, 30, 100])
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--output", type=Path, metavar="FILE.md")
    options = parser.parse_args()
    lines = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dagora.DagoraWarning)
        for particles in options.particles:
            missed, off, cpu = zip(*(measure(particles, seed) for seed in range(options.tables)), strict=True)
            numbers = (np.median(missed), max(missed), np.median(off), max(off))
            lines.append([str(particles), *(f"{number:.2f}" for number in numbers), digits(np.median(cpu))])
    text = [
        "## DiBS+ against the exact posterior",
        f"{options.tables} tables of {NODES} columns and {ROWS} rows, BGe; {STEPS} steps.",
        markdown_table(HEADER, lines),
        machine("dagora", "numpy"),
    ]
    deliver("\n\n".join(text), options.output)


if __name__ == "__main__":
    main()
