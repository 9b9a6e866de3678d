"""The integer program of a best network, in SCIP.

There is a binary variable I(x, P) for every candidate parent set P of every node x. Exactly one per node is
1, and Σ score · I is maximised. Constraints say that no two nodes are each other's parents. All other cycles
are excluded by a constraint handler, which adds cuts (`separation`) where the solution of the linear program
violates them; it begins with those that are given. Scores enter as differences to the best score of each
child, so that numbers stay small. (Cussens 2011; Bartlett & Cussens 2017.)
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from pyscipopt import Model, quicksum
from pyscipopt.scip import (
    PY_SCIP_HEURTIMING,
    PY_SCIP_PARAMSETTING,
    PY_SCIP_RESULT,
    PY_SCIP_STAGE,
    Heur,
    Solution,
    Variable,
)

from dagora.graph.bits import unpack
from dagora.kernels.random import random_state
from dagora.learners.search.alarm import Alarm
from dagora.learners.search.components import LocalProblem, Order, place_all
from dagora.learners.search.exact.cluster_cuts import LpPoint, arc_weights, order_along, positive_part
from dagora.learners.search.exact.component_solver import Watch
from dagora.learners.search.exact.gains import unit_of
from dagora.learners.search.exact.ilp_handlers import Acyclicity, OrderHeuristic
from dagora.learners.search.exact.separation import Cut, ProgramSets, separate
from dagora.learners.search.order.moves import descend, effort_of, iterate

# From this many parent sets on, SCIP branches on arcs, which is faster there than branching on sets.
SETS_FOR_ARCS = 2000

# Disturbances of the order that an LP solution suggests. Larger: better networks from each LP solution;
# smaller: more of the time for bounds.
KICKS = 2

# Least time between two progress reports.
SECONDS_A_REPORT = 0.1

SETTINGS = {
    "limits/gap": 0.0,
    "limits/absgap": 0.0,
    "misc/usesymmetry": 0,
    "misc/catchctrlc": False,
    "timing/clocktype": 2,
    "conflict/enable": False,
    "separating/maxroundsroot": -1,
    "separating/maxstallroundsroot": 20,
    "separating/maxrounds": 20,
    "separating/maxstallrounds": 3,
    "separating/maxcutsroot": 1000,
    "separating/maxcuts": 1000,
    "cutselection/hybrid/minorthoroot": 0.5,
    "branching/relpscost/maxlookahead": 4,
    "branching/relpscost/initcand": 20,
    "randomization/randomseedshift": 0,
    "randomization/permutationseed": 0,
}


class IlpProgram:
    """The program of one problem with the sets `kept`, among them all that the order `start` needs.

    Without an order to start from, no search over orders looks for better networks on the way.
    """

    def __init__(
        self,
        problem: LocalProblem,
        kept: NDArray[np.int64],
        start: Order | None,
        watch: Watch,
        *,
        cuts: list[Cut],
        facets: bool,
        memory: float,
    ) -> None:
        self.whole = problem
        self.sets = ProgramSets(problem.masks[kept], np.searchsorted(kept, problem.offsets))
        self.kept = kept
        self.watch = watch
        self.with_facets = facets
        self.error: BaseException | None = None
        self.rounds = 0
        self.cuts: Counter[str] = Counter()
        self.start = start
        self.best = np.empty(0, dtype=np.int64) if start is None else start
        self.best_score = -math.inf if start is None else problem.score(start)
        self._reported = -math.inf
        self._state = random_state(watch.run.seed, len(problem))
        self._columns: list[Variable] = []
        self.model = Model("network")
        self._configure(memory)
        best = problem.scores[problem.offsets[:-1]]
        gains = problem.scores[kept] - np.repeat(best, np.diff(self.sets.offsets))
        self.unit = unit_of(gains)
        self.variables = [
            self.model.addVar(f"I{row}", vtype="B", obj=gain)
            for row, gain in enumerate((gains / self.unit).tolist())
        ]
        self.model.setMaximize()
        self.arcs = self._add_rows()
        for cut in cuts:
            self._add_first_cut(cut)
        self._add_handlers()
        if start is not None:
            self.model.addSol(self._fill(self.model.createSol(), self.first_choice(start)))

    def first_choice(self, start: Order) -> NDArray[np.int64]:
        """The sets of the first network: the best that its order permits."""
        return self.whole.choose(start)

    def _configure(self, memory: float) -> None:
        self.model.hideOutput()
        self.model.setPresolve(PY_SCIP_PARAMSETTING.OFF)
        self.model.setHeuristics(PY_SCIP_PARAMSETTING.OFF)
        self.model.setSeparating(PY_SCIP_PARAMSETTING.OFF)
        self.model.setParams(SETTINGS)
        self.model.setParam("limits/memory", memory * 1024)  # SCIP counts in MiB

    def _add_rows(self) -> dict[tuple[int, int], Variable]:
        """Add the constraints: one set for each child, at most one arc between two nodes.

        Returns the variables of arcs, if there are any.
        """
        model, variables, offsets = self.model, self.variables, self.sets.offsets
        d = len(self.whole)
        for x in range(d):
            model.addCons(quicksum(variables[offsets[x] : offsets[x + 1]]) == 1, name=f"one{x}")
        child = np.repeat(np.arange(d), np.diff(offsets))
        using: dict[tuple[int, int], list[Variable]] = {}
        for row, i in np.argwhere(unpack(self.sets.masks, d)).tolist():
            using.setdefault((i, int(child[row])), []).append(variables[row])
        for (i, j), sets in using.items():
            if i < j and (j, i) in using:
                model.addCons(quicksum(sets + using[j, i]) <= 1, name=f"pair{i},{j}")
        arcs = {}
        if len(variables) >= SETS_FOR_ARCS:
            for (i, j), sets in using.items():
                arcs[i, j] = model.addVar(f"A{i},{j}", vtype="B")
                model.chgVarBranchPriority(arcs[i, j], 1)
                model.addCons(quicksum(sets) == arcs[i, j], name=f"arc{i},{j}")
        return arcs

    def _add_first_cut(self, cut: Cut) -> None:
        """Add a cut as a constraint, which may leave the linear program where it is slack."""
        total = quicksum(
            weight * self.variables[row]
            for row, weight in zip(cut.rows.tolist(), cut.weights.tolist(), strict=True)
        )
        self.model.addCons(total <= cut.side, name="cut", removable=True)

    def _add_handlers(self) -> None:
        handler = Acyclicity(self)
        self.model.includeConshdlr(
            handler, "acyclicity", "no cycles", sepapriority=1, enfopriority=-10, chckpriority=-10, sepafreq=1
        )
        self.model.addPyCons(self.model.createCons(handler, "acyclic"))
        timing = PY_SCIP_HEURTIMING.DURINGLPLOOP | PY_SCIP_HEURTIMING.AFTERLPNODE
        self.model.includeHeur(OrderHeuristic(self), "order", "descent over orders", "o", timingmask=timing)

    def _fill(self, solution: Solution, choice: NDArray[np.int64]) -> Solution:
        """Write the network of the chosen sets (rows of the whole problem) into a solution."""
        for row in np.searchsorted(self.kept, choice).tolist():
            self.model.setSolVal(solution, self.variables[row], 1.0)
        if self.arcs:
            for j, i in np.argwhere(unpack(self.whole.masks[choice], len(choice))).tolist():
                self.model.setSolVal(solution, self.arcs[i, j], 1.0)
        return solution

    def solve(self, seconds: float) -> str:
        """Run SCIP for so long, and return its status; an exception from a callback is raised here."""
        if math.isfinite(seconds):
            self.model.setParam("limits/time", max(0.0, seconds))
        self.model.optimizeNogil()
        if self.error is not None:
            raise self.error
        if self.start is not None and self.model.getNSols():
            self.keep_best()
        return str(self.model.getStatus())

    def keep_best(self) -> None:
        """Keep the best network that the solver knows, by its order."""
        order = self.order_of(self.model.getBestSol())
        if order is not None and self.whole.score(order) > self.best_score:
            self.best, self.best_score = order, self.whole.score(order)

    def free(self) -> None:
        """Release the solver's memory."""
        self.model.free()

    @property
    def bound(self) -> float:
        """The upper bound on the score of any network that the solver has proved so far."""
        return self.whole.bound + self.unit * min(0.0, float(self.model.getDualbound()))

    @property
    def claim(self) -> float:
        """Score of the best network, according to the solver."""
        return self.whole.bound + self.unit * float(self.model.getPrimalbound())

    @property
    def stats(self) -> dict[str, float]:
        """Numbers about the work done."""
        return {
            "nodes": float(self.model.getNTotalNodes()),
            "rounds": float(self.rounds),
            "iterations": float(self.model.getNLPIterations()),
        } | {kind: float(number) for kind, number in self.cuts.items()}

    @property
    def columns(self) -> list[Variable]:
        """The variables as the solver sees them."""
        if not self._columns:
            self._columns = [self.model.getTransformedVar(variable) for variable in self.variables]
        return self._columns

    def guard(self, callback: Callable[[], int], otherwise: int) -> dict[str, int]:
        """Run a callback. An exception ends the solve and is kept, as SCIP would lose it."""
        if self.error is None:
            try:
                self.check_budget_and_report()
                return {"result": callback()}
            except BaseException as error:
                self.error = error
        self.interrupt()
        return {"result": otherwise}

    def interrupt(self) -> None:
        """End the solve. During its setup SCIP cannot be interrupted; then the next callback does it."""
        if self.model.getStage() == PY_SCIP_STAGE.SOLVING:
            self.model.interruptSolve()

    def check_budget_and_report(self) -> None:
        """Stop SCIP if the budget is exhausted, and report progress now and then."""
        if self.watch.exhausted:
            self.interrupt()
        now = time.monotonic()
        if self.start is not None and now - self._reported > SECONDS_A_REPORT:
            self._reported = now
            bound = max(self.best_score, self.bound)
            nodes = int(self.model.getNTotalNodes())
            self.watch.report(nodes, self.best_score, bound, lambda: self.best)

    def separate(self, *, integral: bool) -> int:
        """Add inequalities that the current LP solution violates; return SCIP's result code."""
        self.rounds += 1
        cuts = separate(self._point(), self.sets, facets=self.with_facets, integral=integral)
        self.cuts.update(cut.kind for cut in cuts)
        infeasible = [self._add_cut(cut, force=integral) for cut in cuts]
        if any(infeasible):
            return PY_SCIP_RESULT.CUTOFF
        return PY_SCIP_RESULT.SEPARATED if infeasible else PY_SCIP_RESULT.DIDNOTFIND

    def _add_cut(self, cut: Cut, *, force: bool) -> bool:
        """Add a globally valid row; True if it makes the current subproblem infeasible."""
        model, columns = self.model, self.columns
        row = model.createEmptyRowUnspec("cut", lhs=None, rhs=cut.side, local=False)
        model.cacheRowExtensions(row)
        for position, weight in zip(cut.rows.tolist(), cut.weights.tolist(), strict=True):
            model.addVarToRow(row, columns[position], weight)
        model.flushRowExtensions(row)
        infeasible = bool(model.addCut(row, forcecut=force))
        model.releaseRow(row)
        return infeasible

    def _point(self) -> LpPoint:
        values = np.array([column.getLPSol() for column in self.columns])
        return positive_part(*self.sets, values)

    def order_of(self, solution: Solution | None) -> Order | None:
        """A topological order of an integral solution's network (None: the LP's); None if it has a cycle."""
        values = [self.model.getSolVal(solution, variable) for variable in self.variables]
        choice = np.array(
            [low + np.argmax(values[low:high]) for low, high in pairwise(self.sets.offsets.tolist())]
        )
        order = place_all(self.sets.masks[choice], np.arange(len(choice) + 1))
        return order if len(order) == len(choice) else None

    def improve(self, heuristic: Heur) -> int:
        """Search near the order that the LP solution suggests; offer SCIP a network that beats the best."""
        if self.start is None:
            return PY_SCIP_RESULT.DIDNOTRUN
        whole, tolerance = self.whole, self.whole.tie()
        order = order_along(arc_weights(self._point()))
        with Alarm(self.watch.run.budget) as stop:
            score = descend(whole.flat, order, self._state, tolerance, stop)
            best = order.copy()
            score = iterate(
                whole.flat, order, best, score, self._state, tolerance, KICKS, np.zeros(1), effort_of(), stop
            )
        if score <= self.best_score + tolerance:
            return PY_SCIP_RESULT.DIDNOTFIND
        self.best, self.best_score = best, score
        solution = self._fill(self.model.createSol(heuristic), whole.choose(best))
        stored = self.model.trySol(solution, printreason=False)
        return PY_SCIP_RESULT.FOUNDSOL if stored else PY_SCIP_RESULT.DIDNOTFIND
