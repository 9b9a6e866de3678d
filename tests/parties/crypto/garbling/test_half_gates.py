import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from dagora.parties.crypto.aes import expand_key
from dagora.parties.crypto.garbling.circuit import AND, NOT, XOR, Circuit, evaluate_plain
from dagora.parties.crypto.garbling.half_gates import PUBLIC_KEY, evaluate, garble
from dagora.parties.crypto.garbling.slots import slots_of
from tests.parties.crypto.garbled import (
    WAYS,
    chosen,
    gates,
    integer,
    random_circuit,
    random_delta,
    slow_garble,
    uniformity,
    words,
)


def check(circuit, bits, rng, *, first=0, keys=None):
    """Garble, evaluate, and compare every output label with the plain bits; return what was made."""
    delta = random_delta(rng)
    zeros = words(rng, *bits.shape, 2)
    outputs, tables = garble(circuit, zeros, delta, first, keys=keys)
    labels = evaluate(circuit, chosen(zeros, bits, delta), tables, first, keys=keys)
    # Equal to the label of the right value, in all 128 bits: so never to the other.
    assert np.array_equal(labels, chosen(outputs, evaluate_plain(circuit, bits), delta))
    return delta, zeros, outputs, tables, labels


@pytest.mark.parametrize("instructions", WAYS)
@pytest.mark.parametrize("op", [XOR, AND, NOT])
def test_truth_table_of_a_gate(op, instructions):
    bits = np.array(list(itertools.product((0, 1), repeat=2)), dtype=np.uint8).T
    keys = expand_key(bytes(16), instructions=instructions)
    rng = np.random.default_rng(op)
    for _ in range(20):  # all four pairs of permute bits come up
        check(gates(2, [(op, 0, 1)], [2]), bits, rng, keys=keys)


@pytest.mark.parametrize("instructions", WAYS)
@pytest.mark.parametrize("instances", [1, 2, 3, 33, 300])
def test_random_circuits_of_thousands_of_gates(instances, instructions):
    rng = np.random.default_rng(instances)
    circuit = random_circuit(rng, 40, 4000, 500)
    bits = rng.integers(0, 2, (40, instances)).astype(np.uint8)
    assert np.unique(circuit.op).tolist() == [0, 1, 2]
    check(circuit, bits, rng, first=2**50, keys=expand_key(rng.bytes(16), instructions=instructions))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 8), st.integers(0, 60), st.integers(1, 9), st.integers(0, 12))
def test_small_circuits_with_all_outputs(seed, n_inputs, n_gates, instances, extra):
    rng = np.random.default_rng(seed)
    circuit = random_circuit(rng, n_inputs, n_gates, extra, window=6)
    every = np.concatenate((np.arange(n_inputs + n_gates), circuit.outputs)).astype(np.int32)
    circuit = Circuit(n_inputs, circuit.op, circuit.a, circuit.b, every)
    check(circuit, rng.integers(0, 2, (n_inputs, instances)).astype(np.uint8), rng)


def test_inputs_as_outputs_repeats_and_equal_operands():
    rng = np.random.default_rng(1)
    circuit = gates(2, [(AND, 0, 0), (XOR, 1, 1), (AND, 2, 3), (NOT, 4, 0)], [0, 0, 2, 3, 4, 5, 5, 1])
    check(circuit, np.array([[0, 0, 1, 1], [0, 1, 0, 1]], dtype=np.uint8), rng)


def test_public_constants():
    """A constant's label is 0 to the evaluator; the garbler's label of zero is 0 or delta."""
    rng = np.random.default_rng(2)
    delta = random_delta(rng)
    circuit = gates(3, [(AND, 0, 1), (AND, 0, 2), (AND, 1, 2), (XOR, 0, 2), (AND, 2, 2)], [3, 4, 5, 6, 7])
    bits = np.array([[0, 1], [0, 0], [1, 1]], dtype=np.uint8)
    zeros = np.stack((words(rng, 2, 2), np.zeros((2, 2), np.uint64), np.array([delta, delta])))
    labels = chosen(zeros, bits, delta)
    assert not labels[1:].any()
    outputs, tables = garble(circuit, zeros, delta, 0)
    result = evaluate(circuit, labels, tables, 0)
    assert np.array_equal(result, chosen(outputs, evaluate_plain(circuit, bits), delta))


def test_no_instances_and_no_gates():
    rng = np.random.default_rng(3)
    check(gates(2, [(AND, 0, 1)], [2]), np.zeros((2, 0), dtype=np.uint8), rng)
    check(gates(2, [], [1, 0]), np.ones((2, 3), dtype=np.uint8), rng)


@pytest.mark.parametrize("instructions", WAYS)
def test_tables_and_tweaks_as_an_independent_garbler_makes_them(instructions):
    rng = np.random.default_rng(4)
    circuit = random_circuit(rng, 6, 60, 0, window=20)
    circuit = Circuit(6, circuit.op, circuit.a, circuit.b, np.arange(66, dtype=np.int32))
    instances, first, key = 5, 1000, bytes(range(3, 19))
    delta, zeros = random_delta(rng), words(rng, 6, instances, 2)
    outputs, tables = garble(circuit, zeros, delta, first, keys=expand_key(key, instructions=instructions))
    used = []
    for i in range(instances):
        start = first + 2 * circuit.n_and * i
        wires, rows, tweaks = slow_garble(circuit, map(integer, zeros[:, i]), integer(delta), start, key)
        assert [integer(label) for label in outputs[:, i]] == wires
        assert [(integer(row[:2]), integer(row[2:])) for row in tables[:, i]] == rows
        used += tweaks
    assert sorted(used) == list(range(first, first + 2 * circuit.n_and * instances))  # each once


def test_the_way_a_batch_is_cut_changes_nothing():
    rng = np.random.default_rng(5)
    circuit = random_circuit(rng, 10, 800, 50)
    instances = 2 * slots_of(circuit).batch + 7
    delta, zeros = random_delta(rng), words(rng, 10, instances, 2)
    outputs, tables = garble(circuit, zeros, delta, 9)
    for start, stop in ((0, 1), (3, 50), (instances - 5, instances)):
        some, rows = garble(circuit, zeros[:, start:stop], delta, 9 + 2 * circuit.n_and * start)
        assert np.array_equal(some, outputs[:, start:stop])
        assert np.array_equal(rows, tables[:, start:stop])


# --- what the evaluator sees


def blocks_of(*arrays):
    return {bytes(block) for array in arrays for block in array.reshape(-1, 2).view("V16").reshape(-1)}


def test_the_evaluator_never_meets_the_other_label():
    rng = np.random.default_rng(6)
    circuit = random_circuit(rng, 20, 2000, 0)
    circuit = Circuit(20, circuit.op, circuit.a, circuit.b, np.arange(2020, dtype=np.int32))
    bits = rng.integers(0, 2, (20, 4)).astype(np.uint8)
    delta, _, outputs, tables, labels = check(circuit, bits, rng)
    seen = blocks_of(labels, tables)
    assert not seen & blocks_of(labels ^ delta)
    assert not seen & blocks_of(delta)
    # Nor does any sum of two things it holds give delta away (a wrong half-gate with T = W⁰ ⊕ W¹ would).
    some = [integer(block) for block in np.concatenate((labels[:, 0], tables[:, 0].reshape(-1, 2)))]
    assert not {block ^ integer(delta) for block in some} & set(some)
    assert blocks_of(outputs) & seen  # the search finds labels where they are: about half are zero labels


def test_permute_bits():
    rng = np.random.default_rng(7)
    circuit = random_circuit(rng, 20, 4000, 0)
    last_ands = (20 + np.flatnonzero(circuit.op == AND)).astype(np.int32)
    circuit = Circuit(20, circuit.op, circuit.a, circuit.b, last_ands)
    bits = rng.integers(0, 2, (20, 8)).astype(np.uint8)
    delta, _, outputs, _, labels = check(circuit, bits, rng)
    assert delta[0] & np.uint64(1)
    colours = labels[..., 0] & np.uint64(1)
    values = evaluate_plain(circuit, bits)
    assert np.array_equal(colours ^ (outputs[..., 0] & np.uint64(1)), values)
    # The colour that the evaluator sees says nothing of the value.
    agree = int((colours == values).sum())
    assert binomtest(agree, values.size).pvalue > 1e-6


@pytest.mark.parametrize("value", [0, 1])
def test_tables_look_uniform_whatever_the_inputs(value):
    rng = np.random.default_rng(8 + value)
    circuit = random_circuit(rng, 20, 2000, 10)
    tables = check(circuit, np.full((20, 30), value, dtype=np.uint8), rng)[3]
    assert uniformity(tables.tobytes()) > 1e-6
    for word in range(4):
        assert uniformity(tables[..., word].tobytes()) > 1e-6
    assert binomtest(int((tables & np.uint64(1)).sum()), tables.size).pvalue > 1e-6
    # The test has power: a few bytes in a thousand that are not uniform are found.
    spoilt = tables.copy().view(np.uint8).reshape(-1)
    spoilt[::200] = 0
    assert uniformity(spoilt.tobytes()) < 1e-6


def test_two_garblings_share_nothing():
    rng = np.random.default_rng(10)
    circuit = random_circuit(rng, 20, 1500, 50)
    bits = rng.integers(0, 2, (20, 5)).astype(np.uint8)
    delta, zeros, outputs, tables, _ = check(circuit, bits, rng)
    everything = blocks_of(zeros, outputs, tables)
    assert not everything & blocks_of(*check(circuit, bits, rng)[1:4])
    # Equal labels under other tweaks, or under another key, give no equal row either.
    for first, key in ((2 * circuit.n_and * 5, PUBLIC_KEY), (0, bytes(16))):
        assert not blocks_of(tables) & blocks_of(
            garble(circuit, zeros, delta, first, keys=expand_key(key))[1]
        )
    again = garble(circuit, zeros, delta, 0)
    assert np.array_equal(again[1], tables)  # and the rest is no chance


# --- mistakes


def test_shapes_are_checked():
    circuit = gates(2, [(AND, 0, 1)], [2])
    labels, delta = np.zeros((2, 3, 2), dtype=np.uint64), np.ones(2, dtype=np.uint64)
    with pytest.raises(ValueError, match="2 inputs"):
        garble(circuit, labels[:1], delta, 0)
    with pytest.raises(ValueError, match="uint64"):
        garble(circuit, labels.astype(np.int64), delta, 0)
    with pytest.raises(ValueError, match="tables have shape"):
        evaluate(circuit, labels, np.zeros((1, 2, 4), dtype=np.uint64), 0)
