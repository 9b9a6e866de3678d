"""A coordinator wants more answers than plan and policy allow, in one run or over many."""

import numpy as np
import pytest

from dagora.base.errors import ProtocolError
from dagora.data.table import Table
from dagora.parties.horizontal.log.site_log import MemoryLog
from dagora.parties.horizontal.policy.policy import PolicyError
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
    for sets, allowed in (([(0,)], True), ([(0,)], True), ([(1,)], True), ([(0, 1)], False)):
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
