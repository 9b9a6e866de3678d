"""A party's evaluation of a program on bits in replicated shares: one message per layer of ANDs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Event, Observer, ignore
from dagora.parties.replicated.layers import Program, local_products, run_free, take_products
from dagora.parties.replicated.replicated_party import ReplicatedParty
from dagora.parties.vertical.circuit_plan import SlotNumbers

Bits = NDArray[np.uint8]

ALL_ONES = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
STEP = "products"


class SharedBits:
    """This party's two parts of the bits in the slots of a program: the lowest bits of each slot."""

    def __init__(self, party: ReplicatedParty, program: Program) -> None:
        self._party = party
        self._program = program
        self.slots = np.zeros(program.n_slots, dtype=np.uint8)

    def put(self, slots: SlotNumbers, first: Bits | int, second: Bits | int) -> None:
        """Put the two parts of some bits into slots."""
        self.slots[slots] = np.asarray(first, dtype=np.uint8) | np.asarray(second, dtype=np.uint8) << 1

    def put_public(self, slots: SlotNumbers, bits: Bits) -> None:
        """Put bits that all know into slots."""
        first, second = self._party.places_of_zero
        self.put(slots, bits * np.uint8(first), bits * np.uint8(second))

    def enter(self, slots: SlotNumbers, owner: int, bits: Bits | None) -> None:
        """Share bits that the party at position `owner` knows; the others pass None."""
        count = -(-slots.size // 8)
        content = None if bits is None else np.packbits(bits.ravel(), bitorder="little")
        parts = self._party.enter_bytes(owner, content, count)
        self.put(slots.ravel(), *(np.unpackbits(part, bitorder="little")[: slots.size] for part in parts))

    def run(self, on_event: Observer = ignore, phase: str = "search") -> None:
        """Evaluate all gates."""
        program, party = self._program, self._party
        ands, free = program.ands, program.free
        words = np.zeros((2, program.n_words), dtype=np.uint64)
        flips = np.array([ALL_ONES if here else 0 for here in party.places_of_zero], dtype=np.uint64)
        done = gates_done = 0
        for layer in range(program.depth + 1):
            end = int(ands.ends[layer])
            if end > done:
                message = party.zero_bytes(int(ands.count[done:end].sum())).copy()
                local_products(ands.a, ands.b, ands.count, ands.start, done, end, words, message)
                received = party.pass_on(STEP, message)
                take_products(ands.out, ands.count, ands.start, done, end, message, received, words)
                done = end
            stop = int(free.ends[layer])
            run_free(
                free.op, free.a, free.b, free.out, free.count, gates_done, stop,
                program.slot_list, self.slots, words, flips,
            )  # fmt: skip
            gates_done = stop
            if layer % 64 == 0:
                on_event(Event(phase, layer, total=program.depth))

    def open(self, slots: SlotNumbers) -> Bits:
        """Show bits to all three."""
        held = self.slots[slots.ravel()]
        parts = (np.packbits(held & 1, bitorder="little"), np.packbits(held >> 1, bitorder="little"))
        opened = np.unpackbits(self._party.open_bytes(parts), bitorder="little")
        return opened[: slots.size].reshape(slots.shape)
