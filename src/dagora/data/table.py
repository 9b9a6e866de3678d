"""A table of typed columns: the rows a learner may look at.

A discrete column is an array of codes into its variable's levels, a continuous one an array of float64.
A `Table` holds no missing or infinite values and no two columns of one name. It checks this itself, so that
the code that uses it need not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dagora.base.errors import DataError, announce
from dagora.base.notebook import NotebookView
from dagora.base.wording import col
from dagora.data.columns.column_type import Column
from dagora.data.columns.frames import columns_of_frame, columns_of_matrix
from dagora.data.columns.overview import Overview
from dagora.data.columns.reading_options import READING, ReadingOptions, takes_reading
from dagora.data.columns.row_design import RowDesign
from dagora.data.exports import arrow_table, pandas_frame, polars_frame
from dagora.data.schema import MAX_LEVELS, Kind, Schema, Variable

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


IN_MEMORY = [name for name in READING if name not in ("separator", "table")]  # reading options without a file


@dataclass(frozen=True, eq=False)
class Table(NotebookView):
    """Typed columns of equal length.

    >>> table = Table.from_numpy([[0, 1.5], [1, 2.5], [1, 0.5]], names=["a", "x"], discrete=["a"])
    >>> table
    Table(3 rows, 2 columns)
    >>> table.schema[0].levels, table.codes(0)
    (('0', '1'), array([0, 1, 1], dtype=uint16))
    """

    schema: Schema
    columns: tuple[NDArray[Any], ...]
    overview: Overview | None = None
    """The reading of the table's source, where it was read from one."""

    def __post_init__(self) -> None:
        lengths = {len(column) for column in self.columns}
        if len(self.columns) != len(self.schema) or len(lengths) > 1:
            raise DataError("a table needs one array per column, all of one length")
        views = tuple(column.view() for column in self.columns)
        for variable, column in zip(self.schema, views, strict=True):
            check_column(variable, column)
            column.flags.writeable = False
        object.__setattr__(self, "columns", views)

    @classmethod
    def from_columns(cls, columns: Sequence[Column], overview: Overview | None = None) -> Table:
        """Make a table from typed columns, as readers hand them out.

        >>> column = Column(Variable("x", Kind.CONTINUOUS), np.array([0.5, 1.5]))
        >>> Table.from_columns([column])
        Table(2 rows, 1 columns)
        """
        if overview is not None and overview.design is not None:
            raise overview.design.refusal()
        schema = Schema(column.variable for column in columns)
        return cls(schema, tuple(column.values for column in columns), overview)

    @classmethod
    @takes_reading(*IN_MEMORY)
    def from_numpy(
        cls,
        array: ArrayLike,
        names: Iterable[str] | None = None,
        **reading: Any,  # noqa: ANN401
    ) -> Table:
        """Make a table from a matrix of rows; columns are named x0, x1, … and typed by the usual rule.

        The options are those of `read_table`.
        """
        return cls.of_matrix(array, names, ReadingOptions(**reading)).announced()

    @classmethod
    @takes_reading(*IN_MEMORY)
    def from_frame(
        cls,
        frame: object,
        **reading: Any,  # noqa: ANN401
    ) -> Table:
        """Make a table from any pandas, polars or Arrow frame; the options are those of `read_table`.

        >>> import pandas
        >>> frame = pandas.DataFrame({"dose": [0.5, 1.0, None], "ill": ["no", "yes", "no"]})
        >>> Table.from_frame(frame, missing="level", discretise="mean").schema[0].levels
        ('(-inf, 0.75]', '(0.75, inf)', 'missing')
        """
        return cls.of_frame(frame, ReadingOptions(**reading)).announced()

    @classmethod
    def of_matrix(cls, array: ArrayLike, names: Iterable[str] | None, reading: ReadingOptions) -> Table:
        """Make a table as `from_numpy` does, with reading options in one piece and without a warning.

        >>> Table.of_matrix([[1, 2], [2, 1]], None, ReadingOptions(continuous=["all"])).names
        ('x0', 'x1')
        """
        return cls.from_columns(*columns_of_matrix(array, names, reading))

    @classmethod
    def of_frame(cls, frame: object, reading: ReadingOptions) -> Table:
        """Make a table as `from_frame` does, with reading options in one piece and without a warning.

        >>> import pandas
        >>> Table.of_frame(pandas.DataFrame({"a": [0, 1]}), ReadingOptions()).announced()
        Table(2 rows, 1 columns)
        """
        return cls.from_columns(*columns_of_frame(frame, reading))

    def announced(self) -> Table:
        """Give the warnings about how the source was understood to the user of Python; return the table."""
        announce(() if self.overview is None else self.overview.warnings)
        return self

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0]) if self.columns else 0

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return self.schema.names

    def codes(self, column: int) -> NDArray[np.uint16]:
        """Codes of a discrete column (read-only).

        >>> Table.from_numpy([["no"], ["yes"], ["no"]]).codes(0).tolist()
        [0, 1, 0]
        """
        if self.schema[column].kind is not Kind.DISCRETE:
            raise DataError(f"{col(self.schema[column].name)} is continuous: discretise it first")
        return self.columns[column]

    def values(self, column: int) -> NDArray[np.float64]:
        """Values of a continuous column (read-only).

        >>> Table.from_numpy([[0.5], [1.5]]).values(0).tolist()
        [0.5, 1.5]
        """
        if self.schema[column].kind is not Kind.CONTINUOUS:
            raise DataError(f"{col(self.schema[column].name)} is discrete: a continuous one is needed")
        return self.columns[column]

    def select(self, names: Sequence[str]) -> Table:
        """Return the table with only these columns, in this order.

        >>> table = Table.from_numpy([[0, 0.5], [1, 1.5]], names=["a", "x"], discrete=["a"])
        >>> table.select(["x", "a"]).names
        ('x', 'a')
        """
        positions = [self.schema.index(name) for name in names]
        return Table(
            Schema(self.schema[i] for i in positions),
            tuple(self.columns[i] for i in positions),
            self.overview and self.overview.selecting(names),
        )

    def take(self, rows: ArrayLike) -> Table:
        """Return the table with only these rows (positions or a mask); the levels stay declared.

        >>> table = Table.from_numpy([["no"], ["yes"], ["no"]])
        >>> some = table.take([0, 2])
        >>> some.n_rows, some.schema[0].levels
        (2, ('no', 'yes'))
        """
        chosen = np.asarray(rows)
        if not chosen.size:
            chosen = chosen.astype(np.int64)
        try:
            return Table(self.schema, tuple(column[chosen] for column in self.columns))
        except IndexError:
            raise DataError(
                f"rows are chosen by positions from 0 to {self.n_rows - 1}, or by a mask of {self.n_rows} "
                "values of True or False"
            ) from None

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas frame; a discrete column is categorical, with its levels in order.

        >>> table = Table.from_numpy([["low", "1.5"], ["high", "0.5"]], names=["dose", "x"])
        >>> frame = table.to_pandas()
        >>> frame["dose"].tolist(), frame["x"].tolist()
        (['low', 'high'], [1.5, 0.5])
        >>> Table.from_frame(frame).equals(table)
        True
        """
        return pandas_frame(self.schema, self.columns)

    def to_polars(self) -> pl.DataFrame:
        """Return a polars frame; a discrete column is an Enum of its levels, in order.

        >>> table = Table.from_numpy([["low", "1.5"], ["high", "0.5"]], names=["dose", "x"])
        >>> table.to_polars()["dose"].to_list()
        ['low', 'high']
        """
        return polars_frame(self.schema, self.columns)

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table; a discrete column is a dictionary of its levels, in order.

        >>> Table.from_numpy([[1], [0]]).to_arrow().to_pydict()
        {'x0': ['1', '0']}
        """
        return arrow_table(self.schema, self.columns)

    def equals(self, other: Table) -> bool:
        """Return True if both tables have the same columns, levels and rows, in the same order.

        >>> table = Table.from_numpy([[0.5], [1.5]])
        >>> table.equals(table.take([0, 1])), table.equals(table.take([1, 0]))
        (True, False)
        """
        same = (np.array_equal(a, b) for a, b in zip(self.columns, other.columns, strict=False))
        return self.schema == other.schema and all(same)

    def __repr__(self) -> str:
        return f"Table({self.n_rows} rows, {len(self.schema)} columns)"


def require_table(value: object) -> Table:
    """Return a table as it is; refuse anything else with the way to get one."""
    if isinstance(value, Table):
        return value
    design = getattr(value, "design", None)
    if isinstance(design, RowDesign):
        raise design.refusal()
    raise DataError(
        f"a Table is needed, not a {type(value).__name__}: read_table, Table.from_frame and Table.from_numpy "
        "make one"
    )


def check_column(variable: Variable, column: NDArray[Any]) -> None:
    """Refuse a column that breaks the table's promises."""
    if variable.kind is Kind.DISCRETE:
        if column.dtype != np.uint16:
            raise DataError(f"codes of '{variable.name}' must be uint16, not {column.dtype}")
        if variable.cardinality > MAX_LEVELS:
            raise DataError(
                f"{col(variable.name)} has {variable.cardinality} levels (at most {MAX_LEVELS}): "
                "leave it out if it identifies rows, or declare it continuous"
            )
        if len(column) and int(column.max()) >= variable.cardinality:
            raise DataError(f"{col(variable.name)} has a code beyond its {variable.cardinality} levels")
    elif column.dtype != np.float64:
        raise DataError(f"values of '{variable.name}' must be float64, not {column.dtype}")
    elif not np.isfinite(column).all():
        raise DataError(f"{col(variable.name)} has infinite or missing values: remove or replace those rows")
