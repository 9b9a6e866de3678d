"""Small problems with known answers, and the dense likelihood that judges the compressed one."""

from itertools import combinations

import numpy as np
from scipy.stats import multivariate_normal

from dagora.scores.gp.points.compression import se_kernel


def standardised(columns):
    columns = columns - columns.mean(axis=0)
    return columns / columns.std(axis=0, ddof=1)


def wavy_columns(rows, seed=0):
    """Four causes, two of them correlated, and a child that is wavy, linear and curved in three of them."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 5))
    x[:, 3] += x[:, 0]
    x[:, 4] = np.sin(1.5 * x[:, 0]) + 0.5 * x[:, 1] + 0.3 * x[:, 2] ** 2 + 0.5 * rng.normal(size=rows)
    return standardised(x)


def dense_log_likelihood(y, parents, scales, sigma):
    """By scipy, from the N × N covariance matrix with the mean integrated out."""
    covariance = 1.0 + sigma**2 * np.eye(len(y))
    for column, scale in zip(parents.T, scales, strict=True):
        covariance = covariance + se_kernel(column, column, scale)
    return multivariate_normal(np.zeros(len(y)), covariance).logpdf(y)


def dense_interactions(y, parents, scales, main, product, sigma):
    """The same with amplitudes and products of kernels."""
    kernels = [se_kernel(column, column, scale) for column, scale in zip(parents.T, scales, strict=True)]
    covariance = 1.0 + main * sum(kernels) + sigma**2 * np.eye(len(y))
    for one, other in combinations(kernels, 2):
        covariance = covariance + product * one * other
    return multivariate_normal(np.zeros(len(y)), covariance).logpdf(y)
