"""Columns belong to two owners who may not show each other a value: private K2.

A clinic knows who smokes and who coughs, a laboratory knows tar and X-rays, of partly the same people. They
learn the network of the people that both know. Both run in this process here, with the messages of a real
run; `dagora private` runs them on machines of their own. SECURITY.md says who learns what.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import dagora
from dagora.api.learn_private import learn_private

ORDER = ("smoker", "tar", "cough", "xray")


def people(rows: int, seed: int) -> NDArray[np.int64]:
    """Number, smoker, tar, cough and xray of each person."""
    rng = np.random.default_rng(seed)
    smoker = rng.random(rows) < 0.4
    tar = rng.random(rows) < np.where(smoker, 0.8, 0.1)
    cough = rng.random(rows) < np.where(tar, 0.7, 0.2)
    xray = rng.random(rows) < np.where(tar, 0.9, 0.05)
    return np.column_stack([np.arange(rows), smoker, tar, cough, xray]).astype(int)


def table(rows: NDArray[np.int64], *names: str) -> dagora.Table:
    """A table of some columns, all of them discrete."""
    places = [("ID", *ORDER).index(name) for name in names]
    return dagora.Table.from_numpy(rows[:, places], names=names, discrete=names)


def main() -> None:
    """Learn together, and compare with K2 on the joined rows, which nobody would have in earnest."""
    rows = people(1200, seed=1)
    clinic = table(rows[:1000], "ID", "smoker", "cough")
    laboratory = table(rows[200:], "ID", "tar", "xray")
    result = learn_private(clinic, laboratory, key="ID", order=",".join(ORDER), max_parents=2)
    print(f"{result.stats['rows']:.0f} people in common, {result.seconds:.1f} s")
    for tail, head in result.graph.edges:
        print(f"  {tail} → {head}")
    print("Who learned what:")
    for line in result.settings["leakage"]:
        print(f"  {line}")

    joined = dagora.learn(table(rows[200:1000], *ORDER), "k2", score="k2", max_parents=2)
    print(f"same edges as on the joined rows: {set(result.graph.edges) == set(joined.graph.edges)}")


if __name__ == "__main__":
    main()
