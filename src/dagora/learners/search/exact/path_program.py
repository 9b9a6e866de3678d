"""The integer program of a best network in which some paths must be there, and others may not.

Cuts make both linear, where an integral solution breaks them. If no path leads from a to c, let R be all that
a leads to, and a: an edge from R to another node must be there, so the sets of nodes outside of R that have a
parent in R sum to at least 1. If a path leads from a to c that may not be, one of its edges must go: the sets
that have them sum to less than its length. Both hold for every network that is permitted, and cut off the one
that is not.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from pyscipopt.scip import PY_SCIP_RESULT, Heur, Solution

from dagora.graph.bits import unpack
from dagora.learners.search.components import LocalProblem, Order, place_all
from dagora.learners.search.exact.component_solver import Watch
from dagora.learners.search.exact.ilp_program import IlpProgram
from dagora.learners.search.exact.separation import Cut
from dagora.learners.search.path_rules import PathRules, reached


class AncestralProgram(IlpProgram):
    """The program of all columns, whose networks obey the rules; `choice` are the rows of the best one."""

    def __init__(
        self,
        problem: LocalProblem,
        kept: NDArray[np.int64],
        choice: NDArray[np.int64],
        rules: PathRules,
        watch: Watch,
        *,
        facets: bool,
        memory: float,
    ) -> None:
        self.rules = rules
        self.choice = choice
        order = place_all(problem.masks[choice], np.arange(len(choice) + 1))
        super().__init__(problem, kept, order, watch, cuts=[], facets=facets, memory=memory)
        self.best_score = float(problem.scores[choice].sum())

    def first_choice(self, start: Order) -> NDArray[np.int64]:  # noqa: ARG002 - an order may break the rules
        """The sets of the first network."""
        return self.choice

    def keep_best(self) -> None:
        """Keep the best network that the solver knows."""
        solution = self.model.getBestSol()
        rows = self.kept[self._chosen(solution)]
        found = float(self.whole.scores[rows].sum())
        if self.order_of(solution) is not None and found > self.best_score:
            self.choice, self.best_score = rows, found

    def order_of(self, solution: Solution | None) -> Order | None:
        """An order of an integral solution's network; None where it has a cycle or breaks the rules."""
        order = super().order_of(solution)
        return None if order is None or not self.rules.obeyed(self._network(solution)) else order

    def separate(self, *, integral: bool) -> int:
        """Add inequalities that the current LP solution violates."""
        if integral and super().order_of(None) is not None:
            self.rounds += 1
            cuts = self._path_cuts(self._network(None))
            self.cuts.update(cut.kind for cut in cuts)
            infeasible = [self._add_cut(cut, force=True) for cut in cuts]
            return PY_SCIP_RESULT.CUTOFF if any(infeasible) else PY_SCIP_RESULT.SEPARATED
        return super().separate(integral=integral)

    def improve(self, heuristic: Heur) -> int:  # noqa: ARG002
        """Look for nothing by orders."""
        return PY_SCIP_RESULT.DIDNOTFIND

    def _chosen(self, solution: Solution | None) -> NDArray[np.int64]:
        """For each node the kept set that an integral solution takes."""
        values = [self.model.getSolVal(solution, variable) for variable in self.variables]
        return np.array(
            [low + np.argmax(values[low:high]) for low, high in pairwise(self.sets.offsets.tolist())]
        )

    def _network(self, solution: Solution | None) -> NDArray[np.bool_]:
        return unpack(self.sets.masks[self._chosen(solution)], len(self.whole)).T

    def _path_cuts(self, present: NDArray[np.bool_]) -> list[Cut]:
        """The cuts that a network without cycles violates."""
        reach = reached(present)
        d = len(self.whole)
        inside = unpack(self.sets.masks, d)
        child = np.repeat(np.arange(d), np.diff(self.sets.offsets))
        found = []
        for a, c in self.rules.causes:
            if not reach[a, c]:
                led = reach[a] | (np.arange(d) == a)
                rows = np.flatnonzero(inside[:, led].any(axis=1) & ~led[child])
                found.append(Cut(rows, np.full(len(rows), -1.0), -1.0, "paths"))
        for a, c in self.rules.not_causes:
            if reach[a, c]:
                path = shortest_path(present, a, c)
                rows = np.flatnonzero(
                    np.any([(child == v) & inside[:, u] for u, v in pairwise(path)], axis=0)
                )
                found.append(Cut(rows, np.ones(len(rows)), float(len(path) - 2), "no_paths"))
        return found


def shortest_path(present: NDArray[np.bool_], a: int, c: int) -> list[int]:
    """The nodes of a shortest path, which must be there.

    >>> shortest_path(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=np.bool_), 0, 2)
    [0, 1, 2]
    """
    before, layer = {a: a}, [a]
    while c not in before:
        further = []
        for u in layer:
            for v in np.flatnonzero(present[u]).tolist():
                if v not in before:
                    before[v] = u
                    further.append(v)
        layer = further
    path = [c]
    while path[-1] != a:
        path.append(before[path[-1]])
    return path[::-1]
