"""PCMCI+: a class of graphs in time from tests of conditional independence (Runge 2020).

Three phases: the earlier nodes that each variable depends on (`lagged_parents`), the skeleton by momentary
conditional independence (`momentary_skeleton`), directions within a step (`orientation_in_time`). Edges from
earlier steps are directed by time. With correct tests, no hidden common cause and no change of the relations
over time, the result is the class of all graphs in time with the independences of the true one.

The parents of a cause lie up to `lags` steps before it, so windows reach back twice as far as edges do. All
tests use the same windows: the first 2 · `lags` steps of each series are only the past of later ones.
Variables are sorted by name first, so their order in the table does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.base.phrases import amount, some_of
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import Edge
from dagora.graph.lagged_graph import split_name, window_names
from dagora.learners.constraint.named_tests import check_level, edges_left
from dagora.learners.constraint.pc import directions
from dagora.learners.outcome import LinkTest, Outcome
from dagora.learners.run import Run
from dagora.learners.time.dynotears import edges_in_time
from dagora.learners.time.lagged_parents import find_lagged_parents
from dagora.learners.time.link_tests import LinkTests
from dagora.learners.time.momentary_skeleton import Contexts, MomentaryLinks, find_skeleton_in_time
from dagora.learners.time.orientation_in_time import ColliderRule, Within, orient_within
from dagora.learners.time.tests_in_windows import WindowTests, tests_in_windows
from dagora.stats.statistics import Statistics

Matrix = NDArray[np.bool_]
# Windows reach back so many times as far as edges do: the parents of a cause are given, too.
REACH = 2


def pcmci_plus(
    statistics: Statistics,
    run: Run,
    *,
    lags: int = 1,
    test: str = "auto",
    alpha: float = 0.01,
    collider_rule: ColliderRule = "majority",
    max_given: int | None = None,
    max_lagged: int | None = None,
) -> Outcome:
    """Learn a class of graphs in time from tests at level `alpha`."""
    check_level(alpha)
    windows = tests_in_windows(statistics, REACH * lags, test, alpha, "pcmci-plus")
    d = len(windows.variables)
    allowed, required = edges_in_time(run.knowledge, windows.variables, lags)
    limits = SearchLimits(alpha, collider_rule, max_given, max_lagged)
    found = search_in_time(
        windows.tests, windows.variables, allowed[:, :d] | required[:, :d], required[:, :d], limits, run
    )
    graph = found.graph(windows.variables, lags).reorder(window_names(statistics.schema.names, lags))
    return found.outcome(graph, message_of(found.links, windows, alpha, run), windows.rows, windows.warnings)


class SearchLimits(NamedTuple):
    """The level of tests, the rule of colliders, and the most nodes that tests are given of each sort."""

    alpha: float
    collider_rule: ColliderRule
    max_given: int | None = None
    max_lagged: int | None = None


@dataclass(frozen=True)
class FoundInTime:
    """The links and directions that were found among some variables."""

    variables: tuple[str, ...]
    links: MomentaryLinks
    within: Within
    impossible: Matrix

    def graph(self, observed: tuple[str, ...], lags: int) -> CPDAG:
        """The edges among the first of the variables, those that are observed; none among contexts."""
        links, d, seen = self.links, len(self.variables), len(observed)
        matrix = np.zeros((lags + 1, d, d), dtype=np.bool_)
        matrix[1:] = links.lagged[d : (lags + 1) * d].reshape(lags, d, d)
        matrix[0] = self.within.directed | self.within.open | self.within.conflicts
        matrix[:, :, links.inside :] = False
        whole = np.zeros((lags + 1, seen, lags + 1, seen), dtype=np.bool_)
        whole[:, :, 0] = matrix[:, :seen, :seen]
        size = (lags + 1) * seen
        return CPDAG.from_numpy(whole.reshape(size, size), window_names(observed, lags))

    def outcome(
        self,
        graph: CPDAG,
        message: str,
        windows: int,
        warnings: Iterable[str],
        more: Mapping[str, float] | None = None,
    ) -> Outcome:
        """The outcome, with its warnings after those of windows, and more numbers."""
        links, within = self.links, self.within
        lagged = sum(split_name(cause)[1] > 0 for cause, _ in graph.edges)
        warned = [
            *warnings,
            *refused_edges(self.impossible),
            *contradictions(within, self.variables),
            *untested(links),
        ]
        return Outcome(
            graph,
            "finished" if links.finished else "time-limit",
            message,
            stats={
                "tests": float(links.tests),
                "largest_set": float(max(0, links.level)),
                "windows": float(windows),
                "edges_within": float(len(graph.edges) + len(graph.undirected) - lagged),
                "edges_lagged": float(lagged),
                "conflicts": float(within.conflicts.sum() // 2),
                "ambiguous_paths": float(len(within.ambiguous)),
                **(more or {}),
            },
            warnings=tuple(warned),
            link_tests=tests_of_edges(graph, links, self.variables),
        )


def search_in_time(
    tests: LinkTests,
    variables: tuple[str, ...],
    allowed: Matrix,
    required: Matrix,
    limits: SearchLimits,
    run: Run,
    contexts: Contexts | None = None,
) -> FoundInTime:
    """The three phases; rows of `allowed` and `required` are nodes, their columns variables."""
    d = len(variables)
    parents = find_lagged_parents(tests, without_present(allowed, d), required, limits.alpha, run, variables)
    links = find_skeleton_in_time(
        tests,
        parents,
        allowed[:d] | allowed[:d].T,
        required,
        run,
        limits.max_given,
        limits.max_lagged,
        contexts,
    )
    known, impossible = directions(links.within, required[:d], allowed[:d] & ~allowed[:d].T)
    for pair in np.argwhere(np.triu(impossible)).tolist():
        links.remove(*pair)
    links.tests += parents.tests
    links.finished &= parents.finished
    return FoundInTime(
        variables, links, orient_within(tests, links, known, limits.collider_rule, run), impossible
    )


def without_present(allowed: Matrix, variables: int) -> Matrix:
    """The allowed edges from earlier steps alone."""
    earlier = allowed.copy()
    earlier[:variables] = False
    return earlier


def message_of(links: MomentaryLinks, windows: WindowTests, alpha: float, run: Run) -> str:
    """The message of the outcome."""
    edges = edges_left(int(links.within.sum() // 2 + links.lagged.sum()), links.tests)
    made = f"by {windows.name} at level {alpha:g}, on {amount(windows.rows, 'window')} of {windows.length}"
    if links.finished:
        return f"{edges}, {made}"
    return (
        f"stopped early: {run.budget.reason}; there may be too many edges, and tests directed none within a "
        f"step: {edges}, {made}"
    )


def refused_edges(refused: Matrix) -> list[str]:
    """A warning of edges that no direction was left for."""
    count = int(refused.sum()) // 2
    return [f"{amount(count, 'edge')} were dropped: every direction of them is forbidden"] if count else []


def contradictions(within: Within, names: Sequence[str]) -> list[str]:
    """Warnings of edges in conflict, of paths on which sets disagree, and of what knowledge overruled."""
    said = []
    pairs = np.argwhere(np.triu(within.conflicts)).tolist()
    if pairs:
        listed = some_of([f"{names[i]} — {names[j]}" for i, j in pairs], 5)
        said.append(
            "the tests do not agree on one class of graphs: they ask for both directions of "
            f"{amount(len(pairs), 'edge')}, which are left open: {listed}"
        )
    if within.ambiguous:
        said.append(
            f"separating sets disagree, or there is none, on {amount(len(within.ambiguous), 'path')} x — k — "
            "y: whether x → k ← y is open there, and directs nothing"
        )
    if within.overruled:
        said.append(
            f"the tests ask for {amount(within.overruled, 'direction')} that the knowledge has the other way "
            "round: the knowledge was followed"
        )
    return said


def untested(links: MomentaryLinks) -> list[str]:
    """A warning of links that no test was possible for."""
    count = sum(bool(np.isnan(tested.p)) and tested.value is None for tested in links.weakest.values())
    if not count or not links.finished:
        return []
    reason = "there are too few windows or other nodes determine its ends"
    return [f"of {amount(count, 'link')} no test was possible, as {reason}: such links are kept"]


def tests_of_edges(graph: CPDAG, links: MomentaryLinks, names: Sequence[str]) -> dict[Edge, LinkTest]:
    """The test with the largest p-value of each edge of the graph that was tested, as the graph names it."""
    d = links.variables
    lags = len(links.lagged) // d - 1
    place = {node: at for at, node in enumerate(window_names(names, lags))}
    found = {}
    for edge in (*graph.edges, *graph.undirected):
        cause, effect = place[edge[0]], place[edge[1]]
        pair = (min(cause, effect), max(cause, effect)) if cause < d else (cause, effect)
        tested = links.weakest.get(pair)
        if tested is not None and not np.isnan(tested.p):
            found[edge] = LinkTest(tested.p, tested.value)
    return found
