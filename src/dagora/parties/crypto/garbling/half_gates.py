"""Garbled circuits with half-gates (Zahur, Rosulek & Evans 2015): two 128-bit rows per AND, XOR for free.

The garbler holds for each wire the label of zero, W⁰; the label of one is W¹ = W⁰ ⊕ Δ with one Δ for the
whole session (free XOR). The lowest bit of a label's first word is its permute bit; Δ has it set, so the two
labels of a wire differ in it. With p the permute bit of a zero label, j and j′ = j + 1 fresh tweaks, and H
the hash of `hashing`:

    T_G = H(A⁰, j) ⊕ H(A¹, j) ⊕ p_B·Δ        W_G = H(A⁰, j) ⊕ p_A·T_G
    T_E = H(B⁰, j′) ⊕ H(B¹, j′) ⊕ A⁰         W_E = H(B⁰, j′) ⊕ p_B·(T_E ⊕ A⁰)        C⁰ = W_G ⊕ W_E

An evaluator that has one label of each input, with permute bits s, computes one label of the output without
learning which of the two it is:

    C = H(A, j) ⊕ s_A·T_G ⊕ H(B, j′) ⊕ s_B·(T_E ⊕ A)

Secure against semi-honest parties: a garbler that builds other tables than these is not detected here (but by
`output_check`, where each party garbles once).

Labels are uint64[wires, instances, 2], tables uint64[ANDs, instances, 4] with rows T_G, T_E. AND number g of
instance i takes the tweaks first + 2(i·n_and + g) and the one after it, so the result does not depend on how
the instances are cut into batches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.parties.crypto.aes import RoundKeys, expand_key, prepare
from dagora.parties.crypto.blocks import Words, load, permute_mask, store
from dagora.parties.crypto.garbling.circuit import AND, XOR, Circuit
from dagora.parties.crypto.garbling.slots import Slots, slots_of
from dagora.parties.crypto.hashing import hash4

# The key of π outside of a session, which draws its own.
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
    """Tables as the evaluator gets them from a message, read-only: a type of its own for numba."""
    view = tables.view()
    view.flags.writeable = False
    return view


def check_labels(circuit: Circuit, labels: Words) -> None:
    """Refuse labels that do not fit the circuit; kernels do not check."""
    if labels.ndim != 3 or labels.shape[0] != circuit.n_inputs or labels.shape[2] != 2:
        raise ValueError(
            f"the circuit has {circuit.n_inputs} inputs; labels of shape {labels.shape} do not fit"
        )
    if labels.dtype != np.uint64:
        raise ValueError(f"labels are uint64, not {labels.dtype}")


class Wires:
    """The live labels of a circuit for one batch of instances."""

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
        slots, part = self._slots, slice(first, last)
        gates = Gates(slots.op[part], slots.a[part], slots.b[part], slots.result[part])
        labels = Labels(self._labels.reshape(-1), self._labels.shape[1])
        rows = TableRows(tables.reshape(-1), offset, stride)
        tweak = np.uint64(first_tweak + TWEAKS_PER_AND * int(slots.ands_before[first]))
        tweaks = Tweaks(tweak, np.uint64(TWEAKS_PER_AND * slots.n_and))
        if delta is None:
            evaluate_gates(self._keys, gates, labels, rows, tweaks)
        else:
            garble_gates(self._keys, gates, labels, rows, tweaks, delta)

    def outputs(self) -> Words:
        """Return the labels of the outputs."""
        return self._labels[self._slots.outputs]


class Gates(NamedTuple):
    """Gates in the order in which they are computed; `a`, `b` and `result` are slots of wires."""

    op: NDArray[np.uint8]
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    result: NDArray[np.int32]


class Labels(NamedTuple):
    """One label per slot and instance: that of instance i in slot s is block s·instances + i of `words`."""

    words: Words
    instances: int


class TableRows(NamedTuple):
    """Two blocks per AND g and instance i, from block 2·(first + g·stride + i) of `words` on."""

    words: Words
    first: int
    stride: int


class Tweaks(NamedTuple):
    """AND g of instance i hashes under `first` + i·per_instance + 2g and the tweak after it."""

    first: np.uint64
    per_instance: np.uint64


@kernel
def garble_gates(
    keys: RoundKeys, gates: Gates, labels: Labels, tables: TableRows, tweaks: Tweaks, delta: Words
) -> None:
    """Garble gates for every instance: the labels of zero of the results, and the tables of the ANDs.

    A NOT in one instance, from slot 0 to slot 1: its label of zero is the label of one of what it reads.

    >>> from dagora.parties.crypto.garbling.circuit import NOT
    >>> wire = np.zeros(1, dtype=np.int32)
    >>> gates = Gates(np.array([NOT], dtype=np.uint8), wire, wire, wire + np.int32(1))
    >>> labels = Labels(np.array([5, 6, 0, 0], dtype=np.uint64), 1)  # two slots of two words
    >>> tables = TableRows(np.empty(0, dtype=np.uint64), 0, 1)
    >>> delta, tweaks = np.array([1, 8], dtype=np.uint64), Tweaks(np.uint64(0), np.uint64(0))
    >>> garble_gates(expand_key(PUBLIC_KEY), gates, labels, tables, tweaks, delta)
    >>> labels.words.tolist()
    [5, 6, 4, 14]
    """
    ready = prepare(keys)
    difference = load(delta, 0)
    one = np.uint64(1)
    wires, instances = labels.words, labels.instances
    row, first_tweak = tables.first, tweaks.first
    for k in range(len(gates.op)):
        left, right = gates.a[k] * instances, gates.b[k] * instances
        target = gates.result[k] * instances
        if gates.op[k] == XOR:
            xor_labels(wires, left, right, target, instances)
        elif gates.op[k] == AND:
            tweak = first_tweak
            for i in range(instances):
                x, y = load(wires, left + i), load(wires, right + i)
                x0, x1, y0, y1 = hash4(
                    ready, x, x ^ difference, y, y ^ difference, tweak, tweak, tweak + one, tweak + one
                )
                right_bit = permute_mask(y)
                garbler = x0 ^ x1 ^ (right_bit & difference)
                evaluator = y0 ^ y1 ^ x
                store(tables.words, 2 * (row + i), garbler)
                store(tables.words, 2 * (row + i) + 1, evaluator)
                half = x0 ^ (permute_mask(x) & garbler)
                store(wires, target + i, half ^ y0 ^ (right_bit & (y0 ^ y1)))
                tweak += tweaks.per_instance
            row += tables.stride
            first_tweak += np.uint64(2)
        else:
            for i in range(instances):
                store(wires, target + i, load(wires, left + i) ^ difference)


@kernel
def evaluate_gates(keys: RoundKeys, gates: Gates, labels: Labels, tables: TableRows, tweaks: Tweaks) -> None:
    """Evaluate gates for every instance, two instances at a time.

    An XOR in one instance, of slots 0 and 1 to slot 0: free XOR adds the labels and reads no table.

    >>> slot = np.zeros(1, dtype=np.int32)
    >>> gates = Gates(np.array([XOR], dtype=np.uint8), slot, slot + np.int32(1), slot)
    >>> labels = Labels(np.array([5, 6, 3, 3], dtype=np.uint64), 1)
    >>> tables = TableRows(read_only(np.empty(0, dtype=np.uint64)), 0, 1)
    >>> evaluate_gates(expand_key(PUBLIC_KEY), gates, labels, tables, Tweaks(np.uint64(0), np.uint64(0)))
    >>> labels.words.tolist()
    [6, 5, 3, 3]
    """
    ready = prepare(keys)
    one = np.uint64(1)
    wires, instances = labels.words, labels.instances
    row, first_tweak, step = tables.first, tweaks.first, tweaks.per_instance
    for k in range(len(gates.op)):
        left, right = gates.a[k] * instances, gates.b[k] * instances
        target = gates.result[k] * instances
        if gates.op[k] == XOR:
            xor_labels(wires, left, right, target, instances)
        elif gates.op[k] == AND:
            tweak = first_tweak
            for i in range(0, instances, 2):
                # In an odd batch the last instance is computed twice, both times under its own tweak.
                j = min(i + 1, instances - 1)
                next_tweak = tweak + step if j > i else tweak
                x, y = load(wires, left + i), load(wires, right + i)
                u, v = load(wires, left + j), load(wires, right + j)
                p, q, r, s = hash4(ready, x, y, u, v, tweak, tweak + one, next_tweak, next_tweak + one)
                first, second = 2 * (row + i), 2 * (row + j)
                p ^= permute_mask(x) & load(tables.words, first)
                q ^= permute_mask(y) & (load(tables.words, first + 1) ^ x)
                r ^= permute_mask(u) & load(tables.words, second)
                s ^= permute_mask(v) & (load(tables.words, second + 1) ^ u)
                store(wires, target + i, p ^ q)
                store(wires, target + j, r ^ s)
                tweak += step + step
            row += tables.stride
            first_tweak += np.uint64(2)
        elif left != target:
            for i in range(instances):
                store(wires, target + i, load(wires, left + i))


@kernel
def xor_labels(wires: Words, left: int, right: int, target: int, instances: int) -> None:
    """Free XOR: add the labels of two wires, for every instance; the arguments are blocks of `wires`."""
    for i in range(instances):
        store(wires, target + i, load(wires, left + i) ^ load(wires, right + i))
