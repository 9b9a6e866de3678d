"""Plans of two-party computations: circuits run one after the other, each for a batch, on numbered slots.

A slot holds one secret bit: as a label when the plan is garbled or evaluated, in the clear in the tests,
which compare with a plain run. A plan depends on public numbers only, and so do the sizes of all messages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.parties.crypto.garbling.circuit import Circuit

SlotNumbers = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class CircuitStage:
    """One circuit for a batch: `inputs[wire, instance]` and `outputs[wire, instance]` are slots."""

    circuit: Circuit
    inputs: SlotNumbers
    outputs: SlotNumbers

    @property
    def n_and(self) -> int:
        """AND gates of the whole batch."""
        return self.circuit.n_and * int(self.inputs.shape[1])


class Planner:
    """Allocates slots and collects the stages."""

    def __init__(self) -> None:
        self.n_slots = 0
        self.stages: list[CircuitStage] = []

    def reserve(self, *shape: int) -> SlotNumbers:
        """Allocate fresh slots."""
        count = int(np.prod(shape))
        slots = np.arange(self.n_slots, self.n_slots + count, dtype=np.int32).reshape(shape)
        self.n_slots += count
        return slots

    def run(self, circuit: Circuit, inputs: NDArray[np.integer]) -> SlotNumbers:
        """Plan a circuit on slots[wire, instance]; return the slots of its outputs in the same layout."""
        if inputs.shape[0] != circuit.n_inputs:
            raise ValueError(f"the circuit has {circuit.n_inputs} inputs, not {inputs.shape[0]}")
        outputs = self.reserve(len(circuit.outputs), inputs.shape[1])
        if inputs.shape[1] > 0:
            self.stages.append(CircuitStage(circuit, np.ascontiguousarray(inputs, dtype=np.int32), outputs))
        return outputs


def count_ands(stages: Iterable[CircuitStage]) -> int:
    """AND gates of some stages."""
    return sum(stage.n_and for stage in stages)
