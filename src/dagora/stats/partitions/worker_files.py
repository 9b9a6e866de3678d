"""Files that the workers of a Dask cluster read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dagora.base.errors import DataError, OptionError
from dagora.base.extras import DISTRIBUTED
from dagora.base.wording import option
from dagora.data.columns.column_names import check_names
from dagora.data.columns.frames import one_line
from dagora.data.readers import SEPARATORS, check_separator

PARQUET, CSV = (".parquet", ".pq"), (".csv", ".tsv")


def frame_of(data: str, separator: str | None = None) -> tuple[Any, bool]:
    """Files that the workers read, as a Dask frame, and whether its text may stand for numbers.

    They are a file, a folder of Parquet, or a pattern; the workers need the same path: a shared folder, or
    storage that Dask knows. All cells of CSV are read as text, so that our rules say what they mean.
    """
    DISTRIBUTED.require("a Dask cluster")
    import dask.dataframe as dd

    kind = Path(data).suffix.lower()
    mark = check_separator(separator)
    if kind not in (*PARQUET, *CSV, ""):
        raise OptionError(f"{data}: a Dask cluster reads Parquet and CSV files, not '{kind}'")
    if mark is not None and kind not in CSV:
        raise OptionError(f"{data}: {option('separator')} is for CSV files: leave it out")
    try:
        if kind not in CSV:
            return dd.read_parquet(data), False
        frame = dd.read_csv(data, sep=mark or SEPARATORS[kind], dtype=str, keep_default_na=False)
    except Exception as problem:
        raise DataError(f"{data}: {one_line(problem)}") from None
    if frame._meta.index.dtype != "int64":  # noqa: SLF001 - pandas takes cells beyond the header for names of rows
        raise DataError(f"{data}: its rows have more cells than its header has names")
    frame.columns = check_names(list(frame.columns))
    return frame, True
