"""RBNets: a Q-network learns to place the variables one after the other, each with its best parents so far.

Zheng, Wang, Gao & Chen (2023), RBNets: A Reinforcement Learning Approach for Learning Bayesian Network
Structure. `published=True` is Algorithm 1 with the states of figure 1b and the reward of equation 7 (see
`published`). The paper leaves open how random walks make states, the network's size, and the bonus of an
action never tried; our choices are stated in `embedding`, `network` and `agent`. Its answer is the
order of the greedy policy (section 3.1); ours is the better of that and the best order of all episodes, and
both scores are reported. Without it, the network is combined with order search (see `improved`).

Which to use: to find a good network, use `order-search`. In a fraction of a second it reaches scores that the
Q-network does not reach in a minute, and the improved method owes its score to it: there the episodes only
choose where the search restarts. RBNets is here for comparison.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dagora.base.extras import JAX
from dagora.graph.dag import DAG
from dagora.kernels.jax import NO_TIME, prepare_jax, time_for_jax
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.learners.search.components import LocalProblem, feasible_order, reason_cyclic
from dagora.learners.search.order.order_search import outcome_of
from dagora.learners.search.rbnets.environment import OrderGraph
from dagora.scores.local_score import TIE

if TYPE_CHECKING:
    from dagora.learners.search.rbnets.agent import Agent


def rbnets(
    candidates: Candidates,
    run: Run,
    *,
    published: bool = False,
    episodes: int = 300,
    state: str | None = None,
    reward: str | None = None,
    hidden: int = 64,
) -> Outcome:
    """Learn to order the variables in some episodes; `hidden` is the number of units in each hidden layer.

    `state` is what the network sees: the set of placed variables as n bits (`set`), or vectors from random
    walks (`walk`, the default if `published`). `reward` is what it learns from: the score of a placed
    variable as it is (`raw`, the default if `published`), or its scaled gain over no parents (`gain`).
    Numbers in `stats`: `published` is 1 for the published algorithm, else 0; `best_seen` is the best score of
    an episode; `greedy` is that of the greedy policy's order at the end; `compile_seconds` are not part of
    learning. Combined with order search, `seeded` is its score before the first episode, and `polished` the
    best score that an episode's order was improved to. The learning curve, a score per episode, is in
    `curves`.

    >>> listed = [[((1,), -1.0), ((), -3.0)], [((0,), -1.0), ((), -2.0)]]
    >>> outcome = rbnets(Candidates.of("ab", listed), Run())
    >>> outcome.status, outcome.score, outcome.graph.edges
    ('optimal', -3.0, (('b', 'a'),))
    """
    JAX.require("the method rbnets")
    obstacle = reason_cyclic(candidates)
    if obstacle:
        return Outcome(DAG(candidates.names), "failed", obstacle)
    make = follow_published if published else combine_with_search
    settings = AgentSettings(
        state or ("walk" if published else "set"), reward or ("raw" if published else "gain"), hidden
    )
    if time_for_jax(run.budget):
        prepare_jax()
        outcome = make(candidates, run, episodes, settings)
    else:
        outcome = no_episode(candidates, run)
    message = outcome.message + (
        settings.describe_published(knowing=bool(run.knowledge.mentioned)) if published else ""
    )
    return replace(outcome, message=message, stats={**outcome.stats, "published": float(published)})


@dataclass(frozen=True)
class AgentSettings:
    """The state that an agent sees, its reward, and the units in each of its hidden layers."""

    state: str
    reward: str
    hidden: int

    def agent(self, candidates: Candidates, seed: int, capacity: int) -> Agent:
        """An untrained agent with a replay of so many transitions."""
        from dagora.learners.search.rbnets.agent import Agent

        graph = OrderGraph.of(candidates, self.reward)
        return Agent.new(graph, seed, self.state, self.hidden, capacity)

    def describe_published(self, *, knowing: bool = False) -> str:
        """The deviations from the published algorithm, in words.

        >>> print(AgentSettings("set", "raw", 64).describe_published())
         (RBNets of Zheng et al. 2023; not as in the paper: state=set, the best order seen ...)
        """
        other = [f"state={self.state}"] * (self.state != "walk") + [f"reward={self.reward}"] * (
            self.reward != "raw"
        )
        against = ", ".join([*other, *["knowledge of edges"] * knowing, OTHER])
        paper = "RBNets of Zheng et al. 2023"
        return f" ({paper}; not as in the paper: {against}; open there, chosen here: {OPEN})"


OPEN = "how walks make states, network size, bonus of an untried action"
OTHER = "the best order seen is returned where it beats the greedy policy's"


def no_episode(candidates: Candidates, run: Run) -> Outcome:
    """The network of an order at hand, where too little time is left to learn; JAX need not be loaded."""
    order, _ = feasible_order(candidates)
    outcome = outcome_of(candidates, order, run, {"episodes": 0.0}, "no episode")
    if outcome.status != "finished":
        return outcome
    return replace(outcome, status="time-limit", message=f"no episode: {NO_TIME}")


def follow_published(candidates: Candidates, run: Run, episodes: int, settings: AgentSettings) -> Outcome:
    """Algorithm 1; the answer is the better of the best order seen and the greedy order."""
    from dagora.learners.search.rbnets.published import CAPACITY, learn_orders

    if run.budget.exhausted:
        return no_episode(candidates, run)
    agent = settings.agent(candidates, run.seed, CAPACITY)
    compiling = agent.compile(1, 1)
    seen = learn_orders(agent, run, episodes)
    problem = LocalProblem.whole(candidates)
    greedy = agent.greedy_order()
    score = problem.score(greedy)
    stats = {
        "episodes": float(seen.episodes),
        "gradient_steps": float(agent.learner.steps),
        "states": float(len(agent.visits)),
        "greedy": score,
        "compile_seconds": compiling,
    }
    if not seen.episodes:
        return outcome_of(candidates, greedy, run, stats, "no episode")
    stats["best_seen"] = problem.score(seen.order)
    order = greedy if score > stats["best_seen"] else seen.order
    outcome = outcome_of(candidates, order, run, stats, f"{seen.episodes} episodes")
    return replace(outcome, curves={"episode": tuple(seen.curve)})


def combine_with_search(candidates: Candidates, run: Run, episodes: int, settings: AgentSettings) -> Outcome:
    """Episodes combined with order search; no episodes if the search's network is proved optimal."""
    from dagora.learners.search.rbnets.improved import (
        CAPACITY,
        TOGETHER,
        Searches,
        learn_and_search,
        upper_bound,
    )

    with ThreadPoolExecutor(run.jobs) as pool:
        searches = Searches.start(candidates, pool, run)
        searches.prepare()
        found = searches.candidates
        bound = upper_bound(found, run)
        # This is the score of a network only if the order permits every variable one of its candidate sets.
        seeded = searches.leader.best
        stats = {"episodes": 0.0, "seeded": seeded, "bound": bound}
        curves: dict[str, tuple[float, ...]] = {}
        if not run.budget.exhausted and seeded < bound - TIE * abs(bound):
            agent = settings.agent(found, run.seed, CAPACITY)
            stats["compile_seconds"] = agent.compile(agent.graph.size, TOGETHER)
            learned = learn_and_search(agent, searches, episodes, bound)
            greedy = agent.greedy_order()
            stats |= {
                "episodes": float(learned.episodes),
                "gradient_steps": float(agent.learner.steps),
                "states": float(len(agent.visits)),
                "greedy": searches.problem.score(greedy),
            }
            if learned.episodes:
                stats |= {"best_seen": max(learned.played), "polished": max(learned.polished)}
                curves = {"episode": tuple(learned.played), "polished episode": tuple(learned.polished)}
        leader = searches.leader
        stats["disturbances"] = float(searches.steps)
    effort = f"{stats['episodes']:.0f} episodes and {searches.steps:,} random tries"
    outcome = replace(outcome_of(found, leader.best_order, run, stats, effort), curves=curves)
    proved = leader.best >= bound - TIE * abs(bound) and found.complete
    if outcome.status == "finished" and proved:
        message = "no network scores higher: proved by dynamic programming over parts of the problem"
        return replace(outcome, status="optimal", message=message)
    return outcome
