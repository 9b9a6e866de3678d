"""Sums of weights by their logarithms."""

import math

import numpy as np

from dagora.posterior.log_sums import add_logs, sum_over_subsets


def test_sums_of_two() -> None:
    for one, other in ((0.0, 0.0), (-3.0, 1.0), (1.0, -3.0), (700.0, 710.0)):
        high = max(one, other)
        expected = high + math.log(math.exp(one - high) + math.exp(other - high))
        assert math.isclose(add_logs(one, other), expected, rel_tol=1e-15)


def test_a_weight_of_nothing_adds_nothing() -> None:
    assert add_logs(-math.inf, 2.0) == add_logs(2.0, -math.inf) == 2.0
    assert add_logs(-math.inf, -math.inf) == -math.inf


def test_every_mask_sums_its_submasks() -> None:
    weights = np.random.default_rng(1).random(16)
    logs = np.log(weights)
    sum_over_subsets(logs)
    expected = [sum(weights[sub] for sub in range(16) if sub & mask == sub) for mask in range(16)]
    np.testing.assert_allclose(np.exp(logs), expected, rtol=1e-12)
