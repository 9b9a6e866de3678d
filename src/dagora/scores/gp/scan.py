"""Starts of climbs with one parent: the density along a grid of length-scales, each with its best noise.

At a fixed length-scale the matrix LᵀGL of the compressed problem (see `additive`) does not involve the child.
With its eigenvalues λ, and w = Vᵀh the child's projections in its eigenbasis,
  ln det S = (N − m) ln s + Σ ln(s + λ),   yᵀS⁻¹y = (yᵀy − Σ w²/(s + λ)) / s,
so that after one eigendecomposition per parent and length-scale any child and any noise cost m operations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.scores.gp.points.compression import LONG
from dagora.scores.gp.prior import LENGTH_SCALE, NOISE

Array = NDArray[np.float64]

# Half an octave apart, as the levels are, so that each uses the smallest basis that is accurate for it.
SCALES = LONG / 2.0 ** (np.arange(-2, 11) / 2)
# The best noise is searched on a grid in log σ, which is then refined around its best point.
COARSE = np.arange(0.25, -4.0, -0.25)
FINE = np.arange(-4.0, 5.0) / 4.0
REFINEMENTS = 4
# Peaks this many nats below the highest one are not climbed: e^−12 is 6e-6.
HOPELESS = 12.0


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues of LᵀGL (m) and squared projections of every child on its eigenvectors (m × children)."""

    eigenvalues: Array
    squares: Array

    def log_likelihoods(self, rows: int, totals: Array, log_noises: Array) -> Array:
        """Log likelihoods (children × noises) of children with sums of squares."""
        s = np.exp(2 * log_noises)
        sums = s[None] + self.eigenvalues[:, None, None]
        determinant = 2 * (rows - len(sums)) * log_noises + np.log(sums).sum(axis=0)
        quadratic = (totals[:, None] - (self.squares[:, :, None] / sums).sum(axis=0)) / s
        likelihood: Array = -0.5 * (rows * np.log(2 * np.pi) + determinant + quadratic)
        return likelihood


def best_noises(spectrum: Spectrum, rows: int, totals: Array) -> tuple[Array, Array]:
    """For every child the best log σ at one length-scale, and likelihood times prior of σ there, in logs."""
    children = np.arange(len(totals))
    log_noises = np.tile(COARSE, (len(totals), 1))
    step = COARSE[0] - COARSE[1]
    for _ in range(REFINEMENTS + 1):
        values = spectrum.log_likelihoods(rows, totals, log_noises) + NOISE.log_density(log_noises)
        top = values.argmax(axis=1)
        best = log_noises[children, top]
        log_noises = best[:, None] + step * FINE
        step /= 4
    return best, values[children, top]


def peaks(log_noises: Array, log_densities: Array) -> Array:
    """Points (log ρ, log σ) where the density, by its value at each of `SCALES`, has a peak worth a climb.

    >>> np.exp(peaks(np.zeros(13), -(np.arange(13.0) - 5) ** 2)).round(2)
    array([[2.83, 1.  ]])
    """
    heights = log_densities + LENGTH_SCALE.log_density(np.log(SCALES))
    around = np.concatenate([[-np.inf], heights, [-np.inf]])
    risen = (heights >= around[:-2]) & (heights > around[2:]) & (heights >= heights.max() - HOPELESS)
    found: Array = np.column_stack([np.log(SCALES), log_noises])[risen]
    return found
