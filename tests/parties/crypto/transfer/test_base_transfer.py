"""Seeds by choice: the right one arrives, the choice does not, and what is no key ends the run on both sides."""

import numpy as np
import pytest

from dagora.base.errors import ProtocolError
from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.transfer import base_transfer
from dagora.parties.crypto.transfer.base_transfer import receive_seeds, send_seeds
from dagora.parties.crypto.transfer.edwards import ZERO, add
from dagora.parties.transport.messages import decode, encode
from tests.parties.curve import BASE, ORDER, ORDER_TWO, recorded_run
from tests.parties.pairs import both, endings, replace, seeded, traffic, uniformity, wires


def channel(wire, tag="transfer"):
    return Channel.to_peer(wire, None, tag)


def transfer(pair, choices, *, randoms=(None, None), tag="transfer"):
    sending, receiving = ({} if random is None else {"random": random} for random in randoms)
    return both(
        pair,
        lambda wire: send_seeds(channel(wire, tag), len(choices), **sending),
        lambda wire: receive_seeds(channel(wire, tag), choices, **receiving),
    )


def scalars(*values):
    """A source of bytes that makes the protocol draw these scalars."""
    left = list(values)
    return lambda size: left.pop(0).to_bytes(size, "little")


@pytest.mark.parametrize("choices", [[0] * 12, [1] * 12, [0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1, 0], [1]])
def test_the_chosen_seed_arrives_and_the_other_does_not(network, choices):
    pairs, seeds = transfer(wires(network.open("host", "b")), choices)
    assert seeds == [pair[choice] for pair, choice in zip(pairs, choices, strict=True)]
    every = {seed for pair in pairs for seed in pair}
    assert len(every) == 2 * len(choices)
    assert {len(seed) for seed in every} == {16}


def test_the_choice_is_hidden_perfectly():
    """Choice 1 with key b and choice 0 with key a + b send the same bytes: the sender cannot know which."""
    a, b = 123456789, 987654321
    said = []
    for choice, key in ((1, b), (0, (a + b) % ORDER)):
        pair = wires()
        pairs, seeds = transfer(pair, [choice], randoms=(scalars(a), scalars(key)))
        assert seeds[0] == pairs[0][choice]
        said.append(pair[1].sent)
    assert said[0] == said[1]


def test_answers_look_alike_for_every_choice():
    def answers(choices, random):
        pair = wires()
        transfer(pair, choices, randoms=(None, random))
        points = decode(pair[1].sent[0][2])["points"]
        # The last byte has the sign and the range of the field in it.
        return traffic(pair[1]), points[:, :31].tobytes()

    (zeros, seen_zeros), (ones, seen_ones) = (answers([bit] * 80, None) for bit in (0, 1))
    assert zeros == ones
    assert uniformity(seen_zeros) > 1e-6
    assert uniformity(seen_ones) > 1e-6
    # The test can fail: with one key for all answers it does.
    assert uniformity(answers([0] * 80, lambda size: b"\x05" * size)[1]) < 1e-100


def test_seeds_depend_on_index_use_and_both_keys():
    def run(sender=5, receiver=7, tag="transfer"):
        return transfer(wires(), [0, 0], randoms=(scalars(sender), scalars(receiver, receiver)), tag=tag)[0]

    once = run()
    # The same point was answered twice, and yet nothing is equal.
    assert len({seed for pair in once for seed in pair}) == 4
    assert once == run()
    for other in (run(sender=6), run(receiver=8), run(tag="elsewhere")):
        assert not {seed for pair in once for seed in pair} & {seed for pair in other for seed in pair}


def test_a_given_source_repeats_itself():
    first, second = (transfer(wires(), [0, 1], randoms=(seeded(1), seeded(2))) for _ in range(2))
    assert first == second


def test_a_recorded_run():
    """Written down once, from arithmetic in Python integers by the formulas: the wire format is this for ever."""
    assert recorded_run(base_transfer) == (
        "42cb6c727da6b5451292247f7b2aa201c69d362281fb9a2b646a7a0c1b846e60",
        "2a71754dc1decbe0f4ee883663a0d7c1a73abc8138e52040c73a7654f9c60d11",
        "e8dec63ffaed7adbdbef7341f24fd19e",
    )


NO_KEYS = [
    (ZERO, "a public key is zero"),
    (ORDER_TWO, "outside the group of prime order"),
    (add(BASE, ORDER_TWO), "outside the group of prime order"),
    (b"\xff" * 32, "non-canonical encoding"),
    (bytes([2]) + bytes(31), "not a point of the curve"),
]
LIES = [("host", *lie) for lie in [*NO_KEYS, (b"short", "32 bytes")]] + [("b", *lie) for lie in NO_KEYS]


@pytest.mark.parametrize(("liar", "point", "reason"), LIES)
def test_what_is_no_key_ends_both_sides(network, liar, point, reason):
    if liar == "host":
        change = (replace("offer", lambda _: encode({"point": point})), None)
    else:
        points = np.frombuffer(point * 2, dtype=np.uint8).reshape(2, 32)
        change = (None, replace("answers", lambda _: encode({"points": points})))
    pair = wires(network.open("host", "b"), change=change)
    errors = endings(
        pair,
        # The sender of a changed offer ends only when it hears of the refusal.
        lambda wire: send_seeds(channel(wire), 2),
        lambda wire: (receive_seeds(channel(wire), [0, 1]), wire.receive("host", "more")),
    )
    assert all(isinstance(error, ProtocolError) for error in errors), errors
    victim, other = errors if liar == "b" else errors[::-1]
    assert reason in str(victim)
    assert f"party '{liar}'" in str(victim)
    assert victim.party == liar
    assert "ended the run" in str(other)
    assert all("\n" not in str(error) for error in errors)


@pytest.mark.parametrize(
    ("step", "payload"),
    [
        ("offer", b"garbage"),
        ("offer", encode({"point": 3})),
        ("answers", b""),
        ("answers", encode({"points": np.zeros((1, 32), dtype=np.uint8)})),
        ("answers", encode({"points": np.zeros((2, 32), dtype=np.int8)})),
    ],
)
def test_garbage(step, payload):
    change = replace(step, lambda _: payload)
    errors = endings(
        wires(change=(change, change)),
        lambda wire: send_seeds(channel(wire), 2),
        lambda wire: (receive_seeds(channel(wire), [0, 1]), wire.receive("host", "more")),
    )
    assert all(isinstance(error, ProtocolError) and "\n" not in str(error) for error in errors)
    assert f"'transfer/{step}'" in str(errors[step == "offer"])


@pytest.mark.parametrize("moment", ["before transfer/offer", "got transfer/answers"])
def test_a_peer_that_dies(network, moment):
    pair = wires(network.open("host", "b"), die=(moment, ""))
    _, error = endings(
        pair,
        lambda wire: send_seeds(channel(wire), 2),
        lambda wire: (receive_seeds(channel(wire), [0, 1]), wire.receive("host", "more")),
    )
    assert isinstance(error, ProtocolError)
    assert "'host'" in str(error)
