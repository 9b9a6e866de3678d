"""ICA-LiNGAM: independent components give the weights of all equations at once, and these an order.

Components s = W x are found by FastICA (Hyvärinen 1999: all components together, log cosh). Rows of W are
permuted so that its diagonal is large; then w_ji / w_ii is the weight of i → j, each in units of its own
noise, so the units of the columns do not matter. Weights are taken in decreasing size, except those that
close a cycle, which gives an order (Shimizu et al. 2006). Then edges are pruned as for `lingam`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from dagora.base.events import Event
from dagora.graph.topological import topological_order
from dagora.learners.nongaussian.causal_fit import StandardisedColumns, outcome_of_order, read_columns
from dagora.learners.optimise.acyclic_support import keep_acyclic
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.stats.statistics import Statistics

Floats = NDArray[np.float64]

# FastICA has converged when no component turns by more (1 − |cosine|).
TOLERANCE = 1e-7
NOT_CONVERGED = "independent components were still changing after the last step: the order may be a bad one"


def ica_lingam(statistics: Statistics, run: Run, *, max_steps: int = 1000) -> Outcome:
    """Find independent components, an order from them, and the graph along it."""
    columns = read_columns(statistics, run.knowledge, "ica-lingam")
    unmixing, converged = independent_components(columns.values, run, max_steps)
    order = order_of(unmixing, columns)
    found = outcome_of_order(columns, order, run, "an order from independent components")
    if converged or found.status == "time-limit":
        return found
    return replace(found, status="step-limit", warnings=(NOT_CONVERGED, *found.warnings))


def independent_components(values: Floats, run: Run, max_steps: int) -> tuple[Floats, bool]:
    """The matrix W of components W x of standardised rows, and True if it converged."""
    d, n = values.shape
    share, axes = np.linalg.eigh(values @ values.T / n)
    whitening = axes.T / np.sqrt(share)[:, None]
    white = whitening @ values
    turn = orthogonal(np.random.default_rng(run.seed).normal(size=(d, d)))
    for step in range(max_steps):
        if run.budget.exhausted:
            return turn @ whitening, False
        squashed = np.tanh(turn @ white)
        after = orthogonal(squashed @ white.T / n - (1 - squashed**2).mean(axis=1)[:, None] * turn)
        change = float(np.abs(np.abs((after * turn).sum(axis=1)) - 1).max())
        turn = after
        run.on_event(Event("components", step + 1, total=max_steps))
        if change < TOLERANCE:
            return turn @ whitening, True
    return turn @ whitening, False


def orthogonal(matrix: Floats) -> Floats:
    """The orthogonal matrix nearest to a matrix."""
    left, _, right = np.linalg.svd(matrix)
    return np.asarray(left @ right, dtype=np.float64)


def order_of(unmixing: Floats, columns: StandardisedColumns) -> list[int]:
    """An order, causes first: along the largest weights that form no cycle and obey the knowledge."""
    _, rows = linear_sum_assignment(1.0 / np.maximum(np.abs(unmixing), 1e-300).T)
    permuted = unmixing[rows]
    size = np.abs(permuted.T / np.diag(permuted)[:, None])  # [i, j]: by how much the noise of i moves j
    tails, heads = np.nonzero(~np.eye(len(size), dtype=np.bool_))
    rank = np.where(columns.before, np.inf, size)[tails, heads]
    strongest = np.argsort(-rank, kind="stable")
    tails, heads = tails[strongest], heads[strongest]
    kept = keep_acyclic(len(size), tails, heads)
    arrows = np.zeros_like(columns.before)
    arrows[tails[kept], heads[kept]] = True
    order = topological_order(arrows)
    assert order is not None
    return list(order)
