"""What FCI and RFCI share: the skeleton of PC, what is known of marks, and the outcome.

Knowledge is about causes. An edge a → b that is forbidden, by itself or by tiers, says that a is no cause of
b: an edge between them gets an arrow at a. If both ways are forbidden, a hidden cause can still join them:
a ↔ b. A required edge stays, as a → b.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dagora.base.wording import counted
from dagora.graph.ancestral.end_marks import EndMarks, contradictions
from dagora.graph.ancestral.pag import PAG
from dagora.graph.ancestral.rules import unshielded
from dagora.graph.equivalence import Matrix
from dagora.graph.knowledge import Knowledge
from dagora.learners.constraint.asked_tests import (
    check_level,
    edges_left,
    level_search,
    named_separations,
    named_test,
    refuse_max_parents,
    too_few_rows,
)
from dagora.learners.constraint.skeleton import Skeleton, find_skeleton
from dagora.learners.independence.protocol import IndependenceTest
from dagora.learners.result import Outcome
from dagora.learners.run import Run
from dagora.stats.name_order import in_name_order
from dagora.stats.statistics import Statistics


@dataclass
class PagSearch:
    """A search: the test and its level, what is known, and the skeleton as far as it was found.

    `no_cause` [i, j] says that i is no cause of j; `required` [i, j] that it is, by a direct edge. Sets that
    are given have at most `most` members; `removed_later` counts edges that the skeleton of PC still had.
    """

    test: IndependenceTest
    alpha: float
    run: Run
    selection: bool
    no_cause: Matrix
    required: Matrix
    most: int
    found: Skeleton
    warnings: list[str]
    removed_later: int = 0

    def marks(self) -> EndMarks:
        """Circles at all ends of the skeleton's edges but those that knowledge marks."""
        marks = EndMarks(self.found.adjacent)
        for i, j in np.argwhere(self.required & self.found.adjacent).tolist():
            marks.put_tail(j, i)
            marks.put_arrow(i, j)
        for i, j in np.argwhere(self.no_cause & self.found.adjacent).tolist():
            marks.put_arrow(j, i)
        return marks

    def direct_colliders(self, marks: EndMarks) -> None:
        """R0: what is between two nodes, and not in what separates them, is not a cause of either."""
        for a, b, c in unshielded(marks):
            if not self.found.separates(a, b, c):
                marks.put_arrow(a, b)
                marks.put_arrow(c, b)

    def is_required(self, a: int, b: int) -> bool:
        """Whether an edge between two nodes must stay."""
        return bool(self.required[a, b] or self.required[b, a])

    def go_on(self) -> bool:
        """Whether there is time."""
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
    """Learn from statistics with a test by name; columns are taken by name, wherever they stand."""
    name, tester = named_test(in_name_order(statistics), test, owner)
    outcome = pag_by(tester, run, finder, owner, alpha=alpha, max_given=max_given, selection=selection)
    message = f"{outcome.message}, by {name} at level {alpha:g}"
    return replace(outcome, graph=outcome.graph.reorder(statistics.schema.names), message=message)


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
    """Learn with any test: the skeleton of PC, then what `finder` makes of it."""
    check_level(alpha)
    names = test.names
    no_cause, required = known_causes(run.knowledge, names, owner)
    levels = level_search(test, owner, largest=True)
    none = np.zeros_like(required)
    found = find_skeleton(levels, alpha, run, none, required | required.T, max_given, names)
    most = levels.most if max_given is None else min(max_given, levels.most)
    search = PagSearch(test, alpha, run, selection, no_cause, required, most, found, [])
    early = not found.finished
    # Without all separating sets no mark can be told from the tests.
    marks = search.marks() if early else finder(search)
    found.finished &= not run.budget.exhausted
    matrix = marks.to_numpy()
    warnings = [*too_few_rows(found, levels.most), *search.warnings]
    if not early and (wrong := contradictions(matrix)):
        warnings.append(
            "the tests do not agree on one graph: the marks of "
            f"{counted(wrong, 'edge')} contradict those of others"
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


def known_causes(knowledge: Knowledge, names: tuple[str, ...], owner: str) -> tuple[Matrix, Matrix]:
    """What is no cause of what, and what is one."""
    refuse_max_parents(knowledge, names, owner)
    no_cause = knowledge.forbidden_matrix(names)
    np.fill_diagonal(no_cause, val=False)
    return no_cause, knowledge.required_matrix(names)
