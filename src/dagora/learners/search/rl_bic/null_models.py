"""A null model: the best of as many random DAGs as a policy draws graphs, which it must beat.

A random DAG has a random order, and each edge that the order and knowledge permit with a probability that is
itself drawn anew for every graph, so that sparse and dense graphs both occur. Its best one is pruned just as
the policy's is.
"""

from __future__ import annotations

import numpy as np

from dagora.learners.search.rl_bic.objective import Graphs, Objective
from dagora.learners.search.rl_bic.rewards import has_cycle

# Graphs that are scored together.
TOGETHER = 1024


def best_random_dag(objective: Objective, count: int, rng: np.random.Generator) -> tuple[Graphs, float]:
    """The best of `count` random DAGs, pruned, and its score under the objective."""
    nodes = len(objective.required)
    best, value = objective.required, -np.inf
    for start in range(0, count, TOGETHER):
        number = min(TOGETHER, count - start)
        places = rng.random((number, nodes))
        chance = rng.random((number, 1, 1))
        graphs = (places[:, :, None] < places[:, None]) & (rng.random((number, nodes, nodes)) < chance)
        graphs = (graphs & objective.free) | objective.required
        scores, extra = objective.evaluate(graphs)
        scores = np.where((extra == 0) & ~has_cycle(graphs), scores, -np.inf)
        if scores.max() > value:
            best, value = graphs[int(scores.argmax())], float(scores.max())
    return objective.prune(best)
