"""Labels and strings by choice: right for every choice, alike on the wire for all, and both sides end together."""

import numpy as np
import pytest

from dagora.base.errors import ProtocolError
from dagora.parties.crypto.transfer import oblivious_transfer
from dagora.parties.crypto.transfer.bit_matrix import pack_bits
from dagora.parties.crypto.transfer.oblivious_transfer import TransferReceiver, TransferSender, random_delta
from dagora.parties.transport.messages import decode, encode
from tests.parties.pairs import both, deal_seeds, endings, replace, traffic, uniformity, wires

KINDS = ["random", "zeros", "ones"]


def choices_of(kind, count, seed=0):
    if kind == "random":
        return np.random.default_rng(seed).integers(0, 2, count, dtype=np.uint8)
    return np.full(count, kind == "ones", dtype=np.uint8)


def set_up(pair, **options):
    return both(pair, lambda w: TransferSender(w, **options), TransferReceiver)


def transfer_fresh(pair, sender, receiver, choices):
    fresh, receive = sender.fresh_labels, receiver.receive_fresh_labels
    return both(pair, lambda _: fresh(len(choices)), lambda _: receive(choices))


def transfer_strings(pair, sender, receiver, choices):
    send, receive = sender.random_transfer, receiver.random_transfer
    return both(pair, lambda _: send(len(choices)), lambda _: receive(choices))


@pytest.fixture
def dealt(monkeypatch):
    """Both sides, with seeds from a dealer."""
    deal_seeds(monkeypatch)
    pair = wires()
    return pair, *set_up(pair)


def test_all_of_it_on_every_network(network):
    pair = wires(network.open("host", "b"))
    sender, receiver = set_up(pair)
    for kind in KINDS:
        choices = choices_of(kind, 300)
        times_delta = choices[:, None] * sender.delta
        fresh, labels = transfer_fresh(pair, sender, receiver, choices)
        np.testing.assert_array_equal(labels, fresh ^ times_delta)
        strings, chosen = transfer_strings(pair, sender, receiver, choices)
        np.testing.assert_array_equal(chosen, strings[np.arange(300), choices])


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 1000, 2500])
def test_any_number_in_any_order(dealt, monkeypatch, count):
    monkeypatch.setattr(oblivious_transfer, "CHUNK", 256)
    pair, sender, receiver = dealt
    seen = []
    for seed in range(3):
        choices = choices_of("random", count, seed)
        fresh, labels = transfer_fresh(pair, sender, receiver, choices)
        np.testing.assert_array_equal(labels, fresh ^ (choices[:, None] * sender.delta))
        strings, chosen = transfer_strings(pair, sender, receiver, choices)
        np.testing.assert_array_equal(chosen, strings[np.arange(count), choices])
        seen += strings.reshape(-1, 2).tolist()
    # No string comes twice, in a batch or over batches.
    assert len(set(map(tuple, seen))) == 6 * count


def test_random_strings_have_lost_the_difference_of_labels(dealt):
    pair, sender, receiver = dealt
    strings, _ = transfer_strings(pair, sender, receiver, choices_of("zeros", 5000))
    differences = strings[:, 0] ^ strings[:, 1]
    assert len(np.unique(differences, axis=0)) == 5000
    assert uniformity(strings.tobytes()) > 1e-6
    assert uniformity(differences.tobytes()) > 1e-6


def test_delta_is_given_or_drawn(monkeypatch):
    deal_seeds(monkeypatch)
    deltas = [random_delta() for _ in range(50)]
    assert all(delta[0] & np.uint64(1) for delta in deltas)
    assert len({tuple(delta.tolist()) for delta in deltas}) == 50
    given = np.array([2**63 + 1, 7], dtype=np.uint64)
    sender, _ = set_up(wires(), delta=given)
    np.testing.assert_array_equal(sender.delta, given)
    with pytest.raises(ValueError, match="lowest bit"):
        TransferSender(wires()[0], delta=np.array([2, 7], dtype=np.uint64))


def test_calls_that_make_no_sense(dealt):
    _, _, receiver = dealt
    with pytest.raises(ValueError, match="bits"):
        receiver.receive_fresh_labels(np.array([0, 2], dtype=np.uint8))


def columns_sent(pair):
    return [decode(payload)["columns"] for _, tag, payload in pair[1].sent if tag == "transfer/columns"]


def test_what_the_receiver_sends_does_not_depend_on_its_choices(monkeypatch):
    deal_seeds(monkeypatch)
    count, sizes = 20_000, []
    for kind in KINDS:
        pair = wires()
        sender, receiver = set_up(pair)
        transfer_fresh(pair, sender, receiver, choices_of(kind, count))
        sizes.append(traffic(pair[1]))
        sent = columns_sent(pair)[0]
        assert uniformity(sent.tobytes()) > 1e-6
        # The sender knows one stream of each pair; what it sees without that one is still noise.
        words = sent.shape[1]
        _, fresh = set_up(wires())
        zero, one = fresh._zero.take(words), fresh._one.take(words)
        takes = sender._takes[:, None]
        known = (zero & ~takes) | (one & takes)
        assert uniformity((sent ^ known).tobytes()) > 1e-6
        # The test can fail: with both streams the choices lie bare.
        bare = sent ^ zero ^ one
        np.testing.assert_array_equal(bare, np.tile(pack_bits(choices_of(kind, count)), (128, 1)))
        assert kind == "random" or uniformity(bare.tobytes()) < 1e-100
    assert sizes[0] == sizes[1] == sizes[2]


def test_fresh_labels_cost_the_sender_nothing(dealt):
    pair, sender, receiver = dealt
    before = len(pair[0].sent)
    transfer_fresh(pair, sender, receiver, choices_of("ones", 100))
    assert len(pair[0].sent) == before


def test_no_message_of_one_session_comes_again_in_another():
    said = []
    for _ in range(2):
        pair = wires()
        transfer_strings(pair, *set_up(pair), choices_of("random", 20))
        said.append([payload for wire in pair for _, _, payload in wire.sent])
    assert all(first != second for first, second in zip(*said, strict=True))


def use(pair):
    """Both sides, from set-up to the last label, as functions of their wires."""

    def send(wire):
        sender = TransferSender(wire)
        sender.fresh_labels(100)
        wire.receive("b", "goodbye")

    def receive(wire):
        receiver = TransferReceiver(wire)
        receiver.receive_fresh_labels(choices_of("random", 100))
        wire.receive("host", "goodbye")

    return endings(pair, send, receive)


@pytest.mark.parametrize(
    ("step", "payload", "liar"),
    [
        ("columns", b"\x00\xff garbage", "b"),
        ("columns", encode({"columns": np.zeros((128, 1), dtype=np.uint64)}), "b"),
        ("columns", encode({"columns": np.zeros((128, 2), dtype=np.int64)}), "b"),
        ("key", encode({"key": b"short"}), "host"),
    ],
)
def test_garbage_ends_both_sides_with_one_line(network, monkeypatch, step, payload, liar):
    deal_seeds(monkeypatch)
    change = replace(step, lambda _: payload)
    errors = use(wires(network.open("host", "b"), change=(change, change)))
    assert all(isinstance(error, ProtocolError) and "\n" not in str(error) for error in errors), errors
    victim, other = errors if liar == "b" else errors[::-1]
    assert f"party '{liar}', 'transfer/{step}'" in str(victim)
    assert victim.party == liar
    assert "ended the run" in str(other)


@pytest.mark.parametrize("moment", ["before transfer/columns", "after transfer/columns"])
def test_a_peer_that_dies(network, monkeypatch, moment):
    deal_seeds(monkeypatch)
    error, _ = use(wires(network.open("host", "b"), die=("", moment)))
    assert isinstance(error, ProtocolError)
    assert "'b'" in str(error)
    assert "\n" not in str(error)
