"""RBNets as published (but for the order returned): Algorithm 1 of Zheng et al. (2023).

One gradient step after every action.

Replay of 2000 transitions, minibatches of 200, a new target network every 300 steps, RMSProp with rate 0.001,
γ = 1 (section 4.1), exploration by upper confidence bounds (section 3.2), states from random walks (figure
1b), the raw reward of equation 7. While the replay holds fewer than 200 transitions a minibatch repeats some.
Lines 6 and 7 of the algorithm, which shorten an episode of more than 2000 variables, are left out: they would
place a variable twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dagora.base.events import Event
from dagora.learners.run import Run
from dagora.learners.search.rbnets.agent import Agent, Order, Values
from dagora.learners.search.rbnets.replay import Transitions

# Transitions in the replay: N_r of section 4.1.
CAPACITY = 2000


@dataclass(eq=False)
class BestEpisode:
    """The best order of an agent's episodes, its score, and the learning curve: a score per episode."""

    order: Order
    score: float = -np.inf
    curve: list[float] = field(default_factory=list)

    @property
    def episodes(self) -> int:
        """Number of episodes."""
        return len(self.curve)


def learn_orders(agent: Agent, run: Run, episodes: int) -> BestEpisode:
    """Run `episodes` episodes, or as many as time allows; an episode cut short does not count."""
    best = BestEpisode(np.zeros(0, dtype=np.int64))
    values = agent.values(agent.graph.members(agent.graph.start(1)))
    while best.episodes < episodes:
        order, score, values = play(agent, values, run)
        if len(order) < agent.graph.size:
            break
        best.curve.append(score)
        if score > best.score:
            best.order, best.score = order, score
        run.on_event(Event("learning", best.episodes, score=best.score, total=episodes))
    return best


def play(agent: Agent, values: Values, run: Run) -> tuple[Order, float, Values]:
    """Play one episode: return its order, its score, and the Q-values at the start of the next one.

    If time runs out, the order is incomplete.
    """
    graph = agent.graph
    states = graph.start(1)
    beginning = graph.members(states)
    members, legal = beginning, graph.legal(states)
    order = np.empty(graph.size, dtype=np.int64)
    score = 0.0
    for place in range(graph.size):
        if run.budget.exhausted:
            return order[:place], score, values
        order[place] = agent.visits.choose(states.tobytes(), values[0], legal[0])
        action = order[place : place + 1]
        gained = graph.step(states, action)
        following, possible = graph.members(states), graph.legal(states)
        rewards = graph.rewards(action, gained).astype(np.float32)
        agent.replay.store(Transitions(members, action, rewards, following, possible))
        # After the last variable, the next Q-values needed are those at the start of the next episode.
        values = agent.learn(1, following if place + 1 < graph.size else beginning)
        members, legal = following, possible
        score += float(gained[0])
    return order, score, values
