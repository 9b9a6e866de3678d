"""All candidates of BDeu, without a limit on parents, by bounds on intervals of parent sets.

BDeu has no price for a parameter, so a set cannot be cut by its size, and no bound that knows P alone is of
much use: whatever P is, two more columns might, like an exclusive or, tell the child exactly. But the walk
here goes through the sets in an order, and when it stands at P, only later columns are still to come. With
all of those it has M, and all sets to come are between: P ⊂ Q ⊂ M. Rows that agree in M stay together in Q.

Let X have r levels. A cell of Q with counts n contributes F(n), the logarithm of a product with a factor for
each row, in any order of the rows: (b + k) / (rb + i) for a row after i others, k of them of its own level,
where b = ess / (r q(Q)), at most ess / (r q(P)). Therefore

1. F(n) ≤ −m ln r in a cell with m levels: let the first row of each level come first; the j-th of these has
   the factor b / (rb + j − 1) ≤ 1/r, and no factor is above 1;
2. if there are two levels or more, even F(n) ≤ −m ln r + ln r − ln(r + 1/b), from the second factor;
3. F(n) ≤ L(n) = Σ n ln(n/N), the largest log-likelihood, as F is an average of likelihoods; and so
   F(n) ≤ −ln r − ln(r + 1/b) + L(n′), with n′ the counts without two rows of different levels;
4. L(n + n′) ≤ L(n) + L(n′).

Take a cell z of P with m levels of X, and the cells of M in it, its atoms. If no atom has two levels, the
cells of Q in z contribute at most −m ln r (by 1, since each level is in one of them). If an atom u has two,
so has the cell of Q that holds u: they contribute at most −m ln r + ln r − ln(r + 1/b) (by 1 and 2), at most
Σ L over the atoms (by 3 and 4), and at most this sum with L(u′) for L(u), minus ln r + ln(r + 1/b). The least
of these, summed over z, bounds every Q between. Where it is not above the score of a subset of P, no such Q
is a candidate. (−ln r for each cell is the bound of de Campos & Ji 2010; likelihoods of atoms are also used
by Correia, Cussens & de Campos 2020, with all columns for M.)

Columns that say much come first: then the last ones, with which the bounds reckon longest, say little.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Event
from dagora.graph.bits import pack
from dagora.learners.candidates.candidates import Candidates, ParentSets, best_first
from dagora.learners.candidates.interval_kernels import Child, Path, Scratch, prepare, split, walk
from dagora.learners.run import Run
from dagora.scores.discrete import DiscreteScore
from dagora.scores.local_score import TIE

# More columns have too many sets, however well they are bounded.
MOST_COLUMNS = 40
# Sets that are scored between two looks at the clock.
STEPS = 2000
# The most sets scored for one child, times rows (about a minute); a set takes as long as so many rows more.
AFFORDABLE = 3e9
EXTRA_ROWS = 500
# The most sets of one child that are worth a comparison with each other.
MOST_FOUND = 20_000
# A child that takes too long keeps its sets of so many parents.
FALLBACK = 2
# The weight of a column's information on the child against its entropy when columns are ordered.
WEIGHT = 3.0


@dataclass(frozen=True)
class ChildSets:
    """The sets of one child that beat the subsets they were compared with; `whole` if none is missing."""

    child: int
    members: NDArray[np.bool_]
    whole: bool


class IntervalSearch:
    """The search for all children, on the rows of a table."""

    def __init__(self, score: DiscreteScore, ess: float, run: Run) -> None:
        names = score.schema.names
        self._score, self._ess, self._run = score, ess, run
        self._codes = score.codes()
        self._levels = score.schema.cardinalities
        self._forbidden = run.knowledge.forbidden_matrix(names)
        self._required = run.knowledge.required_matrix(names)
        limit = run.knowledge.max_parents
        self._limit = len(names) - 1 if limit is None else min(limit, len(names) - 1)

    def find(self) -> Candidates:
        """The candidates of all children; those that take too long are named in the note."""
        names = self._score.schema.names
        found, unfinished = [], []
        for sets in self._search_all(range(len(names))):
            found.append(self._drop_dominated(sets))
            if not sets.whole:
                unfinished.append(names[sets.child])
            self._run.on_event(Event("scoring", len(found), total=len(names), message="columns"))
        note = ""
        if unfinished:
            why = self._run.budget.reason if self._run.budget.exhausted else "there are too many"
            note = f"not looked at: sets of more than {FALLBACK} parents of {', '.join(unfinished)} ({why})"
        return Candidates(names, tuple(found), complete=not unfinished, note=note)

    def _search_all(self, children: Iterable[int]) -> Iterator[ChildSets]:
        if self._run.jobs == 1:
            yield from map(self.search, children)
            return
        with ThreadPoolExecutor(self._run.jobs) as pool:
            yield from pool.map(self.search, children)

    def search(self, x: int) -> ChildSets:
        """Walk through the sets of one child."""
        base = self._required[:, x]
        free = self.order_columns(x, np.flatnonzero(~(self._forbidden[:, x] | base)))
        deepest = min(self._limit - int(base.sum()), len(free))
        bits = self._walk(x, free, deepest)
        if bits is None:
            bits = self._walk(x, free, min(FALLBACK, deepest), patient=True)
            assert bits is not None
            return ChildSets(x, self._members(bits, free, base), whole=deepest <= FALLBACK)
        return ChildSets(x, self._members(bits, free, base), whole=True)

    def order_columns(self, x: int, free: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sort the columns for the walk: those of much entropy, and much information on x, first."""
        own = entropy(self._codes[x])
        value = []
        for j in free.tolist():
            joint = entropy(self._codes[j] * self._levels[x] + self._codes[x])
            information = entropy(self._codes[j]) + own - joint
            value.append(entropy(self._codes[j]) + (WEIGHT * information / own if own > 0 else 0.0))
        return free[np.argsort(-np.array(value), kind="stable")]

    def start(self, x: int, free: NDArray[np.int64]) -> tuple[Child, Path, Scratch]:
        """A walk that stands at the required parents of x."""
        n, d, r = self._codes.shape[1], len(free), int(self._levels[x])
        most = int(max(self._levels.max(), r + 1))
        work = Scratch(
            np.empty((n + 1) * most, dtype=np.int64),
            np.empty(max(16, 4 * n), dtype=np.int64),
            np.empty(n, dtype=np.int64),
            np.empty((n, r), dtype=np.int64),
            np.zeros(n),
            np.zeros(n),
            np.empty(n, dtype=np.int64),
        )
        counts = np.arange(n + 1, dtype=np.float64)
        child = Child(
            self._codes[free],
            self._levels[free],
            self._codes[x],
            r,
            self._ess,
            np.empty((d + 1, n), dtype=np.int64),
            np.empty((d + 1, n), dtype=np.int64),
            np.empty(d + 1, dtype=np.int64),
            np.empty((d, d)),
            counts * np.log(np.maximum(counts, 1.0)),
        )
        path = Path(
            np.zeros(d + 1, dtype=np.int64),
            np.zeros((d + 1, n), dtype=np.int64),
            np.ones(d + 1, dtype=np.int64),
            np.ones(d + 1),
            np.empty(d + 1),
            np.zeros(d + 1, dtype=np.int64),
            np.full(d + 1, d, dtype=np.int64),
        )
        for column in np.flatnonzero(self._required[:, x]).tolist():
            levels = int(self._levels[column])
            labels = np.empty_like(path.labels[0])
            path.cells[0] = split(
                path.labels[0], int(path.cells[0]), self._codes[column], levels, work, labels
            )
            path.labels[0] = labels
            path.configurations[0] *= levels
        path.best[0] = prepare(child, path.labels[0], int(path.cells[0]), float(path.configurations[0]), work)
        return child, path, work

    def _walk(
        self, x: int, free: NDArray[np.int64], deepest: int, *, patient: bool = False
    ) -> NDArray[np.uint64] | None:
        """Bits of the sets found, the first of them the empty one; None where it takes too long."""
        child, path, work = self.start(x, free)
        if not patient and self._run.budget.exhausted:
            return None
        parts = [np.zeros(1, dtype=np.uint64)]
        depth, done, count = (0 if deepest > 0 else -1), 0, 1
        most = AFFORDABLE / (len(child.values) + EXTRA_ROWS)
        while depth >= 0:
            found = np.zeros(STEPS, dtype=np.uint64)
            depth, scored, kept = walk(depth, child, path, work, deepest, TIE / 2, STEPS, found)
            parts.append(found[:kept])
            done += scored
            count += kept
            too_many = done > most or count > MOST_FOUND
            if depth >= 0 and not patient and (too_many or self._run.budget.exhausted):
                return None
        return np.concatenate(parts)

    def _members(
        self, bits: NDArray[np.uint64], free: NDArray[np.int64], base: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        members = np.tile(base, (len(bits), 1))
        places = np.arange(len(free), dtype=np.uint64)
        members[:, free] |= (bits[:, None] >> places & np.uint64(1)).astype(np.bool_)
        return members

    def _drop_dominated(self, sets: ChildSets) -> ParentSets:
        """Of the sets found, those that score more than every subset."""
        order = np.lexsort((*sets.members.T[::-1], sets.members.sum(axis=1)))
        members = sets.members[order]
        scores = self._score.families([(sets.child, tuple(np.flatnonzero(row).tolist())) for row in members])
        masks = pack(members)
        better = np.ones(len(masks), dtype=np.bool_)
        for k in range(1, len(masks)):
            inside = ((masks[:k] & ~masks[k]) == 0).all(axis=1)
            below = scores[:k][inside].max()
            better[k] = scores[k] > below + TIE * abs(below)
        return best_first(sets.child, masks[better], scores[better], len(self._levels))


def entropy(codes: NDArray[np.int64]) -> float:
    """Entropy of a column in nats.

    >>> round(entropy(np.array([0, 1, 0, 1])), 6)
    0.693147
    """
    shares = np.bincount(codes) / len(codes)
    shares = shares[shares > 0]
    return float(-(shares * np.log(shares)).sum())
