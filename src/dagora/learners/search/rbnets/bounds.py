"""An upper bound on the score of any network, cheap enough to compute before a search continues.

The components of the candidate-parent graph (`learners/search/components.py`) are bounded one by one. Small
ones are solved by dynamic programming, so their bound is the optimum. Larger ones are divided into groups,
which are solved with all other variables as free parents (a pattern database, Yuan & Malone 2013). Beyond 64
variables the bound is the sum of the best scores. A network that reaches the bound is proved optimal.
"""

from __future__ import annotations

import numpy as np

from dagora.learners.candidates.candidates import Candidates
from dagora.learners.run import Run
from dagora.learners.search.components import LocalProblem, components
from dagora.learners.search.exact.dynamic import completions
from dagora.learners.search.exact.pattern_database import group_members, pattern_database

# Largest component that is solved exactly, and largest group: some tenths of a second each.
EXACT, GROUP = 20, 16
# Pattern databases hold sets of variables in one word of 64 bits.
WORD = 64


def upper_bound(candidates: Candidates, run: Run) -> float:
    """A score that no network of the candidates exceeds; the sum of the best scores if there is no time.

    >>> listed = [[((1,), -1.0), ((), -3.0)], [((0,), -1.0), ((), -2.0)]]
    >>> upper_bound(Candidates.of("ab", listed), Run())
    -3.0
    """
    whole = LocalProblem.whole(candidates)
    return sum(bound_of(whole.restrict(part), run) for part in components(candidates))


def bound_of(problem: LocalProblem, run: Run) -> float:
    """Bound of one component."""
    size = len(problem)

    def exhausted() -> bool:
        return run.budget.exhausted

    if size == 1 or size > WORD or exhausted():
        return problem.bound
    if size <= EXACT:
        table = np.empty(1 << size, dtype=np.float64)
        for done in completions(problem, table):
            if done < 1 << size and exhausted():
                return problem.bound
        return float(table[0])
    arranged, _, starts = group_members(problem, GROUP)
    tabled = pattern_database(arranged, starts, exhausted)
    return problem.bound if tabled is None else float(tabled.tables[tabled.offsets[:-1]].sum())
