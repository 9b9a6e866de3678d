"""The exact posterior of windows against the sum over all graphs in time, written out."""

from itertools import chain, combinations, permutations, product

import numpy as np
import pytest

import dagora
from dagora.data.series import Panel
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.graph.topological import topological_order
from dagora.scores.registry import score_named
from dagora.stats.table import TableStatistics
from dagora.stats.windows import Windows


def series_of(seed: int, steps: int = 40) -> Table:
    rng = np.random.default_rng(seed)
    x = np.zeros((steps, 2))
    for t in range(1, steps):
        x[t] = [0.4 * x[t - 1, 0] + rng.normal(), 0.3 * x[t - 1, 0] + rng.normal()]
    return Table.from_numpy(np.column_stack([np.arange(steps), x]), ["t", "x", "y"], continuous=["all"])


def all_graphs(
    table: Table, lags: int, most: int | None = None
) -> tuple[tuple[str, ...], list[DAG], np.ndarray]:
    """Every graph in time with its log score, of the families at t."""
    rows = Windows.of(Panel.of_table(table, "t"), lags).table
    assert isinstance(rows, Table)
    score = score_named("bge").make(TableStatistics(rows))
    names, d = rows.names, len(table.names) - 1
    limit = len(names) if most is None else most
    families = [
        [
            (child, p)
            for size in range(limit + 1)
            for p in combinations([k for k in range(len(names)) if k != child], size)
        ]
        for child in range(d)
    ]
    flat = list(chain.from_iterable(families))
    value = dict(zip(flat, score.families(flat).tolist(), strict=True))
    graphs, scores = [], []
    for chosen in product(*families):
        matrix = np.zeros((len(names), len(names)), dtype=bool)
        for child, parents in chosen:
            matrix[list(parents), child] = True
        if topological_order(matrix) is None:
            continue
        graphs.append(DAG.from_numpy(matrix, names))
        scores.append(sum(value[family] for family in chosen))
    return names, graphs, np.array(scores)


@pytest.mark.parametrize("most", [None, 1])
@pytest.mark.parametrize("lags", [1, 2])
def test_edge_probabilities_and_draws_are_those_of_all_graphs(lags: int, most: int | None) -> None:
    table = series_of(3)
    names, graphs, scores = all_graphs(table, lags, most)
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    wanted = sum(weight * graph.to_numpy() for weight, graph in zip(weights, graphs, strict=True))
    found = dagora.sample(table, "exact", time="t", lags=lags, draws=2000, chains=1, max_parents=most, seed=5)
    assert found.nodes == names
    np.testing.assert_allclose(found.edge_probability, wanted, atol=1e-10)
    known = dict(zip(graphs, scores.tolist(), strict=True))
    drawn = [(graph, share) for graph, share in found.graphs()]
    assert all(graph in known for graph, _ in drawn)
    share = dict(drawn)
    for graph, weight in zip(graphs, weights.tolist(), strict=True):
        assert abs(share.get(graph, 0.0) - weight) < 5 * np.sqrt(weight * (1 - weight) / 2000) + 1e-3
    log_sum = np.log(np.exp(scores - scores.max()).sum()) + scores.max()
    assert found.stats["log_sum"] == pytest.approx(log_sum, rel=1e-9)
    assert np.isin(np.round(found.draws.log_scores.ravel(), 6), np.round(scores, 6)).all()


@pytest.mark.full
@pytest.mark.parametrize("method", ["partition", "order"])
def test_chains_agree_with_the_sum_over_all_graphs(method: str) -> None:
    table = series_of(4, 60)
    exact = dagora.sample(table, "exact", time="t", draws=10)
    found = dagora.sample(table, method, time="t", draws=4000, seed=1)
    assert found.status == "finished"
    # Orders favour graphs that agree with many of them; edges from earlier steps agree with as many as others.
    assert np.abs(found.edge_probability - exact.edge_probability).max() < (
        0.03 if method == "partition" else 0.2
    )
    assert "windows of 2 steps" in found.message
    assert found.settings["lags"] == 1


def weak(seed: int) -> Table:
    """A few rows that hang together weakly: many sets of several parents share the probability."""
    x = np.random.default_rng(seed).normal(size=(28, 3))
    rows = np.column_stack([np.arange(25), x[3:] + 0.3 * (x[2:-1] + x[1:-2] + x[:-3])])
    return Table.from_numpy(rows, ["t", "x", "y", "z"], continuous=["all"])


@pytest.mark.parametrize("method", ["partition", "order"])
def test_chains_leave_no_parents_out_where_only_the_present_has_any(method: str) -> None:
    """15 columns, of which 3 have parents; orders count a graph as often as orders of x, y, z agree with it."""
    table = weak(1)
    exact = dagora.sample(table, "exact", time="t", lags=4, seed=2)
    found = dagora.sample(table, method, time="t", lags=4, draws=500, seed=1)
    wanted = exact.edge_probability
    if method == "order":
        drawn = [(graph.to_numpy(), share) for graph, share in exact.graphs()]
        orders = [
            sum(all(not g[b, a] for a, b in combinations(order, 2)) for order in permutations(range(3)))
            for g, _ in drawn
        ]
        weights = np.array([share for _, share in drawn]) * orders
        wanted = np.einsum("g,gij->ij", weights / weights.sum(), np.stack([g for g, _ in drawn]))
    assert np.abs(found.edge_probability - wanted).max() < 0.05
    assert "every parent set" in found.space
    assert ("orders that the graph agrees with at the present step" in found.prior) == (method == "order")
    for graph, _ in found.graphs(20):
        assert topological_order(graph.to_numpy()) is not None
    scored = score_named("bge").make(TableStatistics(Windows.of(Panel.of_table(table, "t"), 4).table))
    best = found.best_graph.to_numpy()
    families = [(child, tuple(np.flatnonzero(best[:, child]).tolist())) for child in range(3)]
    assert found.draws.log_scores.max() == pytest.approx(scored.families(families).sum(), rel=1e-9)
