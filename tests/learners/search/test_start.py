"""Searches that start from an earlier result: they never end below it, and say where they began."""

from __future__ import annotations

from pathlib import Path

import pytest

import dagora
from dagora import DAG, KnowledgeError
from dagora.scores.local_score import graph_score
from dagora.scores.registry import score_named
from dagora.stats.accepting import as_statistics

STARTING = ["auto", "hill-climb", "tabu", "order-search", "boss", "ges"]


@pytest.fixture(scope="module")
def table() -> dagora.Table:
    truth = dagora.random_dag("er", 8, 2.0, seed=4)
    return dagora.simulate(truth, "gaussian", rows=200, seed=4).table


@pytest.mark.parametrize("method", STARTING)
def test_never_ends_below_its_start(table: dagora.Table, method: str) -> None:
    best = dagora.learn(table, "dynamic")
    found = dagora.learn(table, method, start=best)
    assert found.score == pytest.approx(best.score)
    assert f"it started from the given graph of {len(best.graph.edges)} edges" in found.message
    assert found.settings["start"] == [list(edge) for edge in best.graph.edges]
    assert "it started from" not in dagora.learn(table, method).message


@pytest.mark.parametrize("method", STARTING)
def test_takes_a_file_and_obeys_knowledge(table: dagora.Table, method: str, tmp_path: Path) -> None:
    first = dagora.learn(table, "hill-climb")
    file = tmp_path / "first.json"
    dagora.write_graph(first.graph, file)
    found = dagora.learn(table, method, start=file)
    local = score_named("bic-gaussian").make(as_statistics(table))
    assert found.score >= graph_score(local, first.graph) - 1e-9
    tail, head = first.graph.edges[0]
    known = {"forbidden": [[tail, head], [head, tail]]}
    with pytest.raises(
        KnowledgeError, match=f"the start graph breaks the knowledge: {tail} → {head} is forbidden"
    ):
        dagora.learn(table, method, start=file, knowledge=known)
    without = DAG(first.graph.nodes, [edge for edge in first.graph.edges if set(edge) != {tail, head}])
    again = dagora.learn(table, method, start=without, knowledge=known)
    pairs = {frozenset(edge) for edge in (*again.graph.edges, *again.graph.undirected)}
    assert frozenset((tail, head)) not in pairs


def test_a_stopped_search_stays_at_its_start(table: dagora.Table) -> None:
    start = DAG(table.names, [(table.names[3], table.names[1])])
    found = dagora.learn(table, "hill-climb", start=start, max_steps=0)
    assert found.graph == start
