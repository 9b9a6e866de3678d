"""Priors of the Gaussian-process networks (eq. 19): θ ~ IG(2, 2), σ ~ IG(1, 1), τ ~ IG(1, 1), μ ~ N(0, 1).

The inverse gamma of the noise is on its standard deviation σ, as in the published code (section 4.1 of the
text says “noise variance”). Densities are those of log θ, with the Jacobian, and are not truncated:
  log p(log θ) = a ln b − ln Γ(a) − a log θ − b / θ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class InverseGamma:
    """Inverse gamma with shape a and scale b, seen in the logarithm of its variable.

    >>> round(float(InverseGamma(1, 1).log_density(np.zeros(1))[0]), 6)
    -1.0
    """

    shape: float
    scale: float

    def log_density(self, log_value: Array) -> Array:
        """Log density of the logarithm."""
        constant = self.shape * math.log(self.scale) - math.lgamma(self.shape)
        density: Array = constant - self.shape * log_value - self.scale * np.exp(-log_value)
        return density

    def slope(self, log_value: Array) -> Array:
        """Its first derivative."""
        slope: Array = self.scale * np.exp(-log_value) - self.shape
        return slope

    def curvature(self, log_value: Array) -> Array:
        """Its second derivative."""
        curvature: Array = -self.scale * np.exp(-log_value)
        return curvature


LENGTH_SCALE = InverseGamma(2.0, 2.0)
NOISE = InverseGamma(1.0, 1.0)
AMPLITUDE = InverseGamma(1.0, 1.0)


def log_prior(parameters: Array, parents: int) -> Array:
    """Log prior density of points (log ρ of each parent, log τ of each amplitude if any, log σ)."""
    scales = LENGTH_SCALE.log_density(parameters[:, :parents]).sum(axis=1)
    amplitudes = AMPLITUDE.log_density(parameters[:, parents:-1]).sum(axis=1)
    prior: Array = scales + (amplitudes + NOISE.log_density(parameters[:, -1]))
    return prior


def prior_derivatives(parameters: Array, parents: int) -> tuple[Array, Array]:
    """First and second derivatives of the log prior at points; each parameter has its own factor."""
    parts = (
        (LENGTH_SCALE, parameters[:, :parents]),
        (AMPLITUDE, parameters[:, parents:-1]),
        (NOISE, parameters[:, -1:]),
    )
    slopes = np.hstack([prior.slope(some) for prior, some in parts])
    return slopes, np.hstack([prior.curvature(some) for prior, some in parts])
