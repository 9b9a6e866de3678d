"""The best graph so far, which events bring along."""

import pytest

import dagora
from dagora.demo_network import greenhouse
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.network.sample import sample

COLUMNS = ["growth", "light", "season", "cloud", "soil", "watering", "temperature"]


@pytest.fixture(scope="module")
def table():
    return sample(greenhouse(), 300, seed=5).select(COLUMNS)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("hill-climb", {}),
        ("tabu", {"restarts": 2}),
        ("ges", {}),
        ("boss", {"starts": 2}),
        ("k2", {}),
        ("order-search", {}),
        ("obs", {"restarts": 5}),
        ("asobs", {"orders": 50}),
        ("auto", {}),
    ],
)
def test_edges_are_those_of_a_graph_with_the_score_of_the_event(table, method, options):
    told = []

    def observe(event):
        if event.edges is not None:
            told.append((event.score, DAG(COLUMNS, event.edges())))  # refuses a cycle, and other names

    result = dagora.learn(table, method, score="bic", on_event=observe, **options)
    assert told
    for score, graph in (told[0], told[len(told) // 2], told[-1]):
        assert dagora.score(table, graph, "bic") == pytest.approx(score)
    assert told[-1][0] == pytest.approx(result.score)
    assert told[-1][1].edges


def test_rounds_of_structural_em_bring_a_graph_too(table):
    frame = table.to_pandas()
    frame.loc[::9, "soil"] = None
    seen = []
    result = dagora.learn(frame, "ges", em_rounds=2, on_event=seen.append)
    rounds = [event for event in seen if event.phase == "structural EM"]
    assert rounds[-1].score == result.score
    assert CPDAG.from_dag(DAG(COLUMNS, rounds[-1].edges())) == result.graph
