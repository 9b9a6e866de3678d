"""Tables of the data that scikit-learn hands over: arrays of numbers or data frames, at `fit` and later.

Rows given after `fit` are read with the kinds and levels that were found then, column by column in their
order. A level that was not there at `fit` counts as not seen, with a warning. Missing is NaN, None or null;
no word means missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from dagora.base.errors import DataError, announce
from dagora.data.columns.column_type import Column
from dagora.data.columns.frames import columns_of_matrix, raw_of_frame, two_columns_of_one_name
from dagora.data.columns.ingest import type_columns
from dagora.data.columns.overview import Overview
from dagora.data.columns.reading_options import ReadingOptions, always, as_names
from dagora.data.incomplete import IncompleteTable
from dagora.data.schema import Kind, Schema

LARGEST_SEED = 2**31 - 1  # the largest that NumPy's RandomState draws on every platform


def is_frame(data: object) -> bool:
    """True if data are a frame, with names and a type for each column."""
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        return isinstance(nw.from_native(data, pass_through=True, eager_only=True), nw.DataFrame)
    except DuplicateError:
        raise two_columns_of_one_name(data) from None


def check_data(estimator: Any, data: Any, *, reset: bool, rows: int = 1, columns: int = 1) -> Any:  # noqa: ANN401
    """Let scikit-learn check shape, names and cells; returns a frame as it is, all else as numbers.

    `rows` and `columns` are the fewest that will do.
    """
    if is_frame(data) and len(data) >= rows and len(data.columns) >= columns:
        return validate_data(estimator, data, reset=reset, skip_check_array=True)
    holes = estimator.__sklearn_tags__().input_tags.allow_nan
    return validate_data(
        estimator,
        data,
        reset=reset,
        ensure_all_finite="allow-nan" if holes else True,
        ensure_min_samples=rows,
        ensure_min_features=columns,
    )


def column_names(data: Any) -> tuple[str, ...]:  # noqa: ANN401
    """The names of checked data's columns in a graph."""
    if is_frame(data):
        import narwhals as nw

        return tuple(str(column.name) for column in nw.from_native(data, eager_only=True).iter_columns())
    return tuple(f"x{i}" for i in range(data.shape[1]))


def resolve_names(columns: Iterable[Any], names: Sequence[str]) -> tuple[str, ...]:
    """Columns that were given by name or by position, by name.

    >>> resolve_names([1, "x0"], ["x0", "x1"]), resolve_names("all", ["x0", "x1"])
    (('x1', 'x0'), ('all',))
    """
    if isinstance(columns, str):
        return as_names("discrete", columns)
    return as_names(
        "discrete",
        (
            names[int(column)] if isinstance(column, int | np.integer) and column < len(names) else column
            for column in columns
        ),
    )


def seed_of(random_state: Any) -> int:  # noqa: ANN401
    """A seed from what scikit-learn calls a random state: a whole number is the seed itself.

    >>> seed_of(7), 0 <= seed_of(None) < LARGEST_SEED
    (7, True)
    """
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(LARGEST_SEED))


def type_data(
    data: Any,  # noqa: ANN401
    names: Sequence[str],
    reading: ReadingOptions,
) -> tuple[tuple[Column, ...], Overview]:
    """Typed columns of checked data under given names."""
    if is_frame(data):
        raw = zip(names, raw_of_frame(data, ReadingOptions())[1], strict=True)
        kept = {name: column for name, column in raw if name not in reading.drop}
        return type_columns(list(kept), list(kept.values()), reading)
    return columns_of_matrix(data, names, reading)


def read_for_fit(
    data: Any,  # noqa: ANN401
    names: Sequence[str],
    discrete: Iterable[Any],
    continuous: Iterable[Any],
    numbers_for: str = "",
) -> IncompleteTable:
    """A table of checked data; no column is left out as an identifier, and cells may be missing."""
    reading = ReadingOptions(
        resolve_names(discrete, names),
        resolve_names(continuous, names),
        missing="model",
        na="none",
        wanted=names,
        numbers_for=numbers_for,
        why_not_model=always,
        cuts=False,
    )
    table = IncompleteTable.from_columns(*type_data(data, names, reading))
    return table.announced()


def read_as_fitted(data: Any, names: Sequence[str], schema: Schema) -> IncompleteTable:  # noqa: ANN401
    """The columns of a schema that was found at `fit`, with its kinds and levels."""
    kinds = {
        kind: [variable.name for variable in schema if variable.kind is kind]
        for kind in (Kind.DISCRETE, Kind.CONTINUOUS)
    }
    reading = ReadingOptions(
        kinds[Kind.DISCRETE],
        kinds[Kind.CONTINUOUS],
        drop=[name for name in names if name not in schema.names],
        missing="model",
        na="none",
        levels={variable.name: variable.levels for variable in schema if variable.levels},
        why_not_model=always,
    )
    columns, _ = type_data(data, names, reading)
    found = {column.variable.name: column for column in columns}
    values, seen, unknown = [], [], []
    for variable in schema:
        column = found[variable.name]
        here = np.ones(len(column.values), dtype=np.bool_) if column.missing is None else ~column.missing
        cells: NDArray[Any] = column.values
        if variable.kind is Kind.DISCRETE:
            cells, known = recode(column, variable.levels)
            if (here & ~known).any():
                unknown.append(f"'{variable.name}' ({int((here & ~known).sum())} cells)")
            here = here & known
        values.append(np.where(here, cells, cells.dtype.type(0)))
        seen.append(here)
    if unknown:
        announce([f"levels that were not there at fit count as not seen: {', '.join(unknown)}"])
    return IncompleteTable(schema, tuple(values), np.array(seen, dtype=np.bool_))


def recode(column: Column, levels: Sequence[str]) -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
    """A discrete column as codes of other levels, and whether each is one of them."""
    place = {level: code for code, level in enumerate(levels)}
    code_of = np.array([*(place.get(level, -1) for level in column.variable.levels), -1], dtype=np.int64)
    codes = code_of[column.values]
    return np.maximum(codes, 0).astype(np.uint16), codes >= 0


def varying(table: IncompleteTable) -> list[str]:
    """The columns with more than one value: from the others nothing can be learned."""
    names = []
    for name, column, seen in zip(table.names, table.columns, table.seen, strict=True):
        known = column[seen]
        if len(known) and (known != known[0]).any():
            names.append(name)
    if not names:
        raise DataError("every column has a single value, or none: nothing can be learned from them")
    return names
