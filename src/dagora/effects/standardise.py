"""Standardisation: the effect between discrete columns, stratum by stratum of the adjustment set Z.

P(y | do(x)) = Σ_z P(y | x, z) P(z). The interval lies between quantiles of what draws of all tables give from
their posterior (`strata_posterior`); strata are those seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.data.table import Table
from dagora.effects.contrast import EffectContrast, Value, level_code
from dagora.effects.set_estimate import DRAWS, Interval, SetEstimate, Support, notes_on_few, summarise_scales
from dagora.effects.strata_posterior import PRIOR_ROWS, StrataPosterior, draw_in_blocks

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
Counted = NDArray[np.int64] | NDArray[np.float64]  # sums of weights, where rows have some

MOST_CODES = 1 << 12
"""Combinations of levels, seen or not, up to which strata are numbered by counting instead of by sorting."""
CELLS = 5  # of a stratum: each value compared without and with the event, and other values
HEAVY_PRIOR = 0.05
"""Weight of the prior's rows in an answer above which another estimator is used, or the weight told."""


@dataclass(frozen=True)
class StratumCounts:
    """Rows and events of the two values compared, `[value, stratum]`, and all rows of each stratum."""

    rows: Counted
    events: Counted
    all_rows: Counted

    def posterior(self, *, wide: bool = False) -> StrataPosterior:
        """The posterior of the tables; `wide` lets no prior say what happens where no row is."""
        counts = self.all_rows, self.events, self.rows - self.events
        found = StrataPosterior.of(*(one.astype(np.float64) for one in counts))
        return replace(found, unknown=self.rows == 0) if wide else found


def standardise(table: Table, contrast: EffectContrast, adjust: Sequence[str], seed: int = 0) -> SetEstimate:
    """The effect between discrete columns, adjusted for discrete columns."""
    return standardise_counts(StratumCounter(table, contrast).count(adjust), contrast, adjust, seed)


def standardise_counts(
    counts: StratumCounts,
    contrast: EffectContrast,
    adjust: Sequence[str],
    seed: int = 0,
    weighted: StratumCounts | None = None,
    *,
    wide: bool = False,
) -> SetEstimate:
    """The effect that counts in the strata of an adjustment set give.

    `weighted` has sums of weights, `wide` is as in `posterior`.
    """
    refuse_unseen(contrast, counts.rows.sum(axis=1))
    posterior = (counts if weighted is None else weighted).posterior(wide=wide)

    def draw(number: int, rng: np.random.Generator) -> Array:
        means = draw_in_blocks(lambda some: posterior.draw(some, rng), number, len(counts.all_rows))
        return contrast.compare(means)

    def summary() -> dict[str, Interval]:
        drawn = draw(DRAWS, np.random.default_rng(seed))
        return summarise_scales(contrast, contrast.compare(posterior.means()), drawn)

    return SetEstimate(summary, draw, support_of(contrast, counts, adjust, wide=wide), "standardisation")


class StratumCounter:
    """Counts rows and events of the two values compared in every stratum of an adjustment set.

    The cell of a row is 2·value + event; rows with neither value have a cell of their own.
    """

    def __init__(self, table: Table, contrast: EffectContrast, weights: Array | None = None) -> None:
        self._table, self._weights = table, weights
        event = is_level(table, contrast.y, contrast.event or "")
        self._cell = np.full(table.n_rows, CELLS - 1)
        for side, values in enumerate((contrast.to, contrast.base)):
            rows = is_set(table, contrast.x, values)
            self._cell[rows] = 2 * side + event[rows]
        self._last: tuple[tuple[str, ...], StratumCounts] | None = None

    def count(self, adjust: Sequence[str]) -> StratumCounts:
        """The counts in the strata of a set; those of the last set asked for are kept."""
        if self._last is None or self._last[0] != tuple(adjust):
            stratum = strata_of(self._table, adjust)
            number = int(stratum.max(initial=0)) + 1
            counts = np.bincount(stratum * CELLS + self._cell, self._weights, number * CELLS)
            cells = counts.reshape(number, CELLS).T
            rows = np.stack([cells[0] + cells[1], cells[2] + cells[3]])
            self._last = tuple(adjust), StratumCounts(rows, cells[1:4:2].copy(), cells.sum(axis=0))
        return self._last[1]


def strata_of(table: Table, names: Sequence[str]) -> Codes:
    """The stratum of each row, numbered from 0: a different one for each combination of levels seen."""
    found, size = np.zeros(table.n_rows, dtype=np.int64), 1
    for name in names:
        place = table.schema.index(name)
        found = found * table.schema[place].cardinality + table.codes(place)
        size *= table.schema[place].cardinality
        if size > MOST_CODES:
            found = np.unique(found, return_inverse=True)[1].ravel().astype(np.int64)
            size = int(found.max(initial=0)) + 1
    seen = np.bincount(found, minlength=size) > 0
    return np.asarray((np.cumsum(seen) - 1)[found])


def is_level(table: Table, name: str, level: Value) -> NDArray[np.bool_]:
    """Rows in which a discrete column has a level."""
    place = table.schema.index(name)
    return np.asarray(table.codes(place) == level_code(table.schema, name, level))


def is_set(table: Table, names: Sequence[str], values: Sequence[Value]) -> NDArray[np.bool_]:
    """Rows in which discrete columns have the levels that they are set to."""
    found = np.ones(table.n_rows, dtype=np.bool_)
    for name, value in zip(names, values, strict=True):
        found &= is_level(table, name, value)
    return found


def refuse_unseen(contrast: EffectContrast, rows: NDArray[Any]) -> None:
    """Refuse a value that no row has."""
    for values, number in zip((contrast.to, contrast.base), rows, strict=True):
        if number == 0:
            among = " among the rows given" if contrast.given else ""
            raise DataError(f"no row has {contrast.setting(values)}{among}: its effect cannot be computed")


def seen_share(counts: StratumCounts) -> float:
    """The share of rows in strata in which both values were seen."""
    return float(counts.all_rows[(counts.rows > 0).all(axis=0)].sum() / counts.all_rows.sum())


def prior_weight(counts: StratumCounts, within: NDArray[np.bool_] | bool = True) -> float:
    """The share of the answer that is the prior's within some strata, for the value where it is larger."""
    if len(counts.all_rows) == 1:
        return 0.0  # nothing is adjusted for, so that the prior draws nowhere
    shares = PRIOR_ROWS / (counts.rows + PRIOR_ROWS) * within
    return float((shares @ counts.all_rows).max() / counts.all_rows.sum())


def support_of(
    contrast: EffectContrast, counts: StratumCounts, adjust: Sequence[str], *, wide: bool = False
) -> Support:
    """The share of rows in strata in which both values were seen."""
    total = int(counts.all_rows.sum())
    seen = np.asarray((counts.rows > 0).all(axis=0))
    share = seen_share(counts)
    rows_at = {
        contrast.setting(values): int(rows)
        for values, rows in zip((contrast.to, contrast.base), counts.rows.sum(axis=1), strict=True)
    }
    notes = notes_on_few(rows_at)
    for (said, rows), events in zip(rows_at.items(), counts.events.sum(axis=1), strict=True):
        if events in {0, rows}:
            notes.append(
                f"{'all' if events else 'none of'} {rows} rows with {said} have {contrast.y}="
                f"{contrast.event}: the prior makes too little of that, so that the interval is too narrow"
            )
    if share < 1:
        notes.append(
            f"extrapolation: {1 - share:.0%} of the rows are in strata of {', '.join(adjust)} in which not "
            f"both values were seen; there {'any chance is as likely' if wide else 'the prior answers'}"
        )
    weight = prior_weight(counts, seen)  # the note above has the others
    if weight > HEAVY_PRIOR:
        to, base = counts.events.sum(axis=1) / np.maximum(counts.rows.sum(axis=1), 1)
        notes.append(
            f"thin strata: the prior weighs {weight:.0%} and draws the answer towards the unadjusted "
            f"difference, {to - base:.3g}; the interval does not allow for that"
        )
    return Support(total, share, len(counts.all_rows), rows_at, tuple(notes))
