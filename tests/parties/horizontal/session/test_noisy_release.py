"""Releases with noise over a real session: the noise's law, its charge for ever, and that nothing else can be asked."""

from dataclasses import replace

import numpy as np
import pytest

from dagora.data.partition import split_rows
from dagora.data.table import Table
from dagora.errors import FormatError, ProtocolError
from dagora.federated import learn_federated
from dagora.parties.horizontal.log.history import History
from dagora.parties.horizontal.log.noise_secret import FILE_NAME, noise_secret
from dagora.parties.horizontal.log.site_log import MemoryLog
from dagora.parties.horizontal.plan.coded_rows import code_rows
from dagora.parties.horizontal.plan.drafted_codebook import codebook_of
from dagora.parties.horizontal.row_sums.noisy_release import release_part, released_sums
from dagora.parties.horizontal.session.questions import Question
from dagora.privacy.terms import agree_on_terms
from tests.parties.horizontal.meeting import Meeting, ask_all
from tests.random_tables import random_discrete

NAMES = ("east", "north", "west")


def tables(rows=90, seed=1):
    table = random_discrete(np.random.default_rng(seed), rows, [2, 3, 2])
    return dict(zip(NAMES, split_rows(table, 3), strict=True))


def noisy(given=None, epsilon=1.0, **more):
    given = given or tables()
    terms = agree_on_terms(codebook_of(given).schema, 3, epsilon=epsilon)
    return Meeting(given, plan={"questions": ("release",), "privacy": terms}, **more)


def sums_of(meeting):
    with meeting.session as session:
        session.agree()
        found = session._sum(Question("release"))
    assert set(meeting.lines().values()) == {""}
    return found


def exact(meeting):
    rows = [code_rows(s.table, meeting.codebook, meeting.plan.largest_rows) for s in meeting.open.sites]
    return sum(released_sums(one, meeting.plan.privacy) for one in rows)


def test_the_release_is_the_sums_and_noise_of_the_promised_size():
    meeting = noisy()
    errors = sums_of(meeting) - exact(meeting)
    deviation = meeting.plan.privacy.sum_variance**0.5
    assert errors.any()
    assert np.abs(errors).max() < 8 * deviation
    assert 0.4 < errors.std() / deviation < 1.8


def test_the_same_plan_and_rows_give_the_same_noise_and_any_other_gives_other_noise():
    given = tables()
    meeting = noisy(given)
    parts = {}
    for name, site in zip(meeting.names, meeting.open.sites, strict=True):
        rows = code_rows(site.table, meeting.codebook, meeting.plan.largest_rows)
        parts[name] = lambda plan=meeting.plan, rows=rows, secret=b"s" * 32: release_part(
            rows, plan, meeting.plan.privacy, secret
        )
    part = parts["east"]
    np.testing.assert_array_equal(part(), part())
    assert (part() != part(plan=replace(meeting.plan, settings={"seed": 2}))).any()
    assert (part() != part(secret=b"t" * 32)).any()
    meeting.session.close("over")


def test_what_a_release_costs_is_counted_once_and_for_ever():
    given, logs = tables(), {name: MemoryLog() for name in NAMES}
    first = noisy(given, logs=logs)
    rho = first.plan.privacy.rho
    sums_of(first)
    policies = {name: {"rho_for_ever": 1.5 * rho} for name in NAMES}
    # The same release again costs nothing.
    sums_of(noisy(given, logs=logs, keys=first.keys, policies=policies))
    assert History.of(logs["east"].events).spent == pytest.approx(rho)
    # Another one would pass the limit.
    other = noisy(given, epsilon=1.01, logs=logs, keys=first.keys, policies=policies)
    with pytest.raises(ProtocolError, match="refused the plan"), other.session as session:
        session.agree()
    assert "rho_for_ever" in other.lines()["east"]
    assert len(other.answers("east")) == 2


def test_a_charge_survives_a_death_before_the_answer_left():
    logs = {name: MemoryLog() for name in NAMES}
    meeting = noisy(logs=logs, die={"west": "before answer"})
    with pytest.raises(ProtocolError), meeting.session as session:
        session.release()
    meeting.lines()
    assert History.of(logs["west"].events).spent == pytest.approx(meeting.plan.privacy.rho)


def test_a_plan_with_noise_answers_nothing_else():
    meeting = noisy()
    with (
        pytest.raises(ProtocolError, match="not in the plan: it allows no counts"),
        meeting.session as session,
    ):
        ask_all(session, [(0,)])


@pytest.mark.parametrize(
    "change",
    [{"questions": ("release", "counts")}, {"questions": ("counts",)}, {"shows": ("local-weights",)}],
)
def test_noise_and_sums_do_not_mix_in_a_plan(change):
    meeting = noisy()
    with pytest.raises(FormatError, match="one release and nothing else"):
        replace(meeting.plan, **change)
    meeting.session.close("over")


def test_terms_for_another_number_of_sites_are_refused():
    """Fewer sites in the terms would mean less noise from each than the promise needs."""
    meeting = noisy()
    terms = agree_on_terms(meeting.codebook.schema, 4, epsilon=1.0)
    with pytest.raises(FormatError, match="for 4 sites"):
        replace(meeting.plan, privacy=terms)
    meeting.session.close("over")


@pytest.mark.parametrize(("key", "value"), [("colluders", 2), ("rows_per_person", 5)])
def test_an_owner_may_ask_for_more_noise_than_the_plan_has(key, value):
    meeting = noisy(policies={"west": {key: value}})
    with pytest.raises(ProtocolError, match="site 'west': refused the plan"), meeting.session as session:
        session.agree()
    assert key in meeting.lines()["west"]


def test_without_a_secret_no_part_is_given():
    meeting = noisy(secrets={"west": b""})
    with pytest.raises(ProtocolError, match="site 'west': refused the plan"), meeting.session as session:
        session.agree()


def test_learning_over_sites_with_noise():
    rng = np.random.default_rng(0)
    x = rng.normal(size=30_000)
    rows = np.column_stack([x, x + rng.normal(size=30_000), rng.normal(size=30_000)])
    table = Table.from_numpy(rows, names=["x", "y", "z"])
    result = learn_federated(dict(zip(NAMES, split_rows(table, 3), strict=True)), privacy="epsilon=2")
    assert result.graph.edges == (("x", "y"),)
    assert result.settings["privacy"]["epsilon"] == 2.0
    assert "differential privacy" in result.message


def test_the_secret_stays_and_a_damaged_one_is_refused(tmp_path):
    secret = noise_secret(tmp_path)
    assert noise_secret(tmp_path) == secret
    assert (tmp_path / FILE_NAME).stat().st_mode & 0o077 == 0
    (tmp_path / FILE_NAME).write_bytes(secret[:5])
    with pytest.raises(FormatError, match="restore it"):
        noise_secret(tmp_path)
