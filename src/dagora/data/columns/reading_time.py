"""The time limit of a run, while its table is read: reading ends in time, too, with an error in one line.

A small table is always read, however short the limit: a learner can then return a graph. A table so wide
that it cannot be read in the time left is refused when its header is known.
"""

from __future__ import annotations

from dagora.base.budget import Budget
from dagora.base.errors import DataError
from dagora.base.wording import option

# A table of at most so many columns and rows, and a file of at most so many bytes, is read without a look at
# the clock.
SMALL_COLUMNS, SMALL_ROWS, SMALL_FILE = 50, 10_000, 1 << 20
# The least seconds that it takes to read and type a column, on any machine.
SECONDS_A_COLUMN = 1e-4


def check_time(clock: Budget, columns: int, rows: int) -> None:
    """Refuse to go on with a table that is not small when the time is up.

    >>> clock = Budget(1e-9)
    >>> check_time(clock, columns=50, rows=1000)
    >>> check_time(clock, columns=51, rows=1000)
    Traceback (most recent call last):
    dagora.DataError: the time limit of 1e-09 s was reached while the table was read: ...
    """
    if clock.exhausted and (columns > SMALL_COLUMNS or rows > SMALL_ROWS):
        raise too_slow(clock)


def check_bytes_read(clock: Budget, size: int) -> None:
    """Refuse to go on with a file that is not small when the time is up.

    >>> check_bytes_read(Budget(1e-9), 1000)
    """
    if clock.exhausted and size > SMALL_FILE:
        raise too_slow(clock)


def check_header(clock: Budget, columns: int) -> None:
    """Refuse a table that has too many columns to be read in the time left.

    >>> check_header(Budget(1.0), columns=1000)
    >>> check_header(Budget(1.0), columns=20_000)
    Traceback (most recent call last):
    dagora.DataError: 20000 columns cannot be read in a time limit of 1 s: allow more time ...
    """
    if columns > SMALL_COLUMNS and columns * SECONDS_A_COLUMN > clock.left:
        if clock.exhausted or clock.limit is None:
            raise too_slow(clock)
        raise DataError(f"{columns} columns cannot be read in a time limit of {clock.limit:g} s: {way_out()}")


def too_slow(clock: Budget) -> DataError:
    """The error about a table that could not be read in time."""
    return DataError(f"{clock.reason} while the table was read: {way_out()}")


def way_out() -> str:
    """Advice about a table that takes too long to read."""
    return f"allow more time ({option('time_limit')}), or leave columns or rows out"
