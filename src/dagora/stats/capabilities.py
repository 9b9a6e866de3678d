"""The capabilities of statistics beyond the minimum, as one declared record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from dagora.base.errors import RowsUnavailableError
from dagora.base.options import Value
from dagora.data.columns.overview import Overview
from dagora.data.interventions import Interventions
from dagora.stats.basis import BasisMoments
from dagora.stats.effective_rows import EffectiveRows
from dagora.stats.indicators import IndicatorMoments, no_indicator_moments
from dagora.stats.statistics import Contingency, Statistics

Sets = Sequence[Sequence[int]]


class NoisyRelease(Protocol):
    """Statistics that carry noise for privacy.

    `max_parents` is the most parents that the release says anything about (None: any number).
    """

    max_parents: int | None

    def terms(self) -> Mapping[str, Value]:
        """The terms of the release, as JSON."""

    def account(self) -> list[str]:
        """Describe the guarantee, what was released with noise, and what to expect."""

    def warnings(self, method: str) -> list[str]:
        """Warnings for a user of this method."""

    def defaults(self, method: str) -> Mapping[str, Value]:
        """Options of a method that noise changes."""


@dataclass(frozen=True, slots=True)
class StatisticsCapabilities:
    """Everything that statistics can do beyond the minimum; the defaults are those of the minimum."""

    in_memory: bool = False  # all rows are: further counts are cheap and reveal nothing to others
    jobs: int = 1  # threads that share large calls
    overview: Overview | None = None  # how the rows were read
    interventions: Interventions | None = None  # which variables were set from outside, and in which rows
    contingencies: Callable[[Sets], list[Contingency]] | None = None  # of many sets with cells, in few rounds
    knows: Callable[[Sets], bool] | None = None  # rows are read anew for each count that is not known
    basis_moments: Callable[[int], BasisMoments] | None = None  # of functions of the continuous columns
    indicator_moments: Callable[[], IndicatorMoments] | None = None  # of both kinds of columns together
    lagged: Callable[[int], Any] | None = None  # statistics of windows: the rows follow each other in time
    federation: object | None = None  # the rows are spread over its sites
    release: NoisyRelease | None = None  # the sums carry noise for privacy
    score: Callable[[str, Mapping[str, object]], object] | None = None  # a local score that knows the noise
    design: EffectiveRows | None = None  # rows have weights or groups, and `n_rows` is their effective number
    refuse_missing: Callable[[str], NoReturn] | None = None  # cells are missing, and something needs them all
    max_parents: int | None = None  # counts of families of more parents were not kept


def capabilities_of(statistics: object) -> StatisticsCapabilities:
    """Return what some statistics can do: nothing more where they declare nothing.

    >>> from dagora.data.table import Table
    >>> from dagora.stats.table import TableStatistics
    >>> found = capabilities_of(TableStatistics(Table.from_numpy([[1.5]], ["x"])))
    >>> found.basis_moments is None, found.knows is None
    (False, True)
    """
    found: StatisticsCapabilities = getattr(statistics, "capabilities", MINIMUM)
    return found


def row_numbers(statistics: Statistics) -> dict[str, float]:
    """The number of rows, and the effective one where it is another, as results state them."""
    design = capabilities_of(statistics).design
    if design is None:
        return {"rows": float(statistics.n_rows)}
    return {"rows": float(design.rows), "effective_rows": float(design.effective)}


MINIMUM = StatisticsCapabilities()


def contingencies(statistics: Statistics, column_sets: Sets) -> list[Contingency]:
    """Joint counts of many sets with their cells: together where the statistics can do that."""
    together = capabilities_of(statistics).contingencies
    return [*map(statistics.contingency, column_sets)] if together is None else together(column_sets)


def require_basis_moments(statistics: Statistics, functions: int) -> BasisMoments:
    """The moments of basis functions; an error where statistics cannot give them."""
    found = capabilities_of(statistics).basis_moments
    if found is None:
        raise RowsUnavailableError(
            "nonlinear relations need the rows or sums of functions of the columns, which are not available "
            "here: choose a linear method or test, such as fisher-z"
        )
    return found(functions)


def require_indicator_moments(statistics: Statistics) -> IndicatorMoments:
    """The moments of a widened table; an error where statistics cannot give them."""
    found = capabilities_of(statistics).indicator_moments
    if found is None:
        raise no_indicator_moments()
    return found()
