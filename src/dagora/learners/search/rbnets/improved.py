"""RBNets combined with order search: episodes in parallel, whose orders are improved by descents.

Order search finds the first orders, whose transitions fill the replay before the network's first gradient
step. Then, in each round, several episodes are played in parallel; visit counts are updated one episode after
the other, so that episodes in the same state spread over its actions. Every finished order is improved by a
descent of insertions, and the replay receives the order both as played and as improved. The network takes as
many gradient steps as an episode has actions. The best new order replaces the current order of the worst
chain, and all chains continue for a while.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Event
from dagora.kernels.random import random_state
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.run import Run
from dagora.learners.search.alarm import never_stop
from dagora.learners.search.components import LocalProblem, components
from dagora.learners.search.exact.dynamic import completions
from dagora.learners.search.exact.pattern_database import group_members, pattern_database
from dagora.learners.search.order.order_search import (
    OrderChain,
    begin,
    descend_best,
    go_on,
    starts,
    widen_candidates,
)
from dagora.learners.search.rbnets.agent import Agent, Order
from dagora.learners.search.rbnets.environment import OrderGraph
from dagora.learners.search.rbnets.replay import Transitions
from dagora.scores.local_score import TIE

# Chains of the order search.
CHAINS = 4
# Order search alone ends, and episodes begin, after this many disturbances of each chain without a gain.
PATIENCE = 200
# Disturbances in one call: so many, or fewer where there are many sets, as every call first indexes them all.
KICKS, SETS_PER_CALL = 100, 4_000_000
# Episodes that are played in parallel.
TOGETHER = 30
# Transitions in the replay.
CAPACITY = 20_000
# Largest component that is solved exactly, and largest group: some tenths of a second each.
EXACT, GROUP = 20, 16
# Pattern databases hold sets of variables in one word of 64 bits.
WORD = 64

# One order in each row.
Orders = NDArray[np.int64]


@dataclass(eq=False)
class Searches:
    """Several chains of order search on the same candidates; `steps` counts their disturbances."""

    candidates: Candidates
    chains: list[OrderChain]
    pool: Executor
    run: Run
    steps: int = 0
    problem: LocalProblem = field(init=False)

    def __post_init__(self) -> None:
        self.problem = LocalProblem.whole(self.candidates)

    @classmethod
    def start(cls, candidates: Candidates, pool: Executor, run: Run) -> Searches:
        """Descend from every chain's start."""
        made = cls(candidates, list(starts(candidates, run.seed, CHAINS)), pool, run)
        list(pool.map(partial(begin, made.problem, never_stop()), made.chains))
        return made

    @property
    def leader(self) -> OrderChain:
        """The first chain with the best score; scores that differ by rounding count as equal."""
        top = max(chain.best for chain in self.chains)
        return next(chain for chain in self.chains if chain.best >= top - TIE * abs(top))

    def advance(self) -> bool:
        """Disturb every chain some times; return whether the best score improved."""
        before = self.leader.best
        kicks = max(1, min(KICKS, SETS_PER_CALL // len(self.problem.scores)))
        for chain in self.chains:
            chain.begin_round(self.problem)
        list(self.pool.map(partial(go_on, self.problem, never_stop(), kicks), self.chains))
        self.steps += kicks * len(self.chains)
        return self.leader.best > before + TIE * abs(before)

    def widen(self) -> None:
        """Add candidate sets around the networks found, if the candidates are incomplete."""
        wider = widen_candidates(self.candidates, self.problem, self.chains, self.run)
        if wider is not self.candidates:
            self.candidates, self.problem = wider, LocalProblem.whole(wider)
            list(self.pool.map(partial(descend_best, self.problem, never_stop()), self.chains))

    def prepare(self) -> None:
        """Search until `PATIENCE` disturbances of each chain in a row gain nothing."""
        idle = 0
        while idle < PATIENCE and not self.run.budget.exhausted:
            self.widen()
            if self.leader.best >= self.problem.bound - TIE * abs(self.leader.best):
                break
            before = self.steps
            idle = 0 if self.advance() else idle + (self.steps - before) // len(self.chains)
            self.run.on_event(Event("searching orders", self.steps, score=self.leader.best))

    def adopt(self, order: Order, score: float) -> None:
        """Let the chain with the worst current order continue from another order."""
        worst = min(self.chains, key=lambda chain: self.problem.score(chain.order))
        worst.order[:] = order
        if score > worst.best:
            worst.best_order[:] = order
            worst.best = score


@dataclass(eq=False)
class EpisodeScores:
    """One score per episode: of its order as played, and as polished by a descent."""

    played: list[float] = field(default_factory=list)
    polished: list[float] = field(default_factory=list)

    @property
    def episodes(self) -> int:
        """Number of episodes."""
        return len(self.played)


def learn_and_search(agent: Agent, searches: Searches, episodes: int, bound: float) -> EpisodeScores:
    """Play rounds of episodes until there are enough, a network reaches the bound, or time runs out."""
    run = searches.run
    found = EpisodeScores()
    seeds = [order for chain in searches.chains for order in (chain.best_order, chain.order)]
    agent.replay.store(transitions_of(agent.graph, np.stack(seeds)))
    agent.learn(agent.graph.size, agent.graph.members(agent.graph.start(TOGETHER)))
    while found.episodes < episodes and not run.budget.exhausted and not is_reached(searches, bound):
        orders = play_together(agent, TOGETHER, run)[: episodes - found.episodes]
        if not len(orders):
            break
        better, scores = polish(searches, orders, found.episodes)
        found.played += [searches.problem.score(order) for order in orders]
        found.polished += scores
        searches.adopt(better[int(np.argmax(scores))], max(scores))
        if not run.budget.exhausted and not is_reached(searches, bound):
            agent.replay.store(transitions_of(agent.graph, np.concatenate([orders, better])))
            agent.learn(agent.graph.size, agent.graph.members(agent.graph.start(TOGETHER)))
            searches.advance()
        run.on_event(Event("learning", found.episodes, score=searches.leader.best, total=episodes))
    return found


def is_reached(searches: Searches, bound: float) -> bool:
    """Return True if the best network reaches the bound, so that none can be better."""
    return searches.leader.best >= bound - TIE * abs(bound)


def play_together(agent: Agent, episodes: int, run: Run) -> Orders:
    """Play episodes in parallel by Q-values and exploration bonus; return no orders if time runs out."""
    graph = agent.graph
    states = graph.start(episodes)
    orders = np.empty((episodes, graph.size), dtype=np.int64)
    for place in range(graph.size):
        if run.budget.exhausted:
            return orders[:0]
        values, legal = agent.values(graph.members(states)), graph.legal(states)
        for e in range(episodes):
            orders[e, place] = agent.visits.choose(states[e].tobytes(), values[e], legal[e])
        graph.step(states, orders[:, place])
    return orders


def polish(searches: Searches, orders: Orders, first: int) -> tuple[Orders, list[float]]:
    """Improve each order by a descent, as long as there is time; return the orders and their scores."""
    seed = searches.run.seed
    chains = [
        OrderChain(order, order.copy(), -np.inf, random_state(seed, CHAINS + first + e))
        for e, order in enumerate(orders)
    ]
    list(searches.pool.map(partial(descend_in_time, searches), chains))
    return np.stack([chain.best_order for chain in chains]), [chain.best for chain in chains]


def descend_in_time(searches: Searches, chain: OrderChain) -> None:
    """Descend from a chain's order; if there is no time, only compute the score of the order."""
    if searches.run.budget.exhausted:
        chain.best = searches.problem.score(chain.best_order)
    else:
        descend_best(searches.problem, never_stop(), chain)


def transitions_of(graph: OrderGraph, orders: Orders) -> Transitions:
    """All transitions of some orders, placed step by step."""
    states = graph.start(len(orders))
    parts = []
    members = graph.members(states)
    for place in range(graph.size):
        actions = np.ascontiguousarray(orders[:, place])
        rewards = graph.rewards(actions, graph.step(states, actions)).astype(np.float32)
        following = graph.members(states)
        parts.append(Transitions(members, actions, rewards, following, graph.legal(states)))
        members = following
    return Transitions(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def upper_bound(candidates: Candidates, run: Run) -> float:
    """A score that no network of the candidates exceeds; the sum of the best scores if there is no time.

    The components of the candidate-parent graph (`components`) are bounded one by one. Small ones are solved
    by dynamic programming, so their bound is the optimum. Larger ones are divided into groups, which are
    solved with all other variables as free parents (a pattern database, Yuan & Malone 2013). Beyond 64
    variables the bound is the sum of the best scores. A network that reaches the bound is proved optimal.

    >>> listed = [[((1,), -1.0), ((), -3.0)], [((0,), -1.0), ((), -2.0)]]
    >>> upper_bound(Candidates.of("ab", listed), Run())
    -3.0
    """
    whole = LocalProblem.whole(candidates)
    return sum(bound_of(whole.restrict(part), run) for part in components(candidates))


def bound_of(problem: LocalProblem, run: Run) -> float:
    """Bound of one component."""
    size = len(problem)

    def out_of_time() -> bool:
        return run.budget.exhausted

    if size == 1 or size > WORD or out_of_time():
        return problem.bound
    if size <= EXACT:
        table = np.empty(1 << size, dtype=np.float64)
        for done in completions(problem, table):
            if done < 1 << size and out_of_time():
                return problem.bound
        return float(table[0])
    arranged, _, starts = group_members(problem, GROUP)
    tabled = pattern_database(arranged, starts, out_of_time)
    return problem.bound if tabled is None else float(tabled.tables[tabled.offsets[:-1]].sum())
