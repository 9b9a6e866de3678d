"""The effect on the mean of a continuous y, by regression on x and the adjustment set.

Where a discrete x is set, y is regressed on the adjustment set among the rows with each of the two values,
and both regressions are averaged over all rows: so the effect may differ between people. A continuous x has
one slope. Standard errors are HC3, intervals are those of Student's t.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.data.table import Table
from dagora.effects.contrast import EffectContrast
from dagora.effects.design import covariates, numbers_of_causes, split_causes
from dagora.effects.least_squares import FULL_LEVERAGE, RobustFit, independent_columns, least_squares
from dagora.effects.overlap import overlap_of, refuse_too_few, rows_compared
from dagora.effects.row_sums import EQUAL, RowSums
from dagora.effects.sensitivity import HiddenCause
from dagora.effects.set_estimate import TAILS, Interval, SetEstimate, Support

Array = NDArray[np.float64]

ROWS_PER_COLUMN = 5
"""Rows with a value of a discrete x for each column of its own regression; with fewer, both share slopes."""
ONE_SLOPE = "the mean of y is linear in x and in what is adjusted for"


def regress(
    table: Table, contrast: EffectContrast, adjust: Sequence[str], rows: RowSums = EQUAL
) -> SetEstimate:
    """The effect on the mean of y, adjusted for a set of columns."""
    discrete, continuous = split_causes(table, contrast)
    z = covariates(table, adjust, rows.weights)
    causes = numbers_of_causes(table, contrast, continuous)
    to, base = (np.array([float(values[k]) for k in continuous]) for values in (contrast.to, contrast.base))
    y = table.values(table.schema.index(contrast.y))
    sides = rows_compared(table, contrast, discrete)
    support = overlap_of(table, contrast, sides, z, adjust)
    if not discrete:
        value, variance, freedom, t = by_slope(contrast, z, causes, y, to - base, adjust, rows)
        of_t = freedom
        assumes: tuple[str, ...] = (ONE_SLOPE,)
    elif tell_apart(np.column_stack([np.ones(len(y)), z, causes]), sides):
        value, variance, freedom = by_groups(z, causes, y, sides, (to, base), rows)
        t, of_t = one_slope_t(z, y, sides) if len(contrast.x) == 1 else (None, freedom)
        assumes = ("among the rows with each value of x, the mean of y is linear in what is adjusted for",)
    else:
        some = sides[0] | sides[1]
        causes = np.column_stack([sides[0].astype(np.float64), causes])[some]
        step = np.concatenate([[1.0], to - base])
        value, variance, freedom, t = by_slope(
            contrast, z[some], causes, y[some], step, adjust, rows.take(some)
        )
        of_t = freedom
        assumes = (ONE_SLOPE, "the effect is the same for all (too few rows to tell)")
    found = student(value, variance, freedom, support, assumes)
    return with_hidden_cause(found, t, of_t) if rows.plain else found


def tell_apart(design: Array, sides: Sequence[NDArray[np.bool_]]) -> bool:
    """Return True if the rows with each value of x carry a regression of their own.

    They do not if they never have a level of the adjustment set that others have: nothing would say what it
    does, and the answer would depend on which level comes first.
    """
    columns = design.shape[1]
    if min(int(side.sum()) for side in sides) < ROWS_PER_COLUMN * columns:
        return False
    whole = int(independent_columns(design).sum())
    return all(int(independent_columns(design[side]).sum()) == whole for side in sides)


def with_hidden_cause(found: SetEstimate, t: float | None, freedom: int) -> SetEstimate:
    """The estimate with how strong a hidden common cause would have to be, by the usual t of one slope."""
    if t is None or not np.isfinite(t):
        return found
    interval = found.estimates["difference"]
    hidden = HiddenCause.of_slope(t, freedom, holds_zero=interval.low <= 0 <= interval.high)
    return replace(found, hidden_cause=hidden)


def student(
    value: float, variance: float, freedom: int, support: Support, assumes: tuple[str, ...]
) -> SetEstimate:
    """An estimate with Student's t interval."""
    from scipy.special import stdtrit

    error = float(np.sqrt(variance))
    low, high = (value + error * float(stdtrit(freedom, tail)) for tail in TAILS)

    def draw(number: int, rng: np.random.Generator) -> Array:
        return value + error * rng.standard_t(freedom, (number, 1))

    found = {"difference": Interval(value, low, high)}
    return SetEstimate(lambda: found, draw, support, "regression", assumes)


def by_slope(
    contrast: EffectContrast,
    z: Array,
    causes: Array,
    y: Array,
    step: Array,
    adjust: Sequence[str],
    rows: RowSums = EQUAL,
) -> tuple[float, float, int, float | None]:
    """The effect of a step in one regression of all rows, its variance, its freedom and, of one x, its t."""
    design = np.column_stack([np.ones(len(y)), z, causes - causes.mean(axis=0)])
    refuse_too_few(len(y), design.shape[1])
    fit = least_squares(design, y, rows)
    if not fit.kept[1 + z.shape[1] :].all():
        raise DataError(no_variation(contrast, adjust))
    weights = np.concatenate([np.zeros(1 + z.shape[1]), step])
    return *fit.combine(weights), fit.freedom, fit.usual_t(weights) if len(contrast.x) == 1 else None


def one_slope_t(z: Array, y: Array, sides: Sequence[NDArray[np.bool_]]) -> tuple[float | None, int]:
    """The usual t of a discrete x in one regression, and its freedom; None where z determines x."""
    rows = sides[0] | sides[1]
    fit = least_squares(np.column_stack([np.ones(len(y)), z, sides[0]])[rows], y[rows])
    last = np.eye(2 + z.shape[1])[-1]
    return fit.usual_t(last) if fit.kept[-1] else None, fit.freedom


def by_groups(
    z: Array,
    causes: Array,
    y: Array,
    sides: Sequence[NDArray[np.bool_]],
    values: Sequence[Array],
    rows: RowSums = EQUAL,
) -> tuple[float, float, int]:
    """The difference of two regressions at the mean of z, its variance and its freedom."""
    fits: list[RobustFit] = []
    means, variances = [], []
    for side, value in zip(sides, values, strict=True):
        design = np.column_stack([np.ones(int(side.sum())), z[side], causes[side] - value])
        fits.append(least_squares(design, y[side], rows.take(side)))
        mean, variance = fits[-1].combine(np.eye(design.shape[1])[0])
        means.append(mean)
        variances.append(variance)
    apart = (fits[0].coefficients - fits[1].coefficients)[1 : 1 + z.shape[1]]
    if rows.plain:
        among_rows = float(apart @ (z.T @ z) @ apart) / len(z) ** 2  # of the mean over people who differ
        return means[0] - means[1], sum(variances) + among_rows, fits[0].freedom + fits[1].freedom
    # Rows of a group may have either value: what each row moves the difference by is summed over groups.
    moved = rows.weights_of(len(z)) * (z @ apart) / len(z)
    for sign, side, value, fit in zip((1.0, -1.0), sides, values, fits, strict=True):
        design = np.column_stack([np.ones(int(side.sum())), z[side], causes[side] - value])
        moved[side] += sign * moved_intercept(design, y[side], rows.take(side), fit)
    variance = float(rows.squares(moved[:, None])[0, 0])
    return means[0] - means[1], variance, rows.freedom(len(y), 2 * int(fits[0].kept.sum()))


def moved_intercept(design: Array, y: Array, rows: RowSums, fit: RobustFit) -> Array:
    """The change of the intercept of a regression by each row."""
    weights, x = rows.weights_of(len(y)), design[:, fit.kept]
    inverse = np.linalg.inv((x * weights[:, None]).T @ x)
    leverage = weights * np.einsum("ij,jk,ik->i", x, inverse, x)
    residual = y - design @ fit.coefficients
    return np.asarray(weights * (x @ inverse[:, 0]) * residual / np.maximum(1 - leverage, FULL_LEVERAGE))


def no_variation(contrast: EffectContrast, adjust: Sequence[str]) -> str:
    """The refusal where a cause never changes, or others determine it."""
    if len(contrast.x) > 1:
        return f"others determine one of {', '.join((*contrast.x, *adjust))}: no rows tell its effect"
    if not adjust:
        return f"{contrast.x[0]} never changes, so that no row tells its effect"
    return (
        f"{', '.join(adjust)} determine{'s' if len(adjust) == 1 else ''} {contrast.x[0]}: no rows differ in "
        "the one alone, so that they do not tell its effect"
    )
