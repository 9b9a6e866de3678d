"""The site's part of NOTEARS-ADMM: it fits its own weights B_k and multipliers β_k, and shows them.

    (7)   β_k ← β_k + ρ (B_k − W)                    once the new W is known, with the ρ of that round
    (10)  B_k ← (S_k + ρI)⁻¹ (ρW − β_k + S_k)        S_k = x_kᵀx_k / n, with the n of all sites

With D = B_k − W, (10) reads (S_k + ρI) D = S_k(I − W) − β_k, in which no terms cancel however large ρ grows;
one eigendecomposition of S_k serves every ρ. The site answers D, that is B_k since everybody knows W, and
β_k; the paper's sites send B_k alone, and the server computes β_k by (7): the same knowledge. The answer of
the first round gives S_k: who takes part shows the coordinator the covariance of its rows. A secure sum of
the answers of all sites would not help, as `papers/admm/attack` shows.

Over series (`admm_dynamic`), S_k holds the second moments of the windows of the site's series about the means
of all sites, and B_k = (W; A_1; …; A_p) has a column for each variable. The answer of the first round then
gives the covariance of the windows of its series.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import ProtocolError
from dagora.data.series import Panel
from dagora.parties.horizontal.learners.checked_fields import (
    MOST_ROWS,
    check_names,
    finite_answer,
    real,
    reals,
    refuse,
    whole,
)
from dagora.parties.horizontal.learners.columns import Preparation
from dagora.parties.horizontal.session.federation import Answer, Site, TaskQuestion
from dagora.stats.lagged import window_moments

Vector = NDArray[np.float64]

# Key of a site's memory.
MEMORY = "admm"


class SiteLoss(Protocol):
    """A site's part of the loss on pooled rows."""

    def proximal(self, weights: Vector, beta: Vector, rho: float) -> Vector:
        """D = B − W for the B that minimises loss(B) + β·(B − W) + (ρ/2) ‖B − W‖²."""

    def loss(self, weights: Vector) -> float:
        """The loss of any weights."""


@dataclass
class SiteState:
    """The state of a site between rounds: W and ρ of the last one, β_k, and D = B_k − W (`away`)."""

    model: SiteLoss
    weights: Vector
    beta: Vector
    away: Vector
    rho: float = 0.0

    @classmethod
    def begin(cls, model: SiteLoss, shape: tuple[int, ...]) -> SiteState:
        """Start with multipliers of zero."""
        zero = np.zeros(shape)
        return cls(model, zero, zero, zero)

    def step(self, weights: Vector, rho: float) -> dict[str, Vector]:
        """Update β_k by the new W (7), solve (4), and answer D and β_k."""
        self.beta = self.beta + self.rho * (self.away + self.weights - weights)
        self.away = self.model.proximal(weights, self.beta, rho)
        self.weights, self.rho = weights, rho
        return {"away": self.away, "multipliers": self.beta}


@dataclass(frozen=True, eq=False)
class LeastSquaresPart:
    """½ tr((I − B)ᵀ S_k (I − B)) of columns divided by `unit`, by the eigendecomposition of S_k.

    B may have fewer columns than rows (`admm_dynamic`): then the last columns of S_k are only regressed on,
    and I stands for its own first columns.
    """

    covariance: Vector
    values: Vector
    vectors: Vector
    unit: Vector

    @classmethod
    def of(cls, columns: Vector, n: int, unit: Vector) -> LeastSquaresPart:
        """From centred columns, one per row, and a unit for each; `n` counts the rows of all sites."""
        scaled = columns / unit[:, None]
        return cls.of_covariance(scaled @ scaled.T / n, unit)

    @classmethod
    def of_covariance(cls, covariance: Vector, unit: Vector) -> LeastSquaresPart:
        """From S_k of columns that are divided by their units already."""
        if not np.isfinite(covariance).all():
            raise refuse("admm-step", "the units are too small for the columns")
        values, vectors = np.linalg.eigh(covariance)
        return cls(covariance, np.maximum(values, 0.0), vectors, unit)

    def proximal(self, weights: Vector, beta: Vector, rho: float) -> Vector:
        """Equation (10), less W."""
        right = self.covariance[:, : weights.shape[1]] - self.covariance @ weights - beta
        solved: Vector = self.vectors @ ((self.vectors.T @ right) / (self.values + rho)[:, None])
        return solved

    def loss(self, weights: Vector) -> float:
        """This site's part of the least squares, in the original units of the columns."""
        residual = (np.eye(*weights.shape) - weights) * self.unit[: weights.shape[1]]
        return 0.5 * float(np.vdot(residual, self.covariance @ residual))


@dataclass(frozen=True, eq=False)
class LinearRound:
    """A checked question of one round; the first one also says how to prepare rows, and in which units."""

    weights: Vector
    rho: float
    first: tuple[Preparation, Vector] | None

    @classmethod
    def read(cls, site: Site, question: TaskQuestion) -> LinearRound:
        """Check a question `admm-step`."""
        task, d = "admm-step", len(site.table.names)
        begins = "centre" in question
        check_names(task, question, ("weights", "rho", *(("unit", *Preparation.FIELDS) if begins else ())))
        first = None
        if begins:
            unit = reals(task, question, "unit", (d,))
            if not (unit > 0).all():
                raise refuse(task, "every 'unit' must be above 0")
            first = Preparation.read(task, site, question), unit
        weights = reals(task, question, "weights", (d, d))
        return cls(weights, real(task, question, "rho", open_low=True), first)


def step(site: Site, question: TaskQuestion) -> Answer:
    """Task `admm-step`: one round."""
    asked = LinearRound.read(site, question)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if asked.first is not None:
            prepared, unit = asked.first
            part = LeastSquaresPart.of(prepared.columns(site), prepared.n, unit)
            site.memory[MEMORY] = SiteState.begin(part, asked.weights.shape)
        return finite_answer("admm-step", state_of(site, MEMORY).step(asked.weights, asked.rho))


def loss(site: Site, question: TaskQuestion) -> Answer:
    """Task `admm-loss`: this site's part of the loss of given weights."""
    d = len(site.table.names)
    return answer_loss(site, "admm-loss", MEMORY, (d, d), question)


def answer_loss(site: Site, task: str, key: str, shape: tuple[int, ...], question: TaskQuestion) -> Answer:
    """This site's part of the loss of given weights, for the learner that remembers its state under `key`."""
    check_names(task, question, ("weights",))
    weights = reals(task, question, "weights", shape)
    with np.errstate(over="ignore", invalid="ignore"):
        return finite_answer(task, {"loss": np.array([state_of(site, key).model.loss(weights)])})


def state_of(site: Site, key: str) -> SiteState:
    """The state after the last round; an error before the first."""
    if key not in site.memory:
        raise ProtocolError(
            "the coordinator asks for a round or a loss before the first question of a session"
        )
    state: SiteState = site.memory[key]
    return state


LAGGED_STEP, LAGGED_LOSS = "admm-lagged-step", "admm-lagged-loss"
# Key of a site's memory.
LAGGED_MEMORY = "admm-lagged"


def series_of(task: str, site: Site) -> tuple[Panel, tuple[int, int]]:
    """The site's series, and the shape of the weights: the columns of a window, and the variables."""
    if site.panel is None or not site.lags:
        raise refuse(task, "windows of time are asked for, and the plan is not about series")
    d = len(site.table.names)
    return replace(site.panel, table=site.table), (d * (site.lags + 1), d)


def lagged_step(site: Site, question: TaskQuestion) -> Answer:
    """Task `admm-lagged-step`: one round; the first question also has the means and units of windows."""
    panel, shape = series_of(LAGGED_STEP, site)
    begins = "mean" in question
    check_names(LAGGED_STEP, question, ("weights", "rho", *(("n", "mean", "unit") if begins else ())))
    weights = reals(LAGGED_STEP, question, "weights", shape)
    rho = real(LAGGED_STEP, question, "rho", open_low=True)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if begins:
            part = LeastSquaresPart.of_covariance(*scaled_covariance(panel, site.lags, question, shape[0]))
            site.memory[LAGGED_MEMORY] = SiteState.begin(part, shape)
        return finite_answer(LAGGED_STEP, state_of(site, LAGGED_MEMORY).step(weights, rho))


def scaled_covariance(panel: Panel, lags: int, question: TaskQuestion, columns: int) -> tuple[Vector, Vector]:
    """S_k of windows divided by the units asked for, about the means asked for; and the units."""
    unit = reals(LAGGED_STEP, question, "unit", (columns,))
    if not (unit > 0).all():
        raise refuse(LAGGED_STEP, "every 'unit' must be above 0")
    mean = reals(LAGGED_STEP, question, "mean", (columns,))
    n = whole(LAGGED_STEP, question, "n", 1, MOST_ROWS)
    own = window_moments(panel, np.flatnonzero(panel.lengths > lags), lags)
    away = own.mean - mean
    products = own.scatter + own.n * np.outer(away, away)
    return products / np.outer(unit, unit) / n, unit


def lagged_loss(site: Site, question: TaskQuestion) -> Answer:
    """Task `admm-lagged-loss`: this site's part of the loss of given weights."""
    return answer_loss(site, LAGGED_LOSS, LAGGED_MEMORY, series_of(LAGGED_LOSS, site)[1], question)
