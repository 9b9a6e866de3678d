"""Directions from residuals, where v-structures leave edges undirected (Tillman, Gretton & Spirtes 2009).

If x = f(parents) + noise with noise that does not depend on the parents, what a regression leaves of x is
independent of them, and in nonlinear relations the other way round it is not, but for special cases. For a
node x and a set S of those it is joined to by undirected edges, S → x is taken, and x → y for the others,
where the residual of x given S and its parents is independent of each of these, and for no member of S is the
residual of that member, given x and its own parents, independent of what it is given. Sets are tried from
small to large. Relations that fit both ways, linear Gaussian ones among them, stay undirected.

No direction is taken that would make a new v-structure or a cycle, and each is followed by the directions
that it implies (Meek 1995).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from dagora.graph.equivalence import Matrix, consistent_extension, meek_closure, v_structures
from dagora.learners.independence.residuals import ResidualTest
from dagora.learners.run import Run


def direct_by_residuals(matrix: Matrix, test: ResidualTest, alpha: float, run: Run) -> tuple[Matrix, int]:
    """The graph with more edges directed, and the number of tests; what time allows."""
    tests = 0
    size = 1
    while size <= int((matrix & matrix.T).sum(axis=1).max(initial=0)):
        for x, members in candidates(matrix, size):
            if run.budget.exhausted:
                return matrix, tests
            directed = with_parents(matrix, x, members)
            # Directions found since may have settled some of these edges.
            if directed is None or not (matrix & matrix.T)[x, list(members)].all():
                continue
            fits, made = fits_one_way(matrix, x, members, test, alpha)
            tests += made
            if fits:
                matrix = meek_closure(directed)
        size += 1
    return matrix, tests


def candidates(matrix: Matrix, size: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Nodes with sets of so many others that they are joined to by undirected edges."""
    lines = matrix & matrix.T
    for x in range(len(matrix)):
        for members in combinations(np.flatnonzero(lines[x]).tolist(), size):
            yield x, members


def with_parents(matrix: Matrix, x: int, members: tuple[int, ...]) -> Matrix | None:
    """The graph with members → x, and x → y for the others; None where no DAG of the class is like that.

    >>> chain = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=bool)
    >>> with_parents(chain, 1, (0,)).astype(int)
    array([[0, 1, 0],
           [0, 0, 1],
           [0, 0, 0]])
    >>> with_parents(chain, 1, (0, 2)) is None  # a new v-structure
    True
    """
    directed = matrix.copy()
    lines = matrix & matrix.T
    for other in np.flatnonzero(lines[x]).tolist():
        if other in members:
            directed[x, other] = False
        else:
            directed[other, x] = False
    was, now = (consistent_extension(graph) for graph in (matrix, directed))
    return (
        directed if was is not None and now is not None and v_structures(was) == v_structures(now) else None
    )


def fits_one_way(
    matrix: Matrix, x: int, members: tuple[int, ...], test: ResidualTest, alpha: float
) -> tuple[bool, int]:
    """Whether residuals are independent for members → x and for no edge x → member; and tests made."""
    parents = np.flatnonzero(matrix[:, x] & ~matrix[x]).tolist()
    fits, tests = independent_residual(x, [*parents, *members], test, alpha)
    if not fits:
        return False, tests
    for member in members:
        own = np.flatnonzero(matrix[:, member] & ~matrix[member]).tolist()
        backwards, made = independent_residual(member, [*own, x], test, alpha)
        tests += made
        if backwards:
            return False, tests
    return True, tests


def independent_residual(column: int, given: list[int], test: ResidualTest, alpha: float) -> tuple[bool, int]:
    """Whether what is left of a column given others is independent of each of them; and tests made."""
    if len(given) > test.most:
        return False, 0
    left = column, tuple(sorted(given))
    tests = 0
    for other in given:
        tests += 1
        if not test.between(left, (other, ())) > alpha:
            return False, tests
    return True, tests
