"""Agreement of chains on every edge, each direction by itself: its frequency in each chain.

Chains that have mixed differ by Monte Carlo error alone. With p the frequency over all C chains and E the
effective number of draws (from autocorrelations inside the chains, so that their distance from each other
does not count as error), the frequency of one chain has the variance p (1 − p) C / E, and

    Q = Σ (p_chain − p)² E / (C p (1 − p))

is χ² with C − 1 degrees of freedom. An edge is apart if Q is beyond chance, given how many edges are looked
at, and the frequencies differ by `MATERIAL` or more; or if its R-hat is above its limit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.posterior.summary.diagnostics import mean_ess, plain_rhat

Floats = NDArray[np.float64]

# Chance that chains that have mixed are called apart, for all edges together.
CHANCE = 0.001
# Frequencies that differ by less are not worth a word, whatever the number of draws.
MATERIAL = 0.1


@dataclass(frozen=True)
class EdgeGap:
    """An edge that chains have unequally often: the lowest and the highest frequency of a chain."""

    tail: str
    head: str
    lowest: float
    highest: float

    def __str__(self) -> str:
        return f"{self.tail} → {self.head} ({self.lowest:.3f} to {self.highest:.3f})"


@dataclass(frozen=True)
class Agreement:
    """Per edge: the lowest and the highest frequency of a chain, R-hat, effective draws, and P(χ² > Q)."""

    lowest: Floats
    highest: Floats
    rhat: Floats
    ess: Floats
    chance: Floats


def agreement(present: NDArray[np.bool_]) -> Agreement:
    """Compare chains on edges, `[chains, draws, edges]`, none of which is in every draw or in none.

    >>> heads = np.random.default_rng(0).random((4, 500, 1)) < [[[0.5]], [[0.5]], [[0.5]], [[0.9]]]
    >>> float(agreement(heads).chance[0]) < 1e-9
    True
    """
    from scipy.special import chdtrc

    chains = present.shape[0]
    frequencies = present.mean(axis=1)
    overall = frequencies.mean(axis=0)
    inside = mean_ess(present - frequencies[:, None, :])
    scale = chains * overall * (1 - overall) / inside
    spread = ((frequencies - overall) ** 2).sum(axis=0) / scale
    return Agreement(
        lowest=frequencies.min(axis=0),
        highest=frequencies.max(axis=0),
        rhat=plain_rhat(present),
        ess=mean_ess(present),
        chance=np.asarray(chdtrc(chains - 1, spread) if chains > 1 else np.ones_like(spread)),
    )


def limit_beyond_chance(least: float, halves: int, length: int, tests: int = 1) -> float:
    """The limit of R-hat: `least`, or what independent draws exceed with the probability `CHANCE`, if larger.

    With few draws even independent ones have a large R-hat: its square is about 1 + (χ²/k − 1)/length, k one
    less than the number of half chains.

    >>> limit_beyond_chance(1.01, 8, 500), round(limit_beyond_chance(1.01, 8, 25), 3)
    (1.01, 1.048)
    """
    from scipy.special import chdtri

    freedom = max(1, halves - 1)
    ratio = float(chdtri(freedom, CHANCE / max(1, tests))) / freedom
    return max(least, float(np.sqrt(1 + (ratio - 1) / max(1, length))))
