"""Functions drawn from the posterior of a node's process: a draw is one function, wherever it is evaluated.

On an interval of length L, the squared exponential kernel of length-scale ρ is that of a finite Fourier
series of period P = L + rρ with normal weights (Rasmussen & Williams 2006, section 4.2.1):
  k(x, x') = c₀ + 2 Σⱼ cⱼ cos(2πj(x − x')/P),   cⱼ = √(2π) ρ/P exp(−2π²ρ²j²/P²),
up to `ERROR`, with j up to rP/2πρ. So μ + f = φ(x)ᵀw with w ~ N(0, I), and a draw given the rows Φ, y is
  w + Φᵀ(ΦΦᵀ + σ²I)⁻¹(y − Φw − ε),   ε ~ N(0, σ²I)
(Matheron's rule; Wilson et al. 2021, "Pathwise conditioning of Gaussian processes").
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dagora.network.gaussian_process.regression import Process

Array = NDArray[np.float64]

ERROR = 1e-10  # of the kernel
REACH = float(np.sqrt(2 * np.log(2 / ERROR)))  # r
MARGIN = 0.5
"""The share of the range of its rows by which the interval of a parent goes beyond them at either end."""
STEPS = 100  # of a table of a function per length-scale: linear interpolation errs by 2e-5 of its sd


class FourierBasis:
    """The Fourier series of one parent's kernel over the range of its rows and a margin.

    >>> basis = FourierBasis(0.7, np.array([-2.0, 3.0]))
    >>> x = np.array([-1.5, 2.5, 2.6])
    >>> kernel = np.exp(-((x[:, None] - x) ** 2) / (2 * 0.7**2))
    >>> bool(np.abs(basis(x) @ basis(x).T - kernel).max() < 1e-9)
    True
    """

    def __init__(self, scale: float, rows: Array) -> None:
        low, high = float(rows.min()), float(rows.max())
        self.low, self.high = low - MARGIN * (high - low), high + MARGIN * (high - low)
        self._scale = scale
        period = self.high - self.low + REACH * scale
        self._frequency = 2 * np.pi / period
        frequencies = self._frequency * np.arange(1 + int(np.ceil(REACH / scale / self._frequency)))
        logs = np.log(np.sqrt(2 * np.pi) * scale / period) - (frequencies * scale) ** 2 / 2
        self._sizes = np.exp(logs / 2) * np.where(frequencies > 0, np.sqrt(2), 1)

    def __call__(self, values: Array) -> Array:
        """The features of values, in a new last axis; beyond the interval, those of its end."""
        angles = self._frequency * (np.clip(values, self.low, self.high) - self.low)
        waves = np.empty((*values.shape, len(self._sizes)), dtype=np.complex128)
        waves[..., 0], waves[..., 1:] = 1, np.exp(1j * angles)[..., None]
        np.multiply.accumulate(waves, axis=-1, out=waves)  # powers: far faster than a cosine of each
        waves *= self._sizes
        return np.concatenate([waves.real, waves.imag[..., 1:]], axis=-1)

    def look_up(self, weights: Array, values: Array) -> Array:
        """Functions of some weights, [feature, draw], at values of their own or of all: [draw or 1, …]."""
        points = 2 + int((self.high - self.low) * STEPS / self._scale)
        grid = np.linspace(self.low, self.high, points)
        tables = (self(grid) @ weights).T
        each = np.broadcast_to(values, (len(tables), *values.shape[1:]))
        return np.stack([np.interp(some, grid, table) for some, table in zip(each, tables, strict=True)])


class FunctionDraws:
    """Draws of μ + f from its posterior given rows, in standardised units; x has a column per parent.

    >>> x = np.linspace(-2, 2, 30)[:, None]
    >>> process, rng = Process(np.array([1.0]), noise=0.1), np.random.default_rng(0)
    >>> draws = FunctionDraws(process, x, np.sin(x[:, 0]), 100, rng)
    >>> values = draws.at(slice(None), [np.array([[0.5, 0.5]])])
    >>> bool((values[:, 0] == values[:, 1]).all()), bool(abs(values.mean() - np.sin(0.5)) < 0.02)
    (True, True)
    """

    def __init__(self, process: Process, x: Array, y: Array, number: int, rng: np.random.Generator) -> None:
        self._bases = [FourierBasis(scale, x[:, k]) for k, scale in enumerate(process.scales)]
        self._pairs = list(combinations(range(len(self._bases)), 2)) if process.product else []
        alone = [basis(x[:, k]) for k, basis in enumerate(self._bases)]
        products = [(alone[i][:, :, None] * alone[j][:, None, :]).reshape(len(x), -1) for i, j in self._pairs]
        sizes = [1.0, *[np.sqrt(process.main)] * len(alone), *[np.sqrt(process.product)] * len(products)]
        parts = [np.ones((len(x), 1)), *alone, *products]
        features = np.hstack([size * part for size, part in zip(sizes, parts, strict=True)])
        weights = draw_weights(features, y, process.noise, number, rng)
        self.noise = np.full(number, process.noise)
        ends = np.cumsum([part.shape[1] for part in parts])[:-1]
        self._weights = [
            size * some for size, some in zip(sizes, np.split(weights, ends, axis=0), strict=True)
        ]

    def at(self, some: slice, parents: Sequence[Array]) -> Array:
        """Values of some of the draws; those of each parent are [draw or 1, …] and are broadcast."""
        level, *weights = [part[:, some] for part in self._weights]
        axes = max((values.ndim for values in parents), default=1)
        total: Array = level[0].reshape(-1, *[1] * (axes - 1))
        for basis, part, values in zip(self._bases, weights, parents, strict=False):
            total = total + basis.look_up(part, values)
        for (i, j), part in zip(self._pairs, weights[len(self._bases) :], strict=True):
            one, other = self._bases[i](parents[i]), self._bases[j](parents[j])
            matrices = part.T.reshape(-1, *[1] * (axes - 2), one.shape[-1], other.shape[-1])
            total = total + (one @ matrices * other).sum(axis=-1)
        return total


class FunctionMixture:
    """Draws of μ + f and of the sd of the noise, for hyperparameters drawn from their posterior."""

    def __init__(self, process: Process, x: Array, y: Array, number: int, rng: np.random.Generator) -> None:
        others = [process.draws[place] for place in rng.permutation(len(process.draws))] or [process]
        some = others[: max(number, 1)]
        self._ends = np.linspace(0, number, len(some) + 1).astype(int).tolist()
        sizes = np.diff(self._ends).tolist()
        self._parts = [FunctionDraws(one, x, y, size, rng) for one, size in zip(some, sizes, strict=True)]
        self.noise = np.concatenate([part.noise for part in self._parts])

    def at(self, some: slice, parents: Sequence[Array]) -> Array:
        """Values of some of the draws; those of each parent are [draw or 1, …] and are broadcast."""
        found = []
        for part, start, end in zip(self._parts, self._ends, self._ends[1:], strict=False):
            low, high = max(start, some.start), min(end, some.stop)
            if low < high:
                own = slice(low - some.start, high - some.start)
                values = [each[own] if len(each) > 1 else each for each in parents]
                found.append(part.at(slice(low - start, high - start), values))
        return np.concatenate(found)


def draw_weights(features: Array, y: Array, noise: float, number: int, rng: np.random.Generator) -> Array:
    """Draws of the weights of a regression with normal prior and noise given its rows, [feature, draw].

    >>> features, y = np.eye(2), np.array([3.0, -1.0])
    >>> draws = draw_weights(features, y, 1.0, 20_000, np.random.default_rng(0))
    >>> draws.mean(axis=1).round(1).tolist(), draws.var(axis=1).round(1).tolist()
    ([1.5, -0.5], [0.5, 0.5])
    """
    from scipy.linalg import cho_factor, cho_solve

    rows, size = features.shape
    weights = rng.standard_normal((size, number))
    left = y[:, None] - features @ weights - noise * rng.standard_normal((rows, number))
    if size <= rows:  # (ΦᵀΦ + σ²I)⁻¹Φᵀ is the same as Φᵀ(ΦΦᵀ + σ²I)⁻¹
        factor = cho_factor(features.T @ features + noise**2 * np.eye(size), lower=True)
        change = cho_solve(factor, features.T @ left)
    else:
        factor = cho_factor(features @ features.T + noise**2 * np.eye(rows), lower=True)
        change = features.T @ cho_solve(factor, left)
    drawn: Array = weights + change
    return drawn
