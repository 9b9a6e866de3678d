"""A builder of circuits: gates are requested one by one, and the circuit keeps only those it needs.

A bit is a wire (an int) or a constant (a bool). Constants are folded, a gate requested twice is built once, a
double negation cancels, and gates that no output needs are dropped. XOR and NOT are free when a circuit is
garbled (Kolesnikov & Schneider 2008), so the cost is the number of ANDs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from dagora.parties.crypto.garbling.circuit import AND, NOT, XOR, Circuit

Bit = int | bool
Word = list[Bit]  # little-endian: position 0 has weight 1
INPUT = 3  # beside the kinds of gates


class Builder:
    """The gates of one circuit; other modules combine its bits to words.

    >>> build = Builder()
    >>> a, b = build.inputs(2)
    >>> circuit = build.circuit([build.xor(a, b), build.conjunction(a, b), True])
    >>> circuit.n_inputs, circuit.n_and, len(circuit.outputs)
    (2, 1, 3)
    """

    def __init__(self) -> None:
        self._gates: list[tuple[int, int, int]] = []
        self._known: dict[tuple[int, int, int], int] = {}
        self._opposite: dict[int, int] = {}
        self._inputs: list[int] = []

    def inputs(self, width: int) -> Word:
        """A word of fresh input wires, numbered in the order in which they are requested."""
        first = len(self._gates)
        self._gates.extend((INPUT, 0, 0) for _ in range(width))
        wires = list(range(first, first + width))
        self._inputs.extend(wires)
        return list[Bit](wires)

    def words(self, count: int, width: int) -> list[Word]:
        """Several input words, one after the other."""
        return [self.inputs(width) for _ in range(count)]

    def invert(self, a: Bit) -> Bit:
        """NOT a."""
        if isinstance(a, bool):
            return not a
        known = self._opposite.get(a)
        if known is not None:
            return known
        wire = self._gate(NOT, a, a)
        self._opposite[a] = wire
        self._opposite[wire] = a
        return wire

    def xor(self, a: Bit, b: Bit) -> Bit:
        """Exclusive or of a and b."""
        if isinstance(a, bool):
            return self.invert(b) if a else b
        if isinstance(b, bool):
            return self.invert(a) if b else a
        if a == b:
            return False
        if self._opposite.get(a) == b:
            return True
        return self._gate(XOR, min(a, b), max(a, b))

    def conjunction(self, a: Bit, b: Bit) -> Bit:
        """The AND of a and b, the only gate that costs."""
        if isinstance(a, bool):
            return b if a else False
        if isinstance(b, bool):
            return a if b else False
        if a == b:
            return a
        if self._opposite.get(a) == b:
            return False
        return self._gate(AND, min(a, b), max(a, b))

    def any(self, bits: Iterable[Bit]) -> Bit:
        """The OR of all bits."""
        return self.invert(self.all(self.invert(bit) for bit in bits))

    def all(self, bits: Iterable[Bit]) -> Bit:
        """The AND of all bits."""
        result: Bit = True
        for bit in bits:
            result = self.conjunction(result, bit)
        return result

    def parity(self, bits: Iterable[Bit]) -> Bit:
        """Exclusive or of all bits."""
        result: Bit = False
        for bit in bits:
            result = self.xor(result, bit)
        return result

    def circuit(self, outputs: Sequence[Bit]) -> Circuit:
        """The circuit with these outputs; a constant among them becomes XOR(w, w) of an input, or its NOT."""
        if not self._inputs:
            raise ValueError("a circuit needs an input")
        wires = [self._constant(bit) if isinstance(bit, bool) else bit for bit in outputs]
        needed = np.zeros(len(self._gates), dtype=np.bool_)
        needed[wires] = True
        for wire in range(len(self._gates) - 1, -1, -1):
            if needed[wire] and self._gates[wire][0] != INPUT:
                needed[self._gates[wire][1]] = needed[self._gates[wire][2]] = True
        number = np.full(len(self._gates), -1, dtype=np.int32)
        number[self._inputs] = np.arange(len(self._inputs), dtype=np.int32)
        kept = [w for w in np.flatnonzero(needed).tolist() if self._gates[w][0] != INPUT]
        number[kept] = len(self._inputs) + np.arange(len(kept), dtype=np.int32)
        gates = np.array([self._gates[w] for w in kept], dtype=np.int32).reshape(-1, 3)
        return Circuit(
            len(self._inputs),
            gates[:, 0].astype(np.uint8),
            number[gates[:, 1]],
            number[gates[:, 2]],
            number[np.array(wires, dtype=np.int64)],
        )

    def _constant(self, value: bool) -> int:
        zero = self._gate(XOR, self._inputs[0], self._inputs[0])
        return self._gate(NOT, zero, zero) if value else zero

    def _gate(self, op: int, a: int, b: int) -> int:
        key = (op, a, b)
        wire = self._known.get(key)
        if wire is None:
            wire = len(self._gates)
            self._gates.append(key)
            self._known[key] = wire
        return wire
