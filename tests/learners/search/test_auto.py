"""The default learner: never below tabu, the same graph wherever columns and rows stand, honest words."""

import numpy as np
import pytest

import dagora
from dagora.base.budget import Budget
from dagora.graph.cpdag import CPDAG
from dagora.learners.candidates import level_search
from dagora.learners.run import Run
from dagora.learners.search import auto as module
from tests.random_tables import random_continuous, random_discrete

TABLES = [
    *(("discrete", seed) for seed in range(2)),
    ("continuous", 0),
    *(
        pytest.param(*case, marks=pytest.mark.slow)
        for case in (("discrete", 2), ("discrete", 3), ("continuous", 1))
    ),
]


def table_of(kind, seed):
    rng = np.random.default_rng(seed)
    if kind == "continuous":
        return random_continuous(rng, 300, 9)
    return random_discrete(rng, 300, rng.integers(2, 5, size=10).tolist())


def class_of(result, nodes):
    return CPDAG.from_dag(result.graph.reorder(nodes))


@pytest.mark.parametrize(("kind", "seed"), TABLES)
def test_columns_and_rows_may_stand_anywhere(kind, seed):
    table = table_of(kind, seed)
    rng = np.random.default_rng(seed + 100)
    found = dagora.learn(table)
    moved = dagora.learn(table.select(rng.permutation(table.names).tolist()))
    assert moved.graph.reorder(table.names) == found.graph
    assert moved.score == pytest.approx(found.score, abs=1e-9 * abs(found.score))
    mixed = dagora.learn(table.take(rng.permutation(table.n_rows)))
    assert class_of(mixed, table.names) == class_of(found, table.names)


@pytest.mark.parametrize(("kind", "seed"), TABLES)
def test_never_below_tabu(kind, seed):
    table = table_of(kind, seed)
    found, tabu = dagora.learn(table), dagora.learn(table, method="tabu")
    assert found.score >= tabu.score - 1e-9 * abs(tabu.score)
    assert found.stats["tabu_score"] == pytest.approx(tabu.score)
    assert dagora.score(table, found.graph) == pytest.approx(found.score)


def test_reaches_the_optimum_that_exact_search_proves():
    for seed in range(3):
        table = table_of("discrete", seed)
        assert dagora.learn(table).score == pytest.approx(dagora.learn(table, method="dynamic").score)


def test_a_better_graph_of_the_first_search_is_not_lost(monkeypatch):
    """Where the search by name ends lower, the search over orders goes on from the first graph."""
    table = table_of("discrete", 0)
    real = module.search_by_name

    def poor(source, *others):
        found, sets = real(source, *others)
        empty = dagora.DAG(source.by_name.schema.names)
        return module.replace(found, graph=empty, score=dagora.score(table, empty)), sets

    monkeypatch.setattr(module, "search_by_name", poor)
    shuffled = table.select(sorted(table.names, reverse=True))
    assert dagora.learn(shuffled).score >= dagora.learn(shuffled, method="tabu").score - 1e-6


def test_the_message_says_what_was_done():
    quick = dagora.learn(table_of("discrete", 0))
    assert quick.message.startswith("tabu search, then a search over orders on ")
    rushed = dagora.learn(table_of("discrete", 0), time_limit=1e-6)
    assert rushed.status == "time-limit"
    assert rushed.message.startswith("tabu search: stopped")


@pytest.mark.full
def test_dense_columns_take_bounded_work(monkeypatch):
    """Of columns that all depend on each other, millions of parent sets matter; the clock is not asked."""
    scored = []
    real = level_search.score_blocks

    def counting(score, grown, watch):
        scored.append(sum(len(entry.sets) for entry in grown))
        return real(score, grown, watch)

    monkeypatch.setattr(level_search, "score_blocks", counting)
    monkeypatch.setattr(module, "WORK", 2e6)
    table = dagora.simulate(dagora.random_dag("er", 16, 1.5, seed=1), "gaussian", 300, seed=1).table
    found = dagora.learn(table)
    assert sum(scored) <= level_search.QUICKLY / level_search.GAUSSIAN_ROWS
    assert found.stats["disturbances"] < 1000
    assert (
        "with no time limit, auto ends after about a second of that (time_limit allows more)" in found.message
    )
    assert found.score >= found.stats["tabu_score"]
    shuffled = np.random.default_rng(0).permutation(table.names).tolist()
    assert dagora.learn(table.select(shuffled)).graph.reorder(table.names) == found.graph
    assert "auto ends after" not in dagora.learn(table, time_limit=0.5).message


def test_without_a_limit_it_ends_by_itself_and_says_so(monkeypatch):
    """As on a table so wide that the search over orders would take long."""
    table = table_of("discrete", 0)
    monkeypatch.setattr(module, "OWN_SECONDS", 1e-6)
    assert "auto ends after" not in dagora.learn(table).message, "few columns have no such limit"
    monkeypatch.setattr(module, "WIDE", 9)
    found = dagora.learn(table)
    assert found.status == "finished"
    assert "with no time limit, auto ends after about 1e-06 s (time_limit allows more)" in found.message
    assert found.score >= dagora.learn(table, method="tabu").score
    limited = dagora.learn(table, time_limit=100)
    assert "auto ends after" not in limited.message


@pytest.mark.parametrize(("passed", "left"), [(0, 240), (100, 140), (200, 120)])
def test_the_search_over_orders_has_the_rest_of_its_time_or_half(monkeypatch, passed, left):
    asked = Run()
    monkeypatch.setattr(Budget, "elapsed", passed)
    assert module.OwnLimit.of(asked, module.WIDE + 1).run.budget.limit == left
    assert module.OwnLimit.of(asked, module.WIDE).run is asked


def test_knowledge_is_obeyed_by_the_graph_in_name_order():
    table = table_of("discrete", 1)
    last, first = max(table.names), min(table.names)
    plain = dagora.learn(table)
    tiers = [[last], [name for name in table.names if name != last]]
    found = dagora.learn(table, knowledge={"tiers": tiers, "required": [[last, first]]})
    assert (last, first) in found.graph.edges
    assert not any(head == last for _, head in found.graph.edges)
    assert found.score <= plain.score + 1e-6
