"""Rewards of drawn graphs: a scaled score, and penalties on cycles that grow while the policy learns.

    reward = −[s + λ₁ 1(cyclic) + λ₂ (tr e^A − d)],

s = 5 (high − score) / (high − low), so that it is about 0 for the best and 5 for no edges (Zhu, Ng & Chen
2020, equation 6 and section 5). λ₁ begins at 0 and λ₂ at 10^−round(d/3); twenty times in a run λ₁ grows by 1,
to 5 at most, and λ₂ tenfold, to 0.01 at most. At λ₁ = 5 no cyclic graph is rewarded more than the best DAG.

Not of the paper, which has linear and Gaussian-process regressions only: where s exceeds 5, because a family
of discrete columns costs astronomically many parameters, it grows by its logarithm; and each parent in a
family that has no score costs 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dagora.learners.search.rl_bic.objective import Floats, Graphs, Objective

# The scale of scores and the largest λ₁; the steps of both penalties; the largest λ₂; how often they grow.
SCALE, STEP, FACTOR, LARGEST, TIMES = 5.0, 1.0, 10.0, 0.01, 20
# Terms of the exponential of a matrix whose rows each sum to a half at most.
TERMS = 10

SCORED_TOGETHER = 1024  # random DAGs: larger takes more memory, smaller more calls


@dataclass(frozen=True)
class CyclePenalties:
    """The weights of the two penalties on cycles."""

    cyclic: float
    walks: float

    @classmethod
    def first(cls, nodes: int) -> CyclePenalties:
        """Those of the first rounds."""
        return cls(0.0, min(LARGEST, FACTOR ** -round(nodes / 3)))

    def grow(self) -> CyclePenalties:
        """Those after a further twentieth of the rounds.

        >>> CyclePenalties.first(12), CyclePenalties.first(12).grow().grow()
        (CyclePenalties(cyclic=0.0, walks=0.0001), CyclePenalties(cyclic=2.0, walks=0.01))
        """
        return CyclePenalties(min(SCALE, self.cyclic + STEP), min(LARGEST, self.walks * FACTOR))


@dataclass(frozen=True)
class GraphRewards:
    """Graphs with their scores, rewards, and whether each is a DAG whose families all have a score."""

    scores: Floats
    rewards: Floats
    permitted: Graphs


def reward_graphs(
    graphs: Graphs, objective: Objective, bounds: tuple[float, float], penalties: CyclePenalties
) -> GraphRewards:
    """Compute the rewards of graphs whose first axis is the graph."""
    low, high = bounds
    scores, extra = objective.evaluate(graphs)
    cost = SCALE * (high - scores) / max(high - low, 1e-9)
    cost = np.where(cost > SCALE, SCALE + np.log1p(np.maximum(cost - SCALE, 0.0)), cost)
    cyclic = has_cycle(graphs)
    walks = np.where(cyclic, closed_walks(graphs), 0.0)
    rewards = -(cost + penalties.cyclic * cyclic + penalties.walks * walks + extra)
    return GraphRewards(scores, rewards, ~cyclic & (extra == 0))


def has_cycle(graphs: Graphs) -> Graphs:
    """Mark the graphs with a cycle: variables without parents are removed until none is left, or none can be.

    >>> has_cycle(np.array([[[0, 1], [0, 0]], [[0, 1], [1, 0]]], dtype=bool)).tolist()
    [False, True]
    """
    left = np.ones(graphs.shape[:2], dtype=np.bool_)
    for _ in range(graphs.shape[1]):
        after = left & (graphs & left[:, :, None]).any(axis=1)
        if (after == left).all():
            break
        left = after
    return np.asarray(left.any(axis=1))


def closed_walks(graphs: Graphs) -> Floats:
    """The trace of e^A, less d, of each graph, by a series of A / 2^s and s squarings.

    >>> closed_walks(np.array([[[0, 1], [1, 0]]], dtype=bool)).round(6)  # 2 (cosh 1 − 1)
    array([1.086161])
    """
    nodes = graphs.shape[1]
    longest = max(1.0, float(graphs.sum(axis=2).max()))
    squarings = int(np.ceil(np.log2(longest))) + 1
    matrices = graphs / 2.0**squarings
    unit = np.eye(nodes)
    total = unit + matrices / TERMS
    for term in range(TERMS - 1, 0, -1):
        total = unit + matrices @ total / term
    for _ in range(squarings):
        total = total @ total
    return np.asarray(np.trace(total, axis1=1, axis2=2) - nodes, dtype=np.float64)


def best_random_dag(objective: Objective, count: int, rng: np.random.Generator) -> tuple[Graphs, float]:
    """A null model that the policy must beat: the best of `count` random DAGs, pruned, and its score.

    A random DAG has a random order, and each edge that the order and knowledge permit with a probability that
    is drawn anew for every graph, so that sparse and dense graphs both occur.
    """
    nodes = len(objective.required)
    best, value = objective.required, -np.inf
    for start in range(0, count, SCORED_TOGETHER):
        number = min(SCORED_TOGETHER, count - start)
        places = rng.random((number, nodes))
        chance = rng.random((number, 1, 1))
        graphs = (places[:, :, None] < places[:, None]) & (rng.random((number, nodes, nodes)) < chance)
        graphs = (graphs & objective.free) | objective.required
        scores, extra = objective.evaluate(graphs)
        scores = np.where((extra == 0) & ~has_cycle(graphs), scores, -np.inf)
        if scores.max() > value:
            best, value = graphs[int(scores.argmax())], float(scores.max())
    return objective.prune(best)
