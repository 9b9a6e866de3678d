"""SVAR-RFCI: a PAG in time, where causes may be hidden (Malinsky & Spirtes 2018; Colombo et al. 2012).

RFCI on windows of time. Three things are known there. Nothing is a cause of what was before it: every edge
has an arrow at its later end. Relations stay the same: what holds for two nodes holds for the same two some
steps earlier, so edges are tested once, removed and marked together. And series depend on their own past,
which makes tests of them weak: as in LPCMCI (Gerhardus & Runge 2020), the search is made several times, and
tests are given the parents that the last round found for both ends, besides the sets that it tries. A cause
of either end never hides a separation. A node of a set that is smallest beside such causes, or one of these,
is a cause of either end: so the rules stay right. Whether a path is a collider is decided by all sets of
neighbours that separate its ends, as series often hide the weak product of two effects: where they disagree,
the path directs nothing.

The result has the edges that end at the present. With correct tests, every arrow and every tail of it is
right, and so is the absence of an edge; there may be edges that more tests would remove. Hidden causes
that are autocorrelated join variables at all lags, also those beyond the window.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Event
from dagora.base.phrases import amount
from dagora.graph.ancestral.end_marks import EndMarks, contradictions
from dagora.graph.ancestral.pag import PAG
from dagora.graph.ancestral.rules import apply_rules, unshielded_triples
from dagora.graph.lagged_graph import window_names
from dagora.learners.constraint.named_tests import check_level, edges_left
from dagora.learners.constraint.pag_search import PagSearch
from dagora.learners.constraint.rfci import CaseResult, DependenceChecks, sorted_pair
from dagora.learners.constraint.skeleton import Case, Given, Pair, Separation, Skeleton
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.learners.time.dynotears import edges_in_time
from dagora.learners.time.link_tests import Link, TestedLink
from dagora.learners.time.tests_in_windows import WindowTests, tests_in_windows
from dagora.learners.time.window_shifts import at_present, latest, repeats, shifted
from dagora.stats.statistics import Statistics

Matrix = NDArray[np.bool_]
NAME = "svar-rfci"
# Windows reach back so many times as far as edges do: a set that separates two nodes may reach twice as far,
# and is looked at from a third node, which may be later by as much again.
REACH = 3
# A discriminating path is not used if the set that separates its ends is larger: all its subsets are tested.
MOST_SUBSETS_OF = 10


@dataclass
class WindowSearch(PagSearch):
    """The state of a search in a window; `parents` are those that tests of a present node are given."""

    windows: WindowTests = field(kw_only=True)
    lags: int = field(kw_only=True)
    parents: list[Given] = field(default_factory=list, kw_only=True)
    voted: dict[Link, TestedLink] = field(default_factory=dict, kw_only=True)

    @classmethod
    def over(
        cls,
        windows: WindowTests,
        run: Run,
        lags: int,
        alpha: float,
        max_given: int | None,
        **more: Any,  # noqa: ANN401 - what a subclass adds
    ) -> Self:
        """A search of edges up to so many lags, without edges yet."""
        no_cause, required = known_in_window(run, windows.variables, lags)
        most = windows.tests.max_given if max_given is None else min(max_given, windows.tests.max_given)
        return cls(
            windows.single, alpha, run, False, no_cause, required, most,
            Skeleton(np.zeros_like(required), most), [], windows=windows, lags=lags, **more,
        )  # fmt: skip

    @property
    def d(self) -> int:
        """The number of variables."""
        return len(self.windows.variables)

    def link(self, pair: Pair) -> Link:
        """The link of a pair with its later node at the present, with what its tests are given."""
        cause, effect = pair
        lag, variable = divmod(cause, self.d)
        base = tuple(
            dict.fromkeys(
                node
                for node in (*self.parents[effect], *shifted(self.parents[variable], lag, self.d))
                if node not in pair
            )
        )
        near, others = (
            tuple(
                node
                for node in np.flatnonzero(self.found.adjacent[end]).tolist()
                if node not in pair and node not in base
            )
            for end in (effect, cause)
        )
        return Link(cause, effect, base, near, others)

    def direct_colliders(self, marks: EndMarks) -> None:
        """R0 by all sets of neighbours: a collider is in none that separates; one in some only is unclear."""
        d = self.d
        for a, b, c in unshielded_triples(marks):
            pair, steps = at_present((a, c), d)
            middle = b - steps * d
            if middle < 0:
                continue  # it is later than both ends, and has its arrows by time
            link = self.link(pair)
            if middle in link.base:
                continue  # a cause of one end is no collider
            votes = self.votes(link)
            share = votes.votes.get(middle, 0) / votes.separated if votes.separated else 0.5
            if share == 0 and self.may_collide(a, b, c):
                marks.put_arrow(a, b)
                marks.put_arrow(c, b)
            elif share < 1:
                marks.unclear.add(sorted_pair(a, c))

    def may_collide(self, _a: int, _b: int, _c: int) -> bool:
        """Return True: the edges of paths were tested before they are directed."""
        return True

    def votes(self, link: Link) -> TestedLink:
        """The tests of a pair given all sets of neighbours that are allowed, as far as time allows."""
        if link not in self.voted:
            found = self.voted[link] = TestedLink()
            for size in range(min(link.widest, self.max_given) + 1):
                if not self.go_on():
                    return TestedLink()
                found.add(self.windows.tests.given_sets(link, size, self.run))
            self.found.tests += found.tests
        return self.voted[link]

    def separate(self, pair: Pair, separation: Separation) -> None:
        """Remove the edge of a pair, given with its later node at the present, and all its repeats."""
        for (one, other), steps in repeats(pair, self.d, self.lags):
            self.found.adjacent[one, other] = self.found.adjacent[other, one] = False
            given = shifted(separation.given, steps, self.d)
            self.found.separations[sorted_pair(one, other)] = Separation(given, separation.p)

    def pairs(self) -> list[Pair]:
        """All adjacent pairs whose later node is at the present."""
        joined = np.argwhere(self.found.adjacent[:, : self.d]).tolist()
        return [(cause, effect) for cause, effect in joined if cause >= self.d or cause < effect]

    def outcome(
        self,
        marks: EndMarks,
        names: Sequence[str],
        tests: int,
        stats: Mapping[str, float],
        warnings: Iterable[str],
    ) -> Outcome:
        """The edges that end at the present, by variables in the order of `names`, after so many tests."""
        matrix = marks.to_numpy()
        matrix[self.d :, self.d :] = 0
        windows = self.windows
        graph = PAG.from_numpy(matrix, window_names(windows.variables, self.lags))
        made = f"by {windows.name} at level {self.alpha:g}, on {amount(windows.rows, 'window')}"
        message = f"{edges_left(len(graph.marked_edges), tests)}, {made} of {windows.length}"
        late = "there may be too many edges, and marks may be missing or wrong"
        done = self.found.finished
        return Outcome(
            graph.reorder(window_names(names, self.lags)),
            "finished" if done else "time-limit",
            message if done else f"stopped early: {self.run.budget.reason}; {late}: {message}",
            stats={
                "tests": float(tests),
                "largest_set": float(max(0, self.found.level)),
                "windows": float(windows.rows),
                **stats,
            },
            warnings=(*windows.warnings, *warnings),
        )


def svar_rfci(
    statistics: Statistics,
    run: Run,
    *,
    lags: int = 1,
    test: str = "auto",
    alpha: float = 0.01,
    rounds: int = 2,
    max_given: int | None = None,
) -> Outcome:
    """Learn a PAG in time from tests at level `alpha`."""
    check_level(alpha)
    windows = tests_in_windows(statistics, REACH * lags, test, alpha, NAME)
    search = WindowSearch.over(windows, run, lags, alpha, max_given)
    d = search.d
    search.parents = [()] * d
    marks = EndMarks(search.found.adjacent)
    tests = 0
    for number in range(1, rounds + 1):
        search.found = Skeleton(~np.eye(len(search.required), dtype=np.bool_), search.max_given)
        find_skeleton_in_window(search, number)
        marks = find_marks_in_window(search) if search.found.finished else search.marks()
        tests += search.found.tests
        if not search.go_on() or not search.found.finished:
            search.found.finished = False
            break
        before, search.parents = search.parents, parents_found(marks, d)
        if before == search.parents:
            break
    warnings = []
    if search.found.finished and (wrong := contradictions(marks.to_numpy())):
        warnings.append(
            "the tests do not agree on one graph: the marks of "
            f"{amount(wrong, 'edge')} contradict those of others, repeats at earlier steps counted"
        )
    removed = {"edges_removed_later": float(search.removed_later)}
    return search.outcome(marks, statistics.schema.names, tests, removed, warnings)


def known_in_window(run: Run, variables: tuple[str, ...], lags: int) -> tuple[Matrix, Matrix]:
    """[i, j]: node i is known to be no cause of j, and to be a direct one; by time and by knowledge."""
    d = len(variables)
    allowed, wanted = edges_in_time(run.knowledge, variables, lags)
    lag = np.arange((lags + 1) * d) // d
    no_cause = lag[:, None] < lag[None, :]
    required = np.zeros_like(no_cause)
    for cause, effect in np.argwhere(~allowed[:, :d] & ~wanted[:, :d]).tolist():
        for (one, other), _ in repeats((cause, effect), d, lags):
            no_cause[one, other] = True
    for cause, effect in np.argwhere(wanted[:, :d]).tolist():
        for (one, other), _ in repeats((cause, effect), d, lags):
            required[one, other] = True
    np.fill_diagonal(no_cause, val=False)
    return no_cause, required


def find_skeleton_in_window(search: WindowSearch, number: int) -> None:
    """Remove the edges of pairs that sets of neighbours separate, beside the parents that are given."""
    found = search.found
    while found.level < search.max_given:
        if not search.go_on():
            found.finished = False
            return
        waiting = [link for pair in search.pairs() if (link := search.link(pair)).widest > found.level]
        if not waiting:
            break
        found.level += 1
        message = f"round {number}, sets of {found.level} variables"
        search.run.on_event(Event("testing", found.level, message=message))
        removed: list[tuple[Pair, Separation]] = []
        for link in waiting:
            if not search.go_on():
                found.finished = False
                return
            tested = search.windows.tests.given_sets(link, found.level, search.run)
            found.tests += tested.tests
            pair = (link.cause, link.effect)
            if tested.separated and not search.must_stay(*pair):
                removed.append((pair, Separation((*link.base, *tested.given), tested.p)))
        for pair, separation in removed:
            search.separate(pair, separation)


def find_marks_in_window(search: WindowSearch) -> EndMarks:
    """Direct colliders, then apply all rules; what holds at one step holds at all."""
    marks = search.marks()
    checks = ChecksInTime(search)
    checks.direct_colliders(marks)
    repeat_marks(marks, search)
    while search.go_on():
        apply_rules(marks, checks.orient_discriminating, selection=False, go_on=search.go_on)
        if not repeat_marks(marks, search):
            break
    return marks


def repeat_marks(marks: EndMarks, search: WindowSearch) -> bool:
    """Put the marks of each edge at all its repeats; return True if that changed any."""
    changed = False
    for pair in search.pairs():
        places = [place for place, _ in repeats(pair, search.d, search.lags)]
        for turn in (1, -1):
            ends = [place[::turn] for place in places]
            for is_there, put in ((marks.is_arrow, marks.put_arrow), (marks.is_tail, marks.put_tail)):
                if any(is_there(*end) for end in ends):
                    changed |= sum(put(*end) for end in ends) > 0
    return changed


def parents_found(marks: EndMarks, d: int) -> list[Given]:
    """The nodes with a directed edge into each variable at the present."""
    return [
        tuple(node for node in marks.near(effect) if marks.is_directed(node, effect)) for effect in range(d)
    ]


class ChecksInTime(DependenceChecks):
    """Tests of the edges of paths, pairs of several steps as one; sets are made smallest node by node."""

    def __init__(self, search: WindowSearch) -> None:
        super().__init__(search)
        self._window = search
        self._known: dict[Case, float] = {}

    def orient_discriminating(self, marks: EndMarks, path: list[int]) -> bool:
        """R4, unless too many sets had to be tested for it."""
        if len(self._separating_set(path[0], path[-1])) > MOST_SUBSETS_OF:
            return False
        return super().orient_discriminating(marks, path)

    def _remove(self, marks: EndMarks, tested: Iterable[CaseResult]) -> bool:
        """Remove the edges whose ends a test found independent, at all steps."""
        search, d = self._window, self._window.d
        separated: dict[Pair, list[Separation]] = {}
        for (pair, given), p in tested:
            if p > search.alpha and not search.must_stay(*pair):
                now, steps = at_present(pair, d)
                separated.setdefault(now, []).append(Separation(shifted(given, -steps, d), p))
        for pair, found in sorted(separated.items()):
            for (one, other), _ in repeats(pair, d, search.lags):
                marks.remove(one, other)
            search.separate(pair, self._smallest(pair, found))
            search.removed_later += 1
        return bool(separated)

    def _smallest(self, pair: Pair, found: list[Separation]) -> Separation:
        """A set of which no node can be left out; nodes of the future of both ends are left out anyway."""
        best = min(found, key=lambda separation: (len(separation.given), -separation.p, separation.given))
        given = tuple(sorted(node for node in best.given if node >= 0))
        p = best.p
        for node in given:
            rest = tuple(other for other in given if other != node)
            ((_, value),) = self._p_values({(pair, rest)})
            if value > self._window.alpha:
                given, p = rest, value
        return Separation(given, p)

    def _p_values(self, cases: set[Case]) -> list[CaseResult]:
        """Test pairs given sets, each once for all steps."""
        d = self._window.d
        turned: dict[Case, Case] = {}
        for pair, given in cases:
            steps = latest((*pair, *given), d)
            now = (sorted_pair(*shifted(pair, -steps, d)), tuple(sorted(shifted(given, -steps, d))))
            turned[pair, given] = now
        for case, p in super()._p_values({case for case in turned.values() if case not in self._known}):
            self._known[case] = p
        return [(case, self._known[now]) for case, now in turned.items() if now in self._known]
