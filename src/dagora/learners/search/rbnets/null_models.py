"""Null models: the scores of random orders, which learned orders must beat.

An agent of 300 episodes tries 300 orders, so it must beat the best of 300 random orders. As a descent of
insertions improves an order in about a millisecond, it must also beat the best of random orders with one
descent each. If not every order is legal, random orders are drawn by uniform legal actions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import KnowledgeError
from dagora.kernels.random import random_state
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.search.alarm import never_stop
from dagora.learners.search.components import LocalProblem, reason_cyclic
from dagora.learners.search.order.moves import descend
from dagora.learners.search.rbnets.environment import OrderGraph


def random_orders(candidates: Candidates, k: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Scores of the best networks that k random orders permit.

    >>> both = Candidates.of("ab", [[((1,), -1.0), ((), -3.0)], [((0,), -1.0), ((), -2.0)]])
    >>> sorted(set(random_orders(both, 20, np.random.default_rng(0)).tolist()))
    [-4.0, -3.0]
    """
    problem = LocalProblem.whole(candidates)
    return np.array([problem.score(order) for order in draw_orders(candidates, k, rng)])


def descended_orders(candidates: Candidates, k: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Scores after one descent by insertions from each of k random orders.

    >>> both = Candidates.of("ab", [[((1,), -1.0), ((), -3.0)], [((0,), -1.0), ((), -2.0)]])
    >>> set(descended_orders(both, 20, np.random.default_rng(0)).tolist())
    {-3.0}
    """
    problem = LocalProblem.whole(candidates)
    state = random_state(int(rng.integers(2**63)))
    tolerance = problem.tie()
    return np.array(
        [
            descend(problem.flat, order, state, tolerance, never_stop())
            for order in draw_orders(candidates, k, rng)
        ]
    )


def draw_orders(candidates: Candidates, k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw k orders by uniform legal actions; if all actions are always legal, orders are uniform."""
    obstacle = reason_cyclic(candidates)
    if obstacle:
        raise KnowledgeError(obstacle)
    graph = OrderGraph.of(candidates)
    states = graph.start(k)
    orders = np.empty((k, graph.size), dtype=np.int64)
    for place in range(graph.size):
        orders[:, place] = graph.random_actions(states, rng)
        graph.step(states, orders[:, place])
    return orders
