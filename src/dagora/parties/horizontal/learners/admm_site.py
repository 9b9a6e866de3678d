"""What a site does in NOTEARS-ADMM: it keeps its own weights B_k and multipliers β_k, and adds to one sum.

    (7)   β_k ← β_k + ρ (B_k − W)                    once the new W is known, with the ρ of that round
    (10)  B_k ← (S_k + ρI)⁻¹ (ρW − β_k + S_k)        S_k = x_kᵀx_k / n, with the n of all sites

With D = B_k − W, (10) reads (S_k + ρI) D = S_k(I − W) − β_k, in which no terms cancel however large ρ grows;
one eigendecomposition of S_k serves every ρ. The site answers β_k + ρD. That is its part of Σ_k (ρB_k + β_k)
without ρW, which everybody knows, and it equals minus the gradient of its loss at B_k. It also answers two
sums of squares for the residuals of the consensus: of D, and of β_k, in units that grow with ρ as β_k does.
All of it leaves the site only within a sum over sites: B_k alone would reveal S_k in the first round.
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
    """A site's part of the loss on pooled rows."""

    def proximal(self, weights: Vector, beta: Vector, rho: float) -> Vector:
        """D = B − W for the B that minimises loss(B) + β·(B − W) + (ρ/2) ‖B − W‖²."""

    def loss(self, weights: Vector) -> float:
        """The loss of any weights."""


@dataclass
class SiteState:
    """What a site remembers: W and ρ of the last round, β_k, and D = B_k − W (`away`)."""

    model: Model
    gradient_scale: Vector
    gradient_unit: float
    weight_unit: float
    weights: Vector
    beta: Vector
    away: Vector
    rho: float = 0.0

    @classmethod
    def begin(cls, model: Model, question: Question) -> SiteState:
        """Start with multipliers of zero; the first question contains the scales of the sums."""
        scale = cast("Vector", question["gradient_scale"])
        gradient_unit = cast("float", question["gradient_unit"])
        weight_unit = cast("float", question["weight_unit"])
        zero = np.zeros_like(scale)
        return cls(model, scale, gradient_unit, weight_unit, zero, zero, zero)

    def step(self, weights: Vector, rho: float) -> Vector:
        """Update β_k by the new W (7), solve (4), and return this site's part of the sum."""
        if weights.shape != self.beta.shape or not (np.isfinite(weights).all() and 0 < rho < np.inf):
            raise ProtocolError("the coordinator's weights or ρ are not finite, or have the wrong shape")
        self.beta = self.beta + self.rho * (self.away + self.weights - weights)
        self.away = self.model.proximal(weights, self.beta, rho)
        self.weights, self.rho = weights, rho
        part = (self.beta + rho * self.away) / self.gradient_scale
        distance = np.square(self.away / self.weight_unit).sum()
        multipliers = np.square(self.beta / (self.gradient_unit + rho * self.weight_unit)).sum()
        return np.concatenate([part.ravel(), [distance, multipliers]])


@dataclass(frozen=True, eq=False)
class LeastSquaresPart:
    """½ tr((I − B)ᵀ S_k (I − B)) of columns divided by `unit`, by the eigendecomposition of S_k."""

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
        """This site's part of the least squares, in the original units of the columns."""
        residual = (np.eye(len(weights)) - weights) * self.unit
        return 0.5 * float(np.vdot(residual, self.covariance @ residual))


def step(site: Site, question: Question) -> Vector:
    """Task `admm-step`: one round; the first question says how to prepare rows (`centre`)."""
    if "centre" in question:
        n, unit = cast("int", question["n"]), cast("Vector", question["unit"])
        part = LeastSquaresPart.of(prepared_columns(site, question), n, unit)
        site.memory["admm"] = SiteState.begin(part, question)
    return answer_round(site, "admm", question)


def loss(site: Site, question: Question) -> Vector:
    """Task `admm-loss`: this site's part of the loss of given weights."""
    return answer_loss(site, "admm", question)


def answer_round(site: Site, key: str, question: Question) -> Vector:
    """This site's part of the sum of one round, for the learner that remembers its state under `key`."""
    weights, rho = cast("Vector", question["weights"]), cast("float", question["rho"])
    return remembered(site, key).step(weights, rho)


def answer_loss(site: Site, key: str, question: Question) -> Vector:
    """This site's part of the loss of given weights."""
    return np.array([remembered(site, key).model.loss(cast("Vector", question["weights"]))])


def remembered(site: Site, key: str) -> SiteState:
    """The state after the last round; an error before the first."""
    if key not in site.memory:
        raise ProtocolError(
            "the coordinator asks for a round or a loss before the first question of a session"
        )
    state: SiteState = site.memory[key]
    return state
