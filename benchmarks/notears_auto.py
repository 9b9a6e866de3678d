"""NOTEARS with lambda1=auto and threshold=auto beside the fixed 0.1 and 0.3, on the cells of figure 3.

    python benchmarks/notears_auto.py [--sizes 10 20] [--runs 10] [--first-seed 0] [--output FILE.md]

A cell is a kind of graph, d, n and noise; its SHD is the mean over its graphs. The criterion was chosen on
other seeds (`dagora.learners.optimise.path.choosing` says which and why).
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

import numpy as np

import dagora
from dagora.graph.metrics import compare
from dagora.papers.notears.contenders import GRAPHS, simulate_cell
from dagora.papers.notears.fig3 import NOISES, ROWS
from report import deliver, machine, markdown_table, promises, verdict
from runs import note

SHARE = 0.75
CHOICES = {"auto": {"lambda1": "auto", "threshold": "auto"}, "fixed": {"lambda1": 0.1, "threshold": 0.3}}


def distances(graph: str, d: int, n: int, noise: str, seed: int) -> list[int]:
    """SHD of each choice on one table."""
    drawn = simulate_cell({"graph": graph, "d": d, "n": n, "noise": noise, "seed": seed})
    found = [dagora.learn(drawn.table, "notears", seed=seed, **options) for options in CHOICES.values()]
    return [compare(result.graph, drawn.graph).dag.shd for result in found]


def main() -> None:
    """Run all cells and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 20])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    seeds = range(given.first_seed, given.first_seed + given.runs)
    rows, kept = [], 0
    for d, n, graph, noise in product(given.sizes, ROWS, GRAPHS, NOISES):
        auto, fixed = np.mean([distances(graph, d, n, noise, seed) for seed in seeds], axis=0)
        kept += auto <= fixed
        rows.append([graph, str(d), str(n), noise, f"{auto:.2f}", f"{fixed:.2f}"])
        note(" ".join(rows[-1]))
    share = kept / len(rows)
    said = f"SHD of auto not above fixed in {SHARE:.0%} of the cells"
    promise = [["figure 3", said, f"{kept} of {len(rows)}", verdict(share >= SHARE)]]
    text = "\n\n".join([
        "## NOTEARS, λ and ω from the data", machine("dagora"),
        f"SHD, means over {given.runs} graphs.",
        markdown_table(("graph", "d", "n", "noise", "auto", "fixed (0.1, 0.3)"), rows), promises(promise),
    ])  # fmt: skip
    deliver(text, given.output)


if __name__ == "__main__":
    main()
