"""The k best classes of equivalent networks by integer programming, one after the other.

The program of a best network is solved again with every class found so far cut off by one inequality. With
adj(i, j) and v(p, c, q) for the sums of the variables of sets that make i and j adjacent, and p and q parents
of c, a network is of a class exactly if

    Σ adjacent (1 − adj) + Σ not adjacent adj + Σ v-structures (1 − v) + Σ other unshielded triples v  =  0,

so that "≥ 1" leaves out this class and nothing else (adjacencies and v-structures tell classes apart). What
the solver returns is scored here again, and its class must be a new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from pyscipopt import quicksum
from pyscipopt.scip import Expr

from dagora.graph.bits import unpack
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.run import Run
from dagora.learners.search.components import NO_ROW, LocalProblem
from dagora.learners.search.exact.class_key import ClassKey
from dagora.learners.search.exact.component_solver import Watch
from dagora.learners.search.exact.ilp_program import IlpProgram
from dagora.learners.search.exact.verification import AGREEMENT, PHASE, VerificationError

INFEASIBLE = "infeasible"


class ClassProgram(IlpProgram):
    """The program of a best network that is in none of some classes; no order is known to start from."""

    def __init__(
        self,
        problem: LocalProblem,
        watch: Watch,
        excluded: Sequence[ClassKey],
        *,
        facets: bool,
        memory: float,
    ) -> None:
        kept = np.flatnonzero(problem.rows != NO_ROW)
        super().__init__(problem, kept, None, watch, cuts=[], facets=facets, memory=memory)
        members = unpack(self.sets.masks, len(problem))
        child = np.repeat(np.arange(len(problem)), np.diff(self.sets.offsets))
        for key in excluded:
            self._exclude(key, members, child)

    def _exclude(self, key: ClassKey, members: np.ndarray, child: np.ndarray) -> None:
        """Cut one class off."""
        weights = np.zeros(len(child))
        constant = 0.0
        for i, j, joined in key.pairs():
            rows = ((child == j) & members[:, i]) | ((child == i) & members[:, j])
            weights[rows] += -1.0 if joined else 1.0
            constant += float(joined)
        for p, c, q, meets in key.triples():
            rows = (child == c) & members[:, p] & members[:, q]
            weights[rows] += -1.0 if meets else 1.0
            constant += float(meets)
        total: Expr = quicksum(
            float(weights[row]) * self.variables[row] for row in np.flatnonzero(weights).tolist()
        )
        self.model.addCons(total >= 1.0 - constant, name="class")

    def chosen(self) -> tuple[int, ...] | None:
        """The masks of parents of the solver's best network; None where it has none."""
        if not self.model.getNSols():
            return None
        solution = self.model.getBestSol()
        values = [self.model.getSolVal(solution, variable) for variable in self.variables]
        rows = [low + int(np.argmax(values[low:high])) for low, high in pairwise(self.sets.offsets.tolist())]
        return tuple(int(mask) for mask in self.sets.masks[rows, 0])


def k_best_by_cuts(
    candidates: Candidates, run: Run, k: int, *, facets: bool, memory: float
) -> tuple[list[tuple[float, tuple[int, ...]]], str]:
    """Scores and DAGs (masks of parents) of the k best classes, best first, and how the search ended.

    The status is `optimal`, also where there are fewer classes, `time-limit` or `memory-limit`.
    """
    problem = LocalProblem.whole(candidates)
    scored = [
        dict(zip(child.masks[:, 0].tolist(), child.scores.tolist(), strict=True)) for child in candidates
    ]
    found: list[tuple[float, tuple[int, ...]]] = []
    known: list[ClassKey] = []
    watch = Watch(run, PHASE, 0.0, 0.0)
    while len(found) < k:
        if run.budget.exhausted:
            return found, "time-limit"
        program = ClassProgram(problem, watch, known, facets=facets, memory=memory)
        try:
            status = program.solve(run.budget.left)
            parents, bound = program.chosen(), program.bound
        finally:
            program.free()
        if status == INFEASIBLE:
            break
        if status != "optimal" or parents is None:
            return found, "memory-limit" if status == "memlimit" else "time-limit"
        score = sum(scored[x][mask] for x, mask in enumerate(parents))
        key = ClassKey.of(parents)
        tolerance = AGREEMENT * max(program.unit, problem.bound - score) + problem.tie(score)
        if abs(score - bound) > tolerance or key in known:
            raise VerificationError(
                f"the solver's network scores {score:.6f}, its bound is {bound:.6f}, and its class was "
                f"{'found before' if key in known else 'not found before'}"
            )
        found.append((score, parents))
        known.append(key)
    return found, "optimal"
