"""Modes of likelihoods of discrete children against a fine grid."""

import numpy as np
import pytest

from dagora.network.proposals.softmax_approximation import SoftmaxLikelihood, find_modes


def test_peaks_of_steep_judges_are_found():
    """Newton's full steps jump from one flat side of a steep judge to the other, and never end."""
    judge = SoftmaxLikelihood(np.array([[0.0, -300.0]]), np.array([[[0.0], [100.0]]]), np.array([1]))
    (peak,) = find_modes(np.ones((1, 1, 1)), np.zeros((1, 1)), [judge])
    grid = np.linspace(2, 5, 300_001)
    heights = -0.5 * grid**2 - np.logaddexp(0.0, 300 - 100 * grid)
    assert peak[0] == pytest.approx(grid[heights.argmax()], abs=0.01)
