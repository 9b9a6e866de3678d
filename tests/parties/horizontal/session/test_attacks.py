"""Attacks that a reviewer carried out on an earlier version, and their variations: each must fail.

The coordinator here is hostile: it has the session's code but sends what it likes, and up to K − 2 sites help
it. "It has the target's vector" means that some combination of what it saw equals it; as masks are uniform,
the tests compare what it can compute with the target's counts.
"""

import json
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from dagora.base.errors import FormatError, ProtocolError
from dagora.data.table import Table
from dagora.parties.horizontal.log.log_events import History
from dagora.parties.horizontal.log.site_log import MemoryLog
from dagora.parties.horizontal.plan.coded_rows import code_rows
from dagora.parties.horizontal.policy.policy import PolicyError, SitePolicy
from dagora.parties.horizontal.secure_sum.masks import KeyPair, MaskContext, pair_masks, pair_secret
from dagora.parties.horizontal.secure_sum.roster import Roster, RosterEntry, SiteMasks
from dagora.parties.horizontal.session.questions import Conversation, PlanQuestion, read_question
from dagora.parties.horizontal.session.row_sums import SUMMED, joint_counts
from dagora.parties.transport.messages import decode, encode
from tests.parties.horizontal.meeting import COORDINATOR, Meeting, ask_all
from tests.parties.network import PATIENCE

NAMES = ("east", "mid", "north", "south", "west")


def tables(names=NAMES, rows=30):
    rng = np.random.default_rng(3)
    return {name: Table.from_numpy(rng.integers(0, 2, (rows, 2)), names=["a", "b"]) for name in names}


def is_noise(vector):
    """No entry is anything like a count (chance: 2⁻¹⁹ for each)."""
    return bool((np.abs(np.asarray(vector).view(np.int64).astype(float)) > 2.0**44).all())


def masked_answers(meeting, tag="answer"):
    """Every masked vector that the coordinator received, by site, in order."""
    found = {name: [] for name in meeting.names}
    for sender, got, payload in meeting.hub.received:
        if got == tag:
            content = decode(payload)
            if "masked" in content:
                found[sender].append(content["masked"])
    return found


def target_vector(meeting, site, sets):
    rows = code_rows(
        meeting.open.sites[meeting.names.index(site)].table, meeting.codebook, meeting.plan.largest_rows
    )
    return joint_counts(rows, sets)


# --- 1. arrays that reach a kernel -------------------------------------------------------------------------


@pytest.mark.parametrize("offsets", [[0, 10**6], [0, 3], [-(2**40), 1], [0, 1, 0]])
def test_offsets_from_the_wire_never_reach_a_kernel(offsets):
    meeting = Meeting(tables())
    bad = encode({"kind": "counts", "columns": np.array([0]), "offsets": np.array(offsets)})
    meeting.hub.change = lambda to, tag, payload: bad if tag == "ask" else payload
    with (
        pytest.raises(ProtocolError, match="does not say where its tables begin and end"),
        meeting.session as s,
    ):
        s.counts([(0,)])
    for name, line in meeting.lines().items():
        assert "begin and end" in line, name
        assert meeting.answers(name) == []
    assert any(event["event"] == "refused" for event in meeting.logs["east"].events)


# --- 2. thresholds and rosters -----------------------------------------------------------------------------


def colluder_view(meeting, colluders, round_=0):
    """What the coordinator has if sites give it all their secrets: each answer without the masks it can compute."""
    roster_message = next(p for to, tag, p in meeting.hub.sent if tag == "roster")
    roster, _ = Roster.decode(roster_message, meeting.plan, "roster")
    ask = [payload for to, tag, payload in meeting.hub.sent if (to, tag) == (meeting.names[0], "ask")]
    heard = Conversation()
    for payload in ask[: round_ + 1]:
        heard.add(payload)
    views = {}
    for name, answers in masked_answers(meeting).items():
        vector = answers[round_]
        known = {}
        for other, keys in colluders.items():
            if other != name:
                known[other] = pair_secret(keys, other, name, roster.entries[name].key)
        context = MaskContext(roster.session, round_, heard.label, vector.shape)
        views[name] = vector - pair_masks(name, known, context)
    return views


def handed_over(meeting, helpers, remembered_keys):
    """The keys of the sites that help the coordinator."""
    public = {keys.public: keys for keys in remembered_keys}
    message = next(p for to, tag, p in meeting.hub.sent if tag == "roster")
    roster, _ = Roster.decode(message, meeting.plan, "roster")
    return {name: public[roster.entries[name].key] for name in helpers}


@pytest.fixture
def remembered_keys(monkeypatch):
    """Sites that help the coordinator hand over their keys: they are kept as they are made."""
    made = []
    original = KeyPair.make.__func__

    def make(cls):
        made.append(original(cls))
        return made[-1]

    monkeypatch.setattr(KeyPair, "make", classmethod(make))
    return made


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


def test_a_roster_with_another_certificate_is_refused():
    meeting = Meeting(tables())
    stranger = "sha256:" + "0" * 64
    meeting.session.plan = replace(meeting.plan, sites={**meeting.plan.sites, "west": stranger})
    with pytest.raises(ProtocolError, match="refused the plan"), meeting.session as session:
        session.counts([(0,)])
    assert "another certificate for site 'west'" in meeting.lines()["east"]


def test_a_site_cannot_be_replaced_by_a_key_of_the_coordinator():
    meeting = Meeting(tables())
    own = KeyPair.make()

    def forge(to, tag, payload):
        if tag != "roster" or to != "east":
            return payload
        roster, signature = Roster.decode(payload, meeting.plan, "roster")
        entry = roster.entries["west"]
        entries = {
            **roster.entries,
            "west": RosterEntry(entry.name, own.public, entry.certificate, entry.signature),
        }
        return Roster(meeting.plan, entries, roster.key).encode(signature)

    meeting.hub.change = forge
    with pytest.raises(ProtocolError), meeting.session as session:
        session.counts([(0,)])
    assert "site 'west' did not sign this plan" in meeting.lines()["east"]


def test_a_roster_that_the_coordinator_did_not_sign_is_refused():
    meeting = Meeting(tables())

    def forge(to, tag, payload):
        if tag != "roster" or to != "east":
            return payload
        roster, _ = Roster.decode(payload, meeting.plan, "roster")
        return roster.encode(meeting.keys["west"].sign(roster.statement()))

    meeting.hub.change = forge
    with pytest.raises(ProtocolError), meeting.session as session:
        session.counts([(0,)])
    assert "the coordinator did not sign the roster" in meeting.lines()["east"]


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


def test_another_plan_for_one_site_is_noticed_by_all():
    meeting = Meeting(tables())
    other = replace(meeting.plan, settings={"score": "k2"})

    def change(to, tag, payload):
        if tag == "plan" and to == "west":
            return encode({"plan": other.encode(), "certificate": meeting.keys[COORDINATOR].certificate})
        return payload

    meeting.hub.change = change
    with pytest.raises(ProtocolError, match="site 'west' did not sign this plan"), meeting.session as session:
        session.counts([(0,)])


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


# --- 3. and 4. what is summed is additive, and has no free parameters ----------------------------------------


def test_no_question_has_a_parameter_besides_the_columns():
    """`unit`, `mean`, `spread`, `largest` and shapes have left the wire."""
    assert set(SUMMED) == {"counts", "moments", "basis", "indicators", "lagged"}
    fields = {
        field
        for question in (PlanQuestion("moments"), PlanQuestion("counts", ((0,),)))
        for field in decode(question.encode())
    }
    assert fields == {"kind", "columns", "offsets"}


def test_two_ways_to_deal_out_the_same_rows_look_alike_over_any_number_of_questions():
    """Whatever is asked, the transcript of sums is a function of the pooled rows."""
    rng = np.random.default_rng(5)
    rows = np.column_stack([rng.integers(0, 2, 60), rng.integers(0, 3, 60), rng.normal(size=60)])
    pooled = Table.from_numpy(rows, names=["a", "b", "x"], discrete=["a", "b"], continuous=["x"])
    transcripts = []
    for seed in (0, 1):
        order = np.random.default_rng(seed).permutation(60)
        sizes = (10, 20, 30) if seed else (25, 5, 30)
        cuts = np.cumsum((0, *sizes))
        parts = {f"s{k}": pooled.take(order[a:b]) for k, (a, b) in enumerate(pairwise(cuts))}
        meeting = Meeting(parts, plan={})
        with meeting.session as session:
            sums = [session.counts([(), (0,), (0, 1)]), session.counts([(1,)])]
            for _ in range(5):
                moments = session.moments()
                sums += [moments.mean, moments.scatter]
        transcripts.append(b"".join(np.asarray(some).tobytes() for some in sums))
    assert transcripts[0] == transcripts[1]


# --- limits of the plan and of the policy ------------------------------------------------------------------


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


def test_what_is_summed_is_never_shown():
    meeting = Meeting(tables())
    with pytest.raises(ProtocolError, match="nothing of this kind is shown"), meeting.session as session:
        session.gather("local-weights", {})


def test_a_question_before_the_keys_ends_the_run():
    meeting = Meeting(tables())
    ask = PlanQuestion("counts", ((0,),)).encode()
    with meeting.session:
        for name in NAMES:
            with pytest.raises(ProtocolError, match="needs keys"):
                meeting.hub.send(name, "ask", ask)
            meeting.hub.inner._inner.send(name, "ask", ask)
        read_question(ask, meeting.plan)
    assert all(line for line in meeting.lines().values())
    assert all(meeting.answers(name) == [] for name in NAMES)


def test_a_plan_cannot_be_shown_more_than_its_method_needs():
    meeting = Meeting(tables(), method="vote")
    with pytest.raises(FormatError, match="does not need to be shown admm-step"):
        replace(meeting.plan, shows=("admm-step",))
    meeting.session.close("over")


def test_agreeing_to_one_set_of_sites_allows_no_third():
    """A, then B with the owner's word; C is neither."""
    history = History(rosters={"a", "b"})
    meeting = Meeting(tables())
    policy = replace(meeting.policies["east"], agreed_rosters=("a", "b"))
    with pytest.raises(PolicyError, match="summed with other sites before"):
        policy.check(meeting.plan, "east", history)
    meeting.session.close("over")


@pytest.mark.parametrize("more", [2**40, 10**6, -1000, 2**63])
def test_a_site_that_lies_about_a_count_ends_the_run_with_a_line(more, monkeypatch):
    """Sums index tables of logarithms at the coordinator: they must be counts of the same rows."""
    mask = SiteMasks.mask

    def lie(masks, label, vector):
        masked = mask(masks, label, vector)
        if masks.own.name == "west" and masks.round == 2:
            masked[:1] += np.array([more % 2**64], dtype=np.uint64)
        return masked

    monkeypatch.setattr(SiteMasks, "mask", lie)
    meeting = Meeting(tables())
    with pytest.raises(ProtocolError, match="not counts of the same rows"), meeting.session as session:
        ask_all(session, [()], [(0, 1)])


@pytest.mark.parametrize("allowed", [1, 2**62])
@pytest.mark.parametrize("question", [[(0,)], []])
def test_a_question_again_and_again_ends_the_run(allowed, question):
    """However many tables the plan speaks of: a log that grows without end can no longer be read."""
    meeting = Meeting(tables(), plan={"tables": allowed})
    with pytest.raises(ProtocolError, match="again and again"), meeting.session as session:
        ask_all(session, *[question] * 200)
    assert all(len(meeting.answers(name)) <= 101 for name in NAMES)


def huge(plan):
    content = plan.to_dict()
    content["settings"] = {"seed": 10**400}
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    "offer", [huge, lambda plan: b"[" * 100_000, lambda plan: b"9" * 5000, lambda plan: b""]
)
def test_a_plan_that_cannot_be_read_is_refused_and_logged(offer):
    meeting = Meeting(tables())

    def change(to, tag, payload):
        if tag == "plan":
            return encode({"plan": offer(meeting.plan), "certificate": decode(payload)["certificate"]})
        return payload

    meeting.hub.change = change
    with pytest.raises(ProtocolError, match="refused the plan"), meeting.session as session:
        session.counts([(0,)])
    meeting.lines()
    # The first refusal ends the run, so that the plan may not reach every site.
    logged = [[event["event"] for event in meeting.logs[name].events] for name in NAMES]
    assert ["refused"] in logged
    assert all(events in ([], ["refused"]) for events in logged)


def test_an_error_that_nobody_foresaw_is_a_refusal_in_the_log(monkeypatch):
    """A daemon goes on, and the owner sees what was offered."""
    meeting = Meeting(tables())
    monkeypatch.setattr(SitePolicy, "check", lambda *_: 1 / 0)
    with pytest.raises(ProtocolError, match="refused the plan"), meeting.session as session:
        session.counts([(0,)])
    lines = meeting.lines()
    refused = [name for name in NAMES if meeting.logs[name].events]
    assert refused
    for name in refused:
        assert (
            lines[name]
            == meeting.logs[name].events[0]["reason"]
            == "the plan cannot be checked: ZeroDivisionError"
        )


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
