"""Operate on a horse with colic? The effect of an operation on survival, with and without a lesion.

The table (UCI, Horse Colic) is no part of dagora: DAGORA_DATA names the folder that has it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd

import dagora

FILE = Path(os.environ.get("DAGORA_DATA", "../shared/data")) / "tables" / "horse_colic.csv.gz"
NAMES = {"a24": "lesion", "a7": "extremities", "a11": "pain", "a1": "surgery", "a23": "outcome"}
WORDS = {
    "lesion": {1: "yes", 2: "no"},
    "extremities": {1: "warm", 2: "warm", 3: "cold", 4: "cold"},
    "pain": {1: "mild", 2: "mild", 3: "mild", 4: "severe", 5: "severe"},
    "surgery": {1: "yes", 2: "no"},
    "outcome": {1: "lived", 2: "died", 3: "died"},
}
GRAPH = dagora.DAG(
    NAMES.values(),
    [
        *[("lesion", other) for other in ("extremities", "pain", "surgery", "outcome")],
        *[(sign, after) for sign in ("extremities", "pain") for after in ("surgery", "outcome")],
        ("surgery", "outcome"),
    ],
)


def main() -> None:
    """Each horse once (a3 is its number), complete in these columns."""
    if not FILE.exists():
        print(f"{FILE} is not there: set DAGORA_DATA to the folder that has it")
        return
    horses = pd.read_csv(FILE).drop_duplicates("a3")[list(NAMES)].rename(columns=NAMES).dropna()
    for name, words in WORDS.items():
        horses[name] = horses[name].map(words)
    for lesion in ("yes", "no"):
        asked = {"event": "lived", "levels": ("yes", "no"), "given": {"lesion": lesion}}
        print(dagora.effect(horses, "surgery", "outcome", graph=GRAPH, **asked).to_text())


if __name__ == "__main__":
    main()
