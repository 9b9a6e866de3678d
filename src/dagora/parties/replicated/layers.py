"""A plan of circuits as layers of AND gates: the gates of a layer need one message, whatever their number.

The layer of a wire is the largest number of ANDs on a way to it, through all stages of the plan: a stage
begins as soon as the first bits that it needs are there, so that the number of layers is the depth of the
whole plan and not the sum of the depths of its stages. The 64 instances of a word are computed together.

A program is a list of instructions. In layer r first come the ANDs, then for each stage, in the plan's
sequence: loads of input wires from slots, free gates, stores of output wires to slots.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.kernels.rows import copy_row
from dagora.parties.crypto.garbling.circuit import AND, NOT, XOR
from dagora.parties.vertical.circuit_plan import CircuitStage

LOAD, STORE = 3, 4
WORD_BITS = 64  # of a word, which holds a bit of as many instances

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ands:
    """AND gates by layer; layer r has the gates [ends[r − 1], ends[r]).

    Of each: word positions of inputs and output, the number of bytes that hold its batch, and where these
    begin among the bytes of all messages.
    """

    a: Places
    b: Places
    out: Places
    count: Places
    start: Places
    ends: Places


@dataclass(frozen=True, eq=False)
class FreeGates:
    """Loads, stores and gates that need no message, by layer; layer r has [ends[r − 1], ends[r]).

    `a`, `b` and `out` are word positions; of LOAD `a` and of STORE `out` is a position in the slot list, and
    `count` is the number of instances.
    """

    op: NDArray[np.uint8]
    a: Places
    b: Places
    out: Places
    count: Places
    ends: Places


@dataclass(frozen=True, eq=False)
class Program:
    """Stages in layers."""

    ands: Ands
    free: FreeGates
    slot_list: NDArray[np.int32]
    n_words: int
    n_slots: int

    @property
    def depth(self) -> int:
        """Layers of ANDs, which is the number of messages a party sends."""
        return len(self.ands.ends) - 1

    @property
    def message_bytes(self) -> int:
        """Bytes of all messages of a party."""
        return int(self.ands.count.sum())

    def digest(self) -> bytes:
        """A hash that is the same where the same gates run in the same layers."""
        parts = hashlib.blake2b(digest_size=16)
        for table in (self.ands, self.free):
            for name in ("a", "b", "out", "count", "ends"):
                parts.update(getattr(table, name).astype("<i8").tobytes())
        parts.update(self.free.op.tobytes() + self.slot_list.astype("<i4").tobytes())
        return parts.digest()


def sort_into_layers(stages: Sequence[CircuitStage], n_slots: int) -> Program:
    """Sort the gates of all stages into layers; slots that no stage writes are there from the start."""
    slot_layer = np.zeros(n_slots, dtype=np.int64)
    ands: list[tuple[Places, ...]] = []
    free: list[tuple[Places, ...]] = []
    slots: list[NDArray[np.int32]] = []
    first_word = first_slot = 0
    for stage in stages:
        circuit, instances = stage.circuit, stage.inputs.shape[1]
        words = -(-instances // WORD_BITS)
        layer = wire_layers(circuit.op, circuit.a, circuit.b, slot_layer[stage.inputs].max(axis=1))
        slot_layer[stage.outputs] = layer[circuit.outputs][:, None]
        place = first_word + words * np.arange(len(layer), dtype=np.int64)
        gate = circuit.n_inputs + np.arange(len(circuit.op))
        costs = circuit.op == AND
        size = np.full(len(gate), -(-instances // 8), dtype=np.int64)
        ands.append(
            tuple(
                part[costs] for part in (layer[gate], place[circuit.a], place[circuit.b], place[gate], size)
            )
        )
        lists = first_slot + instances * np.arange(circuit.n_inputs + len(circuit.outputs), dtype=np.int64)
        first, last = np.split(lists, [circuit.n_inputs])
        none, many = np.zeros_like, np.full_like
        steps = [
            (layer[: circuit.n_inputs], many(first, LOAD), first, none(first), place[: circuit.n_inputs]),
            tuple(
                part[~costs]
                for part in (
                    layer[gate],
                    circuit.op.astype(np.int64),
                    place[circuit.a],
                    place[circuit.b],
                    place[gate],
                )
            ),
            (layer[circuit.outputs], many(last, STORE), place[circuit.outputs], none(last), last),
        ]
        joined = [np.concatenate(parts) for parts in zip(*steps, strict=True)]
        count = np.where(np.isin(joined[1], (LOAD, STORE)), instances, words)
        free.append((*joined, count))
        slots += [stage.inputs.ravel(), stage.outputs.ravel()]
        first_word += words * len(layer)
        first_slot += len(lists) * instances
    and_layer, *and_parts = (np.concatenate(parts) for parts in zip(*ands, strict=True))
    free_layer, *free_parts = (np.concatenate(parts) for parts in zip(*free, strict=True))
    depth = int(max(and_layer.max(initial=0), free_layer.max(initial=0)))
    # Stable sorts keep the sequence of stages and, within one, that of its gates.
    sequence = np.argsort(and_layer, kind="stable")
    a, b, out, count = (part[sequence] for part in and_parts)
    ends = np.searchsorted(and_layer[sequence], np.arange(depth + 1), side="right")
    start = np.cumsum(count) - count
    sequence = np.argsort(free_layer, kind="stable")
    op, free_a, free_b, free_out, free_count = (part[sequence] for part in free_parts)
    free_ends = np.searchsorted(free_layer[sequence], np.arange(depth + 1), side="right")
    return Program(
        Ands(a, b, out, count, start, ends),
        FreeGates(op.astype(np.uint8), free_a, free_b, free_out, free_count, free_ends),
        np.concatenate(slots).astype(np.int32),
        first_word,
        n_slots,
    )


@kernel
def wire_layers(op: NDArray[np.uint8], a: NDArray[np.int32], b: NDArray[np.int32], inputs: Places) -> Places:
    """The layer of each wire, from those of the inputs."""
    layer = np.empty(len(inputs) + len(op), dtype=np.int64)
    copy_row(inputs, layer)
    for k in range(len(op)):
        layer[len(inputs) + k] = max(layer[a[k]], layer[b[k]]) + (op[k] == AND)
    return layer


@kernel
def run_free(
    op: NDArray[np.uint8],
    a: Places,
    b: Places,
    out: Places,
    count: Places,
    first: int,
    last: int,
    slot_list: NDArray[np.int32],
    slots: NDArray[np.uint8],
    words: NDArray[np.uint64],
    flips: NDArray[np.uint64],
) -> None:
    """Run loads, free gates and stores; `words[part]`, and a slot has its two parts in its lowest bits.

    NOT adds `flips[part]`: all ones for the part that holds public values.
    """
    one = np.uint64(1)
    for k in range(first, last):
        p, q, r, n = a[k], b[k], out[k], count[k]
        if op[k] == XOR:
            for w in range(n):
                words[0, r + w] = words[0, p + w] ^ words[0, q + w]
                words[1, r + w] = words[1, p + w] ^ words[1, q + w]
        elif op[k] == NOT:
            for w in range(n):
                words[0, r + w] = words[0, p + w] ^ flips[0]
                words[1, r + w] = words[1, p + w] ^ flips[1]
        elif op[k] == LOAD:
            for w in range((n + 63) // 64):
                words[0, r + w] = words[1, r + w] = np.uint64(0)
            for j in range(n):
                bits = np.uint64(slots[slot_list[p + j]])
                place = np.uint64(j % 64)
                words[0, r + j // 64] |= (bits & one) << place
                words[1, r + j // 64] |= (bits >> one) << place
        else:
            for j in range(n):
                place = np.uint64(j % 64)
                low = (words[0, p + j // 64] >> place) & one
                high = (words[1, p + j // 64] >> place) & one
                slots[slot_list[r + j]] = np.uint8(low | high << one)


@kernel
def local_products(
    a: Places,
    b: Places,
    count: Places,
    start: Places,
    first: int,
    last: int,
    words: NDArray[np.uint64],
    message: NDArray[np.uint8],
) -> None:
    """Add x_i y_i + x_i y_{i+1} + x_{i+1} y_i of each gate to the message, which holds parts of zero."""
    x, y = words[0], words[1]
    for k in range(first, last):
        p, q, at = a[k], b[k], start[k] - start[first]
        for w in range((count[k] + 7) // 8):
            z = (x[p + w] & (x[q + w] ^ y[q + w])) ^ (y[p + w] & x[q + w])
            for byte in range(min(8, count[k] - 8 * w)):
                message[at + 8 * w + byte] ^= np.uint8(z >> np.uint64(8 * byte) & np.uint64(255))


@kernel
def take_products(
    out: Places,
    count: Places,
    start: Places,
    first: int,
    last: int,
    own: NDArray[np.uint8],
    received: NDArray[np.uint8],
    words: NDArray[np.uint64],
) -> None:
    """Make (z_i, z_{i+1}) the parts of each gate's output."""
    for k in range(first, last):
        r, at = out[k], start[k] - start[first]
        for w in range((count[k] + 7) // 8):
            low = high = np.uint64(0)
            for byte in range(min(8, count[k] - 8 * w)):
                place = np.uint64(8 * byte)
                low |= np.uint64(own[at + 8 * w + byte]) << place
                high |= np.uint64(received[at + 8 * w + byte]) << place
            words[0, r + w] = low
            words[1, r + w] = high
