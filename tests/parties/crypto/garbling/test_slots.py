import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.parties.crypto.garbling.circuit import AND, NOT, XOR, Circuit, evaluate_plain
from dagora.parties.crypto.garbling.slots import CACHE_BYTES, slots_of
from tests.parties.crypto.garbled import gates, random_circuit


def run_in_slots(circuit, bits):
    slots = slots_of(circuit)
    # What was never written shows.
    wires = np.full((slots.count, bits.shape[1]), 7, dtype=np.uint8)
    wires[slots.inputs] = bits
    for op, a, b, result in zip(slots.op, slots.a, slots.b, slots.result, strict=True):
        left, right = wires[a], wires[b]
        wires[result] = left ^ right if op == XOR else left & right if op == AND else left ^ 1
    return wires[slots.outputs]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 20), st.integers(0, 200), st.integers(0, 30), st.integers(1, 50))
def test_wires_in_slots_give_the_same_bits(seed, n_inputs, n_gates, n_outputs, window):
    rng = np.random.default_rng(seed)
    circuit = random_circuit(rng, n_inputs, n_gates, n_outputs, window=window)
    bits = rng.integers(0, 2, (n_inputs, 8)).astype(np.uint8)
    assert np.array_equal(run_in_slots(circuit, bits), evaluate_plain(circuit, bits))


def test_few_slots_where_few_wires_live():
    rng = np.random.default_rng(0)
    slots = slots_of(random_circuit(rng, 10, 5000, 5, window=20))
    assert slots.count < 60
    assert 16 * slots.count * slots.batch <= CACHE_BYTES


def test_kept_as_long_as_the_circuit():
    circuit = gates(2, [(AND, 0, 1)], [2])
    assert slots_of(circuit) is slots_of(circuit)


def test_digest_tells_circuits_apart():
    circuits = [
        gates(2, [(AND, 0, 1)], [2]),
        gates(2, [(XOR, 0, 1)], [2]),
        gates(2, [(AND, 0, 0)], [2]),
        gates(3, [(AND, 0, 1)], [2]),
        gates(2, [(AND, 0, 1)], [2, 2]),
        gates(2, [(AND, 0, 1), (NOT, 2, 0)], [2]),
    ]
    assert len({slots_of(circuit).digest for circuit in circuits}) == len(circuits)
    assert slots_of(gates(2, [(AND, 0, 1)], [2])).digest == slots_of(circuits[0]).digest


@pytest.mark.parametrize(
    "circuit",
    [
        gates(2, [(AND, 0, 2)], [2]),
        gates(2, [(AND, 2, 0)], [2]),
        gates(2, [(NOT, -1, 0)], [2]),
        gates(2, [(3, 0, 1)], [2]),
        gates(2, [(AND, 0, 1)], [3]),
        gates(2, [(AND, 0, 1)], [-1]),
    ],
)
def test_circuits_that_read_outside_are_refused(circuit: Circuit):
    with pytest.raises(ValueError, match=r"gate 0|output"):
        slots_of(circuit)
