"""NOTEARS-SOB: its program against rows, finite differences and a generic optimiser; its graphs against the truth."""

import time

import numpy as np
import pytest
from scipy.optimize import minimize as generic

from dagora.base.budget import Budget
from dagora.base.errors import DataError, RowsUnavailableError
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.graph.metrics import compare
from dagora.graph.random_graphs import random_dag
from dagora.learners.optimise.acyclicity import trace_exponential, with_required_edges
from dagora.learners.optimise.additive.notears_sob import notears_sob
from dagora.learners.optimise.additive.orthonormal import OrthonormalBasis, orthonormal_rows
from dagora.learners.optimise.additive.program import EPSILON, AdditiveProgram, minimise, strengths
from dagora.learners.optimise.losses import LeastSquares
from dagora.learners.optimise.notears import notears
from dagora.learners.run import Run
from dagora.network.simulate import simulate
from dagora.stats.basis import basis_features, table_basis_moments
from dagora.stats.statistics import Moments
from dagora.stats.table import TableStatistics

B = 3


def curved(rows=400, seed=0):
    """x1 is a parabola of x0 and x2 one of x1: the covariances show neither edge."""
    rng = np.random.default_rng(seed)
    x0 = rng.uniform(-2, 2, size=rows)
    x1 = x0**2 + 0.5 * rng.normal(size=rows)
    x2 = (x1 - 1.5) ** 2 + 0.5 * rng.normal(size=rows)
    return Table.from_numpy(np.column_stack([x0, x1, x2]), ["x0", "x1", "x2"])


def program_of(table, lambda1=0.1, lambda2=0.05, functions=B, required=None):
    basis = OrthonormalBasis.of(table_basis_moments(table, functions))
    measure = with_required_edges(
        trace_exponential, np.zeros((basis.columns,) * 2, bool) if required is None else required
    )
    return AdditiveProgram(basis, lambda1, lambda2, measure, lambda h: False)


def functions_of(table, functions=B):
    """The orthonormal functions of all columns, row by row."""
    given = table_basis_moments(table, functions)
    columns = np.stack(table.columns)
    raw = basis_features((columns - given.centre[:, None]) / given.half_width[:, None], functions)
    raw = raw - raw.mean(axis=1, keepdims=True)
    for i, column in enumerate(columns):
        block = slice(i * functions, (i + 1) * functions)
        raw[block] = (
            column.std() * orthonormal_rows(np.cov(raw[block], bias=True).reshape(functions, -1)) @ raw[block]
        )
    return raw


def test_functions_are_orthogonal_within_a_column_and_begin_with_the_column():
    table = curved()
    basis = OrthonormalBasis.of(table_basis_moments(table, B))
    for i, column in enumerate(table.columns):
        block = basis.covariance[i * B : (i + 1) * B, i * B : (i + 1) * B]
        assert np.allclose(block, column.var() * np.eye(B), atol=1e-9)
    u = functions_of(table)
    assert np.allclose(u[::B], np.stack(table.columns) - np.mean(table.columns, axis=1, keepdims=True))
    assert np.allclose(basis.covariance, u @ u.T / table.n_rows, atol=1e-10)
    scaled = OrthonormalBasis.of(table_basis_moments(table, B), standardise=True).covariance
    assert np.allclose(np.diag(scaled), 1.0)


def test_a_function_that_others_explain_is_zero():
    """Three values: a line and a parabola, and nothing is left for a cubic."""
    values = np.repeat([0.0, 1.0, 5.0], 20)
    noise = np.random.default_rng(0).normal(size=60)
    basis = OrthonormalBasis.of(
        table_basis_moments(
            Table.from_numpy(np.column_stack([values, noise]), "ab", continuous=["a", "b"]), 4
        )
    )
    assert np.diag(basis.covariance)[:4].round(6).tolist() == pytest.approx(
        [values.var(), values.var(), 0, 0], abs=1e-6
    )


def test_the_fit_is_that_of_the_rows():
    table = curved()
    w = np.random.default_rng(1).normal(size=(3, B, 3))
    u, x = functions_of(table), np.stack(table.columns)
    residual = x - x.mean(axis=1, keepdims=True) - w.reshape(3 * B, 3).T @ u
    program = program_of(table)
    assert program.fit(w)[0] == pytest.approx(0.5 * np.square(residual).mean(axis=1).sum(), rel=1e-10)
    by_hand = program.fit(w)[0] + 0.1 * np.sqrt(np.square(w).sum(axis=1)).sum() + 0.025 * np.square(w).sum()
    assert program.objective(w) == pytest.approx(by_hand, rel=1e-12)
    # A strength is the standard deviation of a function over that of its column.
    part = w[0, :, 2] @ u[:B]
    assert strengths(w)[0, 2] == pytest.approx(part.std() / table.columns[0].std())


@pytest.mark.parametrize("required", [False, True])
def test_gradient_by_finite_differences(required):
    known = np.zeros((3, 3), dtype=bool)
    known[2, 0] = required
    program = program_of(curved(), required=known)
    w = 0.3 * np.random.default_rng(2).normal(size=(3, B, 3)) * ~np.eye(3, dtype=bool)[:, None, :]
    gradient = program.evaluate(w, 0.7, 3.0).gradient
    for index in np.ndindex(w.shape):
        step = np.zeros_like(w)
        step[index] = 1e-6
        if index[0] != index[2]:
            ahead, behind = (program.evaluate(w + sign * step, 0.7, 3.0).value for sign in (1, -1))
            assert gradient[index] == pytest.approx((ahead - behind) / 2e-6, rel=1e-5, abs=1e-6)


@pytest.mark.full
def test_the_fit_of_a_graph_is_the_minimum_that_a_generic_optimiser_finds():
    program = program_of(curved())
    support = np.zeros((3, 3), dtype=bool)
    support[0, 1] = support[1, 2] = support[0, 2] = True
    found, in_time = minimise(program, np.zeros((3, B, 3)), support)
    assert in_time
    assert not found.transpose(0, 2, 1)[~support].any()

    def objective(entries):
        w = np.zeros((3, 3, B))
        w[support] = entries.reshape(-1, B)
        return program.objective(w.transpose(0, 2, 1))

    best = min(
        generic(objective, np.random.default_rng(s).normal(size=3 * B), method="Nelder-Mead",
                options={"maxiter": 40_000, "maxfev": 40_000, "xatol": 1e-9, "fatol": 1e-12, "adaptive": True}).fun
        for s in range(2)
    )  # fmt: skip
    assert program.objective(found) <= best + 1e-6
    assert program.objective(found) == pytest.approx(best, rel=1e-3)


def test_the_penalty_sets_whole_edges_to_zero():
    program = program_of(curved(), lambda1=0.4)
    free = ~np.eye(3, dtype=bool)
    free[1:, 0] = free[2, 1] = False
    found, _ = minimise(program, np.zeros((3, B, 3)), free)
    sizes = strengths(found)
    assert sizes[0, 2] < 20 * EPSILON, "x0 tells nothing about x2 that x1 does not"
    assert min(sizes[0, 1], sizes[1, 2]) > 0.1


@pytest.mark.full
def test_one_function_is_linear_notears():
    graph = random_dag("er", 6, 1.5, seed=4)
    statistics = TableStatistics(simulate(graph, "gaussian", 500, seed=4).table)
    outcome = notears_sob(statistics, Run(), functions=1, lambda1=0.1, lambda2=0.0, threshold=0.3)
    linear = notears(statistics, Run(), lambda1=0.1, threshold=0.3)
    assert outcome.graph == linear.graph
    assert np.allclose(outcome.weights, np.abs(linear.weights), atol=1e-3)
    refit = LeastSquares(statistics.moments().covariance).refit(outcome.graph.to_numpy(), 0.1)
    assert np.allclose(outcome.weights, np.abs(refit), atol=1e-3)
    assert outcome.score == pytest.approx(linear.score, rel=1e-8)


def test_it_sees_what_no_covariance_shows():
    statistics = TableStatistics(curved(1000, seed=1))
    outcome = notears_sob(statistics, Run())
    assert outcome.graph.edges == (("x0", "x1"), ("x1", "x2"))
    assert ("x0", "x1") not in notears(statistics, Run(), lambda1=0.03).graph.edges
    assert outcome.status == "finished"
    assert outcome.stats["h"] <= 1e-8
    assert outcome.stats["functions"] == 5
    assert np.array_equal(outcome.weights != 0, outcome.graph.to_numpy())
    spread = np.var(statistics.rows().columns, axis=1).sum() / 2
    assert -spread < outcome.score < 0


@pytest.mark.slow
def test_better_than_linear_on_nonlinear_data():
    ours, linear = [], []
    for seed in range(4):
        graph = random_dag("er", 8, 2, seed=seed)
        statistics = TableStatistics(simulate(graph, "fourier", 600, seed=seed).table)
        ours.append(compare(notears_sob(statistics, Run()).graph, graph).shd)
        linear.append(compare(notears(statistics, Run(), lambda1=0.03).graph, graph).shd)
    assert sum(ours) < 0.7 * sum(linear)
    assert np.median(ours) <= 1


def test_knowledge_is_obeyed_and_nothing_has_to_be_dropped_for_it():
    statistics = TableStatistics(curved())
    known = Knowledge(required=[("x2", "x0")], forbidden=[("x0", "x1")])
    outcome = notears_sob(statistics, Run(knowledge=known))
    assert known.violations(outcome.graph) == []
    assert outcome.stats["dropped_edges"] == 0
    nothing = notears_sob(statistics, Run(knowledge=known), threshold=1e6)
    assert nothing.graph.edges == (("x2", "x0"),)


@pytest.mark.full
def test_units_of_all_columns_together_do_not_matter_and_single_ones_do_not_if_standardised():
    table = curved()
    plain = notears_sob(TableStatistics(table), Run())
    larger = Table(table.schema, tuple(1e6 * column - 3.0 for column in table.columns))
    scaled = notears_sob(TableStatistics(larger), Run(), lambda1=0.03 * 1e12, lambda2=0.01 * 1e12)
    assert scaled.graph == plain.graph
    assert np.allclose(scaled.weights, plain.weights, atol=0.02)
    mixed = Table(table.schema, tuple(10.0**i * column for i, column in enumerate(table.columns)))
    one, two = (notears_sob(TableStatistics(t), Run(), standardise=True) for t in (table, mixed))
    assert one.graph == two.graph
    assert np.allclose(one.weights, two.weights, atol=1e-6)
    assert any("units" in warning and "standardise=true" in warning for warning in plain.warnings)
    assert not any("units" in warning for warning in one.warnings)


def test_time_limits():
    graph = random_dag("er", 30, 2, seed=0)
    statistics = TableStatistics(simulate(graph, "mlp", 300, seed=0).table)
    began = time.monotonic()
    outcome = notears_sob(statistics, Run(budget=Budget(0.3)))
    assert time.monotonic() - began < 20
    assert outcome.status == "time-limit"
    assert "time limit of 0.3 s" in outcome.message
    stopped = Budget()
    stopped.stop("it was interrupted")
    nothing = notears_sob(statistics, Run(knowledge=Knowledge(required=[("x1", "x0")]), budget=stopped))
    assert nothing.graph.edges == (("x1", "x0"),)
    assert nothing.score == pytest.approx(-np.var(statistics.rows().columns, axis=1).sum() / 2)


def test_edges_dropped_to_reach_a_dag_are_listed():
    outcome = notears_sob(TableStatistics(curved(100)), Run(), threshold=0.0)
    assert outcome.stats["dropped_edges"] > 0
    assert outcome.warnings[0].startswith("dropped to reach a DAG: ")


class OnlyMoments:
    """Statistics without basis moments."""

    def __init__(self, table):
        self.schema, self.n_rows = table.schema, table.n_rows
        self._moments = TableStatistics(table).moments()

    def moments(self) -> Moments:
        return self._moments


def test_what_cannot_be_learned_from_is_refused():
    with pytest.raises(
        RowsUnavailableError, match=r"needs rows or the moments of basis functions.*choose notears"
    ):
        notears_sob(OnlyMoments(curved()), Run())
    twice = np.column_stack([curved().columns[0]] * 2)
    with pytest.raises(DataError, match="columns 'a' and 'b' are equal up to scale and shift"):
        notears_sob(TableStatistics(Table.from_numpy(twice, "ab")), Run())
    with pytest.raises(DataError, match="too large to be squared"):
        notears_sob(TableStatistics(Table.from_numpy(twice * [1.0, 1e200] + [[0, 1]], "ab")), Run())


@pytest.mark.full
def test_repeated_runs_agree_to_the_last_bit():
    one, two = (notears_sob(TableStatistics(curved()), Run(seed=seed)) for seed in (1, 2))
    assert np.array_equal(one.weights, two.weights)
    assert isinstance(one.graph, DAG)
