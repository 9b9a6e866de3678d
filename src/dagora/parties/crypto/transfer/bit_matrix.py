"""Columns of pseudorandom bits from seeds, and their transposition to rows, for the extension of transfers.

Column i is the stream of AES-128 in counter mode under seed i; bit j of it (bit j mod 64 of word j div 64)
belongs to row j. Rows come out of 64 × 64 blocks, each transposed by swapping ever smaller quarters (Warren,
Hacker's Delight, section 7-3).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel

WORD = 64  # bits
_BLOCK_BYTES = 16  # of AES
# Words of one column that are fetched together: a line of the cache.
_LINE = 8


class ColumnStreams:
    """One endless column of bits per seed, taken in pieces of any number of words.

    >>> streams = ColumnStreams([bytes(16), bytes([1]) + bytes(15)])
    >>> first, second = streams.take(2), streams.take(1)
    >>> bool((ColumnStreams([bytes(16)]).take(3)[0] == np.hstack([first[0], second[0]])).all())
    True
    """

    def __init__(self, seeds: Sequence[bytes]) -> None:
        self._ciphers = [Cipher(AES(seed), CTR(bytes(_BLOCK_BYTES))).encryptor() for seed in seeds]

    def take(self, words: int) -> NDArray[np.uint64]:
        """Return the next words of every column, one row per seed."""
        size = 8 * words
        zeros = bytes(size)
        # The cipher needs room for one block more; the next column overwrites what it may write there.
        buffer = np.empty(len(self._ciphers) * size + _BLOCK_BYTES, dtype=np.uint8)
        view = buffer.data
        for i, cipher in enumerate(self._ciphers):
            cipher.update_into(zeros, view[i * size : (i + 1) * size + _BLOCK_BYTES])
        return buffer[: len(self._ciphers) * size].view("<u8").reshape(len(self._ciphers), words)


def words_for(rows: int) -> int:
    """Words per column for this many rows."""
    return -(-rows // WORD)


def pack_bits(bits: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Write bits into words, lowest first, filled up with zeros.

    >>> pack_bits(np.array([1, 0, 1], dtype=np.uint8))
    array([5], dtype=uint64)
    """
    packed = np.zeros(8 * words_for(len(bits)), dtype=np.uint8)
    packed[: -(-len(bits) // 8)] = np.packbits(bits, bitorder="little")
    return packed.view("<u8")


def unpack_bits(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """The bits of words, lowest first.

    >>> unpack_bits(np.array([5], dtype=np.uint64))[:4].tolist()
    [1, 0, 1, 0]
    """
    return np.unpackbits(np.ascontiguousarray(words, dtype="<u8").view(np.uint8), bitorder="little")


def transpose(columns: NDArray[np.uint64], rows: int) -> NDArray[np.uint64]:
    """Rows of `columns.shape[0] / 64` words each from columns; the number of columns is a multiple of 64.

    >>> columns = np.zeros((64, 1), dtype=np.uint64)
    >>> columns[3, 0] = 1 << 5
    >>> transpose(columns, 7).ravel().tolist()
    [0, 0, 0, 0, 0, 8, 0]
    """
    if columns.shape[0] % WORD or words_for(rows) > columns.shape[1]:
        raise ValueError(f"{columns.shape} words do not hold whole blocks of {rows} rows")
    return transpose_blocks(columns, rows)


@kernel
def transpose_blocks(columns: NDArray[np.uint64], rows: int) -> NDArray[np.uint64]:
    """Transpose block by block."""
    width = columns.shape[0] // 64
    result = np.empty((rows, width), dtype=np.uint64)
    words = (rows + 63) // 64
    block = np.empty((_LINE, 64), dtype=np.uint64)
    for first in range(0, words, _LINE):
        count = min(_LINE, words - first)
        for w in range(width):
            for i in range(64):
                for k in range(count):
                    block[k, i] = columns[64 * w + i, first + k]
            for k in range(count):
                transpose_block(block[k])
                row = 64 * (first + k)
                for i in range(min(64, rows - row)):
                    result[row + i, w] = block[k, i]
    return result


@kernel
def transpose_block(block: NDArray[np.uint64]) -> None:
    """Transpose 64 × 64 bits in place: bit j of word i becomes bit i of word j."""
    half = 32
    mask = np.uint64(0x00000000FFFFFFFF)
    while half:
        shift = np.uint64(half)
        start = 0
        while start < 64:
            for i in range(start, start + half):
                swap = ((block[i] >> shift) ^ block[i + half]) & mask
                block[i + half] ^= swap
                block[i] ^= swap << shift
            start += 2 * half
        half >>= 1
        mask ^= mask << np.uint64(half)
