"""VAR-LiNGAM: its closed form, graphs found in simulated series, knowledge and refusals."""

import numpy as np
import pytest

import dagora
from dagora.base.errors import DataError, OptionError
from dagora.data.table import Table


def simulated(steps: int, seed: int, normal: bool = False) -> tuple[Table, np.ndarray, np.ndarray]:
    """A series of three variables, x → y → z within a step, with B_0 and B_1: [i, j] is the weight of j in i."""
    rng = np.random.default_rng(seed)
    within = np.array([[0.0, 0.0, 0.0], [0.8, 0.0, 0.0], [0.0, -0.7, 0.0]])
    before = np.array([[0.6, 0.0, 0.3], [0.0, 0.4, 0.0], [0.0, 0.0, 0.5]])
    noise = rng.normal(size=(steps, 3)) if normal else rng.uniform(-1, 1, size=(steps, 3))
    mixing = np.linalg.inv(np.eye(3) - within)
    x = np.zeros((steps, 3))
    for t in range(1, steps):
        x[t] = mixing @ (before @ x[t - 1] + noise[t])
    rows = np.column_stack([np.arange(steps), x])
    return Table.from_numpy(rows, ["t", "x", "y", "z"], continuous=["all"]), within, before


def closed_form(table: Table, lags: int, order: list[int]) -> np.ndarray:
    """B_0 and B_k = (I − B_0) M_k: M by least squares, B_0 from regressions of the residuals along an order."""
    x = np.stack(table.columns[1:], axis=1)
    n, d = x.shape
    now = x[lags:] - x[lags:].mean(axis=0)
    past = [x[lags - k : n - k] - x[lags - k : n - k].mean(axis=0) for k in range(1, lags + 1)]
    slopes = np.linalg.lstsq(np.hstack(past), now, rcond=None)[0].T
    left = now - np.hstack(past) @ slopes.T
    own = np.zeros((d, d))
    for k, child in enumerate(order[1:], 1):
        own[child, order[:k]] = np.linalg.lstsq(left[:, order[:k]], left[:, child], rcond=None)[0]
    blocks = [own, *((np.eye(d) - own) @ slopes[:, k * d : (k + 1) * d] for k in range(lags))]
    return np.vstack([block.T for block in blocks])


@pytest.mark.parametrize("lags", [1, 2])
def test_weights_are_the_closed_form_along_the_order(lags: int) -> None:
    table, _, _ = simulated(1500, 1)
    result = dagora.learn(table, "var-lingam", time="t", lags=lags, prune=False)
    assert result.weights is not None
    np.testing.assert_allclose(result.weights[:, :3], closed_form(table, lags, [0, 1, 2]), atol=1e-8)
    assert not result.weights[:, 3:].any()
    assert result.lagged_graph is not None
    assert len(result.lagged_graph.lagged) == 9 * lags


@pytest.mark.parametrize("seed", range(5))
def test_the_graph_and_its_weights_are_found(seed: int) -> None:
    table, within, before = simulated(3000, seed)
    result = dagora.learn(table, "var-lingam", time="t")
    names = ("x", "y", "z")
    truth = {(names[j], names[i], 0) for i, j in np.argwhere(within)}
    truth |= {(names[j], names[i], 1) for i, j in np.argwhere(before)}
    assert result.lagged_graph is not None
    assert truth <= set(result.lagged_graph.edges)
    assert len(set(result.lagged_graph.edges) - truth) <= 1
    np.testing.assert_allclose(result.weights[:3, :3].T, within, atol=0.08)
    np.testing.assert_allclose(result.weights[3:, :3].T, before, atol=0.08)
    assert not result.class_only


def test_normal_noise_is_said() -> None:
    table, _, _ = simulated(800, 0, normal=True)
    result = dagora.learn(table, "var-lingam", time="t")
    assert any(
        "residuals may be normal in 3 of 3 columns ('x', 'y', 'z')" in line for line in result.warnings
    )


def test_knowledge_is_obeyed() -> None:
    table, _, _ = simulated(800, 0)
    known = {"forbidden": [["x", "y"]], "required": [["z[t-1]", "y"], ["z", "x"]]}
    found = dagora.learn(table, "var-lingam", time="t", knowledge=known).graph.edges
    assert ("x", "y") not in found
    assert {("z[t-1]", "y"), ("z", "x")} <= set(found)


def test_refuses_rows_without_time_and_levels() -> None:
    table, _, _ = simulated(100, 0)
    with pytest.raises(OptionError, match="learns from series: time says which column"):
        dagora.learn(table, "var-lingam")
    frame = table.to_pandas()
    frame["kind"] = ["a", "b"] * 50
    with pytest.raises(DataError, match="'kind'"):
        dagora.learn(frame, "var-lingam", time="t")


@pytest.mark.parametrize("seed", range(3))
def test_the_order_is_that_of_what_the_past_leaves(seed: int) -> None:
    """What x was before is a common cause of both: as rows, the columns show the direction the other way."""
    rng = np.random.default_rng(seed)
    x = np.zeros((2000, 2))
    for t in range(1, 2000):
        x[t, 0] = 0.9 * x[t - 1, 0] + rng.uniform(-1, 1)
        x[t, 1] = 0.3 * x[t, 0] - 1.5 * x[t - 1, 0] + 0.3 * rng.uniform(-1, 1)
    table = Table.from_numpy(np.column_stack([np.arange(2000), x]), ["t", "x", "y"], continuous=["all"])
    found = dagora.learn(table, "var-lingam", time="t").lagged_graph
    assert found is not None
    assert found.within.edges == (("x", "y"),)
    assert {("x", "x", 1), ("x", "y", 1)} <= set(found.edges)
