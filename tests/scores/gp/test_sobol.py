"""Sobol nets against scipy's."""

import numpy as np
import pytest
from scipy.stats.qmc import Sobol

from dagora.scores.gp.sobol import DIRECTIONS, SEED, scrambled_net, sobol_net


@pytest.mark.parametrize(("size", "power", "seed"), [(1, 5, 0), (2, 8, 1), (5, 9, 2), (17, 8, 3)])
def test_a_net_is_that_of_scipy_to_the_last_bit(size, power, seed):
    expected = Sobol(size, scramble=True, rng=np.random.default_rng(seed)).random_base2(power)
    assert np.array_equal(scrambled_net(size, 1 << power, np.random.default_rng(seed)), expected)


def test_nets_of_more_dimensions_than_are_listed_are_made_by_scipy():
    size = len(DIRECTIONS) + 2
    expected = Sobol(size, scramble=True, rng=np.random.default_rng([SEED, 4])).random_base2(5)
    assert np.array_equal(sobol_net(size, 32, 4), expected)
