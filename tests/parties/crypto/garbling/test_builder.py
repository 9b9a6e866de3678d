import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.parties.crypto.garbling.builder import Bit, Builder
from dagora.parties.crypto.garbling.circuit import evaluate_plain

ALL4 = np.array(list(itertools.product((0, 1), repeat=4)), dtype=np.uint8).T

# The gate, and the same on arrays of zeros and ones.
OPERATIONS: list[
    tuple[Callable[[Builder, Bit, Bit], Bit], Callable[[np.ndarray, np.ndarray], np.ndarray]]
] = [
    (Builder.xor, lambda x, y: x ^ y),
    (Builder.conjunction, lambda x, y: x & y),
    (lambda build, a, _: build.invert(a), lambda x, _: x ^ 1),
    (lambda build, a, b: build.all([a, b, a]), lambda x, y: x & y),
    (lambda build, a, b: build.any([a, b, True]), lambda x, _: x | 1),
    (lambda build, a, b: build.any([a, b, False]), lambda x, y: x | y),
    (lambda build, a, b: build.parity([a, b, True]), lambda x, y: x ^ y ^ 1),
]


@pytest.mark.full
@given(
    st.lists(
        st.tuples(st.integers(0, len(OPERATIONS) - 1), st.integers(0, 30), st.integers(0, 30)),
        min_size=1,
        max_size=40,
    )
)
@settings(max_examples=150, deadline=None)
def test_any_expression_is_what_numpy_computes(steps: list[tuple[int, int, int]]) -> None:
    # Constants are among the operands, so every folding rule is met.
    build = Builder()
    bits: list[Bit] = [*build.inputs(4), False, True]
    values = [*ALL4, np.zeros(16, dtype=np.uint8), np.ones(16, dtype=np.uint8)]
    for kind, i, j in steps:
        a, b, x, y = bits[i % len(bits)], bits[j % len(bits)], values[i % len(bits)], values[j % len(bits)]
        operation = OPERATIONS[kind]
        bits.append(operation[0](build, a, b))
        values.append(operation[1](x, y))
    circuit = build.circuit(bits)
    assert np.array_equal(evaluate_plain(circuit, ALL4), np.array(values))


def test_constants_fold_and_repeats_are_shared() -> None:
    build = Builder()
    a, b = build.inputs(2)
    assert build.xor(a, a) is False
    assert build.xor(a, build.invert(a)) is True
    assert build.conjunction(a, build.invert(a)) is False
    assert build.conjunction(a, True) == a
    assert build.invert(build.invert(b)) == b
    assert build.conjunction(a, b) == build.conjunction(b, a)
    # Wire 1 and the constant True compare equal in Python; they are not the same bit.
    assert build.conjunction(b, False) is False
    assert build.circuit([build.conjunction(a, b), build.conjunction(b, a)]).n_and == 1


def test_gates_that_no_output_needs_are_dropped() -> None:
    build = Builder()
    a, b, c = build.inputs(3)
    build.conjunction(a, b)
    circuit = build.circuit([build.xor(b, c)])
    assert (circuit.n_inputs, len(circuit.op), circuit.n_and) == (3, 1, 0)


def test_inputs_may_come_after_gates() -> None:
    build = Builder()
    (a,) = build.inputs(1)
    inverse = build.invert(a)
    (b,) = build.inputs(1)
    circuit = build.circuit([build.conjunction(inverse, b), b, a, True, False])
    bits = np.array([[0, 0, 1, 1], [0, 1, 0, 1]], dtype=np.uint8)
    expected = [[0, 1, 0, 0], [0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 1, 1], [0, 0, 0, 0]]
    assert evaluate_plain(circuit, bits).tolist() == expected


def test_a_circuit_without_inputs_is_refused() -> None:
    with pytest.raises(ValueError, match="needs an input"):
        Builder().circuit([True])
