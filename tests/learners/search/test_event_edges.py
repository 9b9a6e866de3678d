"""The best graph so far, which events bring along."""

import pytest

import dagora
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.network.greenhouse import greenhouse
from dagora.network.sample import sample_network

COLUMNS = ["growth", "light", "season", "cloud", "soil", "watering", "temperature"]


@pytest.fixture(scope="module")
def table():
    return sample_network(greenhouse(), 300, seed=5).select(COLUMNS)


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
        if event.edges is not None and event.score is not None:
            told.append((event.score, DAG(COLUMNS, event.edges())))  # refuses a cycle, and other names

    result = dagora.learn(table, method, score="bic", on_event=observe, **options)
    assert told
    for score, graph in (told[0], told[len(told) // 2], told[-1]):
        assert dagora.score(table, graph, "bic") == pytest.approx(score)
    assert told[-1][0] == pytest.approx(result.score)
    assert told[-1][1].edges


@pytest.fixture(scope="module")
def numbers():
    graph = dagora.random_dag("er", 7, 1.5, seed=3)
    return dagora.simulate(graph, "gaussian", 300, seed=1).table


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("notears", {}),
        ("notears", {"published": True}),
        ("boss", {"starts": 3}),
        ("pc", {}),
        ("dual-pc", {}),
        pytest.param("rl-bic", {"rounds": 3, "hidden": 8, "heads": 2, "blocks": 1}, marks=pytest.mark.slow),
    ],
)
def test_who_looks_at_graphs_on_the_way_changes_nothing(numbers, method, options):
    """Steps of the solver that somebody looks at are the same steps, whatever is made for that."""
    seen = []

    def look(event):
        if event.edges is not None:
            seen.append(DAG(numbers.schema.names, event.edges()))  # refuses a cycle, and other names
        if event.lines is not None:
            seen.append(CPDAG(numbers.schema.names, (), event.lines()))

    alone = dagora.learn(numbers, method, seed=1, **options)
    watched = dagora.learn(numbers, method, seed=1, on_event=look, **options)
    assert seen
    for name in ("graph", "score", "status", "message", "weights", "separating_sets", "warnings"):
        one, other = getattr(alone, name), getattr(watched, name)
        assert (one == other).all() if name == "weights" and one is not None else one == other
    timeless = [
        {key: value for key, value in result.stats.items() if "seconds" not in key}
        for result in (alone, watched)
    ]
    assert timeless[0] == timeless[1]
    assert [point.score for point in alone.trace] == [point.score for point in watched.trace]


@pytest.mark.full
def test_the_last_graph_on_the_way_is_near_the_result(numbers):
    def last(method, **options):
        seen = []
        result = dagora.learn(numbers, method, on_event=lambda event: seen.append(of(event)), **options)
        return next(edges for edges in reversed(seen) if edges is not None), result.graph

    def of(event):
        made = event.edges or event.lines
        return None if made is None else made()

    for options in ({}, {"published": True}):
        edges, graph = last("notears", **options)
        assert len(set(edges) ^ set(graph.edges)) <= 2  # after it comes what is not told, such as a refit
    edges, graph = last("boss", starts=3)  # the last one is of a step over classes, or of the best order
    assert {frozenset(edge) for edge in edges} == {frozenset(edge) for edge in graph.edges + graph.undirected}
    lines, graph = last("pc")
    assert {frozenset(edge) for edge in lines} >= {frozenset(edge) for edge in graph.edges + graph.undirected}


def test_orders_show_the_best_of_those_that_were_improved(numbers):
    """The graph of the order phase is the one from which the search over classes starts."""
    told = []
    result = dagora.learn(
        numbers,
        "boss",
        starts=4,
        on_event=lambda event: told.append(event.edges()) if event.phase == "orders" else None,
    )
    best = dagora.score(numbers, DAG(numbers.schema.names, told[-1]), result.score_name)
    assert best == pytest.approx(result.stats["order_score"])


def test_rounds_of_structural_em_bring_a_graph_too(table):
    frame = table.to_pandas()
    frame.loc[::9, "soil"] = None
    seen = []
    result = dagora.learn(frame, "ges", em_rounds=2, on_event=seen.append)
    rounds = [event for event in seen if event.phase == "structural EM"]
    assert rounds[-1].score == result.score
    assert CPDAG.from_dag(DAG(COLUMNS, rounds[-1].edges())) == result.graph
