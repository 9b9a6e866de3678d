"""Standardisation: the effect between discrete columns, stratum by stratum of the adjustment set Z.

P(y | do(x)) = Σ_z P(y | x, z) P(z). Every table that enters has its posterior: P(z) a Dirichlet with the
counts of the strata seen, P(y | x, z) a Beta with the counts and one row more, spread as y is among all rows
with that x. The interval lies between quantiles of what draws of all tables give.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.data.table import Table
from dagora.effects.contrast import EffectContrast, Value, compare_means, written
from dagora.effects.set_estimate import FEW_ROWS, SetEstimate, Support, summarise

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

DRAWS = 4000
"""Draws behind an interval: its ends are quantiles with a standard error of about 0.3 %."""
PRIOR_ROWS = 1.0
HEAVY_PRIOR = 0.05
"""Weight of the prior's rows in an answer above which another estimator is used, or the weight told."""
BLOCK = 1 << 22  # numbers drawn at a time


@dataclass(frozen=True)
class StratumCounts:
    """Rows and events of the two values compared, `[value, stratum]`, and all rows of each stratum."""

    rows: Codes
    events: Codes
    all_rows: Codes


def standardise(table: Table, contrast: EffectContrast, adjust: Sequence[str], seed: int = 0) -> SetEstimate:
    """The effect between discrete columns, adjusted for discrete columns."""
    counts = count_strata(table, contrast, adjust)
    refuse_unseen(contrast, counts.rows.sum(axis=1))
    cells = cell_posteriors(counts)
    mean = (cells[0] / cells.sum(axis=0) @ counts.all_rows) / counts.all_rows.sum()

    def draw(number: int, rng: np.random.Generator) -> Array:
        means = draw_means(counts, cells, number, rng)
        return np.stack([compare_means(means[0], means[1], scale) for scale in contrast.scales], axis=1)

    found = draw(DRAWS, np.random.default_rng(seed))
    estimates = {
        scale: summarise(float(compare_means(mean[0], mean[1], scale)), found[:, place])
        for place, scale in enumerate(contrast.scales)
    }
    return SetEstimate(estimates, draw, support_of(contrast, counts, adjust), "standardisation")


def count_strata(table: Table, contrast: EffectContrast, adjust: Sequence[str]) -> StratumCounts:
    """Count rows and events in every stratum of the adjustment set."""
    stratum = strata_of(table, adjust)
    number = int(stratum.max(initial=0)) + 1
    event = is_level(table, contrast.y, contrast.event or "")
    sides = [is_set(table, contrast.x, values) for values in (contrast.to, contrast.base)]
    return StratumCounts(
        np.stack([np.bincount(stratum[side], minlength=number) for side in sides]),
        np.stack([np.bincount(stratum[side & event], minlength=number) for side in sides]),
        np.bincount(stratum, minlength=number),
    )


def strata_of(table: Table, names: Sequence[str]) -> Codes:
    """The stratum of each row, numbered from 0: a different one for each combination of levels seen."""
    found = np.zeros(table.n_rows, dtype=np.int64)
    for name in names:
        place = table.schema.index(name)
        joined = found * table.schema[place].cardinality + table.codes(place)
        found = np.unique(joined, return_inverse=True)[1].ravel().astype(np.int64)
    return found


def is_level(table: Table, name: str, level: Value) -> NDArray[np.bool_]:
    """Rows in which a discrete column has a level."""
    place = table.schema.index(name)
    return np.asarray(table.codes(place) == table.schema[place].levels.index(str(level)))


def is_set(table: Table, names: Sequence[str], values: Sequence[Value]) -> NDArray[np.bool_]:
    """Rows in which discrete columns have the levels that they are set to."""
    found = np.ones(table.n_rows, dtype=np.bool_)
    for name, value in zip(names, values, strict=True):
        found &= is_level(table, name, value)
    return found


def refuse_unseen(contrast: EffectContrast, rows: NDArray[np.integer]) -> None:
    """Refuse a value that no row has."""
    for values, number in zip((contrast.to, contrast.base), rows, strict=True):
        if number == 0:
            said = " and ".join(f"{a}={written(b)}" for a, b in zip(contrast.x, values, strict=True))
            among = " among the rows given" if contrast.given else ""
            raise DataError(f"no row has {said}{among}: its effect cannot be computed")


def cell_posteriors(counts: StratumCounts) -> Array:
    """The two parameters of the Beta of each cell, `[event or not, value, stratum]`."""
    rows, events = counts.rows.sum(axis=1), counts.events.sum(axis=1)
    share = ((events + 0.5) / (rows + 1.0))[:, None] * PRIOR_ROWS
    return np.stack([counts.events + share, counts.rows - counts.events + PRIOR_ROWS - share])


def draw_means(counts: StratumCounts, cells: Array, number: int, rng: np.random.Generator) -> Array:
    """Draw P(event | do(x)) for the two values from the posterior of all tables, `[value, draw]`."""
    strata = len(counts.all_rows)
    found = np.empty((2, number))
    step = max(1, BLOCK // strata)
    for start in range(0, number, step):
        size = min(step, number - start)
        weights = rng.standard_gamma(counts.all_rows.astype(np.float64), (size, strata))
        weights /= weights.sum(axis=1, keepdims=True)
        for side in (0, 1):
            chances = rng.beta(cells[0, side], cells[1, side], (size, strata))
            found[side, start : start + size] = (weights * chances).sum(axis=1)
    return found


def prior_weight(counts: StratumCounts, within: NDArray[np.bool_] | bool = True) -> float:
    """The share of the answer that is the prior's within some strata, for the value where it is larger."""
    if len(counts.all_rows) == 1:
        return 0.0  # nothing is adjusted for, so that the prior draws nowhere
    shares = PRIOR_ROWS / (counts.rows + PRIOR_ROWS) * within
    return float((shares @ counts.all_rows).max() / counts.all_rows.sum())


def support_of(contrast: EffectContrast, counts: StratumCounts, adjust: Sequence[str]) -> Support:
    """The share of rows in strata in which both values were seen."""
    total = int(counts.all_rows.sum())
    seen = np.asarray((counts.rows > 0).all(axis=0))
    share = float(counts.all_rows[seen].sum() / total)
    rows_at = {
        " and ".join(f"{a}={written(b)}" for a, b in zip(contrast.x, values, strict=True)): int(rows)
        for values, rows in zip((contrast.to, contrast.base), counts.rows.sum(axis=1), strict=True)
    }
    notes = [f"only {rows} rows have {said}" for said, rows in rows_at.items() if rows < FEW_ROWS]
    for (said, rows), events in zip(rows_at.items(), counts.events.sum(axis=1), strict=True):
        if events in {0, rows}:
            notes.append(
                f"{'all' if events else 'none of'} {rows} rows with {said} have {contrast.y}="
                f"{contrast.event}: the prior makes too little of that, so that the interval is too narrow"
            )
    if share < 1:
        notes.append(
            f"extrapolation: {1 - share:.0%} of the rows are in strata of {', '.join(adjust)} in which not "
            "both values were seen; there the prior answers"
        )
    weight = prior_weight(counts, seen)  # the note above has the others
    if weight > HEAVY_PRIOR:
        to, base = counts.events.sum(axis=1) / np.maximum(counts.rows.sum(axis=1), 1)
        notes.append(
            f"thin strata: the prior weighs {weight:.0%} and draws the answer towards the unadjusted "
            f"difference, {to - base:.3g}; the interval does not allow for that"
        )
    return Support(total, share, len(counts.all_rows), rows_at, tuple(notes))
