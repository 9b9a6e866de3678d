"""The `Statistics` of rows that nobody pools: every count and moment is a secure sum over the sites.

Counts of a set of columns are summed cell by cell over all its cells, occupied or not, for which cells a site
occupies is its own affair; many sets go in one round. Moments take four rounds: the number of rows with the
binary order of the largest value per column (as a histogram over the sites), the means, the variances about
them, and the cross products of standardised columns, which no sum of which can exceed the number of rows, so
that the fixed point can be fine: about 18 digits whatever the units.
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
from dagora.parties.horizontal.federation import Federation, Question, Site
from dagora.stats.statistics import (
    CellCounts,
    ColumnSets,
    Contingency,
    Moments,
    flatten,
    running_sum,
)

# Cells of one set, and of one round, that are summed at most.
MOST_CELLS = 1 << 22
# Binary orders of size are told apart in steps of 2⁸, from 2⁻¹⁰²⁴ to 2¹⁰²⁴.
ORDER_STEP, ORDERS = 8, 256


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
        """Refuse: rows stay where they are."""
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
                "set --max-parents, or merge levels"
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
        d = len(orders)
        if d == 0:
            return Moments(n, np.zeros(0), np.zeros((0, 0)))
        unit = np.ldexp(1.0, orders)
        mean = self.federation.total("sums", {"unit": unit}, largest=float(n)) * unit / n
        squares = self.federation.total("squares", {"unit": unit, "mean": mean}, largest=4.0 * n)
        spread = np.sqrt(squares / n) * unit
        spread = np.where(spread > 0, spread, 1.0)
        products = self.federation.total("products", {"mean": mean, "spread": spread}, largest=1.01 * n + 1)
        sums, upper = products[:d], products[d:]
        scatter = np.zeros((d, d))
        scatter[np.triu_indices(d)] = upper
        scatter = scatter + np.triu(scatter, 1).T - np.outer(sums, sums) / n
        return Moments(n, mean + spread * sums / n, scatter * np.outer(spread, spread))


def ask_size_and_orders(federation: Federation) -> tuple[int, NDArray[np.int64]]:
    """Number of rows of all sites, and for each continuous column a binary order that no value exceeds."""
    sums = federation.count("size-and-orders", {})
    histogram = sums[1:].reshape(-1, ORDERS)
    largest = ORDERS - 1 - np.argmax(histogram[:, ::-1] > 0, axis=1)
    return int(sums[0]), (largest + 1) * ORDER_STEP - ORDERS * ORDER_STEP // 2


def continuous_columns(table: Table) -> NDArray[np.float64]:
    """The continuous columns, one per row."""
    chosen = [
        values
        for variable, values in zip(table.schema, table.columns, strict=True)
        if variable.kind is Kind.CONTINUOUS
    ]
    return np.stack(chosen) if chosen else np.zeros((0, table.n_rows))


def size_and_orders(site: Site, question: Question) -> NDArray[np.int64]:  # noqa: ARG001
    """The site's task: its number of rows, and a 1 at the order of the largest value of each column."""
    columns = continuous_columns(site.table)
    histogram = np.zeros((len(columns), ORDERS), dtype=np.int64)
    _, exponents = np.frexp(np.abs(columns).max(axis=1, initial=0.0))
    steps = np.clip(-((-exponents) // ORDER_STEP) - 1 + ORDERS // 2, 0, ORDERS - 1)
    histogram[np.arange(len(columns)), steps] = 1
    return np.concatenate([[site.table.n_rows], histogram.ravel()])


def sums(site: Site, question: Question) -> NDArray[np.float64]:
    """The site's task: sums of its columns, in given units."""
    scaled: NDArray[np.float64] = continuous_columns(site.table) / column_vector(question, "unit")
    return np.asarray(scaled.sum(axis=1))


def squares(site: Site, question: Question) -> NDArray[np.float64]:
    """The site's task: sums of squares about given means, in given units."""
    columns = continuous_columns(site.table) - column_vector(question, "mean")
    return np.asarray(((columns / column_vector(question, "unit")) ** 2).sum(axis=1))


def products(site: Site, question: Question) -> NDArray[np.float64]:
    """The site's task: sums and cross products of its standardised columns."""
    columns = (continuous_columns(site.table) - column_vector(question, "mean")) / column_vector(
        question, "spread"
    )
    return np.concatenate([columns.sum(axis=1), (columns @ columns.T)[np.triu_indices(len(columns))]])


def column_vector(question: Question, name: str) -> NDArray[np.float64]:
    """A vector of the question, one entry per continuous column, as a column."""
    vector: NDArray[np.float64] = np.asarray(question[name], dtype=np.float64)
    return vector[:, None]


def cells(site: Site, question: Question) -> NDArray[np.int64]:
    """The site's task: joint counts of sets of columns over all their cells, set after set."""
    columns = np.asarray(question["columns"], dtype=np.int64)
    offsets = np.asarray(question["offsets"], dtype=np.int64)
    cards = site.table.schema.cardinalities
    if (cards[columns] == 0).any():
        raise DataError("a continuous column cannot be counted")
    sizes = [prod(int(card) for card in cards[columns[a:b]]) for a, b in pairwise(offsets)]
    if max(sizes, default=0) > MOST_CELLS or sum(sizes) > 2 * MOST_CELLS:
        raise DataError("more cells are asked for than a site counts")
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
