"""Tests of links in time: of one pair of nodes given a fixed set and, besides, some of its neighbours.

Nodes are those of a window, by number: variable v of k steps back is k · d + v, where d is the number of
variables. Two implementations: `gaussian_links` from a matrix of correlations, `named_links` by any test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dagora.learners.run import Run

Floats = NDArray[np.float64]
Given = tuple[int, ...]


class Link(NamedTuple):
    """A pair of nodes of a window: `cause`, at the present step or before it, and `effect` at the present.

    `base` are the nodes that every test of it is given. `near` are nodes of which some are given besides,
    and `near_cause` others, of which some are given in their stead.
    """

    cause: int
    effect: int
    base: Given
    near: Given
    near_cause: Given = ()

    @property
    def widest(self) -> int:
        """The number of nodes of the larger neighbourhood."""
        return max(len(self.near), len(self.near_cause))


@dataclass
class TestedLink:
    """Tests of a link given its base and sets of one size, or of several.

    p:         the largest p-value; NaN if no test was possible
    value:     the partial correlation that belongs to it; None of tests that have none
    given:     the set, beside the base
    votes:     for each node of `near`, the number of sets with it that separate the pair
    separated: the number of sets that separate the pair
    """

    __test__ = False  # not a test of pytest

    p: float = float("nan")
    value: float | None = None
    given: Given = ()
    separated: int = 0
    tests: int = 0
    finished: bool = True

    def __post_init__(self) -> None:
        self.votes: dict[int, int] = {}

    def add(self, other: TestedLink) -> None:
        """Join tests of further sets; of equal p-values the earlier one stays."""
        if not other.p <= self.p and not np.isnan(other.p):
            self.p, self.value, self.given = other.p, other.value, other.given
        for node, votes in other.votes.items():
            self.votes[node] = self.votes.get(node, 0) + votes
        self.separated += other.separated
        self.tests += other.tests
        self.finished &= other.finished


class LinkTests(Protocol):
    """Tests at one level."""

    @property
    def max_given(self) -> int:
        """The size of the largest conditioning set that can be tested."""

    def given_strongest(self, effect: int, parents: Sequence[int], size: int) -> tuple[Floats, Floats]:
        """Test `effect` and each of its parents given the first `size` of the others.

        Returns p-values and strengths, by which parents are sorted: NaN where a test is impossible.
        """

    def given_sets(self, link: Link, size: int, run: Run) -> TestedLink:
        """Test a link given its base and every set of `size` nodes of either neighbourhood."""
