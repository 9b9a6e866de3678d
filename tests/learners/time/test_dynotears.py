"""DYNOTEARS against brute force, closed forms, NOTEARS, and simulated truth."""

import numpy as np
import pytest

import dagora
from dagora.base.errors import DataError, KnowledgeError, OptionError
from dagora.data.series import Panel
from dagora.graph.enumerate import all_dags
from dagora.graph.knowledge import Knowledge
from dagora.graph.lagged_graph import window_names
from dagora.graph.metrics import compare
from dagora.learners.optimise.notears import notears
from dagora.learners.registry import method_named
from dagora.learners.run import Run
from dagora.learners.time.dynotears import dynotears
from dagora.stats.lagged import SeriesStatistics
from dagora.stats.table import TableStatistics
from tests.stats.test_lagged import panel_of


def series(seed: int, d: int = 3, steps: int = 60, lags: int = 1) -> Panel:
    """A short series of a random stable model."""
    graph = dagora.random_dag("er", d, 1.0, seed)
    return Panel.of_table(dagora.simulate_series(graph, steps, seed, lags=lags).table, "t", "series")


def lasso(moments: np.ndarray, child: int, parents: list[int], penalties: np.ndarray) -> float:
    """The lowest loss of a column with a penalty per parent, by plain coordinate descent."""
    weights = np.zeros(len(moments))
    for _ in range(3000):
        before = weights.copy()
        for i in parents:
            slope = moments[i, child] - moments[i] @ weights + moments[i, i] * weights[i]
            weights[i] = np.sign(slope) * max(abs(slope) - penalties[i], 0.0) / moments[i, i]
        if np.abs(weights - before).max() < 1e-13:
            break
    residual = -weights
    residual[child] = 1.0
    return 0.5 * residual @ moments @ residual + penalties @ np.abs(weights)


@pytest.mark.full
@pytest.mark.parametrize(
    ("seed", "lambdas"), [(0, (0.05, 0.05)), (1, (0.1, 0.02)), (2, (0.02, 0.3)), (3, (0.5, 0.1))]
)
def test_no_graph_of_three_variables_has_a_lower_objective(seed: int, lambdas: tuple[float, float]) -> None:
    statistics = SeriesStatistics(series(seed))
    moments = statistics.lagged(1).moments().covariance
    penalties = np.repeat(lambdas, 3)
    best = min(
        sum(lasso(moments, j, [*dag.parent_indices(j), 3, 4, 5], penalties) for j in range(3))
        for dag in all_dags(3)
    )
    found = dynotears(
        statistics, Run(), lambda1=lambdas[0], lambda_lagged=lambdas[1], threshold=0.0, threshold_lagged=0.0
    )
    assert found.stats["objective_before_threshold"] == pytest.approx(best, rel=1e-9)
    assert -found.score == pytest.approx(best, rel=1e-9)
    residual = np.eye(6, 3) - found.weights[:, :3]
    penalty = penalties @ np.abs(found.weights).sum(axis=1)
    assert 0.5 * np.trace(residual.T @ moments @ residual) + penalty == pytest.approx(best, rel=1e-9)
    assert not found.weights[:, 3:].any()


@pytest.mark.full
def test_thresholds_apply_to_weights_in_their_own_units() -> None:
    """With two penalties lagged columns are solved in another unit, which no threshold may see."""
    statistics = SeriesStatistics(series(5, d=6, steps=200, lags=2))
    for lambdas in ((0.05, 0.05), (0.1, 0.01), (0.01, 0.1)):
        found = dynotears(
            statistics,
            Run(),
            lags=2,
            lambda1=lambdas[0],
            lambda_lagged=lambdas[1],
            threshold=0.4,
            threshold_lagged=0.15,
        )
        present, past = np.abs(found.weights[:6]), np.abs(found.weights[6:])
        assert present[present > 0].min() >= 0.4
        assert 0.15 <= past[past > 0].min() < 0.4
        again = dynotears(
            statistics, Run(), lags=2, lambda1=lambdas[0], lambda_lagged=lambdas[1], threshold_lagged=10.0
        )
        assert not again.weights[6:].any()
        assert again.weights[:6].any()


def test_without_lagged_edges_it_is_notears() -> None:
    panel = series(7, d=6, steps=300)
    names = panel.table.names
    nodes = window_names(names, 1)
    knowledge = Knowledge(forbidden=[(tail, head) for tail in nodes[6:] for head in names])
    found = dynotears(SeriesStatistics(panel), Run(knowledge), lambda1=0.1, lambda_lagged=0.1)
    rows = panel.table.take(np.arange(1, panel.table.n_rows))
    plain = notears(TableStatistics(rows), Run(), lambda1=0.1)
    assert not found.weights[6:].any()
    np.testing.assert_allclose(found.weights[:6, :6], plain.weights, atol=1e-9)
    assert found.score == pytest.approx(plain.score, rel=1e-9)


def test_without_penalties_weights_are_least_squares_on_what_comes_before() -> None:
    panel = series(11, d=4, steps=100, lags=2)
    order = panel.table.names
    knowledge = Knowledge(tiers=[[name] for name in order])
    found = dynotears(
        SeriesStatistics(panel),
        Run(knowledge),
        lags=2,
        lambda1=0.0,
        lambda_lagged=0.0,
        threshold=0.0,
        threshold_lagged=0.0,
    )
    rows = np.transpose(panel.table.columns)
    windows = np.hstack([rows[2:], rows[1:-1], rows[:-2]])
    windows = windows - windows.mean(axis=0)
    for child in range(4):
        parents = [*range(child), *range(4, 12)]
        expected = np.linalg.lstsq(windows[:, parents], windows[:, child], rcond=None)[0]
        np.testing.assert_allclose(found.weights[parents, child], expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("several", [1, 4])
def test_finds_a_simulated_truth(several: int) -> None:
    graph = dagora.random_dag("er", 10, 1.5, 3)
    truth = dagora.simulate_series(graph, 600 // several, 3, series=several)
    result = dagora.learn(truth.table, "dynotears", time="t", series="series")
    found = compare(result.graph, truth.graph.window)
    assert found.within.shd == 0
    assert found.lagged.f1 >= 0.95
    np.testing.assert_allclose(result.weights, truth.weights, atol=0.35)  # the penalty shrinks them
    assert result.stats["windows"] == 600 - several
    assert result.lagged_graph is not None
    assert dagora.Result.from_json(result.to_json()).lagged_graph == result.lagged_graph


def test_windows_over_a_border_between_series_would_show() -> None:
    """Two series of which one goes up and the other down: windows across would lower the weight of the past."""
    up = np.cumsum(np.full((40, 2), [1.0, -1.0]), axis=0)
    noise = np.random.default_rng(0).normal(0, 0.01, (80, 2))
    blocks = [up + noise[:40], 100 - up + noise[40:]]
    separate = SeriesStatistics(panel_of(blocks, ("x", "y"))).lagged(1).moments()
    together = SeriesStatistics(panel_of([np.vstack(blocks)], ("x", "y"))).lagged(1).moments()
    assert separate.n == together.n - 1
    assert separate.covariance[0, 2] > together.covariance[0, 2] + 1


def test_knowledge_names_nodes_of_the_window() -> None:
    panel = series(7, d=5, steps=300)
    statistics = SeriesStatistics(panel)
    plain = dynotears(statistics, Run()).graph
    lagged = next(edge for edge in plain.edges if "[t-" in edge[0])
    within = next(edge for edge in plain.edges if "[t-" not in edge[0])
    absent = next(
        (f"{a}[t-1]", b)
        for a in panel.table.names
        for b in panel.table.names
        if (f"{a}[t-1]", b) not in plain.edges
    )
    knowledge = Knowledge(required=[absent, within[::-1]], forbidden=[lagged])
    graph = dynotears(statistics, Run(knowledge)).graph
    assert not knowledge.violations(graph)
    with pytest.raises(KnowledgeError, match="edges lead to the present step only"):
        dynotears(statistics, Run(Knowledge(required=[(within[0], "x1[t-1]")])))
    with pytest.raises(KnowledgeError, match="'x9\\[t-1\\]', which is not a variable"):
        dynotears(statistics, Run(Knowledge(forbidden=[("x9[t-1]", "x1")])))
    with pytest.raises(KnowledgeError, match="the method dynotears cannot obey max_parents"):
        method_named("dynotears").check_knowledge(Knowledge(max_parents=9), ["x0", "x1"])


def test_two_penalties_are_zero_together() -> None:
    with pytest.raises(
        OptionError, match=r"both 0 or both positive: with lambda_lagged=0\.05, take .* lambda1=0\.001"
    ):
        dynotears(SeriesStatistics(series(1)), Run(), lambda1=0.0)


def test_standardised_results_do_not_depend_on_units() -> None:
    panel = series(7, d=4, steps=300)
    scaled = np.transpose(panel.table.columns) * [1.0, 100.0, 0.01, 7.0]
    other = panel_of([scaled], panel.table.names)
    one = dynotears(SeriesStatistics(panel), Run(), standardise=True)
    two = dynotears(SeriesStatistics(other), Run(), standardise=True)
    np.testing.assert_allclose(one.weights, two.weights, atol=1e-7)


def test_windows_too_wide_for_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dagora.learners.time.dynotears.free_memory", lambda: 100_000)
    with pytest.raises(DataError, match=r"windows of 63 columns \(3 variables, 20 steps back\)"):
        dynotears(SeriesStatistics(series(1)), Run(), lags=20)
