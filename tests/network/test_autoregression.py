"""Simulated series: stable, of the model that they say, and the same for the same seed."""

import numpy as np
import pytest

import dagora
from dagora.base.errors import OptionError
from dagora.network.autoregression import LARGEST_ROOT, largest_root, simulate_series


def test_rows_follow_the_model() -> None:
    """What is left of a row when its parents are taken off is the noise: independent of them, of variance 1."""
    made = simulate_series(dagora.random_dag("er", 4, 1.5, 2), 4000, 2, lags=2)
    rows = np.transpose(made.table.columns[2:])
    windows = np.hstack([rows[2:], rows[1:-1], rows[:-2]])
    noise = rows[2:] - windows @ made.weights[:, :4]
    np.testing.assert_allclose(noise.std(axis=0), 1.0, atol=0.05)
    assert np.abs(np.corrcoef(noise.T, windows[:, 4:].T)[:4, 4:]).max() < 0.06
    assert {(a, b) for a, b in made.graph.window.edges} == {
        (made.graph.window.nodes[i], made.graph.window.nodes[j]) for i, j in np.argwhere(made.weights)
    }


@pytest.mark.parametrize(("nodes", "lags"), [(5, 1), (30, 3)])
def test_series_are_stable_also_where_no_draw_is(nodes: int, lags: int) -> None:
    made = simulate_series(dagora.random_dag("er", nodes, 3.0, 1), 300, 1, lags=lags)
    blocks = [made.weights[k * nodes : (k + 1) * nodes, :nodes] for k in range(lags + 1)]
    assert largest_root(blocks[0], blocks[1:]) == pytest.approx(made.root)
    assert made.root <= LARGEST_ROOT + 1e-9


def test_weights_depend_on_the_seed_alone() -> None:
    graph = dagora.random_dag("er", 5, 1.0, 0)
    one, two = simulate_series(graph, 10, 3), simulate_series(graph, 20, 3, series=2)
    assert (one.weights == two.weights).all()
    assert simulate_series(graph, 10, 3).table.equals(one.table)
    assert (simulate_series(graph, 10, 4).weights != one.weights).any()
    assert two.table.n_rows == 40


@pytest.mark.parametrize(
    "wrong", [{"lags": 0}, {"series": 0}, {"lagged_degree": -1}, {"noise": "pink"}, {"noise_scale": 0}]
)
def test_wrong_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(OptionError):
        simulate_series(dagora.DAG("ab"), 10, 0, **wrong)
    with pytest.raises(OptionError, match="named 't'"):
        simulate_series(dagora.DAG(["t", "x"]), 10, 0)
