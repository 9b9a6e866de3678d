"""Times that are known, extrapolated: the range holds what the rule of growth gives."""

import math
from dataclasses import replace

import pytest

from dagora.learners.effort.extrapolation import (
    AGAIN,
    Part,
    TimeEstimate,
    extrapolate,
    growth_rules,
    part_widths,
)
from dagora.learners.registry import METHODS, method_named


def known(columns, seconds, method, up_to):
    """What is told of so many columns, where a part of k columns takes `seconds(k)`."""
    parts = [Part(k, seconds(k)) for k in part_widths(columns) if k <= up_to]
    rules = growth_rules(method_named(method), None)
    return extrapolate(parts, TimeEstimate(None, None, columns=columns), rules, 1.0)


@pytest.mark.parametrize(
    ("method", "seconds"),
    [
        ("tabu", lambda k: 1e-4 * k**3),
        ("ges", lambda k: 2e-3 * k),
        ("pc", lambda _k: 0.1),
        ("dynamic", lambda k: 1e-5 * 2**k),
        ("astar", lambda k: 1e-5 * 1.7**k),
    ],
)
def test_times_that_grow_by_the_rule_are_told(method, seconds):
    found = known(26, seconds, method, up_to=14)  # twice the 13 columns that were tried
    assert found.low * AGAIN**2 == pytest.approx(seconds(26))
    assert found.high / AGAIN**2 == pytest.approx(seconds(26))


def test_growth_between_the_steepest_and_the_flattest_step_is_in_the_range():
    parts = [Part(4, 0.01), Part(8, 0.04), Part(16, 0.32)]  # the square, then the cube
    found = extrapolate(parts, TimeEstimate(None, None, columns=32), [math.log], 1.0)
    assert (found.low, found.high) == pytest.approx((0.32 * 4 / 1.5**2, 0.32 * 8 * 1.5**2))
    one = extrapolate(parts[1:], TimeEstimate(None, None, columns=32), [math.log], 1.0)
    assert (one.low, one.high) == pytest.approx((0.32 * 8 / 1.5**3, 0.32 * 8 * 1.5**3)), "one step tells less"


def test_where_parent_sets_are_scored_the_range_is_from_the_power_to_the_exponential():
    parts = [Part(8, 0.04), Part(12, 0.06), Part(16, 0.08)]
    none = TimeEstimate(None, None, columns=18)
    both, power, exponential = (
        extrapolate(parts, none, growth_rules(method_named(method), None), 1.0)
        for method in ("order-search", "tabu", "dynamic")
    )
    assert (both.low, both.high) == (power.low, exponential.high)
    assert both.low < exponential.low < power.high < both.high
    assert growth_rules(method_named("order-search"), 3) == growth_rules(method_named("tabu"), None)
    # Of 20 Gaussian columns, on which nothing cuts, order-search takes minutes; the power alone says 12 s.
    gaussian = [Part(4, 0.053), Part(6, 0.1), Part(9, 0.378)]
    rules = growth_rules(method_named("order-search"), None)
    assert extrapolate(gaussian, TimeEstimate(None, None, columns=20), rules, 1.0).high is None


def test_of_numbers_every_column_may_double_the_parent_sets():
    """20 Gaussian columns took obs 12.5 s, where the steps between parts alone end at 4 s."""
    parts = [Part(4, 0.007), Part(6, 0.016), Part(9, 0.029), Part(13, 0.114)]
    none, rules = TimeEstimate(None, None, columns=20), growth_rules(method_named("obs"), None)
    assert extrapolate(parts, none, rules, 1.0).high < 5
    assert extrapolate(parts, none, rules, 1.0, doubling=True).high is None, "too wide a range"
    nearer = replace(none, columns=15)
    found = extrapolate(parts, nearer, rules, 1.0, doubling=True)
    assert found.high == pytest.approx(0.114 * 4 * 1.5 ** (1 + math.log2(15 / 13)))


def test_methods_that_score_all_parent_sets_say_so():
    scoring = {entry.growth for entry in METHODS if entry.takes == "candidates"}
    assert scoring == {"parent sets", "exponential"}


def test_times_that_tell_nothing_are_no_estimate():
    none = TimeEstimate(None, None, columns=100)
    assert "takes more than 1 s for 4 columns" in extrapolate([], none, [math.log], 1.0).reason
    assert "4 columns alone" in extrapolate([Part(4, 0.5)], none, [math.log], 1.0).reason
    wild = [Part(4, 0.01), Part(6, 0.011), Part(9, 0.5)]
    assert str(extrapolate(wild, none, [math.log], 1.0)).startswith("no estimate: from 9 columns")


def test_samples_take_their_time():
    found = TimeEstimate(1.0, 2.0, (Part(4, 1.0),), 4, 10)
    assert (found.times(3).low, found.times(3).high) == (3.0, 6.0)
    assert TimeEstimate(None, None, reason="no").times(3).reason == "no"
