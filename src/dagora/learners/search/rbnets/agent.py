"""An agent: a Q-network with its embedding, a replay buffer, visit counts and random numbers."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from jax import Array
from numpy.typing import NDArray

from dagora.learners.search.rbnets.embedding import walk_embedding
from dagora.learners.search.rbnets.environment import OrderGraph
from dagora.learners.search.rbnets.network import new_network
from dagora.learners.search.rbnets.replay import Replay, Transitions
from dagora.learners.search.rbnets.training import Learner, ask, learn, new_learner

# Transitions in a minibatch: N_b of section 4.1 of Zheng et al. (2023).
BATCH = 200

Order = NDArray[np.int64]
Values = NDArray[np.float32]


class Visits:
    """Counts of visits to states and of actions tried in them; a state is identified by its bytes.

    Exploration by upper confidence bounds: the action with the largest Q(s, a) + b(s, a).

        b(s, a) = √(2 ln τ(s) / τ(s, a)),

    where τ(s) is the number of visits to state s, including the present one, and τ(s, a) is how often action
    a was taken there (Auer, Cesa-Bianchi & Fischer 2002; Zheng et al. 2023, section 3.2). The paper does not
    say what b is for an action that was never tried. Here it is infinite, as in UCB1, also on a first visit,
    where the formula gives 0 / 0. So untried actions come first, among them the one with the largest Q. In a
    state never seen before, as nearly all are, that is the greedy action.
    """

    def __init__(self) -> None:
        self._tried: dict[bytes, dict[int, int]] = {}
        self._visits: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._visits)

    def visits(self, state: bytes) -> int:
        """τ(s)."""
        return self._visits.get(state, 0)

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


@dataclass(eq=False)
class Agent:
    """An agent on an order graph."""

    graph: OrderGraph
    embedding: Array | None
    learner: Learner
    replay: Replay
    visits: Visits
    rng: np.random.Generator

    @classmethod
    def new(cls, graph: OrderGraph, seed: int, state: str, hidden: int, capacity: int) -> Agent:
        """An untrained agent; it sees states as n bits (`set`) or as vectors from random walks (`walk`)."""
        rng = np.random.default_rng(seed)
        embedding = walk_embedding(graph, rng) if state == "walk" else None
        inputs = graph.size if embedding is None else embedding.shape[1]
        network = new_network(rng, (inputs, hidden, hidden, graph.size))
        return cls(graph, embedding, new_learner(network), Replay(capacity, graph.size), Visits(), rng)

    def values(self, members: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Q-values of all actions in some states."""
        return np.asarray(ask(self.learner.network, self.embedding, members))

    def learn(self, steps: int, members: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Take gradient steps on minibatches of the replay; return Q-values of all actions in some states."""
        batches = self.replay.sample(self.rng, (steps, BATCH))
        self.learner, values = learn(self.learner, self.embedding, batches, members)
        return np.asarray(values)

    def compile(self, steps: int, episodes: int) -> float:
        """Compile for so many steps and episodes at a time; return the seconds. The agent does not change."""
        started = time.perf_counter()
        size = self.graph.size
        shape = (steps, BATCH)
        nothing = Transitions(
            np.zeros((*shape, size), dtype=np.bool_),
            np.zeros(shape, dtype=np.int64),
            np.zeros(shape, dtype=np.float32),
            np.zeros((*shape, size), dtype=np.bool_),
            np.zeros((*shape, size), dtype=np.bool_),
        )
        asked = np.zeros((episodes, size), dtype=np.bool_)
        learn(self.learner, self.embedding, nothing, asked)[1].block_until_ready()
        self.values(asked)
        self.values(asked[:1])
        return time.perf_counter() - started

    def greedy_order(self) -> Order:
        """The order of the greedy policy: in every state the legal action with the largest Q-value."""
        states = self.graph.start(1)
        order = np.empty(self.graph.size, dtype=np.int64)
        for place in range(self.graph.size):
            legal = self.graph.legal(states)[0]
            values = self.values(self.graph.members(states))[0]
            order[place] = np.where(legal, values, -np.inf).argmax()
            self.graph.step(states, order[place : place + 1])
        return order
