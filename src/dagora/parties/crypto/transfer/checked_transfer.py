"""The extension of `oblivious_transfer` with a check against a receiver that cheats.

In the extension the receiver sends columns u_i = t_i ⊕ G(k¹_i) ⊕ r, all with the same choices r. One that
takes another r for some column i would see, from what the sender does with its labels, bit i of Δ, and so
read the choices of garbled circuits. The check (Keller, Orsini & Scholl 2015, in the form in which Roy 2022
has proved it: columns are hashed, not rows): the receiver adds 128 transfers with random choices; once its
columns have arrived, the sender draws a key χ of the hash h of `column_hash`, which is linear, and

    receiver  sends  x = h(r)  and  T_i = h(t_i) for each column
    sender    goes on only if  h(q_i) = T_i ⊕ Δ_i x  for each i

The random choices hide r in x, and of T the sender can compute everything itself. A receiver whose columns
are not all of one r passes only if it guesses the bits of Δ at which they differ: c bits with probability
2^-c.

Each message of columns is checked before its labels are used, and Δ serves one session: a failed check ends
it. The base transfers are those of `endemic_transfer`, against parties that cheat too.
"""

from __future__ import annotations

import secrets

import numpy as np
from numpy.typing import NDArray

from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.transfer.base_transfer import RandomBytes
from dagora.parties.crypto.transfer.bit_matrix import ColumnStreams, pack_bits, transpose, unpack_bits
from dagora.parties.crypto.transfer.column_hash import BLOCK_BITS, BLOCK_WORDS, hash_columns, padded_words
from dagora.parties.crypto.transfer.endemic_transfer import receive_seeds, send_seeds
from dagora.parties.crypto.transfer.oblivious_transfer import (
    WIDTH,
    Labels,
    chunks,
    random_delta,
    take_columns,
)
from dagora.parties.transport.messages import Array
from dagora.parties.transport.transport import Transport

CHECK_KEY_BYTES = 16  # an element of GF(2¹²⁸)
INCONSISTENT = "its columns are not of one vector of choices: somebody cheats, or messages were damaged"


class CheckedSender:
    """The side with the labels; the peer has a `CheckedReceiver` and makes the matching calls."""

    def __init__(
        self,
        transport: Transport,
        peer: str | None = None,
        *,
        tag: str = "checked",
        random: RandomBytes = secrets.token_bytes,
    ) -> None:
        self.delta = random_delta(random)
        self._random = random
        self._channel = Channel.to_peer(transport, peer, tag)
        bits = unpack_bits(self.delta)
        self._streams = ColumnStreams(receive_seeds(self._channel, bits.tolist(), random=random))
        # A word of ones for the columns to which the receiver's message is added.
        self._takes = np.where(bits == 1, np.uint64(2**64 - 1), np.uint64(0))

    def fresh_labels(self, count: int) -> Labels:
        """Random zero labels; the peer calls `receive_fresh_labels`."""
        result = np.empty((count, 2), dtype=np.uint64)
        for part in chunks(count):
            rows = part.stop - part.start
            columns = self._streams.take(padded_words(rows))
            sent = self._channel.receive("columns", {"columns": Array("u8", columns.shape)})["columns"]
            take_columns(columns, sent, self._takes)
            self._check(columns)
            result[part] = transpose(columns, rows)
        return result

    def _check(self, columns: Labels) -> None:
        """End the run unless all columns were made from the same choices."""
        # Drawn only now: a receiver that knew the key could make columns to fit it.
        key = self._random(CHECK_KEY_BYTES)
        self._channel.send("check", key=key)
        fields = {"choices": Array("u8", (2,)), "columns": Array("u8", (WIDTH, 2))}
        hashes = self._channel.receive("hashes", fields)
        expected = hashes["columns"] ^ (hashes["choices"] & self._takes[:, None])
        if not np.array_equal(hash_columns(columns, key), expected):
            self._channel.refuse("hashes", INCONSISTENT)


class CheckedReceiver:
    """The side with the choices."""

    def __init__(
        self,
        transport: Transport,
        peer: str | None = None,
        *,
        tag: str = "checked",
        random: RandomBytes = secrets.token_bytes,
    ) -> None:
        self._channel = Channel.to_peer(transport, peer, tag)
        self._random = random
        pairs = send_seeds(self._channel, WIDTH, random=random)
        self._zero = ColumnStreams([zero for zero, _ in pairs])
        self._one = ColumnStreams([one for _, one in pairs])

    def receive_fresh_labels(self, choices: NDArray[np.uint8]) -> Labels:
        """For choices in {0, 1}, the peer's fresh label or that label ⊕ delta, [n, 2]."""
        if choices.ndim != 1 or (choices.size and choices.max() > 1):
            raise ValueError("choices are a vector of bits")
        result = np.empty((len(choices), 2), dtype=np.uint64)
        for part in chunks(len(choices)):
            packed = self._with_random_block(choices[part])
            columns = self._zero.take(len(packed))
            masked = self._one.take(len(packed))
            masked ^= columns
            masked ^= packed
            self._channel.send("columns", columns=masked)
            self._prove(packed, columns)
            result[part] = transpose(columns, part.stop - part.start)
        return result

    def _with_random_block(self, choices: NDArray[np.uint8]) -> Labels:
        """Choices in words, then a block of random ones."""
        packed = np.zeros(padded_words(len(choices)), dtype=np.uint64)
        words = pack_bits(choices)
        packed[: len(words)] = words
        packed[-BLOCK_WORDS:] = np.frombuffer(self._random(BLOCK_BITS // 8), dtype="<u8")
        return packed

    def _prove(self, packed: Labels, columns: Labels) -> None:
        """Answer the sender's check."""
        key = self._channel.receive("check", {"key": bytes})["key"]
        if len(key) != CHECK_KEY_BYTES:
            self._channel.refuse("check", f"is not a key of {CHECK_KEY_BYTES} bytes")
        self._channel.send(
            "hashes", choices=hash_columns(packed[None], key)[0], columns=hash_columns(columns, key)
        )
