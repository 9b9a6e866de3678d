"""The rows that an effect is computed from: which are used where variables were set in some of them.

Rows in which x was set are used with the others: given a set that blocks all that is not causal, both show
the same. Rows in which something else was set are used only if it changes neither x, nor y, nor what is
adjusted for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError
from dagora.base.phrases import some_of, was_or_were
from dagora.data.columns.row_design import RowDesign
from dagora.data.designed import DesignedTable
from dagora.data.interventions import Interventions
from dagora.data.table import Table
from dagora.effects.contrast import EffectContrast
from dagora.effects.effect_source import OfferedSet
from dagora.effects.one_set import SetEstimator
from dagora.effects.set_estimate import SetEstimate
from dagora.effects.standardise import is_level
from dagora.effects.strata_rows import thinnest_strata
from dagora.graph.adjustment import Adjustment
from dagora.graph.any_graph import AnyGraph
from dagora.stats.capabilities import capabilities_of
from dagora.stats.designed import DesignStatistics
from dagora.stats.interventional import InterventionalStatistics
from dagora.stats.statistics import Statistics
from dagora.stats.table import TableStatistics


class UsableRows(NamedTuple):
    """The rows for an effect, notes about them, and which kinds of rows they are, by what was set there."""

    table: Table
    notes: list[str]
    regimes: tuple[bool, ...] = ()
    design: RowDesign | None = None


@dataclass(frozen=True)
class EffectRows:
    """A table, and in which of its rows variables were set, or what weights and groups the rows have."""

    table: Table
    interventions: Interventions | None = None
    design: RowDesign | None = None

    @classmethod
    def of(cls, statistics: Statistics) -> EffectRows:
        """Those of statistics of complete rows in memory."""
        if isinstance(statistics, DesignStatistics):
            return cls(statistics.designed.table, design=statistics.designed.design)
        if not isinstance(statistics, TableStatistics):
            raise OptionError("an effect needs a table of complete rows in memory")
        return cls(statistics.rows(), capabilities_of(statistics).interventions)

    def statistics(self, names: Sequence[str]) -> Statistics:
        """The sums over the rows of some columns."""
        table = self.table.select(names)
        if self.design is not None:
            return DesignStatistics(DesignedTable(self.table, self.design).select(names))
        if self.interventions is not None:
            return InterventionalStatistics(table, self.interventions)
        return TableStatistics(table)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the table."""
        return self.table.names

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.table.n_rows

    def offer(self, graph: AnyGraph, contrast: EffectContrast, adjust: tuple[str, ...]) -> OfferedSet:
        """The support and the estimate that the rows offer for an effect adjusted for a set."""
        table, notes, regimes, design = self.usable(graph, contrast, adjust)
        estimator = SetEstimator(table, contrast, design)
        return OfferedSet(
            adjust,
            table.n_rows,
            estimator.supported_share(adjust),
            lambda seed: with_strata(estimator.estimate(adjust, seed), table, contrast, adjust),
            notes,
            regimes,
        )

    def usable(self, graph: AnyGraph, contrast: EffectContrast, adjust: Sequence[str]) -> UsableRows:
        """The rows for an effect adjusted for a set."""
        kept = np.ones(self.table.n_rows, dtype=np.bool_)
        notes, free = [], []
        marks = self.interventions
        if marks is not None:
            needed = (*contrast.x, contrast.y, *adjust, *contrast.given)
            free = [not disturbing(graph, targets, contrast.x, needed) for targets in marks.regimes]
            kept = np.array(free, dtype=np.bool_)[marks.of_row]
            if not kept.all():
                notes.append(
                    f"{int((~kept).sum())} rows are not used: what was set there bears on the answer"
                )
            notes += self.notes_about_strangers(graph, kept)
            is_set = np.array([bool(set(targets) & set(contrast.x)) for targets in marks.regimes])
            number = int((kept & is_set[marks.of_row]).sum())
            if number:
                x = " or ".join(contrast.x)
                notes.append(f"in {number} of the rows {x} was set, as if by chance among those alike")
        for name, level in contrast.given.items():
            kept &= is_level(self.table, name, level)
        if not kept.any():
            raise DataError("no row is left from which the effect could be computed")
        if kept.all():
            return UsableRows(self.table, notes, tuple(free), self.design)
        design = self.design and self.design.take(kept)
        return UsableRows(self.table.take(kept), notes, tuple(free), design)

    def notes_about_strangers(self, graph: AnyGraph, kept: NDArray[np.bool_]) -> list[str]:
        """Notes about rows in which something was set that the graph does not have."""
        marks = self.interventions
        if marks is None:
            return []
        strange = [[target for target in targets if target not in graph.nodes] for targets in marks.regimes]
        number = int((np.array([bool(targets) for targets in strange])[marks.of_row] & kept).sum())
        names = list(dict.fromkeys(name for targets in strange for name in targets))
        said = f"{some_of(names)} {was_or_were(names)} set, about which the graph says nothing"
        return [f"in {number} of the rows {said}"] if number else []


def with_strata(
    found: SetEstimate, table: Table, contrast: EffectContrast, adjust: Sequence[str]
) -> SetEstimate:
    """The estimate with the rows of its thinnest strata."""
    support = replace(found.support, thinnest=thinnest_strata(table, contrast, adjust))
    return replace(found, support=support)


def disturbing(graph: AnyGraph, targets: Sequence[str], causes: Sequence[str], needed: Sequence[str]) -> bool:
    """Return True if setting these changes what the rows tell about the variables needed."""
    others = [target for target in targets if target not in causes and target in graph.nodes]
    return any(
        target in needed or Adjustment(graph, target, name).verdict != "zero"
        for target in others
        for name in needed
        if name in graph.nodes and name != target
    )
