"""The option `--dask`, and rows that the workers of a Dask cluster read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from dagora.cli.live_line import live_line

if TYPE_CHECKING:
    from dagora.cli.data_options import Reading
    from dagora.cli.gathering import Decorator
    from dagora.stats.scan.scan_statistics import ScanStatistics

AT_ADDRESS = "on the Dask cluster at this address, such as tcp://127.0.0.1:8786"
READING_THERE = (
    "its workers read DATA (Parquet or CSV: a file, folder or pattern), and only counts and moments come "
    "here."
)


def dask_option(doing: str, more: str = "") -> Decorator:
    """The option, for a command that does something on a cluster."""
    return click.option("--dask", metavar="ADDRESS", help=f"{doing} {AT_ADDRESS}{more}")


def check_reading_there(reading: Reading, others: Mapping[str, object]) -> None:
    """Refuse options that workers who read the rows do not know; `others` are those of the command."""
    from dagora.base.errors import OptionError

    given = {
        **others,
        "--sample": reading.sample,
        "--scan": reading.scan or None,
        "--push-down": reading.push_down or None,
        "--table": reading.from_table,
        "--query": reading.query,
    }
    for flag, value in given.items():
        if value is not None:
            raise OptionError(f"{flag} does not go with --dask: leave one of them out")


def rows_there(reading: Reading, data: str, jobs: int) -> ScanStatistics:
    """Statistics of rows that the workers of the connected cluster read and keep."""
    from dagora.data.columns.reading_options import always
    from dagora.stats.partitions.dask_frames import open_dask, open_worker_files

    live_line().phase(f"reading {data}")
    frame, text_cells = open_worker_files(data, reading.given["separator"])
    return open_dask(frame, reading.options(why_not_model=always), jobs, text_cells=text_cells)
