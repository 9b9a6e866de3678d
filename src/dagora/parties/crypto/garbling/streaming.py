"""Long arrays in messages of bounded size, above all the tables of garbled circuits.

A batch of instances runs through all gates before the next begins. Tables are sent in the order in which they
are made, and a message is sent when the next AND of the batch would not fit. Neither side holds more than one
message of tables, and the sizes depend only on the circuit and on the number of instances.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from dagora.parties.crypto.blocks import Words
from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.garbling.slots import Slots
from dagora.parties.transport.transport import Payload

MESSAGE_TABLES = 1 << 16  # 2 MB
TABLE_BYTES = 32  # two labels for each AND gate (half gates)
MESSAGE_BYTES = MESSAGE_TABLES * TABLE_BYTES


@dataclass(frozen=True, slots=True)
class Stretch:
    """Gates [first, last) for the instances [start, stop); their tables begin at `offset`."""

    start: int
    stop: int
    first: int
    last: int
    offset: int


@dataclass(frozen=True, slots=True)
class TableMessage:
    """Stretches whose tables travel together; nothing is sent when there are none."""

    stretches: tuple[Stretch, ...]
    n_tables: int


def table_messages(slots: Slots, instances: int, capacity: int = MESSAGE_TABLES) -> Iterator[TableMessage]:
    """Cut the run of a circuit into messages of at most `capacity` tables."""
    n_gates = len(slots.result)
    stretches: list[Stretch] = []
    used = 0
    for start in range(0, instances, slots.batch):
        stop = min(start + slots.batch, instances)
        size = stop - start
        first = 0
        while True:
            # The most gates whose ANDs fit, free gates after the last of them included.
            most = int(slots.ands_before[first]) + (capacity - used) // size
            last = int(np.searchsorted(slots.ands_before, most, side="right")) - 1
            stretches.append(Stretch(start, stop, first, last, used))
            used += size * int(slots.ands_before[last] - slots.ands_before[first])
            first = last
            if first == n_gates:
                break
            yield TableMessage(tuple(stretches), used)
            stretches, used = [], 0
    if stretches:
        yield TableMessage(tuple(stretches), used)


def send_bytes(channel: Channel, step: str, payload: Payload) -> None:
    """Send raw bytes, in several messages if they are long; sends nothing if they are empty."""
    view = memoryview(payload).cast("B")
    for start in range(0, len(view), MESSAGE_BYTES):
        channel.transport.send(channel.peer, f"{channel.tag}/{step}", view[start : start + MESSAGE_BYTES])


def receive_bytes(channel: Channel, step: str, size: int) -> bytes:
    """Receive what `send_bytes` sent, which must have this size."""
    parts = []
    for start in range(0, size, MESSAGE_BYTES):
        part = channel.transport.receive(channel.peer, f"{channel.tag}/{step}")
        due = min(MESSAGE_BYTES, size - start)
        if len(part) != due:
            channel.refuse(step, f"{len(part)} bytes came where {due} were expected")
        parts.append(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def send_words(channel: Channel, step: str, words: Words) -> None:
    """Send an array whose shape the peer knows."""
    if words.size:
        send_bytes(channel, step, np.ascontiguousarray(words).data)


def receive_words(channel: Channel, step: str, shape: tuple[int, ...]) -> Words:
    """Receive an array of known shape, as a copy that may be written to."""
    content = receive_bytes(channel, step, 8 * prod(shape))
    return np.frombuffer(content, dtype=np.uint64).reshape(shape).copy()
