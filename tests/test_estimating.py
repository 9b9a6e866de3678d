"""Estimates of the time: the rule on times that are known, and what is measured on small tables."""

import time

import numpy as np
import pytest

import dagora
from dagora import estimating
from dagora.data.incomplete import IncompleteTable
from dagora.demo_network import greenhouse
from dagora.errors import OptionError
from dagora.estimating import Part, TimeEstimate, estimate_time, extrapolated, span_in_words, widths
from dagora.events import Budget
from dagora.method_registry import method_named
from dagora.network.sample import sample
from dagora.stats.related_columns import related_columns


@pytest.fixture(scope="module")
def table():
    return sample(greenhouse(), 200, seed=1)


def known(columns, seconds, method, up_to):
    """What is told of so many columns, where a part of k columns takes `seconds(k)`."""
    parts = [Part(k, seconds(k)) for k in widths(columns) if k <= up_to]
    return extrapolated(parts, TimeEstimate(None, None, columns=columns), method_named(method), 1.0)


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
    assert found.low * estimating.AGAIN**2 == pytest.approx(seconds(26))
    assert found.high / estimating.AGAIN**2 == pytest.approx(seconds(26))


def test_growth_between_the_steepest_and_the_flattest_step_is_in_the_range():
    parts = [Part(4, 0.01), Part(8, 0.04), Part(16, 0.32)]  # the square, then the cube
    found = extrapolated(parts, TimeEstimate(None, None, columns=32), method_named("tabu"), 1.0)
    assert (found.low, found.high) == pytest.approx((0.32 * 4 / 1.5**2, 0.32 * 8 * 1.5**2))
    one = extrapolated(parts[1:], TimeEstimate(None, None, columns=32), method_named("tabu"), 1.0)
    assert (one.low, one.high) == pytest.approx((0.32 * 8 / 1.5**3, 0.32 * 8 * 1.5**3)), "one step tells less"


def test_times_that_tell_nothing_are_no_estimate():
    none = TimeEstimate(None, None, columns=100)
    tabu = method_named("tabu")
    assert "takes more than 1 s for 4 columns" in extrapolated([], none, tabu, 1.0).reason
    assert "4 columns alone" in extrapolated([Part(4, 0.5)], none, tabu, 1.0).reason
    wild = [Part(4, 0.01), Part(6, 0.011), Part(9, 0.5)]
    assert str(extrapolated(wild, none, tabu, 1.0)).startswith("no estimate: from 9 columns")


def test_a_small_table_is_tried_as_a_whole(table):
    found = estimate_time(table, "hill-climb", score="bdeu", ess=5, seconds=20.0)
    assert found.parts[-1].columns == found.columns == len(table.schema) == 11
    assert found.rows == 200
    assert found.low < found.parts[-1].seconds < found.high
    assert "all 11 columns of this table" in str(found)
    assert found.to_dict()["words"] == str(found)
    assert estimate_time(table, "hill-climb", seconds=20.0, samples=9, jobs=3).low > 0


def test_samples_take_their_time(table):
    found = TimeEstimate(1.0, 2.0, (Part(4, 1.0),), 4, 10)
    assert (found.times(3).low, found.times(3).high) == (3.0, 6.0)
    assert TimeEstimate(None, None, reason="no").times(3).reason == "no"


def test_knowledge_and_missing_cells_are_those_of_the_run(table):
    knowledge = {
        "required": [["pests", "soil"]],
        "tiers": [["season"], ["harvest", "soil"]],
        "max_parents": 2,
    }
    assert estimate_time(table, "tabu", knowledge=knowledge, seconds=20.0).high is not None
    holes = dagora.punch_holes(table.select(table.schema.names[:4]), "mcar:0.1", seed=1)
    assert isinstance(holes, IncompleteTable)
    assert estimate_time(holes, "hill-climb", em_rounds=1, seconds=20.0).parts[-1].columns == 4
    with pytest.raises(OptionError, match="zebra"):
        estimate_time(table, "tabu", zebra=1)
    with pytest.raises(OptionError, match="seconds"):
        estimate_time(table, seconds=0)


def test_the_work_is_bounded_and_ends_when_it_is_told_to(table):
    endless = {"method": "tabu", "patience": 10**9}
    began = time.monotonic()
    found = estimate_time(table, seconds=0.1, **endless)
    assert "takes more than 0.1 s" in found.reason
    assert time.monotonic() - began < 20  # tabu is compiled by now; far below what it would take
    budget = Budget()
    budget.stop("it was stopped")
    assert estimate_time(table, seconds=60.0, budget=budget, **endless).reason == "it was stopped"


def test_the_method_is_told_of_no_limit(table, monkeypatch):
    """With one, it might work otherwise than in the run that is asked about."""
    left = []
    monkeypatch.setattr(
        estimating, "learn", lambda *_rows, budget, **_options: left.append((budget.left, budget.limit))
    )
    estimate_time(table, "auto", seconds=0.5, budget=Budget(30))
    assert set(left) == {(float("inf"), None)}


def test_related_columns_are_neighbours():
    graph = dagora.DAG([f"x{k}" for k in range(12)], [(f"x{k}", f"x{k + 1}") for k in range(0, 12, 2)])
    numbers = dagora.simulate(graph, "gaussian", 500, seed=2).table
    order = related_columns(numbers)
    assert sorted(order) == sorted(graph.nodes)
    places = [abs(order.index(tail) - order.index(head)) for tail, head in graph.edges]
    assert np.mean(np.array(places) == 1) > 0.8, "pairs stand side by side"
    assert related_columns(numbers, seed=1)[:4] != order[:4]


def test_words():
    assert span_in_words(1.0, 1.0) == "1 second"
    assert span_in_words(50, 130) == "50 seconds to 2 minutes"
    assert span_in_words(90_000, 400_000) == "1 to 5 days"
    assert span_in_words(90_000, 1e9) == "1 day to months"
    assert span_in_words(1e8, 1e20) == "months, or far longer"
