"""Statistics that are kept without their rows: counts of sets of columns, and exact sums."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from dagora.base.errors import DataError, RowsUnavailableError
from dagora.base.phrases import some_of
from dagora.base.version import __version__
from dagora.base.wording import col, option
from dagora.data.columns.overview import ColumnSummary, Overview, level_list
from dagora.data.schema import Kind, Schema
from dagora.stats.capabilities import StatisticsCapabilities
from dagora.stats.indicators import IndicatorMoments
from dagora.stats.statistics import CellCounts, ColumnSets, Contingency, Moments, flatten, running_sum
from dagora.stats.stored.count_tables import CountTables
from dagora.stats.stored.exact_sums import ExactSums
from dagora.stats.stored.widened_sums import widened_moments
from dagora.stats.stored.writing_statistics import FORMAT, write_content


class StoredSource(NamedTuple):
    """A source of some of the rows: its name, and how many rows it had (fewer than 0: taken away)."""

    name: str
    rows: int


@dataclass(frozen=True, eq=False)
class StoredStatistics:
    """Counts and exact sums of rows that are not kept, to be saved, added and taken away.

    `max_parents` is the most parents of a family whose counts are kept; None where all counts are.

    >>> import dagora
    >>> table = dagora.Table.from_numpy([[0, 0], [1, 1]] * 20, names=["a", "b"], discrete=["a", "b"])
    >>> kept = dagora.statistics(table)
    >>> kept
    StoredStatistics(40 rows, 2 columns, 1 table of 2 cells)
    >>> dagora.learn(kept).graph.edges
    (('a', 'b'),)
    """

    schema: Schema
    n_rows: int
    tables: CountTables
    sums: ExactSums
    max_parents: int | None = None
    sources: tuple[StoredSource, ...] = field(default=())

    def counts(self, column_sets: ColumnSets) -> CellCounts:
        """Occupied joint counts of many sets; what was not kept is refused."""
        columns, offsets = flatten(column_sets)
        self._require_discrete(columns.tolist())
        flat, ends = columns.tolist(), offsets.tolist()
        sets = [tuple(flat[a:b]) for a, b in pairwise(ends)]
        values = [found.counts for found in self.contingencies(sets)]
        sizes = np.array([len(counts) for counts in values], dtype=np.int64)
        return CellCounts(np.concatenate([np.empty(0, dtype=np.int64), *values]), running_sum(sizes))

    def contingency(self, columns: Sequence[int]) -> Contingency:
        """Occupied cells of one set in lexicographic order, with their counts."""
        return self.contingencies([columns])[0]

    def contingencies(self, column_sets: Sequence[Sequence[int]]) -> list[Contingency]:
        """Occupied cells of many sets, with their counts."""
        sets = [tuple(map(int, columns)) for columns in column_sets]
        self._require_discrete([column for columns in sets for column in columns])
        found = []
        for columns, counted in zip(sets, self.tables.find_all(sets), strict=True):
            if counted is None:
                raise self._not_kept(columns)
            found.append(counted)
        return found

    def moments(self) -> Moments:
        """Moments of the continuous columns."""
        return self._moments

    @cached_property
    def _moments(self) -> Moments:
        numbers = [variable.name for variable in self.schema if variable.kind is Kind.CONTINUOUS]
        if not numbers:
            return Moments(self.n_rows, np.zeros(0), np.zeros((0, 0)))
        return self.sums.moments(numbers)

    def indicator_moments(self) -> IndicatorMoments:
        """Moments of the columns, the squares of the continuous ones, and indicators of levels."""
        return self._widened

    @cached_property
    def _widened(self) -> IndicatorMoments:
        return widened_moments(self.sums, self.schema)

    @property
    def capabilities(self) -> StatisticsCapabilities:
        """Counts of many sets, moments of indicators where both kinds are there, and a limit on parents."""
        return StatisticsCapabilities(
            in_memory=True,
            overview=self.overview,
            contingencies=self.contingencies,
            indicator_moments=self.indicator_moments if len(self.schema.kinds) > 1 else None,
            max_parents=self.max_parents,
        )

    @cached_property
    def overview(self) -> Overview:
        """The columns as they were understood when they were counted."""
        columns = tuple(
            ColumnSummary(each.name, str(each.kind), "as counted", level_list(each.levels), each.cardinality)
            for each in self.schema
        )
        title = some_of([source.name for source in self.sources], 3) or "statistics"
        return Overview(columns, self.n_rows, source=title)

    def rows(self) -> NoReturn:
        """Refuse rows: they are not kept."""
        raise RowsUnavailableError(
            "this needs rows, and statistics hold counts and moments only: choose a method and a score that "
            "need no more than that, such as auto, tabu or ges with bic, bdeu, bic-gaussian or bic-mixed, or "
            "give the table itself"
        )

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the statistics to a file, whose name ends in `.stats`; return its path.

        >>> import dagora, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     kept = dagora.statistics({"x": [0.1, 0.2, 0.4], "y": [1.5, 1.0, 0.5]})
        ...     file = kept.save(f"{folder}/m.stats")
        ...     dagora.learn(file, "hill-climb").graph.edges
        (('x', 'y'),)
        """
        return write_content(Path(path), self._description, self.tables, self.sums)

    @property
    def _description(self) -> dict[str, Any]:
        """The description of a file, from which its rows are understood."""
        columns = [
            {
                "name": variable.name,
                "kind": str(variable.kind),
                "levels": list(variable.levels),
                "ordered": variable.ordered,
            }
            for variable in self.schema
        ]
        return {
            "format": FORMAT,
            "dagora": __version__,
            "rows": self.n_rows,
            "columns": columns,
            "sets": [list(columns) for columns in self.tables.tables],
            "max_parents": self.max_parents,
            "features": [list(feature) for feature in self.sums.features],
            "units": list(self.sums.units),
            "sources": [list(source) for source in self.sources],
        }

    @property
    def numbers(self) -> int:
        """Numbers that a file of these statistics holds."""
        kept = sum(table.cells.size + table.counts.size for table in self.tables.tables.values())
        features = len(self.sums.features)
        return kept + features + features * (features + 1) // 2

    def describe(self) -> str:
        """A sentence on what is kept and how large it is, before it is written.

        >>> import dagora
        >>> dagora.statistics({"x": [0.1, 0.2, 0.4], "y": [1.5, 1.0, 0.5]}).describe()
        '3 rows, 2 columns, 5 sums; 5 numbers in all'
        """
        return (
            f"{self.n_rows:,} rows, {len(self.schema)} columns{self._parts}; {self.numbers:,} numbers in all"
        )

    @property
    def _parts(self) -> str:
        tables = self.tables.tables
        cells = sum(len(table.counts) for table in tables.values())
        features = len(self.sums.features)
        said = f", {len(tables):,} table{'s' * (len(tables) != 1)} of {cells:,} cells" if tables else ""
        return said + (f", {features + features * (features + 1) // 2:,} sums" if features else "")

    def __repr__(self) -> str:
        return f"StoredStatistics({self.n_rows} rows, {len(self.schema)} columns{self._parts})"

    def _require_discrete(self, columns: Sequence[int]) -> None:
        for column in set(columns):
            if self.schema[column].kind is Kind.CONTINUOUS:
                name = self.schema[column].name
                raise DataError(f"{col(name)} is continuous, so it cannot be counted: discretise it first")

    def _not_kept(self, columns: Sequence[int]) -> RowsUnavailableError:
        names = ", ".join(self.schema[column].name for column in columns)
        limit = self.max_parents
        way = f"limit parents ({option('max_parents', limit)}), or " if limit is not None else ""
        return RowsUnavailableError(
            f"the statistics do not hold the joint counts of {names}: {way}make statistics of larger sets, "
            "or of all counts"
        )
