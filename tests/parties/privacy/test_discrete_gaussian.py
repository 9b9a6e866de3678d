"""The noise follows its law exactly, alone and summed over sites, and follows from its key."""

from fractions import Fraction
from itertools import product
from math import exp, factorial

import numpy as np
import pytest
from scipy.stats import chi2

from dagora.base.errors import OptionError
from dagora.parties.privacy.discrete_gaussian import (
    KeyStream,
    discrete_gaussian,
    discrete_laplace,
    happens_exp,
    happens_small_exp,
)

# The probability of a correct sampler to fail one of these tests, whose keys are fixed, was 1 in 10,000.
LEAST_P = 1e-4


def key(number: int) -> bytes:
    return number.to_bytes(32, "big")


def law(variance: float, reach: int) -> np.ndarray:
    x = np.arange(-reach, reach + 1, dtype=np.float64)
    weights = np.exp(-(x**2) / (2 * variance))
    return weights / weights.sum()


def p_value(drawn: np.ndarray, probabilities: np.ndarray) -> float:
    """Pearson's test, with cells of fewer than ten expected draws put together."""
    reach = len(probabilities) // 2
    seen = np.bincount(np.clip(drawn, -reach, reach) + reach, minlength=len(probabilities))
    expected = probabilities * len(drawn)
    many = expected >= 10
    seen = np.append(seen[many], seen[~many].sum())
    expected = np.append(expected[many], expected[~many].sum())
    kept = expected > 0
    statistic = ((seen - expected)[kept] ** 2 / expected[kept]).sum()
    return float(chi2.sf(statistic, kept.sum() - 1))


@pytest.mark.parametrize(
    "variance", [Fraction(1, 4), Fraction(1), Fraction(4), Fraction(22, 7), Fraction(81, 2), Fraction(13_000)]
)
def test_draws_follow_the_law(variance: Fraction) -> None:
    drawn = discrete_gaussian(key(7), variance, 20_000)
    reach = 12 * int(float(variance) ** 0.5 + 1)
    assert p_value(drawn, law(float(variance), reach)) > LEAST_P
    assert p_value(drawn, law(1.3 * float(variance), reach)) < LEAST_P  # the test can tell


@pytest.mark.full
@pytest.mark.parametrize("sites", [2, 5])
def test_sums_over_sites_follow_the_law_of_sums(sites: int) -> None:
    variance, reach = Fraction(17, 4), 40
    total = sum(discrete_gaussian(key(100 + site), variance, 20_000) for site in range(sites))
    one = law(float(variance), reach)
    expected = one
    for _ in range(sites - 1):
        expected = np.convolve(expected, one)
    assert p_value(total, expected) > LEAST_P
    assert p_value(total, law(1.1 * sites * float(variance), len(expected) // 2)) < LEAST_P


def test_wide_noise_has_its_variance() -> None:
    variance = Fraction(2**60 + 1, 3)
    drawn = discrete_gaussian(key(1), variance, 20_000) / float(variance) ** 0.5
    assert abs(drawn.mean()) < 4 / 20_000**0.5
    assert abs(drawn.var() - 1) < 4 * (2 / 20_000) ** 0.5
    assert len(np.unique(discrete_gaussian(key(1), variance, 20_000) % 1024)) == 1024  # low digits vary too


class Scripted:
    """Uniform integers that are told beforehand."""

    def __init__(self, values: tuple[int, ...]) -> None:
        self.values = list(values)

    def below(self, bound: int, count: int) -> np.ndarray:
        assert count == 1
        value = self.values.pop(0) if self.values else bound - 1
        assert 0 <= value < bound
        return np.array([value], dtype=object)


@pytest.mark.parametrize(("p", "q"), [(0, 3), (1, 2), (2, 3), (1, 1)])
def test_the_probability_of_an_event_is_exact(p: int, q: int) -> None:
    """Over all equally likely draws of five steps it is the exponential series up to there, as a fraction."""
    depth = 5
    scripts = list(product(*(range(q * k) for k in range(1, depth + 1))))
    happened = sum(
        bool(happens_small_exp(Scripted(script), np.array([p], dtype=object), q)[0]) for script in scripts
    )
    # A script that never fails goes on to a step that does: the sixth, which is even.
    series = sum((Fraction(-p, q) ** k / factorial(k) for k in range(depth + 1)), Fraction(0))
    assert Fraction(happened, len(scripts)) == series


@pytest.mark.parametrize(("p", "q"), [(5, 2), (3, 1), (1, 3)])
def test_events_of_any_exponent(p: int, q: int) -> None:
    n = 20_000
    share = happens_exp(KeyStream(key(3)), np.full(n, p, dtype=object), q).mean()
    chance = exp(-p / q)
    assert abs(share - chance) < 4 * (chance * (1 - chance) / n) ** 0.5


def test_the_discrete_laplace_follows_its_law() -> None:
    drawn = discrete_laplace(KeyStream(key(5)), 3, 60_000).astype(np.int64)
    x = np.arange(-80, 81)
    weights = np.exp(-np.abs(x) / 3)
    assert p_value(drawn, weights / weights.sum()) > LEAST_P


@pytest.mark.full
def test_noise_follows_from_the_key() -> None:
    one, again, other = (discrete_gaussian(key(k), Fraction(10**6), 20_000) for k in (1, 1, 2))
    assert (one == again).all()
    assert abs(np.corrcoef(one, other)[0, 1]) < 4 / 20_000**0.5
    assert abs(np.corrcoef(one[1:], one[:-1])[0, 1]) < 4 / 20_000**0.5


def test_uniform_integers_are_uniform() -> None:
    for bound in (1, 2, 10, 257):
        seen = np.bincount(KeyStream(key(9)).below(bound, 50_000).astype(np.int64), minlength=bound)
        assert len(seen) == bound
        statistic = ((seen - 50_000 / bound) ** 2 / (50_000 / bound)).sum()
        assert bound == 1 or chi2.sf(statistic, bound - 1) > LEAST_P
    huge = KeyStream(key(9)).below(10**30, 1000)
    assert all(0 <= value < 10**30 for value in huge)
    assert max(huge) > 9.9 * 10**29


@pytest.mark.parametrize("wrong", [b"short", "x" * 32, 5, None, bytes(33)])
def test_a_key_has_32_bytes(wrong: object) -> None:
    with pytest.raises(OptionError, match=r"a noise key is 32 bytes: make one with secrets\.token_bytes"):
        discrete_gaussian(wrong, Fraction(4), 1)  # type: ignore[arg-type]
