"""Tables as frames of Arrow, pandas and polars.

A discrete column becomes a categorical one with all declared levels, seen or not, in their order, and is
called ordered where that order means something (in polars, an Enum always is). A continuous one holds the
same floats; if they take few values, a frame read again takes them for codes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dagora.base.errors import DataError
from dagora.data.schema import Kind, Schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray


def arrow_table(schema: Schema, columns: Sequence[NDArray[Any]]) -> pa.Table:
    """Return an Arrow table; discrete columns are dictionaries of their levels."""
    import pyarrow as pa

    arrays = []
    for variable, column in zip(schema, columns, strict=True):
        if variable.kind is Kind.DISCRETE:
            levels = pa.array(variable.levels, pa.string())
            codes = pa.array(column.astype("int32"))
            arrays.append(pa.DictionaryArray.from_arrays(codes, levels, ordered=variable.ordered))
        else:
            arrays.append(pa.array(column))
    return pa.Table.from_arrays(arrays, names=list(schema.names))


def pandas_frame(schema: Schema, columns: Sequence[NDArray[Any]]) -> pd.DataFrame:
    """Return a pandas frame; discrete columns are categorical."""
    try:
        import pandas as pd
    except ImportError:
        raise DataError("to_pandas needs the package pandas: pip install pandas") from None
    made = {
        variable.name: pd.Categorical.from_codes(
            column.astype("int32"), categories=list(variable.levels), ordered=variable.ordered
        )
        if variable.kind is Kind.DISCRETE
        else column.copy()
        for variable, column in zip(schema, columns, strict=True)
    }
    return pd.DataFrame(made, columns=list(schema.names))


def polars_frame(schema: Schema, columns: Sequence[NDArray[Any]]) -> pl.DataFrame:
    """Return a polars frame; discrete columns are of type Enum."""
    try:
        import polars as pl
    except ImportError:
        raise DataError("to_polars needs the package polars: pip install polars") from None
    made = {
        variable.name: pl.Series(list(variable.levels), dtype=pl.Enum(variable.levels)).gather(column)
        if variable.kind is Kind.DISCRETE
        else pl.Series(column)
        for variable, column in zip(schema, columns, strict=True)
    }
    return pl.DataFrame(made)
