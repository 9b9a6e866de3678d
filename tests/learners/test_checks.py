"""Requests are checked before any work: circumstances, scores, options."""

import pytest

import dagora
from dagora import OptionError
from dagora.data.schema import Kind
from dagora.learners import checks
from dagora.learners.registry import method_named
from dagora.scores.registry import score_named

AUTO, GES, NOTEARS = (method_named(name) for name in ("auto", "ges", "notears"))


@pytest.mark.parametrize(
    ("seed", "limit", "jobs", "wrong"),
    [
        (-1, None, 1, "seed"),
        (True, None, 1, "seed"),
        (1.0, None, 1, "seed"),
        (0, 0, 1, "time_limit"),
        (0, -1.0, 1, "time_limit"),
        (0, float("nan"), 1, "time_limit"),
        (0, float("inf"), 1, "time_limit"),
        (0, True, 1, "time_limit"),
        (0, "3", 1, "time_limit"),
        (0, None, 0, "jobs"),
        (0, None, True, "jobs"),
    ],
)
def test_circumstances_that_cannot_be(seed, limit, jobs, wrong) -> None:
    with pytest.raises(OptionError) as caught:
        checks.check_circumstances(seed, limit, jobs)
    assert caught.value.option == wrong


def test_the_time_limit_comes_back() -> None:
    assert checks.check_circumstances(0, 2.5, 1) == 2.5
    assert checks.check_circumstances(7, None, 8) is None


def test_what_needs_complete_rows() -> None:
    both = frozenset({Kind.DISCRETE, Kind.CONTINUOUS})
    assert checks.reason_against_model(AUTO, None, both) == ""
    assert "interventions" in checks.reason_against_model(AUTO, None, both, marked=True)
    assert checks.reason_against_model(NOTEARS, None, both) == "the method notears needs complete rows"


def test_who_takes_numbers_only() -> None:
    assert checks.numbers_for(NOTEARS, None) == "the method notears"
    assert checks.numbers_for(AUTO, None) == ""
    assert checks.numbers_for(None, None) == ""


def test_what_needs_the_rows_themselves() -> None:
    assert checks.needing_rows(AUTO, "gp", {}) == ["the score gp"]
    assert checks.needing_rows(None, None, {}) == []
    with pytest.raises(OptionError, match="has an objective of its own and takes no score"):
        checks.needing_rows(NOTEARS, "bic", {})


@pytest.mark.parametrize("test", ["x2", "g2", "g2-seen"])
def test_tests_of_levels_order_no_numbers(test: str) -> None:
    assert not checks.orders_numbers(None, {"test": test})


def test_a_score_that_orders_numbers() -> None:
    assert checks.orders_numbers("bge")
    assert not checks.orders_numbers("k2")


def test_a_search_over_classes_needs_equivalent_scores() -> None:
    assert checks.named_score(GES, "bdeu").name == "bdeu"
    assert checks.named_score(AUTO, "k2").name == "k2"
    with pytest.raises(OptionError, match=r"the method ges needs a score-equivalent score .* k2 is not"):
        checks.named_score(GES, "k2")


def test_options_go_to_their_owners() -> None:
    own, of_score = checks.split_options(
        method_named("hill-climb"), score_named("bdeu"), {"ess": 3.0, "restarts": 2}
    )
    assert (own["restarts"], of_score) == (2, {"ess": 3.0})
    assert "ess" not in own


def test_a_start_is_a_dag_or_stands_for_one() -> None:
    dag = dagora.DAG(["a", "b"], [("a", "b")])
    climb = method_named("hill-climb")
    given = [each.name for each in climb.options if each.type == "graph"]
    for name in given:
        start = checks.split_options(climb, None, {name: dagora.CPDAG.from_dag(dag)})[0][name]
        assert isinstance(start, dagora.DAG)
        assert start.edges
