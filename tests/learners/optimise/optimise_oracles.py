"""Slow and plain versions of what the package computes: differences, walks, coordinate descent, all DAGs."""

from itertools import product

import networkx as nx
import numpy as np
from scipy.optimize import minimize

from dagora.graph.enumerate import all_parent_sets


def central_differences(function, point, step=1e-6):
    """Derivatives of a number by each entry of an array."""
    slopes = np.zeros_like(point)
    for place in np.ndindex(point.shape):
        shift = np.zeros_like(point)
        shift[place] = step
        slopes[place] = (function(point + shift) - function(point - shift)) / (2 * step)
    return slopes


def closed_walks(matrix, steps):
    """Sum of the products along all closed walks of some steps, by listing the walks."""
    total = 0.0
    for nodes in product(range(len(matrix)), repeat=steps):
        weight = 1.0
        for tail, head in zip(nodes, nodes[1:] + nodes[:1], strict=True):
            weight *= matrix[tail, head]
        total += weight
    return total


def power_sum(matrix, weight_of, terms=150):
    """Σ_k weight_of(k) · tr Aᵏ, by matrix powers."""
    total, power = 0.0, np.eye(len(matrix))
    for k in range(1, terms):
        power = power @ matrix
        total += weight_of(k) * np.trace(power)
    return total


def plain_lasso(gram, target, lambda1, sweeps=20_000):
    """Coordinate descent on ½ wᵀGw − tᵀw + λ‖w‖₁, until it stands still."""
    weights = np.zeros(len(target))
    for _ in range(sweeps):
        before = weights.copy()
        for j in range(len(target)):
            pull = target[j] - gram[j] @ weights + gram[j, j] * weights[j]
            weights[j] = np.sign(pull) * max(abs(pull) - lambda1, 0.0) / gram[j, j]
        if np.abs(weights - before).max() < 1e-15:
            break
    return weights


def violation(point, gradient, lambda1):
    """How far each entry is from the optimality conditions of f + λ‖·‖₁, entry by entry."""
    away = []
    for w, g in zip(point.ravel(), gradient.ravel(), strict=True):
        away.append(max(0.0, abs(g) - lambda1) if w == 0 else abs(g + lambda1 * (1 if w > 0 else -1)))
    return np.array(away)


def split_minimum(function, start, free, lambda1):
    """L-BFGS-B on w = p − q with p, q ≥ 0, as in the published code; the point and the objective."""
    size = len(start)

    def split(both):
        value, gradient = function(both[:size] - both[size:])
        return value + lambda1 * both.sum(), np.concatenate([gradient + lambda1, -gradient + lambda1])

    bounds = [(0, None) if is_free else (0, 0) for is_free in free] * 2
    begin = np.concatenate([np.maximum(start, 0), np.maximum(-start, 0)])
    options = {"maxfun": 100_000, "maxiter": 100_000, "ftol": 1e-15, "gtol": 1e-9}
    found = minimize(split, begin, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return found.x[:size] - found.x[size:], found.fun


def best_over_all_dags(loss, lambda1):
    """The optimum of loss + λ‖W‖₁ over DAGs: each family is fitted once, by `split_minimum`."""
    size = loss.n_variables
    worth = {}
    empty = loss.value_and_gradient(np.zeros((size, size)))[0]
    for child in range(size):
        for mask in range(1 << size):
            if mask >> child & 1:
                continue
            parents = [i for i in range(size) if mask >> i & 1]

            def column(entries, child=child, parents=parents):
                weights = np.zeros((size, size))
                weights[parents, child] = entries
                value, gradient = loss.value_and_gradient(weights)
                return value - empty, gradient[parents, child]

            worth[child, mask] = (
                split_minimum(column, np.zeros(len(parents)), [True] * len(parents), lambda1)[1]
                if parents
                else 0.0
            )
    return empty + min(
        sum(worth[child, mask] for child, mask in enumerate(masks)) for masks in all_parent_sets(size)
    )


def random_covariance(rng, size, rows=None):
    """Covariance of centred columns that depend on one another."""
    values = rng.normal(size=(rows or 5 * size, size)) @ rng.normal(size=(size, size))
    values -= values.mean(axis=0)
    return values.T @ values / len(values)


def is_acyclic(support: np.ndarray) -> bool:
    """Return True if an adjacency matrix has no directed cycle and no loop."""
    return nx.is_directed_acyclic_graph(nx.DiGraph(support))


def cyclicity(weights: np.ndarray) -> float:
    """The maximum over all cycles of the smallest |w| along the cycle.

    It is also the smallest ω such that the edges with |w| > ω form a DAG. It has the unit of the weights, and
    is exactly 0.0 if and only if the non-zero weights form a DAG.

    >>> cyclicity(np.array([[0.0, 3.0], [0.1, 0.0]])), cyclicity(np.array([[0.0, 3.0], [0.0, 0.0]]))
    (0.1, 0.0)
    """
    sizes = np.abs(weights)
    # Dropping more edges only removes cycles: bisect between levels with a cycle and levels without.
    levels = np.unique(np.append(sizes, 0.0))
    low, high = 0, len(levels) - 1
    while low < high:
        middle = (low + high) // 2
        if is_acyclic(sizes > levels[middle]):
            high = middle
        else:
            low = middle + 1
    return float(levels[low])
