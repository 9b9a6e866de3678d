"""Discrete columns as counting kernels read them: level numbers, and bits of the rows that have a level."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Kind
from dagora.data.table import Table

Codes = NDArray[np.uint8] | NDArray[np.uint16]

# Columns with more levels than this get no bit rows: a split of 7 labels by 8 levels already exceeds what
# counting by bits is worth (`counting.BIT_CELLS`).
BIT_LEVELS = 8


class CodedColumns(NamedTuple):
    """Discrete columns as the kernels read them: `codes[c, i]` is the level of column c in row i.

    Row `bit_offsets[c] + level` of `bits` has bit i set where column c has that level in row i. The last
    level has no bit row: its rows are those that no other level has. A column with too many levels, or with
    only one, has no bit rows at all; then `bit_offsets[c] == bit_offsets[c + 1]`.
    """

    codes: Codes
    cardinalities: NDArray[np.int64]
    bits: NDArray[np.uint64]
    bit_offsets: NDArray[np.int64]


def codes_of(table: Table) -> Codes:
    """Discrete columns as rows of one matrix, in the smallest type; continuous ones stay zero."""
    largest = int(table.schema.cardinalities.max(initial=0))
    smallest = np.uint8 if largest <= 256 else np.uint16
    codes: NDArray[Any] = np.zeros((len(table.schema), table.n_rows), dtype=smallest)
    for position, variable in enumerate(table.schema):
        if variable.kind is Kind.DISCRETE:
            codes[position] = table.columns[position]
    return codes


def coded_columns(
    codes: Codes, cardinalities: NDArray[np.int64], with_bits: NDArray[np.bool_] | None = None
) -> CodedColumns:
    """Columns with the bit rows of those that have few levels, or of those that are named."""
    few = few_levels(cardinalities) if with_bits is None else with_bits
    offsets = np.concatenate([[0], np.cumsum(np.where(few, cardinalities - 1, 0))])
    bits = np.zeros((offsets[-1], (codes.shape[1] + 63) // 64), dtype=np.uint64)
    set_level_bits(codes, offsets, bits)
    return CodedColumns(codes, cardinalities, bits, offsets)


def few_levels(cardinalities: NDArray[np.int64]) -> NDArray[np.bool_]:
    """A mask of the columns with so few levels that bit rows are worth making, but more than one.

    >>> few_levels(np.array([1, 2, 40]))
    array([False,  True, False])
    """
    few: NDArray[np.bool_] = (cardinalities > 1) & (cardinalities <= BIT_LEVELS)
    return few


def set_level_bits(codes: Codes, offsets: NDArray[np.int64], bits: NDArray[np.uint64]) -> None:
    """Set the bits of all levels but the last of every column that has bit rows (see `CodedColumns`)."""
    words = np.zeros(bits.shape[1] * 8, dtype=np.uint8)
    for column, first, last in zip(codes, offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        for level in range(last - first):
            packed = np.packbits(column == level, bitorder="little")
            words[: len(packed)] = packed
            bits[first + level] = words.view("<u8")
