"""Combine the networks of several searches: take each region from the network that is better there.

Where networks are large, searches differ in regions that have little to do with each other, and each search
is ahead in some of them. Variables whose parents differ, joined where one is a parent of the other in either
network, fall into regions. The leader takes over every region in which the other scores more, unless that
closes a cycle (in the manner of partition crossover; Whitley, Hains & Howe 2009).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.graph.bits import unpack
from dagora.learners.search.components import LocalProblem, place_all

Choice = NDArray[np.int64]


def combine(problem: LocalProblem, leader: Choice, other: Choice, tolerance: float) -> Choice:
    """Take over, into the rows of a network, those of another in every region where it is ahead.

    >>> from dagora.learners.candidates.candidates import Candidates
    >>> pairs = [[((), -3.0), ((1,), -1.0)], [((), -3.0)], [((), -3.0), ((3,), -1.0)], [((), -3.0)]]
    >>> problem = LocalProblem.whole(Candidates.of("abcd", pairs))
    >>> left, right = np.array([0, 2, 4, 5]), np.array([1, 2, 3, 5])  # b → a, and d → c
    >>> combine(problem, left, right, 1e-9)  # both
    array([0, 2, 3, 5])
    """
    best = leader.copy()
    gains = problem.scores[other] - problem.scores[leader]
    for region in regions(problem, leader, other):
        if gains[region].sum() > tolerance:
            trial = best.copy()
            trial[region] = other[region]
            if order_of(problem, trial) is not None:
                best = trial
    return best


def regions(problem: LocalProblem, one: Choice, other: Choice) -> list[NDArray[np.int64]]:
    """Variables whose parents differ, in groups that are joined by edges of either network."""
    different = np.flatnonzero(one != other)
    either = problem.masks[one[different]] | problem.masks[other[different]]
    joined = unpack(either, len(problem))[:, different]
    joined |= joined.T
    unseen = set(range(len(different)))
    found = []
    while unseen:
        group = waiting = {min(unseen)}
        while waiting:
            waiting = set(np.flatnonzero(joined[sorted(waiting)].any(axis=0)).tolist()) - group
            group = group | waiting
        unseen -= group
        found.append(different[sorted(group)])
    return found


def order_of(problem: LocalProblem, choice: Choice) -> NDArray[np.int64] | None:
    """An order that agrees with a network; None where its edges close a cycle."""
    order = place_all(problem.masks[choice], np.arange(len(choice) + 1))
    return order if len(order) == len(choice) else None
