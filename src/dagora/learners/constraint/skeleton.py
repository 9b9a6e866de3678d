"""The skeleton of PC: the pairs that no tested set separates (Spirtes & Glymour 1991).

All pairs are adjacent at first. At level ℓ every adjacent pair x — y is tested given each ℓ nodes adjacent
to x, and each ℓ adjacent to y. Edges are removed at the end of a level, so that the skeleton does not
depend on the order of the tests (“stable”, Colombo & Maathuis 2014). A node that can have no parents, as
one of an earlier step, is no descendant of the other end: what separates them is then adjacent to the other
end alone. A pair that several sets of a level separate keeps the one with the largest p-value, or the first
in the order of the columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, islice
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Edges, Event
from dagora.graph.equivalence import Matrix
from dagora.learners.independence.protocol import IndependenceTest
from dagora.learners.run import Run

Pair = tuple[int, int]
Given = tuple[int, ...]
Case = tuple[Pair, Given]
Marks = NDArray[np.bool_]


class Separation(NamedTuple):
    """A set that separates a pair, with the p-value of the test."""

    given: Given
    p: float


class SeparatorSearch(Protocol):
    """Looks for separating sets of one size among the neighbours of every adjacent pair."""

    @property
    def max_given(self) -> int:
        """The size of the largest conditioning set that can be tested."""

    def separate(
        self, adjacent: Matrix, size: int, alpha: float, run: Run
    ) -> tuple[dict[Pair, Separation], int]:
        """The pairs (x < y) that a set separates, and the number of tests, as far as time allows."""


@dataclass
class Skeleton:
    """Adjacent pairs, and the separating set of each pair that was tested and is not adjacent.

    Sets have at most `max_given` members. `finished` is False if time ran out.
    """

    adjacent: Matrix
    max_given: int
    separations: dict[Pair, Separation] = field(default_factory=dict)
    tests: int = 0
    level: int = -1
    finished: bool = True

    def separates(self, a: int, c: int, b: int) -> bool:
        """Return True if c is in the set that separates a and b, or if they were not tested."""
        between = self.separations.get((min(a, b), max(a, b)))
        return between is None or c in between.given

    def p_of(self, a: int, b: int) -> float:
        """The p-value of the test that separated a and b; 0 if they were not tested."""
        between = self.separations.get((min(a, b), max(a, b)))
        return 0.0 if between is None else between.p


def find_skeleton(
    search: SeparatorSearch,
    alpha: float,
    run: Run,
    forbidden: Matrix,
    required: Matrix,
    max_given: int | None = None,
    names: Sequence[str] = (),
    roots: Marks | None = None,
) -> Skeleton:
    """Go from level to level until no neighbourhood is large enough.

    `forbidden` pairs are never adjacent, `required` ones always. Sets around `roots`, which have no parents,
    are not looked at. With `names`, events carry the skeleton from level 1 on.
    """
    looked_at = np.ones(len(forbidden), dtype=np.bool_) if roots is None else ~roots
    adjacent = ~forbidden & ~np.eye(len(forbidden), dtype=np.bool_)
    limit = search.max_given if max_given is None else min(max_given, search.max_given)
    skeleton = Skeleton(adjacent, limit)
    open_pairs = adjacent & ~required
    while skeleton.level < skeleton.max_given:
        # x and a set of `level + 1` others beside y.
        large = looked_at & (adjacent.sum(axis=1) - 1 > skeleton.level)
        enough = (adjacent & open_pairs) & large[:, None]
        if not enough.any():
            break
        skeleton.level += 1
        lines = partial(named_lines, adjacent, names) if names and skeleton.level else None
        message = f"sets of {skeleton.level} variables"
        run.on_event(Event("testing", skeleton.level, message=message, lines=lines))
        found, tests = search.separate(adjacent, skeleton.level, alpha, run)
        skeleton.tests += tests
        for (x, y), separation in found.items():
            if open_pairs[x, y]:
                adjacent[x, y] = adjacent[y, x] = False
                skeleton.separations[x, y] = separation
        if run.budget.exhausted:
            skeleton.finished = False
            break
    return skeleton


def named_lines(adjacent: Matrix, names: Sequence[str]) -> Edges:
    """Adjacent pairs by name.

    >>> named_lines(np.array([[False, True], [True, False]]), ["a", "b"])
    (('a', 'b'),)
    """
    return tuple((names[one], names[other]) for one, other in np.argwhere(np.triu(adjacent)).tolist())


class TestedSets:
    """Looks for separating sets with any test: among all of them for the `largest` p-value, else in waves.

    A wave tests the next 1, 2, 4, … sets of every pair that is not separated yet: few calls of many tests.
    """

    __test__ = False  # not a test of pytest

    def __init__(self, test: IndependenceTest, *, largest: bool, roots: Marks | None = None) -> None:
        self._test = test
        self._largest = largest
        self._roots = roots

    @property
    def max_given(self) -> int:
        """As for the test."""
        return self._test.max_given

    def separate(
        self, adjacent: Matrix, size: int, alpha: float, run: Run
    ) -> tuple[dict[Pair, Separation], int]:
        """The pairs that a set separates, and the number of tests."""
        waiting = {
            (x, y): sets_around(adjacent, x, y, size, self._roots)
            for x, y in np.argwhere(np.triu(adjacent)).tolist()
        }
        return separate_waiting(self._test, waiting, size, alpha, run, largest=self._largest)


def separate_waiting(
    test: IndependenceTest,
    waiting: dict[Pair, Iterator[Given]],
    size: int,
    alpha: float,
    run: Run,
    *,
    largest: bool,
) -> tuple[dict[Pair, Separation], int]:
    """The pairs that one of their `waiting` sets of this size separates, and the number of tests."""
    found: dict[Pair, Separation] = {}
    tests = 0
    wave = None if largest else 1
    while waiting:
        for cases, p_values in in_parts(test, next_sets(waiting, wave), size, run):
            tests += len(cases)
            for (pair, given), p in zip(cases, p_values, strict=True):
                before = found.get(pair)
                if p > alpha and (before is None or (largest and p > before.p)):
                    found[pair] = Separation(given, p)
        if wave is None or run.budget.exhausted:
            break
        for pair in found:
            waiting.pop(pair, None)
        wave *= 2
    return found, tests


def next_sets(waiting: dict[Pair, Iterator[Given]], number: int | None) -> Iterator[Case]:
    """The next `number` sets of each waiting pair (None: all); pairs without more sets are removed."""
    for pair in list(waiting):
        count = 0
        for given in islice(waiting[pair], number):
            count += 1
            yield pair, given
        if number is None or count < number:
            del waiting[pair]


def in_parts(
    test: IndependenceTest, cases: Iterator[Case], size: int, run: Run
) -> Iterator[tuple[list[Case], list[float]]]:
    """Test pairs given sets of one size, `batch_size` per call, until time is up."""
    while not run.budget.exhausted and (part := list(islice(cases, test.batch_size))):
        pairs = np.array([pair for pair, _ in part], dtype=np.int64)
        given = np.array([given for _, given in part], dtype=np.int64).reshape(len(part), size)
        yield part, test.p_values(pairs[:, 0], pairs[:, 1], given).tolist()


def sets_around(adjacent: Matrix, x: int, y: int, size: int, roots: Marks | None = None) -> Iterator[Given]:
    """Sets of `size` nodes adjacent to x, then those adjacent to y that were not among them; none at `roots`.

    >>> path = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]], dtype=bool)
    >>> list(sets_around(path, 0, 1, 1))
    [(2,)]
    """
    if not size:
        yield ()
        return
    near_x, near_y = (
        [node for node in np.flatnonzero(adjacent[one]).tolist() if node != other]
        if roots is None or not roots[one]
        else []
        for one, other in ((x, y), (y, x))
    )
    yield from combinations(near_x, size)
    known = set(near_x)
    yield from (given for given in combinations(near_y, size) if not known.issuperset(given))
