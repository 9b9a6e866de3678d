"""An oracle: algorithm 1 of Ng & Zhang (2022), linear case, from the paper's formulas and nothing of ours.

Section 5.1 for the updates (4)–(10) and the centring, appendix B for the constants and the solver: L-BFGS with
a subgradient of the L1 norm and without bounds. W starts at zero; ρ₁ and ρ₂ are capped.
"""

import numpy as np
from scipy.linalg import expm
from scipy.optimize import minimize


def algorithm1(rows, lam=0.01, rho=0.001, gammas=(1.75, 1.25), most=1e16, rounds=200, diagonal=True):
    """W after the last round; `rows` has one matrix per client. Without `diagonal` it is bound to zero."""
    n, d = sum(len(x) for x in rows), rows[0].shape[1]
    centred = [x - x.mean(axis=0) for x in rows]
    S = np.array([x.T @ x / n for x in centred])
    W, beta, alpha = np.zeros((d, d)), np.zeros_like(S), 0.0
    rho1 = rho2 = rho
    bounds = None if diagonal else [(0, 0) if i == j else (None, None) for i in range(d) for j in range(d)]
    for _ in range(rounds):
        B = np.linalg.solve(S + rho2 * np.eye(d), rho2 * W - beta + S)  # (10)

        def lagrangian(entries, B=B, beta=beta, alpha=alpha, rho1=rho1, rho2=rho2):
            W = entries.reshape(d, d)
            exponential = expm(W * W)
            h = np.trace(exponential) - d
            value = lam * np.abs(W).sum() + alpha * h + rho1 / 2 * h**2
            value += (beta * (B - W)).sum() + rho2 / 2 * ((B - W) ** 2).sum()
            slope = lam * np.sign(W) + (alpha + rho1 * h) * exponential.T * 2 * W
            return value, (slope - beta.sum(axis=0) - rho2 * (B - W).sum(axis=0)).ravel()

        with np.errstate(all="ignore"):
            found = minimize(lagrangian, W.ravel(), jac=True, method="L-BFGS-B", bounds=bounds)  # (5)
        W = found.x.reshape(d, d)
        alpha += rho1 * (np.trace(expm(W * W)) - d)  # (6)
        beta = beta + rho2 * (B - W)  # (7)
        if min(rho1, rho2) >= most:
            break
        rho1, rho2 = min(gammas[0] * rho1, most), min(gammas[1] * rho2, most)  # (8), (9)
    return W


def linear_problem(d, n, seed):
    """Section 6: a graph of exactly d edges, weights ±[0.5, 2], standard Gaussian noise; its weights and rows."""
    rng = np.random.default_rng(seed)
    pairs = np.column_stack(np.triu_indices(d, 1))[rng.choice(d * (d - 1) // 2, size=d, replace=False)]
    order = rng.permutation(d)
    truth = np.zeros((d, d))
    truth[order[pairs[:, 0]], order[pairs[:, 1]]] = rng.uniform(0.5, 2, d) * rng.choice([-1, 1], d)
    return truth, rng.normal(size=(n, d)) @ np.linalg.inv(np.eye(d) - truth)


def errors(edges, truth):
    """SHD and TPR of a boolean matrix of edges."""
    wrong = (edges != truth) | (edges != truth).T
    return int(np.triu(wrong).sum()), float((edges & truth).sum() / truth.sum())
