"""Yao's protocol between two processes: one garbles, the other evaluates.

Both sides make the same calls in the same order: inputs of either side and public constants become arrays of
labels, circuits turn arrays into arrays, and `reveal` opens bits to one side or both. The garbler's arrays
hold the labels of zero, the evaluator's hold one label per wire; neither alone reveals a bit. The permute
bits of the two arrays are XOR-shares of the values (`permute_bits`), and a party's additive share enters a
circuit as its bits, to be added inside. Constants cost nothing: the evaluator's label is 0, the garbler's
label of zero is 0 or Δ.

Secure against semi-honest parties if the transfer of labels is. Sizes and number of messages depend on
circuits and batch sizes only. Revealed bits come with a 64-bit hash of their label, so that damaged tables or
labels, and calls that differ between the sides, end the run instead of giving wrong bits. This is a check
against accidents: a garbler that garbles another circuit on purpose is not detected.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from typing import Literal, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from dagora.parties.crypto.aes import RoundKeys, expand_key
from dagora.parties.crypto.blocks import Words
from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.garbling.circuit import Circuit
from dagora.parties.crypto.garbling.half_gates import TABLE_WORDS, TWEAKS_PER_AND, Wires, check_labels
from dagora.parties.crypto.garbling.slots import Slots, slots_of
from dagora.parties.crypto.garbling.streaming import (
    MESSAGE_TABLES,
    TABLE_BYTES,
    Stretch,
    receive_bytes,
    receive_words,
    send_bytes,
    send_words,
    table_messages,
)
from dagora.parties.crypto.hashing import hash_blocks
from dagora.parties.transport.transport import Transport

Bits = NDArray[np.uint8]
To = Literal["both", "garbler", "evaluator"]

LABEL_BYTES = 16  # 128 bits of security
DAMAGED = "an unknown label came out: tables, labels or the order of calls are damaged"


class LabelSender(Protocol):
    """The garbler's side of oblivious transfer, such as `oblivious_transfer.TransferSender`."""

    @property
    def delta(self) -> Words:
        """The difference of the two labels of every wire: uint64[2], the lowest bit of the first word set."""

    def fresh_labels(self, count: int) -> Words:
        """Labels of zero, uint64[count, 2]; the peer gets each, plus delta where its choice is 1."""


class LabelReceiver(Protocol):
    """The evaluator's side of oblivious transfer, such as `oblivious_transfer.TransferReceiver`."""

    def receive_fresh_labels(self, choices: Bits) -> Words:
        """One label per choice, uint64[count, 2]."""


class Party(Protocol):
    """The calls of either side; both sides make the same calls, whoever owns the inputs."""

    def own_inputs(self, bits: Bits) -> Words:
        """Labels of this party's bits, uint8[wires, instances]."""

    def peer_inputs(self, wires: int, instances: int) -> Words:
        """Labels of the other party's bits."""

    def constants(self, bits: Bits, instances: int) -> Words:
        """Labels of public bits, uint8[wires], the same in each instance."""

    def run(self, circuit: Circuit, labels: Words) -> Words:
        """Labels of the outputs, uint64[outputs, instances, 2], from labels of the inputs."""

    def reveal(self, labels: Words, to: To = "both") -> Bits | None:
        """Return the bits, or None to the party that must not see them."""


class Garbler:
    """The party that draws the labels; its arrays are the labels of zero."""

    def __init__(
        self,
        transport: Transport,
        transfer: LabelSender,
        peer: str | None = None,
        *,
        tag: str = "yao",
        random: Callable[[int], bytes] = os.urandom,
        instructions: bool | None = None,
    ) -> None:
        self._channel = Channel.to_peer(transport, peer, tag)
        self._transfer = transfer
        self._random = random
        self._delta = np.array(transfer.delta, dtype=np.uint64)
        if self._delta.shape != (2,) or not self._delta[0] & np.uint64(1):
            raise ValueError("delta is two words, the lowest bit of the first set")
        key = random(LABEL_BYTES)
        self._keys = expand_key(key, instructions=instructions)
        self._tweaks = 0
        send_bytes(self._channel, "key", key)

    def own_inputs(self, bits: Bits) -> Words:
        """Make labels for own bits and send the evaluator those of the bits' values."""
        _check_bits(bits)
        content = self._random(LABEL_BYTES * bits.size)
        zeros = np.frombuffer(content, dtype=np.uint64).reshape(*bits.shape, 2).copy()
        send_words(self._channel, "inputs", zeros ^ self._times_delta(bits))
        return zeros

    def peer_inputs(self, wires: int, instances: int) -> Words:
        """Make labels for the evaluator's bits, among which it chooses obliviously."""
        return self._transfer.fresh_labels(wires * instances).reshape(wires, instances, 2)

    def constants(self, bits: Bits, instances: int) -> Words:
        """Labels of zero of public bits."""
        _check_bits(bits)
        return np.repeat(self._times_delta(bits[:, None]), instances, axis=1)

    def run(self, circuit: Circuit, labels: Words) -> Words:
        """Garble a circuit and send its tables as they are made."""
        check_labels(circuit, labels)
        slots, instances, first = slots_of(circuit), labels.shape[1], self._tweaks
        self._tweaks += TWEAKS_PER_AND * slots.n_and * instances
        if slots.n_and:
            send_bytes(self._channel, "run", _fingerprint(slots, instances, first))
        result = np.empty((len(slots.outputs), instances, 2), dtype=np.uint64)
        wires = Wires(slots, self._keys)
        tables = np.empty((min(MESSAGE_TABLES, slots.n_and * instances), TABLE_WORDS), dtype=np.uint64)
        for message in table_messages(slots, instances):
            _run_stretches(message.stretches, slots, wires, labels, tables, first, self._delta, result)
            send_words(self._channel, "tables", tables[: message.n_tables])
        return result

    @overload
    def reveal(self, labels: Words, to: Literal["both", "garbler"] = "both") -> Bits: ...

    @overload
    def reveal(self, labels: Words, to: Literal["evaluator"]) -> None: ...

    @overload
    def reveal(self, labels: Words, to: To = "both") -> Bits | None: ...

    def reveal(self, labels: Words, to: To = "both") -> Bits | None:
        """Open the values of wires; None if only the evaluator is to see them."""
        first = self._tweaks
        self._tweaks += labels.size // 2
        hashes = np.stack(
            (_hashes(self._keys, labels, first), _hashes(self._keys, labels ^ self._delta, first)), -1
        )
        if to != "garbler":
            permute = permute_bits(labels)
            # In the order of the labels' permute bits, so that the position reveals no value.
            send_words(self._channel, "hashes", np.where(permute[..., None], hashes[..., ::-1], hashes))
            send_bytes(self._channel, "permutation", np.packbits(permute).tobytes())
        if to == "evaluator":
            return None
        answers = receive_words(self._channel, "answers", labels.shape[:2])
        if not (answers[..., None] == hashes).any(axis=-1).all():
            self._channel.refuse("answers", DAMAGED)
        return np.asarray(answers == hashes[..., 1], dtype=np.uint8)

    def _times_delta(self, bits: Bits) -> Words:
        return (np.uint64(0) - bits.astype(np.uint64))[..., None] & self._delta


class Evaluator:
    """The party that runs the garbled gates; its arrays hold one label of each wire."""

    def __init__(
        self,
        transport: Transport,
        transfer: LabelReceiver,
        peer: str | None = None,
        *,
        tag: str = "yao",
        instructions: bool | None = None,
    ) -> None:
        self._channel = Channel.to_peer(transport, peer, tag)
        self._transfer = transfer
        self._tweaks = 0
        self._keys = expand_key(receive_bytes(self._channel, "key", LABEL_BYTES), instructions=instructions)

    def own_inputs(self, bits: Bits) -> Words:
        """Receive the labels of own bits obliviously."""
        _check_bits(bits)
        choices = np.ascontiguousarray(bits, dtype=np.uint8).reshape(-1)
        return self._transfer.receive_fresh_labels(choices).reshape(*bits.shape, 2)

    def peer_inputs(self, wires: int, instances: int) -> Words:
        """Receive the labels of the garbler's bits."""
        return receive_words(self._channel, "inputs", (wires, instances, 2))

    def constants(self, bits: Bits, instances: int) -> Words:
        """Labels of public bits."""
        return np.zeros((len(bits), instances, 2), dtype=np.uint64)

    def run(self, circuit: Circuit, labels: Words) -> Words:
        """Evaluate a circuit with the garbler's tables."""
        check_labels(circuit, labels)
        slots, instances, first = slots_of(circuit), labels.shape[1], self._tweaks
        self._tweaks += TWEAKS_PER_AND * slots.n_and * instances
        if slots.n_and and receive_bytes(self._channel, "run", 16) != _fingerprint(slots, instances, first):
            self._channel.refuse(
                "run", "its circuit, its number of instances or its earlier calls differ from ours"
            )
        result = np.empty((len(slots.outputs), instances, 2), dtype=np.uint64)
        wires = Wires(slots, self._keys)
        for message in table_messages(slots, instances):
            content = receive_bytes(self._channel, "tables", message.n_tables * TABLE_BYTES)
            tables = np.frombuffer(content, dtype=np.uint64)
            _run_stretches(message.stretches, slots, wires, labels, tables, first, None, result)
        return result

    @overload
    def reveal(self, labels: Words, to: Literal["both", "evaluator"] = "both") -> Bits: ...

    @overload
    def reveal(self, labels: Words, to: Literal["garbler"]) -> None: ...

    @overload
    def reveal(self, labels: Words, to: To = "both") -> Bits | None: ...

    def reveal(self, labels: Words, to: To = "both") -> Bits | None:
        """Open the values of wires; None if only the garbler is to see them."""
        first = self._tweaks
        self._tweaks += labels.size // 2
        answers = _hashes(self._keys, labels, first)
        bits = None
        if to != "garbler":
            wires, instances = labels.shape[:2]
            hashes = receive_words(self._channel, "hashes", (wires, instances, 2))
            packed = receive_bytes(self._channel, "permutation", (wires * instances + 7) // 8)
            permute = permute_bits(labels)
            if not (np.where(permute, hashes[..., 1], hashes[..., 0]) == answers).all():
                self._channel.refuse("hashes", DAMAGED)
            zeros = np.unpackbits(np.frombuffer(packed, dtype=np.uint8), count=wires * instances)
            bits = permute ^ zeros.reshape(wires, instances)
        if to != "evaluator":
            send_words(self._channel, "answers", answers)
        return bits


def _run_stretches(
    stretches: Iterable[Stretch],
    slots: Slots,
    wires: Wires,
    labels: Words,
    tables: Words,
    first_tweak: int,
    delta: Words | None,
    result: Words,
) -> None:
    """Garble (with `delta`) or evaluate (without) the part of a run that shares one message of tables."""
    for s in stretches:
        if s.first == 0:
            wires.load(labels[:, s.start : s.stop])
        tweak = first_tweak + TWEAKS_PER_AND * s.start * slots.n_and
        wires.step(s.first, s.last, tables, s.offset, s.stop - s.start, tweak, delta)
        if s.last == len(slots.result):
            result[:, s.start : s.stop] = wires.outputs()


def permute_bits(labels: Words) -> Bits:
    """XOR-shares of the wires' values: the two parties' bits differ where the value is one."""
    return (labels[..., 0] & np.uint64(1)).astype(np.uint8)


def _check_bits(bits: Bits) -> None:
    # Any other value would make a mask that reveals part of delta.
    if bits.dtype != np.uint8 or (bits.size and bits.max() > 1):
        raise ValueError("inputs and constants are arrays of uint8 that hold 0 or 1")


def _hashes(keys: RoundKeys, labels: Words, first_tweak: int) -> Words:
    return hash_blocks(keys, np.ascontiguousarray(labels), np.uint64(first_tweak))[..., 0]


def _fingerprint(slots: Slots, instances: int, first_tweak: int) -> bytes:
    """A hash of what both sides must agree on before a run: circuit, instances, and all earlier calls."""
    content = slots.digest + np.array([instances, first_tweak], dtype=np.uint64).tobytes()
    return hashlib.blake2b(content, digest_size=16).digest()
