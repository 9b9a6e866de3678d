"""Algorithm 1 of Zheng et al. (2018), written from its formulas on the rows; shares no code with the package.

F(W) = 1/(2n) ‖X − XW‖² + λ ‖W‖₁, h(W) = tr exp(W∘W) − d, L = F + (ρ/2) h² + α h. SciPy's L-BFGS-B minimises L
over the 2d² entries of W⁺ and W⁻, with the diagonals held at 0 by their bounds.
"""

import numpy as np
from scipy.linalg import expm
from scipy.optimize import minimize


def algorithm_one(rows, lambda1):
    """W_ECP, before the threshold."""
    X = rows - rows.mean(axis=0)
    n, d = X.shape
    bounds = [(0, 0) if i == j else (0, None) for _ in "+-" for i in range(d) for j in range(d)]
    w, rho, alpha, h = np.zeros(2 * d * d), 1.0, 0.0, np.inf

    def lagrangian(w):
        W = (w[: d * d] - w[d * d :]).reshape(d, d)
        residual = X - X @ W
        E = expm(W * W)
        h = np.trace(E) - d
        value = 0.5 / n * (residual**2).sum() + 0.5 * rho * h * h + alpha * h + lambda1 * w.sum()
        slope = -X.T @ residual / n + (rho * h + alpha) * E.T * W * 2
        return value, np.concatenate([slope.ravel() + lambda1, lambda1 - slope.ravel()])

    while True:
        while True:
            new = minimize(lagrangian, w, method="L-BFGS-B", jac=True, bounds=bounds).x
            W = (new[: d * d] - new[d * d :]).reshape(d, d)
            new_h = np.trace(expm(W * W)) - d
            if new_h <= 0.25 * h or rho >= 1e16:
                break
            rho *= 10
        w, h = new, new_h
        alpha += rho * h
        if h <= 1e-8 or rho >= 1e16:
            return W


def program_value(rows, weights, lambda1):
    """F on centred rows."""
    X = rows - rows.mean(axis=0)
    return ((X - X @ weights) ** 2).sum() / (2 * len(X)) + lambda1 * np.abs(weights).sum()
