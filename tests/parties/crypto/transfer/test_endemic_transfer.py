"""Base transfers against cheaters: the chosen seed arrives, the other does not, and what is no point ends the run."""

import contextvars

import numpy as np
import pytest

from dagora.base.errors import ProtocolError
from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.transfer import endemic_transfer
from dagora.parties.crypto.transfer.edwards import (
    ZERO,
    add,
    check_in_group,
    clear_cofactor,
    multiply,
    multiply_base,
)
from dagora.parties.crypto.transfer.endemic_transfer import receive_seeds, send_seeds
from dagora.parties.transport.messages import decode, encode
from tests.parties.curve import BASE, ORDER_TWO, recorded_run, scalar
from tests.parties.pairs import both, endings, replace, traffic, uniformity, wires


def channel(wire, tag="transfer"):
    return Channel.to_peer(wire, None, tag)


def transfer(pair, choices, tag="transfer"):
    return both(
        pair,
        lambda wire: send_seeds(channel(wire, tag), len(choices)),
        lambda wire: receive_seeds(channel(wire, tag), choices),
    )


@pytest.mark.parametrize("choices", [[1], [0, 1, 1, 0, 1]])
def test_the_chosen_seed_arrives_and_the_other_does_not(network, choices):
    pairs, seeds = transfer(wires(network.open("host", "b")), choices)
    assert seeds == [pair[choice] for pair, choice in zip(pairs, choices, strict=True)]
    every = {seed for pair in pairs for seed in pair}
    assert len(every) == 2 * len(choices)
    assert {len(seed) for seed in every} == {16}


def test_a_recorded_run():
    """Written down once, from arithmetic in Python integers by the formulas: the wire format is this for ever."""
    assert recorded_run(endemic_transfer) == (
        "01a9a5808647757fae0e7695590b544e92be7b790f8ba687dddf50eef8e56185",
        "d9ec139f4020c50d64f9bde332e2b6ba27e91939ad34d8c2309dfb501a91c18d",
        "bf7c2cc5728a20d867f5b3213a333523",
    )


@pytest.mark.parametrize("choice", [0, 1])
def test_the_number_of_hashes_does_not_depend_on_the_choice(monkeypatch, choice):
    """The receiver hashes as the sender does, both ways, besides its own random point."""
    hashed, hash_point = {"host": [], "b": []}, endemic_transfer._hash_point
    party = contextvars.ContextVar("party")

    def listening(*given):
        hashed[party.get()].append(given)
        return hash_point(*given)

    def play(name, function, *given):
        party.set(name)
        return function(*given)

    monkeypatch.setattr(endemic_transfer, "_hash_point", listening)
    both(
        wires(),
        lambda wire: play("host", send_seeds, channel(wire), 1),
        lambda wire: play("b", receive_seeds, channel(wire), [choice]),
    )
    assert sorted(hashed["b"][1:]) == sorted(hashed["host"])
    assert [bit for _, _, bit, _ in sorted(hashed["host"])] == [0, 1]


def test_answers_look_alike_for_every_choice():
    said, parts = [], []
    for bit in (0, 1):
        pair = wires()
        transfer(pair, [bit] * 20)
        points = decode(pair[1].sent[0][2])["points"]
        said.append(traffic(pair[1]))
        # The last byte has the sign and the range of the field in it. Both points of each pair, apart.
        parts += [points[:, each, :31].tobytes() for each in (0, 1)]
        assert all(check_in_group(point.tobytes()) for point in points[:1].reshape(-1, 32))
    assert said[0] == said[1]
    assert all(uniformity(part) > 1e-6 for part in parts)


def test_every_point_is_drawn_anew():
    """Sessions with the same choices share no point: of what repeats itself a sender could read the choices."""
    choices, offers, answers, sums = [0, 1, 1], [], [], []
    for _ in range(2):
        pair = wires()
        transfer(pair, choices)
        offers += [row[0].tobytes() for row in decode(pair[0].sent[0][2])["points"]]
        for i, (choice, row) in enumerate(zip(choices, decode(pair[1].sent[0][2])["points"], strict=True)):
            texts = [point.tobytes() for point in row]
            answers += texts
            hashed = endemic_transfer._hash_point("transfer", i, choice, texts[1 - choice])
            sums.append(add(texts[choice], hashed))
    seen = offers + answers + sums
    assert len(seen) == 2 * len(choices) * 4
    assert len(set(seen)) == len(seen)


POINT = ("transfer", 3, 0, b"content")
SEED = ("transfer", 3, 0, b"o" * 32, (b"r" * 32, b"s" * 32), BASE)


@pytest.mark.parametrize(
    ("function", "usual", "place", "other"),
    [
        ("_hash_point", POINT, 0, "other"),
        ("_hash_point", POINT, 1, 4),
        ("_hash_point", POINT, 2, 1),
        ("_hash_point", POINT, 2, 2),
        ("_hash_point", POINT, 3, b"another"),
        ("_derive_seed", SEED, 0, "other"),
        ("_derive_seed", SEED, 1, 4),
        ("_derive_seed", SEED, 2, 1),
        ("_derive_seed", SEED, 3, b"p" * 32),
        ("_derive_seed", SEED, 4, (b"q" * 32, b"s" * 32)),
        ("_derive_seed", SEED, 4, (b"r" * 32, b"q" * 32)),
        ("_derive_seed", SEED, 5, add(BASE, BASE)),
    ],
)
def test_hashes_for_different_purposes_are_different(function, usual, place, other):
    hashed = getattr(endemic_transfer, function)
    changed = [*usual]
    changed[place] = other
    assert hashed(*usual) == hashed(*usual)
    assert hashed(*usual) != hashed(*changed)


def test_one_point_fixes_the_other():
    """A receiver that knows the logarithms of both of its points still knows only one of the two sums."""
    first, second = (multiply_base(scalar(key)) for key in (5, 7))
    hashed = endemic_transfer._hash_point("transfer", 0, 0, second)
    assert check_in_group(hashed) != ZERO
    assert hashed != endemic_transfer._hash_point("transfer", 0, 1, second)
    assert hashed != endemic_transfer._hash_point("transfer", 1, 0, second)
    assert hashed != endemic_transfer._hash_point("transfer", 0, 0, first)


def test_a_receiver_without_hashes_would_get_both_seeds(monkeypatch):
    """The hashes are what keeps a cheater from it: here they are left out, and the cheater has both seeds."""
    keys, known = (11, 13), []

    def cheat(wire):
        line = channel(wire)
        offer = line.receive("offers", {"points": endemic_transfer.Array("u1", (1, 1, 32))})["points"]
        texts = tuple(multiply_base(scalar(key)) for key in keys)
        points = np.frombuffer(b"".join(texts), dtype=np.uint8).reshape(1, 2, 32)
        line.send("answers", points=points)
        offered = clear_cofactor(offer.tobytes())
        for bit, key in enumerate(keys):
            known.append(
                endemic_transfer._derive_seed(
                    "transfer", 0, bit, offer.tobytes(), texts, multiply(scalar(key), offered)
                )
            )

    def seeds_known():
        known.clear()
        pairs, _ = both(wires(), lambda wire: send_seeds(channel(wire), 1), cheat)
        return [seed in pairs[0] for seed in known]

    assert seeds_known() == [False, False]
    monkeypatch.setattr(endemic_transfer, "_hash_point", lambda *_: ZERO)
    assert seeds_known() == [True, True]


LIES = [
    ("offers", ZERO, "a public key is of small order"),
    ("offers", ORDER_TWO, "a public key is of small order"),
    ("offers", b"\xff" * 32, "non-canonical encoding"),
    ("answers", bytes([2]) + bytes(31), "not a point of the curve"),
]


@pytest.mark.parametrize(("step", "point", "reason"), LIES)
def test_what_is_no_key_ends_both_sides(step, point, reason):
    shape = (2, 1, 32) if step == "offers" else (2, 2, 32)
    lie = encode({"points": np.frombuffer(point * (shape[0] * shape[1]), dtype=np.uint8).reshape(shape)})
    change = replace(step, lambda _: lie)
    errors = endings(
        wires(change=(change, change)),
        lambda wire: send_seeds(channel(wire), 2),
        lambda wire: (receive_seeds(channel(wire), [0, 1]), wire.receive("host", "more")),
    )
    assert all(isinstance(error, ProtocolError) and "\n" not in str(error) for error in errors)
    assert reason in str(errors[step == "offers"])


def test_a_part_outside_of_the_group_changes_no_seed():
    """Points of small order are multiplied away: they cannot tell a choice."""

    def move(payload):
        points = decode(payload)["points"]
        moved = [add(row[0].tobytes(), ORDER_TWO) for row in points]
        return encode({"points": np.frombuffer(b"".join(moved), dtype=np.uint8).reshape(points.shape)})

    pair = wires(change=(replace("offers", move), None))
    pairs, seeds = transfer(pair, [0, 1])
    # Offers are part of what is hashed, so that all seeds differ, for either choice.
    assert not set(seeds) & {seed for each in pairs for seed in each}
