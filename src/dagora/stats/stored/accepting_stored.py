"""Statistics that were kept, where data are asked for: one, a file of them, or several that are added."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeGuard

from dagora.base.errors import DataError, OptionError
from dagora.stats.stored.merging import merge_statistics
from dagora.stats.stored.statistics_file import is_statistics_file, read_statistics
from dagora.stats.stored.stored_statistics import StoredStatistics
from dagora.stats.stored.writing_statistics import ENDING

Stored = StoredStatistics | str | Path


def is_stored(data: object) -> TypeGuard[Stored]:
    """Return True for statistics that were kept, or the name of a file of them."""
    return isinstance(data, StoredStatistics) or is_statistics_file(data)


def are_stored(data: object) -> bool:
    """Return True for statistics that were kept, a file of them, or a list with at least one of these.

    >>> are_stored(["m1.stats", "m2.stats"]), are_stored([[0, 1], [1, 0]]), are_stored("m1.csv")
    (True, False, False)
    """
    return is_stored(data) or (isinstance(data, list | tuple) and any(map(is_stored, data)))


def open_stored(data: object, minus: object = None) -> StoredStatistics:
    """Read and add statistics, and take away those of `minus`."""
    return merge_statistics(listed(data), [] if minus is None else listed(minus))


def without(data: object, minus: object) -> StoredStatistics:
    """Statistics that are added, without others; of rows, none can be taken away."""
    if not are_stored(data):
        raise OptionError(
            f"minus goes with files of statistics ({ENDING}): rows are left out of a table before it is read"
        )
    return open_stored(data, minus)


def listed(data: object) -> list[StoredStatistics]:
    """Statistics of a file, of an object, or of several."""
    several: Sequence[object] = data if isinstance(data, list | tuple) else [data]
    found = []
    for each in several:
        if not is_stored(each):
            what = f"'{each}'" if isinstance(each, str | Path) else f"an object of type {type(each).__name__}"
            raise DataError(
                f"{what} is no file of statistics, and only these are added: make one "
                f"(dagora statistics DATA -o FILE{ENDING})"
            )
        found.append(each if isinstance(each, StoredStatistics) else read_statistics(Path(each)))
    return found
