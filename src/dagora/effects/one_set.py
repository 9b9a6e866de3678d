"""The effect adjusted for one set, by the estimator for the kinds of the columns.

Discrete columns are standardised stratum by stratum, unless strata are so thin that the prior of their cells
would draw the answer towards the unadjusted one: then a logistic regression without interactions takes over.
(In simulations with six binary confounders and 1000 rows, the former's 95 % intervals held the truth in 57 %,
the latter's in 97 %; the truth there had no interactions.)
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from dagora.base.errors import DataError
from dagora.data.columns.row_design import RowDesign
from dagora.data.designed import DesignedTable
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.effects.contrast import EffectContrast
from dagora.effects.linear import regress
from dagora.effects.logistic import regress_event
from dagora.effects.row_sums import RowSums
from dagora.effects.set_estimate import SetEstimate
from dagora.effects.standardise import (
    HEAVY_PRIOR,
    StratumCounter,
    StratumCounts,
    prior_weight,
    seen_share,
    standardise_counts,
)
from dagora.scores.usable_moments import refuse_unusable
from dagora.stats.designed import DesignStatistics


class SetEstimator:
    """Estimates of one effect from the rows of a table, adjusted for any set of columns.

    A `design` says that the rows have weights or belong to groups. Strata are then counted by weights that
    sum to the effective number of rows for x and y.
    """

    def __init__(self, table: Table, contrast: EffectContrast, design: RowDesign | None = None) -> None:
        self._table, self._contrast, self._rows = table, contrast, RowSums.of(design)
        by_strata = contrast.event is not None and all_discrete(table, contrast.x)
        self._counter = StratumCounter(table, contrast) if by_strata else None
        self._weighted: StratumCounter | None = None
        if by_strata and design is not None:
            of_pair = DesignedTable(table, design).select([*contrast.x, contrast.y])
            self._weighted = StratumCounter(table, contrast, DesignStatistics(of_pair).weights)

    def estimate(self, adjust: Sequence[str], seed: int = 0) -> SetEstimate:
        """The effect adjusted for a set of columns."""
        table, contrast = self._table, self._contrast
        adjust = [name for name in adjust if name not in contrast.given]  # constant among the rows
        refuse_extremes(table, contrast, adjust)
        if contrast.event is None:
            return regress(table, contrast, adjust, self._rows)
        counts = self._counts(adjust)
        if counts is None:
            return regress_event(table, contrast, adjust, self._rows)
        weighted = None if self._weighted is None else self._weighted.count(adjust)
        if prior_weight(weighted or counts) > HEAVY_PRIOR:
            with suppress(DataError):  # too few rows for a regression
                return in_place_of_strata(regress_event(table, contrast, adjust, self._rows), adjust)
        return standardise_counts(counts, contrast, adjust, seed, weighted)

    def supported_share(self, adjust: Sequence[str]) -> float:
        """The share of rows in strata with both values; 1 where there are no strata."""
        counts = self._counts(adjust)
        return 1.0 if counts is None else seen_share(counts)

    def _counts(self, adjust: Sequence[str]) -> StratumCounts | None:
        """The counts in strata; None where some columns are continuous."""
        if self._counter is None or not all_discrete(self._table, adjust):
            return None
        return self._counter.count(adjust)


def estimate_with(
    table: Table, contrast: EffectContrast, adjust: Sequence[str], seed: int = 0
) -> SetEstimate:
    """The effect adjusted for one set of columns."""
    return SetEstimator(table, contrast).estimate(adjust, seed)


def refuse_extremes(table: Table, contrast: EffectContrast, adjust: Sequence[str]) -> None:
    """Refuse causes that never change, and numbers that are too large or too small for a regression."""
    for name in (*contrast.x, contrast.y, *adjust):
        place = table.schema.index(name)
        if table.schema[place].kind is not Kind.CONTINUOUS:
            continue
        values = table.columns[place]
        if (values != values[0]).any():
            with np.errstate(over="ignore", invalid="ignore"):
                mean, variance = np.array([values.mean()]), np.array([values.var()])
            refuse_unusable([name], mean, variance, "an effect")
        elif name in contrast.x:
            raise DataError(f"{name} never changes, so that no row tells its effect")


def in_place_of_strata(found: SetEstimate, adjust: Sequence[str]) -> SetEstimate:
    """The estimate with a note that its strata are thin."""
    note = (
        f"strata of {', '.join(adjust)} have few rows with a value compared: a regression without "
        "interactions is used instead"
    )
    return replace(found, support=replace(found.support, notes=(*found.support.notes, note)))


def all_discrete(table: Table, names: Sequence[str]) -> bool:
    """Return True if all these columns are discrete."""
    return all(table.schema[table.schema.index(name)].kind is Kind.DISCRETE for name in names)
