"""The counts that were asked for, summed from the tables that were counted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import borrowing
from dagora.stats.blocks.cover import Cover


def marginal_table(cover: Cover, tables: NDArray[Any], asked: int, rows: int) -> NDArray[np.int64]:
    """The table of one of the sets that were asked for, with empty cells, as one row of cells."""
    table = np.zeros(cover.sizes[asked], dtype=np.int64)
    if cover.sources[asked] < 0:
        table[0] = rows
    else:
        add_marginal(tables, cover, asked, np.empty(cover.levels.shape[1], dtype=np.int64), table)
    return table


def occupied_counts(
    cover: Cover, tables: NDArray[Any], rows: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The occupied counts of all sets that were asked for, one after the other, and how many each has.

    `rows` is the number of rows that were counted: no set has more occupied cells.
    """
    most = int(np.minimum(cover.sizes, rows).sum())
    out, numbers = np.empty(most, dtype=np.int64), np.empty(len(cover.sizes), dtype=np.int64)
    work = np.empty(int(cover.sizes.max(initial=1)), dtype=np.int64)
    digits = np.empty(cover.levels.shape[1], dtype=np.int64)
    return out[: write_counts(tables, cover, rows, digits, work, out, numbers)], numbers


@borrowing
def write_counts(
    tables: NDArray[Any],
    cover: Cover,
    rows: int,
    digits: NDArray[np.int64],
    work: NDArray[np.int64],
    out: NDArray[np.int64],
    numbers: NDArray[np.int64],
) -> int:
    """Write the occupied counts of each set; return how many there are.

    `work` has room for a table, `digits` for the levels of a cell.
    """
    sources, sizes = cover.sources, cover.sizes
    written = 0
    for asked in range(len(sources)):
        if sources[asked] < 0:
            out[written] = rows
            numbers[asked] = 1
        else:
            table = work[: sizes[asked]]
            table[:] = 0
            add_marginal(tables, cover, asked, digits, table)
            numbers[asked] = copy_occupied(table, out[written:])
        written += numbers[asked]
    return written


@borrowing
def add_marginal(
    tables: NDArray[Any], cover: Cover, asked: int, digits: NDArray[np.int64], out: NDArray[np.int64]
) -> None:
    """Add the counts of a set to `out`, from the table and its twin that it is summed from."""
    k = cover.sources[asked]
    table, twin = cover.counted.tables[k], cover.counted.twins[k]
    levels, strides = cover.levels[k], cover.strides[asked]
    add_strided(tables[table:], tables[twin:], table != twin, levels, strides, digits, out)


@borrowing
def copy_occupied(table: NDArray[np.int64], out: NDArray[np.int64]) -> int:
    """Copy the counts that are not zero; return how many there are."""
    written = 0
    for count in table:
        if count:
            out[written] = count
            written += 1
    return written


@borrowing
def add_strided(
    table: NDArray[Any],
    twin: NDArray[Any],
    has_twin: bool,
    levels: NDArray[np.int64],
    strides: NDArray[np.int64],
    digits: NDArray[np.int64],
    out: NDArray[np.int64],
) -> None:
    """Add the cells of a table to those of `out` that the strides of its columns lead to."""
    last = len(levels) - 1
    while last > 0 and levels[last] == 1:
        last -= 1
    outer = 1
    for t in range(last):
        digits[t] = 0
        outer *= levels[t]
    place, target = 0, 0
    for _ in range(outer):
        end = target
        for _ in range(levels[last]):
            out[end] += np.int64(table[place])
            if has_twin:
                out[end] += np.int64(twin[place])
            place += 1
            end += strides[last]
        t = last - 1
        while t >= 0:
            digits[t] += 1
            target += strides[t]
            if digits[t] < levels[t]:
                break
            target -= strides[t] * levels[t]
            digits[t] = 0
            t -= 1
