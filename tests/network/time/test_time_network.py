"""A fitted network in time: forecasts and their coverage, settings, gaps, scores of rows, files."""

from dataclasses import replace

import numpy as np
import pytest

import dagora
from dagora.base.errors import DataError, GraphError, OptionError, QueryError
from dagora.graph.lagged_graph import LaggedGraph
from dagora.network.networks import DiscreteNetwork
from dagora.network.time.open_parameters import mixture_quantile
from dagora.network.time.time_network import TimeNetwork
from tests.network.time.time_oracles import discrete_network, gaussian_network, mixed_network, stacked_normal

VAR = LaggedGraph("xy", 1, [("x", "x", 1), ("x", "y", 1), ("y", "y", 1)])


def simulated(rng: np.random.Generator, steps: int, burn: int = 50) -> np.ndarray:
    """x_t = 0.6 x + e, y_t = 0.5 y + 0.7 x + e."""
    values = np.zeros((steps + burn, 2))
    for t in range(1, len(values)):
        x, y = values[t - 1]
        values[t] = (0.6 * x + rng.normal(), 0.5 * y + 0.7 * x + 0.5 * rng.normal())
    return values[burn:]


def as_data(values: np.ndarray) -> dict[str, list]:
    return {"t": list(range(1, len(values) + 1)), "x": values[:, 0].tolist(), "y": values[:, 1].tolist()}


def test_a_forecast_follows_from_the_last_row() -> None:
    values = simulated(np.random.default_rng(1), 100)
    network = dagora.fit(VAR, as_data(values), time="t")
    found = network.forecast(as_data(values), 3)
    window = network.window
    x, y = values[-1]
    expected = []
    for _ in range(3):
        x, y = (
            window.intercepts["x"] + window.coefficients["x"] @ [x],
            window.intercepts["y"] + window.coefficients["y"] @ [x, y],
        )
        expected.append((x, y))
    assert np.column_stack([found.mean("x"), found.mean("y")]) == pytest.approx(np.array(expected))
    assert found.one().times == ("101", "102", "103")
    assert found.one().steps == (1, 2, 3)
    assert (found.sd("x") > window.sds["x"]).all()  # parameters are not known exactly
    assert found.sd("x")[0] == pytest.approx(window.sds["x"], rel=0.05)


def test_forecasts_without_rows_behind_the_parameters_hold_the_noise_alone() -> None:
    network = TimeNetwork(gaussian_network(VAR, seed=2))
    data = as_data(np.array([[0.3, 0.1], [1.0, -0.5]]))
    found = network.forecast(data, 4, time="t", continuous=["all"])
    mean, covariance = stacked_normal(network.steps, 6)
    known, rest = slice(0, 4), slice(4, 12)
    weights = covariance[rest, known] @ np.linalg.inv(covariance[known, known])
    flat = np.array([0.3, 0.1, 1.0, -0.5])
    expected = (mean[rest] + weights @ (flat - mean[known])).reshape(4, 2)
    spread = np.diag(covariance[rest, rest] - weights @ covariance[known, rest]).reshape(4, 2)
    assert np.column_stack([found.mean("x"), found.mean("y")]) == pytest.approx(expected)
    assert np.column_stack([found.sd("x"), found.sd("y")]) == pytest.approx(np.sqrt(spread))
    low, high = found.interval("x")[0]
    assert (high - low) / 2 == pytest.approx(1.959964 * found.sd("x")[0])
    assert any("parameters are taken as known" in note for note in found.notes)


@pytest.mark.full
def test_intervals_hold_what_comes_as_often_as_they_say() -> None:
    inside, total = np.zeros(2), 0
    for seed in range(400):
        values = simulated(np.random.default_rng(seed), 64)
        found = dagora.fit(VAR, as_data(values[:60]), time="t").forecast(as_data(values[:60]), 4, seed=seed)
        for k, name in enumerate("xy"):
            low, high = found.interval(name).T
            inside[k] += ((low <= values[60:, k]) & (values[60:, k] <= high)).sum()
        total += 4
    assert (inside / total >= 0.93).all()
    assert (inside / total <= 0.97).all()


def test_intervals_far_ahead_do_not_grow_with_the_largest_draw_of_the_parameters() -> None:
    graph = LaggedGraph(("x",), 1, [("x", "x", 1)])
    for seed in range(4):
        noise, x = np.random.default_rng(seed).normal(size=65), np.zeros(65)
        for t in range(1, 65):
            x[t] = 0.5 * x[t - 1] + noise[t]
        data = {"t": np.arange(15), "x": x[50:]}
        network = dagora.fit(graph, data, time="t", continuous=["x"])
        found = network.forecast(data, 200, continuous=["x"])
        alone = dagora.TimeNetwork(replace(network.window, origin=None), network.timing)
        noise_alone = alone.forecast(data, 200, continuous=["x"]).interval("x")
        low, high = found.interval("x").T
        widened = (high - low) / (noise_alone[:, 1] - noise_alone[:, 0])
        assert 0.95 < widened.min() < widened.max() < 3
        assert found.sd("x").max() < 5 * found.sd("x")[0]


def test_ends_of_intervals_are_quantiles_of_what_all_draws_say() -> None:
    rng = np.random.default_rng(3)
    means, sds = rng.normal(size=(30, 2)), rng.uniform(0.1, 2, (30, 2))
    drawn = (means[:, None] + sds[:, None] * rng.standard_normal((30, 20_000, 2))).reshape(-1, 2)
    for share in (0.025, 0.5, 0.975):
        assert mixture_quantile(means, sds, share) == pytest.approx(
            np.quantile(drawn, share, axis=0), abs=0.03
        )
    assert mixture_quantile(np.full((5, 1), 3.0), np.zeros((5, 1)), 0.975).tolist() == [3.0]


def test_a_long_forecast_says_that_few_draws_are_behind_its_intervals() -> None:
    values = simulated(np.random.default_rng(1), 60)
    network = dagora.fit(VAR, as_data(values), time="t")
    assert not any("rough" in note for note in network.forecast(as_data(values), 100).notes)
    assert any("rest on 49 draws" in note for note in network.forecast(as_data(values), 400).notes)


def test_rows_with_another_step_than_those_of_the_network_are_told(tmp_path) -> None:
    values = simulated(np.random.default_rng(1), 40)
    rows = as_data(values)
    months = rows | {"t": [str(month) for month in np.arange("2020-01", "2023-05", dtype="datetime64[M]")]}
    days = rows | {"t": [str(day) for day in np.arange("2020-01-01", "2020-02-10", dtype="datetime64[D]")]}
    pairs = months | {
        "t": [str(month) for month in np.arange("2000-01", "2006-09", 2, dtype="datetime64[M]")]
    }
    dagora.write_network(dagora.fit(VAR, months, time="t"), tmp_path / "monthly.json")
    network = dagora.TimeNetwork(dagora.read_network(tmp_path / "monthly.json"))
    assert network.window.origin.step == "1 month"
    for other, said in ((days, "1 day"), (pairs, "2 months"), (rows, "1")):
        told = f"fitted to steps of 1 month, and those of these rows are {said}:"
        for answer in (network.forecast(other, 2, time="t"), network.smooth(other, time="t")):
            assert any(told in note for note in answer.notes)
        assert any(told in note for note in network.score_rows(other, time="t").notes)
        assert any(told in note for note in network.fill(other, time="t").warnings)
    assert not any("fitted to steps" in note for note in network.forecast(months, 2, time="t").notes)


def test_a_setting_at_one_step_and_at_all() -> None:
    values = simulated(np.random.default_rng(1), 100)
    network = dagora.fit(VAR, as_data(values), time="t")
    once = network.forecast(as_data(values), 3, do={"x@t+1": 2})
    slopes = network.window.coefficients
    assert once.mean("x")[0] == 2.0
    assert once.sd("x")[0] == 0.0
    assert once.mean("x")[1] == pytest.approx(network.window.intercepts["x"] + 2 * slopes["x"][0])
    kept = network.forecast(as_data(values), 3, do={"x": "2"})
    assert kept.mean("x").tolist() == [2.0, 2.0, 2.0]
    plain = network.forecast(as_data(values), 3)
    assert kept.mean("y")[0] == pytest.approx(plain.mean("y")[0])  # x acts one step later
    assert kept.mean("y")[2] != pytest.approx(once.mean("y")[2])
    assert any("taken as causes" in note for note in kept.notes)
    far = network.forecast(as_data(values), 1, do={"x": 1000})
    assert any("outside of the rows: x = 1000" in note for note in far.notes)


def test_times_of_the_calendar_go_on() -> None:
    months = [f"{2020 + k // 12}-{k % 12 + 1:02}" for k in range(30)]
    rng = np.random.default_rng(1)
    data = {"month": months, "x": rng.normal(size=30).tolist(), "y": rng.normal(size=30).tolist()}
    network = dagora.fit(VAR, data, time="month")
    assert network.forecast(data, 3).one().times == ("2022-07", "2022-08", "2022-09")


def test_a_series_with_gaps_is_smoothed_and_filled() -> None:
    values = simulated(np.random.default_rng(3), 60)
    network = dagora.fit(VAR, as_data(values), time="t")
    data = as_data(values)
    data["x"][20] = None
    data = {name: [cell for t, cell in enumerate(column) if t != 40] for name, column in data.items()}
    smooth = network.smooth(data)
    assert len(smooth.one().times) == 60  # the missing step is there
    assert smooth.sd("x")[40] > 0
    filled = dagora.impute(network, data, time="t")
    assert [(cell.row, cell.column) for cell in filled.cells] == [(21, "x")]
    assert filled.cells[0].value == pytest.approx(smooth.mean("x")[20])
    assert filled.cells[0].sd == pytest.approx(smooth.sd("x")[20])
    assert filled.table.n_rows == 59
    at = filled.table.schema.index("x")
    kept = np.delete(np.array(data["x"], dtype=float), 20)
    assert np.delete(filled.table.values(at), 20).tolist() == kept.tolist()
    assert any("1 step without a row" in warning for warning in filled.warnings)


def test_an_unusual_row_is_found() -> None:
    values = simulated(np.random.default_rng(3), 200)
    network = dagora.fit(VAR, as_data(values), time="t")
    values[120, 1] += 8
    found = network.score_rows(as_data(values))
    assert len(found.rows) == 199
    assert found.unusual()[0].row == 121
    p_values = np.array([row.p_value for row in found.rows if row.row not in (121, 122)])
    assert p_values.mean() == pytest.approx(0.5, abs=0.07)
    window, (x, y) = network.window, values[9]
    means = (
        window.intercepts["x"] + window.coefficients["x"] @ [x],
        window.intercepts["y"] + window.coefficients["y"] @ [x, y],
    )
    sds = np.array([window.sds["x"], window.sds["y"]])
    z = (values[10] - means) / sds
    row = next(one for one in found.rows if one.row == 11)
    assert row.surprise == pytest.approx(0.5 * (z @ z) + np.log(sds).sum() + np.log(2 * np.pi))
    assert row.p_value == pytest.approx(np.exp(-0.5 * (z @ z)))  # χ² with two degrees of freedom


def test_a_hidden_variable_has_a_most_probable_history() -> None:
    graph = LaggedGraph(("state", "sign"), 1, [("state", "state", 1), ("state", "sign", 0)])
    network = TimeNetwork(discrete_network(graph, {"state": 2, "sign": 2}, seed=8))
    data = {"t": [1, 2, 3, 4], "sign": ["sign0", "sign1", "sign1", "sign0"]}
    found = network.fill(data, time="t", most_probable=True)
    assert found.table.names == ("t", "sign", "state")
    model = network.steps.model
    best, most = None, -1.0
    for course in np.ndindex(2, 2, 2, 2):
        chance = 1.0
        for step, state in enumerate(course):
            before = model.tables["state[t-1]"] if not step else model.tables["state"][course[step - 1]]
            node = "sign[t-1]" if not step else "sign"
            chance *= before[state] * model.tables[node][state][int(data["sign"][step][-1])]
        if chance > most:
            best, most = course, chance
    assert tuple(found.table.codes(2)) == best
    assert network.filter(data, time="t").probabilities("state").shape == (4, 2)


def test_files_hold_a_network_in_time(tmp_path) -> None:
    data = as_data(simulated(np.random.default_rng(1), 80))
    network = dagora.fit(VAR, data, time="t")
    dagora.write_network(network.window, tmp_path / "network.json")
    again = dagora.forecast(tmp_path / "network.json", data, 2, time="t")
    assert again.to_dict() == network.forecast(data, 2).to_dict()
    fitted = dagora.forecast(VAR, data, 2, time="t")
    assert fitted.mean("x") == pytest.approx(again.mean("x"))
    assert fitted.notes[0] == "the parameters were fitted to these rows (79 windows of 2 steps)"


def test_both_kinds_forecast_by_draws_and_say_so() -> None:
    network = TimeNetwork(mixed_network(1))
    data = {"t": [1, 2, 3], "s": ["on", "off", "on"], "x": [0.5, 0.1, -0.3]}
    found = network.forecast(data, 2, time="t", continuous=["x"])
    tables, lines = network.window.tables, network.window.lines
    assert found.probabilities("s")[0] == pytest.approx(tables["s"][1], abs=0.02)
    means = [lines["x"].intercepts[k] + lines["x"].slopes[k, 0] * -0.3 for k in (0, 1)]
    assert found.mean("x")[0] == pytest.approx(tables["s"][1] @ means, abs=0.05)
    assert any("by simulation (10,000 draws)" in note for note in found.notes)
    for refused in (network.smooth, network.fill):
        with pytest.raises(QueryError, match="both kinds"):
            refused(data, time="t", continuous=["x"])
    scores = network.score_rows(data, time="t", continuous=["x"])
    state, z = 1, (-0.3 - lines["x"].intercepts[1] - lines["x"].slopes[1, 0] * 0.1) / lines["x"].sds[1]
    density = tables["s"][0, state] * np.exp(-0.5 * z**2) / lines["x"].sds[1] / np.sqrt(2 * np.pi)
    assert scores.rows[-1].surprise == pytest.approx(-np.log(density))


def test_bad_questions_get_one_line() -> None:
    data = as_data(simulated(np.random.default_rng(1), 50))
    network = dagora.fit(VAR, data, time="t")
    with pytest.raises(OptionError, match="'z', which is no variable"):
        network.forecast(data, 2, do={"z@t+1": 1})
    with pytest.raises(OptionError, match=r"set 5 steps after the last row, and 2 are forecast.*steps=5"):
        network.forecast(data, 2, do={"x@t+5": 1})
    with pytest.raises(OptionError, match="set to a number, not to 'high'"):
        network.forecast(data, 2, do={"x": "high"})
    with pytest.raises(OptionError, match="steps must be a whole number from 1 to 10,000, not 10001"):
        network.forecast(data, 10_001)
    with pytest.raises(OptionError, match="steps must be a whole number"):
        network.forecast(data, 0)
    with pytest.raises(OptionError, match="level must be a number between 0 and 1"):
        network.forecast(data, level=95)
    with pytest.raises(OptionError, match="time says which column"):
        TimeNetwork(network.window).forecast(data)
    with pytest.raises(DataError, match="twice"):
        network.forecast({**data, "t": [1] * 50})
    with pytest.raises(GraphError, match="no network in time"):
        TimeNetwork(dagora.fit(dagora.DAG("xy"), data))
    with pytest.raises(DataError, match="there is no column 'x': known are t, z"):
        network.forecast({"t": [1, 2], "z": [0.5, 1.5]})


def test_a_hidden_markov_model_answers_as_hmmlearn_does() -> None:
    """hmmlearn 0.3.3: CategoricalHMM with these probabilities, `predict_proba` and `decode` (Viterbi)."""
    graph = LaggedGraph(("state", "sign"), 1, [("state", "state", 1), ("state", "sign", 0)])
    levels = {"state": ("a", "b"), "sign": ("x", "y", "z")}
    stay, first = np.array([[0.7, 0.3], [0.4, 0.6]]), np.array([0.6, 0.4])
    shown = np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]])
    window = DiscreteNetwork(
        graph.unrolled(2),
        levels | {f"{name}[t-1]": own for name, own in levels.items()},
        {"state": stay, "state[t-1]": first, "sign": shown, "sign[t-1]": shown},
    )
    network = TimeNetwork(window)
    data = {"t": list(range(8)), "sign": list("xyzzyxxz")}
    posterior = [
        *[0.87427611, 0.6069027, 0.14876196, 0.14935734],
        *[0.61242324, 0.89259913, 0.85751714, 0.25435308],
    ]
    assert network.smooth(data, time="t").probabilities("state")[:, 0] == pytest.approx(posterior, abs=1e-8)
    filled = network.fill(data, time="t", most_probable=True).table
    assert filled.codes(filled.schema.index("state")).tolist() == [0, 0, 1, 1, 0, 0, 0, 1]


def test_an_autoregression_of_all_on_all_forecasts_as_statsmodels_does() -> None:
    """statsmodels 0.15.0: VAR(values).fit(1), `forecast_interval(values[-1:], 3)` and `irf(3)`.

    Its intervals take the parameters as known; ours are a little wider. Its standard errors are the usual ones.
    """
    rng = np.random.default_rng(4)
    values = np.zeros((60, 2))
    for t in range(1, 60):
        x, y = values[t - 1]
        values[t] = [0.6 * x + rng.normal(), 0.5 * y + 0.7 * x + 0.5 * rng.normal()]
    graph = LaggedGraph("xy", 1, [(one, other, 1) for one in "xy" for other in "xy"])
    ahead = dagora.fit(graph, as_data(values), time="t").forecast(as_data(values), 3)
    assert ahead.mean("x") == pytest.approx([-0.21716573, -0.40619766, -0.51340844], abs=1e-8)
    assert ahead.mean("y") == pytest.approx([-0.03989284, -0.06201248, -0.21293989], abs=1e-8)
    highs = np.array([1.64168175, 1.75851661, 1.70009034])
    reach, known = ahead.interval("x")[:, 1] - ahead.mean("x"), highs - ahead.mean("x")
    assert (reach > known).all()
    assert reach == pytest.approx(known, rel=0.1)
    found = dagora.effect_in_time(as_data(values), "x", "y", graph=graph, horizon=3, time="t")
    responses = [0.0, 0.73354998, 0.83669833, 0.62829222]
    assert [one.value for one in found.curve] == pytest.approx(responses, abs=1e-8)
    errors = [(one.high - one.low) / 2 / 1.959964 for one in found.curve]
    assert errors == pytest.approx([0.0, 0.05969287, 0.10568155, 0.15213577], rel=0.12)


def test_a_network_in_time_is_written_as_its_window(tmp_path) -> None:
    data = as_data(simulated(np.random.default_rng(1), 40))
    network = dagora.fit(VAR, data, time="t")
    dagora.write_network(network, tmp_path / "fitted.json")
    again = TimeNetwork(dagora.read_network(tmp_path / "fitted.json"), network.timing)
    assert again.forecast(data, 2).to_dict() == network.forecast(data, 2).to_dict()


def test_a_class_of_graphs_forecasts_and_says_how_its_lines_were_directed() -> None:
    values = simulated(np.random.default_rng(1), 60)
    lagged = [("x[t-1]", "x"), ("x[t-1]", "y"), ("y[t-1]", "x"), ("y[t-1]", "y")]
    line = dagora.CPDAG(["x", "y", "x[t-1]", "y[t-1]"], lagged, [("x", "y")])
    found = dagora.forecast(line, as_data(values), 3, time="t")
    assert "lines of the class were directed as in one of its graphs" in found.notes[0]
    edges = [("x", "x", 1), ("x", "y", 1), ("y", "x", 1), ("y", "y", 1)]
    for way in (("x", "y", 0), ("y", "x", 0)):  # saturated, so that all its graphs say the same
        one = dagora.forecast(LaggedGraph("xy", 1, [*edges, way]), as_data(values), 3, time="t")
        assert one.mean("x") == pytest.approx(found.mean("x"))
        assert one.sd("y") == pytest.approx(found.sd("y"), rel=0.05)
    with pytest.raises(GraphError, match="lines without a direction"):
        dagora.fit(line, as_data(values), time="t")


def test_a_network_of_numbers_too_large_is_refused_in_one_line() -> None:
    data = as_data(simulated(np.random.default_rng(3), 60))
    window = dagora.fit(VAR, data, time="t").window
    for node in ("x", "x[t-1]"):
        broken = TimeNetwork(replace(window, sds={**window.sds, node: 1e308}))
        with pytest.raises(QueryError, match=r"too large|beyond all numbers"):
            broken.forecast(data, 2, time="t")
