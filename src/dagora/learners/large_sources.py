"""Scan the rows of a file without being asked, where it is large and the method can do without rows.

The one place that decides it, for Python and the command.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dagora.base.errors import DagoraError, announce
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.large_files import LargeFile, large_file
from dagora.data.scan.file_sources import open_files
from dagora.data.schema import Kind
from dagora.learners.checks import needing_rows
from dagora.learners.method import Method
from dagora.stats.data_warnings import check_learnable
from dagora.stats.scan.first_pass import scan_source
from dagora.stats.scan.scan_statistics import ScanStatistics

SCANNED = "its rows are scanned, and not kept"


def scan_if_large(
    data: object,
    method: Method | None,
    score: str | None,
    options: Mapping[str, Any],
    reading: ReadingOptions,
    jobs: int = 1,
) -> ScanStatistics | None:
    """Statistics of a file that is too large to be kept in memory; None where it is read as ever.

    That is where it is small, where method or score need the rows, and where scanned rows cannot be read as
    is asked: with missing values that are modelled, with columns that are cut into intervals.
    """
    large = large_file(Path(data)) if isinstance(data, str | Path) else None
    if large is None or not may_scan(method, score, options, reading):
        return None
    try:
        rows = scan_source(open_files(large.file, reading.separator, reading.table), scanning(reading), jobs)
        check_learnable(rows.schema, rows.n_rows, rows.overview, numbers_only=bool(reading.numbers_for))
    except DagoraError:
        return None  # what is wrong with it, if anything, is said where it is read
    if reading.numbers_for and Kind.DISCRETE in rows.schema.kinds:
        return None  # in memory, codes are taken as numbers
    if (
        options.get("test") in ("latent", "trend") or score == "bic-latent"
    ) and Kind.CONTINUOUS in rows.schema.kinds:
        return None  # counts are enough for levels, but not beside numbers
    return tell(rows, large)


def may_scan(
    method: Method | None, score: str | None, options: Mapping[str, Any], reading: ReadingOptions
) -> bool:
    """Return True if counts and moments are enough for what is asked.

    >>> from dagora.learners.registry import method_named
    >>> [may_scan(method_named(name), None, {}, ReadingOptions()) for name in ("tabu", "lingam")]
    [True, False]
    """
    over_rows = needing_rows(method, score, options) or (method is not None and method.in_time)
    asked = reading.marks is not None or reading.in_time or reading.discretise is not None
    asked = asked or reading.group is not None or bool(reading.ranks)
    return not over_rows and not asked and reading.missing in ("error", "drop", "auto")


def scanning(reading: ReadingOptions) -> ReadingOptions:
    """The same options for rows that are scanned, whose missing values cannot be modelled."""
    return replace(reading, missing="error", why_not_model=None) if reading.missing == "auto" else reading


def tell(rows: ScanStatistics, large: LargeFile) -> ScanStatistics:
    """Say in the overview that the rows are scanned."""
    rows.overview = replace(rows.overview, warnings=(large.tell(SCANNED), *rows.overview.warnings))
    announce(rows.overview.warnings)
    return rows
