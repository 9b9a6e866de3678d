"""Shared by FCI and RFCI: the skeleton of PC, marks from knowledge, and the outcome.

Knowledge is about causes. An edge a → b that is forbidden, by itself or by tiers, says that a is no cause of
b: an edge between them gets an arrow at a. If both ways are forbidden, a hidden cause can still join them:
a ↔ b. A required edge stays, as a → b.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from dagora.base.phrases import amount
from dagora.graph.ancestral.end_marks import EndMarks, contradictions
from dagora.graph.ancestral.pag import PAG
from dagora.graph.ancestral.rules import unshielded_triples
from dagora.graph.equivalence import Matrix
from dagora.learners.constraint.named_tests import (
    check_level,
    edges_left,
    known_edges,
    learn_by_test,
    named_separations,
    separator_search,
    too_few_rows,
)
from dagora.learners.constraint.skeleton import Skeleton, find_skeleton
from dagora.learners.independence.protocol import IndependenceTest
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.stats.statistics import Statistics


@dataclass
class PagSearch:
    """The state of FCI or RFCI."""

    test: IndependenceTest
    alpha: float
    run: Run
    selection: bool
    no_cause: Matrix  # [i, j]: i is no cause of j
    required: Matrix  # [i, j]: i is a cause of j, by a direct edge
    max_given: int
    found: Skeleton
    warnings: list[str]
    removed_later: int = 0  # edges of the skeleton of PC that were removed since

    def marks(self) -> EndMarks:
        """The marks that knowledge determines; circles at all other ends of the skeleton's edges."""
        marks = EndMarks(self.found.adjacent)
        for i, j in np.argwhere(self.required & self.found.adjacent).tolist():
            marks.put_tail(j, i)
            marks.put_arrow(i, j)
        for i, j in np.argwhere(self.no_cause & self.found.adjacent).tolist():
            marks.put_arrow(j, i)
        return marks

    def direct_colliders(self, marks: EndMarks) -> None:
        """R0: a node between two others that is not in their separating set is a collider."""
        for a, b, c in unshielded_triples(marks):
            if not self.found.separates(a, b, c):
                marks.put_arrow(a, b)
                marks.put_arrow(c, b)

    def must_stay(self, a: int, b: int) -> bool:
        """Return True if an edge between two nodes is required."""
        return bool(self.required[a, b] or self.required[b, a])

    def go_on(self) -> bool:
        """Return True if there is time left."""
        return not self.run.budget.exhausted


Finder = Callable[[PagSearch], EndMarks]


def learn_pag(
    statistics: Statistics,
    run: Run,
    finder: Finder,
    owner: str,
    *,
    test: str,
    alpha: float,
    max_given: int | None,
    selection: bool,
) -> Outcome:
    """Learn from statistics with a test by name."""
    pag = partial(
        pag_by, run=run, finder=finder, owner=owner, alpha=alpha, max_given=max_given, selection=selection
    )
    return learn_by_test(statistics, test, owner, alpha, pag)


def pag_by(
    test: IndependenceTest,
    run: Run,
    finder: Finder,
    owner: str,
    *,
    alpha: float = 0.01,
    max_given: int | None = None,
    selection: bool = False,
) -> Outcome:
    """Learn with any test: the skeleton of PC, then the marks that `finder` finds."""
    check_level(alpha)
    names = test.names
    no_cause, required = known_edges(run.knowledge, names)
    searcher = separator_search(test, owner, largest=True)
    none = np.zeros_like(required)
    found = find_skeleton(searcher, alpha, run, none, required | required.T, max_given, names)
    search = PagSearch(test, alpha, run, selection, no_cause, required, found.max_given, found, [])
    early = not found.finished
    # Without all separating sets the tests determine no mark.
    marks = search.marks() if early else finder(search)
    found.finished &= not run.budget.exhausted
    matrix = marks.to_numpy()
    warnings = [*too_few_rows(found, searcher.max_given), *search.warnings]
    if not early and (wrong := contradictions(matrix)):
        warnings.append(
            "the tests do not agree on one graph: the marks of "
            f"{amount(wrong, 'edge')} contradict those of others"
        )
    count = int((matrix > 0).sum()) // 2
    edges = edges_left(count, found.tests)
    late = (
        f"stopped at sets of {found.level}: {run.budget.reason}; there may be too many edges, and "
        + ("no mark was worked out" if early else "marks may be missing or wrong")
        + f": {edges}"
    )
    return Outcome(
        PAG.from_numpy(matrix, names),
        "finished" if found.finished else "time-limit",
        edges if found.finished else late,
        stats={
            "tests": float(found.tests),
            "largest_set": float(max(0, found.level)),
            "edges_removed_later": float(search.removed_later),
        },
        warnings=tuple(warnings),
        separating_sets=named_separations(found, names),
    )
