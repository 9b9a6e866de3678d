"""The table has holes: learn from the cells that were seen, then fill the holes and say how sure each is.

Rain wets the street, and people slip on it. A fifth of all cells is lost by chance after the rows were made,
so that filled cells can be held against those that were lost.
"""

from __future__ import annotations

import numpy as np

import dagora

TRUTH = dagora.DAG(["rain", "wet", "slip"], [("rain", "wet"), ("wet", "slip")])


def days(rows: int, seed: int) -> dagora.Table:
    """Rain, a wet street, somebody who slipped: 0 or 1."""
    rng = np.random.default_rng(seed)
    rain = rng.random(rows) < 0.3
    wet = rng.random(rows) < np.where(rain, 0.9, 0.1)
    slip = rng.random(rows) < np.where(wet, 0.6, 0.05)
    rows_of_all = np.column_stack([rain, wet, slip]).astype(int)
    return dagora.Table.from_numpy(rows_of_all, names=TRUTH.nodes, discrete=TRUTH.nodes)


def main() -> None:
    """Learn from what was seen, then fill the holes."""
    whole = days(1000, seed=1)
    holes = dagora.punch_holes(whole, "mcar:0.2", seed=2)
    result = dagora.learn(holes)
    print(result.message)
    print(f"wrong edges, as a class of equivalent graphs: {dagora.compare(result.graph, TRUTH).cpdag.shd}")

    network = dagora.fit(result, holes, missing="model")
    filled = dagora.impute(network, holes)
    right = sum(
        int(cell.value) == whole.codes(TRUTH.nodes.index(cell.column))[cell.row - 1] for cell in filled.cells
    )
    print(f"filled cells that are what was lost: {right} of {len(filled.cells)}")
    first = filled.cells[0]
    print(f"row {first.row}, {first.column}: {first.value}, with probability {first.probability:.2f}")


if __name__ == "__main__":
    main()
