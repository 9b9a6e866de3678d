"""Common keys against Python's sets, and everything that must not show: sizes, keys, hashes of keys, order."""

import hashlib
import random

import numpy as np
import pytest

from dagora.base.errors import DataError, ProtocolError
from dagora.parties.crypto.transfer.oblivious_transfer import TransferReceiver, TransferSender
from dagora.parties.transport.messages import decode, encode
from dagora.parties.vertical import intersection
from dagora.parties.vertical.cuckoo import number_of_bins
from dagora.parties.vertical.intersection import intersect, key_texts
from tests.parties.pairs import both, deal_seeds, endings, replace, traffic, uniformity, wires

STEPS_OF_RECEIVER = ["hello", "key", "attempt", "codes", "common", "check"]
STEPS_OF_SENDER = ["hello", "columns", "values", "check"]


def find(pair, host_keys, guest_keys, roles=("receiver", "sender")):
    """Positions on both sides."""
    return both(
        pair, lambda w: intersect(w, host_keys, roles[0]), lambda w: intersect(w, guest_keys, roles[1])
    )


def assert_common(pair, host_keys, guest_keys, **options):
    host, guest = find(pair, host_keys, guest_keys, **options)
    expected = sorted(set(map(str, host_keys)) & set(map(str, guest_keys)))
    assert [str(host_keys[i]) for i in host] == expected
    assert [str(guest_keys[i]) for i in guest] == expected
    assert host.dtype == guest.dtype == np.int64
    return len(expected)


def shuffled(keys, seed=0):
    keys = list(keys)
    random.Random(seed).shuffle(keys)
    return keys


def people(*numbers):
    return [f"person-{i}" for i in numbers]


@pytest.fixture
def dealt(monkeypatch):
    deal_seeds(monkeypatch)


@pytest.mark.parametrize("roles", [("receiver", "sender"), ("sender", "receiver")])
def test_common_rows_on_every_network(network, roles):
    host, guest = shuffled(people(*range(300))), shuffled(people(*range(200, 700)), 1)
    assert assert_common(wires(network.open("host", "b")), host, guest, roles=roles) == 100


@pytest.mark.parametrize(
    ("host", "guest"),
    [
        (people(1, 2, 3), people(4, 5)),
        (people(1, 2, 3), people(3, 1, 2)),
        (people(1), people(1)),
        (people(1), people(2)),
        (people(7), people(*range(10_000))),
        (people(*range(10_000)), people(7)),
        (people(*range(5000)), people(*range(4999, 9999))),
        (["7", "07", "a", "A", "ü", " x y"], ["07", "A", "ü"]),
        (list(range(50)), [str(i) for i in range(25, 100)]),
        ([], people(1)),
        (people(1), []),
        ([], []),
    ],
)
@pytest.mark.parametrize("roles", [("receiver", "sender"), ("sender", "receiver")])
def test_common_rows_against_sets(dealt, host, guest, roles):
    assert_common(wires(), shuffled(host), shuffled(guest, 1), roles=roles)


@pytest.mark.full
def test_random_sets(dealt):
    rng = np.random.default_rng(0)
    found = []
    for _ in range(15):
        universe, sizes = rng.integers(1, 2000), rng.random(2)
        host, guest = (rng.permutation(universe)[: int(size * universe)].tolist() for size in sizes)
        found.append(assert_common(wires(), host, guest))
    assert min(found) < max(found)


def test_keys_may_be_an_array_and_text_has_one_form(dealt):
    host = np.array(["Zoe\u0308", "  12 ", "x"])
    guest = np.array([12, 13])
    a, b = find(wires(), host, guest)
    assert (a.tolist(), b.tolist()) == ([1], [0])
    a, b = find(wires(), host, ["Zo\u00eb\n", "X"])
    assert (a.tolist(), b.tolist()) == ([0], [0])


def test_oblivious_transfer_may_be_set_up_before(dealt):
    pair = wires()
    sender, receiver = both(pair, TransferSender, TransferReceiver)
    for seed in range(2):
        host, guest = shuffled(people(*range(30)), seed), shuffled(people(*range(20, 60)), seed)
        a, b = both(
            pair,
            lambda w, keys=host: intersect(w, keys, "receiver", transfer=sender),
            lambda w, keys=guest: intersect(w, keys, "sender", transfer=receiver),
        )
        assert [host[i] for i in a] == [guest[i] for i in b] == sorted(people(*range(20, 30)))
    with pytest.raises(ValueError, match="TransferSender"):
        intersect(pair[0], ["a"], "receiver", transfer=receiver)
    with pytest.raises(ValueError, match="role"):
        intersect(pair[0], ["a"], "referee")
    errors = endings(
        wires(),
        lambda w: intersect(w, ["a"], "receiver", transfer=sender),
        lambda w: intersect(w, ["a"], "sender"),
    )
    assert all("one party has set up oblivious transfer" in str(error) for error in errors)


def test_message_sizes_depend_on_the_two_numbers_of_keys_alone(dealt):
    def sizes(host, guest):
        pair = wires()
        find(pair, host, guest)
        return [traffic(wire) for wire in pair]

    host = people(*range(100, 140))
    disjoint = sizes(host, people(*range(200, 270)))
    assert disjoint == sizes(host, [*host, *people(*range(200, 230))])
    assert disjoint == sizes([key * 20 for key in host], list(range(70)))
    assert disjoint != sizes(host, people(*range(200, 271)))
    tags = [[tag.removeprefix("psi/") for tag, _ in side] for side in disjoint]
    assert tags == [STEPS_OF_RECEIVER, STEPS_OF_SENDER]
    payload = dict(disjoint[0])
    assert payload["psi/codes"] - 64 * number_of_bins(41) < 64
    assert payload["psi/common"] - 16 * 41 < 64


def heard(pair):
    return b"".join(payload for wire in pair for _, _, payload in wire.sent)


def marks(pair, texts):
    """What stands for keys in this run, to anybody who knows the public salts and guesses the keys."""
    salts = [decode(wire.sent[0][2]) for wire in pair]
    sizes = b"%d %d" % tuple(hello["keys"] for hello in salts)
    prefix = b"dagora intersection " + b"".join(hello["salt"] for hello in salts)
    session = hashlib.sha256(prefix + sizes).digest()
    # The last is the probe, which is no secret.
    words = intersection._hash_keys(session, 0, texts)[0][:-1]
    return {row.tobytes() for row in words}


def test_no_key_and_no_hash_of_a_key_is_on_the_wire(dealt):
    host, guest = people(*range(40)), people(*range(30, 80))
    common, private = people(*range(30, 40)), people(*range(30), *range(40, 80))
    pair = wires()
    find(pair, host, guest)
    content = heard(pair)
    for key in host + guest:
        hashes = (hashlib.new(name, key.encode()) for name in ("md5", "sha1", "sha256", "blake2b"))
        for trace in (key.encode(), key.encode("utf-16-le"), *(h.digest()[:8] for h in hashes)):
            assert trace not in content
            assert trace.hex().encode() not in content
    assert b"person" not in content
    # Somebody who guesses a private key cannot check the guess against what was said; common keys are no secret.
    told = {row.tobytes() for row in decode(pair[0].sent[-2][2])["rows"]}
    assert marks(pair, common) <= told
    assert len(told) == len(host) + 1
    assert not any(mark in content for mark in marks(pair, private))


def test_values_are_noise_in_order_and_never_the_same_again(dealt):
    keys, seen = people(*range(500)), []
    for _ in range(2):
        pair = wires()
        find(pair, people(*range(500, 900)), keys)
        values = decode(pair[1].sent[-2][2])["rows"]
        assert values.shape == (1503, 2)
        assert values.tolist() == sorted(values.tolist())
        # The first word's highest bytes grow, being sorted; the other is noise.
        assert uniformity(values[:, 1].tobytes()) > 1e-6
        seen.append(set(map(tuple, values.tolist())))
    assert not seen[0] & seen[1]
    assert len(seen[0]) == 1503


def test_a_failed_placement_is_tried_again_with_other_hashes(dealt, monkeypatch):
    real, calls = intersection.place, []

    def fail_twice(candidates, bins):
        calls.append(candidates.copy())
        return real(candidates, bins)[: 0 if len(calls) < 3 else None]

    monkeypatch.setattr(intersection, "place", fail_twice)
    assert assert_common(wires(), people(*range(50)), people(*range(25, 75))) == 25
    assert len(calls) == 3
    assert not (calls[0] == calls[1]).all()
    monkeypatch.setattr(intersection, "place", lambda candidates, bins: np.empty(0, dtype=np.int64))
    errors = endings(
        wires(), lambda w: intersect(w, ["a"], "receiver"), lambda w: intersect(w, ["a"], "sender")
    )
    assert all("could not be placed" in str(error) for error in errors)


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        (["a", "secret", "b", "secret "], "a.csv, column 'ID': rows 2 and 4 have the same key"),
        ([12, "12"], "rows 1 and 2 have the same key"),
        (["a", ""], "row 2 has no key"),
        (["a", "   "], "row 2 has no key"),
        ([None], "row 1 has no key"),
        (np.array([1.0, np.nan])[1:], "row 1 has no key"),
        (np.array([1.0, 2.0]), "the key of row 1 is a float; keys are texts or whole numbers"),
        ([True], "the key of row 1 is a bool"),
        (["\ud800"], "not valid Unicode"),
    ],
)
def test_keys_that_are_refused_before_a_word_is_said(network, keys, reason):
    pair = wires(network.open("host", "b"))
    errors = endings(
        pair,
        lambda w: intersect(w, keys, "receiver", column="a.csv, column 'ID'"),
        lambda w: intersect(w, ["x"], "sender"),
    )
    assert isinstance(errors[0], DataError)
    assert reason in str(errors[0])
    assert "secret" not in str(errors[0])
    assert pair[0].sent == []
    assert "party 'host' ended the run: its own data or options were refused" in str(errors[1])


def test_too_many_keys(monkeypatch):
    monkeypatch.setattr(intersection, "MAX_KEYS", 3)
    with pytest.raises(DataError, match="4 keys are too many"):
        key_texts(range(4))


def test_both_want_the_same_role(network):
    pair = wires(network.open("host", "b"))
    errors = endings(pair, lambda w: intersect(w, ["a"], "sender"), lambda w: intersect(w, ["a"], "sender"))
    assert all("both parties chose the role sender" in str(error) for error in errors)


def ends_together(pair):
    """Both sides of a run that a lie or a death must end."""
    keys = people(*range(20))

    def work(role):
        def run(wire):
            intersect(wire, keys, role)
            # A party whose own part was done learns of the end when it goes on.
            wire.receive(wire.peers[0], "next")

        return run

    return endings(pair, work("receiver"), work("sender"))


@pytest.mark.parametrize(
    "new", [lambda _: b"\x00garbage", lambda payload: payload[:-1], lambda _: encode({"x": 1})]
)
@pytest.mark.parametrize(
    ("liar", "step"), [*(("host", s) for s in STEPS_OF_RECEIVER), *(("b", s) for s in STEPS_OF_SENDER)]
)
def test_garbage_ends_both_sides_with_one_line(dealt, liar, step, new):
    change = replace(f"/{step}", new)
    pair = wires(change=(change, None) if liar == "host" else (None, change))
    errors = ends_together(pair)
    assert all(isinstance(error, ProtocolError) and "\n" not in str(error) for error in errors), errors
    victim, other = errors if liar == "b" else errors[::-1]
    assert f"party '{liar}', 'psi/{step}': " in str(victim)
    assert "ended the run" in str(other)


@pytest.mark.parametrize(
    ("liar", "step", "message", "reason"),
    [
        (
            "host",
            "hello",
            {"role": "receiver", "keys": -1, "salt": bytes(16), "ready": False},
            "number of keys",
        ),
        (
            "host",
            "hello",
            {"role": "receiver", "keys": 2**40, "salt": bytes(16), "ready": False},
            "number of keys",
        ),
        (
            "host",
            "hello",
            {"role": "judge", "keys": 20, "salt": bytes(16), "ready": False},
            "not the opening",
        ),
        ("host", "hello", {"role": "receiver", "keys": 20, "salt": b"", "ready": False}, "not the opening"),
        (
            "host",
            "hello",
            {"role": "receiver", "keys": 21, "salt": bytes(16), "ready": False},
            "must be an array",
        ),
        ("host", "attempt", {"attempt": 4}, "attempts"),
        ("host", "attempt", {"attempt": 1}, "the probe that every set holds was not found"),
        ("host", "codes", {"rows": np.ones((number_of_bins(21), 8), dtype=np.uint64)}, "the probe"),
        ("host", "common", {"rows": np.ones((21, 2), dtype=np.uint64)}, "the probe"),
        ("b", "values", {"rows": np.ones((63, 2), dtype=np.uint64)}, "the probe"),
        ("host", "check", {"digest": bytes(32)}, "other common keys"),
        ("b", "check", {"digest": bytes(32)}, "other common keys"),
    ],
)
def test_lies_that_are_well_formed(network, dealt, liar, step, message, reason):
    change = replace(f"/{step}", lambda _: encode(message))
    pair = wires(network.open("host", "b"), change=(change, None) if liar == "host" else (None, change))
    errors = ends_together(pair)
    assert all(isinstance(error, ProtocolError) and "\n" not in str(error) for error in errors), errors
    assert any(reason in str(error) for error in errors)


@pytest.mark.parametrize(
    ("mortal", "step"), [*(("host", s) for s in STEPS_OF_RECEIVER), *(("b", s) for s in STEPS_OF_SENDER)]
)
def test_a_peer_that_dies_at_any_step(network, dealt, mortal, step):
    moment = f"before psi/{step}"
    pair = wires(network.open("host", "b"), die=(moment, "") if mortal == "host" else ("", moment))
    errors = ends_together(pair)
    survivor = errors[mortal == "host"]
    assert isinstance(survivor, ProtocolError)
    assert f"'{mortal}'" in str(survivor)
    assert "\n" not in str(survivor)
