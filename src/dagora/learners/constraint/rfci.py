"""RFCI: a PAG from few tests, where causes may be hidden (Colombo, Maathuis, Kalisch & Richardson 2012).

FCI tests sets beyond the neighbours, of which there can be very many. RFCI does not: its skeleton is that of
PC, and may have an edge too many. Instead, it makes sure of what it concludes. A path a – b – c between nodes
that a set S separates is directed only if a and b, and b and c, are dependent given S without b; where they
are not, that edge is removed. A discriminating path is used only if its neighbouring nodes are dependent
given every subset of what separates its ends. Every arrow and every tail is then right, if the tests are;
edges can be left that FCI would remove, and circles that it would replace.

All paths are tested before any edge is removed, and so on in rounds: the order of the tests does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, pairwise

from dagora.graph.ancestral.end_marks import EndMarks
from dagora.graph.ancestral.rules import apply_rules, orient_discriminated, unshielded
from dagora.learners.constraint.pag_search import PagSearch, learn_pag
from dagora.learners.constraint.skeleton import Asked, Given, Pair, Separation, in_parts
from dagora.learners.result import Outcome
from dagora.learners.run import Run
from dagora.stats.statistics import Statistics

OWNER = "the method rfci"
Answer = tuple[Asked, float]


def rfci(
    statistics: Statistics,
    run: Run,
    *,
    test: str = "auto",
    alpha: float = 0.01,
    max_given: int | None = None,
    selection: bool = False,
) -> Outcome:
    """Learn a PAG from few tests at level `alpha`.

    >>> import numpy as np
    >>> from dagora.data.table import Table
    >>> from dagora.stats.table import TableStatistics
    >>> a, b, noise = np.random.default_rng(0).normal(size=(3, 500))
    >>> table = Table.from_numpy(np.stack([a, b, a + b + noise], axis=1), names=["a", "b", "c"])
    >>> print(rfci(TableStatistics(table), Run()).graph.to_text())
    a o-> c
    b o-> c
    """
    return learn_pag(
        statistics,
        run,
        find_marks,
        OWNER,
        test=test,
        alpha=alpha,
        max_given=max_given,
        selection=selection,
    )


def find_marks(search: PagSearch) -> EndMarks:
    """Make sure of v-structures, then apply all rules, with discriminating paths made sure of."""
    marks = search.marks()
    sure = SureOf(search)
    sure.colliders(marks)
    apply_rules(marks, sure.settle, selection=search.selection, go_on=search.go_on)
    return marks


class SureOf:
    """Tests what is concluded from, once each."""

    def __init__(self, search: PagSearch) -> None:
        self._search = search
        self._paths: set[tuple[int, int, int]] = set()
        self._discriminating: set[tuple[int, ...]] = set()

    def colliders(self, marks: EndMarks) -> None:
        """R0 on paths whose edges are sure; other edges are removed."""
        while self._search.go_on():
            new = [path for path in unshielded(marks) if path not in self._paths]
            if not new:
                break
            self._paths.update(new)
            asked = {
                (ordered(end, b), tuple(node for node in self._given(a, c) if node != b))
                for a, b, c in new
                for end in (a, c)
            }
            self._remove(marks, self._ask(asked))
        else:
            return  # paths that were not made sure of are not directed
        self._search.direct_colliders(marks)

    def settle(self, marks: EndMarks, path: list[int]) -> bool:
        """R4 on a path that discriminates, if its edges are sure; else they are removed."""
        given = self._given(path[0], path[-1])
        if tuple(path) not in self._discriminating:
            asked = {
                (ordered(*edge), some)
                for edge in pairwise(path)
                for some in subsets(node for node in given if node not in edge)
            }
            removed = self._remove(marks, self._ask(asked))
            if not self._search.go_on():
                return removed
            if removed:
                self.colliders(marks)
                return True
            self._discriminating.add(tuple(path))
        return orient_discriminated(marks, path, in_set=path[-2] in given)

    def _given(self, a: int, b: int) -> Given:
        """What separates two nodes."""
        return self._search.found.separations[ordered(a, b)].given

    def _remove(self, marks: EndMarks, tested: Iterable[Answer]) -> bool:
        """Remove the edges whose ends a test found independent; say whether there were any."""
        search = self._search
        separated: dict[Pair, list[Separation]] = {}
        for (pair, given), p in tested:
            if p > search.alpha and not search.is_required(*pair):
                separated.setdefault(pair, []).append(Separation(given, p))
        for pair, found in sorted(separated.items()):
            search.found.separations[pair] = self._smallest(pair, found)
            search.found.adjacent[pair] = search.found.adjacent[pair[::-1]] = False
            marks.remove(*pair)
            search.removed_later += 1
        return bool(separated)

    def _smallest(self, pair: Pair, found: list[Separation]) -> Separation:
        """Of the subsets of sets that separate a pair, the smallest that does, with the largest p-value.

        If time is up, one of the sets themselves.
        """
        within = {some for separation in found for some in subsets(separation.given)}
        for size in range(min(len(separation.given) for separation in found)):
            smaller = [
                Separation(given, p)
                for (_, given), p in self._ask({(pair, some) for some in within if len(some) == size})
                if p > self._search.alpha
            ]
            if smaller:
                return max(smaller, key=lambda separation: separation.p)
        return min(found, key=lambda separation: (len(separation.given), -separation.p, separation.given))

    def _ask(self, asked: set[Asked]) -> list[Answer]:
        """Test pairs given sets of any size."""
        search = self._search
        found: list[Answer] = []
        for size in sorted({len(given) for _, given in asked}):
            cases = iter(sorted(case for case in asked if len(case[1]) == size))
            for part, p_values in in_parts(search.test, cases, size, search.run):
                search.found.tests += len(part)
                found += zip(part, p_values, strict=True)
        return found


def ordered(a: int, b: int) -> Pair:
    """A pair, the smaller first."""
    return (a, b) if a < b else (b, a)


def subsets(members: Iterable[int]) -> list[Given]:
    """All subsets, the smaller first.

    >>> subsets([1, 2])
    [(), (1,), (2,), (1, 2)]
    """
    listed = tuple(members)
    return [some for size in range(len(listed) + 1) for some in combinations(listed, size)]
