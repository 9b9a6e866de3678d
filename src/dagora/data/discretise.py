"""Turn the continuous columns of a table into discrete ones (how: `data/columns/intervals.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagora.base.errors import DataError
from dagora.base.wording import col
from dagora.data.columns.intervals import check_intervals, cut
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table, require_table

if TYPE_CHECKING:
    from collections.abc import Iterable


def discretise(
    table: Table, method: str = "mean", bins: int = 2, columns: Iterable[str] | None = None
) -> Table:
    """Cut continuous columns into intervals.

    Parameters
    ----------
    table : Table
        A table without missing values.
    method : str, default "mean"
        "mean" cuts at the mean, "width" into intervals of equal width, "quantile" into equally many rows.
    bins : int, default 2
        Number of intervals, 2 to 10000; "mean" makes 2. With many equal values, "quantile" may make fewer.
    columns : names of columns, optional
        All continuous columns by default.

    Returns
    -------
    Table
        The same rows; the levels of these columns are intervals such as "(-inf, 3]".

    Examples
    --------
    >>> table = Table.from_numpy([[0.0], [1.0], [2.0], [9.0]], names=["x"])
    >>> halves = discretise(table)
    >>> halves.schema[0].levels, halves.codes(0)
    (('(-inf, 3]', '(3, inf)'), array([0, 0, 0, 1], dtype=uint16))
    >>> discretise(table, "quantile", bins=2).codes(0)
    array([0, 0, 1, 1], dtype=uint16)
    """
    require_table(table)
    check_intervals(method, bins)
    chosen = [i for i, variable in enumerate(table.schema) if variable.kind is Kind.CONTINUOUS]
    if columns is not None:
        named = (columns,) if isinstance(columns, str) else tuple(columns)
        chosen = [table.schema.index(name) for name in named]
    variables, arrays = list(table.schema), list(table.columns)
    for i in chosen:
        name = variables[i].name
        if variables[i].kind is Kind.DISCRETE:
            raise DataError(f"{col(name)} is discrete already: leave it out of the columns to discretise")
        levels, arrays[i] = cut(arrays[i], method, bins)
        variables[i] = Variable(name, Kind.DISCRETE, levels)
    overview = table.overview and table.overview.cut([variables[i] for i in chosen], method)
    return Table(Schema(variables), tuple(arrays), overview)
