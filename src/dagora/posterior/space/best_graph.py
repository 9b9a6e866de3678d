"""A graph of high weight in a search space, by a search over orders.

A family is left out if one of its subsets has as large a weight, and could replace it in any graph. The
remaining families are candidates, as in any other search over orders.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import ignore
from dagora.graph.bits import pack
from dagora.learners.candidates.candidates import Candidates, ParentSets, best_first
from dagora.learners.run import Run
from dagora.learners.search.order.order_search import order_search
from dagora.posterior.space.family_tables import FamilyTables

# The search ends after this many perturbations without gain: a short search, since the graph is only a hint.
PATIENCE = 200


def best_graph(tables: FamilyTables, run: Run) -> NDArray[np.bool_]:
    """Adjacency of the heaviest graph found, [i, j] is i → j."""
    outcome = order_search(
        heavy_candidates(tables), replace(run, on_event=ignore), chains=2, patience=PATIENCE
    )
    return outcome.plain_graph.to_numpy()


def heavy_candidates(tables: FamilyTables) -> Candidates:
    """The families of more weight than each of their subsets, as candidates."""
    nodes = len(tables.starts)
    names = tuple(f"x{i}" for i in range(nodes))
    sets = tuple(undominated_sets(tables, child) for child in range(nodes))
    return Candidates(names, sets, complete=False, note="")


def undominated_sets(tables: FamilyTables, child: int) -> ParentSets:
    """The undominated parent sets of one child, best first."""
    nodes, size, rows = len(tables.starts), int(tables.sizes[child]), 1 + int(tables.counts[child])
    start = int(tables.starts[child])
    weights = tables.log_weights[start : start + (rows << size)].reshape(rows, 1 << size)
    below = np.full_like(weights, -np.inf)
    best = weights.copy()
    for bit in range(size):
        # View each row as (higher bits, this bit, lower bits); `best` then covers subsets over the bits done.
        shape = (rows, -1, 2, 1 << bit)
        np.maximum(
            best.reshape(shape)[:, :, 1], best.reshape(shape)[:, :, 0], out=best.reshape(shape)[:, :, 1]
        )
    for bit in range(size):
        shape = (rows, -1, 2, 1 << bit)
        lower = best.reshape(shape)[:, :, 0]
        np.maximum(below.reshape(shape)[:, :, 1], lower, out=below.reshape(shape)[:, :, 1])
    below[1:] = np.maximum(below[1:], best[0])
    kept_rows, masks = np.nonzero(weights > below)
    members = np.zeros((len(masks), nodes), dtype=np.bool_)
    for bit in range(size):
        members[:, tables.cores[child, bit]] = masks >> bit & 1
    extra = kept_rows > 0
    members[np.flatnonzero(extra), tables.extras[child, kept_rows[extra] - 1]] = True
    return best_first(child, pack(members), weights[kept_rows, masks], nodes)
