"""Methods on windows of time: the best graph in time against brute force, and what they refuse."""

from functools import cache
from itertools import chain, combinations, product

import numpy as np
import pytest

import dagora
from dagora.base.errors import DataError, KnowledgeError, OptionError
from dagora.data.series import Panel
from dagora.data.table import Table
from dagora.graph.any_graph import number_of_edges
from dagora.graph.cpdag import CPDAG
from dagora.graph.lagged_graph import LaggedGraph, class_in_time, window_names
from dagora.learners.result import Result
from dagora.scores.registry import default_score, score_named
from dagora.stats.table import TableStatistics
from dagora.stats.windows import Windows

EXACT = ("dynamic", "astar", "order-search", "obs", "asobs")
GREEDY = ("auto", "tabu", "hill-climb")
CLASSES = ("ges", "boss")


@cache
def series_of(kind: str, variables: int, seed: int, steps: int = 250) -> Table:
    """Two series: each variable depends on its own past and on one other, now or before."""
    rng = np.random.default_rng(seed)
    rows = []
    names = "xyz"[:variables]
    within = rng.random() < 0.5
    for name in ("one", "two"):
        before = rng.normal(size=variables)
        for t in range(steps // 2):
            now = 0.5 * before + rng.normal(size=variables)
            now[-1] += 0.9 * (now[0] if within else before[0])
            rows.append([name, t, *now])
            before = now
    values = np.array([row[2:] for row in rows], dtype=float)
    columns: dict[str, list] = {"id": [row[0] for row in rows], "t": [float(row[1]) for row in rows]}
    for k, name in enumerate(names):
        cut = kind == "discrete" or (kind == "mixed" and k == 0)
        columns[name] = ["low" if v < 0 else "high" for v in values[:, k]] if cut else values[:, k].tolist()
    numbers = ["t", *(name for name in names if not isinstance(columns[name][0], str))]
    return Table.from_numpy(np.array([*columns.values()], dtype=object).T, [*columns], continuous=numbers)


def windows_by_hand(table: Table, lags: int) -> TableStatistics:
    """Statistics of the windows table, without anything else that a method in time is given."""
    rows = Windows.of(Panel.of_table(table, "t", "id"), lags).table
    assert isinstance(rows, Table)
    return TableStatistics(rows)


def best_in_time(table: Table, lags: int, score: str | None = None) -> tuple[float, list[LaggedGraph]]:
    """The highest sum of scores of the families at t over all graphs in time, and the graphs that have it."""
    statistics = windows_by_hand(table, lags)
    local = (score_named(score) if score else default_score(statistics.schema)).make(statistics)
    variables = table.names[2:]
    names = window_names(variables, lags)
    d = len(variables)
    families = [
        (child, parents)
        for child in range(d)
        for parents in chain.from_iterable(
            combinations([k for k in range(len(names)) if k != child], size) for size in range(len(names))
        )
    ]
    value = dict(zip(families, local.families(families).tolist(), strict=True))
    best, found = -np.inf, []
    for chosen in product(*([f for f in families if f[0] == child] for child in range(d))):
        total = sum(value[family] for family in chosen)
        if total < best - 1e-9 * abs(best):
            continue
        arrows = {(p, c) for c, parents in chosen for p in parents if p < d}
        if any((b, a) in arrows for a, b in arrows) or has_cycle_of_three(arrows, d):
            continue
        edges = [(*split(names[p]), names[c]) for c, parents in chosen for p in parents]
        graph = LaggedGraph(variables, lags, [(tail, head, lag) for tail, lag, head in edges])
        if total > best + 1e-9 * abs(best):
            found = []
        best = max(best, total)
        found.append(graph)
    return best, found


def split(name: str) -> tuple[str, int]:
    variable, _, lag = name.partition("[t-")
    return variable, int(lag[:-1]) if lag else 0


def has_cycle_of_three(arrows: set[tuple[int, int]], d: int) -> bool:
    return any(
        {(a, b), (b, c), (c, a)} <= arrows
        for a in range(d)
        for b in range(d)
        for c in range(d)
        if a != b != c
    )


def learn(table: Table, method: str, lags: int = 1, **given: object) -> Result:
    return dagora.learn(table, method, time="t", series="id", lags=lags, **given)


@pytest.mark.parametrize("kind", ["continuous", "discrete", "mixed"])
@pytest.mark.parametrize("method", [*EXACT, *GREEDY, *CLASSES])
def test_the_best_of_all_graphs_in_time_over_two_variables(method: str, kind: str) -> None:
    for seed in range(3):
        table = series_of(kind, 2, seed)
        best, graphs = best_in_time(table, 1)
        result = learn(table, method)
        assert result.score == pytest.approx(best, rel=1e-9)
        assert result.cpdag in {class_in_time(graph.window, graph.variables) for graph in graphs}
        assert (
            max(point.score for point in result.trace) == pytest.approx(best, rel=1e-9)
            if result.trace
            else True
        )


@pytest.mark.full
@pytest.mark.parametrize("kind", ["continuous", "discrete", "mixed"])
@pytest.mark.parametrize("method", [*EXACT, "auto", *CLASSES])
def test_the_best_of_all_graphs_in_time_over_three_variables(method: str, kind: str) -> None:
    for seed in range(2):
        table = series_of(kind, 3, seed)
        best, graphs = best_in_time(table, 1)
        result = learn(table, method)
        assert result.score == pytest.approx(best, rel=1e-9)
        assert result.cpdag in {class_in_time(graph.window, graph.variables) for graph in graphs}


@pytest.mark.parametrize("score", ["bdeu", "k2", "aic"])
def test_any_discrete_score(score: str) -> None:
    table = series_of("discrete", 2, 1)
    best, _ = best_in_time(table, 1, score)
    assert learn(table, "dynamic", score=score).score == pytest.approx(best, rel=1e-9)


def test_the_score_is_that_of_the_families_at_t_on_the_windows_written_out() -> None:
    table = series_of("mixed", 3, 0)
    result = learn(table, "tabu", lags=2)
    statistics = windows_by_hand(table, 2)
    local = default_score(statistics.schema).make(statistics)
    graph = result.graph.reorder(statistics.schema.names)
    families = [(child, graph.parent_indices(child)) for child in range(3)]
    assert result.score == pytest.approx(float(local.families(families).sum()), rel=1e-12)
    assert result.settings["lags"] == 2
    assert "246 windows of 3 steps" in result.message


def test_a_chain_of_levels_depends_on_its_past_alone() -> None:
    rng = np.random.default_rng(5)
    state, rows = 0, []
    for t in range(600):
        state = state if rng.random() < 0.8 else int(rng.integers(3))
        rows.append([t, "abc"[state], "uv"[int(rng.random() < 0.5)]])
    table = Table.from_numpy(np.array(rows, dtype=object), ["t", "state", "coin"], continuous=["t"])
    for method in ("auto", "ges", "pc", "dynamic"):
        found = dagora.learn(table, method, time="t", lags=3).lagged_graph
        assert found is not None
        assert (found.edges, found.undirected) == ((("state", "state", 1),), ()), method


def test_time_directs_and_weak_edges_do_not() -> None:
    table = series_of("continuous", 2, 0)
    result = learn(table, "auto")
    lagged = {edge for edge in result.graph.edges if "[t-" in edge[0]}
    assert lagged
    assert lagged <= set(result.cpdag.edges)
    strong = {edge for edge in lagged if result.edge_gains[edge] >= 3}
    assert not strong & set(result.open_edges)
    assert result.describe_directions().startswith("time and the data determine")
    weak = {**result.edge_gains, **dict.fromkeys(strong, 0.5)}
    doubtful = Result(result.graph, "auto", "finished", "", score_name="bic-gaussian", edge_gains=weak)
    assert strong <= set(doubtful.open_edges)


def test_knowledge_names_nodes_of_the_window() -> None:
    table = series_of("continuous", 2, 0)
    free = learn(table, "tabu").graph.edges
    assert ("x[t-1]", "x") in free
    known = {"forbidden": [["x[t-*]", "x"]], "required": [["y[t-1]", "x"]]}
    for method in ("tabu", "dynamic", "notears", "order-search", "k2"):
        edges = learn(table, method, knowledge=known).graph.edges
        assert ("x[t-1]", "x") not in edges
        assert ("y[t-1]", "x") in edges
    assert ("x[t-1]", "x") in learn(
        table, "tabu", knowledge={"forbidden": [["x", "y"], ["y", "x"]]}
    ).graph.edges
    with pytest.raises(KnowledgeError, match="'x\\[t-2\\]'"):
        learn(table, "tabu", knowledge={"forbidden": [["x[t-2]", "x"]]})


def test_the_parent_limit_is_that_of_the_present_step() -> None:
    for method in ("auto", "ges", "dynamic", "hill-climb"):
        found = learn(series_of("continuous", 3, 0), method, lags=3, max_parents=1)
        matrix = found.graph.to_numpy()
        assert matrix.sum(axis=0).max() == 1, method


def test_an_order_for_k2_names_the_present_step() -> None:
    table = series_of("continuous", 2, 0)
    found = learn(table, "k2", order="y,x")
    assert ("x", "y") not in found.graph.edges
    assert any("[t-1]" in tail for tail, _ in found.graph.edges)
    assert "the order of the columns" in learn(table, "k2").message


def test_windows_with_holes_are_incomplete_rows() -> None:
    table = series_of("continuous", 2, 0, 400)
    frame = table.to_pandas()
    rng = np.random.default_rng(0)
    frame.loc[rng.random(len(frame)) < 0.1, "x"] = np.nan
    result = learn(frame, "tabu")
    whole = learn(table, "tabu")
    assert set(result.graph.edges) == set(whole.graph.edges)
    assert "are modelled as missing at random" in result.message
    assert result.settings["em_rounds"] == 0
    with pytest.raises(DataError, match="needs complete rows"):
        learn(frame, "notears")
    frame.loc[3, "t"] = np.nan
    with pytest.raises(DataError, match="column 't' has a missing value in data row 4"):
        learn(frame, "tabu")


@pytest.mark.parametrize(
    ("method", "other"),
    [
        ("fci", "svar-rfci"),
        ("rfci", "svar-rfci"),
        ("lingam", "var-lingam"),
        ("ica-lingam", "var-lingam"),
        ("dual-pc", "pc"),
    ],
)
def test_methods_that_cannot_know_time_name_one_that_can(method: str, other: str) -> None:
    with pytest.raises(OptionError, match=f"the method {method} does not learn from series: choose {other}"):
        learn(series_of("continuous", 2, 0), method)


@pytest.mark.parametrize("lags", [0, 101, 1.5, True, "two"])
def test_lags_are_a_number_of_steps(lags: object) -> None:
    with pytest.raises(OptionError, match="lags must be a whole number"):
        learn(series_of("continuous", 2, 0), "tabu", lags=lags)
    with pytest.raises(OptionError, match="lags goes with time"):
        dagora.learn(series_of("continuous", 2, 0), "tabu", lags=1)


def test_classes_in_time_have_lines_within_a_step_only() -> None:
    result = learn(series_of("continuous", 3, 1), "ges", lags=2)
    assert isinstance(result.graph, CPDAG)
    found = result.lagged_graph
    assert found is not None
    assert Result.from_json(result.to_json()).lagged_graph == found


@pytest.mark.parametrize("method", ["auto", "tabu", "pcmci-plus", "lpcmci"])
def test_a_single_series_has_its_own_past(method: str) -> None:
    rng, values = np.random.default_rng(0), [0.0, 0.0]
    for _ in range(300):
        values.append(1.2 * values[-1] - 0.6 * values[-2] + rng.normal())
    rows = {"t": np.arange(302.0), "x": np.array(values)}
    found = dagora.learn(rows, method, time="t", lags=2)
    assert number_of_edges(found.graph) == 2
    assert found.lagged_graph is None or {edge[2] for edge in found.lagged_graph.lagged} == {1, 2}


def test_a_single_column_without_time_is_refused() -> None:
    with pytest.raises(DataError, match="there is 1 column, a network needs 2"):
        dagora.learn({"x": np.random.default_rng(0).normal(size=50)})
