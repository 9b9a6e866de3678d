"""Warnings about series: columns that wander, drift or share a season, and relations that change.

Two random walks that have nothing to do with each other look related as long as they go (Granger & Newbold
1974), and so do two columns that both follow the seasons. So an edge between such columns is no evidence by
itself, and a warning says so.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dagora.base.phrases import some_of
from dagora.data.schema import Kind
from dagora.data.series import Panel
from dagora.graph.any_graph import AnyGraph
from dagora.graph.dag import Edge
from dagora.graph.lagged_graph import LaggedGraph, lagged_name, split_name
from dagora.stats.change_points import RegressionChange, find_change
from dagora.stats.data_warnings import listing
from dagora.stats.seasons import Seasonal, seasonal
from dagora.stats.unit_roots import FEWEST, Wandering, wandering
from dagora.stats.windows import Windows

# Probability, times the number of columns, below which a change is no chance.
LEVEL = 0.01
# More variables, and more windows times columns, are not looked at for changes.
MOST_VARIABLES, MOST_CELLS = 200, 50_000_000
DIFFERENCES = "differences of each column from one step to the next have no such trend: learn from those"


def series_warnings(panel: Panel, lags: int, graph: AnyGraph) -> list[str]:
    """Sentences about what the series of a learned graph in time do not fulfil."""
    found = wandering(panel)
    edges = (*graph.edges, *graph.undirected)
    return [
        *wandering_words(found, edges),
        *untested_words(panel, edges),
        *season_words(seasonal(panel), edges),
        *change_words(panel, lags, graph),
    ]


def wandering_words(found: Wandering, edges: Iterable[Edge]) -> list[str]:
    """Sentences about columns that wander or drift, and the edges between them.

    >>> wandering_words(Wandering(("x", "y")), [("x[t-1]", "y"), ("x[t-1]", "x")])[0][:60]
    "'x', 'y' may be random walks (a unit root is not ruled out a"
    """
    told = []
    for names, what in (
        (found.roots, "may be random walks (a unit root is not ruled out at 5 %)"),
        (found.drifts, "drift along a line"),
    ):
        if not names:
            continue
        one = len(names) == 1
        between = between_them(names, edges)
        words = f"{listing([*names])} {what.replace('random walks', 'a random walk') if one else what}"
        words += share_words(found, names)
        if between:
            words += f": edges between such columns may mean nothing: do not trust {some_of(between, 5)}"
        elif not one:
            words += ": edges between such columns would mean little, and there is none"
        told.append(f"{words}; {DIFFERENCES}")
    return told


def share_words(found: Wandering, names: Iterable[str]) -> str:
    """The share of the series in which these columns wander, where it is not all of them.

    >>> share_words(Wandering(("x", "y"), (), {"y": (3, 8)}), ("x", "y"))
    " ('y' in about 3 of 8 series)"
    """
    shares = [
        f"'{name}' in about {found.partly[name][0]} of {found.partly[name][1]}"
        for name in names
        if name in found.partly
    ]
    return f" ({some_of(shares, 5)} series)" if shares else ""


def untested_words(panel: Panel, edges: Iterable[Edge]) -> list[str]:
    """A sentence about edges between columns whose runs of steps are too short for a test of wandering."""
    numbers = [one.name for one in panel.table.schema if one.kind is Kind.CONTINUOUS]
    between = between_them(numbers, edges)
    if not between or np.diff(panel.starts).max(initial=0) >= FEWEST:
        return []
    untested = f"no run of steps without a gap has {FEWEST}: whether columns are random walks was not tested"
    return [f"{untested}, and if they are, {some_of(between, 5)} may mean nothing"]


def season_words(found: Seasonal, edges: Iterable[Edge]) -> list[str]:
    """A sentence about columns that share a season, and the edges between them.

    >>> season_words(Seasonal(("x", "y"), 12, "a cycle of 12 steps"), [("x[t-1]", "y")])[0][:88]
    "'x', 'y' share a cycle of 12 steps: edges between such columns may stand for the season:"
    """
    if len(found.names) < 2:
        return []
    between = between_them(found.names, edges)
    words = f"{listing([*found.names])} share {found.cycle}: edges between such columns "
    if between:
        words += f"may stand for the season: do not trust {some_of(between, 5)}"
    else:
        words += "would stand for the season, and there is none"
    way = f"learn from differences to {found.steps:.0f} steps before, or add a column that tells the season"
    return [f"{words}; {way}"]


def between_them(names: Iterable[str], edges: Iterable[Edge]) -> list[str]:
    """The edges between two different columns of some, in words."""
    known = set(names)
    ends = [(edge, split_name(edge[0])[0], split_name(edge[1])[0]) for edge in edges]
    return [f"{a} → {b}" for (a, b), one, other in ends if one != other and {one, other} <= known]


def change_words(panel: Panel, lags: int, graph: AnyGraph) -> list[str]:
    """A sentence about the columns of numbers whose relation to their parents changes within a series."""
    in_time = LaggedGraph.of_window(graph)
    if in_time is None or len(in_time.variables) > MOST_VARIABLES:
        return []
    windows = Windows.of(panel, lags)
    if len(windows.ends) * len(graph) > MOST_CELLS:
        return []
    table = windows.table
    columns = dict(zip(table.names, table.columns, strict=True))
    numbers = {one.name for one in table.schema if one.kind is Kind.CONTINUOUS}
    breaks = np.flatnonzero(np.diff(windows.ends) != 1) + 1
    runs = [(a, b) for a, b in zip([0, *breaks.tolist()], [*breaks.tolist(), len(windows.ends)], strict=True)]
    tested = [
        name
        for name in in_time.variables
        if name in numbers and any(np.ptp(columns[name][first:stop]) > 0 for first, stop in runs)
    ]
    found: list[tuple[str, RegressionChange]] = []
    for name in tested:
        parents = parents_in_time(in_time, name)
        if not numbers.issuperset(parents) or not complete(table, [name, *parents]):
            continue
        change = find_change(columns[name], [columns[parent] for parent in parents], runs)
        if change is not None and change.p * len(tested) < LEVEL:
            found.append((name, change))
    if not found:
        return []
    found.sort(key=lambda one: one[1].p)
    listed = [f"'{name}' {place_in_words(panel, windows, runs, change)}" for name, change in found]
    changed = f"relations do not stay the same along the series: they change for {some_of(listed, 3)}"
    return [f"{changed}; one graph for all steps mixes them: learn from the parts before and after"]


def complete(table: object, names: Iterable[str]) -> bool:
    """Return True if no value of these columns is missing."""
    seen = getattr(table, "seen", None)
    schema = getattr(table, "schema", None)
    return seen is None or schema is None or all(seen[schema.index(name)].all() for name in names)


def parents_in_time(graph: LaggedGraph, name: str) -> list[str]:
    """The parents of a variable at t; of a line within a step the other end, as if it were one.

    >>> parents_in_time(LaggedGraph("ab", 1, [("b", "b", 1)], undirected=[("a", "b")]), "b")
    ['b[t-1]', 'a']
    """
    directed = [lagged_name(tail, lag) for tail, head, lag in graph.edges if head == name]
    lines = [other if one == name else one for one, other in graph.undirected if name in (one, other)]
    return [*directed, *lines]


def place_in_words(
    panel: Panel, windows: Windows, runs: list[tuple[int, int]], change: RegressionChange
) -> str:
    """The place of a change: the step of its series, counted from one."""
    row = int(windows.ends[runs[change.run][0] + change.place - 1]) + 1
    run = int(np.searchsorted(panel.starts, row - 1, side="right")) - 1
    label = panel.labels[run]
    series = f" of '{label}'" if label else ""
    return f"around step {row - int(panel.starts[run]) + 1}{series}"
