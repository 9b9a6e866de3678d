"""Replicated secret sharing among three parties (Araki, Furukawa, Lindell, Nof & Ohara 2016).

A secret is x = x_0 + x_1 + x_2, of which party i holds (x_i, x_{i+1}), indices modulo 3; bits are added
modulo 2, integers modulo 2^16 or 2^32. One party's two parts are independent of the secret. Sums need no
message. For a product party i computes

    z_i = x_i y_i + x_i y_{i+1} + x_{i+1} y_i + α_i,

and z_0 + z_1 + z_2 = x y. It sends z_i to party i − 1, so that all hold (z_i, z_{i+1}) again: one element per
party and product. α_0 + α_1 + α_2 = 0 hides z_i: α_i = F(k_i) − F(k_{i+1}), where F is AES-128 in counter
mode and party i drew k_i and gave it to party i − 1, which knows the key of one of the two terms only.

Two of the three together hold all parts of everything: the sharing protects against one.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from numpy.typing import NDArray

from dagora.parties.crypto.channel import Channel
from dagora.parties.transport.transport import Transport

RandomBytes = Callable[[int], bytes]
Bytes = NDArray[np.uint8]

PARTIES = 3
SEED_BYTES = 16  # 128 bits of security


class Stream:
    """The pseudorandom bytes of a seed; whoever has the seed and takes as much gets the same."""

    def __init__(self, seed: bytes) -> None:
        self._cipher = Cipher(AES(seed), CTR(bytes(16))).encryptor()

    def bytes(self, count: int) -> Bytes:
        """The next bytes."""
        return np.frombuffer(self._cipher.update(bytes(count)), dtype=np.uint8)

    def integers(
        self, shape: tuple[int, ...], dtype: np.dtype[np.unsignedinteger]
    ) -> NDArray[np.unsignedinteger]:
        """The next integers, uniform over the type."""
        content = self.bytes(int(np.prod(shape)) * dtype.itemsize)
        return content.view(dtype.newbyteorder("<")).astype(dtype).reshape(shape)


class ReplicatedParty:
    """One of the three computing parties, as they talk with each other.

    `names` are the three, in the sequence of their positions; the peers make the same calls in the same
    sequence. `terms` is the digest of the agreed terms: a peer with another one ends the run.
    """

    def __init__(
        self,
        transport: Transport,
        names: Sequence[str],
        *,
        terms: bytes = b"",
        random: RandomBytes = secrets.token_bytes,
    ) -> None:
        self.position = tuple(names).index(transport.name)
        self._previous = Channel(transport, names[(self.position - 1) % PARTIES], "replicated")
        self._next = Channel(transport, names[(self.position + 1) % PARTIES], "replicated")
        seed = random(SEED_BYTES)
        self._previous.send("seed", seed=seed, terms=terms)
        self._next.send("terms", terms=terms)
        message = self._next.receive("seed", {"seed": bytes, "terms": bytes})
        if len(message["seed"]) != SEED_BYTES:
            self._next.refuse("seed", f"it has {len(message['seed'])} bytes, not {SEED_BYTES}")
        if message["terms"] != terms:
            self._next.refuse("seed", "its terms differ from the terms here")
        if self._previous.receive("terms", {"terms": bytes})["terms"] != terms:
            self._previous.refuse("terms", "its terms differ from the terms here")
        self._own, self._other = Stream(seed), Stream(message["seed"])

    @property
    def places_of_zero(self) -> tuple[bool, bool]:
        """For each of this party's two parts, True if it is part 0, which holds public values."""
        return self.position == 0, self.position == PARTIES - 1

    def zero_bytes(self, count: int) -> Bytes:
        """This party's part of zero, modulo 2."""
        return self._own.bytes(count) ^ self._other.bytes(count)

    def zero_integers(
        self, shape: tuple[int, ...], dtype: np.dtype[np.unsignedinteger]
    ) -> NDArray[np.unsignedinteger]:
        """This party's part of zero, modulo the size of the type."""
        return self._own.integers(shape, dtype) - self._other.integers(shape, dtype)

    def pass_on(self, step: str, content: Bytes) -> Bytes:
        """Give the party before us our z_i and get z_{i+1} from the party after us; both have one size."""
        self._send(self._previous, step, content)
        return self._receive(self._next, step, len(content))

    def enter_bytes(self, owner: int, content: Bytes | None, count: int) -> tuple[Bytes, Bytes]:
        """Both parts of bytes that only the party at position `owner` knows (None at the others).

        Of party j's bytes v part j comes from the seed that it shares with party j − 1, part j + 1 is v ⊕
        part j and sent to party j + 1, and part j + 2 is 0.
        """
        none = np.zeros(count, dtype=np.uint8)
        if self.position == owner:
            if content is None or len(content) != count:
                raise ValueError(f"{count} bytes to share are missing")
            drawn = self._own.bytes(count)
            masked = content ^ drawn
            self._send(self._next, "entered", masked)
            return drawn, masked
        if self.position == (owner - 1) % PARTIES:
            return none, self._other.bytes(count)
        return self._receive(self._previous, "entered", count), none

    def open_bytes(self, parts: tuple[Bytes, Bytes]) -> Bytes:
        """Show all three the sum of the parts: each sends its first part to the one that lacks it."""
        self._send(self._next, "opened", parts[0])
        return parts[0] ^ parts[1] ^ self._receive(self._previous, "opened", len(parts[0]))

    @staticmethod
    def _send(channel: Channel, step: str, content: Bytes) -> None:
        channel.transport.send(channel.peer, f"{channel.tag}/{step}", np.ascontiguousarray(content).data)

    @staticmethod
    def _receive(channel: Channel, step: str, count: int) -> Bytes:
        content = channel.transport.receive(channel.peer, f"{channel.tag}/{step}")
        if len(content) != count:
            channel.refuse(step, f"{len(content)} bytes came where {count} were expected")
        return np.frombuffer(content, dtype=np.uint8)
