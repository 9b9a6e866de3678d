"""Estimates of the time: the rule on times that are known, and what is measured on small tables."""

import math
import threading
import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import dagora
from dagora.api import estimate_time as estimating
from dagora.api.estimate_time import Part, TimeEstimate, estimate_time, extrapolated, rules_of, widths
from dagora.base.errors import DagoraError, DataError, OptionError, announce
from dagora.base.events import Budget
from dagora.base.wording import span_in_words
from dagora.data.incomplete import IncompleteTable
from dagora.learners.registry import METHODS, method_named
from dagora.network.greenhouse import greenhouse
from dagora.network.sample import sample_network
from dagora.stats.related_columns import related_columns


@pytest.fixture(scope="module")
def table():
    return sample_network(greenhouse(), 200, seed=1)


def known(columns, seconds, method, up_to):
    """What is told of so many columns, where a part of k columns takes `seconds(k)`."""
    parts = [Part(k, seconds(k)) for k in widths(columns) if k <= up_to]
    rules = rules_of(method_named(method), None)
    return extrapolated(parts, TimeEstimate(None, None, columns=columns), rules, 1.0)


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
    found = extrapolated(parts, TimeEstimate(None, None, columns=32), [math.log], 1.0)
    assert (found.low, found.high) == pytest.approx((0.32 * 4 / 1.5**2, 0.32 * 8 * 1.5**2))
    one = extrapolated(parts[1:], TimeEstimate(None, None, columns=32), [math.log], 1.0)
    assert (one.low, one.high) == pytest.approx((0.32 * 8 / 1.5**3, 0.32 * 8 * 1.5**3)), "one step tells less"


def test_where_parent_sets_are_scored_the_range_is_from_the_power_to_the_exponential():
    parts = [Part(8, 0.04), Part(12, 0.06), Part(16, 0.08)]
    none = TimeEstimate(None, None, columns=18)
    both, power, exponential = (
        extrapolated(parts, none, rules_of(method_named(method), None), 1.0)
        for method in ("order-search", "tabu", "dynamic")
    )
    assert (both.low, both.high) == (power.low, exponential.high)
    assert both.low < exponential.low < power.high < both.high
    assert rules_of(method_named("order-search"), 3) == rules_of(method_named("tabu"), None)
    # Of 20 Gaussian columns, on which nothing cuts, order-search takes minutes; the power alone says 12 s.
    gaussian = [Part(4, 0.053), Part(6, 0.1), Part(9, 0.378)]
    rules = rules_of(method_named("order-search"), None)
    assert extrapolated(gaussian, TimeEstimate(None, None, columns=20), rules, 1.0).high is None


def test_of_numbers_every_column_may_double_the_parent_sets(monkeypatch):
    """20 Gaussian columns took obs 12.5 s, where the steps between parts alone end at 4 s."""
    parts = [Part(4, 0.007), Part(6, 0.016), Part(9, 0.029), Part(13, 0.114)]
    none, rules = TimeEstimate(None, None, columns=20), rules_of(method_named("obs"), None)
    assert extrapolated(parts, none, rules, 1.0).high < 5
    assert extrapolated(parts, none, rules, 1.0, doubling=True).high is None, "too wide a range"
    nearer = replace(none, columns=15)
    found = extrapolated(parts, nearer, rules, 1.0, doubling=True)
    assert found.high == pytest.approx(0.114 * 4 * 1.5 ** (1 + math.log2(15 / 13)))

    numbers = dagora.simulate(dagora.DAG("abcde", []), "gaussian", 50, seed=1).table
    words = sample_network(greenhouse(), 50, seed=1)
    said = []
    monkeypatch.setattr(
        estimating, "extrapolated", lambda *_given, doubling: said.append(doubling) or _given[1]
    )
    for data, method, most in (
        (numbers, "obs", None),
        (numbers, "obs", 2),
        (numbers, "tabu", None),
        (words, "obs", None),
    ):
        estimate_time(data, method, max_parents=most, seconds=0.2)
    assert said == [True, False, False, False]


def test_methods_that_score_all_parent_sets_say_so():
    scoring = {entry.growth for entry in METHODS if entry.takes == "candidates"}
    assert scoring == {"parent sets", "exponential"}


def test_times_that_tell_nothing_are_no_estimate():
    none = TimeEstimate(None, None, columns=100)
    assert "takes more than 1 s for 4 columns" in extrapolated([], none, [math.log], 1.0).reason
    assert "4 columns alone" in extrapolated([Part(4, 0.5)], none, [math.log], 1.0).reason
    wild = [Part(4, 0.01), Part(6, 0.011), Part(9, 0.5)]
    assert str(extrapolated(wild, none, [math.log], 1.0)).startswith("no estimate: from 9 columns")


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


@pytest.mark.parametrize(
    "wrong",
    [
        *({"seconds": value} for value in (0, -1, True, "2", 1e5, float("inf"), float("nan"))),
        *({"samples": value} for value in (-1, 1.5, True, "3", None, float("nan"), 10**400)),
        {"budget": 5},
    ],
)
def test_effort_is_checked(table, wrong):
    with pytest.raises(OptionError, match=f"^{next(iter(wrong))} must be a") as refused:
        estimate_time(table, "hill-climb", **wrong)
    assert "\n" not in str(refused.value)


def test_a_clock_that_stands_still_divides_by_nothing(table):
    found = estimate_time(table, "hill-climb", clock=lambda: 1.0)
    assert 0 < found.low < found.high < 0.001


def test_options_that_name_columns_are_those_of_the_part(table):
    names = table.schema.names
    order = ",".join(reversed(names))
    start = dagora.DAG(names, list(pairwise(names)))
    for method, options in (("k2", {"order": order}), ("hill-climb", {"start": start})):
        found = estimate_time(table, method, seconds=20.0, **options)
        assert [part.columns for part in found.parts] == [4, 6, 9, 11]


def test_what_learning_refuses_is_refused(table, monkeypatch):
    """The line is that of learning from the whole table, also where parts would not show what is wrong."""
    monkeypatch.setattr(estimating, "widths", lambda _columns: iter([4]))
    names = table.schema.names
    twice = ",".join([*names, related_columns(table)[-1]])
    for method, options in (
        ("k2", {"order": "season"}),
        ("k2", {"order": ",".join(names[1:])}),
        ("k2", {"order": f"{','.join(names)},zebra"}),
        ("k2", {"order": twice}),
        ("hill-climb", {"start": dagora.DAG(["a", "b"])}),
        ("kpc-hsic", {}),
    ):
        with pytest.raises(DagoraError) as learning:
            dagora.learn(table, method, **options)
        with pytest.raises(type(learning.value)) as estimating_it:
            estimate_time(table, method, **options)
        assert str(estimating_it.value) == str(learning.value)


def test_what_only_parts_cannot_is_no_estimate(table, monkeypatch):
    def narrow(rows, *_options, **_more):
        if len(rows.schema) < 11:
            raise DataError("too few columns")

    monkeypatch.setattr(estimating, "learn", narrow)
    found = estimate_time(table, "tabu")
    assert str(found) == "no estimate: parts of the table cannot be tried (too few columns)"


def test_nothing_is_said_about_parts_and_other_threads_may_speak(table, monkeypatch, recwarn):
    def odd(*_rows, **_options):
        announce(["a part is odd"])
        other = threading.Thread(target=announce, args=(["another table is odd"],))
        other.start()
        other.join()

    monkeypatch.setattr(estimating, "learn", odd)
    estimate_time(table, "tabu")
    assert {str(one.message) for one in recwarn} == {"another table is odd"}
    announce(["the whole is odd"])
    assert "the whole is odd" in str(recwarn.list[-1].message)


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
