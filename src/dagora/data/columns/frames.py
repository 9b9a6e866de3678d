"""Tables from data frames (pandas, polars, Arrow, and whatever else narwhals knows) and from numpy matrices.

A frame's own types count: text is discrete even where it spells numbers. The index of a pandas frame is not a
column, which is told unless it only numbers the rows.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dagora.base.errors import DataError
from dagora.base.phrases import amount, some_of
from dagora.base.wording import col, option
from dagora.data.columns.column_names import kept_positions, name_text
from dagora.data.columns.column_type import Column
from dagora.data.columns.ingest import type_columns
from dagora.data.columns.mixed_types import MixedTypesError, refuse_mixed
from dagora.data.columns.names import called_unit
from dagora.data.columns.overview import Overview
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.columns.reading_warnings import units_warning

if TYPE_CHECKING:
    from collections.abc import Iterable

    import narwhals as nw
    import pyarrow as pa
    from numpy.typing import ArrayLike, NDArray


def columns_of_frame(
    frame: object, reading: ReadingOptions | None = None
) -> tuple[tuple[Column, ...], Overview]:
    """Take the columns of a frame; a lazy one is collected first.

    >>> import pandas
    >>> columns, _ = columns_of_frame(pandas.DataFrame({"smoker": [True, False], "weight": [61.5, 80.0]}))
    >>> [(column.variable.name, str(column.variable.kind), column.variable.levels) for column in columns]
    [('smoker', 'discrete', ('False', 'True')), ('weight', 'continuous', ())]
    """
    reading = reading or ReadingOptions()
    columns, overview = type_columns(*raw_of_frame(frame, reading), reading)
    return columns, tell_index(frame, overview)


def raw_of_frame(
    frame: Any,  # noqa: ANN401 (any frame at all)
    reading: ReadingOptions,
) -> tuple[list[str], list[pa.ChunkedArray]]:
    """Names and Arrow columns of a frame; those that are dropped are not even converted."""
    import narwhals as nw
    import pyarrow as pa
    from narwhals.exceptions import DuplicateError, NarwhalsError

    if isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    try:
        eager = nw.from_native(frame)
        if isinstance(eager, nw.LazyFrame):
            eager = eager.collect()
        series = list(eager.iter_columns())
    except TypeError:
        if hasattr(frame, "toarray"):
            raise DataError(
                f"a {type(frame).__name__} is sparse, and columns are needed in full: toarray() gives them"
            ) from None
        raise DataError(
            f"a {type(frame).__name__} is not a data frame: pass a pandas, polars or Arrow frame, "
            "the name of a file, or use Table.from_numpy"
        ) from None
    except DuplicateError:
        raise two_columns_of_one_name(frame) from None
    except NarwhalsError as problem:
        raise DataError(f"the frame cannot be used: {one_line(problem)}") from None
    names = [name_text(column.name) for column in series]
    kept = kept_positions(names, reading)
    columns: list[pa.ChunkedArray] = []
    mixed: list[MixedTypesError] = []
    for i in kept:
        try:
            columns.append(arrow_column(names[i], series[i]))
        except MixedTypesError as problem:
            mixed.append(problem)
    refuse_mixed(mixed)
    return [names[i] for i in kept], columns


def two_columns_of_one_name(
    frame: Any,  # noqa: ANN401 (any frame at all)
) -> DataError:
    """The error about a frame that has a name twice."""
    names = list(map(str, getattr(frame, "column_names", None) or frame.columns))
    repeated = next((f" ('{name}')" for name in names if names.count(name) > 1), "")
    return DataError(f"two columns have the same name{repeated}: rename one of them")


def tell_index(
    frame: Any,  # noqa: ANN401 (any frame at all)
    overview: Overview,
) -> Overview:
    """The overview of a frame with a sentence about an index that says more than the number of a row.

    >>> import pandas
    >>> frame = pandas.DataFrame({"dose": [1.5, 2.5, 2.0]}, pandas.Index([7, 7, 8], name="patient"))
    >>> [line[:44] for line in columns_of_frame(frame)[1].warnings]
    ["the index 'patient' of the frame is left out", "rows that share a 'patient' are not independ"]
    """
    import narwhals as nw

    native = nw.from_native(frame, pass_through=True)
    index = nw.maybe_get_index(native) if isinstance(native, nw.DataFrame | nw.LazyFrame) else None
    if index is None:
        return overview
    levels = [index.get_level_values(place) for place in range(index.nlevels)]
    named = [str(level.name) for level in levels if level.name is not None]
    counts = not named and index.nlevels == 1 and index.dtype.kind in "iu"  # as of rows that were chosen
    if counts and (index.is_unique or overview.rows < 2):
        return overview
    quoted = some_of([f"'{name}'" for name in named])
    names = f"the index {quoted}" if named else "the index"
    again = "; its values repeat, so rows that share one may not be independent" if counts else ""
    told = [f"{names} of the frame is left out: reset_index() makes columns of it{again}"]
    repeated = [str(level.name) for level in levels if level.name is not None and not level.is_unique]
    told += units_warning([name for name in repeated if len(levels) == 1 or called_unit(name)], columns=False)
    return replace(overview, warnings=(*told, *overview.warnings))


def as_plain_series(series: nw.Series[Any]) -> nw.Series[Any]:
    """Periods of pandas, such as months, as the moments at which they begin, and sparse columns in full."""
    import narwhals as nw

    kind = str(series.to_native().dtype) if series.implementation.is_pandas() else ""
    if kind.startswith("period["):
        return nw.from_native(series.to_native().dt.to_timestamp(), series_only=True)
    if kind.startswith("Sparse["):
        return nw.from_native(series.to_native().sparse.to_dense(), series_only=True)
    return series


def arrow_column(name: str, series: nw.Series[Any]) -> pa.ChunkedArray:
    """Return a column of any frame as an Arrow one."""
    import narwhals as nw
    import pyarrow as pa

    try:
        column = as_plain_series(series).to_arrow()
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as problem:
        raise MixedTypesError(name, series.to_list(), one_line(problem)) from None
    if isinstance(column, pa.ExtensionArray) or pa.types.is_fixed_size_binary(column.type):
        kind = getattr(series.to_native(), "dtype", series.dtype)
        raise DataError(
            f"{col(name)} holds values of type {kind}, neither numbers nor text: convert it, or leave it out "
            f"({option('drop', name)})"
        )
    if pa.types.is_dictionary(column.type):
        if series.implementation.is_polars() and series.dtype == nw.Categorical:
            # Polars columns share one pool of categories: those that do not occur are no declared levels.
            column = column.dictionary_decode().dictionary_encode()
        elif pa.types.is_nested(column.type.value_type) or isinstance(column.dictionary, pa.ExtensionArray):
            # pandas.cut makes intervals: their names are the levels.
            categories = [str(category) for category in series.to_native().cat.categories]
            column = pa.DictionaryArray.from_arrays(column.indices, pa.array(categories))
    return pa.chunked_array([column])


def columns_of_matrix(
    array: ArrayLike, names: Iterable[str] | None = None, reading: ReadingOptions | None = None
) -> tuple[tuple[Column, ...], Overview]:
    """Take the columns of a matrix with one row per case; they are named x0, x1, … unless `names` is given.

    A matrix of text is read like the cells of a CSV file, and one of Python objects column by column.

    >>> columns, _ = columns_of_matrix([[0, 1, 7], [1, 1, 8]], "abc", ReadingOptions(continuous="c"))
    >>> [str(column.variable.kind) for column in columns]
    ['discrete', 'discrete', 'continuous']
    """
    reading = reading or ReadingOptions()
    labels, columns, text = raw_of_matrix(array, names, reading)
    return type_columns(labels, columns, reading, text_cells=text)


def raw_of_matrix(
    array: ArrayLike, names: Iterable[str] | None, reading: ReadingOptions
) -> tuple[list[str], list[pa.ChunkedArray], bool]:
    """Names and Arrow columns of a matrix, and whether its cells are text."""
    import pyarrow as pa

    matrix = as_matrix(array)
    labels = [f"x{i}" for i in range(matrix.shape[1])] if names is None else [str(name) for name in names]
    if len(labels) != matrix.shape[1]:
        raise DataError(f"{len(labels)} names for a matrix of {matrix.shape[1]} columns")
    columns = []
    mixed: list[MixedTypesError] = []
    hidden = np.ma.getmaskarray(array).T if isinstance(array, np.ma.MaskedArray) else None
    for i, (label, values) in enumerate(zip(labels, matrix.T, strict=True)):
        try:
            column = pa.array(
                values.tolist() if matrix.dtype.kind in "OUT" else np.ascontiguousarray(values),
                from_pandas=True,
                mask=None if hidden is None else np.ascontiguousarray(hidden[i]),
            )
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as problem:
            mixed.append(MixedTypesError(label, values.tolist(), one_line(problem)))
            continue
        columns.append(pa.chunked_array([column]))
    refuse_mixed(mixed)
    kept = kept_positions(labels, reading)
    return [labels[i] for i in kept], [columns[i] for i in kept], matrix.dtype.kind in "UT"


def as_matrix(array: ArrayLike) -> NDArray[Any]:
    """Return the input as a matrix of rows and columns of a type that a table can hold."""
    try:
        matrix = np.asarray(array)
    except ValueError:
        raise DataError("the rows of the array differ in length: a matrix is needed") from None
    if matrix.ndim != 2:
        what = f"an array with {amount(matrix.ndim, 'dimension')}" if matrix.ndim else "a single value"
        raise DataError(f"a matrix of rows and columns is needed, not {what}{hint_at(array)}")
    if matrix.dtype.kind in "iuf":
        # Arrow knows neither foreign byte orders nor floats longer than 64 bits.
        wide = matrix.dtype.kind == "f" and matrix.dtype.itemsize > 8
        matrix = matrix.astype(np.float64 if wide else matrix.dtype.newbyteorder("="), copy=False)
    if matrix.dtype.kind not in "biufOUTM":
        raise DataError(f"an array of type {matrix.dtype} cannot be a table: use real numbers or text")
    return matrix


def hint_at(array: object) -> str:
    """Advice about lists that are no matrix.

    >>> hint_at(["a.csv", "b.csv"])
    ': open_rows takes several files, as a folder or a pattern such as "data/*.csv"'
    """
    first = next(iter(array), None) if isinstance(array, list | tuple) else None
    if isinstance(first, str | os.PathLike):
        return ': open_rows takes several files, as a folder or a pattern such as "data/*.csv"'
    if isinstance(first, dict) or getattr(getattr(array, "dtype", None), "names", None):
        return ": pandas.DataFrame makes a frame of it"
    return ""


def one_line(problem: Exception) -> str:
    """Return an error's text in one line."""
    return " ".join(str(problem).split())
