"""Data that second moments cannot tell apart or cannot hold, refused in one place for all that use them."""

import math

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.base.errors import DataError
from dagora.scores.registry import score_named
from dagora.scores.usable_moments import gaussian_moments, refuse_duplicates, refuse_unusable
from dagora.stats.table import TableStatistics
from tests.random_tables import continuous_table, discrete_table

# Everything that learns from moments: a method, and its score where it takes one.
LEARNERS = [
    ("notears", {}),
    ("notears", {"loss": "profile"}),
    ("notears", {"published": True}),
    ("notears-mlp", {"hidden": 2}),
    ("dual-pc", {}),
    ("hill-climb", {"score": "bic-gaussian"}),
    ("ges", {"score": "bge"}),
    ("dynamic", {"score": "lasso"}),
]
every_learner = pytest.mark.parametrize(("method", "given"), LEARNERS)


def noise(rows=60, columns=3):
    return np.random.default_rng(0).normal(size=(rows, columns))


def related(rows=60):
    values = noise(rows)
    values[:, 1] += values[:, 0]
    return values


def refusal(rows, method, given):
    """What is said of data that a learner refuses; numpy's warnings would fail the test."""
    with pytest.raises(DataError) as caught:
        dagora.learn(continuous_table(rows), method, **given)
    return str(caught.value)


@every_learner
@pytest.mark.parametrize(
    ("factors", "said"),
    [
        ((1e300, 1.0, 1.0), "the values of column 'x0' are too large to be squared: scale it down"),
        ((1.0, 1e200, 1e300), "the values of column 'x1' are too large to be squared: scale it down"),
        ((1.0, 1.0, 3e307), "the values of column 'x2' are too large to be squared: scale it down"),
        ((1e-200, 1e-200, 1e-200), "the values of column 'x0' are too small to be squared: scale it up"),
        ((1.0, 1.0, 1e-310), "the values of column 'x2' are too small to be squared: scale it up"),
    ],
)
def test_units_that_no_square_can_have(method, given, factors, said):
    rows = related() * factors
    assert refusal(rows, method, given) == said


@every_learner
@pytest.mark.parametrize("units", [(1e-60, 1.0, 1e60), (1e60, 1e60, 1e60), (1e-60, 1e-60, 1e-60)])
def test_what_is_not_refused_comes_out_finite(method, given, units):
    """The penalties of some are absolute, so that graphs may differ; numbers may not overflow."""
    result = dagora.learn(continuous_table(related() * units), method, **given)
    assert result.score is None or math.isfinite(result.score)


@pytest.mark.full
def test_large_units_are_taken_out_of_networks():
    tables = [continuous_table(related() * [unit, 1.0, 1.0]) for unit in (1.0, 1e60)]
    one, other = (dagora.learn(table, "notears-mlp", hidden=2, standardise=True).graph for table in tables)
    assert one == other


@every_learner
@pytest.mark.parametrize("value", [0.0, 0.1, 1e8 + 0.1, -3e-20, 1e100])
def test_constant_columns(method, given, value):
    rows = noise()
    rows[:, 1] = value
    assert refusal(rows, method, given).startswith("column 'x1' is constant")


@pytest.mark.parametrize("mean", [1e15, -3e13])
def test_values_that_differ_in_their_last_digits_are_not_called_constant(mean):
    x, y = np.random.default_rng(0).normal(size=(2, 100))
    rows = pd.DataFrame({"x": mean + x * abs(mean) * 1e-15, "y": y})
    with pytest.raises(DataError, match=r"'x' differ only in their last digits .* subtract"):
        dagora.learn(rows)


def test_what_looks_constant_because_its_squares_vanish_is_not_called_so():
    rows = noise()
    rows[:, 1] *= 1e-300
    with pytest.raises(DataError, match="too small to be squared"):
        gaussian_moments(TableStatistics(continuous_table(rows)), "the method notears")
    rows[:, 1] = np.where(np.arange(60) % 2, 1e-200, -1e-200)  # of mean exactly 0
    with pytest.raises(DataError, match=r"constant, or too small to be squared.* or scale it up"):
        gaussian_moments(TableStatistics(continuous_table(rows)), "the method notears")


def test_sums_that_are_no_numbers_are_too_large():
    for mean, variance in ((np.inf, 1.0), (np.nan, 1.0), (0.0, np.inf), (0.0, np.nan)):
        with pytest.raises(DataError, match="'b' are too large to be squared"):
            refuse_unusable(["a", "b"], np.array([0.0, mean]), np.array([1.0, variance]), "the score bge")
    refuse_unusable([], np.zeros(0), np.zeros(0), "the score bge")


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (-2.0, 1.0), (1e-6, 1e4), (1.8, 32.0)])
def test_columns_that_are_equal_up_to_scale_and_shift(scale, shift):
    """Programs over weights and tests cannot say which of the two an edge belongs to; likelihoods can wait."""
    rows = noise(500, 4)
    rows[:, 3] = scale * rows[:, 1] + shift
    table = continuous_table(rows)
    for method, given in LEARNERS:
        if given.get("score") in {"bic-gaussian", "bge"}:
            result = dagora.learn(table, method, **given)
            assert math.isfinite(result.score)
            assert given["score"] == "bge" or result.graph.edges == (("x1", "x3"),)
        else:
            said = refusal(rows, method, given)
            owner = f"the score {given['score']}" if "score" in given else f"the method {method}"
            assert said.startswith(f"columns 'x1' and 'x3' are equal up to scale and shift, so {owner} ")


@pytest.mark.parametrize("name", ["bic-gaussian", "bge"])
def test_a_likelihood_does_not_care_which_of_two_equal_columns_is_the_parent(name):
    rows = noise(200, 3)
    rows[:, 1] = 1 - 2 * rows[:, 0]
    rows[:, 2] += rows[:, 0]
    standard = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    score = score_named(name).make(TableStatistics(continuous_table(standard)))
    one, other, forward, back = score.families([(2, (0,)), (2, (1,)), (1, (0,)), (0, (1,))])
    assert one == pytest.approx(other, rel=1e-9)
    assert forward == pytest.approx(back, rel=1e-9)


def test_columns_that_are_nearly_equal_pass():
    rng = np.random.default_rng(9)
    x = rng.normal(size=500)
    for width in (1e-5, 0.1):
        rows = np.column_stack([x, x + width * rng.normal(size=500), rng.normal(size=500)])
        statistics = TableStatistics(continuous_table(rows))
        refuse_duplicates(statistics.moments(), statistics.schema, "the method notears")
    rows[:, 1] = x + 1e-8 * rng.normal(size=500)
    statistics = TableStatistics(continuous_table(rows))
    with pytest.raises(DataError, match="'x0' and 'x1' are equal"):
        refuse_duplicates(statistics.moments(), statistics.schema, "the method notears")


def test_a_refusal_names_its_owner():
    with pytest.raises(DataError, match=r"^the method notears needs continuous columns, but 'x0'"):
        gaussian_moments(TableStatistics(discrete_table([[0, 1]], [2])), "the method notears")
    with pytest.raises(DataError, match="'x0' is constant, and the method notears"):
        gaussian_moments(TableStatistics(continuous_table([[1.0], [1.0]])), "the method notears")
