"""Sums are right, losses are survived or end the run in one line, and nobody waits for ever."""

import itertools
import random

import numpy as np
import pytest

from dagora.errors import ProtocolError
from dagora.parties.horizontal.replies import collect, refusal
from dagora.parties.horizontal.secure_sum.identity import CertifiedIdentity
from dagora.parties.horizontal.secure_sum.roster import usual_threshold
from dagora.parties.horizontal.secure_sum.site import epoch_rounds
from dagora.parties.transport.in_memory import memory_network
from tests.parties.horizontal.secure_sum.sums import begin, names_of
from tests.parties.network import PATIENCE, Network
from tests.parties.wiretap import Death, Wire

EARLY = ["got sum/begin", "before sum/keys"]
SHARING = ["after sum/keys", "got sum/roster", "before sum/share/0"]
SHARED = ["after sum/share/0", "got sum/shares/0", "before sum/0/input"]
LATE = ["after sum/0/input", "got sum/0/open", "before sum/0/shares"]


@pytest.mark.parametrize("count", range(3, 11))
def test_the_sum_is_exact(count):
    party = begin(names_of(count), rounds=2)
    party.sums.set_up()
    for round_ in (0, 1):
        opened = party.sums.sum(f"task {round_}")
        assert opened.sites == tuple(names_of(count))
        np.testing.assert_array_equal(opened.values, party.plain(names_of(count), round_))
    party.end()
    assert not party.errors()
    assert party.losses == []


def test_any_shape_and_none_at_all():
    names = names_of(3)
    for shape in ((), (0,), (2, 3, 4)):
        vectors = {name: [np.full(shape, 2**63 + i, dtype=np.uint64)] for i, name in enumerate(names)}
        party = begin(names, vectors=vectors)
        party.sums.set_up()
        np.testing.assert_array_equal(
            party.sums.sum("task 0").values, np.full(shape, 2**63 + 3, dtype=np.uint64)
        )
        party.end()


def test_new_epochs_are_shared_as_rounds_go_by():
    names, rounds = names_of(4), epoch_rounds(0) + epoch_rounds(1) + 2
    party = begin(names, rounds=rounds, size=3)
    party.sums.set_up()
    for round_ in range(rounds):
        np.testing.assert_array_equal(party.sums.sum(f"task {round_}").values, party.plain(names, round_))
    party.end()
    assert not party.errors()
    shares = [tag for _, tag, _ in party.wires["s0"].sent if tag.startswith("sum/share/")]
    assert shares == ["sum/share/0", "sum/share/1", "sum/share/2"]


def _check_loss(names, lost, moment):
    """Lose sites at a moment of the first sum; the outcome must be what the plan says."""
    party = begin(names, die=dict.fromkeys(lost, moment), rounds=2)
    left = [name for name in names if name not in lost]
    least = max(3, usual_threshold(len(left if moment in EARLY else names)))
    enough = usual_threshold(len(names)) if moment in LATE else least
    in_it = names if moment in LATE else left
    error = None
    try:
        party.sums.set_up()
        opened = party.sums.sum("task 0")
        np.testing.assert_array_equal(opened.values, party.plain(in_it))
        assert opened.sites == tuple(in_it)
        assert len(left) >= enough
        if moment in LATE:
            with pytest.raises(ProtocolError, match="was lost after sums with it were opened") as caught:
                party.sums.sum("task 1")
            error = caught.value
        else:
            again = party.sums.sum("task 1")
            np.testing.assert_array_equal(again.values, party.plain(left, 1))
    except ProtocolError as refusal:
        error = refusal
        assert len(left) < enough, f"{lost} lost {moment}: {refusal}"
    party.end(str(error) if error else None)
    if error:
        assert "\n" not in str(error)
        assert any(f"'{name}'" in str(error) for name in lost)
    assert len(party.losses) == len(lost)
    ends = party.errors()
    for name in lost:
        assert isinstance(ends.pop(name), Death)
    for name, end in ends.items():
        assert error, f"{name}: {end}"
        assert isinstance(end, ProtocolError)
        assert "\n" not in str(end)
    assert bool(ends) == (error is not None and bool(left))


@pytest.mark.parametrize("moment", [*EARLY, *SHARING, *SHARED, *LATE])
@pytest.mark.parametrize("count", [3, 4])
def test_every_pattern_of_loss_at_every_moment(count, moment):
    names = names_of(count)
    for size in range(1, count + 1):
        for lost in itertools.combinations(names, size):
            _check_loss(names, lost, moment)


@pytest.mark.parametrize("moment", [EARLY[0], SHARING[-1], SHARED[-1], LATE[-1]])
def test_every_pattern_of_loss_among_five(moment):
    for size in range(1, 6):
        for lost in itertools.combinations(names_of(5), size):
            _check_loss(names_of(5), lost, moment)


@pytest.mark.parametrize("moment", [EARLY[0], SHARING[-1], SHARED[-1], LATE[0], LATE[-1]])
@pytest.mark.parametrize("count", [6, 7, 10])
def test_losses_among_more_sites(count, moment):
    names = names_of(count)
    spare = count - usual_threshold(count)
    for size in (1, spare, spare + 1):
        _check_loss(names, tuple(sorted(random.sample(names, size))), moment)


@pytest.mark.parametrize("moment", ["before sum/1/input", "got sum/shares/1", "before sum/share/1"])
def test_a_site_lost_after_an_opening_ends_the_run_and_its_vector_stays_closed(moment):
    names = names_of(5)
    rounds = 2 if "sum/1" in moment else epoch_rounds(0) + 1
    party = begin(names, die={"s3": moment}, rounds=rounds)
    party.sums.set_up()
    for round_ in range(rounds - 1):
        party.sums.sum(f"task {round_}")
    with pytest.raises(ProtocolError, match="site 's3' was lost after sums with it were opened") as caught:
        party.sums.sum(f"task {rounds - 1}")
    party.end(str(caught.value))
    last = f"sum/{rounds - 1}/open"
    assert not [tag for _, tag, _ in party.coordinator.sent if tag == last]
    with pytest.raises(ProtocolError, match="site 's3' was lost"):
        party.sums.sum("again")


def test_a_slow_site_is_left_out_and_learns_it():
    names = names_of(4)
    party = begin(names, patience=4.0)
    wire = party.wires["s1"]
    original = wire.send
    held = []

    def slow(to, tag, payload):
        if tag == "sum/0/input":
            held.append(payload)
        else:
            original(to, tag, payload)

    wire.send = slow
    party.sums.set_up()
    opened = party.sums.sum("task 0")
    assert opened.sites == ("s0", "s2", "s3")
    np.testing.assert_array_equal(opened.values, party.plain(["s0", "s2", "s3"]))
    assert "went on without this site" in str(party.working["s1"].exception(PATIENCE))
    assert "sent no 'sum/0/input' within" in party.losses[0]
    party.end()


def test_two_sites_only_where_both_ask_for_it():
    party = begin(names_of(2), minimum=2)
    party.sums.set_up()
    np.testing.assert_array_equal(party.sums.sum("task 0").values, party.plain(names_of(2)))
    party.end()
    with pytest.raises(ProtocolError, match="2 sites are too few for a secure sum: 3 are needed"):
        begin(names_of(2))


@pytest.mark.parametrize("lost", [(), ("d",)])
def test_the_same_over_tls_with_certificates(credentials, lost):
    network = Network("tcp", credentials)
    try:
        opened = network.open("host", "b", "c", "d", "stranger", timeout=5.0)
        transports = dict(zip(["host", "b", "c", "d", "stranger"], opened, strict=True))
        names = ["b", "c", "d", "stranger"]
        identities = {name: CertifiedIdentity(credentials[name]) for name in names}
        die = dict.fromkeys(lost, "before sum/0/input")
        party = begin(names, transports=transports, identities=identities, die=die)
        party.sums.set_up()
        result = party.sums.sum("task 0")
        left = [name for name in names if name not in lost]
        assert result.sites == tuple(left)
        np.testing.assert_array_equal(result.values, party.plain(left))
        party.end()
    finally:
        network.close()


def test_sites_that_were_asked_different_things_add_up_to_noise():
    names = names_of(3)
    vectors = {name: [np.ones(50, dtype=np.uint64)] for name in names}
    party = begin(names, vectors=vectors)
    party.sites["s1"].answer, original = (
        (lambda label, vector: original("other", vector)),
        party.sites["s1"].answer,
    )
    party.sums.set_up()
    values = party.sums.sum("task 0").values
    assert len(set(values.tolist())) == 50
    party.end()


def test_answers_of_different_shapes_are_refused_by_name():
    names = names_of(3)
    vectors = {name: [np.ones(2 + (name == "s2"), dtype=np.uint64)] for name in names}
    party = begin(names, vectors=vectors)
    party.sums.set_up()
    with pytest.raises(ProtocolError, match="'s0' and 's2' answer 'task 0' with different shapes"):
        party.sums.sum("task 0")
    # The sites stand in the middle of a sum, so there is no other after it.
    with pytest.raises(ProtocolError, match="with different shapes"):
        party.sums.sum("task 1")
    party.end("over")


def test_a_refusal_ends_the_sum_with_its_line():
    network = memory_network(["coordinator", "b"], hub="coordinator")
    network["b"].send("coordinator", "answer", refusal("cannot"))
    with pytest.raises(ProtocolError, match=r"^site 'b': cannot$"):
        collect(network["coordinator"], ["b"], "answer", {"n": int}, 1.0)
    network["b"].send("coordinator", "answer", b"garbage")
    with pytest.raises(ProtocolError, match=r"^site 'b': is not a message") as caught:
        collect(network["coordinator"], ["b"], "answer", {"n": int}, 1.0)
    assert caught.value.party == "b"


def test_every_silent_site_is_said_to_have_had_the_whole_patience():
    network = memory_network(["coordinator", "b", "c"], hub="coordinator")
    network["c"].send("coordinator", "other", b"1")
    lost = collect(network["coordinator"], ["b", "c"], "answer", {"n": int}, 0.1).lost
    assert lost == {site: f"party '{site}' sent no 'answer' within 0.1 s" for site in "bc"}


def test_a_wire_for_tests_hears_both_ways():
    network = memory_network(["coordinator", "b"], hub="coordinator")
    wire = Wire(network["b"])
    wire.send("coordinator", "x", b"1")
    assert network["coordinator"].receive("b", "x") == b"1"
    assert wire.sent == [("coordinator", "x", b"1")]
