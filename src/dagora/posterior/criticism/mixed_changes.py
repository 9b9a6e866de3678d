"""Tests of whether a family with columns of both kinds is the same in two periods, from sums alone.

A continuous child: the likelihood ratio of one regression with its variance for each period against one for
both, as for continuous families, with an indicator of each level of a discrete parent.

A discrete child: the indicators of its levels are regressed together on the parents, on their squares where
they are continuous, and on indicators. The residuals of one regression for each period against those of one
for both are Wilks' Λ, with Bartlett's factor. These are the features of the score bic-mixed. A regression of
indicators only approximates how probabilities depend on numbers, and where the numbers moved, the best
approximation moves with them. So it is not tested where the mean or the spread of a continuous parent moved
by more than `MOST_MOVED` standard errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Kind, Schema
from dagora.posterior.criticism.period_test import EXACT, PeriodTest, largest_change, too_few
from dagora.stats.capabilities import require_indicator_moments
from dagora.stats.moments import merge_moments
from dagora.stats.statistics import Moments, Statistics

Floats = NDArray[np.float64]
# With the same logistic dependence in both periods, of 600 or 60,000 rows, so many families seem to have
# changed at the level 0.05: 3 to 7 % where means moved by up to 6 standard errors, 10 and 15 % at 12, and
# 30 and 42 % at 25.
MOST_MOVED = 10.0
UNDEFINED = "parents that repeat each other, or no spread"


class Regressed(NamedTuple):
    """A regression of features on others: slopes, products of what is left, and the rank of the others."""

    slopes: Floats
    left: Floats
    rank: int


@dataclass(frozen=True, slots=True)
class Period:
    """Moments of the features of a period, and the centre and scale of each continuous column."""

    schema: Schema
    moments: Moments
    starts: NDArray[np.int64]
    scales: dict[str, tuple[float, float]]

    @classmethod
    def of(cls, statistics: Statistics) -> Period:
        """The features of some statistics, whose scales follow from the moments of the columns."""
        found, own = require_indicator_moments(statistics), statistics.moments()
        numbers = [k for k, variable in enumerate(statistics.schema) if variable.kind is Kind.CONTINUOUS]
        scales = {}
        for rank, place in enumerate(numbers):
            feature = int(found.starts[place])
            spread = float(found.moments.scatter[feature, feature])
            scale = float(np.sqrt(own.scatter[rank, rank] / spread)) if spread > 0 else 1.0
            name = statistics.schema[place].name
            scales[name] = (float(own.mean[rank]) - scale * float(found.moments.mean[feature]), scale)
        return cls(statistics.schema, found.moments, found.starts, scales)

    def features(
        self, wanted: Sequence[tuple[str, int | str]], units: dict[str, tuple[float, float]]
    ) -> Moments:
        """Moments of powers of continuous columns in some units, and of indicators of levels."""
        turn, shift = np.zeros((len(wanted), len(self.moments.mean))), np.zeros(len(wanted))
        for row, (name, what) in enumerate(wanted):
            place = self.schema.index(name)
            first = int(self.starts[place])
            if isinstance(what, str):
                levels = self.schema[place].levels
                if levels and what == levels[0]:
                    turn[row, first : first + len(levels) - 1], shift[row] = -1.0, 1.0
                elif what in levels:
                    turn[row, first + levels.index(what) - 1] = 1.0
                continue
            (centre, scale), (zero, unit) = self.scales[name], units[name]
            slope, offset = scale / unit, (centre - zero) / unit
            if what == 1:
                turn[row, first], shift[row] = slope, offset
            else:
                turn[row, first : first + 2], shift[row] = (2 * slope * offset, slope**2), offset**2
        own = self.moments
        return Moments(own.n, turn @ own.mean + shift, turn @ own.scatter @ turn.T)


def compare_mixed(family: Sequence[str], before: Statistics, now: Statistics) -> PeriodTest | str:
    """The test of a family with columns of both kinds, the child last."""
    one, other = Period.of(before), Period.of(now)
    *parents, child = family
    discrete = one.schema[one.schema.index(child)].kind is Kind.DISCRETE
    given: list[tuple[str, int | str]] = []
    for name in parents:
        if one.schema[one.schema.index(name)].kind is Kind.CONTINUOUS:
            given += [(name, 1), (name, 2)] if discrete else [(name, 1)]
        else:
            given += [(name, level) for level in joined_levels(name, (one.schema, other.schema))[1:]]
    if not discrete:
        return compare_means(one, other, given, child)
    levels = joined_levels(child, (one.schema, other.schema))
    return compare_shares(one, other, given, [(child, level) for level in levels])


def compare_means(
    one: Period, other: Period, given: list[tuple[str, int | str]], child: str
) -> PeriodTest | str:
    """The likelihood ratio of a continuous child."""
    units = dict.fromkeys(one.scales, (0.0, 1.0))
    periods = [each.features([*given, (child, 1)], units) for each in (one, other)]
    both = merge_moments(*periods)
    fits = [regress(each, len(given)) for each in (*periods, both)]
    rank = fits[2].rank
    if refusal := too_few(min(each.n for each in periods), rank):
        return refusal
    left = [float(fit.left[0, 0]) for fit in fits]
    if any(rest <= EXACT * each.scatter[-1, -1] for rest, each in zip(left, (*periods, both), strict=True)):
        return UNDEFINED
    ratio = both.n * np.log(left[2] / both.n)
    ratio -= sum(each.n * np.log(rest / each.n) for rest, each in zip(left, periods, strict=False))
    scaled = float(ratio) * (1 - (rank + 3) / min(each.n for each in periods))
    # Of a level that a period lacks there is nothing to compare.
    seen = [k for k in range(len(given)) if all(each.scatter[k, k] > 0 for each in periods)]
    kept = [*seen, len(given)]
    names = [name if what == 1 else f"{name}={what}" for name, what in given] + [child]
    largest = largest_change(
        [names[k] for k in kept],
        (part(periods[0], kept), part(periods[1], kept)),
        (fits[0].slopes[seen, 0], fits[1].slopes[seen, 0]),
        (left[0], left[1]),
    )
    return PeriodTest(max(0.0, scaled), fits[0].rank + fits[1].rank - rank + 2, largest)


def compare_shares(
    one: Period, other: Period, given: list[tuple[str, int | str]], levels: list[tuple[str, str]]
) -> PeriodTest | str:
    """Wilks' Λ of the levels of a discrete child."""
    whole = [each.features([*given, *levels], one.scales) for each in (one, other)]
    for k, (name, what) in enumerate(given):
        if what == 1 and (far := standard_errors(whole[0], whole[1], k)) > MOST_MOVED:
            return (
                f"{name} moved by {far:.0f} standard errors, and from sums alone levels can be compared only "
                "where the numbers that they depend on stay"
            )
    # Levels that occur; the first of them follows from the others.
    occurs = [k for k in range(len(levels)) if any(each.mean[len(given) + k] > EXACT for each in whole)]
    own = [len(given) + k for k in occurs[1:]]
    periods = [part(each, [*range(len(given)), *own]) for each in whole]
    fits = [regress(each, len(given)) for each in (*periods, merge_moments(*periods))]
    rank, number = fits[2].rank, len(own)
    if refusal := too_few(min(each.n for each in periods), rank):
        return refusal
    if not number:
        return PeriodTest(0.0, 0, "")
    tested = fits[0].rank + fits[1].rank - rank + 1
    free = sum(each.n for each in periods) - fits[0].rank - fits[1].rank - 2
    sign, within = np.linalg.slogdet(scaled(fits[0].left + fits[1].left, fits[2].left))
    if sign <= 0 or within < np.log(EXACT):
        return UNDEFINED
    together = float(np.linalg.slogdet(scaled(fits[2].left, fits[2].left))[1])
    statistic = (free - (number - tested + 1) / 2) * (together - float(within))
    return PeriodTest(max(0.0, statistic), number * tested, largest_share(whole, len(given), levels))


def standard_errors(one: Moments, other: Moments, place: int) -> float:
    """The distance that the mean or the spread of a feature moved, in standard errors."""
    spreads = [float(np.sqrt(each.scatter[place, place] / each.n)) for each in (one, other)]
    if not all(spreads):
        return 0.0
    mean = abs(float(other.mean[place] - one.mean[place]))
    mean /= float(np.hypot(spreads[0] / np.sqrt(one.n), spreads[1] / np.sqrt(other.n)))
    ratio = abs(float(np.log(spreads[1] / spreads[0])))
    return max(mean, ratio / float(np.sqrt(0.5 / one.n + 0.5 / other.n)))


def regress(moments: Moments, given: int) -> Regressed:
    """The regression of the last features on the first ones, some of which may repeat others."""
    scatter = moments.scatter
    scale = np.sqrt(np.diagonal(scatter)[:given])
    inverse = np.divide(1.0, scale, out=np.zeros(given), where=scale > 0)
    own = scatter[:given, :given] * np.outer(inverse, inverse)
    cross = scatter[:given, given:] * inverse[:, None]
    values, vectors = np.linalg.eigh(own) if given else (np.zeros(0), np.zeros((0, 0)))
    kept = values > EXACT * max(1.0, float(values.max(initial=0.0)))
    turned = vectors[:, kept].T @ cross
    slopes = (vectors[:, kept] / values[kept]) @ turned * inverse[:, None]
    left = scatter[given:, given:] - turned.T @ (turned / values[kept][:, None])
    return Regressed(slopes, left, int(kept.sum()))


def scaled(left: Floats, by: Floats) -> Floats:
    """Products of residuals in units of those of both periods."""
    spread = np.sqrt(np.maximum(np.diagonal(by), np.finfo(np.float64).tiny))
    result: Floats = left / np.outer(spread, spread)
    return result


def largest_share(periods: Sequence[Moments], given: int, levels: Sequence[tuple[str, str]]) -> str:
    """The level whose share at the mean of the parents changed most."""
    pooled = merge_moments(periods[0], periods[1]).mean[:given]
    shares = [
        each.mean[given:] + (pooled - each.mean[:given]) @ regress(each, given).slopes for each in periods
    ]
    place = int(np.abs(shares[1] - shares[0]).argmax())
    child, level = levels[place]
    before, now = (float(np.clip(share[place], 0.0, 1.0)) for share in shares)
    return f"P({child}={level}) at the parents' means {before:.3g} before, {now:.3g} now"


def part(moments: Moments, places: Sequence[int]) -> Moments:
    """The moments of some features."""
    chosen = list(places)
    return Moments(moments.n, moments.mean[chosen], moments.scatter[np.ix_(chosen, chosen)])


def joined_levels(name: str, schemas: Sequence[Schema]) -> list[str]:
    """The levels of a column in either period."""
    return list(dict.fromkeys(level for schema in schemas for level in schema[schema.index(name)].levels))
