"""The sum over all graphs of products of family weights, and what follows from it: families and draws.

`log_weights[v]` holds the log weights of the 2^(n−1) parent sets of node v, −inf for a set that is excluded.
A set is a mask over the other nodes, closed up (bit j − 1 is node j where j > v). The sum takes 4^n steps and
3^n numbers in memory, the families twice as much. `layer_kernels` has the formulas.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Watch, ignore_progress
from dagora.posterior.exact.family_flows import Flow, add_families, send_rows
from dagora.posterior.exact.graph_draws import FamilyWeights, draw_graphs
from dagora.posterior.exact.layer_kernels import LayerTable, ParentShares, fill_rows, fill_shares
from dagora.posterior.log_sums import sum_over_subsets

Floats = NDArray[np.float64]

# Terms that are summed between two looks at the clock: about a tenth of a second of one core.
WORK_PER_ROUND = 50_000_000


def bytes_needed(nodes: int) -> int:
    """Memory for the sum and the families, in bytes."""
    shares = 3 * nodes * nodes * 2**nodes // 4
    return int(8 * (2 * 3**nodes + shares + 4 * nodes * 2**nodes))


class GraphSums:
    """The sums for one set of family weights.

    >>> sums = GraphSums(np.zeros((4, 8)))
    >>> round(float(np.exp(sums.log_total)))
    543
    """

    def __init__(self, log_weights: Floats, watch: Watch = ignore_progress) -> None:
        nodes, families = log_weights.shape
        if families != 1 << (nodes - 1):
            raise ValueError(f"{nodes} nodes have {1 << (nodes - 1)} families each, not {families}")
        self.nodes = nodes
        # Large constants would cost digits: every child's weights are taken relative to its largest.
        self._largest = np.max(log_weights, axis=1)
        centred = log_weights - np.where(np.isfinite(self._largest), self._largest, 0.0)[:, None]
        self._own = np.ascontiguousarray(centred)
        self._sums = self._own.copy()
        with_parent = np.zeros((nodes, nodes, max(1, families // 2)))
        self._shares = ParentShares(with_parent, np.zeros_like(with_parent))
        for child in range(nodes):
            sum_over_subsets(self._sums[child])
            if nodes > 1:
                fill_shares(
                    child,
                    self._own[child],
                    self._sums[child],
                    self._shares.with_parent[child],
                    self._shares.without_parent[child],
                )
        self._fill(watch)

    def _fill(self, watch: Watch) -> None:
        nodes, full = self.nodes, (1 << self.nodes) - 1
        sizes = np.array([1 << (nodes - placed.bit_count()) for placed in range(full + 1)], dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        self._table = LayerTable(offsets, np.empty(int(sizes.sum())), np.empty(full + 1))
        # A row with k nodes outside costs 3^k steps.
        self._costs = np.cumsum(3 ** np.log2(sizes).round().astype(np.int64))
        placed = full
        while placed >= 0:
            placed = fill_rows(nodes, placed, WORK_PER_ROUND, self._table, self._sums, self._shares)
            left = int(self._costs[placed]) if placed >= 0 else 0
            watch(int(self._costs[-1]) - left, int(self._costs[-1]))

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        """The families of each child, the heaviest first."""
        return np.argsort(-self._own, axis=1, kind="stable").astype(np.int64)

    @property
    def _first(self) -> float:
        """Sum of the row of first layers, relative to its largest entry."""
        return float(self._table.rows[: 1 << self.nodes].sum())

    @property
    def log_total(self) -> float:
        """Log of the sum over all graphs; −inf where no graph has any weight."""
        if self._table.scales[0] == -np.inf:
            return -np.inf
        return float(self._largest.sum() + self._table.scales[0] + np.log(self._first))

    def families(self, watch: Watch = ignore_progress) -> Floats:
        """Posterior probability of every family, in the layout of the weights.

        >>> GraphSums(np.zeros((2, 2))).families()
        array([[0.66666667, 0.33333333],
               [0.66666667, 0.33333333]])
        """
        nodes, full = self.nodes, (1 << self.nodes) - 1
        arrivals = np.zeros_like(self._table.rows)
        arrivals[: 1 << nodes] = 1.0 / self._first
        flow = Flow(arrivals, np.zeros_like(self._shares.with_parent), np.zeros(nodes))
        found = np.zeros_like(self._own)
        placed = 0
        while placed < full:
            placed = send_rows(nodes, placed, WORK_PER_ROUND // 3, self._table, self._shares, flow)
            watch(int(self._costs[placed - 1]), int(self._costs[-1]))
        found[:, 0] = flow.roots
        for child in range(nodes):
            if nodes > 1:
                add_families(child, self._own[child], flow.sent[child], found[child])
        return found

    def draws(self, uniforms: Floats) -> tuple[NDArray[np.int64], Floats]:
        """One graph per row of 2n uniform numbers: its parents as masks by node, and its log weight.

        >>> rows = np.array([[0.3, 0.5, 0.5, 0.5], [0.6, 0.5, 0.5, 0.5], [0.9, 0.5, 0.5, 0.5]])
        >>> GraphSums(np.zeros((2, 2))).draws(rows)[0]
        array([[2, 0],
               [0, 1],
               [0, 0]])
        """
        parents = np.zeros((len(uniforms), self.nodes), dtype=np.int64)
        log_scores = np.zeros(len(uniforms))
        weights = FamilyWeights(self._own, self._sums, self._order)
        draw_graphs(self._table, weights, self._shares, np.ascontiguousarray(uniforms), parents, log_scores)
        return parents, log_scores + self._largest.sum()


def edge_posteriors(families: Floats) -> Floats:
    """Edge probabilities, [i, j] is i → j, from the probabilities of all families.

    >>> edge_posteriors(np.array([[0.5, 0.5], [1.0, 0.0]]))
    array([[0. , 0. ],
           [0.5, 0. ]])
    """
    nodes = len(families)
    edges = np.zeros((nodes, nodes))
    masks = np.arange(families.shape[1])
    for child in range(nodes):
        for parent in range(nodes):
            if parent != child:
                bit = parent if parent < child else parent - 1
                edges[parent, child] = families[child, (masks >> bit & 1).astype(np.bool_)].sum()
    return edges
