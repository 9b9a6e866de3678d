"""Effects between proteins by Gaussian processes and by lines, beside what the drugs did.

    python -m benchmarks.protein_effects ../shared/data/sachs/sachs_9_experiments.csv.gz

Both average over the same graphs, drawn by the score BGe from the 853 cells in which nothing was set. Asked
is what setting a protein to the mean that it had under a drug does to another, instead of leaving it at its
own. The pairs are those of docs/tutorials/effects.md (Sachs et al. 2005; the table is no part of dagora).
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd

import dagora

DRUGS = {
    3: ("Akt", "Erk PKA"),
    4: ("PKC", "p38 JNK"),
    5: ("PIP2", "PIP3"),
    6: ("Mek", "Raf"),
    8: ("PKC", "p38 JNK"),
}


def main() -> None:
    """Print a line for each pair, and how many directions and intervals hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table")
    parser.add_argument("--draws", type=int, default=50)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    cells = pd.read_csv(asked.table)
    experiment = cells.pop("experiment")
    levels = np.log2(cells + 0.5)
    watched = levels[experiment == 1]
    levels = (levels - watched.mean()) / watched.std()
    held: dict[str, list[tuple[bool, bool]]] = {"processes": [], "lines": []}
    for number, (x, outcomes) in DRUGS.items():
        moved = levels[experiment == number].mean()
        for y in outcomes.split():
            told = []
            for name, more in (("processes", {"model": "gp", "score": "bge"}), ("lines", {})):
                values = [float(moved[x]), 0.0]
                rows = levels[experiment == 1]
                found = dagora.effect(rows, x, y, levels=values, draws=asked.draws, **more)
                low, high = found.interval
                held[name].append((found.estimate * moved[y] > 0, low <= moved[y] <= high))
                told.append(f"{name} {found.estimates['difference']}")
            print(
                f"{number}: {x} moved by {moved[x]:.2f}, {y} by {moved[y]:.2f}: {', '.join(told)}", flush=True
            )
    for name, found in held.items():
        signs, sizes = np.array(found).sum(axis=0)
        print(f"{name}: {signs} of {len(found)} directions and {sizes} intervals hold")


if __name__ == "__main__":
    main()
