"""Distances of the graphs of a posterior to a known truth: `graph.metrics` for many graphs at once.

Each pair of nodes is correct, reversed, extra or missing; the structural Hamming distance is the sum of the
last three, true positives are the correct ones, false positives the reversed and the extra ones. (`hamming`
counts directed edges that differ, and so a reversed one twice.) Expected values (E-SHD, E-TP, E-FP; Lorch et
al. 2021) are their means under the posterior; those of counts follow from edge probabilities alone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dagora.base.options import find
from dagora.graph.equivalence import cpdag_matrix

Matrices = NDArray[np.bool_]
Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


def verdicts(graphs: Matrices, truth: Matrices) -> tuple[Counts, Counts, Counts, Counts]:
    """Numbers of correct, reversed, extra and missing pairs of each graph."""
    edge = graphs | graphs.transpose(0, 2, 1)
    true_edge = truth | truth.T
    alike = graphs == truth
    same = alike & alike.transpose(0, 2, 1)
    shared = edge & true_edge
    correct, swapped, extra, missing = (
        pairs.sum(axis=(1, 2), dtype=np.int64) // 2
        for pairs in (shared & same, shared & ~same, edge & ~true_edge, true_edge & ~edge)
    )
    return correct, swapped, extra, missing


def ratio(numerator: Counts, denominator: Counts) -> Floats:
    """Quotients; 0 where the denominator is."""
    return np.where(denominator > 0, numerator / np.maximum(denominator, 1), 0.0)


# Functions of the numbers of correct, reversed, extra and missing pairs, and of pairs that the truth leaves
# apart.
METRICS: dict[str, Callable[[Counts, Counts, Counts, Counts, Counts], Counts | Floats]] = {
    "shd": lambda _right, swapped, extra, missing, _absent: swapped + extra + missing,
    "hamming": lambda _right, swapped, extra, missing, _absent: 2 * swapped + extra + missing,
    "correct": lambda right, _swapped, _extra, _missing, _absent: right,
    "wrong": lambda _right, swapped, extra, _missing, _absent: swapped + extra,
    "reversed": lambda _right, swapped, _extra, _missing, _absent: swapped,
    "extra": lambda _right, _swapped, extra, _missing, _absent: extra,
    "missing": lambda _right, _swapped, _extra, missing, _absent: missing,
    "tpr": lambda right, swapped, _extra, missing, _absent: ratio(right, right + swapped + missing),
    "fdr": lambda right, swapped, extra, _missing, _absent: ratio(swapped + extra, right + swapped + extra),
    "fpr": lambda _right, swapped, extra, _missing, absent: ratio(swapped + extra, absent),
    "f1": lambda right, swapped, extra, missing, _absent: ratio(
        2 * right, 2 * right + 2 * swapped + extra + missing
    ),
}


def metric(name: str, graphs: Matrices, truth: Matrices) -> Floats:
    """One number for each graph.

    >>> chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> metric("shd", np.array([chain, chain.T]), chain)
    array([0., 2.])
    """
    chosen = find("metric", name, METRICS)
    found = verdicts(graphs, truth)
    right, swapped, _, missing = found
    nodes = graphs.shape[1]
    absent = nodes * (nodes - 1) // 2 - (right + swapped + missing)
    return np.asarray(chosen(*found, absent), dtype=np.float64)


# Metrics that are sums over pairs of nodes: their posterior means follow from edge probabilities.
COUNTS = ("shd", "hamming", "correct", "wrong", "reversed", "extra", "missing")


def expected_count(name: str, probability: Floats, truth: NDArray[np.bool_]) -> float:
    """Mean of one of `COUNTS` against a true DAG, from edge probabilities ([i, j] is i → j).

    >>> expected_count("shd", np.array([[0, 0.75], [0.25, 0]]), np.array([[0, 1], [0, 0]], dtype=bool))
    0.25
    """
    either = probability + probability.T
    correct, swapped = probability[truth].sum(), probability.T[truth].sum()
    extra = either[~(truth | truth.T)].sum() / 2
    missing = (1.0 - either)[truth].sum()
    return float(METRICS[name](correct, swapped, extra, missing, np.zeros(0, dtype=np.int64)))


def read_as(kind: str, graphs: Matrices) -> Matrices:
    """Graphs as they stand (`dag`), without directions (`skeleton`), or their classes (`cpdag`)."""
    return find("way to compare graphs", kind, READINGS)(graphs)


READINGS: dict[str, Callable[[Matrices], Matrices]] = {
    "dag": lambda graphs: graphs,
    "skeleton": lambda graphs: graphs | graphs.transpose(0, 2, 1),
    "cpdag": lambda graphs: np.array([cpdag_matrix(graph) for graph in graphs], dtype=np.bool_),
}
