"""Transfers with a check: labels as chosen, and a receiver that takes several vectors of choices is caught."""

import numpy as np
import pytest

from dagora.base.errors import ProtocolError
from dagora.parties.crypto.transfer import checked_transfer, oblivious_transfer
from dagora.parties.crypto.transfer.bit_matrix import unpack_bits
from dagora.parties.crypto.transfer.checked_transfer import INCONSISTENT, CheckedReceiver, CheckedSender
from dagora.parties.transport.messages import decode, encode
from tests.parties.pairs import both, deal_seeds, endings, replace, traffic, uniformity, wires
from tests.parties.wiretap import Death


def set_up(pair):
    return both(pair, CheckedSender, CheckedReceiver)


def calls(sender, receiver, choices):
    return (lambda _: sender.fresh_labels(len(choices))), (lambda _: receiver.receive_fresh_labels(choices))


def random_choices(count, seed=0):
    return np.random.default_rng(seed).integers(0, 2, count, dtype=np.uint8)


@pytest.fixture
def dealt(monkeypatch):
    deal_seeds(monkeypatch)


@pytest.mark.full
def test_with_real_base_transfers():
    pair = wires()
    sender, receiver = set_up(pair)
    choices = random_choices(300)
    fresh, labels = both(pair, *calls(sender, receiver, choices))
    np.testing.assert_array_equal(labels, fresh ^ choices[:, None] * sender.delta)
    assert sender.delta[0] & 1


@pytest.mark.usefixtures("dealt")
@pytest.mark.parametrize("count", [0, 1, 127, 128, 129, 1000])
def test_any_number_in_any_order(monkeypatch, count):
    monkeypatch.setattr(oblivious_transfer, "CHUNK", 256)
    pair = wires()
    sender, receiver = set_up(pair)
    for choices in (random_choices(count), np.zeros(count, np.uint8), np.ones(count, np.uint8)):
        fresh, labels = both(pair, *calls(sender, receiver, choices))
        np.testing.assert_array_equal(labels, fresh ^ choices[:, None] * sender.delta)
        assert len(np.unique(fresh, axis=0)) == count


def with_another_choice(columns):
    """A change of the receiver's message: in some columns, one choice is another."""

    def change(payload):
        sent = decode(payload)["columns"].copy()
        sent[columns, 0] ^= np.uint64(1 << 5)
        return encode({"columns": sent})

    return replace("columns", change)


@pytest.mark.usefixtures("dealt")
@pytest.mark.parametrize("columns", [range(64), range(64, 128)])
def test_a_receiver_with_several_vectors_of_choices_is_caught(columns):
    wire = wires(change=(None, with_another_choice(columns)))
    sender, receiver = set_up(wire)
    errors = endings(wire, *calls(sender, receiver, random_choices(200)))
    assert isinstance(errors[0], ProtocolError)
    assert str(errors[0]) == f"party 'b', 'checked/hashes': {INCONSISTENT}"
    assert errors[0].party == "b"


@pytest.mark.usefixtures("dealt")
@pytest.mark.parametrize("chunk", [1, 2])
def test_every_chunk_is_checked(monkeypatch, chunk):
    monkeypatch.setattr(oblivious_transfer, "CHUNK", 128)
    altered, seen = with_another_choice(range(64)), []

    def change(to, tag, payload):
        if not tag.endswith("/columns"):
            return payload
        seen.append(tag)
        return altered(to, tag, payload) if len(seen) == chunk + 1 else payload

    wire = wires(change=(None, change))
    sender, receiver = set_up(wire)
    errors = endings(wire, *calls(sender, receiver, random_choices(300)))
    assert INCONSISTENT in str(errors[0])
    assert [tag for _, tag, _ in wire[0].sent] == ["checked/check"] * (chunk + 1)


@pytest.mark.usefixtures("dealt")
def test_every_chunk_has_a_random_block_of_its_own(monkeypatch):
    """If all choices are 0 their hash is that block: the same one twice would tell how choices of chunks differ."""
    monkeypatch.setattr(oblivious_transfer, "CHUNK", 128)
    words = []
    for _ in range(2):
        wire = wires()
        sender, receiver = set_up(wire)
        both(wire, *calls(sender, receiver, np.zeros(300, np.uint8)))
        hashes = [decode(payload)["choices"] for _, tag, payload in wire[1].sent if tag == "checked/hashes"]
        words += [int(word) for hashed in hashes for word in hashed]
    assert len(words) == 2 * 3 * 2
    assert len(set(words)) == len(words)


@pytest.mark.usefixtures("dealt")
def test_one_column_is_a_guess_of_one_bit_of_delta():
    """A cheater in one column passes where that bit of Δ is 0, and is caught where it is 1; no more can leak."""
    seen = set()
    for column in range(12):
        wire = wires(change=(None, with_another_choice([column])))
        sender, receiver = set_up(wire)
        bit = unpack_bits(sender.delta)[column]
        error, _ = endings(wire, *calls(sender, receiver, random_choices(50)))
        assert (error is not None) == bool(bit)
        seen.add(int(bit))
    assert seen == {0, 1}


@pytest.mark.usefixtures("dealt")
@pytest.mark.parametrize("step", ["choices", "columns"])
@pytest.mark.parametrize("word", [0, 1])
def test_wrong_hashes_are_caught(step, word):
    def change(payload):
        told = {name: value.copy() for name, value in decode(payload).items()}
        told[step][..., word] ^= np.uint64(1)
        return encode(told)

    wire = wires(change=(None, replace("hashes", change)))
    sender, receiver = set_up(wire)
    errors = endings(wire, *calls(sender, receiver, random_choices(50)))
    assert INCONSISTENT in str(errors[0])


@pytest.mark.usefixtures("dealt")
def test_the_key_is_drawn_after_the_columns_and_anew():
    keys = []
    for _ in range(2):
        wire = wires()
        sender, receiver = set_up(wire)
        both(wire, *calls(sender, receiver, random_choices(50)))
        order = [tag for _, tag, _ in wire[0].received]
        assert order.index("checked/columns") < order.index("checked/hashes")
        got = [tag for _, tag, _ in wire[0].sent]
        assert got[-1] == "checked/check"
        keys.append(wire[0].sent[-1][2])
    assert keys[0] != keys[1]


@pytest.mark.usefixtures("dealt")
def test_the_key_is_sent_only_once_the_columns_are_there():
    """A receiver that withholds its columns sees no key, to which it could fit columns that pass."""
    wire = wires(die=("", "before checked/columns"))
    sender, receiver = set_up(wire)
    errors = endings(wire, *calls(sender, receiver, random_choices(50)))
    assert isinstance(errors[1], Death)
    assert isinstance(errors[0], ProtocolError)
    assert "checked/check" not in [tag for _, tag, _ in wire[0].sent]


@pytest.mark.usefixtures("dealt")
def test_the_key_has_all_bits_of_the_field():
    wire = wires()
    sender, receiver = set_up(wire)
    both(wire, *calls(sender, receiver, random_choices(50)))
    key = decode(wire[0].sent[-1][2])["key"]
    assert len(key) == checked_transfer.CHECK_KEY_BYTES == 16
    assert len(set(key)) > 4


@pytest.mark.usefixtures("dealt")
def test_the_sender_sees_nothing_of_the_choices(monkeypatch):
    """Hashes of the same choices are new each time and alike for all choices; without the random block they are not."""

    def hashes(choices, times):
        told, sizes = [], set()
        for _ in range(times):
            wire = wires()
            sender, receiver = set_up(wire)
            both(wire, *calls(sender, receiver, choices))
            told.append(decode(wire[1].sent[-1][2])["choices"].tobytes())
            sizes.add(tuple(traffic(wire[1])))
        return b"".join(told), sizes

    ones, zeros = np.ones(100, np.uint8), np.zeros(100, np.uint8)
    (of_ones, sizes), (of_zeros, others) = hashes(ones, 25), hashes(zeros, 25)
    assert sizes == others
    assert uniformity(of_ones) > 1e-6
    assert uniformity(of_zeros) > 1e-6
    monkeypatch.setattr(CheckedReceiver, "_with_random_block", lambda *_: np.zeros(4, np.uint64))
    assert uniformity(hashes(zeros, 5)[0]) < 1e-6


@pytest.mark.usefixtures("dealt")
@pytest.mark.parametrize(
    ("step", "payload"),
    [
        ("check", encode({"key": b"short"})),
        ("hashes", b"garbage"),
        ("columns", encode({"columns": np.zeros((128, 1), np.uint64)})),
    ],
)
def test_garbage(step, payload):
    change = replace(step, lambda _: payload)
    wire = wires(change=(change, change))
    sender, receiver = set_up(wire)
    errors = endings(wire, *calls(sender, receiver, random_choices(50)))
    victim = errors[1 if step == "check" else 0]
    assert isinstance(victim, ProtocolError)
    assert f"'checked/{step}'" in str(victim)
    assert "\n" not in str(victim)
