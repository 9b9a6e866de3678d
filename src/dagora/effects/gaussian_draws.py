"""Draws of linear-Gaussian parameters given a graph, and the total effects that follow from them.

Under the normal-Wishart prior of the score BGe, the regression of x on its p parents P has the posterior

    σ² ~ r / χ²(N + α_w − d + p + 1),   b | σ² ~ N(R_PP⁻¹ R_Px, σ² R_PP⁻¹),   r = R_xx − R_xP R_PP⁻¹ R_Px,

with the matrix R of scores/bge in the units of the columns. The total effect of x is found along a
topological order: a node's change is the sum of the changes of its parents times their coefficients.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.scores.usable_moments import gaussian_moments
from dagora.stats.interventional import InterventionalStatistics
from dagora.stats.statistics import Moments, Statistics

Array = NDArray[np.float64]
Graphs = NDArray[np.bool_]  # [graph, parent, child]


@dataclass(frozen=True)
class GaussianPosterior:
    """The matrices R of groups of children, the group of each child, and the freedom without parents."""

    matrices: Array
    group: NDArray[np.int64]
    freedom: Array

    @classmethod
    def of(cls, statistics: Statistics, settings: Mapping[str, Any] | None = None) -> GaussianPosterior:
        """The posterior under the prior of BGe, of each child from rows in which it was not set."""
        said = settings or {}
        size = len(statistics.schema)
        alpha_mu = float(said.get("alpha_mu") or 1.0)
        alpha_w = float(said.get("alpha_w") or size + alpha_mu + 1)
        scale = alpha_mu * (alpha_w - size - 1) / (alpha_mu + 1)
        found: dict[int, int] = {}
        matrices: list[Array] = []
        freedom: list[float] = []
        group = np.zeros(size, dtype=np.int64)
        for child in range(size):
            rows: Statistics = statistics
            if isinstance(statistics, InterventionalStatistics):
                rows = statistics.without_set(child)
            if id(rows) not in found:
                found[id(rows)] = len(matrices)
                moments = gaussian_moments(rows, "an average over linear models")
                unit = said.get("prior_scale") == "unit"
                matrices.append(moments.scatter + scale * np.diag(prior_variances(moments, unit=unit)))
                freedom.append(moments.n + alpha_w - size + 1)
            group[child] = found[id(rows)]
        return cls(np.array(matrices), group, np.array(freedom))

    def draw_weights(self, graphs: Graphs, rng: np.random.Generator) -> Array:
        """A coefficient for each edge of each graph, [graph, parent, child]."""
        sizes = graphs.sum(axis=1)
        spread = rng.chisquare(self.freedom[self.group] + sizes)
        normals = rng.standard_normal(int(sizes.sum()))
        return draw_coefficients(self.matrices, self.group, graphs, spread, normals)


def prior_variances(moments: Moments, *, unit: bool) -> Array:
    """The variances that the prior expects."""
    if unit:
        return np.ones(len(moments.mean))
    return np.asarray(np.diag(moments.scatter) / max(1, moments.n - 1))


@kernel
def draw_coefficients(
    matrices: Array, group: NDArray[np.int64], graphs: Graphs, spread: Array, normals: Array
) -> Array:
    """The kernel of `draw_weights`: a Cholesky factor for each family."""
    number, size = graphs.shape[0], graphs.shape[1]
    found = np.zeros((number, size, size))
    columns = np.empty(size, dtype=np.int64)
    factor = np.zeros((size + 1, size + 1))
    weights = np.empty(size)
    used = 0
    for g in range(number):
        for child in range(size):
            matrix = matrices[group[child]]
            p = 0
            for parent in range(size):
                if graphs[g, parent, child]:
                    columns[p] = parent
                    p += 1
            if p == 0:
                continue
            residual = matrix[child, child]
            for a in range(p + 1):
                i = columns[a] if a < p else child
                for b in range(min(a, p - 1) + 1):
                    entry = matrix[i, columns[b]]
                    for c in range(b):
                        entry -= factor[a, c] * factor[b, c]
                    if b < a:
                        factor[a, b] = entry / factor[b, b]
                    else:
                        factor[a, a] = np.sqrt(max(entry, 1e-12 * matrix[i, i]))
            for b in range(p):
                residual -= factor[p, b] ** 2
            sd = np.sqrt(max(residual, 1e-12 * matrix[child, child]) / spread[g, child])
            for a in range(p - 1, -1, -1):  # solve Lᵀ b = l + sd · normal
                total = factor[p, a] + sd * normals[used + a]
                for c in range(a + 1, p):
                    total -= factor[c, a] * weights[c]
                weights[a] = total / factor[a, a]
            used += p
            for a in range(p):
                found[g, columns[a], child] = weights[a]
    return found


@kernel
def propagate(weights: Array, orders: NDArray[np.int64], is_set: NDArray[np.bool_], steps: Array) -> Array:
    """The change of every node if some are set `steps` higher, [graph, node]."""
    number, size = orders.shape
    found = np.zeros((number, size))
    for g in range(number):
        for place in range(size):
            node = orders[g, place]
            if is_set[node]:
                found[g, node] = steps[node]
                continue
            total = 0.0
            for parent in range(size):
                if weights[g, parent, node] != 0.0:
                    total += found[g, parent] * weights[g, parent, node]
            found[g, node] = total
    return found


@kernel
def topological_orders(graphs: Graphs) -> NDArray[np.int64]:
    """An order of the nodes of each graph in which parents come first."""
    number, size = graphs.shape[0], graphs.shape[1]
    orders = np.empty((number, size), dtype=np.int64)
    waiting = np.empty(size, dtype=np.int64)
    for g in range(number):
        for node in range(size):
            waiting[node] = 0
            for parent in range(size):
                waiting[node] += graphs[g, parent, node]
        done = 0
        for node in range(size):
            if waiting[node] == 0:
                orders[g, done] = node
                done += 1
        place = 0
        while place < done:
            tail = orders[g, place]
            place += 1
            for head in range(size):
                if graphs[g, tail, head]:
                    waiting[head] -= 1
                    if waiting[head] == 0:
                        orders[g, done] = head
                        done += 1
    return orders
