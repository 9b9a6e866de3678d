"""RFCI: a PAG from few tests, where causes may be hidden (Colombo, Maathuis, Kalisch & Richardson 2012).

FCI tests sets beyond the neighbours, of which there can be very many. RFCI does not: its skeleton is that of
PC, and may have superfluous edges. Instead it tests before it directs. A path a – b – c whose ends a set S
separates is directed only if a and b, and b and c, are dependent given S without b; otherwise that edge is
removed. A discriminating path is used only if its neighbouring nodes are dependent given every subset of the
set that separates its ends. Every arrow and every tail is then correct, if the tests are; edges and circles
may remain that FCI would remove or replace.

All paths are tested before any edge is removed, in rounds, so the order of the tests does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, pairwise

from dagora.graph.ancestral.end_marks import EndMarks
from dagora.graph.ancestral.rules import apply_rules, orient_discriminating_path, unshielded_triples
from dagora.learners.constraint.pag_search import PagSearch, learn_pag
from dagora.learners.constraint.skeleton import Case, Given, Pair, Separation, in_parts
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.stats.statistics import Statistics

OWNER = "the method rfci"
CaseResult = tuple[Case, float]


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
        statistics, run, find_marks, OWNER, test=test, alpha=alpha, max_given=max_given, selection=selection
    )


def find_marks(search: PagSearch) -> EndMarks:
    """Direct v-structures, then apply all rules; paths are tested first."""
    marks = search.marks()
    checks = DependenceChecks(search)
    checks.direct_colliders(marks)
    apply_rules(marks, checks.orient_discriminating, selection=search.selection, go_on=search.go_on)
    return marks


class DependenceChecks:
    """Tests the edges of paths before these are directed, each path once."""

    def __init__(self, search: PagSearch) -> None:
        self._search = search
        self._paths: set[tuple[int, int, int]] = set()
        self._discriminating: set[tuple[int, ...]] = set()

    def direct_colliders(self, marks: EndMarks) -> None:
        """R0 on paths whose neighbouring nodes are dependent; other edges are removed."""
        while self._search.go_on():
            new = [path for path in unshielded_triples(marks) if path not in self._paths]
            if not new:
                break
            self._paths.update(new)
            cases = {
                (sorted_pair(end, b), tuple(node for node in self._separating_set(a, c) if node != b))
                for a, b, c in new
                for end in (a, c)
            }
            self._remove(marks, self._p_values(cases))
        else:
            return  # paths that were not tested are not directed
        self._search.direct_colliders(marks)

    def orient_discriminating(self, marks: EndMarks, path: list[int]) -> bool:
        """R4 on a discriminating path whose neighbouring nodes are dependent; other edges are removed."""
        given = self._separating_set(path[0], path[-1])
        if tuple(path) not in self._discriminating:
            cases = {
                (sorted_pair(*edge), some)
                for edge in pairwise(path)
                for some in subsets(node for node in given if node not in edge)
            }
            removed = self._remove(marks, self._p_values(cases))
            if not self._search.go_on():
                return removed
            if removed:
                self.direct_colliders(marks)
                return True
            self._discriminating.add(tuple(path))
        return orient_discriminating_path(marks, path, in_set=path[-2] in given)

    def _separating_set(self, a: int, b: int) -> Given:
        return self._search.found.separations[sorted_pair(a, b)].given

    def _remove(self, marks: EndMarks, tested: Iterable[CaseResult]) -> bool:
        """Remove the edges whose ends a test found independent; return True if there were any."""
        search = self._search
        separated: dict[Pair, list[Separation]] = {}
        for (pair, given), p in tested:
            if p > search.alpha and not search.must_stay(*pair):
                separated.setdefault(pair, []).append(Separation(given, p))
        for pair, found in sorted(separated.items()):
            search.found.separations[pair] = self._smallest(pair, found)
            search.found.adjacent[pair] = search.found.adjacent[pair[::-1]] = False
            marks.remove(*pair)
            search.removed_later += 1
        return bool(separated)

    def _smallest(self, pair: Pair, found: list[Separation]) -> Separation:
        """The smallest subset of the sets that separates a pair, with the largest p-value.

        If time is up, one of the sets.
        """
        within = {some for separation in found for some in subsets(separation.given)}
        for size in range(min(len(separation.given) for separation in found)):
            smaller = [
                Separation(given, p)
                for (_, given), p in self._p_values({(pair, some) for some in within if len(some) == size})
                if p > self._search.alpha
            ]
            if smaller:
                return max(smaller, key=lambda separation: separation.p)
        return min(found, key=lambda separation: (len(separation.given), -separation.p, separation.given))

    def _p_values(self, cases: set[Case]) -> list[CaseResult]:
        """Test pairs given sets of any size."""
        search = self._search
        results: list[CaseResult] = []
        for size in sorted({len(given) for _, given in cases}):
            same_size = iter(sorted(case for case in cases if len(case[1]) == size))
            for part, p_values in in_parts(search.test, same_size, size, search.run):
                search.found.tests += len(part)
                results += zip(part, p_values, strict=True)
        return results


def sorted_pair(a: int, b: int) -> Pair:
    """The pair with the smaller node first."""
    return (a, b) if a < b else (b, a)


def subsets(members: Iterable[int]) -> list[Given]:
    """All subsets, the smaller first.

    >>> subsets([1, 2])
    [(), (1,), (2,), (1, 2)]
    """
    listed = tuple(members)
    return [some for size in range(len(listed) + 1) for some in combinations(listed, size)]
