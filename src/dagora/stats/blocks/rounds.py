"""One round of counting: sets that are counted together, in one walk through the rows."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.stats.blocks.block_kernel import BlockRows, CountedSets, count_blocks, new_prefixes
from dagora.stats.blocks.cover import Set, cover_sets
from dagora.stats.blocks.marginals import marginal_table, occupied_counts

# Sets times rows for which a thread is worth its start.
WORTH_A_THREAD = 4_000_000


class CountingRound:
    """Sets that are counted together; rows are added in any number of pieces, and `jobs` threads count.

    `rows` is how many there will be in all, `with_bits` says which columns come with bit rows.

    >>> from dagora.stats.coded_columns import coded_columns
    >>> data = BlockRows(*coded_columns(np.array([[0, 0, 1], [1, 1, 0]], dtype=np.uint8), np.array([2, 2])))
    >>> round = CountingRound([(0, 1), (1,)], data.cardinalities, np.ones(2, dtype=bool), 3)
    >>> round.add(data)
    >>> round.occupied_counts(), round.table(0)
    ((array([2, 1, 1, 2]), array([2, 2])), array([0, 2, 1, 0]))
    """

    def __init__(
        self,
        sets: list[Set],
        cardinalities: NDArray[np.int64],
        with_bits: NDArray[np.bool_],
        rows: int,
        jobs: int = 1,
    ) -> None:
        self._rows = rows
        self._jobs = jobs
        self._cover = cover_sets(sets, cardinalities, with_bits, rows)
        # A cell holds at most all rows.
        smallest = np.uint32 if rows < 1 << 32 else np.uint64
        self._tables: NDArray[Any] = np.zeros(self._cover.room, dtype=smallest)

    @property
    def tables(self) -> NDArray[Any]:
        """All tables as one array, which can be added to that of another round over the same sets."""
        return self._tables

    def absorb(self, tables: NDArray[Any]) -> None:
        """Count rows that were counted elsewhere, in a round over the same sets."""
        self._tables += tables

    def add(self, data: BlockRows) -> None:
        """Count some rows."""
        counted = self._cover.counted
        work = len(counted.tables) * data.codes.shape[1]
        pieces = max(1, min(self._jobs, work // WORTH_A_THREAD))
        if pieces == 1:
            self._count(data, counted)
            return
        with ThreadPoolExecutor(pieces) as pool:
            list(pool.map(partial(self._count, data), self._shares(pieces)))

    def _count(self, data: BlockRows, counted: CountedSets) -> None:
        count_blocks(data, counted, new_prefixes(counted), self._tables)

    def _shares(self, pieces: int) -> list[CountedSets]:
        """The counted sets in pieces that cost about the same; each has tables of its own."""
        counted = self._cover.counted
        until = np.cumsum(self._cover.costs)
        goals = until[-1] * np.arange(1, pieces) / pieces
        cuts = [0, *np.searchsorted(until, goals).tolist(), len(until)]
        return [
            CountedSets(
                counted.columns,
                counted.offsets[a : b + 1],
                counted.tables[a:b],
                counted.twins[a:b],
                counted.by_bits[a:b],
            )
            for a, b in pairwise(cuts)
            if b > a
        ]

    def occupied_counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Occupied counts of all sets, one after the other, and how many each has."""
        return occupied_counts(self._cover, self._tables, self._rows)

    def table(self, asked: int) -> NDArray[np.int64]:
        """Counts of all cells of one set, occupied or not; the first column varies slowest."""
        return marginal_table(self._cover, self._tables, asked, self._rows)
