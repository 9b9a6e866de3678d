"""You read a paper and want to see for yourself: a row of table 1 of "DAGs with NO TEARS".

Zheng, Aragam, Ravikumar & Xing (2018) minimise F(W) = 1/(2n) ‖X − XW‖² + λ ‖W‖₁ over weights without cycles,
and ask how far their solution is from the exact optimum on graphs of ten nodes. Here: n = 1000, λ = 0.5, two
edges per node (ER2). `dagora reproduce notears/table1` measures the whole table.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import dagora

LAMBDA = 0.5
PAPER_OPTIMUM, PAPER_SOLUTION = 13.32, 13.46


def objective(table: dagora.Table, weights: NDArray[np.float64]) -> float:
    """F at some weights, on centred columns."""
    rows = np.column_stack(table.columns)
    rows = rows - rows.mean(axis=0)
    return float(((rows - rows @ weights) ** 2).sum() / (2 * len(rows)) + LAMBDA * np.abs(weights).sum())


def gap(solution: float, optimum: float) -> float:
    """How far a solution is above the optimum, in per cent; what is left of rounding counts as none."""
    return max(0.0, 100 * (solution / optimum - 1))


def main() -> None:
    """Print the optimum, our solution and the gap between them for three random graphs."""
    print("graph  exact optimum  NOTEARS  gap in %")
    gaps = []
    for seed in range(3):
        graph = dagora.random_dag("er", 10, 2, seed=seed)
        table = dagora.simulate(graph, "gaussian", 1000, seed=seed).table
        exact = dagora.learn(table, "dynamic", score="lasso", lambda1=LAMBDA)
        found = dagora.learn(table, "notears", lambda1=LAMBDA, threshold=0.0, seed=seed)
        if exact.score is None or found.weights is None or exact.status != "optimal":
            raise SystemExit(f"graph {seed}: {exact.message}; {found.message}")
        optimum, solution = -exact.score, objective(table, found.weights)
        gaps.append(gap(solution, optimum))
        print(f"{seed:5}  {optimum:13.3f}  {solution:7.3f}  {gaps[-1]:8.2f}")
    print(f"mean gap: {np.mean(gaps):.2f} %; the paper's: {gap(PAPER_SOLUTION, PAPER_OPTIMUM):.2f} %")


if __name__ == "__main__":
    main()
