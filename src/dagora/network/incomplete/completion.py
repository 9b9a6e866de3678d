"""What completes a table with holes, as structural EM sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from dagora.base.events import Budget
from dagora.graph.dag import DAG
from dagora.stats.statistics import Statistics


@dataclass(frozen=True)
class Completion:
    """Statistics of completed rows; `copies` is how many times there are as many of them as in the data."""

    statistics: Statistics
    copies: int


class Filling(Protocol):
    """Fits networks to a table with holes and completes it.

    `comparable` says whether the scores of graphs tell which is best; else the last graph counts. `note` says
    how cells were filled, where that is not exact.
    """

    comparable: bool
    note: str

    def fit(self, graph: DAG, budget: Budget) -> float:
        """Fit parameters; return the score of the graph on what was seen."""

    def complete(self, turn: int) -> Completion:
        """Complete the table from the network that was fitted last; `turn` tells random draws apart."""
