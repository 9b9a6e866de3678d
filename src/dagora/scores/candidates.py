"""Candidates: for each child, the parent sets that could be part of a best network, with their scores.

A parent set is dropped where one of its subsets scores at least as well: in any graph the smaller set could
stand in its place, as it forbids no more orders. That rule is safe for every score.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dagora.errors import OptionError
from dagora.events import Budget, Event
from dagora.run import Run
from dagora.scores.local_score import LocalScore

# More families than this are not scored one by one: the answer is a parent limit.
MOST_FAMILIES = 20_000_000
BATCH = 20_000


@dataclass(frozen=True)
class ParentSets:
    """Parent sets of one child (as positions, ascending) and their scores, best first."""

    child: int
    parents: tuple[tuple[int, ...], ...]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.parents)


@dataclass(frozen=True)
class Candidates:
    """The parent sets of every child, in column order."""

    names: tuple[str, ...]
    sets: tuple[ParentSets, ...]

    def __iter__(self) -> Iterator[ParentSets]:
        return iter(self.sets)

    def __len__(self) -> int:
        return len(self.sets)


def find_candidates(score: LocalScore, run: Run) -> Candidates:
    """Score all parent sets that knowledge permits and keep those that no subset equals."""
    names = score.schema.names
    d = len(names)
    forbidden = run.knowledge.forbidden_matrix(names)
    required = run.knowledge.required_matrix(names)
    limit = min(d - 1, d if run.knowledge.max_parents is None else run.knowledge.max_parents)
    per_child = [int((~forbidden[:, child]).sum()) for child in range(d)]
    families = 0
    for free in per_child:
        for size in range(limit + 1):
            families += math.comb(free, size)
            if families > MOST_FAMILIES:
                raise OptionError(
                    f"{d} columns have over {MOST_FAMILIES:,} parent sets, too many to score one by one: "
                    "set a smaller limit (--max-parents)"
                )
    found = []
    for child in range(d):
        allowed = [int(i) for i in np.flatnonzero(~forbidden[:, child])]
        needed = frozenset(int(i) for i in np.flatnonzero(required[:, child]))
        found.append(undominated(score, child, allowed, needed, limit, run.budget))
        run.on_event(Event("scoring", child + 1, total=d))
    return Candidates(names, tuple(found))


def undominated(
    score: LocalScore, child: int, allowed: list[int], needed: frozenset[int], limit: int, budget: Budget
) -> ParentSets:
    """Parent sets of one child that score more than each of their subsets, all with the `needed` parents."""
    kept: list[tuple[float, tuple[int, ...]]] = []
    optional = [parent for parent in allowed if parent not in needed]
    best: dict[tuple[int, ...], float] = {}
    for size in range(limit - len(needed) + 1):
        level: dict[tuple[int, ...], float] = {}
        chosen = list(combinations(optional, size))
        for start in range(0, len(chosen), BATCH):
            batch = chosen[start : start + BATCH]
            values = score.families([(child, tuple(sorted((*needed, *parents)))) for parents in batch])
            for parents, value in zip(batch, values.tolist(), strict=True):
                below = max((best[parents[:k] + parents[k + 1 :]] for k in range(size)), default=-math.inf)
                if value > below:
                    kept.append((value, tuple(sorted((*needed, *parents)))))
                level[parents] = max(value, below)
            if budget.exhausted:
                raise OptionError(f"scoring was not finished: {budget.reason}; nothing was written")
        best = level
    kept.sort(key=lambda entry: (-entry[0], entry[1]))
    return ParentSets(child, tuple(parents for _, parents in kept), np.array([value for value, _ in kept]))
