"""Tests of links that are right: d-separation in a graph in time, unrolled over many steps.

Nodes are numbered as in the windows of the methods: variable v of k steps back is k · d + v. Variables whose
names begin with "hidden" have no number.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np

import dagora
from dagora.graph.dag import DAG
from dagora.graph.lagged_graph import LaggedGraph
from dagora.graph.separation import d_separated
from dagora.learners.run import Run
from dagora.learners.time.link_tests import Link, TestedLink
from dagora.learners.time.named_links import sets_beside

# Steps before the earliest of a window: paths through an older common cause count, too.
OLDER = 8


def unrolled(truth: LaggedGraph, steps: int) -> DAG:
    """All steps from `steps` back to now, named (variable)@(steps back)."""
    nodes = [f"{name}@{back}" for back in range(steps) for name in truth.variables]
    edges = [
        (f"{tail}@{back + lag}", f"{head}@{back}")
        for back in range(steps)
        for tail, head, lag in truth.edges
        if back + lag < steps
    ]
    return DAG(nodes, edges)


class SeparationLinks:
    """Tests with the p-value 1 where nodes are separated, else 0."""

    def __init__(self, truth: LaggedGraph, reach: int = 2) -> None:
        seen = [name for name in truth.variables if not name.startswith("hidden")]
        steps = reach * truth.lags + 1
        graph = unrolled(truth, steps + OLDER * truth.lags)
        names = [f"{name}@{back}" for back in range(steps) for name in seen]
        self.max_given = len(names)

        @cache
        def separated(x: int, y: int, given: frozenset[int]) -> bool:
            return d_separated(graph, names[x], names[y], [names[node] for node in given])

        self.separated = separated
        self.names, self.batch_size = tuple(names), 1000

    def p_values(self, x: np.ndarray, y: np.ndarray, given: np.ndarray) -> np.ndarray:
        """The protocol of tests of independence."""
        return np.array(
            [
                float(self.separated(a, b, frozenset(some)))
                for a, b, some in zip(x.tolist(), y.tolist(), given.tolist(), strict=True)
            ]
        )

    def given_strongest(
        self, effect: int, parents: Sequence[int], size: int
    ) -> tuple[np.ndarray, np.ndarray]:
        p = []
        for parent in parents:
            others = [other for other in parents if other != parent]
            p.append(float(self.separated(parent, effect, frozenset(others[:size]))))
        return np.array(p), np.ones(len(parents))

    def given_sets(self, link: Link, size: int, run: Run) -> TestedLink:
        found = TestedLink()
        for some in sets_beside(link, size):
            apart = self.separated(link.cause, link.effect, frozenset((*link.base, *some)))
            one = TestedLink(float(apart), 0.0, some, int(apart), 1)
            one.votes = {node: 1 for node in some if apart and node in link.near}
            found.add(one)
        return found


def random_graph_in_time(d: int, lags: int, seed: int, hidden: int = 0) -> LaggedGraph:
    """A random graph in time; most variables depend on their own past, the last ones are hidden."""
    rng = np.random.default_rng(seed)
    within = dagora.random_dag("er", d, 1.0, seed)
    order = rng.permutation(d)
    names = [f"x{k}" for k in range(d - hidden)] + [f"hidden{k}" for k in range(hidden)]
    edges = [
        (names[order[within.index(tail)]], names[order[within.index(head)]], 0) for tail, head in within.edges
    ]
    for lag in range(1, lags + 1):
        for tail in range(d):
            for head in range(d):
                if rng.random() < (0.5 if tail == head else 0.7 / d) / lag:
                    edges.append((names[tail], names[head], lag))
    return LaggedGraph(names, lags, edges)
