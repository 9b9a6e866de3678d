"""A test for changes of a regression over the steps of series: sums of its scores along time.

The score of a coefficient at a window is x_t e_t, with the residual e_t, that of the variance e_t² − σ². If
nothing changes, their sums over a run of rows, as far as they deviate from a straight line, behave as a
Brownian bridge, and the largest deviation has Kolmogorov's distribution (Brown, Durbin & Evans 1975;
Ploberger & Krämer 1992; Zeileis & Hornik 2007). Where they deviate most is the likeliest place of a change.
Each run has a regression of its own: series that differ from each other, but stay the same, do not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import kolmogorov

Floats = NDArray[np.float64]

# Windows that a run needs to be looked at, and for each coefficient.
FEWEST, FEWEST_EACH = 50, 3


@dataclass(frozen=True)
class RegressionChange:
    """A likely change of a regression: in run `run`, before its window `place`; `p` counts all tests."""

    run: int
    place: int
    p: float


def find_change(
    child: Floats, parents: Sequence[Floats], runs: Sequence[tuple[int, int]]
) -> RegressionChange | None:
    """The most significant change of the regression of a column on others, over runs of successive rows.

    None where no run is long enough.

    >>> x, noise = np.random.default_rng(1).normal(size=(2, 400))
    >>> slope = np.where(np.arange(400) < 200, 1.0, -1.0)
    >>> found = find_change(slope * x + noise, [x], [(0, 400)])
    >>> abs(found.place - 200) < 20, found.p < 1e-6
    (True, True)
    """
    regressors = np.stack([np.ones(len(child)), *parents])
    found: RegressionChange | None = None
    tried = 0
    for number, (start, stop) in enumerate(runs):
        if stop - start < max(FEWEST, FEWEST_EACH * len(regressors)):
            continue
        here, target = regressors[:, start:stop], child[start:stop]
        left = target - np.linalg.lstsq(here.T, target, rcond=None)[0] @ here
        own = np.concatenate([here * left, [left**2]])
        own -= own.mean(axis=1, keepdims=True)
        tried += len(own)
        spread = np.sqrt((own**2).sum(axis=1))
        sums = np.abs(own.cumsum(axis=1)) / np.where(spread > 0, spread, np.inf)[:, None]
        row, place = np.unravel_index(int(sums.argmax()), sums.shape)
        p = float(kolmogorov(sums[row, place]))
        if found is None or p < found.p:
            found = RegressionChange(number, int(place) + 1, p)
    return None if found is None else RegressionChange(found.run, found.place, min(1.0, found.p * tried))
