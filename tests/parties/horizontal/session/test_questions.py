"""Whatever a coordinator sends, a site refuses it in one line or computes on numbers that it has checked."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.base.errors import ProtocolError
from dagora.parties.horizontal.plan.codebook import Codebook, ColumnCoding
from dagora.parties.horizontal.plan.drafting import draft_effect_plan, draft_plan
from dagora.parties.horizontal.session.questions import PlanQuestion, read_question
from dagora.parties.transport.messages import encode

BOOK = Codebook(
    (
        ColumnCoding("a", levels=("no", "yes")),
        ColumnCoding("b", levels=("x", "y", "z")),
        ColumnCoding("c", low=0.0, high=1.0),
        ColumnCoding("d", cuts=(1.0, 2.0)),
    )
)
PLAN = draft_plan(BOOK, {"north": "", "south": "", "west": ""}, "hill-climb", cells_per_table=9)


def counts(columns, offsets):
    return encode({"kind": "counts", "columns": np.array(columns, dtype=np.int64),
                   "offsets": np.array(offsets, dtype=np.int64)})  # fmt: skip


def test_what_is_allowed_comes_through():
    for question in (
        PlanQuestion("moments"),
        PlanQuestion("counts", ((), (0,), (0, 1), (1, 3))),
        PlanQuestion("counts", ()),
        PlanQuestion("done"),
    ):
        assert read_question(question.encode(), PLAN) == question


BIG = 2**62
HOSTILE = {
    "offsets beyond the end": (counts([0], [0, 1000]), "begin and end"),
    "offsets before the start": (counts([0], [-5, 1]), "begin and end"),
    "offsets that run back": (counts([0, 1], [0, 2, 1, 2]), "begin and end"),
    "no offsets": (counts([], []), "begin and end"),
    "columns left over": (counts([0, 1], [0, 1]), "begin and end"),
    "a huge offset": (counts([0], [0, BIG]), "begin and end"),
    "a column that is not there": (counts([4], [0, 1]), "a column that the plan does not have"),
    "a negative column": (counts([-1], [0, 1]), "a column that the plan does not have"),
    "a huge column": (counts([BIG], [0, 1]), "a column that the plan does not have"),
    "a column twice": (counts([0, 0], [0, 2]), "in order, each once"),
    "columns out of order": (counts([1, 0], [0, 2]), "in order, each once"),
    "a table twice": (counts([0, 0], [0, 1, 2]), "a table twice"),
    "a continuous column": (counts([2], [0, 1]), "a continuous column"),
    "too many columns": (counts([0, 1, 2, 3], [0, 4]), "tables of 3 columns"),
    "too many cells": (counts([0, 1, 3], [0, 3]), "tables of 9 cells"),
    "floats": (encode({"kind": "counts", "columns": np.zeros(1), "offsets": np.array([0, 1])}), "'columns'"),
    "another shape": (
        encode({"kind": "counts", "columns": np.zeros((1, 1), np.int64), "offsets": np.array([0, 1])}),
        "'columns'",
    ),
    "a unit": (encode({"kind": "moments", "unit": np.ones(1)}), "unknown field"),
    "a mean": (encode({"kind": "moments", "mean": np.ones(1)}), "unknown field"),
    "basis functions": (encode({"kind": "basis", "functions": 3}), "allows no basis"),
    "windows of time": (encode({"kind": "lagged", "lags": 1}), "allows no lagged"),
    "a shown task": (encode({"kind": "shown", "task": "local-weights", "content": {}}), "is shown"),
    "no kind": (encode({}), "of no known kind"),
    "a strange kind": (encode({"kind": "total"}), "of no known kind"),
    "a kind that is no text": (encode({"kind": 3}), "of no known kind"),
    "no message": (b"rubbish", "not a message of dagora"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_not_in_the_plan_is_refused(what):
    payload, words = HOSTILE[what]
    with pytest.raises(ProtocolError, match=words):
        read_question(payload, PLAN)


@pytest.mark.parametrize("lags", [0, 1, 3, -1, 2**40])
def test_windows_reach_back_as_far_as_the_plan_says(lags):
    book = Codebook((ColumnCoding("x", low=0.0, high=1.0), ColumnCoding("y", low=0.0, high=1.0)))
    plan = draft_plan(book, {"north": "", "south": "", "west": ""}, "dynotears", lags=2, step=1.0)
    assert plan.questions == ("lagged",)
    asked = PlanQuestion("lagged", lags=2)
    assert read_question(asked.encode(), plan) == asked
    assert asked.size(book) == 1 + 6 + 21
    with pytest.raises(ProtocolError, match="windows of 3 steps"):
        read_question(PlanQuestion("lagged", lags=lags).encode(), plan)
    with pytest.raises(ProtocolError, match="allows no moments"):
        read_question(PlanQuestion("moments").encode(), plan)


def test_a_plan_that_names_its_tables_has_no_others():
    book = Codebook((BOOK.columns[0], BOOK.columns[1], BOOK.columns[3]))
    plan = draft_effect_plan(book, {"north": "", "south": "", "west": ""}, [("d", "a"), ("b",)])
    asked = PlanQuestion("counts", ((0, 2), (1,)))
    assert read_question(asked.encode(), plan) == asked
    for others in ((0,), (0, 1), (0, 1, 2), ()):
        with pytest.raises(ProtocolError, match="it names other tables"):
            read_question(PlanQuestion("counts", (others,)).encode(), plan)
    with pytest.raises(ProtocolError, match="allows no fourth"):
        read_question(encode({"kind": "fourth"}), plan)


def test_products_of_four_are_those_of_the_plan_s_regressions():
    book = Codebook(tuple(ColumnCoding(name, low=0.0, high=1.0) for name in "xyz"))
    plan = draft_effect_plan(book, {"north": "", "south": "", "west": ""}, [("z", "x"), ("z", "y", "x")])
    asked = PlanQuestion("fourth", ((2, 0), (2, 1, 0)))
    assert read_question(encode({"kind": "fourth"}), plan) == asked
    assert asked.size(book) == 3 * (15 + 35)
    for odd in ({"columns": np.zeros(1)}, {"slopes": np.ones(2)}):
        with pytest.raises(ProtocolError, match="unknown field"):
            read_question(encode({"kind": "fourth", **odd}), plan)
    with pytest.raises(ProtocolError, match="allows no moments"):
        read_question(PlanQuestion("moments").encode(), plan)


numbers = st.one_of(st.integers(-3, 6), st.integers(-(2**63), 2**63 - 1))


@pytest.mark.full
@settings(max_examples=400, deadline=None)
@given(st.lists(numbers, max_size=8), st.lists(numbers, max_size=8))
def test_random_sets_are_refused_or_valid(columns, offsets):
    try:
        question = read_question(counts(columns, offsets), PLAN)
    except ProtocolError:
        return
    for some in question.sets:
        assert list(some) == sorted(set(some))
        assert all(column in {0, 1, 3} for column in some)
        assert len(some) <= 3


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60), st.integers(0, 200))
def test_damaged_questions_are_refused_or_valid(noise, place):
    whole = PlanQuestion("counts", ((0,), (0, 1))).encode()
    place %= len(whole)
    damaged = whole[:place] + noise + whole[place + len(noise) :]
    try:
        read_question(damaged, PLAN)
    except ProtocolError as error:
        assert "\n" not in str(error)
