"""LPCMCI: a PAG in time, where causes may be hidden, from few weak tests (Gerhardus & Runge 2020).

Tests of autocorrelated series are weak unless causes of both ends are given. So causes are worked out while
edges are still being removed, and every test is given all causes that are known by then. Two nodes of which
one causes the other are separated by causes of the later one, if at all: sets are made of nodes that may be
causes. The search for causes is made a few times over, `preliminary` ones first, each of which starts with
all edges again and with the parents that the last one found. Only then larger sets are tried, for the edges
of which nobody knows that one end is a cause: nodes on paths of possible colliders (possible-d-sep).

An edge has a third mark while the search goes on, in its middle: whether all sets of possible causes of
either end have been tried (`tried`), and so whether it is certain (`is_certain`). What follows from what
separates nodes is in `causes_in_time`. Colliders and discriminating paths are directed only if their edges
are certain, or if tests find them dependent given what separates the ends (Colombo et al. 2012).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dagora.base.events import Event
from dagora.base.phrases import amount, some_of
from dagora.base.wording import option
from dagora.graph.ancestral.end_marks import EndMarks
from dagora.graph.ancestral.rules import orient_discriminating_path, rule_4
from dagora.graph.edge_marks import ARROW, TAIL
from dagora.graph.lagged_graph import window_names
from dagora.learners.constraint.named_tests import check_level
from dagora.learners.constraint.rfci import sorted_pair, subsets
from dagora.learners.constraint.skeleton import Given, Pair, Separation, Skeleton
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.learners.time.causes_in_time import CausesInTime, Choice
from dagora.learners.time.link_tests import Link, TestedLink
from dagora.learners.time.svar_rfci import MOST_SUBSETS_OF, Matrix, WindowSearch
from dagora.learners.time.tests_in_windows import tests_in_windows
from dagora.learners.time.window_shifts import at_present, latest, shifted
from dagora.stats.statistics import Statistics

NAME = "lpcmci"
# Sets reach as far back as edges; one of a pair is looked at from a node that is later by as much again.
REACH = 2


class Tried(NamedTuple):
    """All sets up to this size of the nodes near a pair have been given beside the base."""

    base: frozenset[int]
    near: frozenset[int]
    near_cause: frozenset[int]
    size: int

    @classmethod
    def of(cls, link: Link, size: int) -> Tried:
        """The sets of a link up to a size."""
        return cls(frozenset(link.base), frozenset(link.near), frozenset(link.near_cause), size)

    def covers(self, link: Link) -> bool:
        """Return True if its sets were tried as far as `size`."""
        return (
            self.base == frozenset(link.base)
            and self.near.issuperset(link.near)
            and self.near_cause.issuperset(link.near_cause)
        )


@dataclass
class CauseSearch(WindowSearch):
    """The state of a search that works out causes while it removes edges."""

    causes: CausesInTime = field(kw_only=True)
    beyond: int = field(kw_only=True)
    wide: bool = field(default=False, kw_only=True)
    tried: dict[Pair, Tried] = field(default_factory=dict, kw_only=True)

    def link(self, pair: Pair) -> Link:
        """The link of a pair; it is given all known causes that are adjacent to either end."""
        cause, effect = pair
        yes, maybe = self.causes.yes, ~self.causes.no
        base = tuple(
            node
            for node in dict.fromkeys((*self.near(effect, yes), *self.near(cause, yes)))
            if node not in pair
        )
        near = () if yes[effect, cause] else self.near(effect, maybe)
        others = () if yes[cause, effect] else self.near(cause, maybe)
        return link_without(Link(cause, effect, base, near, others))

    def tested_link(self, pair: Pair) -> Link:
        """The link with the nodes that are tried now: larger sets in the end, unless one end is a cause."""
        link = self.link(pair)
        if not self.wide or self.is_directed(pair):
            return link
        cause, effect = pair
        return link_without(
            link._replace(near=self.on_paths(effect, cause), near_cause=self.on_paths(cause, effect))
        )

    def near(self, node: int, kind: Matrix) -> Given:
        """The nodes adjacent to one that are of a kind: causes of it, or possible ones."""
        return tuple(np.flatnonzero(self.found.adjacent[:, node] & kind[:, node]).tolist())

    def is_directed(self, pair: Pair) -> bool:
        """Return True if one end is known to be a cause of the other."""
        return bool(self.causes.yes[pair] or self.causes.yes[pair[::-1]])

    def is_certain(self, pair: Pair) -> bool:
        """Return True if all sets were tried that could separate a pair, in the order of `at_present`."""
        tried = self.tried.get(pair)
        if tried is None or not (self.wide or self.is_directed(pair)):
            return False
        link = self.tested_link(pair)
        return tried.covers(link) and tried.size >= link.widest

    def on_paths(self, end: int, other: int) -> Given:
        """Possible-d-sep: nodes that may be causes, at the end of paths on which nodes may be colliders."""
        yes, no = self.causes.yes, self.causes.no
        possible = ~(no[:, end] & no[:, other])
        joined = self.found.adjacent
        near = [np.flatnonzero(row & possible).tolist() for row in joined]
        waiting = [(end, node) for node in near[end]]
        seen = set(waiting)
        while waiting:
            before, node = waiting.pop()
            if yes[node, before]:
                continue
            for after in near[node]:
                if after in (before, end) or (node, after) in seen or yes[node, after]:
                    continue
                if joined[before, after] or (no[node, before] and no[node, after]):
                    seen.add((node, after))
                    waiting.append((node, after))
        return tuple(sorted({node for _, node in seen}))

    def votes(self, link: Link) -> TestedLink:
        """As for `WindowSearch`; the set that was found, if no set of possible causes separates a pair."""
        found = super().votes(link)
        between = self.found.separations.get((min(link[:2]), max(link[:2])))
        if found.separated or between is None:
            return found
        one = TestedLink(between.p, None, between.given, 1)
        one.votes = dict.fromkeys(between.given, 1)
        return one

    def size_of(self, pair: Pair, link: Link) -> int | None:
        """The size of the sets to try next; None if all were tried."""
        tried = self.tried.get(pair)
        size = tried.size + 1 if tried is not None and tried.covers(link) else 0
        most = (
            min(self.max_given, self.beyond) if self.wide and not self.is_directed(pair) else self.max_given
        )
        return size if size <= min(link.widest, most) else None

    def remove_edges(self, phase: str) -> None:
        """Remove the edges of pairs that sets separate, the smallest sets first, until all were tried."""
        while self.found.finished:
            waiting = [
                (size, pair, link)
                for pair in self.pairs()
                if not self.must_stay(*pair)
                and (size := self.size_of(pair, link := self.tested_link(pair))) is not None
            ]
            if not waiting:
                break
            level = min(waiting)[0]
            self.found.level = max(self.found.level, level)
            self.run.on_event(Event("testing", level, message=f"{phase}, sets of {level} variables"))
            removed: list[tuple[Pair, Separation]] = []
            for size, pair, link in waiting:
                if size > level:
                    continue
                if not self.go_on():
                    self.found.finished = False
                    return
                tested = self.windows.tests.given_sets(link, size, self.run)
                self.found.tests += tested.tests
                self.tried[pair] = Tried.of(link, size)
                if tested.separated:
                    removed.append((pair, Separation((*link.base, *tested.given), tested.p)))
            for pair, separation in removed:
                self.separate(pair, separation)
            if removed:
                self.causes.conclude()

    def separate(self, pair: Pair, separation: Separation) -> None:
        """Remove an edge at all steps; every node of the set between the two is a cause of one of them."""
        super().separate(pair, separation)
        near = self.found.adjacent[pair[0]] & self.found.adjacent[pair[1]]
        between = [node for node in separation.given if node < len(near) and near[node]]
        self.causes.choices |= {Choice(node, *pair) for node in between}

    def direct(self) -> bool:
        """Direct colliders, discriminating paths and all that follows; return True if anything changed."""
        before = self.causes.count
        for rule in (self.direct_colliders, lambda marks: rule_4(marks, self.discriminate)):
            marks = self.known_marks()
            rule(marks)
            self.take(marks)
            self.causes.try_choices()
        return before != self.causes.count

    def may_collide(self, a: int, b: int, c: int) -> bool:
        """Return True if both edges are certain, or their ends depend given what separates a and c."""
        given = self.found.separations[sorted_pair(a, c)].given
        return all(self.depend((end, b), [given]) for end in (a, c))

    def discriminate(self, marks: EndMarks, path: list[int]) -> bool:
        """R4, if the neighbours on the path depend given all subsets of what separates its ends."""
        given = self.found.separations[sorted_pair(path[0], path[-1])].given
        if len(given) > MOST_SUBSETS_OF or not all(
            self.depend(edge, subsets(node for node in given if node not in edge)) for edge in pairwise(path)
        ):
            return False
        return orient_discriminating_path(marks, path, in_set=path[-2] in given)

    def depend(self, pair: Pair, sets: Iterable[Given]) -> bool:
        """Return True if an edge is certain, or no test given one of the sets finds its ends independent."""
        if self.is_certain(at_present(pair, self.d)[0]):
            return True
        for given in sets:
            steps = latest((*pair, *given), self.d)
            x, y, *others = np.array(shifted((*pair, *given), -steps, self.d))[:, None]
            self.found.tests += 1
            if self.test.p_values(x, y, np.array(others).reshape(1, -1))[0] > self.alpha:
                return False
        return True

    def known_marks(self) -> EndMarks:
        """The marks of all edges, as far as causes are known."""
        marks = EndMarks(self.found.adjacent)
        for one, other in np.argwhere(self.found.adjacent).tolist():
            if self.causes.yes[one, other]:
                marks.put_tail(other, one)
            elif self.causes.no[one, other]:
                marks.put_arrow(other, one)
        return marks

    def take(self, marks: EndMarks) -> None:
        """Take in the marks that were found."""
        found = marks.to_numpy().T
        self.causes.learn(found == TAIL, found == ARROW)


def link_without(link: Link) -> Link:
    """A link without its own nodes and those of its base among the nodes near it."""
    left_out = {link.cause, link.effect, *link.base}
    near, others = (
        tuple(node for node in some if node not in left_out) for some in (link.near, link.near_cause)
    )
    return link._replace(near=near, near_cause=others)


def lpcmci(
    statistics: Statistics,
    run: Run,
    *,
    lags: int = 1,
    test: str = "auto",
    alpha: float = 0.01,
    preliminary: int = 4,
    max_given: int | None = None,
    max_beyond: int = 3,
) -> Outcome:
    """Learn a PAG in time from tests at level `alpha`."""
    check_level(alpha)
    windows = tests_in_windows(statistics, REACH * lags, test, alpha, NAME)
    known = CausesInTime.of_time(len(windows.variables), lags + 1)
    search = CauseSearch.over(windows, run, lags, alpha, max_given, causes=known, beyond=max_beyond)
    tests, number, parents = 0, 0, search.required
    while True:
        number += 1
        start(search, parents)
        work_out(search, f"search {number}")
        before, parents = parents, search.found.adjacent & search.causes.yes
        same = bool((before == parents).all())
        if same or number > preliminary or not search.found.finished:
            break
        tests += search.found.tests
    if search.found.finished:
        search.wide = True
        work_out(search, "larger sets")
    tests += search.found.tests
    return search.outcome(
        search.known_marks(),
        statistics.schema.names,
        tests,
        {"searches": float(number), "edges_open": float(len(uncertain(search)))},
        cautions(search, window_names(windows.variables, lags)),
    )


def start(search: CauseSearch, parents: Matrix) -> None:
    """Begin with all edges, and with what time, knowledge and the last search tell of causes."""
    search.found = Skeleton(~np.eye(len(parents), dtype=np.bool_), search.max_given)
    search.tried.clear()
    search.voted.clear()
    search.causes = CausesInTime.of_time(search.d, search.lags + 1)
    search.causes.learn(parents, search.no_cause)
    search.causes.conclude()


def work_out(search: CauseSearch, phase: str) -> None:
    """Remove edges and find marks by turns, until nothing changes."""
    while search.found.finished:
        search.remove_edges(phase)
        if not search.found.finished or not search.direct():
            break
        search.found.finished = search.go_on()


def uncertain(search: CauseSearch) -> list[Pair]:
    """The edges of which not all sets that could remove them were tried."""
    return [pair for pair in search.pairs() if not search.must_stay(*pair) and not search.is_certain(pair)]


def cautions(search: CauseSearch, nodes: tuple[str, ...]) -> list[str]:
    """Warnings of edges that larger sets might remove, and of tests that contradict each other."""
    if not search.found.finished:
        return []
    told = []
    if pairs := uncertain(search):
        listed = some_of([f"{nodes[one]} – {nodes[other]}" for one, other in pairs], 5)
        told.append(
            f"larger sets, which were not tried, may separate the ends of {amount(len(pairs), 'edge')} "
            f"({option('max_beyond')}, {option('max_given')}): {listed}"
        )
    if search.causes.conflicts:
        told.append("the tests do not agree on one graph: what follows from some contradicts others")
    return told
