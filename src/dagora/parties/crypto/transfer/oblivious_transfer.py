"""Millions of oblivious transfers from 128: the extension of Ishai, Kilian, Nissim & Petrank (CRYPTO 2003).

The sender holds a global difference Δ of 128 bits; of transfer j it has a zero label q_j, and the receiver,
whose choice is r_j, gets q_j ⊕ r_j Δ: labels of wires, for free XOR with the same Δ. In the base phase the
roles are reversed: the receiver has seed pairs (k⁰_i, k¹_i), the sender learns the one that bit i of Δ names.
Then, with G the stream of a seed and columns as bit vectors over the transfers,

    receiver  t_i = G(k⁰_i)   sends  u_i = t_i ⊕ G(k¹_i) ⊕ r        16 bytes per transfer, nothing else
    sender    q_i = G(seed_i) ⊕ Δ_i u_i                              so that row by row  q_j = t_j ⊕ r_j Δ

The sender sees r only under a stream it does not know; the receiver sees nothing at all. For random transfer
the correlation is broken by the tweakable correlation robust hash of `hashing`, with tweak j and a key of
this session that garbling does not share. The lowest bit of Δ is 1 (the permute bit of labels), which leaves
127 bits unknown. Semi-honest adversaries.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.parties.crypto.aes import expand_key
from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.hashing import hash_blocks
from dagora.parties.crypto.transfer.base_transfer import RandomBytes, receive_seeds, send_seeds
from dagora.parties.crypto.transfer.bit_matrix import (
    ColumnStreams,
    pack_bits,
    transpose,
    unpack_bits,
    words_for,
)
from dagora.parties.transport.messages import Array
from dagora.parties.transport.transport import Transport

Labels = NDArray[np.uint64]

WIDTH = 128  # base transfers: bits of security
# Transfers per message of columns (4 MB): memory is bounded on both sides.
CHUNK = 1 << 18
KEY_BYTES = 16


def random_delta(random: RandomBytes = secrets.token_bytes) -> Labels:
    """Draw a global difference: 128 bits, the lowest of them 1."""
    delta = np.frombuffer(random(16), dtype="<u8").astype(np.uint64)
    delta[0] |= np.uint64(1)
    return delta


class TransferSender:
    """The side with the labels; the peer has a `TransferReceiver` and makes the matching calls.

    `delta` is the difference of all labels of the session (drawn when not given); it must stay secret.
    """

    def __init__(
        self,
        transport: Transport,
        peer: str | None = None,
        *,
        delta: Labels | None = None,
        tag: str = "transfer",
        random: RandomBytes = secrets.token_bytes,
    ) -> None:
        self.delta = random_delta(random) if delta is None else np.array(delta, dtype=np.uint64)
        if self.delta.shape != (2,) or not self.delta[0] & np.uint64(1):
            raise ValueError("delta is two words, the lowest bit of the first set")
        self._channel = Channel.to_peer(transport, peer, tag)
        bits = unpack_bits(self.delta)
        self._streams = ColumnStreams(receive_seeds(self._channel, bits.tolist(), random=random))
        # A word of ones for the columns to which the receiver's message is added.
        self._takes = np.where(bits == 1, np.uint64(2**64 - 1), np.uint64(0))
        key = random(KEY_BYTES)
        self._channel.send("key", key=key)
        self._keys = expand_key(key)
        self._hashed = 0

    def fresh_labels(self, count: int) -> Labels:
        """Random zero labels; this side sends nothing, and the peer calls `receive_fresh_labels`."""
        result = np.empty((count, 2), dtype=np.uint64)
        for part in chunks(count):
            rows = part.stop - part.start
            columns = self._streams.take(words_for(rows))
            sent = self._channel.receive("columns", {"columns": Array("u8", columns.shape)})["columns"]
            take_columns(columns, sent, self._takes)
            result[part] = transpose(columns, rows)
        return result

    def random_transfer(self, count: int) -> NDArray[np.uint64]:
        """Pairs of random 128-bit strings, [n, 2, 2]; the peer's `random_transfer` gets one of each pair."""
        zero = self.fresh_labels(count)
        result = np.empty((count, 2, 2), dtype=np.uint64)
        result[:, 0] = hash_blocks(self._keys, zero, np.uint64(self._hashed))
        zero ^= self.delta
        result[:, 1] = hash_blocks(self._keys, zero, np.uint64(self._hashed))
        self._hashed += count
        return result


class TransferReceiver:
    """The side with the choices."""

    def __init__(
        self,
        transport: Transport,
        peer: str | None = None,
        *,
        tag: str = "transfer",
        random: RandomBytes = secrets.token_bytes,
    ) -> None:
        self._channel = Channel.to_peer(transport, peer, tag)
        pairs = send_seeds(self._channel, WIDTH, random=random)
        self._zero = ColumnStreams([zero for zero, _ in pairs])
        self._one = ColumnStreams([one for _, one in pairs])
        key = self._channel.receive("key", {"key": bytes})["key"]
        if len(key) != KEY_BYTES:
            self._channel.refuse("key", f"is not a key of {KEY_BYTES} bytes")
        self._keys = expand_key(key)
        self._hashed = 0

    def receive_fresh_labels(self, choices: NDArray[np.uint8]) -> Labels:
        """For choices in {0, 1}, the peer's fresh label or that label ⊕ delta, [n, 2]."""
        if choices.ndim != 1 or (choices.size and choices.max() > 1):
            raise ValueError("choices are a vector of bits")
        result = np.empty((len(choices), 2), dtype=np.uint64)
        for part in chunks(len(choices)):
            packed = pack_bits(choices[part])
            columns = self._zero.take(len(packed))
            masked = self._one.take(len(packed))
            masked ^= columns
            masked ^= packed
            self._channel.send("columns", columns=masked)
            result[part] = transpose(columns, part.stop - part.start)
        return result

    def random_transfer(self, choices: NDArray[np.uint8]) -> NDArray[np.uint64]:
        """The string of each of the peer's random pairs that the choice names, [n, 2]."""
        result = hash_blocks(self._keys, self.receive_fresh_labels(choices), np.uint64(self._hashed))
        self._hashed += len(choices)
        return result


@kernel
def take_columns(columns: NDArray[np.uint64], sent: NDArray[np.uint64], takes: NDArray[np.uint64]) -> None:
    """Add to each column, in place, what the receiver sent where the sender's bit is 1."""
    for i in range(columns.shape[0]):
        for k in range(columns.shape[1]):
            columns[i, k] ^= sent[i, k] & takes[i]


def chunks(count: int) -> Iterator[slice]:
    """Cut transfers into those of one message each."""
    for first in range(0, count, CHUNK):
        yield slice(first, min(first + CHUNK, count))
