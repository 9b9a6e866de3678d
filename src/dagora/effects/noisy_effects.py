"""Effects from one release with noise for privacy; their intervals include the noise.

Of discrete columns, the joint table of all columns of the question is released. Given a noisy count, the true
one is a normal around it that is not negative; for each draw of all counts, the tables of standardisation
are drawn from their posterior. Of continuous columns, moments are released. With X and y in the units of the
ranges, noise E on the sums moves the coefficients b by (XᵀX)⁻¹ E c, c = (1, −b) over y and the columns of X,
to first order. That variance is added to the usual one: robust standard errors would need more sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.effects.assumptions import SAME_NOISE_IN_RELEASE
from dagora.effects.contrast import EffectContrast, level_code, level_codes
from dagora.effects.effect_source import OfferedSet
from dagora.effects.linear import ONE_SLOPE, student
from dagora.effects.set_estimate import DRAWS, SetEstimate, Support, notes_on_few, summarise_scales
from dagora.effects.strata_posterior import StrataPosterior, draw_in_blocks
from dagora.graph.any_graph import AnyGraph
from dagora.parties.horizontal.plan.codebook import Codebook
from dagora.parties.privacy.moment_features import GRID, MEAN_BITS, ROOT_BITS, ROOT_TWO, mean_weight
from dagora.parties.privacy.terms import PrivacyTerms

Array = NDArray[np.float64]
Names = tuple[str, ...]

CLEAR = 4.0
"""Standard deviations of the noise that a count must have to carry an answer."""
MOSTLY_CLEAR = 2.5
"""Standard deviations of the noise that the mean count of a stratum must have.

In simulations, 95 % intervals held 98 % or more above 3, 80 to 92 % about 2, and 15 % about 1."""
LARGEST_MOVE = 0.25
"""Noise of the products, in units in which they are the identity, up to which the first order is enough."""
TOO_NOISY = (
    "the noise is as large as what the columns tell apart: release from more rows, in narrower ranges, or "
    "with a larger epsilon"
)
SHRUNK = "few rows are longer than the row bound, to which they are shrunk: the interval leaves that out"
MUCH_LENGTH = 0.5
"""Mean of the squares of a row, as a share of the row bound, above which many rows are longer than that."""
INCLUDED = "the interval includes the noise for privacy"


@dataclass(frozen=True)
class NoisySource:
    """A release as a source of effects."""

    terms: PrivacyTerms
    codebook: Codebook
    contrast: EffectContrast
    sums: NDArray[np.int64]

    @property
    def names(self) -> Names:
        """The columns of the release."""
        return self.codebook.schema.names

    @property
    def n_rows(self) -> int:
        """The number of rows, as the release tells it."""
        total = self.sums[0] / GRID if self.codebook.continuous else self.sums.sum()
        if total < 2:
            raise DataError(
                "the noise is larger than the number of rows: release from more rows, or with a larger "
                "epsilon"
            )
        return round(float(total))

    def offer(self, graph: AnyGraph, contrast: EffectContrast, adjust: Names) -> OfferedSet:  # noqa: ARG002
        """The support and the estimate that the release offers for an effect adjusted for a set."""
        adjust = tuple(name for name in adjust if name not in contrast.given)
        if self.codebook.continuous:
            return OfferedSet(adjust, self.n_rows, 1.0, lambda _seed: self._slope(adjust), (INCLUDED,))
        found = NoisyStrata.of(self, adjust)
        return OfferedSet(adjust, found.rows, found.share, found.estimate, (INCLUDED,))

    @cached_property
    def _products(self) -> tuple[Array, Array]:
        """Sums of products of 1 and the columns, in units of the ranges, and the variance of their noise."""
        d = len(self.names)
        values, variance = self.sums / GRID, self.terms.sum_variance / GRID**2
        weight = mean_weight(Fraction(self.terms.row_bound or 0)) / 2**MEAN_BITS
        scale = np.ones((d + 1, d + 1))
        scale[0, 1:] = 1 / weight
        scale[1:, 1:][np.triu_indices(d, 1)] = 2**ROOT_BITS / ROOT_TWO
        whole = np.zeros((d + 1, d + 1))
        whole[np.triu_indices(d + 1)] = values
        upper = whole * scale
        return np.triu(upper) + np.triu(upper, 1).T, np.triu(scale**2) * variance + np.triu(
            scale**2, 1
        ).T * variance

    def _slope(self, adjust: Names) -> SetEstimate:
        sums, noise = self._products
        rows, contrast = self.n_rows, self.contrast
        places = [0, *(1 + self.names.index(name) for name in (*adjust, *contrast.x))]
        y = 1 + self.names.index(contrast.y)
        inner, inner_noise = (part[np.ix_(places, places)] for part in (sums, noise))
        if np.linalg.eigvalsh(inner)[0] <= 0:
            raise DataError(TOO_NOISY)
        inverse = np.linalg.inv(inner)
        own = np.diag(inverse)
        if float((inner_noise * (np.outer(own, own) + inverse**2)).sum()) > LARGEST_MOVE**2:
            raise DataError(TOO_NOISY)
        b = inverse @ sums[places, y]
        left = float(sums[y, y] - b @ sums[places, y])
        moved = np.outer(b, b) * inner_noise  # c_i c_k Var(E_ik)
        np.fill_diagonal(moved, inner_noise @ b**2 + noise[places, y])
        freedom = max(1, rows - len(places))
        spread = max(left, 0.0) / freedom + math.sqrt(float(noise[y, y])) / rows  # not below its own noise
        covariance = inverse * spread + inverse @ moved @ inverse
        width = {coding.name: coding.half_width for coding in self.codebook.continuous}
        weights = np.zeros(len(places))
        for place, (name, to, base) in enumerate(zip(contrast.x, contrast.to, contrast.base, strict=True)):
            step = (float(to) - float(base)) * width[contrast.y] / width[name]
            weights[1 + len(adjust) + place] = step
        value, variance = float(weights @ b), float(weights @ covariance @ weights)
        return student(
            value, variance, freedom, self._support(rows), (ONE_SLOPE, SAME_NOISE_IN_RELEASE, SHRUNK)
        )

    def _support(self, rows: int) -> Support:
        """The rows, and whether many of them were shrunk."""
        length = float(np.trace(self._products[0][1:, 1:])) / rows / (self.terms.row_bound or 1)
        said = (
            "many rows are longer than the row bound and were shrunk, which moves the answer: agree on "
            "ranges around the means, or on a larger row_bound"
        )
        return Support(rows, notes=(said,) if length > MUCH_LENGTH else ())


@dataclass(frozen=True)
class NoisyStrata:
    """Noisy counts of an effect, `[value or others, event or not, stratum]`, and the variance of each."""

    contrast: EffectContrast
    adjust: Names
    counts: Array
    variances: Array

    @classmethod
    def of(cls, source: NoisySource, adjust: Names) -> NoisyStrata:
        """Sum a released table over what a question does not need."""
        schema, contrast = source.codebook.schema, source.contrast
        table, merged = marginal_table(source, (*contrast.x, contrast.y, *adjust))
        causes, levels = table.shape[: len(contrast.x)], table.shape[len(contrast.x)]
        event = level_code(schema, contrast.y, contrast.event or "")
        by_value = split_events(table.reshape([math.prod(causes), levels, -1]), event)
        codes = [level_codes(schema, contrast.x, values) for values in (contrast.to, contrast.base)]
        compared = by_value[[np.ravel_multi_index(list(some.values()), causes) for some in codes]]
        counts = np.stack([*compared, by_value.sum(axis=0) - compared.sum(axis=0)])
        of_events = source.terms.sum_variance * merged * np.array([1, levels - 1])  # each sums so many cells
        variances = np.multiply.outer([1, 1, max(0, len(by_value) - 2)], of_events)[:, :, None]
        return cls(contrast, adjust, counts, variances * np.ones(counts.shape))

    @property
    def rows(self) -> int:
        """The number of rows."""
        return max(0, round(float(self.counts.sum())))

    @property
    def _rows_at(self) -> Array:
        return np.asarray(self.counts[:2].sum(axis=1))

    @cached_property
    def share(self) -> float:
        """The share of rows in strata in which both values clearly have rows."""
        clear = (self._rows_at > CLEAR * np.sqrt(self.variances[:2].sum(axis=1))).all(axis=0)
        rows = np.maximum(self.counts.sum(axis=(0, 1)), 0)
        return float(rows[clear].sum() / max(rows.sum(), 1.0))

    def estimate(self, seed: int) -> SetEstimate:
        """The effect, with an interval that includes the noise."""
        totals = self._rows_at.sum(axis=1)
        noise = np.sqrt(self.variances[:2].sum(axis=(1, 2)))
        for values, total, spread in zip((self.contrast.to, self.contrast.base), totals, noise, strict=True):
            if total < CLEAR * spread:
                said = self.contrast.setting(values)
                raise DataError(f"the noise hides whether any row has {said}: use a larger epsilon")
        by_stratum = np.sqrt(self.variances[:2].sum(axis=1)).sum(axis=1)
        if (totals < MOSTLY_CLEAR * by_stratum).any():
            raise DataError(
                f"the noise hides the counts in most strata of {', '.join(self.adjust)}: adjust for fewer "
                "columns, release from more rows, or use a larger epsilon"
            )
        drawn = self.draw(DRAWS, np.random.default_rng(seed))
        centres = np.array([np.mean(drawn[:, 0]), *np.median(drawn[:, 1:], axis=0)])
        found = summarise_scales(self.contrast, centres, drawn)
        return SetEstimate(lambda: found, self.draw, self._support(), "standardisation of noisy counts")

    def draw(self, number: int, rng: np.random.Generator) -> Array:
        """Draw the effect on every scale: true counts around the noisy ones, then the tables given them."""

        def draw(size: int) -> Array:
            counts = self._true_counts(size, rng)
            strata = counts.sum(axis=(1, 2))
            return StrataPosterior.of(strata, counts[:, :2, 0], counts[:, :2, 1]).draw(size, rng)

        return self.contrast.compare(draw_in_blocks(draw, number, self.counts.size))

    def _true_counts(self, number: int, rng: np.random.Generator) -> Array:
        """Counts that are not negative, normal around the noisy ones; `[draw, value, event, stratum]`."""
        from scipy.special import ndtr, ndtri

        spread = np.sqrt(self.variances)
        safe = np.where(spread > 0, spread, 1.0)
        below = ndtr(np.clip(-self.counts / safe, -8, 8))
        places = below + rng.random((number, *self.counts.shape)) * (1 - below)
        drawn = self.counts + safe * ndtri(np.clip(places, 1e-15, 1 - 1e-15))
        return np.asarray(np.maximum(np.where(spread > 0, drawn, self.counts), 0.0))

    def _support(self) -> Support:
        totals = self._rows_at.sum(axis=1).tolist()
        sides = (self.contrast.to, self.contrast.base)
        rows_at = {
            self.contrast.setting(values): round(total) for values, total in zip(sides, totals, strict=True)
        }
        notes = notes_on_few(rows_at)
        if self.share < 1:
            notes.append(
                f"thin strata: {1 - self.share:.0%} of the rows are in strata of {', '.join(self.adjust)} "
                "whose counts are hardly above the noise; there the answer is drawn towards no effect"
            )
        return Support(self.rows, self.share, self.counts.shape[2], rows_at, tuple(notes))


def marginal_table(source: NoisySource, wanted: Names) -> tuple[Array, int]:
    """A released table among what is given, an axis for each column wanted; and how many cells each sums."""
    schema, given = source.codebook.schema, source.contrast.given
    whole = source.sums.astype(np.float64).reshape([int(size) for size in schema.cardinalities])
    chosen = [
        level_code(schema, name, given[name]) if name in given else slice(None) for name in schema.names
    ]
    table, names = whole[tuple(chosen)], [name for name in schema.names if name not in given]
    order = [names.index(name) for name in wanted]
    others = tuple(place for place in range(len(names)) if place not in order)
    found = table.transpose([*order, *others]).reshape([*(table.shape[place] for place in order), -1])
    return np.asarray(found.sum(axis=-1)), found.shape[-1]


def split_events(table: Array, event: int) -> Array:
    """Counts of a level of y and of all others, `[value of x, event or not, stratum]`."""
    return np.stack([table[:, event], table.sum(axis=1) - table[:, event]], axis=1)
