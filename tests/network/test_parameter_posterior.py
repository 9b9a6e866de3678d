"""Draws of parameters vary as the rows behind them say."""

from types import SimpleNamespace

import numpy as np
import pytest

from dagora.network.model import Lines
from dagora.network.parameter_posterior import lines_posterior


def test_coefficients_vary_by_their_standard_errors():
    """Of a regression on a parent of mean 3 and variance 4: sd/√n, and that over 2 for the slope."""
    lines = Lines(np.array(1.0), np.array([0.5]), np.array(2.0))
    model, origin = SimpleNamespace(lines={"x": lines}), SimpleNamespace(rows={"x": 400})
    posterior = lines_posterior(model, origin, "x", np.array([3.0]), np.array([[4.0]]))
    rng = np.random.default_rng(0)
    drawn = [posterior.draw(rng) for _ in range(4000)]
    slopes = np.array([one.slopes[0] for one in drawn])
    centres = np.array([one.intercepts for one in drawn]) + 3 * slopes
    assert slopes.std() == pytest.approx(2 / np.sqrt(400) / 2, rel=0.05)
    assert centres.std() == pytest.approx(2 / np.sqrt(400), rel=0.05)
    assert centres.mean() == pytest.approx(1 + 3 * 0.5, abs=0.01)
