"""The end of dual execution: outputs on which both agree are opened, and whatever else was made of them is not."""

import os

import numpy as np
import pytest

from dagora.base.errors import ProtocolError
from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.garbling import output_check
from dagora.parties.crypto.garbling.output_check import DIFFERENT, open_outputs
from dagora.parties.transport.messages import decode, encode
from tests.parties.crypto.garbled import chosen, random_delta, words
from tests.parties.pairs import both, endings, replace, traffic, wires
from tests.parties.wiretap import Death


class Party:
    """What a party has at the end: its own labels of zero and delta, and the labels that it evaluated."""

    def __init__(self, side, zeros, delta, evaluated):
        self.side, self.zeros, self.delta, self.evaluated = side, zeros, delta, evaluated

    def __call__(self, wire):
        line = Channel.to_peer(wire, None, "outputs")
        return open_outputs(line, self.side, self.zeros, self.delta, self.evaluated, random=os.urandom)


def parties(of_host, of_guest, seed=0):
    """Two parties; `of_host` are the values that come out of the host's garbling, at the guest."""
    rng = np.random.default_rng(seed)
    zeros = words(rng, 2, len(of_host), 2)
    deltas = [random_delta(rng) for _ in range(2)]
    return [
        Party(0, zeros[0], deltas[0], chosen(zeros[1], of_guest, deltas[1])),
        Party(1, zeros[1], deltas[1], chosen(zeros[0], of_host, deltas[0])),
    ]


def refused(errors):
    assert all(isinstance(error, ProtocolError) and "\n" not in str(error) for error in errors)
    return all(DIFFERENT in str(error) or "ended the run" in str(error) for error in errors)


@pytest.mark.parametrize("bits", [[1], [0, 0, 0], [1, 0, 1, 1, 0, 0, 1]])
def test_outputs_on_which_both_agree(network, bits):
    for found in both(wires(network.open("host", "b")), *parties(bits, bits)):
        assert found.dtype == np.uint8
        assert found.tolist() == bits


@pytest.mark.parametrize("place", [0, 3])
def test_different_outputs_give_no_result(place):
    other = [1, 0, 1, 1]
    other[place] ^= 1
    assert refused(endings(wires(), *parties([1, 0, 1, 1], other)))


@pytest.mark.parametrize("side", [0, 1])
def test_wrong_labels_give_no_result(side):
    """Labels that are none of the garbler's, with the right permute bits or not."""
    for word in (0, 1):
        pair = parties([1, 0, 1], [1, 0, 1])
        pair[side].evaluated[1, word] ^= np.uint64(2)
        assert refused(endings(wires(), *pair))


def test_an_evaluator_that_claims_another_output():
    """The guest takes labels of its own for another output than it evaluated: it lacks the host's labels of it."""
    host, guest = parties([1, 0, 1], [1, 0, 1])
    guest.zeros = guest.zeros ^ guest.delta  # what was 0 is 1 in its own garbling
    assert refused(endings(wires(), host, guest))


@pytest.mark.parametrize("side", [0, 1])
def test_a_garbler_that_knows_what_the_other_has_evaluated(side):
    """It takes its own labels of that output, which it has; it lacks the other's labels of it."""
    wrong, right = [1, 1, 1], [1, 0, 1]
    pair = parties(*((wrong, right) if side == 0 else (right, wrong)))
    cheater = pair[side]

    def forge(wire):
        line = Channel.to_peer(wire, None, "outputs")
        hashes = [
            output_check._label_hashes(side, chosen(cheater.zeros, [bit] * 3, cheater.delta))
            for bit in (0, 1)
        ]
        content = np.stack(hashes, axis=1).tobytes()
        output_check._exchange(line, "decoding", side, content, os.urandom)
        mine = chosen(cheater.zeros, wrong, cheater.delta)
        labels = (mine, cheater.evaluated) if side == 0 else (cheater.evaluated, mine)
        output_check._exchange(line, "proof", side, output_check._proof(*labels), os.urandom)

    pair[side] = forge
    error = endings(wires(), *pair)[1 - side]
    assert isinstance(error, ProtocolError)
    assert DIFFERENT in str(error)


def test_wrong_labels_look_like_different_outputs():
    """All messages have the same sizes, and a proof of wrong labels is random: nothing tells which failed."""
    seen = []
    for _ in range(2):
        wire = wires()
        pair = parties([1, 0, 1], [1, 0, 1])
        pair[1].evaluated[0, 0] ^= np.uint64(4)
        endings(wire, *pair)
        seen.append((traffic(wire[1]), decode(wire[1].sent[-1][2])["content"]))
    wire = wires()
    endings(wire, *parties([1, 0, 1], [0, 0, 1]))
    assert seen[0][0] == seen[1][0] == traffic(wire[1])
    assert seen[0][1] != seen[1][1]


@pytest.mark.parametrize("step", ["decoding", "proof"])
def test_nobody_can_answer_with_what_it_was_told(step):
    """A guest that sends the host's own commitment and opening back is refused."""
    heard = {}

    class Echo:
        def __init__(self, wire):
            self.wire = wire

        def __getattr__(self, name):
            return getattr(self.wire, name)

        def receive(self, sender, tag, timeout=None):
            heard[tag] = self.wire.receive(sender, tag, timeout)
            return heard[tag]

        def send(self, to, tag, payload):
            if tag.startswith(f"outputs/{step}"):
                payload = heard[tag] if tag in heard else self.receive(to, tag)
            self.wire.send(to, tag, payload)

    host, _ = parties([1, 0], [0, 0])
    wire = wires()

    def cheat(inner):
        echo = Echo(inner)
        line = Channel.to_peer(echo, None, "outputs")
        for name in (f"{step}-commitment", step):
            if step == "proof" and name == "proof-commitment":
                # Up to the proof it does as it should.
                output_check._exchange(line, "decoding", 1, bytes(output_check.DIGEST_BYTES * 4), os.urandom)
            echo.send("host", f"outputs/{name}", b"")

    error = endings(wire, host, cheat)[0]
    assert isinstance(error, ProtocolError)
    assert "is not what it was bound to" in str(error)


@pytest.mark.parametrize("step", ["decoding", "proof"])
@pytest.mark.parametrize("side", [0, 1])
def test_nothing_is_opened_before_the_other_is_bound(step, side):
    """A peer that sends no commitment receives no opening, by which it could choose what to commit to."""
    die = ["", ""]
    die[side] = f"before outputs/{step}-commitment"
    wire = wires(die=die)
    errors = endings(wire, *parties([1, 0], [1, 0]))
    assert isinstance(errors[side], Death)
    assert isinstance(errors[1 - side], ProtocolError)
    sent = [tag for _, tag, _ in wire[1 - side].sent]
    assert sent[-1] == f"outputs/{step}-commitment"


def test_nonces_are_drawn_anew():
    nonces = []
    for _ in range(2):
        wire = wires()
        both(wire, *parties([1, 0], [1, 0]))
        nonces += [
            decode(payload)["nonce"]
            for party in wire
            for _, tag, payload in party.sent
            if not tag.endswith("-commitment")
        ]
    assert len(set(nonces)) == len(nonces) == 8


def label_hash(side, wire):
    """The hash of one and the same label, as that of this wire."""
    return output_check._label_hashes(side, np.full((3, 2), 5, dtype=np.uint64))[wire].tobytes()


@pytest.mark.parametrize(
    ("function", "usual", "other"),
    [
        (output_check._commitment, ("decoding", 0, bytes(32), b"x"), ("proof", 0, bytes(32), b"x")),
        (output_check._commitment, ("decoding", 0, bytes(32), b"x"), ("decoding", 1, bytes(32), b"x")),
        (output_check._commitment, ("decoding", 0, bytes(32), b"x"), ("decoding", 0, b"n" * 32, b"x")),
        (output_check._commitment, ("decoding", 0, bytes(32), b"x"), ("decoding", 0, bytes(32), b"y")),
        (label_hash, (0, 1), (1, 1)),
        (label_hash, (0, 1), (0, 2)),
    ],
)
def test_hashes_for_different_purposes_are_different(function, usual, other):
    assert function(*usual) == function(*usual)
    assert function(*usual) != function(*other)


@pytest.mark.parametrize("step", ["decoding", "proof"])
def test_an_opening_must_be_what_was_committed_to(step):
    def change(payload):
        told = decode(payload)
        return encode({"nonce": told["nonce"], "content": bytes(len(told["content"]))})

    def on_step(to, tag, payload):
        return change(payload) if tag == f"outputs/{step}" else payload

    errors = endings(wires(change=(on_step, None)), *parties([1, 0], [1, 0]))
    assert "is not what it was bound to" in str(errors[1])
    assert f"'outputs/{step}'" in str(errors[1])


@pytest.mark.parametrize(
    ("step", "payload"),
    [
        ("decoding", encode({"nonce": b"short", "content": bytes(64)})),
        ("decoding", encode({"nonce": bytes(32), "content": bytes(3)})),
        ("proof-commitment", b"garbage"),
    ],
)
def test_garbage(step, payload):
    wire = wires(change=(replace(f"/{step}", lambda _: payload), None))
    error = endings(wire, *parties([1], [1]))[1]
    assert isinstance(error, ProtocolError)
    assert f"'outputs/{step}'" in str(error)
    assert "\n" not in str(error)
