"""Mechanisms: the functions f of structural equations x = f(parents) + noise.

Linear: Σ_j w_j x_j. Multilayer perceptron (Zheng et al. 2020): Σ_h b_h σ(Σ_j a_jh x_j), 100 sigmoid units
without intercepts. Fourier (Giudice, Kuipers and Moffa 2023, eq. 15): Σ_j β_j {w_j0 x_j + Σ_{k=1..6}
[v_jk sin(k x_j) + w_jk cos(k x_j)]}. Weights of the first two and β have a size uniform on a range, [0.5, 2]
in the papers, and a random sign. A mechanism keeps its parameters: they are part of a simulation's truth.

The thirteen Fourier weights of an edge are one draw from a Dirichlet distribution. The paper gives seven
concentrations, γ_k = e^(−k/λ) / Σ_{k=0..6} e^(−k/λ), for thirteen weights; we take γ_k for both v_k and w_k.
Weights are then positive, and the sign of an edge is that of β. The paper's published simulator differs in
three points, which `published=True` follows: a child has one weight vector and one β for all its parents,
each weight has a sign of its own, and the γ are divided by their sum over all thirteen. λ = 0 makes it
linear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

HIDDEN_UNITS = 100  # Zheng et al. 2020
COMPONENTS = 6  # Giudice, Kuipers and Moffa 2023
BLOCK_ROWS = 8192  # rows whose hidden layer is held at once

Range = tuple[float, float]


class Mechanism(Protocol):
    """A function of the parents' values, one row per observation and one column per parent."""

    def __call__(self, parents: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the value of each row."""


@dataclass(frozen=True, eq=False)
class Linear:
    """Σ_j w_j x_j.

    >>> Linear(np.array([2.0, -1.0]))(np.array([[1.0, 1.0], [3.0, 0.0]]))
    array([1., 6.])
    """

    weights: NDArray[np.float64]

    def __call__(self, parents: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weighted sum of each row."""
        return parents @ self.weights


@dataclass(frozen=True, eq=False)
class Perceptron:
    """Σ_h b_h σ(Σ_j a_jh x_j), with `inward` the a (parents × units) and `outward` the b.

    >>> Perceptron(np.array([[1.0, -1.0]]), np.array([2.0, 4.0]))(np.array([[0.0], [100.0]]))
    array([3., 2.])
    """

    inward: NDArray[np.float64]
    outward: NDArray[np.float64]

    def __call__(self, parents: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the network's output for each row; blocks of rows keep the hidden layer small."""
        blocks = [parents[start : start + BLOCK_ROWS] for start in range(0, len(parents), BLOCK_ROWS)]
        return np.concatenate([sigmoid(block @ self.inward) @ self.outward for block in blocks])


@dataclass(frozen=True, eq=False)
class Fourier:
    """Σ_j β_j {linear_j x_j + Σ_k [sines_jk sin(k x_j) + cosines_jk cos(k x_j)]}, k = 1 … 6.

    >>> weights = np.eye(1, 6)
    >>> Fourier(np.array([2.0]), np.array([0.0]), weights, 0 * weights)(np.array([[0.0], [np.pi / 2]]))
    array([0., 2.])
    """

    betas: NDArray[np.float64]
    linear: NDArray[np.float64]
    sines: NDArray[np.float64]
    cosines: NDArray[np.float64]

    def __call__(self, parents: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weighted sum of the components of each row."""
        total: NDArray[np.float64] = parents @ (self.betas * self.linear)
        # Powers of e^ix are e^ikx: one sine and cosine per value instead of six.
        wave = np.exp(1j * parents)
        power = wave.copy()
        for k in range(self.sines.shape[1]):
            total += power.imag @ (self.betas * self.sines[:, k])
            total += power.real @ (self.betas * self.cosines[:, k])
            power *= wave
        return total


def sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / (1 + e^−x), written so that it cannot overflow."""
    value: NDArray[np.float64] = 0.5 * (1.0 + np.tanh(0.5 * x))
    return value


def signed_uniform(
    sizes: Range, shape: int | tuple[int, ...], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Numbers whose size is uniform on a range and whose sign is random."""
    numbers: NDArray[np.float64] = rng.uniform(*sizes, size=shape) * rng.choice([-1.0, 1.0], size=shape)
    return numbers


def draw_linear(parents: int, sizes: Range, rng: np.random.Generator) -> Linear:
    """Draw the weights of a linear mechanism."""
    return Linear(signed_uniform(sizes, parents, rng))


def draw_perceptron(parents: int, sizes: Range, rng: np.random.Generator) -> Perceptron:
    """Draw the weights of both layers of a multilayer perceptron."""
    inward = signed_uniform(sizes, (parents, HIDDEN_UNITS), rng)
    return Perceptron(inward, signed_uniform(sizes, HIDDEN_UNITS, rng))


def draw_fourier(
    parents: int, sizes: Range, rng: np.random.Generator, *, nonlinearity: float, published: bool
) -> Linear | Fourier:
    """Draw the weights and coefficients of a Fourier mechanism; `published` follows the paper's code."""
    draws = min(parents, 1) if published else parents
    copies = np.zeros(parents, dtype=np.int64) if published else np.arange(parents)
    betas = signed_uniform(sizes, draws, rng)[copies]
    if nonlinearity == 0:
        return Linear(betas)
    concentration = concentrations(nonlinearity, over_all=published)
    # A Dirichlet draw is a normalised row of gamma draws, which allow e^(−k/λ) to underflow to 0.
    weights = rng.standard_gamma(concentration, size=(draws, len(concentration)))
    weights /= weights.sum(axis=1, keepdims=True)
    if published:
        weights *= rng.choice([-1.0, 1.0], size=weights.shape)
    weights = weights[copies]
    return Fourier(betas, weights[:, 0], weights[:, 1 : COMPONENTS + 1], weights[:, COMPONENTS + 1 :])


def concentrations(nonlinearity: float, *, over_all: bool) -> NDArray[np.float64]:
    """Dirichlet concentrations of w_0, v_1 … v_6, w_1 … w_6, normalised over the seven γ or all thirteen.

    >>> concentrations(1.0, over_all=False)[:3].round(3)
    array([0.633, 0.233, 0.086])
    """
    decay = np.exp(-np.arange(COMPONENTS + 1) / nonlinearity)
    thirteen: NDArray[np.float64] = np.concatenate([decay, decay[1:]])
    thirteen /= thirteen.sum() if over_all else decay.sum()
    return thirteen
