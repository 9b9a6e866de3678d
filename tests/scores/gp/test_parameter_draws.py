"""Hyperparameters drawn from their posterior, against that posterior on a grid, from dense matrices."""

import numpy as np
import pytest
from scipy.stats import invgamma, multivariate_normal

import dagora
from dagora.scores.gp.score import GaussianProcessScore
from dagora.stats.table import TableStatistics


@pytest.mark.full
@pytest.mark.parametrize("noise", [0.2, 1.0])
def test_means_and_spreads_of_the_logarithms(noise):
    rng = np.random.default_rng(3)
    x = rng.uniform(-2, 2, 40)
    y = np.sin(1.5 * x) + noise * rng.standard_normal(40)
    columns = np.column_stack([x, y])
    columns = (columns - columns.mean(axis=0)) / columns.std(axis=0, ddof=1)
    table = dagora.Table.from_numpy(columns, ["x", "y"], continuous=["all"])
    score = GaussianProcessScore(TableStatistics(table), estimator="laplace")
    drawn = np.log(score.parameter_draws((1, (0,)), 2000))

    scales, noises = np.linspace(np.log(0.15), np.log(40), 60), np.linspace(np.log(0.08), np.log(2.5), 60)
    logs = np.empty((60, 60))
    for i, scale in enumerate(np.exp(scales)):
        kernel = 1 + np.exp(-((columns[:, None, 0] - columns[:, 0]) ** 2) / (2 * scale**2))
        for j, sigma in enumerate(np.exp(noises)):
            covariance = kernel + sigma**2 * np.eye(40)
            prior = invgamma(2, scale=2).logpdf(scale) + invgamma(1, scale=1).logpdf(sigma)
            jacobian = scales[i] + noises[j]
            logs[i, j] = multivariate_normal(cov=covariance).logpdf(columns[:, 1]) + prior + jacobian
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    for place, (grid, share) in enumerate([(scales, weights.sum(axis=1)), (noises, weights.sum(axis=0))]):
        mean = grid @ share
        spread = np.sqrt((grid - mean) ** 2 @ share)
        assert drawn[:, place].mean() == pytest.approx(mean, abs=0.15 * spread)
        assert drawn[:, place].std() == pytest.approx(spread, rel=0.2)
