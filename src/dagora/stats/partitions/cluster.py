"""A Dask cluster that runs already: connect to it, and let its workers read files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dagora.data.columns.frames import one_line
from dagora.errors import DataError, OptionError
from dagora.extras import DISTRIBUTED

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


def frame_of(data: str) -> Any:  # noqa: ANN401 (Dask need not be installed)
    """Files that the workers read, as a Dask frame: a file, a folder of Parquet, or a pattern.

    The workers need the same path: a shared folder, or storage that Dask knows.
    """
    DISTRIBUTED.require("a Dask cluster")
    import dask.dataframe as dd

    kind = Path(data).suffix.lower()
    if kind not in (*PARQUET, *CSV, ""):
        raise OptionError(f"{data}: --dask reads Parquet and CSV files, not '{kind}'")
    try:
        if kind in CSV:
            return dd.read_csv(data, sep="\t" if kind == ".tsv" else ",")
        return dd.read_parquet(data)
    except Exception as problem:
        raise DataError(f"{data}: {one_line(problem)}") from None
