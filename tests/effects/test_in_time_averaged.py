"""Effects in time averaged over graphs, against each graph by itself."""

import numpy as np
import pytest

import dagora
from dagora.api.network_in_time import read_histories
from dagora.base.errors import DagoraError, GraphError, OptionError
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
    found = average_effect_in_time([(ACTS, 3.0), (APART, 1.0)], windows, "x", "y", 2, 1.0, 0, "")
    assert found.cause_probability == pytest.approx((0.0, 0.75, 0.75))
    for ahead in (1, 2):
        assert found.curve[ahead].value == pytest.approx(0.75 * alone.curve[ahead].value)
        assert found.kept[ahead].value == pytest.approx(0.75 * alone.kept[ahead].value)
        # where there is an effect, as the graph that has it says; and zero is within
        assert found.curve[ahead].high == pytest.approx(alone.curve[ahead].high, abs=0.03)
        assert found.curve[ahead].low <= 0
    sure = average_effect_in_time([(ACTS, 1.0)], windows, "x", "y", 2, -2.0, 0, "")
    one = effect_in_time(ACTS, windows, "x", "y", 2, -2.0)
    for ahead in range(3):
        assert sure.curve[ahead].value == pytest.approx(one.curve[ahead].value)
        assert sure.curve[ahead].low == pytest.approx(one.curve[ahead].low, abs=0.03)
        assert sure.curve[ahead].high == pytest.approx(one.curve[ahead].high, abs=0.03)
    assert "  in 0.75 of graphs  kept: " in found.to_text()


def test_without_a_graph_the_effect_is_averaged_over_graphs_of_the_rows(data: dict[str, list]) -> None:
    found = dagora.effect_in_time(data, "x", "y", horizon=1, time="t", draws=100, seed=1)
    posterior = dagora.sample(data, "exact", time="t", draws=100, seed=1)
    same = dagora.effect_in_time(data, "x", "y", graph=posterior, horizon=1, time="t", seed=1)
    assert found.to_dict() == same.to_dict()
    assert found.notes == ("averaged over 400 graphs, exact draws from their posterior (exact, bge)",)
    assert found.cause_probability[1] > 0.9
    assert found.curve[1].low < 0.3 < found.curve[1].high
    sampled = dagora.effect_in_time(data, "x", "y", method="bootstrap", horizon=1, time="t", samples=10)
    assert "10 of the class learned from each of 10 samples" in sampled.notes[0]


def test_a_learner_is_named_and_its_class_is_averaged_over(data: dict[str, list]) -> None:
    found = dagora.effect_in_time(data, "x", "y", method="tabu", horizon=1, time="t", lags="auto")
    assert any("learned from these rows by tabu and is taken as true" in note for note in found.notes)
    assert not found.cause_probability
    rng = np.random.default_rng(3)
    x = rng.normal(size=300)
    rows = {"t": list(range(300)), "x": x, "y": 0.7 * x + rng.normal(size=300)}
    class_ = LaggedGraph("xy", 1, undirected=[("x", "y")])
    for asked in ({"graph": class_}, {"graph": class_.window}, {"method": "ges"}):
        open_ = dagora.effect_in_time(rows, "x", "y", horizon=0, time="t", **asked)
        assert open_.cause_probability[0] == pytest.approx(0.5, abs=0.12)
        assert open_.curve[0].low <= 0 <= 0.6 < open_.curve[0].high
        assert any("graphs drawn from the class" in note for note in open_.notes)


def test_what_no_path_leads_to_is_exactly_zero() -> None:
    """Rounding is no effect: five variables in a chain, and one that nothing leads to."""
    rng = np.random.default_rng(1)
    rows = {"t": list(range(100)), **{name: rng.normal(size=100) for name in "abcdef"}}
    graph = LaggedGraph("abcdef", 1, [(*pair, 0) for pair in ("ab", "bc", "cd", "de", "ac", "be", "fb")])
    for x, y in (("e", "a"), ("d", "f"), ("e", "f"), ("c", "b")):
        found = dagora.effect_in_time(rows, x, y, graph=graph, horizon=2, time="t")
        assert all((one.value, one.low, one.high) == (0, 0, 0) for one in (*found.curve, *found.kept))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"graph": ACTS, "lags": 2}, "a graph is given: leave lags out"),
        ({"graph": ACTS, "method": "exact"}, "a graph is given: leave method out"),
        ({"lags": "auto"}, "samplers take a number of lags"),
        ({"method": "svar-rfci"}, "this is a PAG"),
        ({"drawz": 3}, "drawz"),
    ],
)
def test_what_does_not_fit_is_refused(data: dict[str, list], asked: dict, said: str) -> None:
    with pytest.raises(DagoraError, match=said):
        dagora.effect_in_time(data, "x", "y", time="t", **asked)
    with pytest.raises(OptionError, match="no variable 'w'"):
        dagora.effect_in_time(data, "w", "y", time="t")
    with pytest.raises(OptionError, match="effect_in_time"):
        dagora.effect(data, "x", "y", time="t")


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
