"""Medians over seeds with the lowest and highest value, and the results of contenders by data set."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dagora.papers.cell import MeasuredCell
from dagora.papers.rbnets.contenders import IDENTITY

# What says which data set, in the order of IDENTITY; and its cells by contender.
Key = tuple[str | int | float | None, ...]
Contenders = dict[str, list[MeasuredCell]]


@dataclass(frozen=True)
class RunSpread:
    """A median over runs, with the lowest and the highest value."""

    median: float
    low: float
    high: float
    runs: int

    def text(self, digits: int) -> str:
        """The median, and the range where runs differ.

        >>> RunSpread(2.0, 1.0, 4.25, 3).text(1), RunSpread(2.0, 2.0, 2.0, 3).text(1)
        ('2.0 (1.0 to 4.2)', '2.0')
        """
        low, median, high = (f"{value:z.{digits}f}" for value in (self.low, self.median, self.high))
        return median if low == high else f"{median} ({low} to {high})"


def spread(values: Iterable[float | None]) -> RunSpread | None:
    """The spread of the values that are not None; None if there are none.

    >>> spread([3.0, None, 1.0, 2.0])
    RunSpread(median=2.0, low=1.0, high=3.0, runs=3)
    """
    found = [value for value in values if value is not None]
    return RunSpread(statistics.median(found), min(found), max(found), len(found)) if found else None


def spread_of(cells: Sequence[MeasuredCell], number: str) -> RunSpread | None:
    """The spread of one number over cells."""
    return spread(cell.numbers.get(number) for cell in cells)


def by_data_set(measured: Iterable[MeasuredCell]) -> dict[Key, Contenders]:
    """Cells by data set and contender, in the given order."""
    found: dict[Key, Contenders] = {}
    for cell in measured:
        key = tuple(cell.parameters.get(name) for name in IDENTITY)
        found.setdefault(key, {}).setdefault(str(cell.parameters["contender"]), []).append(cell)
    return found


def search_seconds(cell: MeasuredCell) -> float:
    """CPU seconds of a search, less those of compiling networks."""
    return max(0.0, float(cell.numbers["cpu_seconds"]) - float(cell.numbers.get("compile_seconds") or 0.0))


def seconds_of(cells: Sequence[MeasuredCell]) -> RunSpread | None:
    """CPU seconds of searches, less those of compiling."""
    return spread(search_seconds(cell) for cell in cells)


def best_known(contenders: Contenders) -> tuple[float, bool] | None:
    """The highest BIC that any contender found on a data set, and whether it is proved to be the highest."""
    scored = [cell for cells in contenders.values() for cell in cells if cell.numbers.get("bic") is not None]
    if not scored:
        return None
    return max(float(cell.numbers["bic"]) for cell in scored), any(
        cell.numbers.get("proved") for cell in scored
    )


def ending(cells: Sequence[MeasuredCell]) -> str:
    """The reason for an early end: OT for time, OM for memory, each as in the paper; empty where none did."""
    statuses = {str(cell.numbers.get("status", "")) for cell in cells}
    words = {"memory-limit": "OM", "time-limit": "OT", "failed": "refused"}
    return next((word for status, word in words.items() if status in statuses), "")
