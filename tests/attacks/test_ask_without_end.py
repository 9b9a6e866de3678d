"""A coordinator wants more answers than plan and policy allow, in one run or over many."""

from dataclasses import replace

import numpy as np
import pytest

from dagora.base.errors import FormatError, ProtocolError
from dagora.data.partition import split_rows
from dagora.data.table import Table
from dagora.parties.horizontal.log.site_log import MemoryLog
from dagora.parties.horizontal.plan.codebook import Codebook, ColumnCoding
from dagora.parties.horizontal.plan.drafting import draft_effect_plan
from dagora.parties.horizontal.policy.policy import PolicyError
from dagora.parties.horizontal.session.questions import PlanQuestion, read_question
from tests.attacks.hostile_coordinator import NAMES, tables
from tests.parties.horizontal.meeting import Meeting, ask_all
from tests.parties.network import PATIENCE


def test_more_tables_than_the_plan_says_are_refused():
    meeting = Meeting(tables(), plan={"tables": 2})
    with pytest.raises(ProtocolError, match="more than the 2 tables of the plan"), meeting.session as session:
        ask_all(session, [(0,), (1,)], [(0,)], [(0, 1)])
    meeting.lines()
    assert len(meeting.answers("east")) == 2


def test_the_limit_for_ever_counts_different_sums_over_all_runs():
    logs = {name: MemoryLog() for name in NAMES}
    keys, policies = None, {name: {"tables_for_ever": 2} for name in NAMES}
    for sets, allowed in (
        ([(0,)], True), ([(0,)], True), ([(1,)], True), ([(0, 1)], False), ([(0,), (1,)], True)
    ):  # fmt: skip
        meeting = Meeting(tables(), keys=keys, logs=logs, policies=policies)
        keys = meeting.keys
        try:
            with meeting.session as session:
                session.counts(sets)
        except ProtocolError as error:
            assert not allowed, error
            assert "refused" in str(error)
        else:
            assert allowed
        meeting.lines()


def test_a_plan_with_a_limit_beyond_the_policy_is_refused_whatever_the_rows():
    """What is refused does not depend on rows, so that refusals cannot be used to measure them."""
    for rows in (4, 400):
        meeting = Meeting(tables(rows=rows), policies={"west": {"cells_per_table": 3}})
        with pytest.raises(ProtocolError) as told, meeting.session as session:
            session.counts([(0,)])
        assert str(told.value) == "site 'west': refused the plan; see its own output"
        assert isinstance(meeting.working["west"].exception(PATIENCE), PolicyError)
        assert "cells_per_table" in meeting.lines()["west"]


def both_kinds():
    """Sites with two discrete columns and two continuous ones."""
    rng = np.random.default_rng(1)
    columns = {name: rng.permutation(np.repeat(np.arange(6), 10)) for name in "ab"}
    columns |= {name: rng.normal(size=60) for name in "xy"}
    rows = np.column_stack(list(columns.values()))
    whole = Table.from_numpy(rows, names=list(columns), discrete=["a", "b"], continuous=["x", "y"])
    return dict(zip(NAMES[:3], split_rows(whole, 3), strict=True))


@pytest.mark.parametrize("beside", [("counts",), ("moments",), ("indicators",)])
def test_sets_that_a_plan_names_hide_no_other_question(beside):
    """Before, a plan with a small regression let tables of any size pass `cells_per_table` of the policy."""
    meeting = Meeting(both_kinds())
    with pytest.raises(FormatError, match="asks for their sums and nothing else"):
        replace(meeting.plan, questions=(*beside, "fourth"), columns_per_table=2, sets=(("x", "y"),))
    meeting.session.close("over")


def test_a_plan_that_names_sets_has_no_other_columns():
    """Before, the log told of an answer by the names of other columns."""
    meeting = Meeting(both_kinds())
    for question, names in (("fourth", ("x", "y")), ("counts", ("a", "b"))):
        with pytest.raises(FormatError, match="has no other columns"):
            replace(meeting.plan, questions=(question,), sets=(names,))
    meeting.session.close("over")


def regressions(**plan):
    rng = np.random.default_rng(0)
    given = {name: Table.from_numpy(rng.normal(size=(20, 3)), names=list("xyz")) for name in NAMES[:3]}
    return Meeting(given, plan={"questions": ("fourth",), "method": "effect", **plan})


def test_regressions_again_and_again_end_the_run():
    """Before, a hundred repeats of a thousand sets each came into the log."""
    sets = (("x", "y", "z"), ("y", "x", "z"), ("z", "x", "y")) * 20
    meeting = regressions(sets=sets)
    places = [meeting.plan.places(names) for names in sets]
    with pytest.raises(ProtocolError, match="again and again"), meeting.session as session:
        list(map(session.fourth_moments, [places] * 5))
    assert len(meeting.answers("east")) == 2


def test_the_sums_of_all_regressions_have_a_largest_size():
    """Before, each regression had a limit, and a thousand of them none."""
    book = Codebook(tuple(ColumnCoding(f"x{k}", low=0.0, high=1.0) for k in range(20)))
    names = tuple(coding.name for coding in book)
    sites = {"north": "", "south": "", "west": ""}
    plan = draft_effect_plan(book, sites, [names] * 300, cells_per_table=1 << 22)
    with pytest.raises(ProtocolError, match="too many sums at once"):
        read_question(PlanQuestion("fourth").encode(), plan)


@pytest.mark.parametrize("allowed", [1, 2**62])
@pytest.mark.parametrize("question", [[(0,)], []])
def test_a_question_again_and_again_ends_the_run(allowed, question):
    """However many tables the plan speaks of: a log that grows without end can no longer be read."""
    meeting = Meeting(tables(), plan={"tables": allowed})
    with pytest.raises(ProtocolError, match="again and again"), meeting.session as session:
        ask_all(session, *[question] * 200)
    assert all(len(meeting.answers(name)) <= 101 for name in NAMES)


def test_moments_of_functions_count_for_ever_too():
    rng = np.random.default_rng(0)
    given = {name: Table.from_numpy(rng.normal(size=(20, 2)), names=["x", "y"]) for name in NAMES}
    logs = {name: MemoryLog() for name in NAMES}
    keys = None
    for functions, allowed in ((2, True), (2, True), (3, True), (4, False)):
        meeting = Meeting(
            given, keys=keys, logs=logs, policies={name: {"tables_for_ever": 2} for name in NAMES},
            plan={"functions": functions, "questions": ("basis",)},
        )  # fmt: skip
        keys = meeting.keys
        try:
            with meeting.session as session:
                session.basis_moments(functions)
        except ProtocolError as error:
            assert not allowed, error
        else:
            assert allowed
        meeting.lines()
