"""The reproductions by name: what each shows, and where it is made.

A new one adds an entry here; the command `dagora reproduce` then knows it. `maker` is imported only when the
item is run; it takes a `Size` and returns an `Experiment`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

from dagora.options import find

if TYPE_CHECKING:
    from dagora.papers.experiment import Experiment, Size


@dataclass(frozen=True)
class Item:
    """A table or figure of a paper."""

    name: str
    summary: str
    maker: str
    reference: str
    quick: str
    full: str

    def load(self) -> Callable[[Size], Experiment]:
        """Import the function that makes the experiment."""
        module, function = self.maker.split(":")
        return cast("Callable[[Size], Experiment]", getattr(import_module(module), function))


NOTEARS = "Zheng, Aragam, Ravikumar & Xing 2018, DAGs with NO TEARS"

ITEMS = (
    Item(
        "notears/table1",
        "objective at the truth, the exact optimum and our solution, d = 10",
        "dagora.papers.notears.table1:table1",
        NOTEARS,
        quick="3 graphs per row",
        full="10 graphs per row",
    ),
    Item(
        "notears/fig3",
        "SHD and FDR of NOTEARS, GES and sort-and-regress on simulated graphs",
        "dagora.papers.notears.fig3:fig3",
        NOTEARS,
        quick="d = 10 and 20, 3 graphs",
        full="d = 10 to 100, 10 graphs",
    ),
    Item(
        "notears/sachs",
        "protein signalling, 7466 × 11, raw and standardised",
        "dagora.papers.notears.sachs:sachs",
        NOTEARS,
        quick="everything",
        full="the same",
    ),
)


def item_named(name: str) -> Item:
    """Find an item, or say which there are."""
    return find("reproduction", name, {item.name: item for item in ITEMS})
