"""A function that one side may evaluate once per row and the other anywhere, without seeing where the first did."""

import numpy as np
import pytest

from dagora.parties.crypto import channel as channel_module
from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.transfer import oblivious_prf
from dagora.parties.crypto.transfer.bit_matrix import ColumnStreams, transpose, unpack_bits, words_for
from dagora.parties.crypto.transfer.oblivious_prf import codewords, receive_values, send_function
from dagora.parties.crypto.transfer.oblivious_transfer import TransferReceiver, TransferSender
from dagora.parties.transport.messages import decode
from tests.parties.pairs import both, deal_seeds, traffic, uniformity, wires


@pytest.fixture(autouse=True)
def _dealt(monkeypatch):
    deal_seeds(monkeypatch)


def inputs_of(count, seed=0):
    return np.random.default_rng(seed).integers(0, 2**64, (count, 2), dtype=np.uint64)


def evaluate(pair, inputs, session=b"today"):
    """The values that the first party gets, and the function that the second has."""
    return both(
        pair,
        lambda w: receive_values(Channel.to_peer(w, None, "prf"), TransferSender(w), session, inputs),
        lambda w: send_function(Channel.to_peer(w, None, "prf"), TransferReceiver(w), session, len(inputs)),
    )


@pytest.mark.parametrize("count", [1, 64, 1000])
def test_both_sides_agree_where_the_receiver_evaluated(monkeypatch, count):
    for module in (channel_module, oblivious_prf):
        monkeypatch.setattr(module, "ROWS", 300)
    inputs = inputs_of(count)
    values, function = evaluate(wires(), inputs)
    rows = np.arange(count)
    np.testing.assert_array_equal(function.values(rows, inputs), values)
    # Anywhere else, and in any other row, there is nothing in common.
    for other in (function.values(rows, inputs_of(count, 1)), function.values((rows + 1) % count, inputs)):
        if count > 1:
            assert not set(map(tuple, other.tolist())) & set(map(tuple, values.tolist()))
    backwards = rows[::-1].copy()
    np.testing.assert_array_equal(function.values(backwards, inputs[backwards]), values[backwards])


def test_one_bit_of_the_input_changes_half_of_the_value():
    inputs = inputs_of(2000)
    values, function = evaluate(wires(), inputs)
    inputs[:, 0] ^= np.uint64(1)
    changed = unpack_bits(function.values(np.arange(2000), inputs) ^ values).mean()
    assert abs(changed - 0.5) < 0.01
    assert uniformity(values.tobytes()) > 1e-6


def test_sessions_have_nothing_in_common():
    inputs = inputs_of(50)
    first, second = (set(map(tuple, evaluate(wires(), inputs)[0].tolist())) for _ in range(2))
    assert not first & second


def test_codewords_of_different_inputs_are_far_apart():
    words = codewords(b"today", np.arange(4000, dtype=np.uint64).reshape(2000, 2))
    distance = unpack_bits(words[:-1] ^ words[1:]).reshape(-1, 512).sum(axis=1)
    assert distance.min() >= 180
    assert abs(distance.mean() - 256) < 2
    assert not (
        codewords(b"tomorrow", np.zeros((1, 2), np.uint64))
        == codewords(b"today", np.zeros((1, 2), np.uint64))
    ).any()


def test_inputs_do_not_show_in_what_the_receiver_sends(monkeypatch):
    count, seen, sizes = 3000, [], []
    kept = []
    streams = oblivious_prf.ColumnStreams

    def keep(seeds):
        kept.append(seeds)
        return streams(seeds)

    monkeypatch.setattr(oblivious_prf, "ColumnStreams", keep)
    for inputs in (np.zeros((count, 2), dtype=np.uint64), inputs_of(count)):
        pair = wires()
        kept.clear()
        _, function = evaluate(pair, inputs)
        sizes.append(traffic(pair[0]))
        sent = decode(pair[0].sent[-1][2])["rows"]
        seen.append(sent)
        zero, one, known = (
            transpose(ColumnStreams(s).take(words_for(count)), count) for s in in_order(kept, function)
        )
        assert uniformity(sent.tobytes()) > 1e-6
        assert uniformity((sent ^ known).tobytes()) > 1e-6
        # The test can fail: equal inputs have equal codewords, which both streams would bare.
        np.testing.assert_array_equal(sent ^ zero ^ one, codewords(b"today", inputs))
    assert uniformity(codewords(b"today", np.zeros((count, 2), dtype=np.uint64)).tobytes()) < 1e-100
    assert sizes[0] == sizes[1]
    assert not (seen[0] == seen[1]).any()


def in_order(kept, function):
    """The receiver's seeds for 0 and for 1, then the sender's: told apart by the sender's choice."""
    bits = unpack_bits(function.choice)
    for zero in kept:
        for one in kept:
            for chosen in kept:
                different = len({id(zero), id(one), id(chosen)}) == 3
                pairs = zip(zero, one, strict=True)
                if different and [p[b] for p, b in zip(pairs, bits, strict=True)] == list(chosen):
                    return zero, one, chosen
    raise AssertionError("the seeds do not fit")


def test_the_row_and_the_session_are_part_of_what_is_hashed():
    same = np.zeros((3, 8), dtype=np.uint64)
    values = [oblivious_prf._hash(session, np.arange(3), same) for session in (b"today", b"tomorrow")]
    assert len({tuple(value.tolist()) for side in values for value in side}) == 6
