"""One yardstick for weight matrices of linear models: cut to a DAG, refit, F; nothing of it is the library's.

F_DAG of a support is min_W 1/(2n) ‖X − XW‖² + λ‖W‖₁ over the weights on it, X centred, once the support has
been cut to a DAG. A weight matrix that is still cyclic can have a lower F than any DAG, so F itself would
favour whoever stops early. Only S = XᵀX/n is needed: each column is a lasso of its own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Support = NDArray[np.bool_]

# How well the optimality conditions hold, relative to the size of their terms.
TOLERANCE = 1e-10
STEPS = 100_000


def covariance(rows: Matrix) -> Matrix:
    """S = XᵀX/n of the centred rows."""
    centred = rows - rows.mean(axis=0)
    return centred.T @ centred / len(rows)


def acyclic_support(weights: Matrix) -> Support:
    """Edges from the strongest to the weakest, each kept unless it closes a cycle with those kept before.

    So the weakest edge of each cycle goes, and nothing that could have stayed.
    """
    size = len(weights)
    kept = np.zeros((size, size), dtype=np.bool_)
    reaches = np.eye(size, dtype=np.bool_)
    tails, heads = np.nonzero(weights)
    for k in np.argsort(-np.abs(weights[tails, heads]), kind="stable"):
        tail, head = tails[k], heads[k]
        if reaches[head, tail]:
            continue
        kept[tail, head] = True
        if not reaches[tail, head]:
            reaches[reaches[:, tail]] |= reaches[head]
    return kept


def refit(moments: Matrix, support: Support, penalty: float) -> tuple[float, Matrix]:
    """F and the weights of the best fit on a support, which must be acyclic for F to be F_DAG."""
    weights = np.zeros_like(moments)
    loss = 0.0
    for column in range(len(moments)):
        parents = np.flatnonzero(support[:, column])
        gram, target = moments[np.ix_(parents, parents)], moments[parents, column]
        found = lasso(gram, target, penalty)
        weights[parents, column] = found
        loss += 0.5 * (moments[column, column] - 2 * found @ target + found @ gram @ found)
    return float(loss + penalty * np.abs(weights).sum()), weights


def lasso(gram: Matrix, target: Matrix, penalty: float) -> Matrix:
    """argmin ½ wᵀGw − tᵀw + λ‖w‖₁, exactly, by the search over signs of Lee, Battle, Raina & Ng (2007).

    While the signs hold, the optimum is the solution of a linear system; a sign that breaks on the way there
    is where the objective may turn. Each step lowers the objective, so no signs come twice.
    """
    weights = np.zeros(len(target))
    signs = np.zeros(len(target))
    for _ in range(STEPS):
        slope = target - gram @ weights
        # The optimality conditions are differences of terms of this size.
        terms = np.abs(target) + np.abs(gram) @ np.abs(weights)
        allowed = TOLERANCE * max(1.0, terms.max(initial=0.0))
        active = np.flatnonzero(signs)
        if (np.abs(slope - penalty * signs)[active] <= allowed).all():
            excess = np.where(signs == 0, np.abs(slope) - penalty, -np.inf)
            if excess.max(initial=-np.inf) <= allowed:
                return weights
            entering = int(excess.argmax())
            signs[entering] = np.sign(slope[entering])
            active = np.flatnonzero(signs)
        goal = np.zeros_like(weights)
        goal[active] = np.linalg.solve(gram[np.ix_(active, active)], target[active] - penalty * signs[active])
        weights = best_on_the_way(gram, target, penalty, weights, goal)
        signs = np.sign(weights)
    raise ArithmeticError(f"a lasso of {len(target)} columns did not converge")


def best_on_the_way(gram: Matrix, target: Matrix, penalty: float, start: Matrix, goal: Matrix) -> Matrix:
    """The best of the goal and the points before it at which a weight changes its sign."""
    points = [goal]
    for j in np.flatnonzero(start * goal < 0):
        point = start + start[j] / (start[j] - goal[j]) * (goal - start)
        point[j] = 0.0
        points.append(point)
    return min(points, key=lambda w: 0.5 * w @ gram @ w - target @ w + penalty * np.abs(w).sum())


def by_variance(moments: Matrix, penalty: float) -> Matrix:
    """Weights of the lasso of each column on all columns of smaller variance: what scale alone gives away."""
    order = np.argsort(np.diag(moments), kind="stable")
    support = np.zeros(moments.shape, dtype=np.bool_)
    for place, column in enumerate(order):
        support[order[:place], column] = True
    return refit(moments, support, penalty)[1]


def distance(estimate: Support, truth: Support) -> int:
    """Structural Hamming distance: pairs of columns whose edge is missing, extra or turned round."""
    differs = estimate != truth
    return int(np.triu(differs | differs.T).sum())
