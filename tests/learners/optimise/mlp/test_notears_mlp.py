"""NOTEARS-MLP: its parts against plain loops and finite differences, its graphs against the truth."""

import time

import numpy as np
import pytest
from scipy.linalg import expm

from dagora.base.budget import Budget
from dagora.base.errors import DataError, RowsUnavailableError
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.graph.metrics import compare
from dagora.graph.random_graphs import random_dag
from dagora.learners.run import Run
from dagora.network.simulate import simulate
from dagora.stats.table import TableStatistics

pytest.importorskip("jax")

from dagora.learners.optimise.method_of_multipliers import ConstrainedMinimum
from dagora.learners.optimise.mlp import network
from dagora.learners.optimise.mlp import notears_mlp as mlp
from dagora.learners.optimise.mlp.notears_mlp import centred_columns, initial_weights, notears_mlp
from dagora.learners.optimise.mlp.program import MlpProgram, WeightPacking, strengths

UNITS, D, ROWS = 3, 4, 20


def drawn(seed: int = 0) -> tuple[network.NetworkWeights, np.ndarray]:
    """Weights and columns of a small problem; no input is its own."""
    rng = np.random.default_rng(seed)
    inward = rng.normal(size=(UNITS, D, D)) * (1 - np.eye(D))
    weights = network.NetworkWeights(
        inward, rng.normal(size=(UNITS, D)), rng.normal(size=(UNITS, D)), rng.normal(size=D)
    )
    return weights, rng.normal(size=(D, ROWS))


def program(penalty: str, columns: np.ndarray) -> MlpProgram:
    return MlpProgram(columns, 0.3, 0.2, penalty, lambda h: False)


def chain(rows: int = 300, seed: int = 1) -> tuple[DAG, TableStatistics]:
    """Nonlinear data on a graph of five nodes."""
    graph = random_dag("er", 5, 1, seed=seed)
    return graph, TableStatistics(simulate(graph, "mlp", rows, seed=seed).table)


def test_predictions_are_those_of_a_plain_forward_pass():
    weights, columns = drawn()
    expected = np.zeros((D, ROWS))
    for j in range(D):
        # Sigmoid units as they are; the half that ours lack goes into the output's bias.
        bias = weights.outward_bias[j] - 0.5 * weights.outward[:, j].sum()
        for r in range(ROWS):
            total = bias
            for u in range(UNITS):
                z = weights.inward_bias[u, j] + sum(weights.inward[u, j, k] * columns[k, r] for k in range(D))
                total += weights.outward[u, j] / (1 + np.exp(-z))
            expected[j, r] = total
    assert np.allclose(network.predictions(weights, columns), expected, rtol=1e-12, atol=1e-12)
    fit = np.sum((columns - expected) ** 2) / (2 * ROWS)
    assert float(network.fit(weights, columns)) == pytest.approx(fit, rel=1e-12)


def test_strengths_by_explicit_loops():
    weights, _ = drawn()
    found = strengths(weights)
    for k in range(D):
        for j in range(D):
            assert found[k, j] == pytest.approx(
                np.sqrt(sum(weights.inward[u, j, k] ** 2 for u in range(UNITS))), rel=1e-14
            )
    assert np.allclose(network.squared_strengths(weights.inward), found**2, rtol=1e-13)


@pytest.mark.parametrize("scale", [1e-6, 0.1, 1.0, 30.0])
def test_h_is_the_trace_exponential(scale):
    squares = scale * np.random.default_rng(1).random((6, 6))
    assert float(network.acyclicity(squares)) == pytest.approx(np.trace(expm(squares)) - 6, rel=1e-8)
    assert float(network.acyclicity(np.triu(squares, 1))) == 0.0
    gradient = network.jax.grad(network.acyclicity)(squares)
    assert np.allclose(gradient, expm(squares).T, rtol=1e-10)


def test_h_of_a_tiny_cycle_is_not_lost_to_rounding():
    squares = np.array([[0.0, 1e-10], [1e-10, 0.0]])  # 2 cosh(1e-10) − 2
    assert float(network.acyclicity(squares)) == pytest.approx(1e-20, rel=1e-12)


@pytest.mark.parametrize("penalty", ["l1", "group"])
def test_gradient_of_the_whole_objective_by_finite_differences(penalty):
    weights, columns = drawn(2)
    given = program(penalty, columns)
    split = penalty == "l1"
    free = ~np.eye(D, dtype=bool)
    free[0, 2] = False
    packing = WeightPacking(free, UNITS, split)
    lambda1 = 0.3 if split else 0.0
    signed = 2 * packing.entries if split else 0
    # Off the bounds, so that both signs move.
    point = packing.pack(weights) + 0.1

    def value(vector: np.ndarray) -> float:
        return given.evaluate(packing.unpack(vector), 0.7, 0.4)[0] + lambda1 * vector[:signed].sum()

    gradient = packing.gradient(given.evaluate(packing.unpack(point), 0.7, 0.4)[1], lambda1)
    numeric = np.array(
        [(value(point + step) - value(point - step)) / 2e-5 for step in 1e-5 * np.eye(len(point))]
    )
    assert np.allclose(gradient, numeric, rtol=1e-5, atol=1e-6 * np.abs(numeric).max())


def test_the_objective_by_hand():
    weights, columns = drawn(3)
    plain = float(network.fit(weights, columns)) + 0.1 * (
        (weights.inward**2).sum() + (weights.outward**2).sum()
    )
    for penalty, size in (("l1", np.abs(weights.inward).sum()), ("group", strengths(weights).sum())):
        objective, h = program(penalty, columns).objective(weights)
        assert objective == pytest.approx(plain + 0.3 * size, rel=1e-12)
        assert h == pytest.approx(np.trace(expm(strengths(weights) ** 2)) - D, rel=1e-8)
    rounded = float(network.group(network.squared_strengths(weights.inward)))
    assert rounded == pytest.approx(strengths(weights).sum(), abs=D * D * network.EPSILON)


@pytest.mark.parametrize("split", [True, False])
def test_packing_and_back(split):
    weights, _ = drawn()
    free = ~np.eye(D, dtype=bool)
    free[1, 3] = False
    packing = WeightPacking(free, UNITS, split)
    vector = packing.pack(weights)
    assert len(vector) == (1 + split) * UNITS * (D * D - D - 1) + 2 * UNITS * D + D
    back = packing.unpack(vector)
    blind = np.array(weights.inward)
    blind[:, 3, 1] = 0  # network 3 does not look at input 1
    assert np.array_equal(back.inward, blind)
    assert all(np.array_equal(a, b) for a, b in zip(back[1:], weights[1:], strict=True))
    if split:
        assert (vector[: 2 * packing.entries] >= 0).all()


def linear_sort_regress(columns: np.ndarray, threshold: float = 0.3) -> DAG:
    """A linear baseline: order by variance, regress each on all before it."""
    order = np.argsort(columns.var(axis=1))
    matrix = np.zeros((len(columns), len(columns)), dtype=bool)
    for place in range(1, len(order)):
        before, child = order[:place], order[place]
        slopes = np.linalg.lstsq(columns[before].T, columns[child], rcond=None)[0]
        matrix[before, child] = np.abs(slopes) > threshold
    return DAG.from_numpy(matrix)


@pytest.mark.parametrize("penalty", ["l1", "group"])
def test_a_small_graph_is_recovered(penalty):
    graph, statistics = chain()
    outcome = notears_mlp(statistics, Run(seed=0), penalty=penalty)
    assert outcome.status == "finished"
    shd = compare(outcome.graph, graph).shd
    linear = compare(linear_sort_regress(centred_columns(statistics, standardise=False)), graph).shd
    assert shd <= 2
    assert shd < linear
    assert shd < len(graph.edges)
    assert outcome.stats["h"] <= 1e-8
    assert outcome.stats["hidden"] == 10
    assert outcome.stats["evaluations"] > outcome.stats["rounds"] > 0
    assert np.array_equal(outcome.weights != 0, outcome.graph.to_numpy())
    # No graph's networks do worse than predicting the means.
    spread = centred_columns(statistics, standardise=False).var(axis=1).sum() / 2
    assert -spread < outcome.score < 0


@pytest.fixture
def few_steps(monkeypatch):
    """Networks that are fitted roughly, where it does not matter how well."""
    monkeypatch.setattr("dagora.learners.optimise.mlp.program.PATH_STEPS", 20)


@pytest.mark.usefixtures("few_steps")
def test_seeds():
    _, statistics = chain(rows=100)
    first, again = (notears_mlp(statistics, Run(seed=1), hidden=4) for _ in range(2))
    assert first.score == again.score
    assert np.array_equal(first.weights, again.weights)
    assert dict(first.stats) == dict(again.stats)
    free = ~np.eye(5, dtype=bool)
    assert not np.array_equal(initial_weights(free, 4, 1).inward, initial_weights(free, 4, 2).inward)


def test_initial_weights_respect_what_is_not_free():
    free = ~np.eye(4, dtype=bool)
    free[2, 0] = False
    weights = initial_weights(free, 5, seed=0)
    assert np.array_equal(strengths(weights) > 0, free)


@pytest.mark.usefixtures("few_steps")
def test_knowledge_is_obeyed():
    graph, statistics = chain(rows=100)
    tail, head = graph.edges[0]
    unlinked = next(
        (a, b) for a in graph for b in graph if a < b and {(a, b), (b, a)}.isdisjoint(graph.edges)
    )
    known = Knowledge(required=[(head, tail), unlinked], forbidden=[graph.edges[1]])
    # A threshold that nothing reaches leaves what is required.
    outcome = notears_mlp(statistics, Run(knowledge=known), hidden=4, threshold=1e6)
    assert set(outcome.graph.edges) == set(known.required)
    last = graph.order[-1]
    known = Knowledge(forbidden=[graph.edges[1]], tiers=[(last,), graph.order[:-1]])
    outcome = notears_mlp(statistics, Run(knowledge=known), hidden=4, threshold=0.01)
    assert known.violations(outcome.graph) == []
    assert len(outcome.graph.edges) > 4


def test_nothing_has_to_be_dropped_for_a_required_edge():
    """It counts as there from the start, so that the networks arrange themselves around it."""
    graph, statistics = chain()
    known = Knowledge(required=[(graph.order[-1], graph.order[0])])
    outcome = notears_mlp(statistics, Run(knowledge=known), hidden=4)
    assert not known.violations(outcome.graph)
    assert outcome.stats["h"] <= 1e-8
    assert outcome.stats["dropped_edges"] == 0


def test_edges_dropped_to_reach_a_dag_are_listed():
    _, statistics = chain(rows=100)
    outcome = notears_mlp(statistics, Run(), hidden=4, threshold=0.0)
    assert outcome.stats["dropped_edges"] > 0
    warning = outcome.warnings[0]
    assert warning.startswith("edges dropped to reach a DAG: x")
    assert warning.count("→") == outcome.stats["dropped_edges"]


def test_the_scale_of_columns_is_taken_out_on_request():
    _, statistics = chain(rows=100)
    table = statistics.rows()
    scaled = Table(table.schema, tuple((i + 2) * column + 7 for i, column in enumerate(table.columns)))
    one, two = (centred_columns(TableStatistics(t), standardise=True) for t in (table, scaled))
    assert np.allclose(one, two, atol=1e-12)
    assert np.allclose(one.mean(axis=1), 0, atol=1e-12)
    assert np.allclose(one.std(axis=1), 1)
    plain = centred_columns(statistics, standardise=False)
    assert np.allclose(plain[2], table.columns[2] - table.columns[2].mean())
    assert notears_mlp(statistics, Run(), hidden=4, standardise=True).status == "finished"


def test_it_comes_with_its_sortability():
    rng = np.random.default_rng(0)
    cause = rng.normal(size=300)
    rows = np.column_stack([np.tanh(cause) * 4 + rng.normal(size=300), cause])
    statistics = TableStatistics(Table.from_numpy(rows, names=["b", "a"]))
    raw, scaled = (notears_mlp(statistics, Run(), hidden=4, standardise=s) for s in (False, True))
    assert raw.graph.edges == (("a", "b"),)
    assert raw.stats["varsortability"] == 1.0
    assert raw.stats["r2_sortability"] == 0.5
    assert any("units" in warning and "standardise=true" in warning for warning in raw.warnings)
    assert not any("units" in warning for warning in scaled.warnings)


def test_a_time_limit_returns_the_best_so_far():
    _, statistics = chain()
    notears_mlp(statistics, Run(budget=Budget(0.01)))  # whatever must be compiled is
    started = time.monotonic()
    outcome = notears_mlp(statistics, Run(budget=Budget(0.3)))
    assert time.monotonic() - started < 20
    assert outcome.status == "time-limit"
    assert "time limit of 0.3 s" in outcome.message


def test_stopped_before_anything_was_learned():
    graph, statistics = chain()
    tail, head = graph.edges[0]
    budget = Budget()
    budget.stop("it was interrupted")
    known = Knowledge(required=[(head, tail)])
    outcome = notears_mlp(statistics, Run(knowledge=known, budget=budget))
    assert outcome.status == "time-limit"
    assert outcome.graph.edges == ((head, tail),)
    spread = centred_columns(statistics, standardise=False).var(axis=1).sum() / 2
    assert outcome.score == pytest.approx(-spread, rel=1e-12)


def test_stopped_in_the_middle_shows_signs_of_life_and_keeps_what_was_learned(monkeypatch):
    _, statistics = chain()
    monkeypatch.setattr("dagora.learners.optimise.progress.EVENT_INTERVAL", -1.0)
    budget, events = Budget(), []

    def observe(event):
        events.append(event)
        if len(events) == 60:
            budget.stop("it was interrupted")

    outcome = notears_mlp(statistics, Run(budget=budget, on_event=observe))
    assert len(events) == 60
    assert "h = " in events[-1].message
    assert outcome.status == "time-limit"
    assert outcome.message.startswith("it was interrupted")
    spread = centred_columns(statistics, standardise=False).var(axis=1).sum() / 2
    assert outcome.score > -spread


def test_out_of_time_the_score_is_that_of_the_networks_without_dropped_inputs():
    """x₁ = 4 (σ(2x₀) − ½) is known; the weak input x₁ of network 0 is dropped, and so is what it predicts."""
    x0 = np.random.default_rng(0).normal(size=50)
    x1 = 4 / (1 + np.exp(-2 * x0)) - 2
    inward = np.array([[[0.0, 0.1], [2.0, 0.0]]])
    weights = network.NetworkWeights(inward, np.zeros((1, 2)), np.array([[5.0, 4.0]]), np.zeros(2))
    given = MlpProgram(np.stack([x0, x1]), 0.0, 0.0, "l1", lambda h: False)
    outcome = mlp.finish(given, ConstrainedMinimum(weights, 1.0, 3, in_time=False), Run(), ("a", "b"), 0.3)
    assert outcome.graph.edges == (("a", "b"),)
    assert outcome.score == pytest.approx(-0.5 * np.mean(x0**2), rel=1e-12)
    assert outcome.status == "time-limit"


def refused(rows: np.ndarray, message: str, error: type[Exception] = DataError, **table: object) -> None:
    with pytest.raises(error, match=message):
        notears_mlp(TableStatistics(Table.from_numpy(rows, names=["a", "b", "c"], **table)), Run())


def test_refusals():
    rows = np.random.default_rng(0).normal(size=(30, 3))
    discrete = rows.copy()
    discrete[:, 1] = rows[:, 1] > 0
    refused(discrete, "needs continuous columns, but 'b' is discrete", discrete=["b"])
    constant = rows.copy()
    constant[:, 1] = 0.1
    refused(constant, "column 'b' is constant", continuous=["b"])
    twice = rows.copy()
    twice[:, 2] = rows[:, 0]
    refused(twice, "columns 'a' and 'c' are equal up to scale and shift, so the method notears-mlp")
    twice[:, 2] = 1 - 2 * rows[:, 0]
    refused(twice, "columns 'a' and 'c' are equal up to scale and shift")
    for factor, size in (
        (1e200, "too large to be squared: scale it down"),
        (1e-200, "too small to be squared"),
    ):
        refused(rows * [1.0, factor, 1.0], f"column 'b' are {size}")


def test_rows_that_may_not_be_seen():
    class Sums(TableStatistics):
        def rows(self) -> Table:
            raise RowsUnavailableError("only sums may be seen")

    rows = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(RowsUnavailableError):
        notears_mlp(Sums(Table.from_numpy(rows)), Run())
