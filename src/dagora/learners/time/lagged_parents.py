"""The first phase of PCMCI+: for each variable the earlier nodes it depends on (Runge 2020, algorithm 1).

At first all earlier nodes are candidates. At level k each of them is tested given the k strongest others, and
those that are not significant are removed together at the end of the level. The strength of a candidate is
the smallest partial correlation in all tests of it so far. The levels end when fewer than k others are left.

What is left is a superset of the parents of earlier steps: with correct tests it holds those of the variable
itself and of its causes within the step, as nothing of the present is ever given. It serves as the condition
of all later tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Event
from dagora.learners.run import Run
from dagora.learners.time.link_tests import LinkTests

Matrix = NDArray[np.bool_]


@dataclass
class LaggedParents:
    """The candidates that are left of each variable, the strongest first.

    `largest_p` has the largest p-value of each tested pair (cause, effect).
    """

    of: list[list[int]]
    largest_p: dict[tuple[int, int], float] = field(default_factory=dict)
    tests: int = 0
    finished: bool = True


def find_lagged_parents(
    tests: LinkTests, allowed: Matrix, required: Matrix, alpha: float, run: Run, names: Sequence[str]
) -> LaggedParents:
    """Find them for all variables; columns of `allowed` and `required` are variables, rows nodes.

    Required candidates stay. Where time is up, the candidates of the variables that are left are not tested.
    """
    count = allowed.shape[1]
    found = LaggedParents([np.flatnonzero(allowed[:, effect]).tolist() for effect in range(count)])
    for effect in range(count):
        run.on_event(Event("earlier steps", effect, total=count, message=f"causes of {names[effect]}"))
        found.of[effect] = strongest_parents(tests, effect, found, required[:, effect], alpha, run)
        if not found.finished:
            break
    return found


def strongest_parents(
    tests: LinkTests, effect: int, found: LaggedParents, required: NDArray[np.bool_], alpha: float, run: Run
) -> list[int]:
    """The candidates of one variable that no test removes, the strongest first."""
    parents = found.of[effect]
    strength = dict.fromkeys(parents, np.inf)
    for size in range(min(len(parents), tests.max_given + 1)):
        if len(parents) <= size:
            break
        if run.budget.exhausted:
            found.finished = False
            break
        p_values, strengths = tests.given_strongest(effect, parents, size)
        found.tests += len(parents)
        for parent, p, value in zip(parents, p_values.tolist(), strengths.tolist(), strict=True):
            if p > found.largest_p.get((parent, effect), -1.0):
                found.largest_p[parent, effect] = p
            strength[parent] = min(strength[parent], value)
        parents = [
            parent
            for parent, p in zip(parents, p_values.tolist(), strict=True)
            if required[parent] or not p > alpha
        ]
        parents.sort(key=lambda parent: -strength[parent])
    return parents
