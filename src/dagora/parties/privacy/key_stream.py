"""Uniform random integers that follow from a key: the same key gives the same numbers, on any machine.

The stream is SHAKE-256 of the key and a block number. Without the key it cannot be told from chance.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError

# Python's integers in an array: as long as they need to be, and never rounded.
Integers = NDArray[Any]

KEY_BYTES = 32
PURPOSE = b"dagora noise 1"
BLOCK_BYTES = 1 << 16


class KeyStream:
    """Random integers from a secret key of 32 bytes.

    >>> stream = KeyStream(bytes(32))
    >>> stream.below(6, 5), KeyStream(bytes(32)).below(6, 5)
    (array([5, 5, 5, 0, 2], dtype=object), array([5, 5, 5, 0, 2], dtype=object))
    """

    def __init__(self, key: bytes) -> None:
        if not isinstance(key, bytes) or len(key) != KEY_BYTES:
            raise OptionError(f"a noise key is {KEY_BYTES} bytes: make one with secrets.token_bytes(32)")
        self._key = key
        self._blocks = 0
        self._left = b""

    def take(self, size: int) -> bytes:
        """Return the next bytes of the stream."""
        parts, have = [self._left], len(self._left)
        while have < size:
            block = hashlib.shake_256(PURPOSE + self._key + self._blocks.to_bytes(8, "big"))
            parts.append(block.digest(BLOCK_BYTES))
            self._blocks += 1
            have += BLOCK_BYTES
        taken = b"".join(parts)
        self._left = taken[size:]
        return taken[:size]

    def below(self, bound: int, count: int) -> Integers:
        """So many independent integers, uniform on 0, 1, …, bound − 1 (values that are too large go)."""
        found = np.empty(0, dtype=object)
        while len(found) < count:
            drawn = self._bits((bound - 1).bit_length(), count - len(found))
            found = np.concatenate([found, drawn[drawn < bound]])
        return found

    def _bits(self, bits: int, count: int) -> Integers:
        """So many integers of so many random bits, each from whole words of 64."""
        width = max(1, (bits + 63) // 64)
        words = np.frombuffer(self.take(8 * width * count), dtype=">u8").reshape(count, width).astype(object)
        joined = words[:, 0]
        for column in range(1, width):
            joined = (joined << 64) | words[:, column]
        return joined >> (64 * width - bits)
