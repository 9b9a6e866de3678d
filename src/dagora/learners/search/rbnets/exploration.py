"""Exploration by upper confidence bounds: the action with the largest Q(s, a) + b(s, a).

    b(s, a) = √(2 ln τ(s) / τ(s, a)),

where τ(s) is the number of visits to state s, including the present one, and τ(s, a) is how often action a
was taken there (Auer, Cesa-Bianchi & Fischer 2002; Zheng et al. 2023, section 3.2). The paper does not say
what b is for an action that was never tried. Here it is infinite, as in UCB1, also on a first visit, where
the formula gives 0 / 0. So untried actions come first, and among them the one with the largest Q. In a state
never seen before, as nearly all are, that is the greedy action. On the second visit a tried action has b =
√(2 ln 2).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Visits:
    """Counts of visits to states and of actions tried in them; a state is identified by its bytes."""

    def __init__(self) -> None:
        self._tried: dict[bytes, dict[int, int]] = {}
        self._visits: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._visits)

    def visits(self, state: bytes) -> int:
        """τ(s)."""
        return self._visits.get(state, 0)

    def tried(self, state: bytes, action: int) -> int:
        """τ(s, a)."""
        return self._tried.get(state, {}).get(action, 0)

    def bonus(self, state: bytes, size: int) -> NDArray[np.float64]:
        """b(s, ·) on a visit that is already counted; infinite for actions that were not tried."""
        found = np.full(size, np.inf)
        logarithm = 2.0 * np.log(max(1, self.visits(state)))
        for action, count in self._tried.get(state, {}).items():
            found[action] = np.sqrt(logarithm / count)
        return found

    def choose(self, state: bytes, values: NDArray[np.float32], legal: NDArray[np.bool_]) -> int:
        """Visit a state, choose a legal action, and count both."""
        self._visits[state] = self.visits(state) + 1
        bound = np.where(legal, values + self.bonus(state, len(values)), -np.inf)
        best = np.flatnonzero(bound == bound.max())
        action = int(best[values[best].argmax()])
        tried = self._tried.setdefault(state, {})
        tried[action] = tried.get(action, 0) + 1
        return action
