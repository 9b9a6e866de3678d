"""The order graph as an environment for reinforcement learning.

A state is the set U of variables that have been placed, an action is the next variable x, and the reward is
the best score of x among its candidate sets within U (Yuan, Malone & Wu 2011; Zheng et al. 2023, equation 7).
An episode places all n variables, and its rewards sum to the score of the best network that its order
permits. That is the reward `raw`, which the paper prints. But local scores are 10² to 10⁵ nats, and a bonus
for exploration is of order 1, so there is also the reward `gain`,

    r = (best score of x within U − base score of x) / scale,

where the base score is that of x without parents (of its worst permitted set, if it needs parents). The scale
is a fifth of the gain of a variable's best set over its base, averaged over the variables, so that the mean
reward per step is at most 5 (see `REWARD_A_STEP` for the effect). The sum of the base scores is the same for
every order, so neither changes the optimum. If x has no candidate set within U, the action is illegal. A
legal action stays legal as others are placed. So if any order permits a network, no choice of legal actions
leads to a dead end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dagora.graph.bit_kernels import first_subset, flip_bit, has_bit
from dagora.graph.bits import Rows, unpack, words_for
from dagora.kernels.decorators import kernel
from dagora.learners.candidates.candidates import Candidates

# The largest mean reward per step. The smaller it is, the more the exploration bonus outweighs the rewards:
# well below 1 the search is close to drawing orders at random. From 5 to 20 little changes.
REWARD_A_STEP = 5.0


@dataclass(frozen=True, eq=False)
class OrderGraph:
    """The environment; the states of several parallel episodes are bit rows, one for each episode."""

    size: int
    masks: Rows
    scores: NDArray[np.float64]
    offsets: NDArray[np.int64]
    reward: str = "gain"

    @classmethod
    def of(cls, candidates: Candidates, reward: str = "gain") -> OrderGraph:
        """The order graph of some candidates, with the reward `gain` or `raw`.

        >>> graph = OrderGraph.of(Candidates.of("ab", [[((), -5.0), ((1,), -1.0)], [((), -3.0)]]))
        >>> graph.base, graph.scale
        (array([-5., -3.]), 0.4)
        """
        flat = candidates.flat
        return cls(len(candidates), flat.masks, flat.scores, flat.offsets, reward)

    @cached_property
    def base(self) -> NDArray[np.float64]:
        """Each variable's score without parents, or of its worst set where the empty one is not permitted."""
        empty = np.zeros(words_for(self.size), dtype=np.uint64)
        rows = [
            min(first_subset(self.masks, low, high, empty), high - 1)
            for low, high in zip(self.offsets[:-1], self.offsets[1:], strict=True)
        ]
        return self.scores[rows]

    @cached_property
    def scale(self) -> float:
        """Nats that make a reward of 1; 1 if no variable can gain anything."""
        gain = float((self.scores[self.offsets[:-1]] - self.base).mean())
        return gain / REWARD_A_STEP if gain > 0 else 1.0

    @cached_property
    def always_legal(self) -> NDArray[np.bool_]:
        """Variables that may come first, and so are legal at any time."""
        nobody = np.zeros(self.size, dtype=np.bool_)
        first: NDArray[np.bool_] = legal_actions(self.masks, self.offsets, self.start(1), nobody)[0]
        return first

    def start(self, episodes: int) -> Rows:
        """The first state of some episodes: no variable is placed."""
        return np.zeros((episodes, words_for(self.size)), dtype=np.uint64)

    def members(self, states: Rows) -> NDArray[np.bool_]:
        """The variables that are placed, for each episode."""
        return unpack(states, self.size)

    def legal(self, states: Rows) -> NDArray[np.bool_]:
        """The variables that may come next: those not placed that have a set within the placed ones."""
        return legal_actions(self.masks, self.offsets, states, self.always_legal)

    def step(self, states: Rows, actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Place one variable in each episode, changing `states`; return its best score, not rescaled.

        >>> graph = OrderGraph.of(Candidates.of("ab", [[((), -5.0), ((1,), -1.0)], [((), -3.0)]]))
        >>> states = graph.start(2)
        >>> graph.step(states, np.array([0, 1])), graph.step(states, np.array([1, 0]))
        (array([-5., -3.]), array([-3., -1.]))
        """
        return place(self.masks, self.scores, self.offsets, states, actions)

    def random_actions(self, states: Rows, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw a legal action for each episode, uniformly; no episode may have ended."""
        legal = self.legal(states)
        drawn: NDArray[np.int64] = np.where(legal, rng.random(legal.shape), -1.0).argmax(axis=1)
        return drawn

    def rewards(self, actions: NDArray[np.int64], scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """The rewards that learners see for the scores of some actions.

        >>> listed = [[((), -5.0), ((1,), -1.0)], [((), -3.0)]]
        >>> OrderGraph.of(Candidates.of("ab", listed)).rewards(np.array([0]), np.array([-1.0]))
        array([10.])
        >>> OrderGraph.of(Candidates.of("ab", listed), "raw").rewards(np.array([0]), np.array([-1.0]))
        array([-1.])
        """
        return scores if self.reward == "raw" else (scores - self.base[actions]) / self.scale


@kernel
def legal_actions(
    masks: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    states: NDArray[np.uint64],
    always: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Mark the variables that may come next in each state; sets of those `always` legal are skipped."""
    size = len(offsets) - 1
    legal = np.zeros((len(states), size), dtype=np.bool_)
    for e in range(len(states)):
        for x in range(size):
            if not has_bit(states[e], x):
                fits = always[x] or (
                    first_subset(masks, offsets[x], offsets[x + 1], states[e]) < offsets[x + 1]
                )
                legal[e, x] = fits
    return legal


@kernel
def place(
    masks: NDArray[np.uint64],
    scores: NDArray[np.float64],
    offsets: NDArray[np.int64],
    states: NDArray[np.uint64],
    actions: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Best score of each episode's action within its state, to which the action is then added."""
    found = np.empty(len(states), dtype=np.float64)
    for e in range(len(states)):
        x = actions[e]
        row = first_subset(masks, offsets[x], offsets[x + 1], states[e])
        found[e] = scores[row] if row < offsets[x + 1] else -np.inf
        flip_bit(states[e], x)
    return found
