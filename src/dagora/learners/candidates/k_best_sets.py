"""The parent sets that a network among the k best classes may have, with their scores.

A set that scores less than one of its subsets is no part of a best network, but it may be part of the second
best. It can be left out if k of its proper subsets score more: each can take its place without closing a
cycle, which gives k networks that score more, no two with the same adjacencies. So are sets that lose more,
against their child's best set, than the k-th of some classes that are known already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import KnowledgeError, OptionError
from dagora.base.events import Event
from dagora.base.wording import option
from dagora.graph.bits import pack
from dagora.kernels.decorators import kernel
from dagora.learners.candidates.candidates import Candidates, ParentSets, best_first
from dagora.learners.run import Run
from dagora.scores.local_score import TIE, LocalScore

Floats = NDArray[np.float64]

MOST_FAMILIES = 2_000_000
"""Families that are scored in all: a minute or so on a thousand rows."""

MOST_COMPARED = 4_000_000_000
"""Pairs of a set and a subset that are compared, at most."""

MOST_COLUMNS = 62
AT_ONCE = 4096


def find_k_best_sets(score: LocalScore, run: Run, k: int) -> Candidates:
    """Score all parent sets that knowledge permits, and keep those that the k best classes may have."""
    names = score.schema.names
    d = len(names)
    if d > MOST_COLUMNS:
        raise OptionError(f"the k best classes are found of up to {MOST_COLUMNS} columns, not of {d}")
    forbidden, required = run.knowledge.forbidden_matrix(names), run.knowledge.required_matrix(names)
    limit = d - 1 if run.knowledge.max_parents is None else min(d - 1, run.knowledge.max_parents)
    free = [
        np.flatnonzero(~forbidden[:, x] & ~required[:, x] & (np.arange(d) != x)).tolist() for x in range(d)
    ]
    base = [np.flatnonzero(required[:, x]).tolist() for x in range(d)]
    for x in range(d):
        if len(base[x]) > limit:
            raise KnowledgeError(
                f"'{names[x]}' has {len(base[x])} required parents, and {option('max_parents')} allows "
                f"{limit}"
            )
    sizes = [range(min(limit - len(base[x]), len(free[x])) + 1) for x in range(d)]
    families = sum(comb(len(free[x]), m) for x in range(d) for m in sizes[x])
    compared = sum(comb(len(free[x]), m) << m for x in range(d) for m in sizes[x])
    if families > MOST_FAMILIES or compared > MOST_COMPARED:
        raise OptionError(
            f"the k best classes of {d} columns need the scores of {families:,} parent sets, and "
            f"{MOST_FAMILIES:,} can be had: set {option('max_parents')} lower, or leave columns out"
        )
    found: list[ParentSets] = []
    for x in range(d):
        own = [(*base[x], *more) for m in sizes[x] for more in combinations(free[x], m)]
        values = score_in_parts(score, run, x, own)
        if values is None:
            return incomplete(score, run, names)
        bits = np.array([sum(1 << p for p in one) for one in own], dtype=np.int64)
        order = np.argsort(bits)
        fixed = sum(1 << p for p in base[x])
        kept = np.sort(order[may_matter(bits[order], values[order], fixed, k)])
        members = np.zeros((len(kept), d), dtype=np.bool_)
        for row, place in enumerate(kept):
            members[row, list(own[place])] = True
        found.append(best_first(x, pack(members), values[kept], d))
    return Candidates(tuple(names), tuple(found))


def score_in_parts(score: LocalScore, run: Run, child: int, sets: Sequence[tuple[int, ...]]) -> Floats | None:
    """The scores of one child's sets; None where time is up."""
    values = []
    for start in range(0, len(sets), AT_ONCE):
        if run.budget.exhausted:
            return None
        part = sets[start : start + AT_ONCE]
        values.append(score.families([(child, tuple(sorted(parents))) for parents in part]))
        run.on_event(Event("scoring parent sets", child, total=len(score.schema.names)))
    return np.concatenate(values)


def incomplete(score: LocalScore, run: Run, names: Sequence[str]) -> Candidates:
    """The required parents alone, marked as incomplete, where time is up."""
    required = run.knowledge.required_matrix(tuple(names))
    sets = [tuple(np.flatnonzero(required[:, x]).tolist()) for x in range(len(names))]
    values = score.families(list(enumerate(sets)))
    listed = [[(parents, float(value))] for parents, value in zip(sets, values, strict=True)]
    return Candidates.of(names, listed, complete=False, note=f"most were not looked at ({run.budget.reason})")


@kernel
def may_matter(bits: NDArray[np.int64], values: NDArray[np.float64], fixed: int, k: int) -> NDArray[np.bool_]:
    """Mark the sets of which fewer than k proper subsets score more; `bits` ascend, all hold `fixed`."""
    kept = np.ones(len(bits), dtype=np.bool_)
    for row in range(len(bits)):
        own = bits[row] & ~fixed
        tie = TIE * max(1.0, abs(values[row]))
        better = 0
        sub = own
        while sub != 0 and better < k:
            sub = (sub - 1) & own
            place = np.searchsorted(bits, sub | fixed)
            if place < len(bits) and bits[place] == sub | fixed and values[place] > values[row] + tie:
                better += 1
        kept[row] = better < k
    return kept


def above(candidates: Candidates, least: float) -> Candidates:
    """The sets that can be part of a network that scores `least` or more.

    >>> pair = Candidates.of("ab", [[((), -2.0), ((1,), -1.0)], [((), -3.0), ((0,), -9.0)]])
    >>> [len(child) for child in above(pair, -5.0)]
    [2, 1]
    """
    bound = float(sum(child.scores[0] for child in candidates))
    room = bound - least + TIE * max(1.0, abs(bound))
    kept = []
    for child in candidates:
        near = child.scores[0] - child.scores <= room
        kept.append(ParentSets(child.child, child.masks[near], child.scores[near], child.columns))
    return replace(candidates, sets=tuple(kept))


def neighbours_of(parents: Sequence[int], candidates: Candidates) -> Iterator[tuple[int, ...]]:
    """The DAGs, as masks of parents, in which one variable of a DAG has another set of parents."""
    d = len(parents)
    for x in range(d):
        for row in candidates.sets[x].masks[:, 0]:
            changed = (*parents[:x], int(row), *parents[x + 1 :])
            if changed[x] != parents[x] and is_acyclic(changed):
                yield changed


def is_acyclic(parents: Sequence[int]) -> bool:
    """Return True if masks of parents have no cycle.

    >>> is_acyclic((0b10, 0b00)), is_acyclic((0b10, 0b01))
    (True, False)
    """
    left = (1 << len(parents)) - 1
    while left:
        roots = sum(1 << x for x in range(len(parents)) if left >> x & 1 and not parents[x] & left)
        if not roots:
            return False
        left &= ~roots
    return True
