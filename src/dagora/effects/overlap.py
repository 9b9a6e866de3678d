"""Overlap where columns are continuous: the values of x compared must occur, for all kinds of rows.

Where a discrete x is set, a logistic regression says how likely each value compared is in each row, given
what is adjusted for. Rows in which one of them is nearly impossible have nobody to compare with.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.base.phrases import amount
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.effects.contrast import EffectContrast, value_text
from dagora.effects.set_estimate import Support, notes_on_few
from dagora.effects.standardise import is_level, refuse_unseen, strata_of

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

IMPOSSIBLE = 0.01
"""A value of x that is less likely than this counts as not supported."""


def rows_compared(table: Table, contrast: EffectContrast, discrete: Sequence[int]) -> list[Mask]:
    """Rows in which the discrete causes have the first, and the second of the values compared."""
    sides = []
    for values in (contrast.to, contrast.base):
        found = np.ones(table.n_rows, dtype=np.bool_)
        for place in discrete:
            found &= is_level(table, contrast.x[place], values[place])
        sides.append(found)
    if discrete:
        refuse_unseen(contrast, np.array([side.sum() for side in sides]))
    return sides


def refuse_too_few(rows: int, columns: int) -> None:
    """Refuse a regression with too few rows for its columns."""
    if rows <= columns:
        raise DataError(
            f"{amount(rows, 'row')} {'is' if rows == 1 else 'are'} too few for a regression on "
            f"{amount(columns - 1, 'column')} (levels count as columns): it takes at least {columns + 1} rows"
        )


def overlap_of(
    table: Table, contrast: EffectContrast, sides: Sequence[Mask], z: Array, adjust: Sequence[str]
) -> Support:
    """The rows that have each value, and the share of rows in which each is likely enough."""
    notes, share, rows_at = [], 1.0, {}
    if not sides[0].all():  # a discrete cause
        rows_at = {
            contrast.setting(values, levels_only=True): int(side.sum())
            for values, side in zip((contrast.to, contrast.base), sides, strict=True)
        }
        notes += notes_on_few(rows_at)
        likely, seen = likely_share(sides, z), seen_share(table, sides, levels_among(table, adjust))
        share = min(likely, seen)
        if likely < 1 - IMPOSSIBLE:
            notes.append(
                f"extrapolation: given {', '.join(adjust)}, one of the values compared is nearly impossible "
                f"(less than {IMPOSSIBLE:.0%}) in {1 - likely:.0%} of the rows"
            )
        elif seen < 1 - IMPOSSIBLE:
            notes.append(
                f"extrapolation: {1 - seen:.0%} of the rows are in strata of "
                f"{', '.join(levels_among(table, adjust))} in which not both values were seen; there the "
                "regression answers from others"
            )
    notes += unseen_values(table, contrast)
    return Support(table.n_rows, share, None, rows_at, tuple(notes))


def unseen_values(table: Table, contrast: EffectContrast) -> list[str]:
    """Notes about values of continuous causes outside of the range that rows have."""
    notes = []
    for place, name in enumerate(contrast.x):
        if not isinstance(contrast.to[place], str) and not contrast.per_unit:
            values = table.values(table.schema.index(name))
            low, high = float(values.min()), float(values.max())
            beyond = [v for v in (contrast.to[place], contrast.base[place]) if not low <= float(v) <= high]
            notes += [
                f"extrapolation: {name}={value_text(v)} was not seen; the rows have {value_text(low)} to "
                f"{value_text(high)}"
                for v in beyond
            ]
    return notes


def levels_among(table: Table, names: Sequence[str]) -> list[str]:
    """The discrete ones of some columns."""
    return [name for name in names if table.schema[table.schema.index(name)].kind is Kind.DISCRETE]


def seen_share(table: Table, sides: Sequence[Mask], names: Sequence[str]) -> float:
    """The share of rows in strata of discrete columns in which both values were seen."""
    stratum = strata_of(table, names)
    number = int(stratum.max()) + 1
    seen = [np.bincount(stratum[side], minlength=number) > 0 for side in sides]
    return float((seen[0] & seen[1])[stratum].mean())


def likely_share(sides: Sequence[Mask], z: Array) -> float:
    """The share of rows in which both values are likely enough given the columns adjusted for."""
    from dagora.network.softmax_fit import fit_softmax

    if not z.shape[1]:
        return 1.0
    likely = np.ones(len(z), dtype=np.bool_)
    for side in sides:
        if side.all() or not side.any():
            continue
        intercepts, slopes = fit_softmax(side.astype(np.int64), z, 2)
        likely &= intercepts[1] + z @ slopes[1] >= np.log(IMPOSSIBLE / (1 - IMPOSSIBLE))
    return float(likely.mean())
