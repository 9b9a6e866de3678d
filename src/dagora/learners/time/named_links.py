"""Tests of links by any test of independence, many sets at a time.

Such tests give p-values alone, so the strength of a parent is what its p-value says. Of parents whose
p-values are 0 to the last bit, the more recent one counts as stronger, then the first by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from dagora.learners.independence.protocol import IndependenceTest
from dagora.learners.run import Run
from dagora.learners.time.link_tests import Given, Link, TestedLink

Floats = NDArray[np.float64]


class NamedLinks:
    """Tests of nodes of a window by a test of independence."""

    def __init__(self, test: IndependenceTest, alpha: float) -> None:
        self._test = test
        self._alpha = alpha
        self.max_given = test.max_given

    def given_strongest(self, effect: int, parents: Sequence[int], size: int) -> tuple[Floats, Floats]:
        """The p-values, and strengths that order them: 1 − p."""
        p = np.full(len(parents), np.nan)
        if size > self.max_given:
            return p, p
        given = np.array(
            [[*islice((one for one in parents if one != parent), size)] for parent in parents], dtype=np.int64
        ).reshape(len(parents), size)
        pairs = np.array([(parent, effect) for parent in parents], dtype=np.int64)
        step = self._test.batch_size
        for start in range(0, len(parents), step):
            some = slice(start, start + step)
            p[some] = self._test.p_values(pairs[some, 0], pairs[some, 1], given[some])
        return p, 1.0 - p

    def given_sets(self, link: Link, size: int, run: Run) -> TestedLink:
        """Test a link given its base and sets of one size."""
        found = TestedLink()
        if len(link.base) + size > self.max_given:
            return found
        waiting = sets_beside(link, size)
        while part := list(islice(waiting, self._test.batch_size)):
            if found.tests and run.budget.exhausted:
                found.finished = False
                break
            given = np.array([[*link.base, *some] for some in part], dtype=np.int64)
            given = given.reshape(len(part), len(link.base) + size)
            cause, effect = (np.full(len(part), node, dtype=np.int64) for node in (link.cause, link.effect))
            for some, p in zip(part, self._test.p_values(cause, effect, given).tolist(), strict=True):
                separates = p > self._alpha
                votes = {node: 1 for node in some if separates and node in link.near}
                one = TestedLink(p, None, some, int(separates), 1)
                one.votes = votes
                found.add(one)
        return found


def sets_beside(link: Link, size: int) -> Iterator[Given]:
    """Sets of `size` nodes near the effect, then those near the cause that are not all near the effect.

    >>> list(sets_beside(Link(0, 1, (), (2, 3), (3, 4)), 1))
    [(2,), (3,), (4,)]
    """
    yield from combinations(link.near, size)
    if size:
        near = set(link.near)
        yield from (some for some in combinations(link.near_cause, size) if not near.issuperset(some))
