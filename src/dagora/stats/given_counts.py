"""Statistics of rows of which only some joint counts are known, as contingency tables that were published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError, RowsUnavailableError
from dagora.base.files import naming
from dagora.base.phrases import some_of
from dagora.base.wording import col, option, setting
from dagora.data.columns.column_names import check_about_rows, check_known
from dagora.data.columns.counted_rows import read_counts
from dagora.data.columns.levels import sort_levels
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.readers import read_as, read_raw
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.stats.statistics import CellCounts, ColumnSets, Contingency, Moments, running_sum

# What a folder of tables may hold; other files in it are none.
TABLE_ENDINGS = (".csv", ".tsv", ".tab", ".csv.gz", ".tsv.gz", ".parquet", ".feather", ".arrow")
# The options of reading that they take: all their columns are discrete.
OF_TABLES = ("counts", "discrete", "drop", "na", "separator")


@dataclass(frozen=True, eq=False)
class CountTable:
    """A contingency table: the places of its columns, its cells as level numbers, and their counts."""

    name: str
    columns: tuple[int, ...]
    cells: NDArray[np.int64]
    counts: NDArray[np.int64]

    def over(self, columns: Sequence[int]) -> Contingency:
        """The counts of some of its columns, summed over the others."""
        places = [self.columns.index(column) for column in columns]
        seen = self.counts > 0
        if not places:
            return Contingency(np.zeros((1, 0), dtype=np.int64), np.array([int(self.counts.sum())]))
        cells, label = np.unique(self.cells[seen][:, places], axis=0, return_inverse=True)
        sums = np.zeros(len(cells), dtype=np.int64)
        np.add.at(sums, label.reshape(-1), self.counts[seen])
        return Contingency(cells, sums)


class GivenCounts:
    """Contingency tables of the same rows; a set of columns is counted by the smallest table that has it.

    >>> cells = Table.from_numpy([["no", "f"], ["yes", "f"], ["yes", "m"]], names=["ill", "sex"])
    >>> statistics = GivenCounts({"a.csv": (cells, np.array([5, 2, 3]))})
    >>> statistics.n_rows, statistics.counts([(0,), (1, 0)]).values.tolist()
    (10, [5, 5, 5, 2, 3])
    """

    def __init__(self, tables: Mapping[str, tuple[Table, NDArray[np.int64]]]) -> None:
        levels: dict[str, list[str]] = {}
        for table, _ in tables.values():
            for variable in table.schema:
                levels.setdefault(variable.name, []).extend(variable.levels)
        self.schema = Schema(
            Variable(name, Kind.DISCRETE, sort_levels(list(dict.fromkeys(own))))
            for name, own in levels.items()
        )
        self._tables = [self._table(name, *given) for name, given in tables.items()]
        self._check()
        self.n_rows = int(self._tables[0].counts.sum())
        self._tables.sort(key=lambda table: len(table.counts))
        self._known: dict[tuple[int, ...], Contingency] = {}

    def _table(self, name: str, table: Table, counts: NDArray[np.int64]) -> CountTable:
        cells = np.empty((table.n_rows, len(table.schema)), dtype=np.int64)
        places = []
        for k, variable in enumerate(table.schema):
            place = self.schema.index(variable.name)
            own = np.array([self.schema[place].levels.index(level) for level in variable.levels])
            cells[:, k] = own[table.columns[k]]
            places.append(place)
        return CountTable(name, tuple(places), cells, counts)

    def _check(self) -> None:
        """Refuse tables that are not of the same rows."""
        for one, other in combinations(self._tables, 2):
            shared = sorted(set(one.columns) & set(other.columns))
            here, there = one.over(shared), other.over(shared)
            if np.array_equal(here.cells, there.cells) and np.array_equal(here.counts, there.counts):
                continue
            if not shared or here.counts.sum() != there.counts.sum():
                said = f"count {int(here.counts.sum())} and {int(there.counts.sum())} rows"
            else:
                said = f"count {some_of([self.schema[place].name for place in shared])} differently"
            raise DataError(f"the tables {one.name} and {other.name} {said}: they must be of the same rows")

    def counts(self, column_sets: ColumnSets) -> CellCounts:
        """Occupied joint counts of many sets, each within one of the tables."""
        found = [self.contingency(tuple(int(one) for one in columns)).counts for columns in column_sets]
        sizes = np.array([len(counts) for counts in found], dtype=np.int64)
        return CellCounts(np.concatenate([np.empty(0, dtype=np.int64), *found]), running_sum(sizes))

    def contingency(self, columns: Sequence[int]) -> Contingency:
        """Occupied joint counts of one set, with their cells."""
        key = tuple(columns)
        if key not in self._known:
            self._known[key] = self._smallest(key).over(key)
        return self._known[key]

    def _smallest(self, columns: tuple[int, ...]) -> CountTable:
        for table in self._tables:
            if set(columns) <= set(table.columns):
                return table
        names = [f"'{self.schema[place].name}'" for place in sorted(columns)]
        most = len(columns) - 2
        tested = setting("max_given", most - 1)
        fewer = f"fewer parents ({option('max_parents', most)}; of tests, {tested})" if most > 0 else ""
        forbid = f"an edge between them that is forbidden ({option('knowledge')})"
        raise DataError(
            f"no table has {some_of(names, between=' and ')} together, which are to be counted: add one, or "
            f"ask for {' or '.join(filter(None, [fewer, forbid]))}"
        )

    def moments(self) -> Moments:
        """Moments of no column, as none is continuous."""
        return Moments(self.n_rows, np.zeros(0), np.zeros((0, 0)))

    def rows(self) -> NoReturn:
        """Refuse rows: there are none."""
        raise RowsUnavailableError(
            "this needs rows, and only tables of counts are given: choose a method and a score that need no "
            "more than that, such as tabu with bic, or pc"
        )


def read_count_tables(folder: Path, reading: ReadingOptions) -> GivenCounts:
    """Statistics of a folder of contingency tables, each of which counts rows in the column `counts`."""
    for name in reading.non_defaults():
        if name not in OF_TABLES:
            raise OptionError(
                f"contingency tables have no rows to read: leave {option(name)} out for a folder of them"
            )
    counts, every = str(reading.counts), set()
    files = sorted(file for file in folder.iterdir() if file.name.lower().endswith(TABLE_ENDINGS))
    if not files:
        raise DataError(f"{folder} has no table: {', '.join(TABLE_ENDINGS)} are looked for")
    tables = {}
    for file in files:
        with naming(str(file)):
            raw = read_raw(file, ReadingOptions(separator=reading.separator))
            place = check_about_rows("counts", raw.names, ReadingOptions(counts=counts))
            every.update(raw.names)
            number = read_counts(counts, raw.columns[place])
            dropped = [name for name in reading.drop if name in raw.names]
            one = ReadingOptions(
                discrete=("all",), drop=(counts, *dropped), na=reading.na, separator=reading.separator
            )
            if len(raw.names) - len(dropped) < 2:
                raise DataError(f"there is no column beside {col(counts)}: at least one is needed")
        tables[file.name] = read_as(file, one), number
    for name in reading.drop:
        check_known(name, sorted(every), "to be left out")
    return GivenCounts(tables)
