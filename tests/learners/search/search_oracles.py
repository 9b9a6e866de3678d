"""Single-edge changes by brute force: every one is tried, built and scored as a whole graph."""

import numpy as np

from dagora.base.errors import GraphError
from dagora.graph.dag import DAG
from dagora.learners.search.greedy.moves import ADD, DELETE, REVERSE
from dagora.scores.local_score import TIE, graph_score
from dagora.scores.registry import score_named
from dagora.stats.table import TableStatistics
from tests.random_tables import random_continuous, random_discrete


def random_score(name, seed, columns=5, rows=150):
    rng = np.random.default_rng(seed)
    entry = score_named(name)
    if entry.kind == "discrete":
        table = random_discrete(rng, rows, [int(c) for c in rng.integers(2, 4, columns)])
    else:
        table = random_continuous(rng, rows, columns)
    return entry.make(TableStatistics(table))


def legal_moves(graph, knowledge):
    """Every (kind, i, j) that leaves the graph acyclic and the knowledge obeyed, with the graph that follows."""
    present = graph.to_numpy()
    moves = {}
    for i in range(len(graph)):
        for j in range(len(graph)):
            if i == j or present[j, i]:
                continue
            for kind in (DELETE, REVERSE) if present[i, j] else (ADD,):
                changed = present.copy()
                changed[i, j] = kind == ADD
                changed[j, i] = kind == REVERSE
                try:
                    after = DAG.from_numpy(changed, graph.nodes)
                except GraphError:
                    continue
                if not knowledge.violations(after):
                    moves[kind, i, j] = after
    return moves


def scored_moves(score, graph, knowledge):
    """Gain of every legal move, from whole-graph scores."""
    own = graph_score(score, graph)
    return {move: graph_score(score, after) - own for move, after in legal_moves(graph, knowledge).items()}


def improvements(score, graph, knowledge):
    """Moves that gain more than a tie."""
    tolerance = 2 * TIE * abs(graph_score(score, graph))
    return {move: gain for move, gain in scored_moves(score, graph, knowledge).items() if gain > tolerance}
