"""FCI: a PAG from tests of independence, where causes may be hidden (Spirtes et al. 2000; Zhang 2008).

Where causes are hidden, the neighbours of two nodes need not separate them. So after the skeleton of PC, and
its v-structures, every edge x – y is tested again, given sets of nodes that may be needed for it: those at
the end of a path from x on which each node is a collider or its neighbours on the path are joined
(possible-d-sep), as far as they are on a path from x to y (Colombo et al. 2012), and the same from y. These
sets are fixed before any edge is removed, so the order of the edges does not matter (Colombo & Maathuis
2014). Then all marks are derived anew by the rules of Zhang. With correct tests and no time limit, the result
is the PAG of the true graph.

The number of such sets grows exponentially with their size: `max_given` or a time limit keeps it small, and
`rfci` does without.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, combinations

from dagora.base.events import Event
from dagora.graph.ancestral.end_marks import EndMarks
from dagora.graph.ancestral.rules import apply_rules, settle_by
from dagora.learners.constraint.pag_search import PagSearch, learn_pag
from dagora.learners.constraint.skeleton import Given, Pair, separate_waiting
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.stats.statistics import Statistics

OWNER = "the method fci"
# The share of the time left after the skeleton for tests given possible-d-sep; the rules take little.
SHARE = 0.9


def fci(
    statistics: Statistics,
    run: Run,
    *,
    test: str = "auto",
    alpha: float = 0.01,
    max_given: int | None = None,
    selection: bool = False,
) -> Outcome:
    """Learn a PAG from tests at level `alpha`.

    >>> import numpy as np
    >>> from dagora.data.table import Table
    >>> from dagora.stats.table import TableStatistics
    >>> a, d, hidden, b, c = np.random.default_rng(0).normal(size=(5, 500))
    >>> rows = np.stack([a, a + hidden + b / 2, hidden + d + c / 2, d], axis=1)
    >>> table = Table.from_numpy(rows, names=["a", "b", "c", "d"])
    >>> print(fci(TableStatistics(table), Run()).graph.to_text())
    a o-> b
    b <-> c
    d o-> c
    """
    return learn_pag(
        statistics, run, find_marks, OWNER, test=test, alpha=alpha, max_given=max_given, selection=selection
    )


def find_marks(search: PagSearch) -> EndMarks:
    """Test again given possible-d-sep, then apply all rules."""
    first = search.marks()
    search.direct_colliders(first)
    separate_again(search, first)
    marks = search.marks()
    search.direct_colliders(marks)
    apply_rules(marks, settle_by(search.found.separates), selection=search.selection, go_on=search.go_on)
    return marks


def separate_again(search: PagSearch, marks: EndMarks) -> None:
    """Remove the edges whose ends a set of possible-d-sep separates."""
    found = search.found
    run = replace(search.run, budget=search.run.budget.part(SHARE))
    needed = may_separate(marks)
    pairs = {pair: members for pair, members in needed.items() if not search.must_stay(*pair)}
    size = 0
    while size < search.max_given:
        size += 1
        waiting = {pair: untried_sets(marks, pair, sides, size) for pair, sides in pairs.items()}
        if not any(len(side) >= size for sides in pairs.values() for side in sides):
            break
        run.on_event(Event("testing again", size, message=f"sets of {size} variables"))
        separated, tests = separate_waiting(search.test, waiting, size, search.alpha, run, largest=True)
        found.tests += tests
        found.level = max(found.level, size if tests else 0)
        for (x, y), separation in separated.items():
            found.adjacent[x, y] = found.adjacent[y, x] = False
            found.separations[x, y] = separation
            search.removed_later += 1
            del pairs[x, y]
        if run.budget.exhausted:
            found.finished = False
            break


def may_separate(marks: EndMarks) -> dict[Pair, tuple[list[int], list[int]]]:
    """For each edge x – y with x < y, the possible-d-sep nodes of x and of y on paths between them."""
    import networkx as nx

    graph = nx.Graph((a, b) for a in range(len(marks)) for b in marks.near(a) if a < b)
    around = {node: possible_d_sep(marks, node) for node in graph}
    members = {}
    for block in nx.biconnected_components(graph):
        for x, y in graph.subgraph(block).edges:
            pair = (min(x, y), max(x, y))
            members[pair] = tuple(sorted(around[end] & block - {x, y}) for end in pair)
    return {pair: (members[pair][0], members[pair][1]) for pair in sorted(members)}


def possible_d_sep(marks: EndMarks, x: int) -> set[int]:
    """The nodes at the end of a path from x on which nodes are colliders, or their neighbours are joined.

    >>> import numpy as np
    >>> path = EndMarks(np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]], dtype=bool))
    >>> sorted(possible_d_sep(path, 0)), path.put_arrow(0, 1), path.put_arrow(2, 1)
    ([1], True, True)
    >>> sorted(possible_d_sep(path, 0))
    [1, 2]
    """
    waiting = [(x, node) for node in marks.near(x)]
    seen = set(waiting)
    while waiting:
        before, node = waiting.pop()
        for after in marks.near(node):
            collider = marks.is_arrow(before, node) and marks.is_arrow(after, node)
            if after not in {x, before} and (collider or marks.are_joined(before, after)):
                step = (node, after)
                if step not in seen:
                    seen.add(step)
                    waiting.append(step)
    return {node for _, node in seen}


def untried_sets(
    marks: EndMarks, pair: Pair, sides: tuple[list[int], list[int]], size: int
) -> Iterator[Given]:
    """Sets of `size` nodes of either side, without the sets of neighbours, which were tested before."""
    near = [set(marks.near(end)) for end in pair]
    first = set(sides[0])
    for given in chain(
        combinations(sides[0], size),
        (given for given in combinations(sides[1], size) if not first.issuperset(given)),
    ):
        if not any(known.issuperset(given) for known in near):
            yield given
