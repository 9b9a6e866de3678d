"""PCMCI+ against d-separation in the unrolled graph, regressions written out, and simulated series."""

import numpy as np
import pytest

import dagora
from dagora.base.errors import DataError, OptionError, RowsUnavailableError
from dagora.data.partition import split_series
from dagora.data.series import Timing
from dagora.graph.cpdag import CPDAG
from dagora.graph.knowledge import Knowledge
from dagora.graph.lagged_graph import LaggedGraph, class_in_time
from dagora.learners.independence.fisher_z import FisherZ
from dagora.learners.result import Result
from dagora.learners.run import Run
from dagora.learners.time import pcmci_plus as method
from dagora.learners.time.gaussian_links import GaussianLinks
from dagora.learners.time.link_tests import Link
from dagora.learners.time.named_links import sets_beside
from dagora.learners.time.pcmci_plus import pcmci_plus
from dagora.learners.time.tests_in_windows import WindowTests, with_variables
from dagora.stats.lagged import SeriesStatistics
from tests.learners.time.separation_in_time import SeparationLinks, random_graph_in_time
from tests.stats.test_lagged import panel_of


def learn_from_truth(
    truth: LaggedGraph, monkeypatch: pytest.MonkeyPatch, knowledge: Knowledge | None = None, **options: object
) -> CPDAG:
    """What the method learns where every test is right."""
    tests = SeparationLinks(truth)

    def true_tests(*_: object) -> WindowTests:
        return WindowTests(tests, tests, "truth", truth.variables, 100, "3 steps", ())

    monkeypatch.setattr(method, "tests_in_windows", true_tests)
    panel = panel_of([np.zeros((9, len(truth.variables)))], truth.variables)
    found = pcmci_plus(SeriesStatistics(panel), Run(knowledge or Knowledge()), lags=truth.lags, **options)
    assert not found.warnings, found.warnings
    assert isinstance(found.graph, CPDAG)
    return found.graph


@pytest.mark.full
@pytest.mark.parametrize("rule", ["majority", "conservative", "none"])
@pytest.mark.parametrize(("d", "lags"), [(2, 1), (3, 1), (3, 2), (4, 1), (4, 2)])
def test_where_every_test_is_right_it_is_the_true_class(
    d: int, lags: int, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_edges = 0
    for seed in range(12):
        truth = random_graph_in_time(d, lags, seed)
        found = learn_from_truth(truth, monkeypatch, collider_rule=rule)
        assert found == class_in_time(truth.window, truth.variables), f"seed {seed}:\n{truth}"
        open_edges += len(found.undirected)
    assert open_edges or d > 3, "some class has open edges, else directions show nothing"


def test_the_true_class_of_one_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand: z[t-1] → x shows that x → y (no collider), nothing directs v — w."""
    truth = LaggedGraph("vwxyz", 1, [("z", "x", 1), ("x", "y", 0), ("v", "w", 0), ("z", "z", 1)])
    found = learn_from_truth(truth, monkeypatch)
    assert set(found.edges) == {("z[t-1]", "x"), ("x", "y"), ("z[t-1]", "z")}
    assert found.undirected == (("v", "w"),)


def test_knowledge_directs_what_tests_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = LaggedGraph("uvw", 1, [("u", "v", 0), ("v", "w", 0), ("u", "u", 1)])
    plain = LaggedGraph("uvw", 1, [("u", "v", 0), ("v", "w", 0)])
    assert learn_from_truth(truth, monkeypatch).undirected == ()
    assert len(learn_from_truth(plain, monkeypatch).undirected) == 2
    known = Knowledge(tiers=[["u"], ["v", "w"]])
    assert learn_from_truth(plain, monkeypatch, known).edges == (("u", "v"), ("v", "w"))
    known = Knowledge(required=[("w", "v")])
    assert set(learn_from_truth(plain, monkeypatch, known).edges) == {("v", "u"), ("w", "v")}


def windows_of(seed: int, d: int = 3, lags: int = 4, steps: int = 300) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(steps, d))
    for t in range(1, steps):
        rows[t] += 0.6 * rows[t - 1] + 0.2 * np.roll(rows[t - 1], 1)
        rows[t, 1] += 0.5 * rows[t, 0]
    return rows


def partial(windows: np.ndarray, x: int, y: int, given: tuple[int, ...]) -> float:
    """The correlation of residuals of two least-squares regressions."""
    design = np.column_stack([np.ones(len(windows)), windows[:, list(given)]])
    left = [windows[:, k] - design @ np.linalg.lstsq(design, windows[:, k], rcond=None)[0] for k in (x, y)]
    return float(np.corrcoef(*left)[0, 1])


def test_partial_correlations_are_those_of_regressions_written_out() -> None:
    rows = windows_of(0)
    statistics = SeriesStatistics(panel_of([rows], ("a", "b", "c"))).lagged(4)
    windows = np.hstack([rows[4 - k : len(rows) - k] for k in range(5)])
    tests = GaussianLinks(FisherZ(statistics, "it"), 0.01)
    link = Link(3, 1, (6, 7, 4), (0, 2), (2, 8))
    for size, sets in ((0, [()]), (1, [(0,), (2,), (8,)]), (2, [(0, 2), (2, 8)])):
        assert list(sets_beside(link, size)) == sets
        found = tests.given_sets(link, size, Run())
        values = {some: partial(windows, 3, 1, (*link.base, *some)) for some in sets}
        weakest = min(sets, key=lambda some: abs(values[some]))
        assert found.given == weakest
        assert found.value == pytest.approx(values[weakest], abs=1e-9)
        assert found.tests == len(sets)
        z = np.arctanh(abs(values[weakest])) * np.sqrt(len(windows) - 3 - 3 - size)
        from scipy.stats import norm

        assert found.p == pytest.approx(2 * norm.sf(z), rel=1e-6)
        limit = np.tanh(norm.isf(0.005) / np.sqrt(len(windows) - 6 - size))
        separating = [some for some in sets if abs(values[some]) <= limit]
        assert found.separated == len(separating)
        assert found.votes == {
            node: n for node in link.near if (n := sum(node in some for some in separating))
        }


@pytest.mark.parametrize("size", [0, 1, 2, 4])
def test_partial_correlations_given_the_strongest(size: int) -> None:
    rows = windows_of(1)
    statistics = SeriesStatistics(panel_of([rows], ("a", "b", "c"))).lagged(2)
    windows = np.hstack([rows[2 - k : len(rows) - k] for k in range(3)])
    parents = [5, 3, 8, 4, 7, 6]
    p, strengths = GaussianLinks(FisherZ(statistics, "it"), 0.01).given_strongest(1, parents, size)
    for place, parent in enumerate(parents):
        given = tuple(other for other in parents if other != parent)[:size]
        assert strengths[place] == pytest.approx(abs(partial(windows, parent, 1, given)), abs=1e-9)
    assert ((p >= 0) & (p <= 1)).all()


def test_a_copy_of_a_lagged_column_does_not_disturb_the_others() -> None:
    """Linearly dependent parents: c[t-1] + c[t-2] = d[t-1] at every step."""
    rows = windows_of(2)
    rows = np.column_stack([rows, np.concatenate([[0.0], rows[1:, 2] + rows[:-1, 2]])])[1:]
    statistics = SeriesStatistics(panel_of([rows], ("a", "b", "c", "d"))).lagged(2)
    windows = np.hstack([rows[2 - k : len(rows) - k] for k in range(3)])
    parents = [6, 10, 7, 4]
    _, strengths = GaussianLinks(FisherZ(statistics, "it"), 0.01).given_strongest(1, parents, 3)
    assert np.isnan(strengths[:3]).all(), "each of the three is determined by the other two"
    assert strengths[3] == pytest.approx(abs(partial(windows, 4, 1, (6, 10))), abs=1e-6)


def autocorrelated(seed: int, steps: int, d: int, strength: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(steps + 200, d))
    for t in range(1, len(rows)):
        rows[t] += strength * rows[t - 1]
    return rows[200:]


@pytest.mark.full
def test_independent_series_that_are_strongly_autocorrelated_stay_apart() -> None:
    """At a level of 5 %, 5 % of the pairs within a step; of lagged pairs no more."""
    within = lagged = tables = 0
    for seed in range(150):
        panel = panel_of([autocorrelated(seed, 300, 5, 0.95)], tuple("abcde"))
        found = pcmci_plus(SeriesStatistics(panel), Run(), lags=2, alpha=0.05)
        graph = LaggedGraph.of_window(found.graph)
        assert graph is not None
        within += len(graph.undirected) + len(graph.edges) - len(graph.lagged)
        lagged += sum(tail != head for tail, head, _ in graph.lagged)
        tables += 1
    assert 0.035 < within / (tables * 10) < 0.06
    assert lagged / (tables * 5 * 4 * 2) < 0.05


def test_finds_a_simulated_truth() -> None:
    truth = LaggedGraph(
        "abcd", 2,
        [("a", "b", 1), ("b", "c", 0), ("c", "d", 2), *((name, name, 1) for name in "abcd")],
    )  # fmt: skip
    rows = np.random.default_rng(0).normal(size=(4000, 4))
    for t in range(2, len(rows)):
        rows[t] += 0.6 * rows[t - 1]
        rows[t, 1] += 0.4 * rows[t - 1, 0]
        rows[t, 2] += 0.4 * rows[t, 1]
        rows[t, 3] += 0.4 * rows[t - 2, 2]
    table = dagora.Table.from_numpy(
        np.column_stack([np.arange(len(rows)), rows]), ["t", *"abcd"], continuous=["all"]
    )
    result = dagora.learn(table, "pcmci-plus", time="t", lags=2)
    assert result.lagged_graph == truth
    assert result.cpdag == result.graph == class_in_time(truth.window, truth.variables)
    for edge in (*result.graph.edges, *result.graph.undirected):
        assert result.link_tests[edge].p <= 0.01
        assert abs(result.link_tests[edge].value) > 0.03
    again = Result.from_json(result.to_json())
    assert again.link_tests == result.link_tests


def test_the_same_links_as_tigramite_also_where_tests_disagree() -> None:
    """Recorded: tigramite 5.2.10.1, `PCMCI(DataFrame(rows), ParCorr()).run_pcmciplus(0, 2, 0.01)["graph"]`.

    x0 — x1 is in conflict there ("x-x"), two edges are open ("o-o"); effects of the true graph cancel.
    """
    made = dagora.simulate_series(dagora.random_dag("er", 6, 1.0, 3), 3000, 3, lags=2)
    found = dagora.learn(made.table, "pcmci-plus", time="t", series="series", lags=2)
    directed = {("x3", "x0"), ("x2", "x1"), ("x4", "x1"), ("x3", "x4"), ("x5[t-2]", "x4")}
    assert set(found.graph.edges) == directed
    assert set(found.graph.undirected) == {("x0", "x1"), ("x3", "x5"), ("x4", "x5")}
    assert found.stats["conflicts"] == 1
    assert any("both directions of 1 edge, which are left open: x0 — x1" in line for line in found.warnings)


def test_rows_of_several_series_and_of_sites_give_the_same_as_their_windows_pooled() -> None:
    graph = dagora.random_dag("er", 4, 1.0, 1)
    table = dagora.simulate_series(graph, 200, 1, lags=1, series=4).table
    pooled = dagora.learn(table, "pcmci-plus", time="t", series="series", lags=1)
    parts = split_series(table, Timing("t", "series"), 3)
    sites = dict(zip("abc", parts, strict=True))
    over = dagora.learn_federated(sites, "pcmci-plus", time="t", series="series", lags=1)
    assert over.graph == pooled.graph
    for edge, tested in pooled.link_tests.items():
        assert over.link_tests[edge].value == pytest.approx(tested.value, abs=1e-4)
    with pytest.raises(RowsUnavailableError, match="test=gcm needs rows"):
        dagora.learn_federated(sites, "pcmci-plus", time="t", series="series", test="gcm")


def test_windows_are_the_same_for_all_tests() -> None:
    """An outlier in the first 2 · lags steps is in the past of some windows and the present of none."""
    rows = windows_of(5)
    panel = panel_of([rows], ("a", "b", "c"))
    found = pcmci_plus(SeriesStatistics(panel), Run(), lags=2)
    assert found.stats["windows"] == len(rows) - 4
    assert f"on {len(rows) - 4} windows of 5 steps" in found.message


def test_too_few_steps_and_wrong_options_are_refused_in_one_line() -> None:
    panel = panel_of([windows_of(0)[:5]], ("a", "b", "c"))
    with pytest.raises(DataError, match=r"has 5 steps, and 7 steps .* are needed: choose fewer lags"):
        pcmci_plus(SeriesStatistics(panel), Run(), lags=3)
    with pytest.raises(DataError, match="too few windows"):
        pcmci_plus(SeriesStatistics(panel), Run(), lags=1)
    with pytest.raises(OptionError, match="between 0 and 1"):
        pcmci_plus(SeriesStatistics(panel), Run(), alpha=0.0)


@pytest.mark.full
@pytest.mark.parametrize("test", ["features", "gcm"])
def test_curved_relations_need_another_test(test: str) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(600, 3))
    for t in range(1, len(rows)):
        rows[t] += 0.5 * rows[t - 1]
        rows[t, 1] += (rows[t - 1, 0] ** 2 - 1) * (1.0 if test == "features" else 0.0)
        rows[t, 1] += np.sin(2 * rows[t - 1, 0]) * (1.5 if test == "gcm" else 0.0)
    panel = panel_of([rows], ("a", "b", "c"))
    found = pcmci_plus(SeriesStatistics(panel), Run(), lags=1, test=test)
    assert ("a[t-1]", "b") in found.graph.edges
    assert not {("a[t-1]", "c"), ("b[t-1]", "c"), ("b[t-1]", "a")} & set(found.graph.edges)
    assert found.link_tests["a[t-1]", "b"].value is None


@pytest.mark.full
def test_discrete_columns_by_counts() -> None:
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 800)
    b = np.concatenate([[0], np.where(rng.random(799) < 0.8, a[:-1], 1 - a[:-1])])
    table = dagora.Table.from_numpy(
        np.column_stack([np.arange(800), a, b]), ["t", "a", "b"], continuous=["t"], discrete=["a", "b"]
    )
    found = dagora.learn(table, "pcmci-plus", time="t")
    assert found.graph.edges == (("a[t-1]", "b"),)
    assert found.graph.undirected == ()
    assert "by x2" in found.message


def test_variables_in_another_order_are_the_same_windows() -> None:
    rows = windows_of(3)
    one = SeriesStatistics(panel_of([rows], ("a", "b", "c"))).lagged(2)
    other = SeriesStatistics(panel_of([rows[:, [2, 0, 1]]], ("c", "a", "b"))).lagged(2)
    turned = with_variables(other, ("a", "b", "c"))
    assert turned.schema.names == one.schema.names
    np.testing.assert_allclose(turned.moments().scatter, one.moments().scatter)
