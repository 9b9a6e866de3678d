"""Circuits on replicated shares give the bits that they give in the clear, in as many messages as layers."""

import numpy as np
import pytest

from dagora.parties.crypto.garbling.builder import Builder
from dagora.parties.crypto.garbling.circuit import evaluate_plain
from dagora.parties.replicated.evaluation import SharedBits
from dagora.parties.replicated.layers import sort_into_layers
from dagora.parties.replicated.replicated_party import ReplicatedParty
from dagora.parties.replicated.same_rows import all_equal
from dagora.parties.vertical.circuit_plan import Planner
from tests.parties.network import PATIENCE, start
from tests.parties.replicated.groups import NAMES, wires


def together(function):
    """What the three parties' functions return."""
    parties = wires()
    ended = [start(lambda wire=wire: function(ReplicatedParty(wire, NAMES[:3]))) for wire in parties]
    return [each.result(PATIENCE) for each in ended]


def random_circuit(rng, inputs, gates, outputs):
    build = Builder()
    bits = build.inputs(inputs)
    for _ in range(gates):
        a, b = rng.choice(len(bits), 2)
        kind = rng.integers(3)
        new = (
            build.conjunction(bits[a], bits[b]) if kind == 0
            else build.xor(bits[a], bits[b]) if kind == 1
            else build.invert(bits[a])
        )  # fmt: skip
        bits.append(new)
    return build.circuit([*bits[-outputs:], True, False])


@pytest.mark.parametrize("instances", [1, 7, 64, 65, 200])
def test_two_stages_give_what_they_give_in_the_clear(instances):
    rng = np.random.default_rng(instances)
    planner = Planner()
    slots = planner.reserve(6, instances)
    public = planner.reserve(2)
    one, two = random_circuit(rng, 8, 40, 5), random_circuit(rng, 7, 40, 3)
    inputs = np.concatenate([slots, np.repeat(public[:, None], instances, axis=1)])
    middle = planner.run(one, inputs)
    last = planner.run(two, middle)
    bits = rng.integers(0, 2, (6, instances)).astype(np.uint8)
    known = np.array([1, 0], dtype=np.uint8)
    program = sort_into_layers(planner.stages, planner.n_slots)

    def run(party):
        shared = SharedBits(party, program)
        for owner in range(3):
            part = bits[2 * owner : 2 * owner + 2]
            places = slots[2 * owner : 2 * owner + 2]
            shared.enter(places, owner, part if party.position == owner else None)
        shared.put_public(public, known)
        shared.run()
        return shared.open(last)

    clear = np.concatenate([bits, np.repeat(known[:, None], instances, axis=1)])
    expected = evaluate_plain(two, evaluate_plain(one, clear))
    for opened in together(run):
        assert np.array_equal(opened, expected)


def test_the_layers_are_those_of_the_whole_plan():
    """A chain of ANDs, the second stage of which needs the first output of the first only."""
    planner = Planner()
    build = Builder()
    a, b, c = build.inputs(3)
    first = build.conjunction(a, b)
    circuit = build.circuit([first, build.conjunction(first, c)])
    slots = planner.reserve(3, 1)
    outputs = planner.run(circuit, slots)
    planner.run(circuit, np.concatenate([outputs[:1], slots[:2]]))
    program = sort_into_layers(planner.stages, planner.n_slots)
    assert program.depth == 3  # not 2 + 2
    assert program.ands.ends.tolist() == [0, 1, 3, 4]


@pytest.mark.parametrize("owners", [3, 4])
def test_equal_words(owners):
    rng = np.random.default_rng(owners)
    words = np.repeat(rng.integers(0, 2, (1, 128)), owners, axis=0).astype(np.uint8)
    columns = [words.ravel()]
    for owner in range(owners):
        other = words.copy()
        other[owner, rng.integers(128)] ^= 1
        columns.append(other.ravel())
    assert evaluate_plain(all_equal(owners), np.stack(columns, axis=1)).tolist() == [[1] + [0] * owners]


def test_zeros_add_up_and_every_part_alone_is_random():
    def draw(party):
        return party.zero_bytes(4096), party.zero_integers((1000,), np.dtype(np.uint16))

    drawn = together(draw)
    assert not np.bitwise_xor.reduce([bits for bits, _ in drawn]).any()
    assert not sum(numbers for _, numbers in drawn).astype(np.uint16).any()
    for bits, numbers in drawn:
        assert 0.48 < np.unpackbits(bits).mean() < 0.52
        assert len(np.unique(numbers)) > 950
