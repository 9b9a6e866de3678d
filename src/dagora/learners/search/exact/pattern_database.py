"""A bound on what the remaining variables of an order can add, from exact solutions of small groups.

The variables are divided into groups. A group is solved as if all variables outside it were free parents:
dynamic programming tables, for every subset of the group that has been placed, the best score that the
group's remaining variables can reach. The groups' values are added. The sum is never below what is possible,
and never above the sum of the best scores: a static pattern database (Yuan & Malone 2013).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.learners.search.components import LocalProblem
from dagora.learners.search.exact.dynamic import completions


class PatternDatabase(NamedTuple):
    """Tables of groups of neighbouring variables.

    Group k has variables `starts[k]` to `starts[k + 1] − 1`. Its table begins at `offsets[k]` of `tables` and
    is indexed by the bits of the group's placed variables.
    """

    starts: NDArray[np.int64]
    offsets: NDArray[np.int64]
    tables: NDArray[np.float64]


def pattern_database(
    problem: LocalProblem, starts: NDArray[np.int64], exhausted: Callable[[], bool]
) -> PatternDatabase | None:
    """Table the groups that begin at `starts`, whose last entry is the number of variables.

    Returns None where the time runs out before all tables are filled.
    """
    offsets = np.concatenate([[0], np.cumsum(1 << np.diff(starts))])
    tables = np.empty(offsets[-1], dtype=np.float64)
    for k, (low, high) in enumerate(pairwise(starts.tolist())):
        group = problem.restrict(tuple(range(low, high)))
        for _ in completions(group, tables[offsets[k] : offsets[k + 1]]):
            if exhausted():
                return None
    return PatternDatabase(starts, offsets, tables)


def group_members(
    problem: LocalProblem, limit: int
) -> tuple[LocalProblem, NDArray[np.int64], NDArray[np.int64]]:
    """Divide the members into groups of at most `limit` whose members compete to be each other's parents.

    Returns the problem with each group's members side by side, their former positions, and the groups'
    starts.
    """
    groups = partition(conflicts(problem), limit)
    positions = tuple(x for group in groups for x in group)
    starts = np.concatenate([[0], np.cumsum([len(group) for group in groups])]).astype(np.int64)
    return problem.restrict(positions), np.array(positions, dtype=np.int64), starts


def conflicts(problem: LocalProblem) -> NDArray[np.float64]:
    """The loss of each two members, as only one of them can be the other's parent."""
    size = len(problem)
    loss = np.zeros((size, size))
    for x in range(size):
        own = slice(problem.offsets[x], problem.offsets[x + 1])
        scores = problem.scores[own]
        for y in range(size):
            without = (problem.masks[own, 0] >> np.uint64(y) & np.uint64(1)) == 0
            loss[x, y] = scores[0] - scores[without.argmax()]
    # A small part of either's loss counts as well: it groups variables that conflict in longer cycles only.
    return np.minimum(loss, loss.T) + 0.01 * (loss + loss.T)


def partition(weights: NDArray[np.float64], limit: int) -> list[list[int]]:
    """Divide into the smallest number of groups of at most `limit`, with much weight inside the groups.

    >>> partition(np.array([[0, 1, 9, 0], [1, 0, 0, 5], [9, 0, 0, 2], [0, 5, 2, 0]]), 2)
    [[0, 2], [1, 3]]
    """
    size = len(weights)
    count = -(-size // limit)
    # Empty places are filled with members of no weight: every group is full, so an exchange can also be a
    # move.
    padded = np.zeros((count * limit, count * limit))
    padded[:size, :size] = weights
    np.fill_diagonal(padded, 0.0)
    groups = join_groups(padded, limit)
    while len(groups) > count:
        for x in groups.pop(min(range(len(groups)), key=lambda k: len(groups[k]))):
            open_groups = [group for group in groups if len(group) < limit]
            max(open_groups, key=lambda group: padded[x, group].sum()).append(x)
    divided = [[x for x in group if x < size] for group in exchange_members(padded, groups)]
    return [group for group in divided if group]


def join_groups(weights: NDArray[np.float64], limit: int) -> list[list[int]]:
    """Join the two groups with the largest weight between them, as long as two fit into one."""
    between = weights.copy()
    groups = [[x] for x in range(len(weights))]
    while True:
        sizes = np.array([len(group) for group in groups])
        fits = sizes[:, None] + sizes[None, :] <= limit
        np.fill_diagonal(fits, val=False)
        if not fits.any():
            return groups
        a, b = sorted(divmod(int(np.where(fits, between, -1.0).argmax()), len(groups)))
        groups[a] += groups.pop(b)
        between[a] += between[b]
        between[:, a] += between[:, b]
        between = np.delete(np.delete(between, b, axis=0), b, axis=1)


def exchange_members(weights: NDArray[np.float64], groups: list[list[int]]) -> list[list[int]]:
    """Exchange members between groups as long as that increases the weight inside them."""
    size = len(weights)
    home = np.empty(size, dtype=np.int64)
    for k, group in enumerate(groups):
        home[group] = k
    while True:
        inside = np.stack([weights[:, home == k].sum(axis=1) for k in range(len(groups))], axis=1)
        # Weight of x towards the group of y, less that towards its own; and the other way round for y.
        gain = inside[:, home] - inside[np.arange(size), home][:, None]
        both = gain + gain.T - 2 * weights
        both[home[:, None] == home] = 0.0
        x, y = divmod(int(both.argmax()), size)
        if both[x, y] <= 1e-9 * float(weights.sum()):
            return [np.flatnonzero(home == k).tolist() for k in range(len(groups))]
        home[x], home[y] = home[y], home[x]
