"""Simulated columns of both kinds."""

import numpy as np
import pytest

from dagora.network.mixed_mechanisms import MixedMechanism, draw_values


def test_the_noise_is_that_of_the_configuration():
    none = np.zeros((2, 1))
    deviations = np.array([1.0, 5.0])
    mechanism = MixedMechanism((2,), none, none[:, :0, None], none[:0], deviations, none[:0, 0], none[:0, 0])
    parent = np.repeat([[0.0], [1.0]], 5000, axis=0)
    drawn = draw_values(mechanism, parent, 0, np.random.default_rng(0))
    assert drawn.reshape(2, -1).std(axis=1) == pytest.approx(deviations, rel=0.05)  # five standard errors
