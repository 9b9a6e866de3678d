"""Rows that change during a run: how that is noticed, and the lines that refuse them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dagora.base.errors import DataError
from dagora.base.wording import col
from dagora.data.readers import naming

if TYPE_CHECKING:
    from dagora.data.scan.row_source import RowSource


def state_of(files: Sequence[Path]) -> tuple[tuple[str | int, ...], ...]:
    """Of each file what differs once it was written to, or replaced by another one.

    The time of the last change can be set to any; that of the last change to what is known about a file
    cannot.
    """
    found = []
    for file in files:
        with naming(file):
            about = file.stat()
        found.append((str(file), about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino))
    return tuple(found)


def refuse_changed(source: RowSource, state: object) -> None:
    """Refuse a source that is no longer in the state in which it was."""
    if source.state() != state:
        raise changed_rows(source.title, "a file was written to")


def changed_rows(title: str, how: str) -> DataError:
    """The error about rows that are no longer the same."""
    return DataError(f"{title} changed during the run ({how}): start again when nothing writes to it")


def changed_value(name: str) -> DataError:
    """The error about a cell that was not there in the first pass."""
    return DataError(
        f"{col(name)} has a value that it did not have in the first pass: the rows changed during the "
        "run; start again when nothing writes to them"
    )
