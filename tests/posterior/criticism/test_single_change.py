"""Single changes: against the score of every graph that differs in one edge."""

from itertools import permutations

import pytest

import dagora
from dagora.base.errors import GraphError
from dagora.graph.dag import DAG
from dagora.posterior.criticism.single_change import MOST_CHANGES, MOST_COLUMNS, best_changes
from dagora.scores.registry import default_score
from dagora.stats.table import TableStatistics


def neighbours(dag):
    for u, v in permutations(dag.nodes, 2):
        edges = set(dag.edges)
        if (u, v) in edges:
            yield "remove", u, v, edges - {(u, v)}
            yield "reverse", u, v, edges - {(u, v)} | {(v, u)}
        elif (v, u) not in edges:
            yield "add", u, v, edges | {(u, v)}


@pytest.mark.parametrize("seed", range(6))
def test_gains_are_differences_of_scores(seed):
    truth, dag = dagora.random_dag("er", 5, 1, seed), dagora.random_dag("er", 5, 1, seed + 50)
    rows = dagora.simulate(truth, "gaussian", 200, seed=seed).table
    score = default_score(rows.schema).make(TableStatistics(rows))
    before = dagora.score(rows, dag)
    expected = {}
    for kind, u, v, edges in neighbours(dag):
        try:
            gain = dagora.score(rows, DAG(dag.nodes, edges)) - before
        except GraphError:
            continue
        if gain > 1e-6:
            expected[kind, u, v] = gain
    found = {(one.kind, one.tail, one.head): one.gain for one in best_changes(score, dag)}
    assert len(found) == min(MOST_CHANGES, len(expected))
    assert found == pytest.approx({key: expected[key] for key in found})
    assert sorted(found.values(), reverse=True) == pytest.approx(
        sorted(expected.values(), reverse=True)[:MOST_CHANGES]
    )


def test_a_best_graph_has_no_change():
    rows = dagora.simulate(DAG("abc", ["ab", "bc"]), "gaussian", 300, seed=1).table
    learned = dagora.learn(rows, "hill-climb").graph
    assert best_changes(default_score(rows.schema).make(TableStatistics(rows)), learned) == ()


def test_many_columns_are_not_tried():
    assert best_changes(None, DAG([f"x{k}" for k in range(MOST_COLUMNS + 1)])) is None
