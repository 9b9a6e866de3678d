"""Counts and moments that a database makes itself: no row leaves it, only groups with their counts, and sums.

Counts come from GROUP BY over few sets of columns, which contain those that were asked for (`query_plan`).
They are summed up here. Moments are sums of products of differences from the columns' means,
Σ(x − a)(y − b) − n δ ε with δ, ε the means of the differences: these are near zero, so nothing is lost where
values are large. Queries only read, and need no tables of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np

from dagora.base.errors import DataError
from dagora.base.wording import col, option
from dagora.data.columns.missing import MISSING_WORDS
from dagora.data.scan.cell_reader import ColumnReader
from dagora.data.scan.changes import changed_rows
from dagora.data.scan.sql import as_double, literal, quote, relation, trim
from dagora.stats.indicators import Scales, no_indicator_moments
from dagora.stats.scan.kept_counts import OccupiedCells
from dagora.stats.scan.query_plan import QueryPlan, plan_queries, queries_in_words
from dagora.stats.scan.sparse import sum_by_key
from dagora.stats.statistics import Moments

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from dagora.data.scan.codebook import Coding
    from dagora.data.schema import Schema
    from dagora.stats.blocks.cover import Set

# Sums of one query; PostgreSQL has at most 1664 columns in a result.
SUMS = 800
COUNT = "dagora_count"


class Database(Protocol):
    """A database with the query whose rows are counted."""

    @property
    def title(self) -> str:
        """Its name in messages."""

    @property
    def query(self) -> str:
        """The query whose result has the rows."""

    @property
    def transaction(self) -> int:
        """The number of the transaction of the next query."""

    def schema(self) -> pa.Schema:
        """Names and types of the columns."""

    def ask(self, query: str) -> Iterator[pa.RecordBatch]:
        """The result of another query."""


class QueryCounts:
    """Counts sets of columns by queries; rows with a missing value in a column of `filled` are left out."""

    def __init__(
        self,
        database: Database,
        codings: Sequence[Coding],
        rows: int,
        filled: Mapping[str, Sequence[str]] | None,
    ) -> None:
        self._database, self._codings, self._rows = database, codings, rows
        self._levels = np.array([coding.variable.cardinality for coding in codings], dtype=np.int64)
        self._where = condition(database.schema(), filled or {})
        for coding in codings:
            if coding.days or coding.numbers is not None or coding.reader is not None:
                raise DataError(
                    f"{col(coding.variable.name)} is read as numbers here, which the database does not "
                    "know of: convert it in the query"
                )
        self._widths: list[int] = []

    @property
    def title(self) -> str:
        """The name of the database in messages."""
        return self._database.title

    @property
    def transaction(self) -> int:
        """The number of the transaction of the next query."""
        return self._database.transaction

    @property
    def passes(self) -> int:
        """Queries so far; each is a pass of the database over its rows."""
        return len(self._widths)

    @property
    def effort(self) -> dict[str, float]:
        """The queries, and the most columns of one."""
        return {"queries": float(self.passes), "widest_query": float(max(self._widths, default=0))}

    @property
    def message(self) -> str:
        """The queries in words; empty where there was none yet."""
        return f"the database counted by itself: {queries_in_words(self._widths)}" if self._widths else ""

    def plan(self, sets: list[Set]) -> QueryPlan:
        """The queries that count some sets of ascending columns."""
        return plan_queries([each for each in sets if each], self._levels, self._rows)

    def count(self, sets: list[Set]) -> dict[Set, OccupiedCells]:
        """Occupied cells of sets of ascending columns."""
        plan = self.plan(sets)
        nothing = OccupiedCells(np.empty((1, 0), dtype=np.uint16), np.array([self._rows]))
        found = {each: nothing for each in sets if not each}
        for place, columns in enumerate(plan.queries):
            cells, counts = self._group_cells(columns)
            for each, source in plan.source_of.items():
                if source == place:
                    own = cells[:, [columns.index(column) for column in each]]
                    kept, sums = sum_by_key(own, counts)
                    found[each] = OccupiedCells(kept.astype(np.uint16), sums)
        return found

    def _group_cells(self, columns: Set) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The cells of one query, as codes, with their counts."""
        names = [self._codings[column].variable.name for column in columns]
        listed = ", ".join(map(quote, names))
        readers = [ColumnReader(self._codings[column]) for column in columns]
        text = f"SELECT {listed}, count(*) AS {COUNT} FROM {self._relation} GROUP BY {listed}"  # noqa: S608
        cells: list[NDArray[np.int64]] = [np.empty((0, len(columns)), dtype=np.int64)]
        counts: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
        for batch in self._ask(text, len(columns)):
            codes = [reader.read(batch.column(k)) for k, reader in enumerate(readers)]
            if any(each is None for each in codes):
                raise changed_rows(self.title, "a cell is missing that was not before")
            cells.append(np.column_stack([np.asarray(each, dtype=np.int64) for each in codes]))
            counts.append(np.asarray(batch.column(len(columns)), dtype=np.int64))
        total = np.concatenate(counts)
        if int(total.sum()) != self._rows:
            raise changed_rows(self.title, f"it has {int(total.sum())} rows now, and had {self._rows} before")
        return np.concatenate(cells), total

    def moments(self, columns: Sequence[int]) -> Moments:
        """Moments of some columns, by two queries or a few more."""
        d, n = len(columns), self._rows
        own = [self._codings[column] for column in columns]
        values = [as_double(coding.variable.name, text=coding.text) for coding in own]
        shift = self._sums([f"avg({value})" for value in values])
        shifted = [f"({value} - ({at!r}))" for value, at in zip(values, shift.tolist(), strict=True)]
        pairs = list(combinations_with_replacement(range(d), 2))
        sums = self._sums(
            [*(f"sum({each})" for each in shifted), *(f"sum({shifted[i]} * {shifted[j]})" for i, j in pairs)]
        )
        rest = sums[:d] / n
        scatter = np.empty((d, d))
        for (i, j), total in zip(pairs, sums[d:].tolist(), strict=True):
            scatter[i, j] = scatter[j, i] = total - n * rest[i] * rest[j]
        return Moments(n, shift + rest, scatter)

    def feature_moments(self, schema: Schema, scales: Scales) -> NoReturn:  # noqa: ARG002 - a Counter has it
        """Refuse columns of both kinds together."""
        raise no_indicator_moments(option("push_down"))

    def _sums(self, terms: Sequence[str]) -> NDArray[np.float64]:
        """The values of some aggregates over all rows."""
        found: list[float] = []
        for start in range(0, len(terms), SUMS):
            some = terms[start : start + SUMS]
            listed = ", ".join(f"{term} AS s{k}" for k, term in enumerate(some))
            text = f"SELECT count(*) AS {COUNT}, {listed} FROM {self._relation}"  # noqa: S608
            (row,) = (row for batch in self._ask(text, 0) for row in batch.to_pylist())
            if row[COUNT] != self._rows:
                raise changed_rows(self.title, f"it has {row[COUNT]} rows now, and had {self._rows} before")
            found += [float(row[f"s{k}"]) for k in range(len(some))]
        return np.array(found)

    @property
    def _relation(self) -> str:
        return relation(self._database.query, self._where)

    def _ask(self, text: str, width: int) -> Iterator[pa.RecordBatch]:
        self._widths.append(width)
        yield from self._database.ask(text)


def condition(schema: pa.Schema, filled: Mapping[str, Iterable[str]]) -> str:
    """The condition that no cell of some columns is missing; empty where there are no such columns."""
    parts = [present(name, schema.field(name).type, words) for name, words in filled.items()]
    return f" WHERE {' AND '.join(parts)}" if parts else ""


def present(name: str, kind: Any, words: Iterable[str]) -> str:  # noqa: ANN401 - an Arrow type
    """The condition that a cell is not missing."""
    import pyarrow as pa

    from dagora.data.columns.cells import is_text
    from dagora.data.columns.levels import IS_NUMBER

    column = quote(name)
    tests = [f"{column} IS NOT NULL"]
    if is_text(kind) or pa.types.is_dictionary(kind):  # an ENUM of PostgreSQL comes as text, too
        listed = ", ".join(map(literal, (*MISSING_WORDS, *words)))
        tests.append(f"{trim(name)} NOT IN ({listed})")
    if pa.types.is_floating(kind):
        tests.append(f"{column} <> CAST('NaN' AS DOUBLE PRECISION)")
    if pa.types.is_floating(kind) or pa.types.is_integer(kind):
        tests += [f"{column} <> {float(word)!r}" for word in words if IS_NUMBER.fullmatch(word)]
    return " AND ".join(tests)
