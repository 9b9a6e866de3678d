"""Make statistics of whatever a user has."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from dagora.base.errors import OptionError
from dagora.data.accepting import as_any_table, incomplete_refusal
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.designed import DesignedTable
from dagora.data.incomplete import IncompleteTable
from dagora.data.made_tables import ReadTable
from dagora.stats.designed import DesignStatistics
from dagora.stats.given_counts import read_count_tables
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.partitions.dask_frames import is_dask, open_dask
from dagora.stats.statistics import Statistics
from dagora.stats.stored.accepting_stored import are_stored, open_stored
from dagora.stats.table import TableStatistics


def as_statistics(data: object, jobs: int = 1, reading: ReadingOptions | None = None) -> Statistics:
    """Make statistics of a table or of what can be made one; statistics pass through.

    >>> as_statistics({"a": [0, 1, 1], "b": [0, 1, 0]}).n_rows
    3
    """
    if reading is not None and reading.counts is not None and is_folder(data):
        return read_count_tables(Path(str(data)), reading)
    if are_stored(data):
        data = open_stored(data)
    if is_dask(data):
        return open_dask(data, reading or ReadingOptions(), jobs)
    if hasattr(data, "schema") and any(hasattr(data, name) for name in ("counts", "contingency", "moments")):
        options = list(reading.non_defaults()) if reading else []
        if options:
            raise OptionError(f"{options[0]} is about reading a table: leave it out for statistics")
        if isinstance(data, IncompleteStatistics) and reading:
            return data.with_clock(reading.clock)
        return cast("Statistics", data)
    if reading is None or reading.why_not_model is None:
        table = as_any_table(data, reading)
        if isinstance(table, IncompleteTable):
            raise incomplete_refusal(table)
        return statistics_of(table, jobs)
    found = statistics_of(as_any_table(data, reading), jobs)
    return found.with_clock(reading.clock) if isinstance(found, IncompleteStatistics) else found


def is_folder(data: object) -> bool:
    """Return True for the name of a folder."""
    return isinstance(data, str | Path) and "\n" not in str(data) and Path(data).is_dir()


def statistics_of(table: ReadTable, jobs: int = 1) -> Statistics:
    """The statistics of a table, with missing values or without, or of one whose rows have a design."""
    if isinstance(table, DesignedTable):
        return DesignStatistics(table, jobs)
    return IncompleteStatistics(table) if isinstance(table, IncompleteTable) else TableStatistics(table, jobs)
