"""Joint counts of some sets of discrete columns, from which those of their subsets follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dagora.stats.scan.kept_counts import OccupiedCells
from dagora.stats.statistics import Contingency

Set = tuple[int, ...]
# Cells that are counted in a table of all of them, in any case and for each row of the source.
SMALL_TABLE, CELLS_PER_ROW = 1 << 12, 4
# Cells are numbered in 64 bits.
MOST_CELLS = 1 << 62


@dataclass(frozen=True, eq=False)
class CountTables:
    """The occupied cells of sets of columns, whose positions ascend within a set.

    >>> cells = OccupiedCells(np.array([[0, 0], [0, 1], [1, 1]], dtype=np.uint16), np.array([5, 2, 3]))
    >>> tables = CountTables(np.array([2, 2]), {(0, 1): cells})
    >>> tables.find((1,)).counts.tolist(), tables.find((1, 0)).cells.tolist()
    ([5, 5], [[0, 0], [1, 0], [1, 1]])
    """

    cardinalities: NDArray[np.int64]
    tables: dict[Set, OccupiedCells]

    @cached_property
    def largest(self) -> int:
        """Columns of the largest set."""
        return max(map(len, self.tables), default=0)

    def source_of(self, columns: Sequence[int]) -> Set | None:
        """The set of fewest cells from which the counts of some columns follow; None where there is none."""
        wanted = set(columns)
        if tuple(sorted(wanted)) in self.tables:
            return tuple(sorted(wanted))
        return next((known for known in self._of_column(columns) if wanted <= set(known)), None)

    def _of_column(self, columns: Sequence[int]) -> Sequence[Set]:
        """The sets that have the column which is in the fewest of them, those of few cells first."""
        if not columns:
            return self._by_size
        return min((self._with_column.get(column, []) for column in columns), key=len)

    @cached_property
    def _by_size(self) -> list[Set]:
        return sorted(self.tables, key=lambda known: len(self.tables[known].counts))

    @cached_property
    def _with_column(self) -> dict[int, list[Set]]:
        found: dict[int, list[Set]] = {}
        for known in self._by_size:
            for column in known:
                found.setdefault(column, []).append(known)
        return found

    def find(self, columns: Sequence[int]) -> Contingency | None:
        """Occupied cells of columns in lexicographic order; None where no set has them all."""
        return next(self.find_all([columns]))

    def find_all(self, column_sets: Sequence[Sequence[int]]) -> Iterator[Contingency | None]:
        """The same for many; sets that begin like the one before them are cheapest."""
        numbering = CellNumbers(self)
        for columns in column_sets:
            source = self.source_of(columns)
            yield None if source is None else numbering.count(source, tuple(columns))


class CellNumbers:
    """Numbers of the cells of sets in the rows of a table; those of the last set are kept by prefix."""

    def __init__(self, tables: CountTables) -> None:
        self._tables = tables
        self._source: Set = ()
        # For each prefix of the last set: the number of each row's cell, and a bound on these numbers.
        self._prefixes: list[tuple[int, NDArray[np.int64], int]] = []

    def count(self, source: Set, columns: Set) -> Contingency:
        """Occupied cells of some columns of a source, with their counts."""
        table = self._tables.tables[source]
        rows = len(table.counts)
        if not columns:
            return Contingency(np.zeros((1, 0), dtype=np.int64), table.counts.sum(keepdims=True))
        numbers, size = self._number(source, columns)
        if size <= max(SMALL_TABLE, CELLS_PER_ROW * rows):
            example = np.full(size, -1, dtype=np.int64)
            example[numbers] = np.arange(rows)
            # Floats hold whole numbers up to 2^53 without rounding: no more rows are taken (`merging`).
            sums = np.bincount(numbers, weights=table.counts.astype(np.float64), minlength=size)
            kept = np.flatnonzero(example >= 0)
            chosen, counts = example[kept], sums[kept].astype(np.int64)
        else:
            _, chosen, place = np.unique(numbers, return_index=True, return_inverse=True)
            counts = np.bincount(place, weights=table.counts.astype(np.float64)).astype(np.int64)
        places = [source.index(column) for column in columns]
        return Contingency(table.cells[chosen][:, places].astype(np.int64), counts)

    def _number(self, source: Set, columns: Set) -> tuple[NDArray[np.int64], int]:
        """A number for each row, ascending in the lexicographic order of its cell."""
        if source != self._source:
            self._source, self._prefixes = source, []
        shared = 0
        while shared < min(len(columns), len(self._prefixes)) and (
            self._prefixes[shared][0] == columns[shared]
        ):
            shared += 1
        del self._prefixes[shared:]
        table = self._tables.tables[source]
        for column in columns[shared:]:
            cells = table.cells[:, source.index(column)].astype(np.int64)
            levels = int(self._tables.cardinalities[column])
            if not self._prefixes:
                numbers, size = cells, levels
            else:
                _, before, bound = self._prefixes[-1]
                if bound * levels >= MOST_CELLS:
                    before = np.unique(before, return_inverse=True)[1].astype(np.int64)
                    bound = int(before.max(initial=-1)) + 1
                numbers, size = before * levels + cells, bound * levels
            self._prefixes.append((column, numbers, size))
        return self._prefixes[-1][1], self._prefixes[-1][2]
