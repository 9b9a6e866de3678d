"""Find the candidates of a score, level by level: all sets of one parent, then of two, and so on.

A set is kept if it scores more than each of its subsets. For scores with a penalty per parameter (BIC, AIC,
Gaussian BIC) pruning rules cut a set together with all its supersets, so that no limit on the number of
parents is needed; BDeu of many columns is left to `interval_search`; other scores are searched up to
`max_parents`. Where a level would cost too much, only each child's best single parents are combined from
there on. That, and running out of time, makes the candidates incomplete; their note says what was not looked
at. `quick_candidates` spends little on purpose: searches that widen candidates themselves need no more for a
start.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import OutOfTimeError
from dagora.base.errors import OptionError, RowsUnavailableError
from dagora.base.events import Event, Watch
from dagora.base.wording import option
from dagora.graph.bits import Rows
from dagora.kernels.threads import PIECES_A_THREAD, Threads
from dagora.learners.candidates.candidates import Candidates, ParentSets, best_first
from dagora.learners.candidates.interval_search import MOST_COLUMNS, IntervalSearch
from dagora.learners.candidates.pruning import Growth, join_parts, rules_for
from dagora.learners.run import Run
from dagora.scores.discrete import DiscreteScore
from dagora.scores.lattice import grow, keys_of, largest_size, masks_of
from dagora.scores.local_score import TIE, LocalScore
from dagora.scores.mixed.bic_mixed import MixedBIC

# The most sets times rows that a level may cost (about a minute), and how many a core counts in a second.
AFFORDABLE = 1e10
ROWS_PER_SECOND = 2e8
# The same where little is to be spent (tenths of a second), the most parents that are combined then, and the
# sets of one child and size that are kept then, unless the candidates are complete.
QUICKLY = 2e7
QUICK_PARENTS = 4
QUICK_SETS = 50
# Pairs of columns that are listed in a second, before any of them is scored.
PAIRS_PER_SECOND = 2e6
# Scoring a Gaussian family takes about as long as counting this many rows.
GAUSSIAN_ROWS = 100
# About the most parent sets that are kept in all; exact solvers cannot use as many.
MOST_SETS = 1_000_000
# Sets alive that grow in one piece: fewer would not be worth a thread.
LEAST_PIECE = 1 << 10
# Sets of one child and size that are kept where the candidates are incomplete anyway.
HEURISTIC_SETS = 500


@dataclass
class Alive:
    """One child's sets that may grow further; `best` is the best score of each set and its subsets."""

    sets: NDArray[np.int64]
    best: NDArray[np.float64]
    allowed: NDArray[np.bool_]


def find_candidates(score: LocalScore, run: Run) -> Candidates:
    """Find the parent sets that can matter among all that knowledge permits, as far as time allows."""
    search = CandidateSearch(score, run, AFFORDABLE)
    if not search.endless:
        return search.find()
    d = len(score.schema.names)
    if isinstance(score, DiscreteScore) and score.ess is not None and d <= MOST_COLUMNS:
        with contextlib.suppress(RowsUnavailableError):
            return IntervalSearch(score, score.ess, run).find()
    raise OptionError(
        f"this score cannot rule out large parent sets, and {d} columns have too many: "
        f"set {option('max_parents')}"
    )


def quick_candidates(score: LocalScore, run: Run) -> Candidates:
    """Find the parent sets that are likeliest to matter, for any score; complete where that costs little."""
    return CandidateSearch(score, run, QUICKLY).find()


class CandidateSearch:
    """The state of one search; no level costs more than `affordable` sets times rows.

    Where little is to be spent and no rows are counted, all levels together cost no more than that: such
    scores take about as long for a set of any size, and dense columns have very many sets that matter.
    """

    def __init__(self, score: LocalScore, run: Run, affordable: float) -> None:
        self._score = score
        self._run = run
        self._affordable = affordable
        self._quick = affordable <= QUICKLY
        self._counting = isinstance(score, DiscreteScore | MixedBIC)
        names = score.schema.names
        self._names = names
        d = len(names)
        forbidden = run.knowledge.forbidden_matrix(names)
        required = run.knowledge.required_matrix(names)
        self._base = [np.flatnonzero(required[:, child]) for child in range(d)]
        limit = d - 1 if run.knowledge.max_parents is None else min(d - 1, run.knowledge.max_parents)
        self._wanted = limit
        self._threads = Threads(run.jobs)
        self._rules = rules_for(score, ~forbidden, self._threads)
        largest = largest_size(d) - 1
        if self._quick and not self._rules.cuts:
            largest = min(largest, QUICK_PARENTS)
        self._limit = min(limit, largest)
        self._narrowed = False
        self._notes: list[str] = []
        self._kept: list[list[BestSets]] = [[] for _ in range(d)]
        self._alive = []
        first = score.families([(child, tuple(base)) for child, base in enumerate(self._base)])
        for child in range(d):
            allowed = ~(forbidden[:, child] | required[:, child])
            self._alive.append(
                Alive(np.zeros((1, 0), dtype=np.int64), first[child : child + 1].copy(), allowed)
            )
            self._kept[child].append(
                BestSets(masks_of(self._base[child][None, :], d), first[child : child + 1])
            )
        self._rules.start(self._base, first)

    @property
    def endless(self) -> bool:
        """True if no rule cuts sets, and there are many columns and no low limit on parents."""
        return not self._rules.cuts and self._limit > 4 and len(self._names) > 16

    def find(self) -> Candidates:
        """Search level by level."""
        with self._threads:
            self._search()
        note = f"not looked at: {'; '.join(self._notes)}" if self._notes else ""
        found = tuple(self._collect(child) for child in range(len(self._names)))
        return Candidates(self._names, found, complete=not self._notes, note=note)

    def _search(self) -> None:
        for size in range(1, self._limit + 1):
            if not any(
                len(alive.sets) and len(self._base[x]) < self._limit for x, alive in enumerate(self._alive)
            ):
                break
            if self._run.budget.exhausted:
                self._notes.append(f"sets of {size} or more parents ({self._run.budget.reason})")
                break
            if not self._afford(size):
                break
            if not self._level(size):
                self._notes.append(f"all sets of {size} or more parents ({self._run.budget.reason})")
                break
        else:
            if self._limit < self._wanted and any(len(alive.sets) for alive in self._alive):
                self._notes.append(f"sets of more than {self._limit} parents")

    def _collect(self, child: int) -> ParentSets:
        levels = self._kept[child]
        if self._quick and self._notes:
            levels = [level.best(QUICK_SETS) for level in levels]
        masks = np.concatenate([level.masks for level in levels])
        scores = np.concatenate([level.scores for level in levels])
        return best_first(child, masks, scores, len(self._names))

    def _afford(self, size: int) -> bool:
        """If the next level is too large, restrict each child to its best single parents from here on.

        False where not even a few of them can be combined in time.
        """
        if size == 1:
            if len(self._names) ** 2 <= self._run.budget.left * PAIRS_PER_SECOND:
                return True
            self._notes.append("sets of 1 or more parents (there are too many pairs for the time)")
            return False
        free = [int(alive.allowed.sum()) if len(alive.sets) else 0 for alive in self._alive]
        grown = sum(len(alive.sets) * n for alive, n in zip(self._alive, free, strict=True)) / size
        families = min(sum(math.comb(n, size) for n in free), grown)
        rows = self._score.n_rows if self._counting else GAUSSIAN_ROWS
        allowed = min(self._affordable, self._run.budget.left * ROWS_PER_SECOND / 2) / max(1, rows)
        in_all = self._quick and not self._counting
        # Unless parents are restricted, a set is counted once for all size + 1 choices of the child in it.
        if families / (1 if self._narrowed or in_all else size + 1) <= allowed:
            if in_all:
                self._affordable -= families * rows
            return True
        most = max(free)
        while most > size and sum(math.comb(min(n, most), size) for n in free) > allowed / 2:
            most -= 1
        if most <= size:
            self._notes.append(f"sets of {size} or more parents (there are too many)")
            return False
        if most < max(free):
            self._narrowed = True
            for child, alive in enumerate(self._alive):
                self._keep_best_parents(child, alive, most)
            self._notes.append(
                f"sets of {size} or more parents beyond each column's {most} best single parents"
            )
        if in_all:
            self._affordable /= 2
        return True

    def _keep_best_parents(self, child: int, alive: Alive, most: int) -> None:
        base = {int(i) for i in self._base[child]}
        single = dict(self._singles[child])
        ranked = sorted(
            (j for j in single if alive.allowed[j] and j not in base), key=lambda j: (-single[j], j)
        )
        keep = np.zeros(len(alive.allowed), dtype=np.bool_)
        keep[ranked[:most]] = True
        alive.allowed &= keep
        rows = np.asarray(alive.allowed[alive.sets].all(axis=1), dtype=np.bool_)
        self._select(child, alive, rows)

    def _select(self, child: int, alive: Alive, rows: NDArray[np.bool_]) -> None:
        alive.sets, alive.best = alive.sets[rows], alive.best[rows]
        self._rules.select(child, rows)

    def _level(self, size: int) -> bool:
        """Generate, prune and score the sets of one size, and keep the best; False where time ran out."""
        d = len(self._names)
        if size == 1:
            self._singles: list[list[tuple[int, float]]] = [[] for _ in range(d)]
        growing = [
            child
            for child, alive in enumerate(self._alive)
            if len(alive.sets) and size + len(self._base[child]) <= self._limit
        ]
        watch = self._watch(size)
        try:
            grown = self._rules.screen(self._grow(growing), watch)
            grown = [entry for entry in grown if len(entry.sets)]
            values = self._rules.scores(grown, watch)
            if values is None:
                values = score_blocks(self._score, grown, watch)
        except OutOfTimeError:
            return False
        for alive in self._alive:
            alive.sets = np.zeros((0, size), dtype=np.int64)
        children = sorted({entry.child for entry in grown})

        def join(child: int) -> tuple[Growth, NDArray[np.float64], NDArray[np.int64]]:
            own = [k for k, entry in enumerate(grown) if entry.child == child]
            entry, scores = join_parts([grown[k] for k in own]), np.concatenate([values[k] for k in own])
            return entry, scores, better_than_subsets(entry, scores)

        for whole in self._threads.map(join, children):
            self._keep(*whole, size)
        return True

    def _grow(self, growing: Sequence[int]) -> list[Growth]:
        """All sets of some children with one more column, those of each child in pieces, in order."""
        d = len(self._names)
        keys = dict(
            zip(
                growing,
                self._threads.map(lambda child: keys_of(self._alive[child].sets, d), growing),
                strict=True,
            )
        )
        whole = sum(map(len, keys.values()))
        least = max(LEAST_PIECE, -(-whole // (PIECES_A_THREAD * self._threads.jobs)))
        pieces = [
            (child, piece) for child in growing for piece in self._threads.pieces(len(keys[child]), least)
        ]

        def grow_piece(chosen: tuple[int, slice]) -> Growth:
            child, piece = chosen
            alive, cutting = self._alive[child], self._rules.cutting(child)
            larger = grow(alive.sets, keys[child], alive.best, alive.allowed, cutting, piece)
            return Growth(child, *larger, self._base[child])

        return self._threads.map(grow_piece, pieces)

    def _watch(self, size: int) -> Watch:
        """A watch that reports progress, and ends the work when the budget is exhausted."""

        def watch(done: int, total: int) -> None:
            self._run.on_event(Event("scoring", done, total=total, message=f"sets of {size} parents"))
            if self._run.budget.exhausted and done < total:
                raise OutOfTimeError

        return watch

    def _keep(self, entry: Growth, own: NDArray[np.float64], better: NDArray[np.int64], size: int) -> None:
        """Keep the sets of one child that score more than all their subsets; all sets may grow further."""
        rows = self._best_few(better, own)
        few = entry.only(rows)
        self._kept[entry.child].append(BestSets(masks_of(few.parents, len(self._names)), own[rows]))
        if size == 1:
            self._singles[entry.child] = list(zip(entry.sets[:, 0].tolist(), own.tolist(), strict=True))
        alive = self._alive[entry.child]
        alive.sets, alive.best = entry.sets, np.maximum(own, entry.below)
        self._rules.remember(entry, own)

    def _best_few(self, rows: NDArray[np.int64], own: NDArray[np.float64]) -> NDArray[np.int64]:
        """The best sets of one child and size, at most as many as memory and later searches can take."""
        # Only heuristics use incomplete candidates, and they are faster on short lists.
        most = HEURISTIC_SETS if self._notes else max(HEURISTIC_SETS, MOST_SETS // len(self._names))
        if len(rows) <= most:
            return rows
        note = f"all but the best {most} sets of a column and size"
        if note not in self._notes:
            self._notes.append(note)
        best = np.argpartition(-own[rows], most)[:most]
        return np.sort(rows[best])


@dataclass(frozen=True)
class BestSets:
    """Sets of one child and size that score more than all their subsets."""

    masks: Rows
    scores: NDArray[np.float64]

    def best(self, most: int) -> BestSets:
        """Only the best of them; of those with equal scores the first."""
        if len(self.scores) <= most:
            return self
        rows = np.sort(np.argsort(-self.scores, kind="stable")[:most])
        return BestSets(self.masks[rows], self.scores[rows])


def better_than_subsets(entry: Growth, own: NDArray[np.float64]) -> NDArray[np.int64]:
    """The places of sets that score more than all their subsets."""
    with np.errstate(invalid="ignore"):
        better = own > entry.below + TIE * np.abs(entry.below)
    better |= np.isfinite(own) & ~np.isfinite(entry.below)
    return np.flatnonzero(better)


def score_blocks(score: LocalScore, grown: Sequence[Growth], watch: Watch) -> list[NDArray[np.float64]]:
    """Scores of all families of a level; those of one size are scored as a block if the score has `block`."""
    parts: dict[int, NDArray[np.float64]] = {}
    block = score.capabilities.block
    for width in {len(entry.base) for entry in grown}:
        chosen = [position for position, entry in enumerate(grown) if len(entry.base) == width]
        children = np.concatenate([np.full(len(grown[k].sets), grown[k].child) for k in chosen])
        parents = np.concatenate([grown[k].parents for k in chosen])
        if block is not None:
            scored = block(children, parents, watch)
        else:
            scored = score.families(list(zip(children.tolist(), parents.tolist(), strict=True)))
        start = 0
        for k in chosen:
            parts[k] = scored[start : start + len(grown[k].sets)]
            start += len(grown[k].sets)
    return [parts[k] for k in range(len(grown))]
