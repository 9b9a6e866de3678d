"""The effect on the probability of an event where some columns are continuous: standardised regression.

A logistic regression of the event on x and the adjustment set says how likely the event is in each row with x
set; these are averaged over the rows. Where a discrete x is set, there is a regression for each value. The
covariance of the two averages is that of their influence functions, in which the rows, the regressions and
who is averaged over vary together; differences and logarithms of ratios follow by the delta method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.data.table import Table
from dagora.effects.contrast import EffectContrast, compare_means
from dagora.effects.design import covariates, numbers_of_causes, split_causes
from dagora.effects.least_squares import independent_columns
from dagora.effects.linear import no_variation, tell_apart
from dagora.effects.overlap import overlap_of, refuse_too_few, rows_compared
from dagora.effects.row_sums import EQUAL, RowSums
from dagora.effects.set_estimate import TAILS, Interval, SetEstimate
from dagora.effects.standardise import is_level
from dagora.network.softmax_fit import RIDGE, fit_softmax

Array = NDArray[np.float64]

# By hand: no row counts for more than a hundred times its residual.
FULL_LEVERAGE = 0.01
# Chances of 0 and 1 have no odds; what is rounded away is far below any interval.
LEAST_CHANCE = 1e-12
TOO_NARROW = "a regression makes too little of that, so that the interval is too narrow"


@dataclass(frozen=True)
class FittedEvent:
    """A logistic regression: its coefficients, and how each row moved them (zero in rows not used)."""

    coefficients: Array
    influence: Array
    separated: bool  # some threshold of the sum tells events from others without error


def regress_event(
    table: Table, contrast: EffectContrast, adjust: Sequence[str], rows: RowSums = EQUAL
) -> SetEstimate:
    """The effect on the probability of an event, adjusted for a set of columns."""
    discrete, continuous = split_causes(table, contrast)
    z = covariates(table, adjust, rows.weights)
    numbers = numbers_of_causes(table, contrast, continuous)
    centre = numbers.mean(axis=0)
    causes = numbers - centre
    sides = rows_compared(table, contrast, discrete)
    support = overlap_of(table, contrast, sides, z, adjust)
    event = is_level(table, contrast.y, contrast.event or "")
    support = replace(support, notes=(*support.notes, *one_sided(contrast, sides, event)))
    sets = (contrast.to, contrast.base)
    values = [np.array([float(one[k]) for k in continuous]) - centre for one in sets]
    assumes = ["the logit of the event is linear in what is adjusted for and in continuous x"]
    if discrete and tell_apart(np.column_stack([np.ones(len(z)), z, causes]), sides):
        fits = [fit_event(z, causes, event, side, contrast, adjust, rows) for side in sides]
    else:
        if discrete:  # they differ by a constant
            assumes.append("the effect on the logit is the same for all (too few rows to tell)")
            causes = np.column_stack([sides[0], causes])
            values = [
                np.concatenate([[first], value]) for first, value in zip((1.0, 0.0), values, strict=True)
            ]
        fits = [fit_event(z, causes, event, sides[0] | sides[1], contrast, adjust, rows)] * 2
    if any(fit.separated for fit in fits):
        said = f"{contrast.y}={contrast.event} is told without error by what the regression has: {TOO_NARROW}"
        support = replace(support, notes=(*support.notes, said))
    averages = [
        average(fit, np.column_stack([np.ones(len(z)), z, np.tile(value, (len(z), 1))]), rows.weights)
        for fit, value in zip(fits, values, strict=True)
    ]
    means = [mean for mean, _ in averages]
    spread = np.stack([influence for _, influence in averages])
    covariance = rows.squares(spread.T) / len(z) ** 2
    chances = np.clip(np.array(means), LEAST_CHANCE, 1 - LEAST_CHANCE)

    def summary() -> dict[str, Interval]:
        return {scale: by_delta(chances, covariance, scale) for scale in contrast.scales}

    def draw(number: int, rng: np.random.Generator) -> Array:
        slope = 1 / (chances * (1 - chances))
        logits = rng.multivariate_normal(
            np.log(chances / (1 - chances)), covariance * np.outer(slope, slope), number, method="eigh"
        )
        return contrast.compare((1 / (1 + np.exp(-logits))).T)

    return SetEstimate(summary, draw, support, "standardised logistic regression", tuple(assumes))


def one_sided(
    contrast: EffectContrast, sides: Sequence[NDArray[np.bool_]], event: NDArray[np.bool_]
) -> list[str]:
    """Notes about values of x with no event, or with nothing else: there a regression knows no error."""
    notes = []
    for side, values in zip(sides, (contrast.to, contrast.base), strict=True):
        events, rows = int(event[side].sum()), int(side.sum())
        if events in {0, rows} and not side.all():
            what = f"{'all' if events else 'none of'} {rows} rows"
            said = contrast.setting(values, levels_only=True)
            notes.append(f"{what} with {said} have {contrast.y}={contrast.event}: {TOO_NARROW}")
    return notes


def fit_event(
    z: Array,
    causes: Array,
    event: NDArray[np.bool_],
    rows: NDArray[np.bool_],
    contrast: EffectContrast,
    adjust: Sequence[str],
    sums: RowSums = EQUAL,
) -> FittedEvent:
    """Regress an event on centred columns in some rows."""
    design = np.column_stack([np.ones(len(z)), z, causes])
    refuse_too_few(int(rows.sum()), design.shape[1])
    kept = independent_columns(design[rows])
    if not kept[1 + z.shape[1] :].all():
        raise DataError(no_variation(contrast, adjust))
    x, y = design[rows][:, kept], event[rows].astype(np.float64)
    weights = None if sums.weights is None else sums.weights[rows]
    intercepts, slopes = fit_softmax(event[rows].astype(np.int64), x[:, 1:], 2, weights=weights)
    found = np.concatenate([intercepts[1:], slopes[1]])
    chance = 1 / (1 + np.exp(-x @ found))
    unit = np.concatenate([[1.0], x[:, 1:].std(axis=0)])  # the ridge is one of standardised columns
    scaled = x / unit
    bend = chance * (1 - chance) * (1.0 if weights is None else weights)
    inverse = np.linalg.inv((scaled * bend[:, None]).T @ scaled + RIDGE * np.eye(len(found)))
    leverage = bend * np.einsum("ij,jk,ik->i", scaled, inverse, scaled)
    residual = (y - chance) * (1.0 if weights is None else weights)
    scores = scaled * (residual / np.maximum(1 - leverage, FULL_LEVERAGE))[:, None]
    coefficients, influence = np.zeros(len(kept)), np.zeros(design.shape)
    coefficients[kept] = found
    influence[np.ix_(np.flatnonzero(rows), np.flatnonzero(kept))] = len(z) * scores @ inverse / unit
    separated = 0 < y.sum() < len(y) and chance[y == 1].min() > chance[y == 0].max()
    return FittedEvent(coefficients, influence, bool(separated))


def average(fitted: FittedEvent, design: Array, weights: Array | None = None) -> tuple[float, Array]:
    """The mean probability of the event over all rows with x set, and its influence function."""
    chance = 1 / (1 + np.exp(-design @ fitted.coefficients))
    if weights is None:
        mean = float(chance.mean())
        slope = (design * (chance * (1 - chance))[:, None]).mean(axis=0)
        return mean, chance - mean + fitted.influence @ slope
    mean = float(np.average(chance, weights=weights))
    slope = np.average(design * (chance * (1 - chance))[:, None], axis=0, weights=weights)
    return mean, weights * (chance - mean) + fitted.influence @ slope


def by_delta(chances: Array, covariance: Array, scale: str) -> Interval:
    """A comparison of two probabilities with its interval; that of a ratio is symmetric in its logarithm."""
    from scipy.special import ndtri

    value = float(compare_means(chances[0], chances[1], scale))
    slope = {
        "difference": np.array([1.0, -1.0]),
        "ratio": np.array([1.0, -1.0]) / chances,
        "odds ratio": np.array([1.0, -1.0]) / (chances * (1 - chances)),
    }[scale]
    steps = np.sqrt(slope @ covariance @ slope) * ndtri(TAILS)
    low, high = value + steps if scale == "difference" else value * np.exp(steps)
    return Interval(value, float(low), float(high))
