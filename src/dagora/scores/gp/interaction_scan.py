"""Starts of climbs with several parents: the density with interactions along a grid of common length-scales.

A short length-scale of an interaction cannot be found from the parents alone, nor by the gradient at long
length-scales: it must be tried. With one length-scale for all parents and fixed amplitudes the kernel matrix
does not involve the child, and after its eigendecomposition UΛUᵀ any child and any noise cost N operations
(see `scan`). For speed only `ROWS` rows are used, those in the middle of the parents' values, where
neighbours are closest. The result decides where climbs start, not what the score is.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dagora.scores.gp.points.compression import se_kernel
from dagora.scores.gp.prior import LENGTH_SCALE
from dagora.scores.gp.scan import Spectrum, best_noises

Array = NDArray[np.float64]

# Every family climbs from the first two length-scales. Of the shorter ones the best is tried too, for all
# parents or for two of them. The amplitudes of main effects and of products are fixed during the scan. More
# length-scales or rows: better starts, and an eigendecomposition of `ROWS` rows more for each.
ALWAYS = (8.0, 3.0)
SHORTER = (1.7, 1.2, 0.8, 0.5, 0.33)
MAIN, PRODUCT = 0.6, 0.5
ROWS = 200


class JointScan:
    """Starts of families with several parents; a set of parents is looked at once for all children."""

    def __init__(self, columns: Array) -> None:
        self._columns = columns
        self._known: dict[tuple[int, ...], tuple[Array, Array]] = {}

    def starts(self, child: int, parents: tuple[int, ...]) -> Array:
        """Points (log ρ₁, …, log ρ_p, log σ) from which to climb."""
        log_noises, _ = self._scan(parents)
        found = [[*(np.log(scale),) * len(parents), log_noises[k, child]] for k, scale in enumerate(ALWAYS)]
        pairs = combinations(parents, 2) if len(parents) > 2 else ()
        best = max((parents, *pairs), key=lambda some: self._short(child, some)[0])
        _, scale, log_noise = self._short(child, best)
        found.append([*(np.log(scale if k in best else ALWAYS[-1]) for k in parents), log_noise])
        return np.array(found)

    def _short(self, child: int, parents: tuple[int, ...]) -> tuple[float, float, float]:
        """The best of the shorter length-scales: its gain over the long ones, itself, and its log σ."""
        log_noises, heights = self._scan(parents)
        k = len(ALWAYS) + int(np.argmax(heights[len(ALWAYS) :, child]))
        gain = heights[k, child] - heights[: len(ALWAYS), child].max()
        return float(gain), (*ALWAYS, *SHORTER)[k], float(log_noises[k, child])

    def _scan(self, parents: tuple[int, ...]) -> tuple[Array, Array]:
        if parents not in self._known:
            self._known[parents] = self._compute(parents)
        return self._known[parents]

    def _compute(self, parents: tuple[int, ...]) -> tuple[Array, Array]:
        """Best log σ of every child at every length-scale, and the log density there."""
        away = np.abs(self._columns[:, list(parents)]).max(axis=1)
        columns = self._columns[np.argsort(away, kind="stable")[:ROWS]]
        rows, totals = len(columns), (columns * columns).sum(axis=0)
        noises, heights = [], []
        for scale in (*ALWAYS, *SHORTER):
            kernels = [se_kernel(columns[:, k], columns[:, k], scale) for k in parents]
            total = np.sum(kernels, axis=0)
            pairs = 0.5 * (total * total - np.sum([kernel * kernel for kernel in kernels], axis=0))
            eigenvalues, vectors = np.linalg.eigh(1.0 + MAIN * total + PRODUCT * pairs)
            eigenvalues = np.maximum(eigenvalues, 0.0)
            squares = eigenvalues[:, None] * (vectors.T @ columns) ** 2
            log_noise, value = best_noises(Spectrum(eigenvalues, squares), rows, totals)
            noises.append(log_noise)
            heights.append(value + len(parents) * LENGTH_SCALE.log_density(np.log([scale]))[0])
        return np.array(noises), np.array(heights)
