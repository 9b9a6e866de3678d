"""RBNets: a Q-network learns to place the variables one after the other, best parents among those placed.

Zheng, Wang, Gao & Chen (2023), RBNets: A Reinforcement Learning Approach for Learning Bayesian Network
Structure. `improve=False` is deep double Q-learning as published (see `faithful`), with the best order of all
episodes and the order of the greedy policy both reported, the better of the two being the answer. What the
paper leaves open, the state's embedding, the network's size, the reward's scale and the bonus of an action
never tried, is stated in `embedding`, `network`, `environment` and `exploration`. `improve=True` couples the
network to a search over orders (see `improved`).

Which to use: to find a good network, `order-search`. It reaches in a fraction of a second what the network
does not reach in a minute, and the improved method owes its score to it: its episodes are restarts that have
been chosen with care. RBNets is here to be compared with.
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
from dagora.search.components import LocalProblem, feasible_order, knot
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
    walks (`walk`). Numbers in `stats`: `best_seen`, the best score of an episode; `greedy`, that of
    the order which the network gives at the end; `compile_seconds`, which are no part of learning. With
    `improve`, `seeded` is what order search came to before the first episode, and `polished` the best
    that an episode's order was improved to. The learning curve, a score per episode, is in `curves`.

    >>> listed = [[((1,), -1.0), ((), -3.0)], [((0,), -1.0), ((), -2.0)]]
    >>> outcome = rbnets(Candidates.of("ab", listed), Run())
    >>> outcome.status, outcome.score, outcome.graph.edges
    ('optimal', -3.0, (('b', 'a'),))
    """
    require_jax("the method rbnets")
    obstacle = knot(candidates)
    if obstacle:
        return Outcome(DAG(candidates.names), "failed", obstacle)
    if improve:
        return improved(candidates, run, episodes, state, hidden)
    return as_published(candidates, run, episodes, state, hidden)


def as_published(candidates: Candidates, run: Run, episodes: int, state: str, hidden: int) -> Outcome:
    """Algorithm 1, and the better of the best order seen and the greedy one."""
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
    """Episodes side by side with order search; none where it is proved that they cannot help."""
    from dagora.search.rbnets.agent import Agent
    from dagora.search.rbnets.improved import CAPACITY, TOGETHER, Searches, learn_and_search

    with ThreadPoolExecutor(run.jobs) as pool:
        searches = Searches.start(candidates, pool, run)
        searches.prepare()
        found = searches.candidates
        # The searches' scores are those of networks only where every variable has a permitted set.
        bound = upper_bound(found, run)
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
