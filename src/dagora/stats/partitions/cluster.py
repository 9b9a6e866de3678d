"""A Dask cluster that runs already: connect to it, and let its workers read files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dagora.data.columns.column_names import check_names
from dagora.data.columns.frames import one_line
from dagora.data.readers import SEPARATORS, check_separator
from dagora.errors import DataError, OptionError
from dagora.extras import DISTRIBUTED
from dagora.wording import option

# Seconds to wait for the scheduler.
PATIENCE = "10s"
PARQUET, CSV = (".parquet", ".pq"), (".csv", ".tsv")


@contextmanager
def cluster_at(address: str) -> Iterator[None]:
    """Whatever Dask computes within runs on the cluster whose scheduler has this address."""
    DISTRIBUTED.require("a Dask cluster")
    from distributed import Client

    try:
        client = Client(address, timeout=PATIENCE)
    except Exception as problem:
        raise OptionError(f"there is no Dask cluster at {address}: {one_line(problem)}") from None
    with client:
        yield


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
