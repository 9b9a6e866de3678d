"""Releases with noise over a real session: the noise's law, its charge for ever, and that nothing else can be asked."""

from dataclasses import replace

import numpy as np
import pytest

import dagora
from dagora.api.learn_federated import learn_federated
from dagora.base.errors import FormatError, OptionError, ProtocolError
from dagora.data.partition import split_rows
from dagora.data.table import Table
from dagora.parties.horizontal.log.log_events import History
from dagora.parties.horizontal.log.site_log import MemoryLog
from dagora.parties.horizontal.plan.codebook import Codebook, ColumnCoding
from dagora.parties.horizontal.plan.coded_rows import code_rows, follow_codebook
from dagora.parties.horizontal.plan.drafting import codebook_of
from dagora.parties.horizontal.session.questions import PlanQuestion
from dagora.parties.horizontal.session.row_sums import sums_to_release
from dagora.parties.privacy.terms import agree_on_terms
from tests.parties.horizontal.meeting import Meeting, ask_all
from tests.random_tables import random_discrete

NAMES = ("east", "north", "west")


def tables(rows=90, seed=1):
    table = random_discrete(np.random.default_rng(seed), rows, [2, 3, 2])
    return dict(zip(NAMES, split_rows(table, 3), strict=True))


def noisy(given=None, epsilon=1.0, settings=None, plan_of=None, **more):
    given = given or tables()
    terms = agree_on_terms(codebook_of(given).schema, 3, epsilon=epsilon)
    plan = {"questions": ("release",), "privacy": terms, "settings": settings or {}, "tables": 0}
    plan["largest_rows"] = 1024
    if plan_of is not None:
        plan["codebook"] = plan_of.plan.codebook
    return Meeting(given, plan=plan, **more)


def sums_of(meeting):
    with meeting.session as session:
        session.agree()
        found = session._sum(PlanQuestion("release"))
    assert set(meeting.lines().values()) == {""}
    return found


def exact(meeting):
    rows = [code_rows(s.table, meeting.codebook, meeting.plan.largest_rows) for s in meeting.open.sites]
    return sum(sums_to_release(one, meeting.plan.privacy) for one in rows)


def test_the_release_is_the_sums_and_noise_of_the_promised_size():
    meeting = noisy()
    errors = sums_of(meeting) - exact(meeting)
    deviation = meeting.plan.privacy.sum_variance**0.5
    assert errors.any()
    assert np.abs(errors).max() < 8 * deviation
    assert 0.4 < errors.std() / deviation < 1.8


def test_the_same_plan_gets_the_same_answer_again_even_if_rows_have_changed():
    """Otherwise a coordinator that asks again would learn, at no cost, whether one row has changed."""
    given, logs = tables(), {name: MemoryLog() for name in NAMES}
    first = noisy(given, logs=logs)
    sums = sums_of(first)
    again = noisy(given, logs=logs, keys=first.keys)
    np.testing.assert_array_equal(sums_of(again), sums)
    changed = {**given, "west": given["west"].take(range(given["west"].n_rows - 1))}
    later = noisy(changed, logs=logs, keys=first.keys, plan_of=first)
    np.testing.assert_array_equal(sums_of(later), sums)
    # Any other plan has noise of its own.
    other = noisy(given, logs=logs, keys=first.keys, settings={"seed": 2})
    assert (sums_of(other) != sums).any()


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
    [
        {"questions": ("release", "counts")},
        {"questions": ("counts",)},
        {"shows": ("local-weights",)},
        {"tables": 1 << 62},
        {"functions": 1},
    ],
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


def test_learning_over_sites_with_noise():
    rng = np.random.default_rng(0)
    x = rng.normal(size=30_000)
    rows = np.column_stack([x, x + rng.normal(size=30_000), rng.normal(size=30_000)])
    table = Table.from_numpy(rows, names=["x", "y", "z"])
    result = learn_federated(dict(zip(NAMES, split_rows(table, 3), strict=True)), privacy="epsilon=2")
    assert result.graph.edges == (("x", "y"),)
    assert result.settings["privacy"]["epsilon"] == 2.0
    assert "differential privacy" in result.message


@pytest.mark.parametrize("largest_rows", [4, 64, 1024, 1 << 22])
def test_one_row_moves_the_sums_by_no_more_than_the_terms_say_whatever_the_bits(largest_rows):
    """More bits than a row's squares have room for would overflow, and long rows would not be shortened."""
    rng = np.random.default_rng(1)
    columns = [f"x{i}" for i in range(40)]
    rows = np.concatenate([np.ones((1, 40)), -np.ones((1, 40)), rng.choice([-1.0, 0.3, 1.0], (2, 40))])
    table = Table.from_numpy(rows, names=columns, continuous=["all"])
    book = Codebook(tuple(ColumnCoding(name, low=-1.0, high=1.0) for name in columns))
    terms = agree_on_terms(book.schema, 3, row_bound=0.5)
    for row in range(4):
        coded = code_rows(follow_codebook(table.take([row]), book), book, largest_rows)
        moved = sums_to_release(coded, terms).astype(object)
        assert sum(moved**2) <= terms.sensitivity_squared


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "notears-sob"}, "does not work on a release with noise"),
        ({"method": "vote"}, "does not work on a release with noise"),
    ],
)
def test_what_no_release_can_give_is_refused_before_anything_is_spent(settings, words):
    table = Table.from_numpy(np.random.default_rng(0).normal(size=(30, 3)), names=["x", "y", "z"])
    with pytest.raises(OptionError, match=words):
        learn_federated(dict(zip(NAMES, split_rows(table, 3), strict=True)), privacy="epsilon=1", **settings)


def test_ranges_taken_from_rows_are_told():
    table = Table.from_numpy(np.random.default_rng(0).normal(size=(3000, 2)), names=["x", "y"])
    sites = dict(zip(NAMES, split_rows(table, 3), strict=True))
    book = Codebook((ColumnCoding("x", low=-4.0, high=4.0), ColumnCoding("y", low=-4.0, high=4.0)))
    for codebook, told in ((None, True), (book, False)):
        result = learn_federated(sites, privacy="epsilon=1", codebook=codebook)
        assert any("taken from the rows" in line for line in result.warnings) is told


def test_a_posterior_of_sums_with_noise_is_refused():
    from dagora.parties.privacy.release import release

    table = {"x": np.random.default_rng(0).normal(size=300), "y": np.random.default_rng(1).normal(size=300)}
    noisy_sums = release(table, bytes(32), ranges={"x": (-4, 4), "y": (-4, 4)})
    with pytest.raises(OptionError, match="noise for privacy"):
        dagora.sample(noisy_sums, draws=10)


def test_a_release_is_asked_for_once_in_a_run():
    meeting = noisy()
    with pytest.raises(ProtocolError, match="the release a second time"), meeting.session as session:
        assert [session.release() for _ in range(2)]
