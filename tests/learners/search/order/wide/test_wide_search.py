"""The search over orders of many continuous columns, as `boss` and `auto` take it."""

import pytest

import dagora
from dagora.graph.cpdag import CPDAG

COLUMNS = 110
TABLE = dagora.simulate(dagora.random_dag("er", COLUMNS, 2, seed=7), "gaussian", 300, seed=7).table


@pytest.mark.full
def test_boss_and_auto_score_at_least_as_well_as_tabu() -> None:
    tabu = dagora.learn(TABLE, "tabu")
    boss = dagora.learn(TABLE, "boss", jobs=2)
    auto = dagora.learn(TABLE)
    assert isinstance(boss.graph, CPDAG)
    assert boss.score > tabu.score
    assert auto.score > tabu.score
    for result in (boss, auto):
        assert result.score == pytest.approx(
            dagora.score(TABLE, result.graph, penalty=result.settings["penalty"])
        )
        assert result.status == "local-optimum"
    assert boss.graph == dagora.learn(TABLE, "boss", jobs=1).graph


@pytest.mark.full
def test_knowledge_is_obeyed() -> None:
    names = TABLE.names
    found = dagora.learn(TABLE, "boss", max_parents=2)
    tail, head = found.graph.extension().edges[0]
    apart = {"forbidden": [(tail, head), (head, tail)], "max_parents": 2}
    others = dagora.learn(TABLE, "boss", knowledge=apart).graph.extension()
    assert not others.has_edge(tail, head)
    assert not others.has_edge(head, tail)
    assert max(len(others.parents(name)) for name in names) <= 2
    # Directions that are known are no matter of orders alone: there, auto searches as it does on few columns.
    tiers = dagora.learn(TABLE, knowledge={"tiers": [names[:60], names[60:]]}, time_limit=3).graph
    assert all(not (tail in names[60:] and head in names[:60]) for tail, head in tiers.edges)


@pytest.mark.full
def test_time_that_is_up_leaves_a_graph() -> None:
    result = dagora.learn(TABLE, "boss", starts=50, time_limit=1.0)
    assert result.status == "time-limit"
    assert "of 50 orders ended" in result.message
    assert result.score == pytest.approx(
        dagora.score(TABLE, result.graph, penalty=result.settings["penalty"])
    )
