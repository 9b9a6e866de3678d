"""The sum over all graphs of products of family weights, and what follows from it: families and draws.

`log_weights[v]` holds the log weights of the 2^(n−1) parent sets of node v; a set is a mask over the other
nodes, closed up (bit j − 1 is node j where j > v), −inf where it may not be. The work is 4^n steps and the
memory 3^n numbers for the sum, and twice that for the families. See `exact_kernels`.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dagora.events import Watch, unwatched
from dagora.posterior.exact.family_flows import add_families, send_rows
from dagora.posterior.exact.graph_draws import draw_graphs
from dagora.posterior.exact.layer_kernels import fill_rows, fill_shares, subset_sums

Floats = NDArray[np.float64]

# Terms that are summed between two looks at the clock: about a tenth of a second.
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

    def __init__(self, log_weights: Floats, watch: Watch = unwatched) -> None:
        nodes, families = log_weights.shape
        if families != 1 << (nodes - 1):
            raise ValueError(f"{nodes} nodes have {1 << (nodes - 1)} families each, not {families}")
        self.nodes = nodes
        # Large constants would cost digits: every child's weights are taken relative to its largest.
        self._largest = np.max(log_weights, axis=1)
        centred = log_weights - np.where(np.isfinite(self._largest), self._largest, 0.0)[:, None]
        self._own = np.ascontiguousarray(centred)
        self._sums = np.empty_like(self._own)
        self._with = np.zeros((nodes, nodes, max(1, families // 2)))
        self._without = np.zeros_like(self._with)
        for child in range(nodes):
            self._sums[child] = subset_sums(self._own[child])
            if nodes > 1:
                fill_shares(
                    child, self._own[child], self._sums[child], self._with[child], self._without[child]
                )
        self._fill(watch)

    def _fill(self, watch: Watch) -> None:
        nodes, full = self.nodes, (1 << self.nodes) - 1
        sizes = np.array([1 << (nodes - placed.bit_count()) for placed in range(full + 1)], dtype=np.int64)
        self._offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        self._rows = np.empty(int(sizes.sum()))
        self._scales = np.empty(full + 1)
        # A row with k nodes outside costs 3^k steps.
        self._costs = np.cumsum(3 ** np.log2(sizes).round().astype(np.int64))
        placed = full
        while placed >= 0:
            placed = fill_rows(
                nodes,
                placed,
                WORK_PER_ROUND,
                self._offsets,
                self._rows,
                self._scales,
                self._sums,
                self._with,
                self._without,
            )
            left = int(self._costs[placed]) if placed >= 0 else 0
            watch(int(self._costs[-1]) - left, int(self._costs[-1]))

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        """The families of each child, the heaviest first."""
        return np.argsort(-self._own, axis=1, kind="stable").astype(np.int64)

    @property
    def _first(self) -> float:
        """Sum of the row of first layers, relative to its largest entry."""
        return float(self._rows[: 1 << self.nodes].sum())

    @property
    def log_total(self) -> float:
        """Log of the sum over all graphs; −inf where no graph has any weight."""
        if self._scales[0] == -np.inf:
            return -np.inf
        return float(self._largest.sum() + self._scales[0] + np.log(self._first))

    def families(self, watch: Watch = unwatched) -> Floats:
        """Posterior probability of every family, in the layout of the weights.

        >>> GraphSums(np.zeros((2, 2))).families()
        array([[0.66666667, 0.33333333],
               [0.66666667, 0.33333333]])
        """
        nodes, full = self.nodes, (1 << self.nodes) - 1
        arrivals = np.zeros_like(self._rows)
        arrivals[: 1 << nodes] = 1.0 / self._first
        sent = np.zeros_like(self._with)
        found = np.zeros_like(self._own)
        roots = np.zeros(nodes)
        placed = 0
        while placed < full:
            placed = send_rows(
                nodes,
                placed,
                WORK_PER_ROUND // 3,
                self._offsets,
                self._rows,
                arrivals,
                self._with,
                self._without,
                sent,
                roots,
            )
            watch(int(self._costs[placed - 1]), int(self._costs[-1]))
        found[:, 0] = roots
        for child in range(nodes):
            if nodes > 1:
                add_families(child, self._own[child], sent[child], found[child])
        return found

    def draws(self, uniforms: Floats) -> tuple[NDArray[np.int64], Floats]:
        """One graph per row of 2n uniform numbers: its parents as masks by node, and its log weight."""
        parents = np.zeros((len(uniforms), self.nodes), dtype=np.int64)
        log_scores = np.zeros(len(uniforms))
        draw_graphs(
            self._offsets,
            self._rows,
            self._own,
            self._sums,
            self._order,
            self._with,
            self._without,
            np.ascontiguousarray(uniforms),
            parents,
            log_scores,
        )
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
