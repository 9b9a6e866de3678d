"""The data behind an effect by a graph: the names, the number of rows, and the offer of an adjustment set.

Rows in memory keep it (`effect_rows`), and sums over sites (`over_sites`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from dagora.effects.contrast import EffectContrast
from dagora.effects.set_estimate import SetEstimate
from dagora.graph.any_graph import AnyGraph


class OfferedSet(NamedTuple):
    """A set to adjust for, the rows for it, the share of them that carries the answer, and the estimate.

    `notes` are about the rows, and `regimes` say which kinds of rows they are, by what was set there.
    """

    names: tuple[str, ...]
    n_rows: int
    share: float
    estimate: Callable[[int], SetEstimate]  # by a seed
    notes: Sequence[str] = ()
    regimes: tuple[bool, ...] = ()


class EffectSource(Protocol):
    """Data from which effects are estimated."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are there."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    def offer(self, graph: AnyGraph, contrast: EffectContrast, adjust: tuple[str, ...]) -> OfferedSet:
        """The support and the estimate that the data offer for an effect adjusted for a set."""
