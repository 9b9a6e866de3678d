"""Log evidence by bridge sampling between posterior draws and a Gaussian with their first two moments.

With N₁ draws θ from the posterior and N₂ draws θ̃ from the proposal g, and l = p/g at each, iterate
  Z ← [N₂⁻¹ Σ l(θ̃)/(s₁ l(θ̃) + s₂ Z)] / [N₁⁻¹ Σ 1/(s₁ l(θ) + s₂ Z)],   sᵢ = Nᵢ/(N₁ + N₂),
in logarithms (eq. 12; Meng & Wong 1996). N₁ = N₂ = 300 as in the paper, drawn by NUTS. The moments come from
another 300 draws: moments fitted to the same draws would bias the estimate. The mean μ is integrated out: the
draws are of (log ρ, log σ). The standard error is that of Frühwirth-Schnatter 2004, with the autocorrelation.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dagora.scores.gp.additive import Derivatives
from dagora.scores.gp.laplace import bounded_curvatures
from dagora.scores.gp.mode import Modes
from dagora.scores.gp.nuts import sample
from dagora.scores.gp.qmc import Evidence

Array = NDArray[np.float64]
Positions = NDArray[np.int64]

DRAWS = 300  # as in the paper
WARMUP = 150  # steps before the draws: half as many as there are draws
SEED = 12  # any would do; a fixed one makes the score deterministic


class DensityWithGradient(Protocol):
    """A density that NUTS can sample."""

    def log_density(self, children: Positions, parents: Positions, parameters: Array) -> Array:
        """Log densities at parameters."""

    def derivatives(self, children: Positions, parents: Positions, parameters: Array) -> Derivatives:
        """Log densities with gradients and Hessians."""


def bridge(model: DensityWithGradient, children: Positions, parents: Positions, modes: Modes) -> Evidence:
    """Log evidence of one family, by draws that start at its best mode; the family is the seed."""
    rng = np.random.default_rng([SEED, int(children[0]), *parents[0].tolist()])
    curvatures, vectors = bounded_curvatures(modes.precisions[:1])
    axes = vectors[0] / np.sqrt(curvatures[0])
    centre = modes.points[0]

    def white(position: Array) -> tuple[float, Array]:
        found = model.derivatives(children, parents, (centre + axes @ position)[None])
        return float(found.values[0]), axes.T @ found.gradients[0]

    draws = sample(white, np.zeros(len(centre)), 2 * DRAWS, WARMUP, rng)
    points = centre + draws @ axes.T
    fitted, posterior = points[::2], points[1::2]
    mean, covariance = fitted.mean(axis=0), np.cov(fitted.T)
    root = np.linalg.cholesky(covariance)
    proposed = mean + rng.standard_normal((DRAWS, len(mean))) @ root.T
    ratios = [
        model.log_density(children, parents, some) - normal_log_density(some, mean, root)
        for some in (posterior, proposed)
    ]
    return meng_wong(*ratios)


def normal_log_density(points: Array, mean: Array, root: Array) -> Array:
    """Log density of a Gaussian with a Cholesky factor of its covariance."""
    standard = np.linalg.solve(root, (points - mean).T)
    constant = 0.5 * len(mean) * np.log(2 * np.pi) + np.log(np.diag(root)).sum()
    density: Array = -0.5 * (standard**2).sum(axis=0) - constant
    return density


def meng_wong(posterior: Array, proposed: Array) -> Evidence:
    """Bridge estimate from log(p/g) at draws of the posterior and of the proposal.

    >>> evidence = meng_wong(np.full(5, 2.0), np.full(7, 2.0))
    >>> evidence.log_score, evidence.standard_error
    (2.0, 0.0)
    """
    middle = float(np.median(posterior))
    one, two = np.exp(posterior - middle), np.exp(proposed - middle)
    effective = len(one) / autocorrelation_time(posterior)
    s1 = effective / (effective + len(two))
    z = 1.0
    for _ in range(1000):
        new = float((two / (s1 * two + (1 - s1) * z)).mean() / (1 / (s1 * one + (1 - s1) * z)).mean())
        if abs(new - z) < 1e-10 * z:
            break
        z = new
    f1, f2 = z / (s1 * one + (1 - s1) * z), two / (s1 * two + (1 - s1) * z)
    spread = f2.var() / f2.mean() ** 2 / len(two) + f1.var() / f1.mean() ** 2 / effective
    return Evidence(middle + float(np.log(z)), float(np.sqrt(spread)), float(effective), len(one) + len(two))


def autocorrelation_time(series: Array) -> float:
    """The number of draws worth one independent draw, by Geyer's initial positive sequence."""
    centred = series - series.mean()
    n = len(centred)
    if not centred.any():
        return 1.0
    power = np.abs(np.fft.rfft(centred, 2 * n)) ** 2
    correlations = np.fft.irfft(power)[:n]
    correlations /= correlations[0]
    total = -1.0
    for k in range(0, n - 1, 2):
        pair = float(correlations[k] + correlations[k + 1])
        if pair < 0:
            break
        total += 2 * pair
    return max(1.0, total)
