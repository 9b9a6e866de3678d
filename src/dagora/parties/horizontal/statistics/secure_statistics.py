"""The `Statistics` of rows that are not pooled: every count and moment is a secure sum over the sites.

Counts of a set of columns are summed over all its cells, occupied or not, so that nobody learns which cells a
site occupies. Many sets share one round. Moments are computed by `moments`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from math import prod

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import kernel
from dagora.data.schema import Kind, Schema
from dagora.data.table import Table
from dagora.errors import DataError, RowsUnavailableError
from dagora.parties.horizontal.session.federation import Federation, Question, Site
from dagora.parties.horizontal.statistics.moments import ask_moments, ask_size_and_orders
from dagora.stats.statistics import (
    CellCounts,
    ColumnSets,
    Contingency,
    Moments,
    flatten,
    running_sum,
)
from dagora.wording import option

# Most cells of one set, and of one round.
MOST_CELLS = 1 << 22


class SecureStatistics:
    """Statistics over a federation whose sites have adopted one schema."""

    def __init__(self, federation: Federation, schema: Schema) -> None:
        self.federation = federation
        self._schema = schema
        self._cardinalities = schema.cardinalities
        self._known: dict[tuple[int, ...], NDArray[np.int64]] = {}

    @property
    def schema(self) -> Schema:
        """The agreed variables."""
        return self._schema

    @property
    def n_rows(self) -> int:
        """Number of rows of all sites together."""
        return self._size_and_orders[0]

    @cached_property
    def _size_and_orders(self) -> tuple[int, NDArray[np.int64]]:
        return ask_size_and_orders(self.federation)

    def rows(self) -> Table:
        """Refuse: rows stay at their sites."""
        raise RowsUnavailableError(
            "this method needs rows, which the sites keep: choose one that works on counts or moments"
        )

    def counts(self, column_sets: ColumnSets) -> CellCounts:
        """Occupied joint counts of many sets, in as few rounds as their size allows."""
        columns, offsets = flatten(column_sets)
        keys = [tuple(columns[a:b].tolist()) for a, b in pairwise(offsets)]
        self._learn([key for key in dict.fromkeys(keys) if key not in self._known])
        found = [table[table > 0] for table in (self._known[key] for key in keys)]
        values = np.concatenate(found) if found else np.zeros(0, dtype=np.int64)
        return CellCounts(values, running_sum(np.array([len(some) for some in found], dtype=np.int64)))

    def _learn(self, keys: list[tuple[int, ...]]) -> None:
        batch: list[tuple[int, ...]] = []
        cells = 0
        for key in keys:
            size = self._cells(key)
            if batch and cells + size > MOST_CELLS:
                self._ask(batch)
                batch, cells = [], 0
            batch.append(key)
            cells += size
        if batch:
            self._ask(batch)

    def _cells(self, key: tuple[int, ...]) -> int:
        cards = [int(self._cardinalities[column]) for column in key]
        for column, card in zip(key, cards, strict=True):
            if card == 0:
                name = self._schema[column].name
                raise DataError(f"column '{name}' is continuous, so it has no counts: discretise it first")
        size = prod(cards)
        if size > MOST_CELLS:
            raise DataError(
                f"a joint table of {len(key)} columns with {size} cells is too large to sum over sites: "
                f"set {option('max_parents')}, or merge levels"
            )
        return size

    def _ask(self, batch: list[tuple[int, ...]]) -> None:
        columns, offsets = flatten(batch)
        sums = self.federation.count("cells", {"columns": columns, "offsets": offsets})
        starts = running_sum(np.array([self._cells(key) for key in batch], dtype=np.int64))
        for key, (start, stop) in zip(batch, pairwise(starts), strict=True):
            self._known[key] = sums[start:stop]

    def contingency(self, columns: Sequence[int]) -> Contingency:
        """Occupied cells of one set in lexicographic order, with their counts."""
        key = tuple(int(column) for column in columns)
        self._learn([key] if key not in self._known else [])
        table = self._known[key]
        occupied = np.flatnonzero(table)
        shape = [int(self._cardinalities[column]) for column in key]
        cells = np.stack(np.unravel_index(occupied, shape), axis=1) if key else np.zeros((1, 0))
        return Contingency(cells.astype(np.int64), table[occupied])

    def moments(self) -> Moments:
        """First and second moments of the continuous columns."""
        return self._moments

    @cached_property
    def _moments(self) -> Moments:
        n, orders = self._size_and_orders
        return ask_moments(self.federation, n, orders)


def cells(site: Site, question: Question) -> NDArray[np.int64]:
    """The site's task: joint counts of sets of columns over all their cells, set after set."""
    columns = np.asarray(question["columns"], dtype=np.int64)
    offsets = np.asarray(question["offsets"], dtype=np.int64)
    cards = site.table.schema.cardinalities
    if (cards[columns] == 0).any():
        raise DataError("a continuous column cannot be counted")
    sizes = [prod(int(card) for card in cards[columns[a:b]]) for a, b in pairwise(offsets)]
    if max(sizes, default=0) > MOST_CELLS or sum(sizes) > 2 * MOST_CELLS:
        raise DataError("the question asks for more cells than a site counts")
    codes = site.memory.get("codes")
    if codes is None or codes[0] is not site.table:
        matrix = np.zeros((len(cards), site.table.n_rows), dtype=np.uint16)
        for position, variable in enumerate(site.table.schema):
            if variable.kind is Kind.DISCRETE:
                matrix[position] = site.table.columns[position]
        codes = site.memory["codes"] = (site.table, matrix)
    starts = running_sum(np.array(sizes, dtype=np.int64))
    return count_cells(codes[1], cards, columns, offsets, starts)


@kernel
def count_cells(
    codes: NDArray[np.uint16],
    cards: NDArray[np.int64],
    columns: NDArray[np.int64],
    offsets: NDArray[np.int64],
    starts: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Count every cell of every set; the first column of a set varies slowest."""
    n = codes.shape[1]
    counts = np.zeros(starts[-1], dtype=np.int64)
    cell = np.empty(n, dtype=np.int64)
    for k in range(len(offsets) - 1):
        cell[:] = starts[k]
        stride = 1
        for a in range(offsets[k + 1] - 1, offsets[k] - 1, -1):
            column = columns[a]
            for row in range(n):
                cell[row] += stride * codes[column, row]
            stride *= cards[column]
        for row in range(n):
            counts[cell[row]] += 1
    return counts
