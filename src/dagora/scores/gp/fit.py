"""Modes of families' hyperparameters: where the climbs begin, and which of their ends are distinct modes.

The density often has several modes: a parent may be smooth, with more noise, or wiggly. Climbs of one
parent begin at the best points of a grid, those of several at long, at medium, and at the length-scales that
each parent has alone, which are found once per pair. So a family's modes do not depend on
what was scored before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dagora.scores.gp.additive import Derivatives
from dagora.scores.gp.laplace import laplace
from dagora.scores.gp.mode import Modes, climb

Array = NDArray[np.float64]
Positions = NDArray[np.int64]

# Modes closer than this, squared and in standard deviations of the Gaussian at the better one, are one.
SAME = 1.0
# A mode with this much less log evidence than the best does not count.
NEGLIGIBLE = 12.0


class Model(Protocol):
    """A family's likelihood times prior, in the logarithms of its parameters."""

    def log_density(self, children: Positions, parents: Positions, parameters: Array) -> Array:
        """Log densities at parameters, of one family or of one per row."""

    def derivatives(self, children: Positions, parents: Positions, parameters: Array) -> Derivatives:
        """Log densities with gradients and Hessians."""

    def slopes(self, children: Positions, parents: Positions, parameters: Array) -> tuple[float, Array]:
        """Log density and gradient of one family at one point."""

    def starts(self, children: Positions, parents: Positions) -> list[Array]:
        """Parameters from which to climb, one row per family each."""

    def joined(self, singles: Array) -> Array:
        """Parameters from which to climb, by the modes of each parent alone."""


@dataclass(frozen=True)
class Fit:
    """A family's distinct modes, the best first, with Laplace's log evidence at each."""

    modes: Modes
    log_evidences: Array


class Fitter:
    """Fits families of one model; pairs that it fitted are remembered."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._singles: dict[tuple[int, int], Fit] = {}

    def fit(self, children: Positions, parents: Positions) -> list[Fit]:
        """Fits of families with one number of parents (at least one)."""
        number, size = parents.shape
        starts = self.model.starts(children, parents)
        if size > 1:
            starts.append(self._from_singles(children, parents))
        tries = len(starts)
        family = np.repeat(np.arange(number), tries)

        def ask(which: Positions, parameters: Array) -> Derivatives:
            some = family[which]
            return self.model.derivatives(children[some], parents[some], parameters)

        ends = climb(ask, np.stack(starts, axis=1).reshape(number * tries, -1))
        return [distinct(ends, slice(k * tries, (k + 1) * tries)) for k in range(number)]

    def improved(self, child: int, parents: Positions, fit: Fit, point: Array) -> Fit:
        """The fit with one more climb, from a point that was found to be higher than its modes."""

        def ask(which: Positions, parameters: Array) -> Derivatives:
            del which
            return self.model.derivatives(np.array([child]), parents[None], parameters)

        end = climb(ask, point[None])
        old = fit.modes
        ends = Modes(
            np.vstack([end.points, old.points]),
            np.append(end.values, old.values),
            np.concatenate([end.precisions, old.precisions]),
            0,
        )
        return distinct(ends, slice(None))

    def _from_singles(self, children: Positions, parents: Positions) -> Array:
        wanted = dict.fromkeys(
            (int(child), int(parent))
            for child, row in zip(children, parents, strict=True)
            for parent in row
            if (int(child), int(parent)) not in self._singles
        )
        if wanted:
            pairs = np.array(list(wanted), dtype=np.int64)
            for pair, fit in zip(wanted, self.fit(pairs[:, 0], pairs[:, 1:]), strict=True):
                self._singles[pair] = fit
        return np.stack(
            [
                self.model.joined(
                    np.stack([self._singles[int(child), int(parent)].modes.points[0] for parent in row])
                )
                for child, row in zip(children, parents, strict=True)
            ]
        )


def distinct(ends: Modes, some: slice) -> Fit:
    """The distinct modes among the ends of some climbs, the best first."""
    mine = Modes(ends.points[some], ends.values[some], ends.precisions[some], 0)
    evidences = laplace(mine)
    kept: list[int] = []
    for k in np.argsort(-evidences, kind="stable").tolist():
        if kept and evidences[k] < evidences[kept[0]] - NEGLIGIBLE:
            continue
        gaps = mine.points[kept] - mine.points[k]
        if not any(gap @ mine.precisions[k] @ gap < SAME for gap in gaps):
            kept.append(k)
    modes = Modes(mine.points[kept], mine.values[kept], mine.precisions[kept], 0)
    return Fit(modes, evidences[kept])
