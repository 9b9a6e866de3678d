"""Memory slots for the wires of a circuit; a slot is reused once its wire has been read for the last time.

Circuits have thousands of wires, of which few are live at a time. With few slots the labels of a whole batch
of instances stay in the CPU's cache. The slots are assigned once per circuit and kept as long as the circuit.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.parties.crypto.garbling.circuit import AND, NOT, Circuit

# Labels of all live wires of a batch: half of a common second-level cache.
CACHE_BYTES = 1 << 19
LEAST_INSTANCES = 16  # fewer: the cost of a pass over the gates is shared by too few
MOST_INSTANCES = 1024  # more: nothing is left to share, and batches wait longer


@dataclass(frozen=True, eq=False)
class Slots:
    """Slots of a circuit: `inputs` per input, `a`, `b`, `result` per gate, `outputs` per output."""

    count: int
    n_and: int
    op: NDArray[np.uint8]
    inputs: NDArray[np.int32]
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    result: NDArray[np.int32]
    outputs: NDArray[np.int32]
    # AND gates before each gate, and in all.
    ands_before: NDArray[np.int64]
    digest: bytes

    @property
    def batch(self) -> int:
        """Number of instances that are run together."""
        return min(max(CACHE_BYTES // (16 * max(self.count, 1)), LEAST_INSTANCES), MOST_INSTANCES)


_known: WeakKeyDictionary[Circuit, Slots] = WeakKeyDictionary()


def slots_of(circuit: Circuit) -> Slots:
    """Return the slots of a circuit; they are computed once.

    >>> wires = np.arange(10, dtype="i4")
    >>> chain = Circuit(1, np.full(9, 2, "u1"), wires[:9], wires[:9], wires[9:])
    >>> slots_of(chain).count
    1
    """
    slots = _known.get(circuit)
    if slots is None:
        slots = _known[circuit] = _assign(circuit)
    return slots


def _assign(circuit: Circuit) -> Slots:
    n_wires = circuit.n_inputs + len(circuit.op)
    # Copies of fixed types, so that each kernel is compiled only once.
    op, a = np.array(circuit.op, dtype=np.uint8), np.array(circuit.a, dtype=np.int32)
    b, outputs = np.array(circuit.b, dtype=np.int32), np.array(circuit.outputs, dtype=np.int32)
    _check(circuit.n_inputs, op, a, b, outputs)
    slot, count = assign_slots(circuit.n_inputs, op, a, b, outputs)
    content = hashlib.blake2b(np.array([circuit.n_inputs, len(op), len(outputs)]).tobytes(), digest_size=16)
    for array in (op, a, np.where(op == NOT, 0, b).astype(np.int32), outputs):
        content.update(array.tobytes())
    return Slots(
        count=int(count),
        n_and=circuit.n_and,
        op=op,
        inputs=slot[: circuit.n_inputs],
        a=slot[a],
        b=slot[np.where(op == NOT, a, b)],
        result=slot[circuit.n_inputs : n_wires],
        outputs=slot[outputs],
        ands_before=np.concatenate(([0], np.cumsum(op == AND))).astype(np.int64),
        digest=content.digest(),
    )


def _check(
    n_inputs: int,
    op: NDArray[np.uint8],
    a: NDArray[np.int32],
    b: NDArray[np.int32],
    outputs: NDArray[np.int32],
) -> None:
    """Refuse gates that would read outside the wires; kernels do not check."""
    own = n_inputs + np.arange(len(op))
    second = np.where(op == NOT, a, b)
    wrong = (op > NOT) | (a < 0) | (a >= own) | (second < 0) | (second >= own)
    if wrong.any():
        raise ValueError(
            f"gate {int(np.argmax(wrong))} is of an unknown kind, or reads a wire that comes after it"
        )
    if len(outputs) and not (outputs.min() >= 0 and outputs.max() < n_inputs + len(op)):
        raise ValueError("an output of the circuit is not one of its wires")


@kernel
def assign_slots(
    n_inputs: int,
    op: NDArray[np.uint8],
    a: NDArray[np.int32],
    b: NDArray[np.int32],
    outputs: NDArray[np.int32],
) -> tuple[NDArray[np.int32], int]:
    """Slot of every wire, and their number; the slot freed last is reused first, while it is cached."""
    n_gates = len(op)
    n_wires = n_inputs + n_gates
    last = np.full(n_wires, -1, dtype=np.int64)
    for k in range(n_gates):
        last[a[k]] = k
        if op[k] != NOT:
            last[b[k]] = k
    for k in range(len(outputs)):
        last[outputs[k]] = n_gates
    slot = np.empty(n_wires, dtype=np.int32)
    free = np.empty(n_wires, dtype=np.int32)
    n_free = 0
    count = 0
    for wire in range(n_inputs):
        slot[wire] = count
        count += 1
    for k in range(n_gates):
        # A gate reads before it writes, so its result may take the slot of an input that it reads last.
        if last[a[k]] == k:
            free[n_free] = slot[a[k]]
            n_free += 1
        if op[k] != NOT and b[k] != a[k] and last[b[k]] == k:
            free[n_free] = slot[b[k]]
            n_free += 1
        if n_free > 0:
            n_free -= 1
            slot[n_inputs + k] = free[n_free]
        else:
            slot[n_inputs + k] = count
            count += 1
        if last[n_inputs + k] < 0:
            free[n_free] = slot[n_inputs + k]
            n_free += 1
    return slot, count
