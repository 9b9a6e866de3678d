"""One claim of a paper, with what our files say of it, and how those files are read."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dagora.papers.cell import MeasuredCell, Parameters
from dagora.papers.contrasts import Contrast, interval, standard_errors
from dagora.papers.tables import Mean

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reproductions"
HEADING = ("claim (section)", "verdict", "here, with 95 % intervals", "the paper", "size", "command")
HOLDS, FAILS, OPEN = "holds", "**fails**", "cannot be told"


@dataclass(frozen=True)
class Row:
    """A claim with its verdict, our numbers and the paper's, on what they rest, and the command."""

    claim: str
    verdict: str
    ours: str
    theirs: str
    size: str
    command: str

    def cells(self) -> tuple[str, ...]:
        """The columns of the page."""
        return (self.claim, self.verdict, self.ours, self.theirs, self.size, f"`{self.command}`")


def table(stem: str) -> list[dict[str, str]]:
    """The rows of a table of a page."""
    with (FOLDER / f"{stem}.csv").open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def entry(stem: str, column: str, **where: str) -> str:
    """The one entry of a table in the row whose columns have some values."""
    found = [row[column] for row in table(stem) if all(row[name] == value for name, value in where.items())]
    if len(found) != 1:
        raise ValueError(f"{stem}: {len(found)} rows have {where}")
    return found[0]


def kept_lines(stem: str) -> list[dict[str, Any]]:
    """The kept cells of an item, as they lie in the file; none where none are kept."""
    file = FOLDER / f"{stem}.cells.jsonl.gz"
    if not file.exists():
        return []
    return [json.loads(line) for line in gzip.decompress(file.read_bytes()).decode().splitlines()]


def kept_cells(stem: str) -> list[MeasuredCell]:
    """The kept cells of an item."""
    return [MeasuredCell(line["parameters"], line["numbers"]) for line in kept_lines(stem)]


def hours_of(stem: str, chosen: Callable[[Parameters], bool] = lambda _: True) -> float:
    """The hours that some of the kept cells took, each on one core."""
    return sum(line["seconds"] for line in kept_lines(stem) if chosen(line["parameters"])) / 3600


def number(text: str, digits: int) -> str:
    """A number of a table as people read it.

    >>> number("-2.345", 1)
    '−2.3'
    """
    return f"{float(text):z.{digits}f}".replace("-", "−")


def mean_interval(stem: str, column: str, digits: int, *, runs: str = "runs", **where: str) -> str:
    """A mean of a table with the half-width of its 95 % interval."""
    value, error = (float(entry(stem, name, **where)) for name in (column, f"{column} standard error"))
    return interval(Mean(value, error, int(entry(stem, runs, **where))), digits)


def verdict(contrasts: Sequence[Contrast]) -> str:
    """Holds if all differences are clearly below zero, fails if one is clearly above, else open."""
    clear = [one.clear for one in contrasts]
    return FAILS if False in clear else OPEN if None in clear else HOLDS


def runs_needed(difference: Mean) -> int:
    """The runs after which a difference of this size would be clear, if its spread stays.

    >>> runs_needed(Mean(-1.0, 1.0, 10))
    52
    """
    assert difference.error is not None
    factor = (standard_errors(difference.runs) * difference.error / difference.value) ** 2
    return -int(-difference.runs * factor // 1)


def share_interval(found: int, of: int) -> str:
    """A share with its exact 95 % interval (Clopper & Pearson), in per cent.

    >>> share_interval(2, 12), share_interval(10, 10)
    ('2 of 12 (2 to 48 %)', '10 of 10 (69 to 100 %)')
    """
    from scipy.stats import beta

    low = 0.0 if found == 0 else float(beta.ppf(0.025, found, of - found + 1))
    high = 1.0 if found == of else float(beta.ppf(0.975, found + 1, of - found))
    return f"{found} of {of} ({100 * low:.0f} to {100 * high:.0f} %)"
