"""The uncertainty that comes from the rows, against closed forms and the share of intervals with the truth."""

import time

import numpy as np
import pytest

from dagora.graph.dag import DAG
from dagora.network.fit import fit
from dagora.network.inference.row_uncertainty import SECONDS

RNG = np.random.default_rng(5)
WIDTH = 2 * 1.96  # of a normal interval of 95 %, in standard deviations


def mixed_rows(n, rng):
    """smoker → dose → ill, smoker → ill, dose → pressure: every kind of node."""
    smoker = rng.random(n) < 0.3
    dose = np.where(smoker, rng.normal(2, 1.5, n), rng.normal(0, 1, n))
    ill = rng.random(n) < 1 / (1 + np.exp(1 - dose - 0.5 * smoker))
    pressure = 120 + 5 * dose + 8 * rng.normal(size=n)
    return {
        "smoker": np.where(smoker, "yes", "no"),
        "dose": dose,
        "ill": np.where(ill, "yes", "no"),
        "pressure": pressure,
    }


GRAPH = DAG(
    ["smoker", "dose", "ill", "pressure"],
    [("smoker", "dose"), ("smoker", "ill"), ("dose", "ill"), ("dose", "pressure")],
)


def width(answer, place=0):
    low, high = answer.row_interval
    return float(high[place] - low[place])


def test_the_mean_over_a_group_has_the_variance_of_the_delta_method():
    """E[y] = Σ P(a) E[y|a]: the variance of the share and of the means within the groups."""
    a = np.repeat([0, 1, 1, 1], 50)
    y = np.where(a == 1, 3.0, -1.0) + RNG.normal(size=200) * np.where(a == 1, 2.0, 0.5)
    answer = fit(DAG("ay", ["ay"]), {"a": a.astype(str), "y": y}).query("P(y)")
    means = [y[a == level].mean() for level in (0, 1)]
    variance = 0.25 * 0.75 / 200 * (means[1] - means[0]) ** 2
    variance += sum((y[a == k].std() * np.mean(a == k)) ** 2 / np.sum(a == k) for k in (0, 1))
    assert answer.row_errors[0] == pytest.approx(np.sqrt(variance), rel=0.25)
    assert width(answer) == pytest.approx(WIDTH * np.sqrt(variance), rel=0.3)


def test_what_continuous_columns_do_not_bear_on_has_the_interval_of_the_discrete_network():
    rows = mixed_rows(300, RNG)
    rows["sex"] = np.where(RNG.random(300) < np.where(rows["smoker"] == "yes", 0.7, 0.4), "m", "f")
    edges = [("sex", "smoker")]
    mixed = fit(DAG(["sex", "smoker", "dose"], [*edges, ("smoker", "dose")]), rows)
    discrete = fit(DAG(["sex", "smoker"], edges), rows)
    question = "P(smoker | sex=m)"
    ends, expected = (network.query(question).row_interval for network in (mixed, discrete))
    np.testing.assert_array_equal(ends, expected)


def test_what_levels_do_not_bear_on_has_the_interval_of_the_gaussian_network():
    n = 150
    x = RNG.normal(3, 2, n)
    z = RNG.normal(size=n) + 0.5 * x
    y = x - 2 * z + RNG.normal(size=n)
    rows = {"x": x, "z": z, "y": y, "group": np.where(y > 0, "high", "low")}
    edges = [("x", "z"), ("x", "y"), ("z", "y")]
    mixed = fit(DAG(["x", "z", "y", "group"], [*edges, ("y", "group")]), rows).query("P(y | x=5)")
    gaussian = fit(DAG("xzy", edges), rows).query("P(y | x=5)")
    design = np.column_stack([np.ones(n), x])
    residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    at = np.array([1.0, 5.0])
    exact = np.sqrt(residual @ residual / (n - 2) * at @ np.linalg.inv(design.T @ design) @ at)
    for answer in (mixed, gaussian):
        assert answer.row_errors[0] == pytest.approx(exact, rel=0.25)
        assert width(answer) == pytest.approx(WIDTH * exact, rel=0.3)


def test_a_logistic_regression_has_the_variance_of_the_delta_method():
    rows = mixed_rows(400, RNG)
    network = fit(DAG(["dose", "ill"], [("dose", "ill")]), rows)
    answer = network.query("P(ill=yes | dose=2.5)")
    assert answer.method == "exact"
    design = np.column_stack([np.ones(400), rows["dose"]])
    p = network.choices["ill"].probabilities(rows["dose"][:, None])[:, 1]
    covariance = np.linalg.inv((design * (p * (1 - p))[:, None]).T @ design)
    here, at = answer.table[1], np.array([1.0, 2.5])
    assert answer.row_errors[1] == pytest.approx(here * (1 - here) * np.sqrt(at @ covariance @ at), rel=0.25)


def test_an_estimated_share_is_as_uncertain_as_the_share_of_the_rows():
    """P(ill) of a logistic regression on its own cause is the share of the ill, nearly; its error is binomial."""
    rows = mixed_rows(400, RNG)
    answer = fit(DAG(["dose", "ill"], [("dose", "ill")]), rows).query("P(ill=yes)")
    share = np.mean(rows["ill"] == "yes")
    binomial = np.sqrt(share * (1 - share) / 400)
    assert answer.method == "sampling"
    assert answer.row_errors[1] == pytest.approx(binomial, rel=0.25)
    assert width(answer, 1) == pytest.approx(WIDTH * binomial, rel=0.3)
    assert answer.standard_errors[1] < binomial / 5  # that of the simulation is another one
    low, high = (end[1] for end in answer.row_interval)
    assert f"95 % interval from the rows {low:.2f} to {high:.2f}, ± 0.0016 from the simulation" in str(answer)
    assert answer.to_dict()["probabilities"][0]["row_low"] == low


def test_a_combination_without_rows_is_uncertain_and_the_others_are_not():
    """The regression over all rows stands in: as if the fewest rows that would give it one of its own."""
    a = np.repeat(["p", "q", "r"], [100, 100, 1])
    y = RNG.normal(size=201)
    network = fit(DAG("ay", ["ay"]), {"a": a, "y": y})
    assert network.query("P(y | a=p)").row_errors[0] == pytest.approx(0.1, rel=0.3)
    assert network.query("P(y | a=r)").row_errors[0] == pytest.approx(1 / np.sqrt(3), rel=0.3)


def test_a_level_that_was_always_seen_with_its_parent_is_not_certain():
    """Beta(1.5, 0.5) after one row: without a prior, one row spread over the levels stands beside it."""
    network = fit(DAG("ab", [("a", "b")]), {"a": ["n", "y"], "b": ["n", "y"]})
    answer = network.query("P(b | a=n)")
    assert answer.table.tolist() == [1.0, 0.0]
    assert answer.row_errors[0] == pytest.approx(np.sqrt(1.5 * 0.5 / (2**2 * 3)), rel=0.3)
    assert answer.row_interval[0][0] < 0.2
    assert answer.row_interval[1][0] == 1.0  # the answer itself lies in the interval


def test_what_has_no_rows_or_no_reliable_answer_is_said():
    told = "how far other rows would move it was not computed"
    network = fit(GRAPH, mixed_rows(300, RNG))
    assert told not in network.query("P(ill)").notes
    assert told in network.query("P(ill)", samples=20).notes


@pytest.mark.full
def test_it_takes_about_a_second_on_ten_columns():
    rng = np.random.default_rng(1)
    rows, edges = mixed_rows(1000, rng), [*GRAPH.edges]
    for k in range(6):
        above = rows["pressure"] if k == 0 else rows[f"x{k - 1}"]
        below = 0.5 * above + rng.normal(size=1000)
        rows[f"x{k}"] = np.where(below > np.median(below), "high", "low") if k == 5 else below
        edges.append(("pressure" if k == 0 else f"x{k - 1}", f"x{k}"))
    network = fit(DAG([*rows], edges), rows)
    for question in ("P(x5)", "P(ill | x5=high)", "P(x4 | smoker=yes)", "P(dose | x5=high, do(smoker=yes))"):
        begin = time.process_time()
        found = network.query(question)
        assert found.row_interval is not None
        assert time.process_time() - begin < 4 * SECONDS


@pytest.mark.full
@pytest.mark.parametrize(
    "question", ["P(pressure | smoker=yes)", "P(ill | dose=2, smoker=no)", "P(smoker | ill=yes)"]
)
def test_the_interval_has_the_truth_as_often_as_it_says(question):
    """100 tables of 300 rows; 98 of 100 such runs have 90 to 99 hits at a probability of 0.95."""
    rng = np.random.default_rng(2)
    truth = fit(GRAPH, mixed_rows(1_000_000, rng)).query(question).numbers()[-1]
    hits = 0
    for _ in range(100):
        low, high = fit(GRAPH, mixed_rows(300, rng)).query(question, samples=20_000).row_interval
        hits += low[-1] <= truth <= high[-1]
    assert 90 <= hits <= 99
