"""A coordinator, with sites that help it, wants the part of one site in a sum over all."""

import re
from dataclasses import replace

import numpy as np
import pytest

from dagora.base.errors import ProtocolError
from dagora.parties.horizontal.log.log_events import History
from dagora.parties.horizontal.log.site_log import MemoryLog
from dagora.parties.horizontal.policy.policy import PolicyError
from dagora.parties.horizontal.session.questions import PlanQuestion
from dagora.parties.transport.messages import encode
from tests.attacks.hostile_coordinator import (
    NAMES,
    colluder_view,
    handed_over,
    is_noise,
    masked_answers,
    tables,
    target_vector,
)
from tests.parties.horizontal.meeting import Meeting


@pytest.mark.parametrize("helpers", [("east",), ("east", "mid"), ("east", "mid", "north")])
def test_with_up_to_all_but_two_sites_the_coordinator_sees_only_the_sum_of_the_others(
    helpers, remembered_keys
):
    meeting = Meeting(tables())
    with meeting.session as session:
        session.counts([(0, 1)])
    meeting.lines()
    colluders = handed_over(meeting, helpers, remembered_keys)
    views = colluder_view(meeting, colluders)
    honest = [name for name in NAMES if name not in helpers]
    for name in honest:
        assert is_noise(views[name]), "a single honest site is bare"
    together = sum(views[name] for name in honest).view(np.int64)
    np.testing.assert_array_equal(together, sum(target_vector(meeting, name, [(0, 1)]) for name in honest))


def test_two_honest_sites_are_the_least(remembered_keys):
    """The attack works with all but one: what the page on security says cannot be prevented."""
    meeting = Meeting(tables(NAMES[:3]))
    with meeting.session as session:
        session.counts([(0, 1)])
    meeting.lines()
    colluders = handed_over(meeting, ("east", "mid"), remembered_keys)
    bare = colluder_view(meeting, colluders)["north"].view(np.int64)
    np.testing.assert_array_equal(bare, target_vector(meeting, "north", [(0, 1)]))


def test_a_smaller_roster_is_refused_by_every_policy():
    """Five sites in the policies; a plan for three of them, two of which help the coordinator."""
    everyone = Meeting(tables())
    policies = {name: {"sites": everyone.plan.sites, "least_sites": 0} for name in NAMES[:3]}
    few = Meeting(tables(NAMES[:3]), keys=everyone.keys, policies=policies)
    with pytest.raises(ProtocolError, match="refused the plan; see its own output"), few.session as session:
        session.counts([(0,)])
    # The first refusal ends the run, which another site may hear before it has looked at the plan.
    assert any("the plan is for 3 sites, and 5 must take part" in line for line in few.lines().values())
    assert not any(few.answers(name) for name in few.names)
    for name in few.names:
        with pytest.raises(PolicyError, match="the plan is for 3 sites, and 5 must take part"):
            few.policies[name].check(few.plan, name, History())
    everyone.session.close("over")


def test_telling_some_that_a_site_is_lost_opens_nothing():
    """Masks cancel in the sum over all sites alone: any other sum of answers is noise."""
    meeting = Meeting(tables())
    with meeting.session as session:
        for _ in range(2):
            session.counts([(0, 1)])
    meeting.lines()
    answers = masked_answers(meeting)
    rng = np.random.default_rng(0)
    for size in range(1, 5):
        for _ in range(20):
            group = rng.choice(NAMES, size, replace=False)
            for round_ in (0, 1):
                assert is_noise(sum(answers[name][round_] for name in group))
    assert is_noise(answers["south"][0] - answers["south"][1])


def test_sites_told_different_things_add_up_to_noise():
    for lie in (
        PlanQuestion("counts", ((1,),)).encode(),
        encode({"kind": "counts", "columns": np.array([], np.int64), "offsets": np.array([0])}),
    ):
        meeting = Meeting(tables())
        told = {"asked": 0}

        def change(to, tag, payload, lie=lie, told=told):
            told["asked"] += tag == "ask"
            return lie if tag == "ask" and to == "west" and told["asked"] <= 5 else payload

        meeting.hub.change = change
        try:
            with meeting.session as session:
                session.counts([(0,)])
                raise AssertionError("sums of different questions came out as counts")
        except ProtocolError as error:
            assert re.search("masked|not counts of the same rows", str(error))


def test_sums_with_other_sites_are_refused_until_the_owner_agrees():
    all_five, logs = Meeting(tables()), {}
    with all_five.session as session:
        session.counts([(0,)])
    all_five.lines()
    logs = {name: MemoryLog(list(all_five.logs[name].events)) for name in NAMES[:4]}

    def again(**policy):
        meeting = Meeting(
            tables(NAMES[:4]), keys=all_five.keys, logs=logs,
            policies={name: {"sites": all_five.plan.sites, "least_sites": 4, **policy} for name in NAMES[:4]},
        )  # fmt: skip
        try:
            with meeting.session as session:
                session.counts([(0,)])
        except ProtocolError:
            pass
        return meeting

    refused = again()
    line = refused.lines()["east"]
    assert "these rows were summed with other sites before" in line
    assert refused.answers("east") == all_five.answers("east")
    allowed = again(agreed_rosters=(refused.plan.roster_digest,))
    assert set(allowed.lines().values()) == {""}


def test_agreeing_to_one_set_of_sites_allows_no_third():
    """A, then B with the owner's word; C is neither."""
    history = History(rosters={"a", "b"})
    meeting = Meeting(tables())
    policy = replace(meeting.policies["east"], agreed_rosters=("a", "b"))
    with pytest.raises(PolicyError, match="summed with other sites before"):
        policy.check(meeting.plan, "east", history)
    meeting.session.close("over")
