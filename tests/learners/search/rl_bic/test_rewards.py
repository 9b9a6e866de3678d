"""Rewards and objectives of RL-BIC against brute force."""

from itertools import product

import numpy as np
import pytest
from scipy.linalg import expm

import dagora
from dagora.base.errors import OptionError
from dagora.graph.knowledge import Knowledge
from dagora.learners.search.rl_bic.objective import Objective
from dagora.learners.search.rl_bic.rewards import (
    CyclePenalties,
    best_random_dag,
    closed_walks,
    has_cycle,
    reward_graphs,
)
from dagora.scores.bdeu import bdeu
from dagora.scores.bic_gaussian import GaussianBIC
from dagora.stats.table import TableStatistics
from tests.random_tables import random_discrete

TABLE = dagora.simulate(dagora.random_dag("er", 4, 1.5, seed=2), "gaussian", 200, seed=3).table
SCORE = GaussianBIC(TableStatistics(TABLE))


def every_graph(nodes: int) -> np.ndarray:
    """All directed graphs without loops."""
    places = np.argwhere(~np.eye(nodes, dtype=bool))
    graphs = np.zeros((2 ** len(places), nodes, nodes), dtype=bool)
    for number, bits in enumerate(product((False, True), repeat=len(places))):
        graphs[number, places[:, 0], places[:, 1]] = bits
    return graphs


def test_cycles_and_closed_walks_of_every_graph_of_four_nodes() -> None:
    graphs = every_graph(4)
    traces = np.array([np.trace(expm(graph.astype(float))) for graph in graphs]) - 4
    assert closed_walks(graphs) == pytest.approx(traces, abs=1e-7)
    assert (has_cycle(graphs) == (traces > 1e-9)).all()
    assert (~has_cycle(graphs)).sum() == 543


def test_at_the_last_penalties_the_best_reward_is_that_of_the_best_dag() -> None:
    graphs = every_graph(4)
    objective = Objective.of(SCORE, Knowledge(), "different")
    penalties = CyclePenalties.first(4)
    for _ in range(20):
        penalties = penalties.grow()
    assert penalties == CyclePenalties(5.0, 0.01)
    found = reward_graphs(graphs, objective, objective.bounds(), penalties)
    best = graphs[found.rewards.argmax()]
    exact = dagora.learn(TABLE, "dynamic")
    assert found.scores[found.rewards.argmax()] == pytest.approx(exact.score, rel=1e-12)
    assert not has_cycle(best[None])[0]


def test_equal_variances_pool_the_residuals() -> None:
    graph = np.zeros((4, 4), dtype=bool)
    graph[0, 1] = graph[1, 3] = graph[2, 3] = True
    rows = np.column_stack(TABLE.columns)
    rows = rows - rows.mean(axis=0)
    squares = 0.0
    for child in range(4):
        parents = np.flatnonzero(graph[:, child])
        weights = np.linalg.lstsq(rows[:, parents], rows[:, child], rcond=None)[0]
        squares += ((rows[:, child] - rows[:, parents] @ weights) ** 2).sum()
    n = rows.size
    expected = -n / 2 * (np.log(2 * np.pi * squares / n) + 1) - np.log(len(rows)) / 2 * (3 + 8)
    objective = Objective.of(SCORE, Knowledge(), "equal")
    assert objective.evaluate(graph[None])[0][0] == pytest.approx(expected, rel=1e-10)
    discrete = bdeu(TableStatistics(random_discrete(np.random.default_rng(0), 50, [2, 2])))
    with pytest.raises(OptionError, match="variances=equal needs the score bic-gaussian"):
        Objective.of(discrete, Knowledge(), "equal")


def test_a_family_with_too_many_parents_counts_as_one_with_none_and_costs() -> None:
    objective = Objective.of(SCORE, Knowledge(max_parents=1), "different")
    two = np.zeros((1, 4, 4), dtype=bool)
    two[0, [0, 1], 2] = True
    none = np.zeros((1, 4, 4), dtype=bool)
    (value,), (extra,) = objective.evaluate(two)
    assert (value, extra) == (objective.evaluate(none)[0][0], 2.0)
    bounds = objective.bounds()
    over, under = (
        reward_graphs(graphs, objective, bounds, CyclePenalties.first(4)) for graphs in (two, none)
    )
    assert over.rewards[0] == pytest.approx(under.rewards[0] - 2.0)
    assert (over.permitted.tolist(), under.permitted.tolist()) == ([False], [True])


def test_pruning_removes_what_the_score_can_do_without_and_keeps_what_is_required() -> None:
    full = np.triu(np.ones((4, 4), dtype=bool), 1)
    required = (TABLE.names[0], TABLE.names[3])
    objective = Objective.of(SCORE, Knowledge(required=[required]), "different")
    graph, value = objective.prune(full)
    assert graph[0, 3]
    assert value == pytest.approx(objective.evaluate(graph[None])[0][0])
    for i, j in np.argwhere(graph & ~objective.required):
        less = graph.copy()
        less[i, j] = False
        assert objective.evaluate(less[None])[0][0] < value
    assert value >= objective.evaluate(full[None])[0][0]


def test_random_dags_find_the_best_of_few_nodes() -> None:
    objective = Objective.of(SCORE, Knowledge(), "different")
    graph, value = best_random_dag(objective, 3000, np.random.default_rng(0))
    assert not has_cycle(graph[None])[0]
    assert value == pytest.approx(dagora.learn(TABLE, "dynamic").score, rel=1e-12)
