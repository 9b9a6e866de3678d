"""Kernels on bit rows: membership, subsets, the first subset in a list."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import borrowing

ONE = np.uint64(1)


@borrowing
def is_subset(mask: NDArray[np.uint64], allowed: NDArray[np.uint64]) -> bool:
    """Return True if every bit of `mask` is set in `allowed`."""
    for w in range(len(mask)):  # noqa: SIM110 - a kernel
        if mask[w] & ~allowed[w]:
            return False
    return True


@borrowing
def has_bit(mask: NDArray[np.uint64], bit: int) -> bool:
    """Return True if one bit is set."""
    return bool((mask[bit >> 6] >> np.uint64(bit & 63)) & ONE != 0)


@borrowing
def flip_bit(mask: NDArray[np.uint64], bit: int) -> None:
    """Set a bit that is clear, or clear one that is set."""
    mask[bit >> 6] ^= ONE << np.uint64(bit & 63)


@borrowing
def first_subset(masks: NDArray[np.uint64], start: int, stop: int, allowed: NDArray[np.uint64]) -> int:
    """First row from `start` to `stop` - 1 that is a subset of `allowed`; `stop` where none is."""
    if masks.shape[1] == 1:  # up to 64 columns: no loop over words
        forbidden = ~allowed[0]
        for row in range(start, stop):
            if not masks[row, 0] & forbidden:
                return row
        return stop
    for row in range(start, stop):
        if is_subset(masks[row], allowed):
            return row
    return stop
