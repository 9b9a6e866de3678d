"""What every method for rows promises on series: a graph in time, whatever it searches by."""

import json
from functools import cache

import pytest

import dagora
from dagora.data.table import Table
from dagora.graph.lagged_graph import window_names
from dagora.learners.method import Method
from dagora.learners.registry import METHODS
from dagora.learners.result import Result
from tests.contracts.test_methods import light

# A method over sites has its own way; one that names another on series cannot know what time directs.
ON_WINDOWS = [m for m in METHODS if not m.in_time and not m.instead_in_time and m.takes != "federation"]
SLOW = {"rl-bic", "rbnets", "notears-mlp", "kpc-hsic", "kpc-dc", "notears-sob", "astar", "ilp"}
each_method = pytest.mark.parametrize(
    "method",
    [pytest.param(m, marks=[pytest.mark.full] if m.name in SLOW else []) for m in ON_WINDOWS],
    ids=[m.name for m in ON_WINDOWS],
)
LAGS = 2


@cache
def series() -> Table:
    return dagora.simulate_series(dagora.random_dag("er", 4, 1.5, 1), 80, 1, lags=1, series=3).table


def learn(method: Method, table: Table, **given: object) -> Result:
    return dagora.learn(
        table, method.name, **{"time": "t", "series": "series", "lags": LAGS, **light(method), **given}
    )


def content(result: Result) -> str:
    kept = {key: value for key, value in result.to_dict().items() if key not in ("seconds", "trace", "stats")}
    return json.dumps(kept, sort_keys=True)


@each_method
def test_the_result_is_a_graph_in_time_and_survives_json(method: Method) -> None:
    result = learn(method, series(), seed=3)
    assert result.graph.nodes == window_names(series().names[2:], LAGS)
    assert result.lagged_graph is not None
    assert all("[t-" not in head for _, head in result.graph.edges)
    assert not any("[t-" in end for edge in result.graph.undirected for end in edge)
    assert result.settings["lags"] == LAGS
    assert "234 windows of 3 steps" in result.message
    assert content(Result.from_json(result.to_json())) == content(result)
    assert content(learn(method, series(), seed=3)) == content(result)
    if result.trace and method.takes in {"score", "candidates"}:
        assert result.score is not None
        assert max(point.score for point in result.trace) <= result.score + 1e-6 * abs(result.score)


@each_method
def test_a_tiny_time_limit_still_gives_a_graph_in_time(method: Method) -> None:
    result = learn(method, series(), time_limit=1e-9)
    assert result.status == "time-limit"
    assert result.lagged_graph is not None


@each_method
def test_a_forbidden_edge_from_an_earlier_step_is_not_there(method: Method) -> None:
    found = learn(method, series()).graph.edges
    lagged = next((edge for edge in found if "[t-" in edge[0]), None)
    if lagged is None or "forbidden" not in method.obeys:
        return
    again = learn(method, series(), knowledge={"forbidden": [lagged]})
    assert lagged not in again.graph.edges
