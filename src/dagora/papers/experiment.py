"""An experiment is a list of independent cells, with a report on all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from dagora.base.options import find
from dagora.learners.run import Run
from dagora.papers.cell import MeasuredCell, Numbers, Parameters, cell_key
from dagora.papers.reports import Report


@dataclass(frozen=True)
class Size:
    """The size of a reproduction, quick (minutes) or that of the paper, and its first seed."""

    full: bool = False
    seed: int = 0

    def seeds(self, quick: int, full: int) -> range:
        """Seeds of the repetitions.

        >>> Size(seed=5).seeds(quick=3, full=10)
        range(5, 8)
        """
        return range(self.seed, self.seed + (full if self.full else quick))


@dataclass(frozen=True)
class Experiment:
    """Cells, how one is measured, and how all of them are reported.

    `measure` must be a function at the top level of a module, because it may be called in another process. It
    is given the cell's parameters and a `Run` whose budget it must obey. `report` is given the measured cells
    in order: all of them, or those that an interrupted run left. With another `revision` all cells are
    measured anew. `needs` names the files of the reference data that measuring reads; a report needs none.
    """

    name: str
    cells: tuple[Parameters, ...]
    measure: Callable[[Parameters, Run], Numbers]
    report: Callable[[Sequence[MeasuredCell]], Report]
    revision: int = 1
    needs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len({self.key(cell) for cell in self.cells}) != len(self.cells):
            raise ValueError(f"{self.name}: two cells have the same parameters")

    def where(self, conditions: Sequence[str]) -> Experiment:
        """The same with those cells alone whose parameters have values given as `name=value`."""
        cells = self.cells
        for condition in conditions:
            name, _, value = condition.partition("=")
            known = {key: None for cell in cells for key in cell}
            find("parameter", name, known)
            find(name, value, {str(cell[name]): None for cell in cells if name in cell})
            cells = tuple(cell for cell in cells if str(cell.get(name)) == value)
        return replace(self, cells=cells)

    def key(self, cell: Parameters) -> str:
        """Return the identity of a cell as text."""
        return cell_key(self.name, self.revision, cell)
