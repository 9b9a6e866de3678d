"""Rows that are made anew for every pass: lazy frames, queries to a database, and functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dagora.base.errors import DataError, OptionError
from dagora.base.wording import col, option
from dagora.data.binary_files import BATCH_ROWS
from dagora.data.columns.frames import one_line
from dagora.data.scan.changes import state_of
from dagora.data.scan.file_sources import plain_text
from dagora.data.scan.sql import as_double, as_text, quote, relation

if TYPE_CHECKING:
    import pyarrow as pa

WANTED = "it must return Arrow record batches, such as a list of them"


class LazyRows:
    """A polars lazy frame; its columns are projected before it is run."""

    text_cells = False
    title = "the lazy frame"

    def __init__(self, frame: Any) -> None:  # noqa: ANN401 (polars need not be installed)
        import polars as pl

        # Polars columns share one pool of categories: those that do not occur are no declared levels.
        self._frame = frame.with_columns(pl.col(pl.Categorical).cast(pl.String))

    def schema(self) -> pa.Schema:
        """Names and types, without running the frame."""
        try:
            return self._frame.collect_schema().to_frame().to_arrow().schema
        except Exception as problem:
            raise DataError(f"{self.title} cannot be used: {one_line(problem)}") from None

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of some columns."""
        try:
            for frame in self._frame.select(list(columns)).collect_batches(
                chunk_size=BATCH_ROWS, maintain_order=True
            ):
                yield from frame.to_arrow().to_batches()
        except (DataError, GeneratorExit):
            raise
        except Exception as problem:
            raise DataError(f"{self.title} cannot be read: {one_line(problem)}") from None

    def state(self) -> object:
        """Unknown: a frame does not say where its rows are."""
        return None


class QueriedRows:
    """The result of a query, which is run anew for every pass; columns are projected around it.

    `connection` is one of ADBC, DuckDB or any other that keeps Python's DB-API: cursors that hand out Arrow
    batches do so, of others rows are fetched. The query is asked as a table within ours, so it can only be
    one that returns rows, and to DuckDB one statement; what functions in it do is up to the connection.
    """

    text_cells = False

    def __init__(self, connection: Any, query: str, title: str, file: Path | None = None) -> None:  # noqa: ANN401
        self._connection = connection
        self._query = query.strip().rstrip(";")
        self._file = file
        self.title = title
        self._check_statement()
        self._schema: pa.Schema | None = None
        self.states_types = False

    def schema(self) -> pa.Schema:
        """Names and types, as the database says; where it does not, those of the first batch."""
        if self._schema is None:
            self._schema = self._stated_schema()
            if self._schema is not None and (known := as_known_types(self._schema)) is not None:
                self._query = f"SELECT {known} FROM {relation(self._query)}"  # noqa: S608 - quoted
                self._schema = self._stated_schema()
        if self._schema is None:
            first = next(self._run(self._query), None)
            if first is None:
                raise DataError(f"{self.title}: there are no rows: at least one is needed")
            self._schema = first.schema
        return self._schema

    def _stated_schema(self) -> pa.Schema | None:
        """The schema of a cursor that hands out Arrow batches, without any row."""
        import pyarrow as pa

        with self._answering() as cursor:
            found = arrow_batches(cursor, f"SELECT * FROM {relation(self._query)} LIMIT 0")  # noqa: S608
            self.states_types = found is not None
            return None if found is None else plain_text(pa.RecordBatch.from_pylist([], found.schema)).schema

    def _check_statement(self) -> None:
        """Refuse several statements to DuckDB, which would run them all; other drivers refuse them."""
        if not hasattr(self._connection, "extract_statements"):
            return
        with self._answering():
            number = len(self._connection.extract_statements(self._query))
        if number != 1:
            raise DataError(f"{self.title}: the query has {number} statements: give one that returns rows")

    @contextmanager
    def _answering(self) -> Iterator[Any]:
        """A cursor; errors of the database become one line of ours."""
        try:
            with closing(self._connection.cursor()) as cursor:
                yield cursor
        except (DataError, GeneratorExit):
            raise
        except Exception as problem:
            if hasattr(self._connection, "forget"):
                self._connection.forget()  # so that a retry connects anew
            raise DataError(f"{self.title}: {own_line(problem)}") from None

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of some columns."""
        names = ", ".join(map(quote, columns))
        # Names are quoted; the query is the user's own.
        for batch in self._run(f"SELECT {names} FROM {relation(self._query)}"):  # noqa: S608
            yield batch.rename_columns(list(columns))

    @property
    def query(self) -> str:
        """The query whose result has the rows."""
        return self._query

    @property
    def transaction(self) -> int:
        """The number of the transaction of the next query; 0 where the connection does not number them."""
        return int(getattr(self._connection, "transaction", 0))

    def ask(self, query: str) -> Iterator[pa.RecordBatch]:
        """The result of another query."""
        yield from self._run(query)

    def _run(self, query: str) -> Iterator[pa.RecordBatch]:
        with self._answering() as cursor:
            batches = arrow_batches(cursor, query)
            yield from map(
                plain_text, fetch_batches(cursor, query, self._schema) if batches is None else batches
            )

    def state(self) -> object:
        """A value that changes when the database's file is written to, if it has one."""
        return None if self._file is None else state_of([self._file])


def own_line(problem: Exception) -> str:
    """The database's own line, without the query around it that is ours."""
    text = one_line(problem)
    said = text.partition("ERROR: ")[2] or text
    return re.split(r" LINE \d+:", said)[0].split(" Query was:")[0]


def as_known_types(schema: pa.Schema) -> str | None:
    """Columns to select, those of the database's own types as known ones; None where there are none of these.

    Exact numbers that the driver hands out as text become floating-point numbers, the rest (uuid, jsonb)
    text, as in other databases: where it only tells rows apart, it is left out by the usual rules.
    PostgreSQL's money, which the driver hands out in hundredths, and oid, of which it takes the upper half
    for negative, are numbers too, with which its functions cannot reckon.
    """
    read = {field.name: expression for field in schema if (expression := as_known_type(field)) is not None}
    if not read:
        return None
    return ", ".join(
        f"{read[name]} AS {quote(name)}" if name in read else quote(name) for name in schema.names
    )


def as_known_type(field: pa.Field) -> str | None:
    """A column of the database's own type as a known one; None where its type is known."""
    import pyarrow as pa

    stated = (field.metadata or {}).get(b"POSTGRESQL:type", b"").decode()
    if stated == "money":
        return f"CAST(CAST({quote(field.name)} AS NUMERIC) AS DOUBLE PRECISION)"
    if stated == "oid":
        return f"CAST({quote(field.name)} AS BIGINT)"
    if not isinstance(field.type, pa.BaseExtensionType):
        return None
    is_numeric = getattr(field.type, "type_name", "") == "numeric"
    return as_double(field.name) if is_numeric else as_text(field.name)


def arrow_batches(cursor: Any, query: str) -> pa.RecordBatchReader | None:  # noqa: ANN401
    """The result of a query as Arrow batches, from cursors that hand them out: DuckDB's and those of ADBC."""
    reader: pa.RecordBatchReader | None = None
    if hasattr(cursor, "sql") and hasattr(cursor, "to_arrow_reader"):
        reader = cursor.sql(query).to_arrow_reader(BATCH_ROWS)
    elif hasattr(cursor, "fetch_record_batch"):
        cursor.execute(query)
        reader = cursor.fetch_record_batch()
    return reader


def fetch_batches(cursor: Any, query: str, schema: pa.Schema | None) -> Iterator[pa.RecordBatch]:  # noqa: ANN401
    """The rows of a cursor that hands out tuples; the first batch settles the types."""
    import pyarrow as pa

    if hasattr(cursor, "fetch_typed"):  # they are fetched in another process
        yield from cursor.fetch_typed(query, schema)
        return
    cursor.execute(query)
    names = [entry[0] for entry in cursor.description]
    kinds: list[pa.DataType | None] = [None] * len(names)
    if schema is not None:
        kinds = [schema.field(name).type if name in schema.names else None for name in names]
    while rows := cursor.fetchmany(BATCH_ROWS // 4):
        columns = []
        for place, values in enumerate(zip(*rows, strict=True)):
            try:
                column = pa.array(values, type=kinds[place])
            except (pa.ArrowException, TypeError, ValueError, OverflowError) as problem:
                raise DataError(
                    f"{col(names[place])} has values of several types: convert it in the query "
                    f"({one_line(problem)})"
                ) from None
            if not pa.types.is_null(column.type):
                kinds[place] = column.type
            columns.append(column)
        yield pa.RecordBatch.from_arrays(columns, names)


def query_of(table: str | None, query: str | None) -> str:
    """The query that was given, or one for all of a table."""
    if (table is None) == (query is None):
        raise OptionError(f"a database needs either {option('table')} or {option('query')}")
    for given, what in ((table, "table"), (query, "query")):
        if not isinstance(given, str | None):
            raise OptionError(f"{what} must be text, not {type(given).__name__}")
    if query is not None:
        return query
    parts = ".".join(map(quote, str(table).split(".")))
    return f"SELECT * FROM {parts}"  # noqa: S608 - quoted


class MadeRows:
    """Rows that a function makes: each call returns record batches, the same rows every time."""

    text_cells = False

    def __init__(self, make: Callable[[], Iterable[pa.RecordBatch]], title: str = "the function") -> None:
        self._make = make
        self.title = title
        self._schema: pa.Schema | None = None

    def schema(self) -> pa.Schema:
        """Names and types of the first batch."""
        if self._schema is None:
            first = next(self._make_batches(), None)
            if first is None:
                raise DataError(f"{self.title} returned no record batch: at least one is needed")
            self._schema = first.schema
        return self._schema

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of some columns."""
        expected = self.schema()
        for batch in self._make_batches():
            if batch.schema.names != expected.names or batch.schema.types != expected.types:
                raise DataError(f"{self.title} returned batches whose columns or types differ")
            yield batch.select(list(columns))

    def _make_batches(self) -> Iterator[pa.RecordBatch]:
        """The function's result as record batches; anything but batches, a table or one batch is refused."""
        import pyarrow as pa

        made = self._make()
        if isinstance(made, pa.RecordBatch):
            made = [made]
        elif isinstance(made, pa.Table):
            made = made.to_batches() or [pa.RecordBatch.from_pylist([], made.schema)]
        if not isinstance(made, Iterable):
            raise DataError(f"{self.title} returned {type(made).__name__}: {WANTED}")
        for batch in made:
            if not isinstance(batch, pa.RecordBatch):
                raise DataError(f"{self.title} returned something with a {type(batch).__name__}: {WANTED}")
            yield plain_text(batch)

    def state(self) -> object:
        """Unknown."""
        return None
