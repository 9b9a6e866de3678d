"""Boolean circuits as arrays, evaluated for many instances at once; tests compare garbling with it.

Wires 0 to n_inputs − 1 are inputs and gate k writes wire n_inputs + k. A circuit is a template: large
computations run several templates for whole batches, so no list of gates grows with the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.kernels.rows import copy_row

XOR, AND, NOT = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Circuit:
    """Gates in the order in which they are computed: XOR(a, b), AND(a, b), NOT(a)."""

    n_inputs: int
    op: NDArray[np.uint8]
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    outputs: NDArray[np.int32]

    @property
    def n_and(self) -> int:
        """Number of AND gates, the only ones that cost anything when garbled."""
        return int(np.count_nonzero(self.op == AND))


def evaluate_plain(circuit: Circuit, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Output bits for input bits, one column per instance.

    >>> half_adder = Circuit(2, np.array([0, 1], "u1"), np.array([0, 0], "i4"), np.array([1, 1], "i4"),
    ...                      np.array([2, 3], "i4"))
    >>> evaluate_plain(half_adder, np.array([[0, 0, 1, 1], [0, 1, 0, 1]], dtype=np.uint8)).tolist()
    [[0, 1, 1, 0], [0, 0, 0, 1]]
    """
    if bits.shape[0] != circuit.n_inputs:
        raise ValueError(f"the circuit has {circuit.n_inputs} inputs, not {bits.shape[0]}")
    return run_gates(circuit.n_inputs, circuit.op, circuit.a, circuit.b, circuit.outputs, bits)


@kernel
def run_gates(
    n_inputs: int,
    op: NDArray[np.uint8],
    a: NDArray[np.int32],
    b: NDArray[np.int32],
    outputs: NDArray[np.int32],
    bits: NDArray[np.uint8],
) -> NDArray[np.uint8]:
    """Compute every gate for every instance."""
    instances = bits.shape[1]
    wires = np.empty((n_inputs + len(op), instances), dtype=np.uint8)
    for k in range(n_inputs):
        copy_row(bits[k], wires[k])
    for k in range(len(op)):
        for i in range(instances):
            if op[k] == XOR:
                wires[n_inputs + k, i] = wires[a[k], i] ^ wires[b[k], i]
            elif op[k] == AND:
                wires[n_inputs + k, i] = wires[a[k], i] & wires[b[k], i]
            else:
                wires[n_inputs + k, i] = wires[a[k], i] ^ np.uint8(1)
    result = np.empty((len(outputs), instances), dtype=np.uint8)
    for k in range(len(outputs)):
        copy_row(wires[outputs[k]], result[k])
    return result
