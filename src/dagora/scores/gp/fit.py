"""Modes of families' hyperparameters: where the climbs start, and which of their ends are distinct modes.

The density often has several modes: a function may be smooth with more noise, or wiggly with less. Climbs
with one parent start at the peaks along a grid of length-scales. Climbs with several parents start at long
and at medium length-scales, and at those that each parent has alone, which are found once per pair. So a
family's modes do not depend on the families before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.threads import Threads
from dagora.scores.gp.additive import Derivatives
from dagora.scores.gp.laplace import laplace
from dagora.scores.gp.mode import Modes, climb

Array = NDArray[np.float64]
Positions = NDArray[np.int64]
Pair = tuple[int, int]  # a child and its only parent

# Two ends are the same mode if their squared distance, in standard deviations of the Gaussian at the worse
# one, is below this.
SAME = 1.0
# A mode this many nats of log evidence below the best one is dropped: e^−12 is 6e-6.
NEGLIGIBLE = 12.0


class GPModel(Protocol):
    """A family's likelihood times prior, in the logarithms of its parameters."""

    families_at_once: int
    """The number of families that are fitted in one call."""

    def log_density(self, children: Positions, parents: Positions, parameters: Array) -> Array:
        """Log densities at parameters, of one family or of one per row."""

    def derivatives(self, children: Positions, parents: Positions, parameters: Array) -> Derivatives:
        """Log densities with gradients and Hessians."""

    def starts(self, children: Positions, parents: Positions) -> tuple[Positions, Array]:
        """Starts of the climbs: the number of the family, and its parameters; at least one per family."""

    def joint_start(self, singles: Array) -> Array:
        """A start for several parents, from the modes with each parent alone."""

    def look_at(self, parent: int) -> None:
        """Find what the starts of all children of a parent need."""


@dataclass(frozen=True)
class GPFit:
    """A family's distinct modes, the best first, with Laplace's log evidence at each."""

    modes: Modes
    log_evidences: Array


def idle() -> None:
    """Do nothing."""


class Fitter:
    """Fits families of one model; pairs that it fitted are remembered, and in `alone` their best modes."""

    def __init__(self, model: GPModel) -> None:
        self.model = model
        self.alone: dict[Pair, Array] = {}
        self._singles: dict[Pair, GPFit] = {}

    def prepare(self, pairs: Sequence[Pair], threads: Threads, tick: Callable[[], None] = idle) -> None:
        """Fit pairs that are not known yet, before families with them are fitted: threads share the work.

        `tick` is called now and then.
        """
        fresh = [pair for pair in dict.fromkeys(pairs) if pair not in self.alone]
        for _ in threads.one_by_one(self.model.look_at, sorted({parent for _, parent in fresh})):
            tick()
        most = self.model.families_at_once
        groups = [fresh[start : start + most] for start in range(0, len(fresh), most)]
        for group, fits in zip(groups, threads.one_by_one(self._fit_pairs, groups), strict=True):
            self._singles.update(zip(group, fits, strict=True))
            self.alone.update((pair, fit.modes.points[0]) for pair, fit in zip(group, fits, strict=True))
            tick()

    def fit(self, children: Positions, parents: Positions) -> list[GPFit]:
        """Fits of families with one number of parents, at least one; before threads fit, prepare pairs."""
        if parents.shape[1] == 1:
            pairs = list(zip(children.tolist(), parents[:, 0].tolist(), strict=True))
            # The modes of a pair may be known from a file, and its fit not.
            known = [self._singles.get(pair) for pair in pairs]
            again = [pair for pair, fit in zip(pairs, known, strict=True) if fit is None]
            more = iter(self._fit_pairs(again) if again else ())
            return [next(more) if fit is None else fit for fit in known]
        family, starts = self.model.starts(children, parents)
        family = np.append(family, np.arange(len(children)))
        return self._climb(
            children, parents, family, np.vstack([starts, self._from_singles(children, parents)])
        )

    def _fit_pairs(self, pairs: Sequence[Pair]) -> list[GPFit]:
        """Fits of a child to one parent each."""
        both = np.array(pairs, dtype=np.int64)
        children, parents = both[:, 0], both[:, 1:]
        return self._climb(children, parents, *self.model.starts(children, parents))

    def _climb(
        self, children: Positions, parents: Positions, family: Positions, starts: Array
    ) -> list[GPFit]:
        """Fits by climbs from `starts`; start k is for the family with the number `family[k]`."""

        def ask(which: Positions, parameters: Array) -> Derivatives:
            some = family[which]
            return self.model.derivatives(children[some], parents[some], parameters)

        ends = climb(ask, starts)
        return [distinct(ends, np.flatnonzero(family == k)) for k in range(len(children))]

    def improve(self, child: int, parents: Positions, fit: GPFit, point: Array) -> GPFit:
        """The fit after one more climb, from a point whose density is higher than that of its modes."""

        def ask(which: Positions, parameters: Array) -> Derivatives:
            del which
            return self.model.derivatives(np.array([child]), parents[None], parameters)

        end = climb(ask, point[None])
        old = fit.modes
        ends = Modes(
            np.vstack([end.points, old.points]),
            np.append(end.values, old.values),
            np.concatenate([end.precisions, old.precisions]),
        )
        return distinct(ends, np.arange(len(ends.points)))

    def _from_singles(self, children: Positions, parents: Positions) -> Array:
        """Starts for several parents, from the fits of each parent alone."""
        families = list(zip(children.tolist(), parents.tolist(), strict=True))
        self.prepare([(child, parent) for child, row in families for parent in row], Threads(1))
        alone = [np.array([self.alone[child, parent] for parent in row]) for child, row in families]
        return np.array([self.model.joint_start(each) for each in alone])


def distinct(ends: Modes, some: Positions) -> GPFit:
    """The distinct modes among the ends of some climbs, the best first."""
    mine = Modes(ends.points[some], ends.values[some], ends.precisions[some])
    evidences = laplace(mine)
    kept: list[int] = []
    for k in np.argsort(-evidences, kind="stable").tolist():
        if kept and evidences[k] < evidences[kept[0]] - NEGLIGIBLE:
            continue
        gaps = mine.points[kept] - mine.points[k]
        if not any(gap @ mine.precisions[k] @ gap < SAME for gap in gaps):
            kept.append(k)
    modes = Modes(mine.points[kept], mine.values[kept], mine.precisions[kept])
    return GPFit(modes, evidences[kept])
