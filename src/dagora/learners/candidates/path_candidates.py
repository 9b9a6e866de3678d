"""Candidate parent sets where knowledge says that paths must be there.

Usually a set is useless if one of its subsets scores at least as much. Where k paths must be there, a family
of a best graph may need up to k of its parents for them, be they worth nothing. A set P is then useless only
if for each choice N ⊂ P of up to k parents there is a set Q with N ⊆ Q ⊂ P that scores at least as much: such
a Q can take the place of P without breaking a path. So every set up to the limit on parents is scored, where
they are not too many. With fewer parents allowed than that, the sets are incomplete, and so is any proof.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np

from dagora.graph.dag import DAG
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.candidates.level_search import find_candidates
from dagora.learners.run import Run
from dagora.scores.local_score import Family, LocalScore

# The most sets that are scored in all, and at a time.
MOST_SETS, AT_ONCE = 100_000, 1 << 14


def path_candidates(score: LocalScore, run: Run, permitted: DAG) -> Candidates:
    """Candidates among which is a best graph with the paths that must be there, and the graph `permitted`."""
    names = score.schema.names
    paths = len(run.knowledge.causes)
    if not paths:
        found = find_candidates(score, run)
    else:
        listed, largest = all_sets(score, run)
        limit = len(names) - 1 if run.knowledge.max_parents is None else run.knowledge.max_parents
        note = f"not looked at: parent sets of more than {largest}" if largest < limit else ""
        useful = [needed_sets(own, paths) for own in listed]
        found = Candidates.of(names, useful, complete=not note, note=note)
    aligned = permitted.reorder(names) if permitted.nodes != names else permitted
    families = [(child, aligned.parent_indices(child)) for child in range(len(names))]
    return replace(found.adding(aligned, score.families(families)), permitted=aligned)


Sets = list[tuple[tuple[int, ...], float]]


def all_sets(score: LocalScore, run: Run) -> tuple[list[Sets], int]:
    """For each child the sets that knowledge permits, up to an affordable size, and that size."""
    names = score.schema.names
    d = len(names)
    forbidden, required = run.knowledge.forbidden_matrix(names), run.knowledge.required_matrix(names)
    free = [np.flatnonzero(~forbidden[:, child] & ~required[:, child]).tolist() for child in range(d)]
    base = [np.flatnonzero(required[:, child]).tolist() for child in range(d)]
    limit = d - 1 if run.knowledge.max_parents is None else min(d - 1, run.knowledge.max_parents)
    largest, total = 0, 0
    for size in range(limit + 1):
        total += sum(
            comb(len(free[child]), size - len(base[child])) for child in range(d) if size >= len(base[child])
        )
        if total > MOST_SETS and size > max(2, *map(len, base)):
            break
        largest = size
    found: list[Sets] = [[] for _ in range(d)]
    waiting: list[Family] = []

    def flush() -> None:
        for (child, parents), value in zip(waiting, score.families(waiting).tolist(), strict=True):
            if value > -np.inf:
                found[child].append((tuple(parents), value))
        waiting.clear()

    for child in range(d):
        for size in range(largest - len(base[child]) + 1):
            for more in combinations(free[child], size):
                waiting.append((child, tuple(sorted([*base[child], *more]))))
                if len(waiting) == AT_ONCE:
                    flush()
    flush()
    return found, largest


def needed_sets(sets: Sets, paths: int) -> Sets:
    """The sets that may be part of a best graph in which so many paths must be there.

    >>> needed_sets([((), -1.0), ((0,), -2.0), ((1,), -3.0), ((0, 1), -4.0)], 1)
    [((), -1.0), ((0,), -2.0), ((1,), -3.0)]
    """
    best: dict[tuple[frozenset[int], frozenset[int]], float] = {}
    kept: Sets = []
    for parents, value in sorted(sets, key=lambda each: len(each[0])):
        own = frozenset(parents)
        useful = False
        for size in range(min(paths, len(parents)) + 1):
            for chosen in combinations(parents, size):
                must = frozenset(chosen)
                # The best score of a proper subset that has these parents, by those with one parent less.
                below = max((best.get((must, own - {left}), -np.inf) for left in own - must), default=-np.inf)
                best[must, own] = max(value, below)
                useful = useful or value > below
        if useful:
            kept.append((parents, value))
    return kept
