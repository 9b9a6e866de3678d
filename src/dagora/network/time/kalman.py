r"""Exact answers of a linear Gaussian network in time: the Kalman filter and smoother, with missing cells.

    x_s = B_0 x_s + B_1 x_{s−1} + … + B_p x_{s−p} + c + e_s,   e_s ~ N(0, diag(sd²)),   at every step s ≥ p

is brought to x_s = M (c + Σ B_k x_{s−k} + e_s) with M = (I − B_0)⁻¹, and the state z_s = (x_s, …, x_{s−p+1})
follows z_s = T z_{s−1} + m + e. The first p steps have the equations of the initial distribution, whose
parents are not earlier than the first step. Cells that are seen are exact measurements of parts of the state.

The smoother is the fixed-interval one of de Jong (1989), which inverts the covariances of what is measured
alone: those of the state are singular here, as parts of it are known exactly. A variable that is set from
outside at a step has the equation x = value there. Variables are brought to comparable units first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import QueryError
from dagora.network.time.histories import SeriesHistory
from dagora.network.time.step_model import At, StepModel

Array = NDArray[np.float64]

NO_NOISE = 1e-12
"""A measured direction whose variance is below this share of the largest counts as without noise."""

SETTLED = 1e-14
"""Change from step to step, as a share and in units of the noise, below which nothing changes any more."""

MOST_NUMBERS = 150_000_000
"""Numbers that the way back of the smoother may keep (1.2 GB)."""


@dataclass(frozen=True, eq=False)
class LinearSteps:
    """The equations of each step, in units of `scales`."""

    steps: StepModel

    @cached_property
    def scales(self) -> Array:
        """A unit for every variable: the standard deviation of its noise, or of those of its first step."""
        lines = self.steps.model.lines
        sds = np.array([float(lines[name].sds) for name in self.steps.variables])
        first = np.array([float(lines[self.steps.node(name, 0)].sds) for name in self.steps.variables])
        found = np.where(sds > 0, sds, first)
        return np.where(found > 0, found, 1.0)

    def equations(self, step: int, set_at: Mapping[At, float]) -> tuple[Array, Array, Array]:
        """T, m and the covariance of e for a step, over the variables and the state before it."""
        own = self.set_here(step, set_at)
        key = (min(step, self.steps.lags), tuple(own.items()))
        if key not in self._solved:
            self._solved[key] = self._solve(key[0], own)
        return self._solved[key]

    def set_here(self, step: int, set_at: Mapping[At, float]) -> dict[str, float]:
        """The variables that are set at a step."""
        return {name: set_at[name, step] for name in self.steps.variables if (name, step) in set_at}

    def last_news(self, history: SeriesHistory, set_at: Mapping[At, float]) -> int:
        """The last step at which something was seen, or at which other values are set than before."""
        for step in range(history.steps - 1, self.steps.lags, -1):
            if history.seen[step].any() or self.set_here(step, set_at) != self.set_here(step - 1, set_at):
                return step
        return self.steps.lags

    def growth(self) -> float:
        """The factor by which the series grow from step to step in the long run; below 1 they stay in bounds.

        >>> import dagora
        >>> graph = dagora.LaggedGraph(("x",), 1, [("x", "x", 1)])
        >>> series = {"t": range(6), "x": [0.0, 1.0, 2.0, 4.0, 8.0, 16.5]}
        >>> network = dagora.fit(graph, series, time="t", continuous=["x"])
        >>> LinearSteps(network.steps).growth() > 1
        True
        """
        top = self.equations(self.steps.lags, {})[0]
        d, size = top.shape
        moved = np.zeros((size, size))
        moved[:d], moved[d:, : size - d] = top, np.eye(size - d)
        try:
            return float(np.abs(np.linalg.eigvals(moved)).max(initial=0.0))
        except np.linalg.LinAlgError:  # numbers that are not finite, or differ by more than their digits
            return float("inf")

    @cached_property
    def _solved(self) -> dict[tuple[int, tuple[tuple[str, float], ...]], tuple[Array, Array, Array]]:
        return {}

    def _solve(self, step: int, own: Mapping[str, float]) -> tuple[Array, Array, Array]:
        steps, d, p = self.steps, len(self.steps.variables), self.steps.lags
        now, past = np.zeros((d, d)), np.zeros((d, d * p))
        constant, sds = np.zeros(d), np.zeros(d)
        for i, name in enumerate(steps.variables):
            if name in own:
                constant[i] = own[name] / self.scales[i]
                continue
            line = steps.model.lines[steps.node(name, step)]
            constant[i], sds[i] = float(line.intercepts), float(line.sds)
            for slope, (parent, at) in zip(line.slopes, steps.parents(name, step), strict=True):
                j, lag = steps.place(parent), step - at
                if lag:
                    past[i, (lag - 1) * d + j] = slope * self.scales[j]
                else:
                    now[i, j] = slope * self.scales[j]
            now[i], past[i] = now[i] / self.scales[i], past[i] / self.scales[i]
            constant[i], sds[i] = constant[i] / self.scales[i], sds[i] / self.scales[i]
        mixing = np.linalg.inv(np.eye(d) - now)
        noisy = mixing * sds
        return mixing @ past, mixing @ constant, noisy @ noisy.T


@dataclass(frozen=True, eq=False)
class FilterStep:
    """The state before and after the measurements of a step, and what the way back needs."""

    mean: Array  # of the state, given the earlier steps
    covariance: Array
    gain: Array  # K = P Zᵀ F⁺
    inverse: Array  # F⁺
    error: Array  # what was measured, less what was expected
    seen: NDArray[np.int64]
    transition: Array  # to this step, from the state before it


@dataclass(frozen=True, eq=False)
class FilterResult:
    """Means and covariances of the variables of each step, given it and the earlier ones, in their own units.

    log_densities: of what was seen at a step, given the earlier ones
    distances:     squared Mahalanobis distances of what was seen from what was expected
    measured:      the number of directions with noise that were measured
    """

    means: Array
    covariances: Array
    log_densities: Array
    distances: Array
    measured: NDArray[np.int64]
    kept: tuple[FilterStep, ...] = ()


def run_filter(
    steps: StepModel, history: SeriesHistory, set_at: Mapping[At, float] | None = None, *, keep: bool = False
) -> FilterResult:
    """Run the Kalman filter over a history."""
    linear, fixed = LinearSteps(steps), dict(set_at or {})
    d, size = len(steps.variables), len(steps.variables) * steps.lags
    scales, total = linear.scales, history.steps
    if keep and total * size * size * 2 > MOST_NUMBERS:
        raise QueryError(
            f"smoothing {total:,} steps of {size} numbers each would keep {total * size * size * 2:,} "
            "numbers: choose fewer steps, or filter"
        )
    mean, covariance = np.zeros(size), np.zeros((size, size))
    means, covariances = np.zeros((total, d)), np.zeros((total, d, d))
    logs, distances, measured = np.zeros(total), np.zeros(total), np.zeros(total, dtype=np.int64)
    kept = []
    news = total if keep else linear.last_news(history, fixed)
    for step in range(total):
        top, constant, noise = linear.equations(step, fixed)
        last = (mean, covariance)
        mean, covariance = predict(mean, covariance, top, constant, noise, d)
        seen = np.flatnonzero(history.seen[step])
        seen = np.array([k for k in seen if (steps.variables[k], step) not in fixed], dtype=np.int64)
        before = (mean, covariance)
        error = history.values[step, seen] / scales[seen] - mean[seen]
        inverse, log_size, rank, possible = invert(covariance[np.ix_(seen, seen)], error)
        if not possible:
            raise QueryError(
                f"what was seen at step {step + 1} of a series cannot be under the network: a variable "
                "without noise has another value"
            )
        gain = covariance[:, seen] @ inverse
        if len(seen):
            mean = mean + gain @ error
            mean[seen] = history.values[step, seen] / scales[seen]
            covariance = covariance - gain @ covariance[seen]
            covariance[seen] = 0.0
            covariance[:, seen] = 0.0
            covariance = (covariance + covariance.T) / 2
        distances[step] = float(error @ inverse @ error)
        measured[step] = rank
        logs[step] = -0.5 * (rank * np.log(2 * np.pi) + log_size + distances[step])
        logs[step] -= float(np.log(scales[seen]).sum()) if rank == len(seen) else 0.0
        means[step] = mean[:d] * scales
        covariances[step] = covariance[:d, :d] * scales[:, None] * scales
        set_exactly(steps, step, fixed, means, covariances)
        if step > news and all(
            np.allclose(one, other, SETTLED, SETTLED)
            for one, other in zip((mean, covariance), last, strict=True)
        ):
            means[step:], covariances[step:] = means[step], covariances[step]
            break
        if keep:
            kept.append(FilterStep(*before, gain, inverse, error, seen, top))
    return FilterResult(means, covariances, logs, distances, measured, tuple(kept))


def set_exactly(
    steps: StepModel, step: int, fixed: Mapping[At, float], means: Array, covariances: Array
) -> None:
    """Give the variables that are set at a step their values, without what rounding has left."""
    for k, name in enumerate(steps.variables):
        if (name, step) in fixed:
            means[step, k] = fixed[name, step]
            covariances[step, k], covariances[step, :, k] = 0.0, 0.0


def predict(
    mean: Array, covariance: Array, top: Array, constant: Array, noise: Array, d: int
) -> tuple[Array, Array]:
    """The state one step on: new variables on top, the oldest dropped."""
    size = len(mean)
    moved, wide = np.empty(size), np.empty((size, size))
    moved[:d], moved[d:] = top @ mean + constant, mean[: size - d]
    across = top @ covariance
    wide[:d, :d] = across @ top.T + noise
    wide[:d, d:] = across[:, : size - d]
    wide[d:, :d] = wide[:d, d:].T
    wide[d:, d:] = covariance[: size - d, : size - d]
    return moved, wide


def invert(covariance: Array, error: Array) -> tuple[Array, float, int, bool]:
    """The inverse on directions with noise, its log determinant, their number; True if the rest fits."""
    if not len(error):
        return covariance, 0.0, 0, True
    if not np.isfinite(covariance).all():
        raise QueryError("the network's numbers are too large or too small for its steps: look at its file")
    values, vectors = np.linalg.eigh(covariance)
    noisy = values > NO_NOISE * max(float(values[-1]), NO_NOISE)
    off = vectors[:, ~noisy].T @ error
    possible = bool((np.abs(off) <= 1e-6 * (1 + np.abs(error).max())).all())
    kept = vectors[:, noisy]
    inverse = (kept / values[noisy]) @ kept.T
    return inverse, float(np.log(values[noisy]).sum()), int(noisy.sum()), possible


def run_smoother(
    steps: StepModel, history: SeriesHistory, set_at: Mapping[At, float] | None = None
) -> tuple[Array, Array]:
    """Means and covariances of the variables of each step, given the whole history."""
    found = run_filter(steps, history, set_at, keep=True)
    scales, d = LinearSteps(steps).scales, len(steps.variables)
    size = d * steps.lags
    means, covariances = np.zeros_like(found.means), np.zeros_like(found.covariances)
    r, n = np.zeros(size), np.zeros((size, size))
    for step in range(history.steps - 1, -1, -1):
        at = found.kept[step]
        # r and n now are those of the state after the measurements of this step
        left = np.eye(size)
        left[:, at.seen] -= at.gain
        r, n = left.T @ r, left.T @ n @ left
        r[at.seen] += at.inverse @ at.error
        n[np.ix_(at.seen, at.seen)] += at.inverse
        mean = at.mean + at.covariance @ r
        spread = at.covariance - at.covariance @ n @ at.covariance
        means[step] = mean[:d] * scales
        covariances[step] = (spread[:d, :d] + spread[:d, :d].T) / 2 * scales[:, None] * scales
        known = history.seen[step]
        means[step, known] = history.values[step, known]
        covariances[step, known], covariances[step][:, known] = 0.0, 0.0
        set_exactly(steps, step, set_at or {}, means, covariances)
        back = np.zeros((size, size))
        back[:d], back[d:, : size - d] = at.transition, np.eye(size - d)
        r, n = back.T @ r, back.T @ n @ back
    return means, covariances
