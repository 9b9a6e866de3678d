"""Forecasts of a Gaussian network that hold what its rows leave open of the parameters.

Parameters are drawn from their posterior, and the ends of an interval are quantiles of the mixture of normals
that the draws give. Its standard deviation would not do for them: of a few rows, one draw in a hundred lets
the series grow from step to step, and decides it alone. So draws of that kind are also left out where the
fitted parameters are not of it, as in Bayesian vector autoregressions (Cogley & Sargent 2005).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dagora.network.parameter_posterior import ParameterPosterior, draw_parameters
from dagora.network.time.histories import SeriesHistory
from dagora.network.time.kalman import LinearSteps, run_filter
from dagora.network.time.step_model import At, StepModel
from dagora.network.time.trajectory import TrajectorySeries

Array = NDArray[np.float64]

PARAMETER_DRAWS = 100
"""Draws of the parameters behind an interval: its ends are known to about 2 %."""

MOST_STEPS = 20_000
"""Steps of the filter that all draws of the parameters of a series may take together."""

FEWEST_DRAWS = 10

MOST_TRIES = 20
"""Draws of the parameters that are tried for one with which the series does not grow; the last one counts."""

HALVINGS = 60
"""Halvings of an interval that holds the end of another one: it is then known to all digits."""


def drawn_models(
    steps: StepModel, posteriors: Mapping[str, ParameterPosterior], number: int, rng: np.random.Generator
) -> list[StepModel]:
    """Draws of the parameters; where the fitted ones keep the series within bounds, the draws do so, too."""
    bounded = LinearSteps(steps).growth() < 1
    found = []
    for _ in range(number):
        for _ in range(MOST_TRIES if bounded else 1):
            one = StepModel(draw_parameters(steps.model, posteriors, rng))
            if not bounded or LinearSteps(one).growth() < 1:
                break
        found.append(one)
    return found


def with_open_parameters(
    steps: StepModel, drawn: list[StepModel], history: SeriesHistory, set_at: dict[At, float], level: float
) -> TrajectorySeries:
    """The distributions of a Gaussian network whose parameters are known as well as the draws agree."""
    centre = run_filter(steps, history, set_at).means
    means, variances = np.zeros((2, len(drawn), *centre.shape))
    for place, model in enumerate(drawn):
        one = run_filter(model, history, set_at)
        means[place] = one.means
        variances[place] = np.maximum(np.diagonal(one.covariances, axis1=1, axis2=2), 0.0)
    sds = np.sqrt((variances + (means - centre) ** 2).mean(axis=0))
    low, high = (mixture_quantile(means, np.sqrt(variances), (1 + sign * level) / 2) for sign in (-1, 1))
    parts = [
        {name: np.ascontiguousarray(part[:, k]) for k, name in enumerate(steps.variables)}
        for part in (centre, sds, low, high)
    ]
    return TrajectorySeries("", (), (), parts[0], parts[1], parts[2], parts[3])


def mixture_quantile(means: Array, sds: Array, share: float) -> Array:
    """The quantile of equally weighted normal distributions; they are the first axis.

    >>> mixture_quantile(np.array([0.0, 0.0]), np.array([1.0, 1.0]), 0.975).round(2)
    np.float64(1.96)
    """
    ends = means + float(ndtri(share)) * sds
    low, high = ends.min(axis=0), ends.max(axis=0)
    sds = np.maximum(sds, np.finfo(np.float64).tiny)  # what is set has none
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below = ndtr((middle - means) / sds).mean(axis=0) < share
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray((low + high) / 2)
