"""You read a paper and want to see for yourself: a row of table 1 of "DAGs with NO TEARS".

Zheng, Aragam, Ravikumar & Xing (2018) minimise F(W) = 1/(2n) ‖X − XW‖² + λ ‖W‖₁ over weights without cycles,
and ask how far their solution is from the exact optimum on graphs of ten nodes. Here: n = 1000, λ = 0.5, two
edges per node (ER2), by our solver and by algorithm 1 of the paper, both before any threshold.
`dagora reproduce notears/table1` measures the whole table.
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
    """Print the optimum, both solutions and their gaps for three random graphs."""
    print("graph  exact optimum  path solver (ours)  gap in %  algorithm 1 (published)  gap in %")
    gaps = []
    for seed in range(3):
        graph = dagora.random_dag("er", 10, 2, seed=seed)
        table = dagora.simulate(graph, "gaussian", 1000, seed=seed).table
        exact = dagora.learn(table, "dynamic", score="lasso", lambda1=LAMBDA)
        found = dagora.learn(table, "notears", lambda1=LAMBDA, threshold=0.0, seed=seed)
        published = dagora.learn(table, "notears", published=True, lambda1=LAMBDA)
        if exact.score is None or found.weights is None or published.raw_weights is None:
            raise SystemExit(f"graph {seed}: {exact.message}; {found.message}; {published.message}")
        optimum = -exact.score
        ours, theirs = (objective(table, weights) for weights in (found.weights, published.raw_weights))
        gaps.append((gap(ours, optimum), gap(theirs, optimum)))
        print(
            f"{seed:5}  {optimum:13.3f}  {ours:18.3f}  {gaps[-1][0]:8.2f}  {theirs:23.3f}  {gaps[-1][1]:8.2f}"
        )
    ours, theirs = np.mean(gaps, axis=0)
    print(f"mean gap of our path solver: {ours:.2f} %; of algorithm 1: {theirs:.2f} %")
    print(f"the paper's, of ten other graphs: {gap(PAPER_SOLUTION, PAPER_OPTIMUM):.2f} %")


if __name__ == "__main__":
    main()
