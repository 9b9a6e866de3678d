"""The callbacks for SCIP: the constraint that there is no cycle, and a heuristic for better networks.

Each callback asks the program and passes its answer on. Of SCIP's arguments, only a solution to be checked is
needed: there is one constraint, and the program knows all variables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from pyscipopt import Conshdlr, Heur
from pyscipopt.scip import PY_SCIP_RESULT, Constraint, Solution, Variable

from dagora.learners.search.components import Order


class Network(Protocol):
    """The program as the callbacks see it."""

    variables: list[Variable]

    def guard(self, callback: Callable[[], int], otherwise: int) -> dict[str, int]:
        """Run a callback and keep the exception it raises, if any."""

    def separate(self, *, integral: bool) -> int:
        """Cut off the LP solution."""

    def order_of(self, solution: Solution | None) -> Order | None:
        """An order that permits an integral solution; None for a cycle."""

    def improve(self, heuristic: Heur) -> int:
        """Look for a better network near the LP solution."""


class Acyclicity(Conshdlr):
    """The constraint: cuts off points of the LP, and accepts an integral one only if it has no cycle."""

    def __init__(self, network: Network) -> None:
        self.network = network

    def conssepalp(self, *_: object) -> dict[str, int]:
        """Cut off the LP solution."""
        return self.network.guard(lambda: self.network.separate(integral=False), PY_SCIP_RESULT.DIDNOTRUN)

    def consenfolp(self, *_: object) -> dict[str, int]:
        """Cut off an integral LP solution that has a cycle."""
        return self.network.guard(lambda: self.enforce(by_cuts=True), PY_SCIP_RESULT.INFEASIBLE)

    def consenfops(self, *_: object) -> dict[str, int]:
        """Refuse a pseudo solution that has a cycle."""
        return self.network.guard(lambda: self.enforce(by_cuts=False), PY_SCIP_RESULT.INFEASIBLE)

    def conscheck(self, _: object, solution: Solution, *__: object) -> dict[str, int]:
        """Accept what has no cycle."""
        return self.network.guard(lambda: self.judge(solution), PY_SCIP_RESULT.INFEASIBLE)

    def constrans(self, _: object) -> dict[str, Constraint]:
        """Create the transformed constraint here: the one that SCIP would create is freed twice."""
        return {"targetcons": self.model.createCons(self, "acyclic")}

    def conslock(self, _: object, locktype: int, up: int, down: int) -> None:
        """Tell SCIP that raising or lowering any variable may violate the constraint."""
        for variable in self.network.variables:
            self.model.addVarLocksType(variable, locktype, up + down, up + down)

    def judge(self, solution: Solution | None) -> int:
        """Report if an integral solution (None: the current one) has no cycle."""
        cyclic = self.network.order_of(solution) is None
        return int(PY_SCIP_RESULT.INFEASIBLE if cyclic else PY_SCIP_RESULT.FEASIBLE)

    def enforce(self, *, by_cuts: bool) -> int:
        """Check the current solution; if it has a cycle, cut it off (`by_cuts`) or reject it."""
        verdict = self.judge(None)
        if verdict == PY_SCIP_RESULT.FEASIBLE or not by_cuts:
            return verdict
        result = self.network.separate(integral=True)
        return verdict if result == PY_SCIP_RESULT.DIDNOTFIND else result


class OrderHeuristic(Heur):
    """The search for better networks."""

    def __init__(self, network: Network) -> None:
        self.network = network

    def heurexec(self, *_: object) -> dict[str, int]:
        """Start from the LP solution."""
        return self.network.guard(lambda: self.network.improve(self), PY_SCIP_RESULT.DIDNOTRUN)
