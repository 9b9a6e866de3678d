"""What is said of series: random walks that were joined, drift, changes; and that steady series have no warning."""

import re

import numpy as np
import pytest

import dagora
from dagora.data.table import Table
from dagora.learners.result import Result


def table_of(columns: np.ndarray) -> Table:
    names = ["t", *"xyz"[: columns.shape[1]]]
    return Table.from_numpy(np.column_stack([np.arange(len(columns)), columns]), names, continuous=["all"])


def learn(columns: np.ndarray, method: str = "auto", **given: object) -> Result:
    return dagora.learn(table_of(columns), method, time="t", **{"lags": 2, **given})


@pytest.mark.parametrize("method", ["auto", "pc", "dynotears"])
def test_independent_random_walks_are_apart_or_the_edge_is_not_trusted(method: str) -> None:
    joined = 0
    for seed in range(20):
        walks = np.random.default_rng(seed).normal(size=(300, 2)).cumsum(axis=0)
        result = learn(walks, method)
        between = [
            edge
            for edge in (*result.graph.edges, *result.graph.undirected)
            if {re.sub(r"\[.*", "", end) for end in edge} == {"x", "y"}
        ]
        joined += bool(between)
        told = [line for line in result.warnings if "a unit root is not ruled out" in line]
        if between:
            (line,) = told
            assert "'x', 'y' may be random walks" in line
            assert "do not trust" in line
            assert f"{between[0][0]} → {between[0][1]}" in line
            assert "differences" in line
    if method != "dynotears":
        assert joined <= 4


@pytest.mark.full
def test_steady_series_have_no_such_warning() -> None:
    alarms = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        x = np.zeros((300, 2))
        for t in range(1, 300):
            x[t] = 0.6 * x[t - 1] + rng.normal(size=2)
            x[t, 1] += 0.8 * x[t, 0]
        alarms += any("random walk" in w or "drift" in w or "stay the same" in w for w in learn(x).warnings)
    assert alarms <= 2


def test_drift_is_said() -> None:
    rng = np.random.default_rng(1)
    line = 0.03 * np.arange(400)[:, None] + rng.normal(size=(400, 2))
    (told,) = [w for w in learn(line, "tabu").warnings if "drift along a line" in w]
    assert told.startswith("'x', 'y' drift along a line")


@pytest.mark.parametrize("method", ["auto", "ges", "pc", "dynotears"])
def test_relations_that_change_are_said(method: str) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(600, 2))
    x[1:300, 1] += 1.5 * x[:299, 0]
    x[300:, 1] -= 0.4 * x[299:-1, 0]
    (told,) = [w for w in learn(x, method, lags=1).warnings if "not stay the same" in w]
    found = re.search(r"'y' around step (\d+)", told)
    assert found is not None
    assert abs(int(found[1]) - 300) < 40


def test_edges_between_columns_that_share_a_season_are_not_trusted() -> None:
    rng = np.random.default_rng(1)
    wave = 2 * np.sin(np.arange(300) * np.pi / 6)[:, None]
    result = learn(rng.normal(size=(300, 3)) + wave * [1, 1, 0], "tabu", score="bic-gaussian")
    (told,) = [w for w in result.warnings if "season" in w]
    assert told.startswith("'x', 'y' share a cycle of 12 steps: edges between such columns may stand for")
    assert "do not trust y → x" in told
    assert "differences to 12 steps before, or add a column that tells the season" in told


def test_runs_that_are_too_short_for_a_test_of_random_walks_are_told() -> None:
    walks = np.random.default_rng(1).normal(size=(400, 2)).cumsum(axis=0)
    walks[:, 1] += walks[:, 0]
    rows = np.column_stack([np.arange(400), walks])[np.arange(400) % 16 != 15]
    found = dagora.learn(Table.from_numpy(rows, ["t", "x", "y"], continuous=["all"]), "tabu", time="t")
    assert any("whether columns are random walks was not tested" in line for line in found.warnings)
    assert not any("was not tested" in line for line in learn(walks, "tabu").warnings)
