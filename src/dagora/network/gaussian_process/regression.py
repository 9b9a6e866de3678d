"""Gaussian-process regression of one node on its parents, in closed form, in standardised units.

y = μ + f(x) + ε with μ ~ N(0, 1), ε ~ N(0, σ²) and f a Gaussian process with the kernel
  k = a Σᵢ kᵢ + b Σᵢ<ⱼ kᵢkⱼ,   kᵢ(x, x') = exp(−(xᵢ − x'ᵢ)² / 2ρᵢ²),
so that y ~ N(0, S), S = 1 1ᵀ + K + σ²I. Given y, μ + f at a new x is normal with mean cᵀS⁻¹y and variance
1 + k(x, x) − cᵀS⁻¹c, where c = 1 + k(x, X) (Rasmussen & Williams 2006, eq. 2.25 and 2.26). The effect of one
parent is its own term a·kᵢ, minus its mean over the rows: a constant could as well be another parent's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BLOCK = 2048  # new rows that are handled at once


@dataclass(frozen=True, eq=False)
class Process:
    """The hyperparameters of a node: a length-scale per parent, both amplitudes, and the sd of the noise.

    `draws` are others from their posterior; there are none where they are taken as known.

    >>> Process(np.array([1.0]), noise=0.5).main
    1.0
    """

    scales: Array
    noise: float
    main: float = 1.0
    product: float = 0.0
    draws: tuple[Process, ...] = ()


class Regression:
    """A node's process given its rows; x has a column per parent.

    >>> x = np.linspace(-2, 2, 30)[:, None]
    >>> fitted = Regression(Process(np.array([1.0]), noise=0.1), x, np.sin(x[:, 0]))
    >>> mean, variance = fitted.predict(np.array([[0.5], [9.0]]))
    >>> bool(abs(mean[0] - np.sin(0.5)) < 0.01), bool(variance[1] > 0.9)
    (True, True)
    """

    def __init__(self, process: Process, x: Array, y: Array) -> None:
        from scipy.linalg import cho_factor, cho_solve

        self._process = process
        self._x = x
        covariance = 1.0 + kernel(process, x, x)
        covariance[np.diag_indices(len(y))] += process.noise**2
        self._factor = cho_factor(covariance, lower=True, overwrite_a=True)
        self._solve = cho_solve
        self._weights: Array = cho_solve(self._factor, y)

    def predict(self, x: Array) -> tuple[Array, Array]:
        """Mean and variance of μ + f at new rows, without the noise."""
        means, variances = np.empty(len(x)), np.empty(len(x))
        # k(x, x) is the same everywhere: each kᵢ is 1 there.
        size = len(self._process.scales)
        prior = 1.0 + self._process.main * size + self._process.product * size * (size - 1) / 2
        for start in range(0, len(x), BLOCK):
            some = slice(start, start + BLOCK)
            shared = 1.0 + kernel(self._process, x[some], self._x)
            means[some] = shared @ self._weights
            variances[some] = prior - (shared.T * self._solve(self._factor, shared.T)).sum(axis=0)
        return means, np.maximum(variances, 0.0)

    def effect(self, parent: int, x: Array) -> tuple[Array, Array]:
        """Mean and variance of one parent's own term at new values, minus its mean over the rows."""
        rows, scale, main = self._x[:, parent], self._process.scales[parent], self._process.main
        within = main * one_kernel(scale, rows, rows)
        shared = main * one_kernel(scale, x, rows) - within.mean(axis=0)
        prior = main - 2 * main * one_kernel(scale, x, rows).mean(axis=1) + within.mean()
        spent = (shared.T * self._solve(self._factor, shared.T)).sum(axis=0)
        return shared @ self._weights, np.maximum(prior - spent, 0.0)


def kernel(process: Process, one: Array, other: Array) -> Array:
    """Covariances of f between rows and other rows; zero for a node without parents."""
    total = np.zeros((len(one), len(other)))
    squares = np.zeros((len(one), len(other)))
    for k, scale in enumerate(process.scales):
        term = one_kernel(scale, one[:, k], other[:, k])
        total += term
        squares += term * term
    covariance: Array = process.main * total + process.product * (total * total - squares) / 2
    return covariance


def one_kernel(scale: float, one: Array, other: Array) -> Array:
    """The squared exponential kernel of one column."""
    gaps = (one[:, None] - other[None, :]) / scale
    term: Array = np.exp(-0.5 * gaps * gaps)
    return term
