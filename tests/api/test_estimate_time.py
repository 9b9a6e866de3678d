"""Estimates of the time that are measured on small tables."""

import threading
import time
from itertools import count, pairwise

import numpy as np
import pytest

import dagora
from dagora.api import estimate_time as estimating
from dagora.api.estimate_time import estimate_time
from dagora.base.budget import Budget
from dagora.base.errors import DagoraError, DataError, OptionError, announce
from dagora.base.phrases import span_in_words
from dagora.data.incomplete import IncompleteTable
from dagora.learners.effort import measuring
from dagora.network.greenhouse import greenhouse
from dagora.network.sample import sample_network
from dagora.stats.related_columns import related_columns


@pytest.fixture(scope="module")
def table():
    return sample_network(greenhouse(), 200, seed=1)


def test_only_continuous_columns_without_a_limit_on_parents_may_double_the_time(monkeypatch):
    numbers = dagora.simulate(dagora.DAG("abcde", []), "gaussian", 50, seed=1).table
    words = sample_network(greenhouse(), 50, seed=1)
    said = []
    monkeypatch.setattr(
        measuring, "extrapolate", lambda *_given, doubling: said.append(doubling) or _given[1]
    )
    for data, method, most in (
        (numbers, "obs", None),
        (numbers, "obs", 2),
        (numbers, "tabu", None),
        (words, "obs", None),
    ):
        estimate_time(data, method, max_parents=most, seconds=0.2)
    assert said == [True, False, False, False]


def test_a_small_table_is_tried_as_a_whole(table):
    found = estimate_time(table, "hill-climb", score="bdeu", ess=5, seconds=20.0)
    assert found.parts[-1].columns == found.columns == len(table.schema) == 11
    assert found.rows == 200
    assert found.low < found.parts[-1].seconds < found.high
    assert "all 11 columns of this table" in str(found)
    assert found.to_dict()["words"] == str(found)
    assert estimate_time(table, "hill-climb", seconds=20.0, samples=9, jobs=3).low > 0


def test_samples_are_shared_among_the_jobs(table):
    def found(samples, jobs):
        ticks = count()
        return estimate_time(
            table, "hill-climb", seconds=20.0, samples=samples, jobs=jobs, clock=lambda: next(ticks) / 1000
        )

    alone = found(0, 1)
    for samples, jobs in ((9, 1), (9, 3)):
        assert found(samples, jobs).high == pytest.approx(alone.high * (1 + samples / jobs))


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
    monkeypatch.setattr(measuring, "part_widths", lambda _columns: iter([4]))
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
