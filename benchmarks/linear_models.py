"""Linear models with known graphs, and how weights learned from their rows are judged."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import dagora
from dag_refit import Matrix, Support, acyclic_support, covariance, distance, refit

GRAPHS = {"ER2": ("er", 2), "SF4": ("sf", 4)}
PENALTY, THRESHOLD = 0.1, 0.3


@dataclass(frozen=True)
class Problem:
    """Rows of a known model, in a file for the workers."""

    kind: str
    size: int
    seed: int
    file: Path
    truth: Support
    moments: Matrix


@dataclass(frozen=True)
class Judged:
    """Weights by our yardstick; `unlimited` is F_DAG of the support before the threshold, where known."""

    f: float
    shd: int
    edges: int
    cut: int
    unlimited: float | None = None


def draw_problem(folder: Path, kind: str, size: int, rows: int, seed: int) -> Problem:
    """Draw a graph, weights on ±[0.5, 2] and rows with noise N(0, 1), and write the rows."""
    family, degree = GRAPHS[kind]
    graph = dagora.random_dag(family, size, degree, seed)
    simulation = dagora.simulate(graph, "gaussian", rows, seed)
    matrix = np.column_stack(simulation.table.columns)
    file = folder / f"{kind}_{size}_{rows}_{seed}.npy"
    np.save(file, matrix)
    return Problem(kind, size, seed, file, graph.to_numpy(), covariance(matrix))


def judge(problem: Problem, after: Matrix, before: Matrix | None = None) -> Judged:
    """Cut, refit and compare with the truth."""
    kept = acyclic_support(after)
    return Judged(
        f=refit(problem.moments, kept, PENALTY)[0],
        shd=distance(kept, problem.truth),
        edges=int(kept.sum()),
        cut=int(np.count_nonzero(after) - kept.sum()),
        unlimited=None if before is None else refit(problem.moments, acyclic_support(before), PENALTY)[0],
    )
