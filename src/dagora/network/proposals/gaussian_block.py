"""Missing continuous variables of many rows: integrated out for every discrete configuration, or drawn.

Given the discrete variables, the regressions make the missing continuous ones x of a row Gaussian: their
density is proportional to exp of −½ (xᵀ Λ x − 2 hᵀ x + c). Its integral is a factor of the discrete
variables, and x has mean Λ⁻¹h and covariance Λ⁻¹. Variables are standardised by the mean and standard
deviation of their observed values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.network.drawing import Noise, configurations
from dagora.network.model import NetworkModel
from dagora.network.proposals.proposal_plan import GaussianBlock
from dagora.network.proposals.row_factors import Floats, Levels, RowFactor

# Least residual standard deviation, as a share of the column's: without noise, the precision is infinite.
SMALLEST_SD = 1e-6
# Relative ridge on the diagonal if rounding has made a matrix indefinite: about the square root of machine ε.
JITTER = 1e-8


@dataclass(frozen=True, eq=False)
class GaussianTerms:
    """A Gaussian in canonical form for each row and configuration: Λ, h and −½ c."""

    precision: Floats
    linear: Floats
    total: Floats


def regression_terms(
    model: NetworkModel,
    block: GaussianBlock,
    columns: Mapping[str, NDArray[Any]],
    shape: tuple[int, ...],
    scales: Mapping[str, tuple[float, float]],
) -> GaussianTerms:
    """Multiply the regressions of a block into one Gaussian.

    `columns` broadcast to rows × the block's discrete variables; `scales` are the mean and standard deviation
    of the columns.
    """
    place = {name: i for i, name in enumerate(block.continuous)}
    size = len(place)
    precision, linear = np.zeros((*shape, size, size)), np.zeros((*shape, size))
    total = np.full(shape, 0.5 * size * log(2 * pi) + sum(log(scales[name][1]) for name in block.continuous))
    for node in block.families:
        lines, chosen = model.lines[node], configurations(model, node, columns)
        sds = np.maximum(lines.sds[chosen], SMALLEST_SD * scales[node][1])
        rest: Any = (scales[node][0] if node in place else columns[node]) - lines.intercepts[chosen]
        slopes: dict[int, Any] = {place[node]: scales[node][1]} if node in place else {}
        for position, parent in enumerate(model.continuous_parents(node)):
            slope = lines.slopes[chosen][..., position]
            rest = rest - slope * (scales[parent][0] if parent in place else columns[parent])
            if parent in place:
                slopes[place[parent]] = -slope * scales[parent][1]
        weight = 1 / sds**2
        total -= 0.5 * rest**2 * weight + np.log(sds) + 0.5 * log(2 * pi)
        for i, slope in slopes.items():
            linear[..., i] -= slope * rest * weight
            for j, other in slopes.items():
                precision[..., i, j] += slope * other * weight
    return GaussianTerms(precision, linear, total)


class BlockDistribution:
    """The Gaussian of a block for each row and configuration; `factor` is its integral."""

    def __init__(
        self, block: GaussianBlock, terms: GaussianTerms, scales: Mapping[str, tuple[float, float]]
    ) -> None:
        self._block, self._scales = block, scales
        self._root = root_of(terms.precision)
        self._half = forward_solve(self._root, terms.linear)
        total = terms.total + 0.5 * (self._half**2).sum(axis=-1)
        total -= np.log(np.einsum("...ii->...i", self._root)).sum(axis=-1)
        self.factor = RowFactor(block.discrete, total)

    def draw(self, levels: Levels, draws: int, rng: Noise) -> dict[str, Floats]:
        """Draw the continuous variables given the discrete ones, an array of draws × rows each."""
        rows = len(self.factor.logs)
        chosen = (np.arange(rows)[None, :], *(levels[name] for name in self._block.discrete))
        root, half = self._root[chosen], self._half[chosen]
        size = len(self._block.continuous)
        found = half + rng.standard_normal((draws, rows, size))
        for i in reversed(range(size)):
            for j in range(i + 1, size):
                found[..., i] -= root[..., j, i] * found[..., j]
            found[..., i] /= root[..., i, i]
        return {
            name: self._scales[name][0] + self._scales[name][1] * found[..., i]
            for i, name in enumerate(self._block.continuous)
        }

    def moments(self, name: str) -> tuple[Floats, Floats]:
        """Mean and variance of one variable in each row and configuration."""
        inverse = np.linalg.inv(self._root)
        place = self._block.continuous.index(name)
        centre, scale = self._scales[name]
        mean = (inverse[..., :, place] * self._half).sum(axis=-1)
        return centre + scale * mean, scale**2 * (inverse[..., :, place] ** 2).sum(axis=-1)


def root_of(precision: Floats) -> Floats:
    """The lower Cholesky factors of matrices."""
    try:
        return np.asarray(np.linalg.cholesky(precision), dtype=np.float64)
    except np.linalg.LinAlgError:
        diagonal = np.einsum("...ii->...i", precision)
        raised = precision + JITTER * diagonal[..., None] * np.eye(precision.shape[-1])
        return np.asarray(np.linalg.cholesky(raised), dtype=np.float64)


def forward_solve(root: Floats, right: Floats) -> Floats:
    """Solve L y = right for lower triangular matrices, all at once.

    >>> forward_solve(np.array([[2.0, 0.0], [1.0, 4.0]]), np.array([2.0, 9.0]))
    array([1., 2.])
    """
    found = right.copy()
    for i in range(found.shape[-1]):
        for j in range(i):
            found[..., i] -= root[..., i, j] * found[..., j]
        found[..., i] /= root[..., i, i]
    return found
