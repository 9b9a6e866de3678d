"""The mean of y, or the probability of its event, over the values that a continuous x is set to, with a band.

Computed as the effect is: from one regression on x and the adjustment set, averaged over the rows. The band
holds the curve at each value by itself with 95 %. The mean, or the logit, is a line in x: where the square of
x has a coefficient beside x (HC3), a note says that the relation is bent, and how much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.effects.contrast import EffectContrast
from dagora.effects.design import covariates
from dagora.effects.effect_rows import EffectRows
from dagora.effects.least_squares import least_squares
from dagora.effects.linear import no_variation
from dagora.effects.logistic import LEAST_CHANCE, average, fit_event
from dagora.effects.overlap import refuse_too_few
from dagora.effects.result import CurvePoint, Effect
from dagora.effects.sensitivity import SIGNIFICANCE, partial_r2
from dagora.effects.set_estimate import TAILS, Interval
from dagora.effects.set_rows import rows_set_alone
from dagora.effects.standardise import is_level
from dagora.graph.any_graph import AnyGraph

Array = NDArray[np.float64]

POINTS = 21
ENDS = (0.025, 0.975)
"""Quantiles of x between which the curve runs: beyond them, few rows carry it."""


def with_curve(effect: Effect, graph: AnyGraph, rows: EffectRows) -> Effect:
    """The effect with the curve over x; an error where there is none."""
    contrast = effect.contrast
    if rows.design is not None:
        raise rows.design.refusal("a curve takes every row for one")
    if effect.verdict not in {"adjustment", "set"} or effect.adjustment is None:
        raise OptionError(f"there is no curve: the verdict about the effect is '{effect.verdict}'")
    table = rows_set_alone(rows, contrast) if effect.verdict == "set" else None
    if table is None:
        table = rows.usable(graph, contrast, effect.adjustment).table
    adjust = [name for name in effect.adjustment if name not in contrast.given]
    curve, notes = mean_curve(table, contrast, adjust), notes_about_bend(table, contrast, adjust)
    return replace(effect, curve=tuple(curve), notes=(*effect.notes, *notes))


def mean_curve(table: Table, contrast: EffectContrast, adjust: Sequence[str]) -> list[CurvePoint]:
    """The mean of y, or the probability of its event, at values of x."""
    grid, x = curve_values(table, contrast), table.values(table.schema.index(contrast.x[0]))
    z = covariates(table, adjust)
    points = points_of_mean if contrast.event is None else points_of_event
    return [
        CurvePoint(float(v), one) for v, one in zip(grid, points(table, contrast, z, x, grid), strict=True)
    ]


def curve_values(table: Table, contrast: EffectContrast) -> Array:
    """The values of one continuous x at which a curve is computed."""
    place = table.schema.index(contrast.x[0])
    if len(contrast.x) > 1 or table.schema[place].kind is not Kind.CONTINUOUS:
        raise OptionError("a curve runs over the values of one continuous variable that is set")
    low, high = np.quantile(table.values(place), ENDS)
    return np.linspace(low, high, POINTS)


def notes_about_bend(table: Table, contrast: EffectContrast, adjust: Sequence[str]) -> list[str]:
    """A note where a straight line is too simple: the square of x has a coefficient that is not zero."""
    from scipy.special import stdtr, stdtrit

    x = table.values(table.schema.index(contrast.x[0]))
    spread = float(x.std())
    step = (x - x.mean()) / spread
    causes, z = np.column_stack([step, step**2]), covariates(table, adjust)
    found = bend_of_mean if contrast.event is None else bend_of_event
    try:
        bend, error, freedom, explained = found(table, contrast, z, causes)
    except DataError:  # x has two values, or rows are too few: no bend can be seen
        return []
    p_value = 2 * float(stdtr(freedom, -abs(bend) / error)) if error > 0 else 1.0
    if p_value >= SIGNIFICANCE:
        return []
    low, high = (bend + error * float(stdtrit(freedom, tail)) for tail in TAILS)
    square = Interval(*(value / spread**2 for value in (bend, low, high)))
    name, beside = contrast.x[0], " and ".join([contrast.x[0], *adjust])
    what = "the mean" if contrast.event is None else "the logit"
    said = f"the curve takes {what} as a line in {name}, but it is bent"
    in_numbers = f"the square of {name} has the coefficient {square} (p = {p_value:.2g}){explained}"
    return [f"{said}: beside {beside}, {in_numbers}"]


def bend_of_mean(
    table: Table, contrast: EffectContrast, z: Array, causes: Array
) -> tuple[float, float, float, str]:
    """The coefficient of the last cause, its standard error, its freedom, and what it explains in words."""
    design = np.column_stack([np.ones(len(z)), z, causes])
    refuse_too_few(*design.shape)
    fit = least_squares(design, table.values(table.schema.index(contrast.y)))
    if not fit.kept[-1]:
        raise DataError(no_variation(contrast, ()))
    last = np.eye(len(fit.kept))[-1]
    bend, variance = fit.combine(last)
    share = partial_r2(fit.usual_t(last), fit.freedom) if variance > 0 else 0.0
    explained = f" and explains {share:.0%} of the variance that the line leaves over"
    return bend, float(np.sqrt(variance)), fit.freedom, explained


def bend_of_event(
    table: Table, contrast: EffectContrast, z: Array, causes: Array
) -> tuple[float, float, float, str]:
    """The same in the logit."""
    every = np.ones(len(z), dtype=np.bool_)
    fit = fit_event(z, causes, is_level(table, contrast.y, contrast.event or ""), every, contrast, ())
    if fit.separated:
        raise DataError("the event is told without error")
    error = float(np.sqrt(fit.influence[:, -1] @ fit.influence[:, -1])) / len(z)
    return float(fit.coefficients[-1]), error, np.inf, ""


def points_of_mean(table: Table, contrast: EffectContrast, z: Array, x: Array, grid: Array) -> list[Interval]:
    """The line of a linear regression."""
    from scipy.special import stdtrit

    design = np.column_stack([np.ones(len(x)), z, x - x.mean()])
    fit = least_squares(design, table.values(table.schema.index(contrast.y)))
    steps = stdtrit(fit.freedom, np.array(TAILS))
    found = []
    for value in grid:
        mean, variance = fit.combine(np.array([1.0, *np.zeros(z.shape[1]), value - x.mean()]))
        low, high = mean + steps * np.sqrt(variance)
        found.append(Interval(mean, float(low), float(high)))
    return found


def points_of_event(
    table: Table, contrast: EffectContrast, z: Array, x: Array, grid: Array
) -> list[Interval]:
    """The average of a logistic regression; the band is symmetric in the logit."""
    from scipy.special import expit, logit, ndtri

    event = is_level(table, contrast.y, contrast.event or "")
    fitted = fit_event(z, (x - x.mean())[:, None], event, np.ones(len(x), dtype=np.bool_), contrast, ())
    found = []
    for value in grid - x.mean():
        mean, influence = average(fitted, np.column_stack([np.ones(len(x)), z, np.full(len(x), value)]))
        mean = min(max(mean, LEAST_CHANCE), 1 - LEAST_CHANCE)
        error = np.sqrt(influence @ influence) / len(x) / (mean * (1 - mean))
        low, high = expit(logit(mean) + error * ndtri(np.array(TAILS)))
        found.append(Interval(mean, float(low), float(high)))
    return found
