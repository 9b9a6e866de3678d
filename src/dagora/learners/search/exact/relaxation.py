"""The linear program over parent sets, of which it holds only those that matter so far.

Maximise Σ g(x, P) I(x, P) with one set per child, under the cuts added so far. Sets enter when their reduced
gain is positive at the prices of the cuts (column generation), and leave when they are excluded. Cuts leave
when their price has been zero for some rounds. The prices of every solution give a bound and exclude sets
(`reduced_cost_bounds`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyscipopt import LP
from scipy.sparse import csr_array

from dagora.learners.search.exact.cluster_cuts import LpPoint, positive_part
from dagora.learners.search.exact.separation import Cut, ProgramSets

# Sets of each child, best first, that the program begins with.
FIRST = 5

# Reduced gains above this let a set enter, at most so many at a time, or this share of those inside.
LEAST_GAIN = 1e-7
ENTERING = 100
ENTERING_SHARE = 0.25

# A cut leaves after so many rounds at price zero; cuts leave in groups of at least this many.
ROUNDS_AT_REST = 5
LEAVING = 20

# SCIP's number for the time limit of a linear program.
TIME_LIMIT = 11


class Relaxation:
    """The program of some sets with their gains (scores less the best of the child), in the solver's unit.

    It needs a network from the start (`learn_of`): what cannot be part of one as good as the best known, up
    to `tolerance`, is excluded.
    """

    def __init__(self, sets: ProgramSets, gains: NDArray[np.float64], tolerance: float) -> None:
        self.sets = sets
        self.gains = gains
        self.known = -math.inf
        self.tolerance = tolerance
        self.bound = math.inf
        self.alive = np.ones(len(gains), dtype=np.bool_)
        self.cuts: list[Cut] = []
        self.iterations = 0
        self._rest: list[int] = []
        self._children = len(sets.offsets) - 1
        self._child = np.repeat(np.arange(self._children), np.diff(sets.offsets))
        self._inside: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._place = np.full(len(gains), -1)
        self._best = self._inside
        self._matrix: csr_array | None = None
        self._prices: NDArray[np.float64] = np.empty(0)
        self._lp = LP("relaxation", "maximize")
        for _ in range(self._children):
            self._lp.addRow([], 1.0, 1.0)
        rank = np.arange(len(gains)) - sets.offsets[self._child]
        self._enter(np.flatnonzero(rank < FIRST))

    def learn_of(self, network: NDArray[np.int64]) -> None:
        """A network, given by its sets, is the best so far. Its sets stay, so that there is a solution."""
        self.known = float(self.gains[network].sum())
        self._best = network
        self._enter(network[self._place[network] < 0])

    @property
    def is_closed(self) -> bool:
        """True if the bound proves that no network is better than the known one."""
        return self.bound <= self.known + self.tolerance

    def solve(self, seconds: float) -> LpPoint | None:
        """Solve the program; None where time ran out or the solver failed. The bound holds in any case."""
        if math.isfinite(seconds):
            self._lp.setRealParam(TIME_LIMIT, max(seconds, 1e-3))
        dual = bool(self.cuts)
        while True:
            self._lp.solve(dual=dual)
            self.iterations += self._lp.getNIterations()
            if not self._lp.isOptimal():
                return None
            prices = np.array(self._lp.getDual())
            self._prices = np.maximum(prices[self._children :], 0.0)
            reduced = self._exclude()
            outside = self.alive & (self._place < 0)
            worth = np.where(outside, reduced - prices[: self._children][self._child], 0.0)
            entering = np.flatnonzero(worth > LEAST_GAIN)
            if not len(entering):
                break
            most = max(ENTERING, int(ENTERING_SHARE * len(self._inside)))
            self._enter(np.sort(entering[np.argsort(-worth[entering], kind="stable")[:most]]))
            dual = False
        values = np.zeros(len(self.gains))
        values[self._inside] = self._lp.getPrimal()
        self._leave(values)
        return positive_part(*self.sets, values)

    def _exclude(self) -> NDArray[np.float64]:
        """Improve the bound and exclude sets by the prices; return the reduced gains."""
        reduced = self.gains.copy()
        paid = 0.0
        if self.cuts:
            reduced -= self._prices @ self._coefficients()
            paid = float(self._prices @ np.array([cut.side for cut in self.cuts]))
        reduced[~self.alive] = -np.inf
        bound, with_set = reduced_cost_bounds(reduced, self.sets.offsets, paid)
        self.bound = min(self.bound, bound)
        self.alive &= with_set >= self.known - self.tolerance
        self.alive[self._best] = True
        return reduced

    def _coefficients(self) -> csr_array:
        """The cuts as a matrix: one row each, one column per set."""
        if self._matrix is None:
            ends = np.cumsum([0, *(len(cut.rows) for cut in self.cuts)])
            rows = np.concatenate([cut.rows for cut in self.cuts])
            weights = np.concatenate([cut.weights for cut in self.cuts])
            self._matrix = csr_array((weights, rows, ends), shape=(len(self.cuts), len(self.gains)))
        return self._matrix

    def _enter(self, rows: NDArray[np.int64]) -> None:
        """Let sets into the program."""
        entries = [[(int(self._child[row]), 1.0)] for row in rows]
        if self.cuts:
            columns = self._coefficients()[:, rows].tocsc()
            for k, own in enumerate(entries):
                span = slice(columns.indptr[k], columns.indptr[k + 1])
                cuts = (self._children + columns.indices[span]).tolist()
                own.extend(zip(cuts, columns.data[span].tolist(), strict=True))
        self._place[rows] = np.arange(len(self._inside), len(self._inside) + len(rows))
        self._inside = np.concatenate([self._inside, rows])
        unlimited = [self._lp.infinity()] * len(rows)
        self._lp.addCols(entries, self.gains[rows].tolist(), [0.0] * len(rows), unlimited)

    def add(self, cuts: list[Cut]) -> None:
        """Add cuts."""
        entries = []
        for cut in cuts:
            columns = self._place[cut.rows]
            pairs = zip(columns[columns >= 0].tolist(), cut.weights[columns >= 0].tolist(), strict=True)
            entries.append(list(pairs))
        self.cuts += cuts
        self._rest += [0] * len(cuts)
        self._matrix = None
        self._lp.addRows(entries, [-self._lp.infinity()] * len(cuts), [cut.side for cut in cuts])

    def _leave(self, values: NDArray[np.float64]) -> None:
        """Remove cuts at rest and excluded sets that the solution does not use."""
        self._rest = [
            0 if price > 0.0 else rounds + 1 for rounds, price in zip(self._rest, self._prices, strict=True)
        ]
        at_rest = [k for k, rounds in enumerate(self._rest) if rounds > ROUNDS_AT_REST]
        if len(at_rest) >= LEAVING:
            for k in reversed(at_rest):
                self._lp.delRows(self._children + k, self._children + k)
                del self.cuts[k], self._rest[k]
            self._matrix = None
        excluded = ~self.alive[self._inside] & (values[self._inside] <= 0.0)
        for k in np.flatnonzero(excluded)[::-1].tolist():
            self._lp.delCols(k, k)
        self._inside = self._inside[~excluded]
        self._place[:] = -1
        self._place[self._inside] = np.arange(len(self._inside))


class ReducedCostBounds(NamedTuple):
    """The bound by some prices, and the part of it that is left with each set chosen."""

    bound: float
    with_set: NDArray[np.float64]


def reduced_cost_bounds(
    reduced: NDArray[np.float64], offsets: NDArray[np.int64], paid: float
) -> ReducedCostBounds:
    """The bound from the reduced gains r of all sets and the sum `paid` of prices times sides.

    Give every cut Σ a_c(x, P) I(x, P) ≤ b_c a price y_c ≥ 0. Each network keeps the cuts and has one set per
    child, so its gain Σ g(x, P(x)) is at most

        bound(y) = Σ_x max_P r(x, P) + Σ_c y_c b_c,    r(x, P) = g(x, P) − Σ_c y_c a_c(x, P),

    whatever the prices are: nothing here relies on how exactly a linear program was solved. A network with
    the set P of x gains at most bound(y) − (max_P' r(x, P') − r(x, P)). Where that is below the gain of a
    known network, the set is in no network that is as good.

    Sets of child x are `offsets[x]` to `offsets[x + 1]`; those that are excluded already have r = −∞.

    >>> reduced_cost_bounds(np.array([-1.0, -4.0, 0.0, -2.0]), np.array([0, 2, 4]), 0.5)
    ReducedCostBounds(bound=-0.5, with_set=array([-0.5, -3.5, -0.5, -2.5]))
    """
    top = np.maximum.reduceat(reduced, offsets[:-1])
    bound = float(top.sum()) + paid
    return ReducedCostBounds(bound, bound - (np.repeat(top, np.diff(offsets)) - reduced))
