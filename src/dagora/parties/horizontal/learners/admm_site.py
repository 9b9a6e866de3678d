"""What a site does in NOTEARS-ADMM: its own weights B_k, its own multipliers β_k, and its part of one sum.

    (7)   β_k ← β_k + ρ (B_k − W)                    once the new W is known, with the ρ of that round
    (10)  B_k ← (S_k + ρI)⁻¹ (ρW − β_k + S_k)        S_k = x_kᵀx_k / n, with the n of all sites

Written with D = B_k − W, (10) reads (S_k + ρI) D = S_k(I − W) − β_k, in which nothing cancels however large
ρ grows; one eigendecomposition of S_k serves every ρ. The site answers β_k + ρD, which is its part of
Σ_k (ρB_k + β_k) less the ρW that everybody knows, and equals minus the gradient of its loss at B_k. Beside it
go two sums of squares, for the residuals of the consensus: of D, and of β_k, which grows as ρ times the last
move of W does and is told in such units. All of it only ever leaves as a sum over sites: shown alone, B_k
gives S_k away in the first round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from dagora.errors import ProtocolError
from dagora.parties.horizontal.session.federation import Question, Site
from dagora.parties.horizontal.statistics.columns import prepared_columns

Vector = NDArray[np.float64]


class Model(Protocol):
    """A site's loss: a part of the loss on pooled rows."""

    def proximal(self, weights: Vector, beta: Vector, rho: float) -> Vector:
        """D = B − W for the B that minimises loss(B) + β·(B − W) + (ρ/2) ‖B − W‖²."""

    def loss(self, weights: Vector) -> float:
        """The loss of any weights."""


@dataclass
class Local:
    """A site's side of the consensus; weights of any shape."""

    model: Model
    gradient_scale: Vector
    gradient_unit: float
    weight_unit: float
    weights: Vector
    beta: Vector
    away: Vector
    rho: float = 0.0

    @classmethod
    def begin(cls, model: Model, question: Question) -> Local:
        """Multipliers of zero, and nothing known of W yet."""
        scale = cast("Vector", question["gradient_scale"])
        gradient_unit = cast("float", question["gradient_unit"])
        weight_unit = cast("float", question["weight_unit"])
        zero = np.zeros_like(scale)
        return cls(model, scale, gradient_unit, weight_unit, zero, zero, zero)

    def step(self, weights: Vector, rho: float) -> Vector:
        """Take in the new W (7), solve (4), and return this site's part of the sum."""
        if weights.shape != self.beta.shape or not (np.isfinite(weights).all() and 0 < rho < np.inf):
            raise ProtocolError("the coordinator's weights make no sense")
        self.beta = self.beta + self.rho * (self.away + self.weights - weights)
        self.away = self.model.proximal(weights, self.beta, rho)
        self.weights, self.rho = weights, rho
        part = (self.beta + rho * self.away) / self.gradient_scale
        distance = np.square(self.away / self.weight_unit).sum()
        multipliers = np.square(self.beta / (self.gradient_unit + rho * self.weight_unit)).sum()
        return np.concatenate([part.ravel(), [distance, multipliers]])


@dataclass(frozen=True, eq=False)
class LeastSquaresPart:
    """½ tr((I − B)ᵀ S_k (I − B)), by the eigenvectors of S_k; its columns are in given units."""

    covariance: Vector
    values: Vector
    vectors: Vector
    unit: Vector

    @classmethod
    def of(cls, columns: Vector, n: int, unit: Vector) -> LeastSquaresPart:
        """From centred columns, one per row, and a unit for each; `n` counts the rows of all sites."""
        scaled = columns / unit[:, None]
        covariance = scaled @ scaled.T / n
        values, vectors = np.linalg.eigh(covariance)
        return cls(covariance, np.maximum(values, 0.0), vectors, unit)

    def proximal(self, weights: Vector, beta: Vector, rho: float) -> Vector:
        """Equation (10), less W."""
        right = self.covariance - self.covariance @ weights - beta
        solved: Vector = self.vectors @ ((self.vectors.T @ right) / (self.values + rho)[:, None])
        return solved

    def loss(self, weights: Vector) -> float:
        """This site's part of the least squares, in the columns' own units."""
        residual = (np.eye(len(weights)) - weights) * self.unit
        return 0.5 * float(np.vdot(residual, self.covariance @ residual))


def step(site: Site, question: Question) -> Vector:
    """Task `admm-step`: begins where the question says how to prepare rows, and goes on elsewhere."""
    if "centre" in question:
        n, unit = cast("int", question["n"]), cast("Vector", question["unit"])
        part = LeastSquaresPart.of(prepared_columns(site, question), n, unit)
        site.memory["admm"] = Local.begin(part, question)
    return local(site, "admm").step(cast("Vector", question["weights"]), cast("float", question["rho"]))


def loss(site: Site, question: Question) -> Vector:
    """Task `admm-loss`: this site's part of the loss of given weights."""
    return np.array([local(site, "admm").model.loss(cast("Vector", question["weights"]))])


def local(site: Site, key: str) -> Local:
    """What the site remembers."""
    if key not in site.memory:
        raise ProtocolError("the coordinator asks for a step before it began")
    remembered: Local = site.memory[key]
    return remembered
