"""Parameters of a graph in time against least squares and counts of windows written down by hand."""

from itertools import pairwise

import numpy as np
import pytest

import dagora
from dagora.base.errors import DataError, GraphError, OptionError
from dagora.graph.dag import DAG
from dagora.graph.lagged_graph import LaggedGraph

GRAPH = LaggedGraph("xy", 2, [("x", "y", 0), ("x", "x", 1), ("y", "x", 2), ("y", "y", 1)])


def two_series(rng: np.random.Generator) -> dict[str, list]:
    """Two series in one table, in no order; the second lacks step 12."""
    rows = [
        (s, t, *rng.normal(size=2))
        for s, length in (("a", 20), ("b", 25))
        for t in range(length)
        if (s, t) != ("b", 12)
    ]
    rows = [rows[k] for k in rng.permutation(len(rows))]
    return dict(zip(("s", "t", "x", "y"), map(list, zip(*rows, strict=True)), strict=True))


def windows_by_hand(data: dict[str, list], lags: int) -> dict[tuple[str, int], np.ndarray]:
    """The values of each variable at each lag, window by window."""
    at = {(s, t): (x, y) for s, t, x, y in zip(*data.values(), strict=True)}
    ends = [(s, t) for s, t in at if all((s, t - k) in at for k in range(lags + 1))]
    return {
        (name, lag): np.array([at[s, t - lag][place] for s, t in ends])
        for place, name in enumerate(("x", "y"))
        for lag in range(lags + 1)
    }


def test_regressions_are_those_of_all_windows() -> None:
    data = two_series(np.random.default_rng(1))
    network = dagora.fit(GRAPH, data, time="t", series="s")
    windows = windows_by_hand(data, 2)
    assert len(windows["x", 0]) == 18 + 10 + 10
    assert network.window.origin.n_rows == 38
    for head, parents in {"x": [("x", 1), ("y", 2)], "y": [("x", 0), ("y", 1)]}.items():
        design = np.column_stack([np.ones(38), *(windows[parent] for parent in parents)])
        found, rest, *_ = np.linalg.lstsq(design, windows[head, 0], rcond=None)
        names = network.window.graph.parents(head)
        assert names == tuple(name if not lag else f"{name}[t-{lag}]" for name, lag in parents)
        assert network.window.intercepts[head] == pytest.approx(found[0])
        assert network.window.coefficients[head] == pytest.approx(found[1:])
        assert network.window.sds[head] == pytest.approx(np.sqrt(rest[0] / 38))


def test_the_first_steps_have_the_mechanism_of_all_where_its_parents_are_there() -> None:
    data = two_series(np.random.default_rng(2))
    network = dagora.fit(GRAPH, data, time="t", series="s").window
    assert network.coefficients["y[t-1]"].tolist() == network.coefficients["y"].tolist()
    assert network.sds["y[t-1]"] == network.sds["y"]
    windows = windows_by_hand(data, 2)
    assert network.graph.parents("x[t-1]") == ("x[t-2]",)  # y[t-3] is earlier than the first step
    slope = np.polyfit(windows["x", 2], windows["x", 1], 1)[0]
    assert network.coefficients["x[t-1]"] == pytest.approx([slope])
    assert network.intercepts["x[t-2]"] == pytest.approx(windows["x", 2].mean())


def test_tables_are_counts_of_transitions() -> None:
    states = list("aabbbabaabab")
    network = dagora.fit(
        LaggedGraph(("state",), 1, [("state", "state", 1)]), {"t": range(12), "state": states}, time="t"
    )
    pairs = list(pairwise(states))
    for before in (0, 1):
        row = [sum(pair == ("ab"[before], "ab"[k]) for pair in pairs) for k in (0, 1)]
        assert network.window.tables["state"][before] == pytest.approx(np.array(row) / sum(row))
    first = [sum(one == level for one in states[:-1]) for level in "ab"]
    assert network.window.tables["state[t-1]"] == pytest.approx(np.array(first) / 11)
    more = dagora.fit(network.graph, {"t": range(12), "state": states}, time="t", pseudocount=1.0)
    row = [sum(pair == ("a", "ab"[k]) for pair in pairs) + 1 for k in (0, 1)]
    assert more.window.tables["state"][0] == pytest.approx(np.array(row) / sum(row))


def test_missing_cells_are_refused_or_modelled() -> None:
    data = two_series(np.random.default_rng(1))
    data["x"][3] = None
    with pytest.raises(DataError, match="missing"):
        dagora.fit(GRAPH, data, time="t", series="s")
    network = dagora.fit(GRAPH, data, time="t", series="s", missing="model")
    assert network.window.origin.n_rows == 38
    whole = dagora.fit(GRAPH, two_series(np.random.default_rng(1)), time="t", series="s")
    assert network.window.coefficients["y"] == pytest.approx(whole.window.coefficients["y"], abs=0.15)


def test_both_kinds_of_columns() -> None:
    rng = np.random.default_rng(4)
    on = (rng.random(400) < 0.5).astype(int)
    x = np.zeros(400)
    for t in range(1, 400):
        x[t] = (2.0 if on[t] else -1.0) + (0.5 if on[t] else -0.5) * x[t - 1] + 0.3 * rng.normal()
    graph = LaggedGraph(("on", "x"), 1, [("on", "x", 0), ("x", "x", 1)])
    network = dagora.fit(graph, {"t": range(400), "on": on, "x": x}, time="t")
    assert network.window.lines["x"].slopes.ravel() == pytest.approx([-0.5, 0.5], abs=0.05)
    assert network.window.lines["x"].intercepts == pytest.approx([-1.0, 2.0], abs=0.15)


def test_what_cannot_be_fitted_is_refused() -> None:
    data = two_series(np.random.default_rng(1))
    with pytest.raises(OptionError, match="time names their column"):
        dagora.fit(GRAPH, data)
    with pytest.raises(GraphError, match="no graph in time"):
        dagora.fit(DAG("xy"), data, time="t", series="s")
    with pytest.raises(DataError, match="no column named 'z'"):
        dagora.fit(LaggedGraph("xz", 1, [("x", "z", 1)]), data, time="t", series="s")
    short = {"t": [1, 2, 4, 5], "x": [0.5, 1.5, 1.0, 2.0], "y": [0.5, 1.5, 1.0, 2.5]}
    with pytest.raises(DataError, match="no series has 3 steps in a row"):
        dagora.fit(GRAPH, short, time="t", continuous=["all"])
    with pytest.raises(OptionError, match="score does not go with time"):
        dagora.fit(GRAPH, data, time="t", score="gp")
    with pytest.raises(GraphError, match="no edges from earlier steps"):
        dagora.fit(LaggedGraph("xy", 0, [("x", "y", 0)]), data, time="t", series="s")


def test_too_few_rows_to_tell_the_noise_are_refused() -> None:
    rng = np.random.default_rng(0)
    graph = LaggedGraph("xy", 1, [("x", "x", 1), ("x", "y", 1), ("y", "y", 1)])
    rows = {"x": rng.normal(size=5), "y": rng.normal(size=5), "t": np.arange(5.0)}
    dagora.fit(graph, rows, time="t")
    two = {name: column[:2] for name, column in rows.items()}
    with pytest.raises(DataError, match="'x' has 1 parent, and there is 1 window: more rows are needed"):
        dagora.fit(graph, two, time="t", continuous=["x", "y"])
    with pytest.raises(DataError, match="'y' has 2 parents, and there are 3 windows: more rows are needed"):
        dagora.fit(graph, {name: values[:4] for name, values in rows.items()}, time="t")
