"""Results as tables: means with their standard errors, in Markdown for people and CSV for programs.

The standard error is that of a mean of independent runs, s / √runs with s the sample standard deviation
(n − 1); a single run has none.
"""

from __future__ import annotations

import csv
import io
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dagora.papers.cell import MeasuredCell


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over `runs` runs; `error` is its standard error, None where there is one run."""

    value: float
    error: float | None
    runs: int


Entry = str | int | float | Mean | None


def mean(values: Iterable[float]) -> Mean | None:
    """Return the mean of some runs with its standard error; None of none.

    >>> mean([1.0, 2.0, 3.0])
    Mean(value=2.0, error=0.5773502691896258, runs=3)
    """
    numbers = list(values)
    if not numbers:
        return None
    error = statistics.stdev(numbers) / math.sqrt(len(numbers)) if len(numbers) > 1 else None
    return Mean(statistics.fmean(numbers), error, len(numbers))


def group(
    measured: Iterable[MeasuredCell], by: Sequence[str]
) -> dict[tuple[str | int | float, ...], list[MeasuredCell]]:
    """Cells that agree in some parameters, in the order in which the groups first appear."""
    groups: dict[tuple[str | int | float, ...], list[MeasuredCell]] = {}
    for cell in measured:
        groups.setdefault(tuple(cell.parameters[name] for name in by), []).append(cell)
    return groups


def mean_of(measured: Iterable[MeasuredCell], number: str) -> Mean | None:
    """Mean of one number over cells; cells that have none are left out."""
    return mean(cell.numbers[number] for cell in measured if cell.numbers.get(number) is not None)


@dataclass(frozen=True)
class ResultTable:
    """Rows under headings; `digits` is the number of decimals of each column.

    >>> table = ResultTable("costs", "Costs", ("graph", "F"), (("ER2", Mean(4.5, 0.25, 3)), ("SF4", None)), 2)
    >>> print(table.to_markdown())
    | graph | F           |
    |-------|-------------|
    | ER2   | 4.50 ± 0.25 |
    | SF4   |             |
    >>> print(table.to_csv(), end="")
    graph,F,F standard error
    ER2,4.5,0.25
    SF4,,
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    digits: int | tuple[int, ...] = 2

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"{self.title}: every row needs {len(self.columns)} entries")
        if len(set(self.columns)) != len(self.columns):
            raise ValueError(f"{self.title}: two columns have one name")

    def to_markdown(self) -> str:
        """Return the table in Markdown, aligned so that it reads well as plain text too."""
        places = self.digits if isinstance(self.digits, tuple) else (self.digits,) * len(self.columns)
        written = [
            [show(entry, digits) for entry, digits in zip(row, places, strict=True)] for row in self.rows
        ]
        lines = [[column.replace("|", r"\|") for column in self.columns], *written]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        drawn = [
            "| " + " | ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)) + " |"
            for line in lines
        ]
        rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
        return "\n".join([drawn[0], rule, *drawn[1:]])

    def to_csv(self) -> str:
        """Return the table in CSV, in full precision; means are followed by their standard errors."""
        means = [any(isinstance(row[i], Mean) for row in self.rows) for i in range(len(self.columns))]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        header: list[str] = []
        for column, is_mean in zip(self.columns, means, strict=True):
            header += [column, f"{column} standard error"] if is_mean else [column]
        writer.writerow(header)
        for row in self.rows:
            cells: list[Entry] = []
            for entry, is_mean in zip(row, means, strict=True):
                if isinstance(entry, Mean):
                    cells += [entry.value, entry.error]
                else:
                    cells += [entry, None] if is_mean else [entry]
            writer.writerow(cells)
        return text.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """JSON form: a mean becomes an object."""
        return {
            "name": self.name,
            "title": self.title,
            "columns": list(self.columns),
            "rows": [[plain(entry) for entry in row] for row in self.rows],
        }


def show(entry: Entry, digits: int) -> str:
    """Write an entry for people.

    >>> show(Mean(1.0, None, 1), 2), show(3, 2), show(-0.001, 1), show(None, 2)
    ('1.00', '3', '0.0', '')
    """
    if isinstance(entry, Mean):
        error = "" if entry.error is None else f" ± {entry.error:z.{digits}f}"
        return f"{entry.value:z.{digits}f}{error}"
    if isinstance(entry, float):
        return f"{entry:z.{digits}f}"
    return "" if entry is None else str(entry).replace("|", r"\|")


def plain(entry: Entry) -> object:
    """Turn an entry into what JSON can hold."""
    if isinstance(entry, Mean):
        return {"mean": entry.value, "standard_error": entry.error, "runs": entry.runs}
    return entry
