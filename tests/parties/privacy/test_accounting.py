"""The price of noise, against closed forms and published numbers."""

from fractions import Fraction
from itertools import pairwise
from math import log, sqrt

import numpy as np
import pytest
from scipy.stats import norm

from dagora.base.errors import OptionError
from dagora.parties.privacy.accounting import delta_of, excess, require_wide_noise, rho_of, total_rho


# From a prototype, to the digits that it gave; the next test checks the formula on a grid.
@pytest.mark.parametrize(
    ("epsilon", "rho", "digits"),
    [(0.5, 0.0066, 4), (1, 0.0244, 4), (2, 0.088, 3), (4, 0.311, 3), (8, 1.05, 2)],
)
def test_conversion_at_one_in_a_million(epsilon: float, rho: float, digits: int) -> None:
    assert round(rho_of(epsilon, 1e-6), digits) == rho
    assert delta_of(rho_of(epsilon, 1e-6), epsilon) == pytest.approx(1e-6, rel=1e-9)


@pytest.mark.parametrize("rho", [1e-6, 0.0244, 0.5, 3.0])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_delta_is_the_smallest_of_its_formula(rho: float, epsilon: float) -> None:
    alpha = 1 + np.exp(np.linspace(-12, 25, 400_001))
    exponents = (alpha - 1) * (alpha * rho - epsilon) + alpha * np.log1p(-1 / alpha) - np.log(alpha - 1)
    assert delta_of(rho, epsilon) == pytest.approx(min(1.0, np.exp(exponents.min())), rel=1e-6)


@pytest.mark.parametrize(("rho", "epsilon"), [(0.0244, 1.0), (0.5, 3.0), (0.01, 0.2)])
def test_no_promise_is_better_than_that_of_the_gaussian_itself(rho: float, epsilon: float) -> None:
    """The exact δ of Gaussian noise (Balle & Wang 2018) is below what ρ implies, and the old bound above."""
    size = sqrt(2 * rho)  # Δ / σ
    exact = norm.cdf(size / 2 - epsilon / size) - np.exp(epsilon) * norm.cdf(-size / 2 - epsilon / size)
    assert exact < delta_of(rho, epsilon)
    assert delta_of(rho, rho + 2 * sqrt(rho * log(1e6))) < 1e-6


def test_costs_add_up() -> None:
    assert total_rho([0.1] * 10) == 1.0
    rho = rho_of(1.0, 1e-6)
    assert delta_of(total_rho([rho, rho]), 2.0) < 1e-6
    assert delta_of(0.0, 1.0) == 0.0


def test_the_price_of_sums_of_discrete_gaussians() -> None:
    """Against its formula in plain Python; it falls with the noise and grows with the sites."""
    assert excess(Fraction(1, 2), 3) == pytest.approx(
        10 * (np.exp(-(np.pi**2) / 2) + np.exp(-(np.pi**2) * 2 / 3))
    )
    assert all(excess(Fraction(1), a) < excess(Fraction(1), b) for a, b in pairwise([1, 2, 5, 64]))
    assert excess(Fraction(4), 64) < 1e-14


def test_narrow_noise_is_refused() -> None:
    require_wide_noise(Fraction(4))
    with pytest.raises(OptionError, match=r"standard deviation 1\.7, less than 2.*choose a smaller epsilon$"):
        require_wide_noise(Fraction(3))
