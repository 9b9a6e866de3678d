"""An experiment is a list of independent cells, parameters in and numbers out, with a report on all of them.

A cell's parameters are its identity. Everything its numbers depend on, the seed included, is among them, so
that a cell measured once need not be measured again, and a changed setting has cells of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dagora.papers.reports import Report
from dagora.run import Run

Parameters = Mapping[str, str | int | float]
Numbers = Mapping[str, Any]  # what JSON can hold; numbers for the tables, edges for a picture


@dataclass(frozen=True)
class Size:
    """How large a reproduction shall be: quick (minutes) or the paper's own size; and its first seed."""

    full: bool = False
    seed: int = 0

    def seeds(self, quick: int, full: int) -> range:
        """Seeds of the repetitions.

        >>> Size(seed=5).seeds(quick=3, full=10)
        range(5, 8)
        """
        return range(self.seed, self.seed + (full if self.full else quick))


@dataclass(frozen=True)
class Measured:
    """A cell with its numbers."""

    parameters: Parameters
    numbers: Numbers


@dataclass(frozen=True)
class Experiment:
    """Cells, how one is measured, and how all of them are reported.

    `measure` is a function at the top of a module, for it may be called in another process; it is given the
    cell's parameters and a `Run` whose budget it must obey. `report` is given what has been measured, in the
    order of the cells: all of it, or what an interrupted run left. A changed `revision` measures anew.
    """

    name: str
    cells: tuple[Parameters, ...]
    measure: Callable[[Parameters, Run], Numbers]
    report: Callable[[Sequence[Measured]], Report]
    revision: int = 1

    def __post_init__(self) -> None:
        if len({self.key(cell) for cell in self.cells}) != len(self.cells):
            raise ValueError(f"{self.name}: two cells have the same parameters")

    def key(self, cell: Parameters) -> str:
        """Return the identity of a cell as text."""
        return cell_key(self.name, self.revision, cell)


def cell_key(item: str, revision: int, parameters: Parameters) -> str:
    """Return the identity of a cell: its item, the revision of the measurement, its parameters in any order.

    >>> cell_key("paper/table1", 1, {"n": 20, "d": 5}) == cell_key("paper/table1", 1, {"d": 5, "n": 20})
    True
    """
    return json.dumps([item, revision, dict(parameters)], sort_keys=True, ensure_ascii=False)


def describe(parameters: Parameters) -> str:
    """Parameters in a line.

    >>> describe({"graph": "ER2", "n": 20})
    'graph=ER2 n=20'
    """
    return " ".join(f"{name}={value}" for name, value in parameters.items())
