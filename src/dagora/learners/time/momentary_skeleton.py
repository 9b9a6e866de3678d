"""The second phase of PCMCI+: the skeleton by momentary conditional independence (Runge 2020, algorithm 2).

The link from x (k steps back) to y is tested given the lagged parents of y (without x), those of x, shifted
by k steps, and sets of nodes adjacent to y within the step; within a step also of those adjacent to x. Given
the parents of both ends, what is left of either is new in its step: so a test keeps its level also where
series are strongly autocorrelated. Links are removed at the end of a level, so their order does not matter
(Colombo & Maathuis 2014). Of the sets of a level that separate a pair, the one with the largest p-value
counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Event
from dagora.learners.run import Run
from dagora.learners.time.lagged_parents import LaggedParents
from dagora.learners.time.link_tests import Given, Link, LinkTests, TestedLink

Matrix = NDArray[np.bool_]
Pair = tuple[int, int]


class Contexts(Protocol):
    """Variables that nothing in the series acts on: the last ones of all."""

    @property
    def count(self) -> int:
        """The number of them."""

    def trim(self, link: Link) -> Link:
        """Leave out what the tests of a link are not given, because of contexts."""

    def review(self, links: MomentaryLinks) -> Iterator[Pair]:
        """Look again at the links of contexts that are left; return those to remove."""


@dataclass
class MomentaryLinks:
    """The links that are left, and what was found out about each that was tested.

    within:     [i, j] for both directions: adjacent within a step
    lagged:     [k · d + i, j]: the link from i, k steps back
    weakest:    the test with the largest p-value, by (cause, effect); within a step, the smaller one first
    separating: the set that removed a link, beside the lagged parents
    removed_first: the lagged links that the first phase removed, without this one
    contexts:   of the variables, those that nothing in the series acts on
    """

    within: Matrix
    lagged: Matrix
    parents: list[list[int]]
    most_lagged: int | None = None
    most_given: int | None = None
    weakest: dict[Pair, TestedLink] = field(default_factory=dict)
    separating: dict[Pair, Given] = field(default_factory=dict)
    removed_first: frozenset[Pair] = frozenset()
    tests: int = 0
    level: int = -1
    finished: bool = True
    contexts: Contexts | None = None

    def __post_init__(self) -> None:
        self._around: dict[int, list[int]] = {}

    @property
    def variables(self) -> int:
        """The number of variables."""
        return len(self.within)

    def link(self, cause: int, effect: int) -> Link:
        """The link of a pair of nodes, with what its tests are given."""
        d = self.variables
        lag, variable = divmod(cause, d)
        strongest = slice(self.most_lagged)
        own = [node for node in self.parents[effect] if node != cause][strongest]
        shifted = [node + lag * d for node in self.parents[variable][strongest]]
        base = tuple(dict.fromkeys([*own, *shifted]))
        near = tuple(node for node in self.neighbours(effect) if node != cause)
        others = () if lag else tuple(node for node in self.neighbours(variable) if node != effect)
        link = Link(cause, effect, base, near, others)
        return link if self.contexts is None else self.contexts.trim(link)

    @property
    def inside(self) -> int:
        """The number of variables that are no contexts."""
        return self.variables - (0 if self.contexts is None else self.contexts.count)

    def neighbours(self, variable: int) -> list[int]:
        """The variables that are adjacent within the step."""
        if variable not in self._around:
            self._around[variable] = self.within[variable].nonzero()[0].tolist()
        return self._around[variable]

    def remove(self, cause: int, effect: int) -> None:
        """Remove a link."""
        if cause >= self.variables:
            self.lagged[cause, effect] = False
            return
        self.within[cause, effect] = self.within[effect, cause] = False
        for end in (cause, effect):
            self._around.pop(end, None)

    def adjacent(self, cause: int, effect: int) -> bool:
        """Return True if there is a link."""
        return bool(self.within[cause, effect] if cause < self.variables else self.lagged[cause, effect])

    def pairs(self) -> Iterator[Pair]:
        """All links that are left: within a step, then the lagged ones."""
        yield from map(tuple, np.argwhere(np.triu(self.within)).tolist())
        yield from map(tuple, np.argwhere(self.lagged).tolist())


def find_skeleton_in_time(
    tests: LinkTests,
    found: LaggedParents,
    within: Matrix,
    required: Matrix,
    run: Run,
    most_given: int | None = None,
    most_lagged: int | None = None,
    contexts: Contexts | None = None,
) -> MomentaryLinks:
    """Test links given ever more neighbours, from pairs that may be adjacent `within` a step.

    Links of `required` stay; its rows are the nodes of a window, its columns variables.
    """
    d = len(within)
    lagged = np.zeros_like(required)
    for effect, parents in enumerate(found.of):
        lagged[parents, effect] = True
    links = MomentaryLinks(within.copy(), lagged, found.of, most_lagged, most_given, contexts=contexts)
    links.removed_first = frozenset(pair for pair in found.largest_p if not lagged[pair])
    stays = required.copy()
    stays[:d] |= required[:d].T
    most = tests.max_given if most_given is None else most_given
    while links.finished and links.level < most:
        if run.budget.left <= 0:
            links.finished = False
            break
        links.level += 1
        run.on_event(Event("testing", links.level, message=f"sets of {links.level} variables of the step"))
        waiting = [link for pair in links.pairs() if (link := links.link(*pair)).widest >= links.level]
        if not waiting:
            links.level -= 1
            break
        removed = []
        for link in waiting:
            if run.budget.exhausted:
                links.finished = False
                break
            if take(tests, links, link, run) and not stays[link.cause, link.effect]:
                removed.append((link.cause, link.effect))
        for pair in removed:
            links.remove(*pair)
    if contexts is not None and links.finished:
        for pair in contexts.review(links):
            if not stays[pair]:
                links.remove(*pair)
    return links


def take(tests: LinkTests, links: MomentaryLinks, link: Link, run: Run) -> bool:
    """Test a link at the level of the search; return True if a set separates it."""
    pair = (link.cause, link.effect)
    tested = tests.given_sets(link, links.level, run)
    links.tests += tested.tests
    links.finished &= tested.finished
    if tested.separated:
        links.separating[pair] = tested.given
    known = links.weakest.get(pair)
    if known is None:
        links.weakest[pair] = tested
    else:
        known.add(tested)
    return bool(tested.separated)
