"""Robustness values and E-values: published examples, and what the formulas promise."""

import math

import numpy as np
import pytest
from scipy import stats

import dagora
from dagora.base.errors import OptionError
from dagora.effects.sensitivity import e_value, e_values, partial_r2, robustness_value


def test_published_robustness_values():
    # Cinelli & Hazlett 2020, table 1: directly harmed, Darfur: 0.097, standard error 0.023, 783 degrees of freedom.
    t = 0.09731582 / 0.02325654
    assert partial_r2(t, 783) == pytest.approx(0.0219, abs=5e-5)
    assert robustness_value(t, 783) == pytest.approx(0.1388, abs=5e-5)
    assert robustness_value(t, 783, alpha=0.05) == pytest.approx(0.0763, abs=5e-5)
    assert robustness_value(-t, 783) == robustness_value(t, 783)


def test_published_e_values():
    # VanderWeele & Ding 2017: 3.9 (1.8 to 8.7) for breastfeeding and infant death; 0.80 (0.71, 0.91) inverted.
    assert e_value(3.9) == pytest.approx(7.26, abs=0.005)
    assert e_values(3.9, 1.8, 8.7).bound == pytest.approx(3.0, abs=0.005)
    assert e_values(0.80, 0.71, 0.91) == pytest.approx((1.81, 1.43), abs=0.005)
    assert e_values(1.2, 0.9, 1.6).bound == 1


@pytest.mark.parametrize("t", [0.5, 2, 10, 100])
def test_a_hidden_cause_of_that_strength_explains_the_estimate_away(t):
    # Its bias, as a share of the estimate: √(R²_y R²_x / (1 − R²_x)) √d / |t| (Cinelli & Hazlett, eq. 8).
    share = robustness_value(t, 50)
    assert math.sqrt(share * share / (1 - share)) * math.sqrt(50) / t == pytest.approx(1)
    half = robustness_value(t, 50, q=0.5)
    assert math.sqrt(half * half / (1 - half)) * math.sqrt(50) / t == pytest.approx(0.5)


@pytest.mark.parametrize(("t", "freedom"), [(3, 40), (5, 800), (30, 20)])
def test_a_hidden_cause_of_that_strength_makes_it_insignificant(t, freedom):
    share = robustness_value(t, freedom, alpha=0.05)
    critical = stats.t.ppf(0.975, freedom - 1)
    # The largest t with one more cause that explains shares of x and y up to this one.
    of_y = np.linspace(0, share, 2001)
    factor = np.sqrt((1 - share) / (1 - of_y))
    adjusted = (t / math.sqrt(freedom) * factor - np.sqrt(of_y * share / (1 - of_y))) * math.sqrt(freedom - 1)
    assert adjusted.min() == pytest.approx(critical, rel=1e-3)


def test_an_estimate_that_is_not_significant_needs_no_hidden_cause():
    assert robustness_value(1.5, 100, alpha=0.05) == 0
    assert robustness_value(0, 100) == 0
    assert robustness_value(1.5, 1, alpha=0.05) == 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: robustness_value(math.nan, 10), "t must be a finite number, not nan"),
        (lambda: partial_r2(1, 0), "freedom must be a number above 0, not 0"),
        (lambda: robustness_value(1, 10, q=0), "q must be a number above 0, not 0"),
        (lambda: robustness_value(1, 10, alpha=1), "alpha must be a number between 0 and 1, not 1"),
        (lambda: e_value(-1), "ratio must be a number above 0, not -1"),
        (lambda: e_values(2, 3, 4), "ratio must be in its interval, 3 to 4, not 2"),
    ],
)
def test_what_is_no_estimate_is_refused(call, words):
    with pytest.raises(OptionError, match=words):
        call()


def test_an_adjusted_slope_says_how_strong_a_hidden_cause_must_be():
    """A cause that explains that share of what is left of x and of y, once adjusted for, leaves no effect."""
    rng = np.random.default_rng(0)
    z, e = rng.standard_normal((2, 500))
    x = z + e
    y = 0.3 * x + z + rng.standard_normal(500)
    rows = {"x": x, "y": y, "z": z}
    found = dagora.effect(rows, "x", "y", graph=dagora.DAG("xyz", [("z", "x"), ("z", "y"), ("x", "y")]))
    share = found.hidden_cause.shares[0]
    assert f"must explain {100 * share:.3g} % of what is left" in found.to_text()
    given = np.column_stack([np.ones(500), z])
    left_x, left_y = (column - given @ np.linalg.lstsq(given, column)[0] for column in (x, y))
    slope = left_x @ left_y / (left_x @ left_x)
    noise = left_y - slope * left_x
    # A hidden cause with the share R² of both: bias = √(R² R² / (1 − R²)) · sd(noise of y) / sd(noise of x).
    bias = share / np.sqrt(1 - share) * np.sqrt(noise @ noise / (left_x @ left_x))
    assert bias == pytest.approx(slope, rel=1e-6)
    assert found.to_dict()["hidden_cause"]["robustness_value"][0] == share


def test_a_discrete_cause_of_a_mean_says_so_by_the_one_slope_of_its_indicator():
    rng = np.random.default_rng(0)
    z = rng.standard_normal(500)
    x = rng.random(500) < 1 / (1 + np.exp(-z))
    y = 0.5 * x + z + rng.standard_normal(500)
    rows = {"x": np.where(x, "yes", "no"), "y": y, "z": z}
    found = dagora.effect(rows, "x", "y", graph=dagora.DAG("xyz", ["zx", "zy", "xy"]))
    given = np.column_stack([np.ones(500), z])
    left_x, left_y = (column - given @ np.linalg.lstsq(given, column)[0] for column in (x.astype(float), y))
    slope = left_x @ left_y / (left_x @ left_x)
    noise = left_y - slope * left_x
    share = found.hidden_cause.shares[0]
    bias = share / np.sqrt(1 - share) * np.sqrt(noise @ noise / (left_x @ left_x))
    assert bias == pytest.approx(slope, rel=1e-6)
    assert 0 < found.hidden_cause.shares[1] < share
    apart = {"x": np.where(z > 0, "yes", "no"), "y": y, "z": np.where(z > 0, "high", "low")}
    with pytest.raises(dagora.DataError, match="z determines x"):
        dagora.effect(apart, "x", "y", graph=dagora.DAG("xyz", ["zx", "zy", "xy"]))


def test_an_adjusted_risk_ratio_has_an_e_value():
    rows = {"x": ["a"] * 200 + ["b"] * 200, "y": ["n"] * 160 + ["y"] * 40 + ["n"] * 80 + ["y"] * 120}
    found = dagora.effect(rows, "x", "y", graph=dagora.DAG("xy", [("x", "y")]))
    ratio = found.estimates["ratio"].value
    assert found.hidden_cause.ratios.estimate == pytest.approx(ratio + np.sqrt(ratio * (ratio - 1)))
    assert 1 < found.hidden_cause.ratios.bound < found.hidden_cause.ratios.estimate
    assert "must have a risk ratio of" in found.to_text()
