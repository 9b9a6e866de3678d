"""The posterior of tables of probabilities, and of an event standardised over strata.

Every distribution has a Dirichlet posterior: its counts, and one row more, spread as all rows of its table.
With strata z of an adjustment set, P(event | do(x)) = Σ_z P(event | x, z) P(z).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PRIOR_ROWS = 1.0
BLOCK = 1 << 22  # numbers drawn at a time
LEAST = 1e-9  # rows of a stratum in a draw of noisy counts


def prior_row(totals: Array) -> Array:
    """The row more: spread over the levels of the last axis as all rows are, which themselves have one more.

    >>> prior_row(np.array([3.0, 0.0])).tolist()
    [0.875, 0.125]
    """
    whole = totals.sum(axis=-1, keepdims=True) + 1
    return np.asarray(PRIOR_ROWS * (totals + 1 / totals.shape[-1]) / whole)


def add_prior(counts: Array) -> Array:
    """The parameters of the Dirichlets of a table, whose last axis has the levels."""
    return np.asarray(counts + prior_row(counts.reshape(-1, counts.shape[-1]).sum(axis=0)))


def normalise(tables: Array) -> Array:
    """Tables whose last axis sums to one."""
    return np.asarray(tables / tables.sum(axis=-1, keepdims=True))


def draw_tables(parameters: Array, size: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Draw tables of this shape from Dirichlets, whose levels are on the last axis."""
    return normalise(rng.standard_gamma(parameters, size))


def draw_in_blocks(draw: Callable[[int], Array], number: int, cells: int) -> Array:
    """Draws, along the last axis, made so many at a time that memory is small; each takes `cells` numbers."""
    step = max(1, BLOCK // cells)
    return np.concatenate([draw(min(step, number - at)) for at in range(0, max(number, 1), step)], axis=-1)


@dataclass(frozen=True)
class StrataPosterior:
    """Posterior tables of the strata, and of an event in each where x has one of the two values compared.

    The counts of strata are `[…, stratum]`, the parameters of the Beta of each cell `[…, value, stratum]`.
    Where counts are drawn themselves, there is an axis of draws in front. Of cells that are `unknown`,
    nothing is known: in a draw, the event has one chance in all of them, any from 0 to 1.
    """

    strata: Array
    events: Array
    others: Array
    unknown: NDArray[np.bool_] | None = None

    @classmethod
    def of(cls, strata: Array, events: Array, others: Array) -> StrataPosterior:
        """The posterior given counts; y is spread in the row more as among all rows with that x."""
        share = prior_row(np.stack([events.sum(axis=-1), others.sum(axis=-1)], axis=-1))[..., :1]
        return cls(np.maximum(strata, LEAST), events + share, others + PRIOR_ROWS - share)

    def means(self) -> Array:
        """The posterior mean of P(event | do(x)) for the two values."""
        chances = self.events / (self.events + self.others)
        if self.unknown is not None:
            chances = np.where(self.unknown, 0.5, chances)
        return np.asarray(chances @ self.strata / self.strata.sum())

    def draw(self, number: int, rng: np.random.Generator) -> Array:
        """Draw P(event | do(x)) for the two values, `[value, draw]`; of drawn counts, one for each."""
        size = (number, self.strata.shape[-1])
        weights = draw_tables(self.strata, size, rng)
        means = []
        for side in (0, 1):
            chances = rng.beta(self.events[..., side, :], self.others[..., side, :], size)
            if self.unknown is not None:
                chances = np.where(self.unknown[side], rng.random((number, 1)), chances)
            means.append((weights * chances).sum(axis=1))
        return np.stack(means)
