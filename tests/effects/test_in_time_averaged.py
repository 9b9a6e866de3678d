"""Effects in time averaged over graphs, against each graph by itself."""

import numpy as np
import pytest

import dagora
from dagora.api.network_in_time import read_histories
from dagora.base.errors import GraphError
from dagora.data.series import Timing
from dagora.effects.in_time import effect_in_time
from dagora.effects.in_time_averaged import average_effect_in_time
from dagora.graph.lagged_graph import LaggedGraph
from dagora.network.time.fitting import window_rows

ACTS = LaggedGraph("xy", 1, [("x", "x", 1), ("x", "y", 1), ("y", "y", 1)])
APART = LaggedGraph("xy", 1, [("x", "x", 1), ("y", "y", 1)])


@pytest.fixture(scope="module")
def data() -> dict[str, list]:
    rng = np.random.default_rng(1)
    x, y = [0.0], [0.0]
    for _ in range(199):
        x.append(0.5 * x[-1] + rng.normal())
        y.append(0.4 * y[-1] + 0.3 * x[-2] + rng.normal())
    return {"t": list(range(200)), "x": x, "y": y}


def test_a_mean_over_graphs_counts_each_by_its_weight(data: dict[str, list]) -> None:
    windows = window_rows(read_histories(ACTS, data, Timing("t"), {})[0], ACTS)
    alone = effect_in_time(ACTS, windows, "x", "y", 2, 1.0)
    found = average_effect_in_time([(ACTS, 3.0), (APART, 1.0)], windows, "x", "y", 2, 1.0, seed=0)
    assert found.cause_probability == pytest.approx((0.0, 0.75, 0.75))
    for ahead in (1, 2):
        assert found.curve[ahead].value == pytest.approx(0.75 * alone.curve[ahead].value)
        assert found.kept[ahead].value == pytest.approx(0.75 * alone.kept[ahead].value)
        # where there is an effect, as the graph that has it says; and zero is within
        assert found.curve[ahead].high == pytest.approx(alone.curve[ahead].high, abs=0.03)
        assert found.curve[ahead].low <= 0
    sure = average_effect_in_time([(ACTS, 1.0)], windows, "x", "y", 2, -2.0, seed=0)
    one = effect_in_time(ACTS, windows, "x", "y", 2, -2.0)
    for ahead in range(3):
        assert sure.curve[ahead].value == pytest.approx(one.curve[ahead].value)
        assert sure.curve[ahead].low == pytest.approx(one.curve[ahead].low, abs=0.03)
        assert sure.curve[ahead].high == pytest.approx(one.curve[ahead].high, abs=0.03)
    assert "P(effect) 0.75" in found.to_text()


@pytest.mark.full
def test_graphs_sampled_from_series(data: dict[str, list]) -> None:
    posterior = dagora.sample(data, "partition", score="bge", time="t", lags=1, draws=200, chains=2)
    found = dagora.effect_in_time(data, "x", "y", graph=posterior, horizon=1, time="t")
    share = sum(
        weight
        for graph, weight in posterior.graphs()
        if ("x[t-1]", "y") in graph.edges or ("x", "y") in graph.edges
    )
    assert found.cause_probability[1] >= share - 0.05
    assert found.cause_probability[1] > 0.9
    assert found.curve[1].low < 0.3 < found.curve[1].high
    plain = dagora.sample({name: data[name] for name in "xy"}, "exact", score="bge", draws=50, chains=1)
    with pytest.raises(GraphError, match="none in time"):
        dagora.effect_in_time(data, "x", "y", graph=plain, time="t")
