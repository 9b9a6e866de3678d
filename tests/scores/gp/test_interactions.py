"""The kernel with first-order interactions against the full matrix."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import invgamma, multivariate_normal

from dagora.scores.gp.compression import se_kernel
from dagora.scores.gp.interactions import Interactions, dense_log_likelihood, log_likelihood
from dagora.scores.gp.score import GaussianProcessScore
from dagora.stats.table import TableStatistics
from tests.random_tables import continuous_table
from tests.scores.gp.problems import standardised, wavy_columns


def expected(columns, child, parents, scales, main, product, sigma):
    kernels = [
        se_kernel(columns[:, k], columns[:, k], scale) for k, scale in zip(parents, scales, strict=True)
    ]
    covariance = 1.0 + main * sum(kernels) + sigma**2 * np.eye(len(columns))
    for one, other in combinations(kernels, 2):
        covariance = covariance + product * one * other
    return multivariate_normal(np.zeros(len(columns)), covariance).logpdf(columns[:, child])


@pytest.mark.parametrize("variant", ["paper", "published"])
@pytest.mark.parametrize(
    ("parents", "scales"), [((0,), (0.9,)), ((0, 1), (0.8, 3.0)), ((0, 1, 2), (2.0, 4.0, 1.1))]
)
def test_log_density_is_that_of_the_full_matrix(variant, parents, scales):
    columns = wavy_columns(200)
    taus = (1.7, 0.4)[: 2 if len(parents) > 1 else 1]
    point = np.log([*scales, *taus, 0.5])
    found = Interactions(columns, variant).log_density(np.array([4]), np.array([parents]), point[None])[0]
    first, second = taus[0], taus[-1]
    main, product = (first**2, second * first**4) if variant == "published" else (first, second)
    prior = sum(invgamma(2, scale=2).logpdf(scale) + np.log(scale) for scale in scales)
    prior += sum(invgamma(1).logpdf(tau) + np.log(tau) for tau in (*taus, 0.5))
    assert found == pytest.approx(expected(columns, 4, parents, scales, main, product, 0.5) + prior, abs=1e-3)


def test_few_columns_and_the_full_matrix_agree():
    rng = np.random.default_rng(0)
    graded = 0.3 ** np.arange(8)
    parts = [rng.normal(size=(300, 8)) * graded for _ in range(3)]
    y = rng.normal(size=300)
    assert log_likelihood(y, parts, 0.8, 1.3, 0.3) == pytest.approx(
        dense_log_likelihood(y, parts, 0.8, 1.3, 0.3), abs=1e-4
    )


def test_an_interaction_is_seen_by_this_kernel_only():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(40, 3))
    x[:, 2] = x[:, 0] * x[:, 1] + 0.3 * rng.normal(size=40)
    statistics = TableStatistics(continuous_table(standardised(x)))
    families = [(2, (0, 1)), (2, ())]
    additive = GaussianProcessScore(statistics).families(families)
    joint = GaussianProcessScore(statistics, kernel="interactions")
    both, none = joint.families(families)
    assert none == additive[1]
    assert both > additive[0] + 10
    assert joint.details(families[0]).standard_error < 0.1
