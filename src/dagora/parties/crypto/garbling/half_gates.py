"""Garbled circuits with half-gates (Zahur, Rosulek & Evans 2015): two 128-bit rows per AND, XOR for free.

The garbler holds for each wire the label of zero, W⁰; the label of one is W¹ = W⁰ ⊕ Δ with one Δ for the
whole session (free XOR). The lowest bit of a label's first word is its permute bit; Δ has it set, so the two
labels of a wire differ in it. With p the permute bit of a zero label, j and j′ = j + 1 fresh tweaks, and H
the hash of `hashing`:

    T_G = H(A⁰, j) ⊕ H(A¹, j) ⊕ p_B·Δ        W_G = H(A⁰, j) ⊕ p_A·T_G
    T_E = H(B⁰, j′) ⊕ H(B¹, j′) ⊕ A⁰         W_E = H(B⁰, j′) ⊕ p_B·(T_E ⊕ A⁰)        C⁰ = W_G ⊕ W_E

and who has one label of each input, with permute bits s, gets one label of the output, without learning
which: C = H(A, j) ⊕ s_A·T_G ⊕ H(B, j′) ⊕ s_B·(T_E ⊕ A). Secure against semi-honest parties: a garbler that
builds other tables than these is not noticed here.

Labels are uint64[wires, instances, 2], tables uint64[ANDs, instances, 4] with rows T_G, T_E. AND number g of
instance i takes the tweaks first + 2(i·n_and + g) and the one after it, so how a batch is cut changes
nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import kernel
from dagora.parties.crypto.aes import RoundKeys, expand_key, prepare
from dagora.parties.crypto.blocks import Words, load, permute_mask, store
from dagora.parties.crypto.garbling.circuit import AND, XOR, Circuit
from dagora.parties.crypto.garbling.slots import Slots, slots_of
from dagora.parties.crypto.hashing import hash4

# The key of π where no session has drawn one.
PUBLIC_KEY = bytes(range(16))
TWEAKS_PER_AND = 2
TABLE_WORDS = 4


def garble(
    circuit: Circuit, zero_labels: Words, delta: Words, first_tweak: int, *, keys: RoundKeys | None = None
) -> tuple[Words, Words]:
    """Return the zero labels of the outputs and the tables of the AND gates.

    >>> wires = np.arange(3, dtype="i4")
    >>> conjunction = Circuit(2, np.array([1], "u1"), wires[:1], wires[1:2], wires[2:])
    >>> zeros = np.arange(4, dtype=np.uint64).reshape(2, 1, 2) * 1234567
    >>> delta = np.array([7, 7], dtype=np.uint64)
    >>> result, tables = garble(conjunction, zeros, delta, 0)
    >>> result.shape, tables.shape
    ((1, 1, 2), (1, 1, 4))
    >>> bool((evaluate(conjunction, zeros ^ delta, tables, 0) == result ^ delta).all())
    True
    """
    return _run(circuit, zero_labels, None, delta, first_tweak, keys)


def evaluate(
    circuit: Circuit, labels: Words, tables: Words, first_tweak: int, *, keys: RoundKeys | None = None
) -> Words:
    """Return one label of each output from one label of each input."""
    return _run(circuit, labels, tables, None, first_tweak, keys)[0]


def _run(
    circuit: Circuit,
    labels: Words,
    tables: Words | None,
    delta: Words | None,
    first_tweak: int,
    keys: RoundKeys | None,
) -> tuple[Words, Words]:
    slots = slots_of(circuit)
    check_labels(circuit, labels)
    instances = labels.shape[1]
    shape = (slots.n_and, instances, TABLE_WORDS)
    if tables is None:
        tables = np.empty(shape, dtype=np.uint64)
    elif tables.shape != shape:
        raise ValueError(f"the tables have shape {tables.shape}, not {shape}")
    else:
        tables = read_only(np.ascontiguousarray(tables))
    keys = expand_key(PUBLIC_KEY) if keys is None else keys
    result = np.empty((len(slots.outputs), instances, 2), dtype=np.uint64)
    wires = Wires(slots, keys)
    for start in range(0, instances, slots.batch):
        stop = min(start + slots.batch, instances)
        wires.load(labels[:, start:stop])
        tweak = first_tweak + TWEAKS_PER_AND * start * slots.n_and
        wires.step(0, len(circuit.op), tables, start, instances, tweak, delta)
        result[:, start:stop] = wires.outputs()
    return result, tables


def read_only(tables: Words) -> Words:
    """Tables as the evaluator has them: from a message's bytes, which numba takes for another type."""
    view = tables.view()
    view.flags.writeable = False
    return view


def check_labels(circuit: Circuit, labels: Words) -> None:
    """Refuse labels that do not fit the circuit: kernels do not look."""
    if labels.ndim != 3 or labels.shape[0] != circuit.n_inputs or labels.shape[2] != 2:
        raise ValueError(
            f"the circuit has {circuit.n_inputs} inputs; labels of shape {labels.shape} do not fit"
        )
    if labels.dtype != np.uint64:
        raise ValueError(f"labels are uint64, not {labels.dtype}")


class Wires:
    """The live labels of one batch of instances on their way through a circuit."""

    def __init__(self, slots: Slots, keys: RoundKeys) -> None:
        self._slots = slots
        self._keys = keys
        self._labels = np.empty((0, 0, 2), dtype=np.uint64)

    def load(self, labels: Words) -> None:
        """Begin with the labels of the inputs."""
        instances = labels.shape[1]
        if self._labels.shape[1] != instances:
            self._labels = np.empty((self._slots.count, instances, 2), dtype=np.uint64)
        self._labels[self._slots.inputs] = labels

    def step(
        self,
        first: int,
        last: int,
        tables: Words,
        offset: int,
        stride: int,
        first_tweak: int,
        delta: Words | None,
    ) -> None:
        """Run the gates from `first` to before `last`: garble with a delta, evaluate without.

        AND number g of this stretch and instance i has table offset + g·stride + i of `tables`;
        `first_tweak` belongs to AND 0 of the circuit in the batch's first instance.
        """
        slots, keys, n_and = self._slots, self._keys, self._slots.n_and
        gates = slice(first, last)
        op, a, b, result = slots.op[gates], slots.a[gates], slots.b[gates], slots.result[gates]
        tweak = np.uint64(first_tweak + TWEAKS_PER_AND * int(slots.ands_before[first]))
        wires, size, flat = self._labels.reshape(-1), self._labels.shape[1], tables.reshape(-1)
        if delta is None:
            evaluate_gates(keys, op, a, b, result, wires, size, flat, offset, stride, tweak, n_and)
        else:
            garble_gates(keys, op, a, b, result, wires, size, flat, offset, stride, tweak, n_and, delta)

    def outputs(self) -> Words:
        """Return the labels of the outputs."""
        return self._labels[self._slots.outputs]


@kernel
def garble_gates(
    keys: RoundKeys,
    op: NDArray[np.uint8],
    a: NDArray[np.int32],
    b: NDArray[np.int32],
    result: NDArray[np.int32],
    wires: Words,
    instances: int,
    tables: Words,
    offset: int,
    stride: int,
    first_tweak: np.uint64,
    n_and: int,
    delta: Words,
) -> None:
    """Garble gates for every instance; the tweak of an instance is 2·n_and above that of the one before."""
    ready = prepare(keys)
    difference = load(delta, 0)
    one = np.uint64(1)
    step = np.uint64(2 * n_and)
    for k in range(len(op)):
        left, right, target = a[k] * instances, b[k] * instances, result[k] * instances
        if op[k] == XOR:
            for i in range(instances):
                store(wires, target + i, load(wires, left + i) ^ load(wires, right + i))
        elif op[k] == AND:
            tweak = first_tweak
            for i in range(instances):
                x, y = load(wires, left + i), load(wires, right + i)
                x0, x1, y0, y1 = hash4(
                    ready, x, x ^ difference, y, y ^ difference, tweak, tweak, tweak + one, tweak + one
                )
                right_bit = permute_mask(y)
                garbler = x0 ^ x1 ^ (right_bit & difference)
                evaluator = y0 ^ y1 ^ x
                store(tables, 2 * (offset + i), garbler)
                store(tables, 2 * (offset + i) + 1, evaluator)
                half = x0 ^ (permute_mask(x) & garbler)
                store(wires, target + i, half ^ y0 ^ (right_bit & (y0 ^ y1)))
                tweak += step
            offset += stride
            first_tweak += np.uint64(2)
        else:
            for i in range(instances):
                store(wires, target + i, load(wires, left + i) ^ difference)


@kernel
def evaluate_gates(
    keys: RoundKeys,
    op: NDArray[np.uint8],
    a: NDArray[np.int32],
    b: NDArray[np.int32],
    result: NDArray[np.int32],
    wires: Words,
    instances: int,
    tables: Words,
    offset: int,
    stride: int,
    first_tweak: np.uint64,
    n_and: int,
) -> None:
    """Evaluate gates for every instance, two at a time."""
    ready = prepare(keys)
    one = np.uint64(1)
    step = np.uint64(2 * n_and)
    for k in range(len(op)):
        left, right, target = a[k] * instances, b[k] * instances, result[k] * instances
        if op[k] == XOR:
            for i in range(instances):
                store(wires, target + i, load(wires, left + i) ^ load(wires, right + i))
        elif op[k] == AND:
            tweak = first_tweak
            for i in range(0, instances, 2):
                # In an odd batch the last instance goes along twice, under its own tweak.
                j = min(i + 1, instances - 1)
                next_tweak = tweak + step if j > i else tweak
                x, y = load(wires, left + i), load(wires, right + i)
                u, v = load(wires, left + j), load(wires, right + j)
                p, q, r, s = hash4(ready, x, y, u, v, tweak, tweak + one, next_tweak, next_tweak + one)
                first = 2 * (offset + i)
                second = 2 * (offset + j)
                p ^= permute_mask(x) & load(tables, first)
                q ^= permute_mask(y) & (load(tables, first + 1) ^ x)
                r ^= permute_mask(u) & load(tables, second)
                s ^= permute_mask(v) & (load(tables, second + 1) ^ u)
                store(wires, target + i, p ^ q)
                store(wires, target + j, r ^ s)
                tweak += step + step
            offset += stride
            first_tweak += np.uint64(2)
        elif left != target:
            for i in range(instances):
                store(wires, target + i, load(wires, left + i))
