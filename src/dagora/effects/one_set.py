"""The effect adjusted for one set, by the estimator for the kinds of the columns.

Discrete columns are standardised stratum by stratum, unless strata are so thin that the prior of their cells
would draw the answer towards the unadjusted one: then a logistic regression without interactions takes over.
Where that cannot be computed either, and where strata with rows enough have one of the two values alone, the
rows do not tell the effect: by one graph it is refused; an average over graphs takes any chance as likely.
(In simulations with six binary confounders and 1000 rows, the former's 95 % intervals held the truth in 57 %,
the latter's in 97 %; the truth there had no interactions.)
"""

from __future__ import annotations

from collections.abc import Sequence
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
from dagora.effects.overlap import levels_among
from dagora.effects.row_sums import RowSums
from dagora.effects.set_estimate import FEW_ROWS, SetEstimate
from dagora.effects.standardise import (
    HEAVY_PRIOR,
    StratumCounter,
    StratumCounts,
    prior_weight,
    seen_share,
    standardise_counts,
    strata_of,
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
            return self._if_compared(regress(table, contrast, adjust, self._rows), adjust)
        counts = self._counts(adjust)
        if counts is None:
            return self._if_compared(regress_event(table, contrast, adjust, self._rows), adjust)
        weighted = None if self._weighted is None else self._weighted.count(adjust)
        if prior_weight(weighted or counts) <= HEAVY_PRIOR:
            return standardise_counts(counts, contrast, adjust, seed, weighted)
        try:
            found = in_place_of_strata(regress_event(table, contrast, adjust, self._rows), adjust)
        except DataError as error:  # too few rows, or the strata determine x: nothing but the prior is left
            found = standardise_counts(counts, contrast, adjust, seed, weighted, wide=True)
            return replace(found, refusal=error.text)
        return self._if_compared(found, adjust)

    def _if_compared(self, found: SetEstimate, adjust: Sequence[str]) -> SetEstimate:
        """The estimate, refused where strata have rows enough and none has both of the values compared."""
        if found.support.share > 0:
            return found
        strata = len(np.unique(strata_of(self._table, levels_among(self._table, adjust))))
        if self._table.n_rows < FEW_ROWS * strata:
            return found  # strata so thin that few could have both: the regression answers, and says so
        return replace(found, refusal=none_compared(self._contrast, adjust))

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
        elif name == contrast.y:
            raise DataError(f"{name} never changes, so that nothing can be told of what changes it")


def none_compared(contrast: EffectContrast, adjust: Sequence[str]) -> str:
    """The refusal where no rows that are alike in what is adjusted for have different values of x."""
    to, base = (contrast.setting(values, levels_only=True) for values in (contrast.to, contrast.base))
    return (
        f"no rows that are alike in {', '.join(adjust)} have both {to} and {base}, so that they do not tell "
        "this effect: gather rows with both, or merge levels"
    )


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
