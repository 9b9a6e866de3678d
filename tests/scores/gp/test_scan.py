"""The scan over length-scales against the density itself."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from dagora.scores.gp.additive import Additive
from dagora.scores.gp.prior import LENGTH_SCALE
from dagora.scores.gp.scan import SCALES, peaks
from tests.scores.gp.problems import wavy_columns


@pytest.mark.parametrize(("child", "parent"), [(4, 0), (1, 2), (3, 0)])
def test_each_length_scale_gets_its_best_noise(child, parent):
    model = Additive(wavy_columns(120))
    log_noises, log_densities = model.scan(parent)
    for k in (0, 2, 5, 9):
        log_scale = float(np.log(SCALES[k]))

        def minus(log_noise, log_scale=log_scale):
            point = np.array([[log_scale, log_noise]])
            return -model.log_density(np.array([child]), np.array([[parent]]), point)[0]

        best = minimize_scalar(minus, bounds=(-4, 1), method="bounded", options={"xatol": 1e-6})
        assert log_noises[k, child] == pytest.approx(best.x, abs=2e-3)
        found = log_densities[k, child] + LENGTH_SCALE.log_density(np.array(log_scale))
        assert found == pytest.approx(-best.fun, abs=1e-3)


def test_every_peak_that_is_high_enough_is_found():
    heights = np.full(len(SCALES), -60.0)
    heights[[1, 4, 8, 12]] = [0.0, 1.0, -40.0, 2.0]
    heights -= LENGTH_SCALE.log_density(np.log(SCALES))
    noises = np.linspace(-1, 0, len(SCALES))
    found = peaks(noises, heights)
    assert np.allclose(found, np.column_stack([np.log(SCALES), noises])[[1, 4, 12]])
