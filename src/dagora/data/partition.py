"""Split the rows of a table among parties; every party has all the columns.

The parts keep all declared levels, even those that none of their rows has, so that the parties' codes agree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from dagora.base.errors import DataError, OptionError
from dagora.base.wording import option
from dagora.data.series import series_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dagora.data.designed import DesignedTable
    from dagora.data.made_tables import ReadTable
    from dagora.data.series import Timing
    from dagora.data.table import Table

Rows = TypeVar("Rows", "Table", "DesignedTable", "ReadTable")


def split_rows(
    table: Rows, parties: int, *, seed: int | None = None, sizes: Sequence[float] | None = None
) -> list[Rows]:
    """Split the rows into nearly equal parts, or into parts of given sizes (whole numbers) or proportions.

    With a seed the rows are shuffled first; without one they are dealt out in their order.

    >>> from dagora.data.table import Table
    >>> table = Table.from_numpy([[i / 2] for i in range(10)])
    >>> [part.n_rows for part in split_rows(table, 3)]
    [4, 3, 3]
    >>> [part.n_rows for part in split_rows(table, 2, seed=0, sizes=[0.8, 0.2])]
    [8, 2]
    """
    if parties < 1:
        raise OptionError(f"the number of parties must be at least 1, not {parties}")
    if parties > table.n_rows:
        raise DataError(f"{table.n_rows} rows cannot be split among {parties} parties: each needs a row")
    if sizes is not None and len(sizes) != parties:
        raise OptionError(f"{len(sizes)} sizes for {parties} parties: give one for each")
    counts = part_sizes(table.n_rows, [1 / parties] * parties if sizes is None else sizes)
    order = np.arange(table.n_rows) if seed is None else np.random.default_rng(seed).permutation(table.n_rows)
    return [table.take(rows) for rows in np.split(order, np.cumsum(counts)[:-1])]


def split_series(table: Table, timing: Timing, parties: int, *, seed: int | None = None) -> list[Table]:
    """Deal the series of a table out to parties, nearly equally many to each, and every one whole.

    With a seed the series are shuffled first.

    >>> from dagora.data.series import Timing
    >>> from dagora.data.table import Table
    >>> table = Table.from_numpy([[k // 2, k % 2, k / 2] for k in range(6)], ["id", "t", "x"])
    >>> [part.n_rows for part in split_series(table, Timing("t", "id"), 2)]
    [4, 2]
    """
    codes, labels = series_column(table, timing.series, timing.time)
    if parties > len(labels):
        found = "one series" if len(labels) == 1 else f"{len(labels)} series"
        hint = f": {option('series')} says which series a row belongs to" if timing.series is None else ""
        raise DataError(f"{found} cannot be split among {parties} sites, each needs a whole one{hint}")
    order = np.arange(len(labels)) if seed is None else np.random.default_rng(seed).permutation(len(labels))
    return [table.take(np.flatnonzero(np.isin(codes, some))) for some in np.array_split(order, parties)]


def part_sizes(rows: int, sizes: Sequence[float]) -> list[int]:
    """Return how many rows each part gets: sizes that sum to `rows`, or proportions that sum to 1.

    >>> part_sizes(10, [0.5, 0.25, 0.25]), part_sizes(10, [7, 3])
    ([5, 3, 2], [7, 3])
    """
    wanted = np.asarray(sizes, dtype=np.float64)
    if wanted.ndim != 1 or not wanted.size or not np.isfinite(wanted).all() or (wanted <= 0).any():
        raise OptionError("the sizes of the parts must be positive numbers, one for each party")
    if np.isclose(wanted.sum(), 1) and rows > 1:
        # Largest remainders: round down, then give the remaining rows to the parts that lost most.
        shares = wanted / wanted.sum() * rows
        counts = np.floor(shares + 1e-9).astype(np.int64)
        counts[np.argsort(counts - shares, kind="stable")[: rows - counts.sum()]] += 1
        if (counts == 0).any():
            raise DataError(f"the proportions leave a party without rows: there are only {rows}")
        return [int(count) for count in counts]
    if (wanted != np.floor(wanted)).any() or wanted.sum() != rows:
        raise OptionError(f"the sizes must sum to the {rows} rows, or be proportions that sum to 1")
    return [int(count) for count in wanted]
