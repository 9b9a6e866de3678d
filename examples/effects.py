"""Predict what drugs do from cells that were only watched, and hold it against cells that had the drug.

The table of 11 proteins (Sachs et al. 2005) is no part of dagora: DAGORA_DATA names the folder that has it.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd

import dagora

FILE = Path(os.environ.get("DAGORA_DATA", "../shared/data")) / "sachs" / "sachs_9_experiments.csv.gz"
TARGETS = {3: "Akt", 4: "PKC", 5: "PIP2", 6: "Mek", 8: "PKC", 9: "PKA"}  # what the drug acts on
MOVED = 0.2  # standard deviations by which something has moved
POSSIBLE = 1 / 3  # probability from which a protein is a possible cause


def judge(levels: pd.DataFrame, experiment: pd.Series) -> None:
    """Effects from the first experiment, times the change of the target, beside the observed changes."""
    found = dagora.all_effects(levels[experiment == 1], draws=2000)
    signs, sizes, still = [], [], []
    for number, target in TARGETS.items():
        change, x = levels[experiment == number].mean(), found.names.index(target)
        print(f"experiment {number}: {target} itself moved by {change[target]:.2f} sd")
        for y, name in enumerate(found.names):
            if found.cause_probability[x, y] < POSSIBLE and name != target:
                still.append(abs(change[name]) < MOVED)
            elif abs(change[target]) >= MOVED and name != target:
                ends = (found.mean, found.low, found.high)
                mean, low, high = (float(change[target] * end[x, y]) for end in ends)
                signs.append(mean * change[name] > 0)
                sizes.append(min(low, high) <= change[name] <= max(low, high))
                print(
                    f"  {name}: predicted {mean:.2f} [{min(low, high):.2f}, {max(low, high):.2f}], "
                    f"observed {change[name]:.2f}: {'same' if signs[-1] else 'other'} direction"
                )
    print(f"possible causes: {sum(signs)} of {len(signs)} directions and {sum(sizes)} intervals hold")
    print(f"no causes, it said: {sum(still)} of {len(still)} stayed within {MOVED} sd")


def main() -> None:
    """Levels as logarithms, in standard deviations of the watched cells."""
    if not FILE.exists():
        print(f"{FILE} is not there: set DAGORA_DATA to the folder that has it")
        return
    cells = pd.read_csv(FILE)
    experiment = cells.pop("experiment")
    levels = np.log2(cells + 0.5)
    judge((levels - levels[experiment == 1].mean()) / levels[experiment == 1].std(), experiment)


if __name__ == "__main__":
    main()
