"""RBNets: a Q-network learns to place the variables one after the other, each with its best parents so far.

Zheng, Wang, Gao & Chen (2023), RBNets: A Reinforcement Learning Approach for Learning Bayesian Network
Structure. `improve=False` is deep double Q-learning as published (see `faithful`). The best order of all
episodes and the order of the greedy policy are both reported, and the better of the two is the answer. The
paper leaves open the state's embedding, the network's size, the reward's scale and the bonus of an action
never tried; our choices are stated in `embedding`, `network`, `environment` and `exploration`. `improve=True`
combines the network with order search (see `improved`).

Which to use: to find a good network, use `order-search`. In a fraction of a second it reaches scores that the
Q-network does not reach in a minute, and the improved method owes its score to it: there the episodes only
choose where the search restarts. RBNets is here for comparison.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from dagora.accelerated import require_jax
from dagora.graph.dag import DAG
from dagora.result import Outcome
from dagora.run import Run
from dagora.scores.candidates.candidates import Candidates
from dagora.scores.local_score import TIE
from dagora.search.components import LocalProblem, feasible_order, why_cyclic
from dagora.search.order.order_search import outcome_of
from dagora.search.rbnets.bounds import upper_bound
from dagora.search.rbnets.environment import OrderGraph


def rbnets(
    candidates: Candidates,
    run: Run,
    *,
    improve: bool = True,
    episodes: int = 300,
    state: str = "set",
    hidden: int = 64,
) -> Outcome:
    """Learn to order the variables in some episodes; `hidden` is the number of units in each hidden layer.

    `state` is what the network sees: the set of placed variables as n bits (`set`), or vectors from random
    walks (`walk`). Numbers in `stats`: `best_seen` is the best score of an episode; `greedy` is that of the
    greedy policy's order at the end; `compile_seconds` are not part of learning. With `improve`, `seeded` is
    the score of order search before the first episode, and `polished` the best score that an episode's order
    was improved to. The learning curve, a score per episode, is in `curves`.

    >>> listed = [[((1,), -1.0), ((), -3.0)], [((0,), -1.0), ((), -2.0)]]
    >>> outcome = rbnets(Candidates.of("ab", listed), Run())
    >>> outcome.status, outcome.score, outcome.graph.edges
    ('optimal', -3.0, (('b', 'a'),))
    """
    require_jax("the method rbnets")
    obstacle = why_cyclic(candidates)
    if obstacle:
        return Outcome(DAG(candidates.names), "failed", obstacle)
    if improve:
        return improved(candidates, run, episodes, state, hidden)
    return as_published(candidates, run, episodes, state, hidden)


def as_published(candidates: Candidates, run: Run, episodes: int, state: str, hidden: int) -> Outcome:
    """Algorithm 1; the answer is the better of the best order seen and the greedy order."""
    from dagora.search.rbnets.agent import Agent
    from dagora.search.rbnets.faithful import CAPACITY, learn_orders

    order = feasible_order(candidates)[0]
    if run.budget.exhausted:
        return outcome_of(candidates, order, run, {"episodes": 0.0}, "no episode")
    agent = Agent.new(OrderGraph.of(candidates), run.seed, state, hidden, CAPACITY)
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


def improved(candidates: Candidates, run: Run, episodes: int, state: str, hidden: int) -> Outcome:
    """Episodes combined with order search; no episodes if the search's network is proved optimal."""
    from dagora.search.rbnets.agent import Agent
    from dagora.search.rbnets.improved import CAPACITY, TOGETHER, Searches, learn_and_search

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
            agent = Agent.new(OrderGraph.of(found), run.seed, state, hidden, CAPACITY)
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
    effort = f"{stats['episodes']:.0f} episodes and {searches.steps} disturbances of orders"
    outcome = replace(outcome_of(found, leader.best_order, run, stats, effort), curves=curves)
    proved = leader.best >= bound - TIE * abs(bound) and found.complete
    if outcome.status == "finished" and proved:
        message = "no network scores higher: proved by dynamic programming over parts of the problem"
        return replace(outcome, status="optimal", message=message)
    return outcome
