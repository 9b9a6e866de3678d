"""NOTEARS from the front door: the exact optimum beside it, knowledge, bad and odd data, clocks and bits."""

import json
import math
import time
from functools import cache

import numpy as np
import pytest

import dagora
from dagora.base.budget import Budget
from dagora.base.errors import DataError, KnowledgeError, OptionError, RowsUnavailableError
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.learners.optimise.losses import LeastSquares
from dagora.learners.optimise.notears import NotearsTask, notears, sorting_baseline
from dagora.learners.optimise.path.path_solver import NEARLY
from dagora.learners.optimise.path.smooth_path import CUTS, PathProgram
from dagora.learners.optimise.sortability import r2_sortability, varsortability
from dagora.learners.result import Result
from dagora.learners.run import Run
from dagora.stats.statistics import CellCounts, Moments
from dagora.stats.table import TableStatistics
from tests.learners.optimise.optimise_oracles import violation
from tests.learners.optimise.order_oracles import FreshSolves, obeying_orders
from tests.random_tables import continuous_table

LOSSES = ("least-squares", "profile", "logistic", "poisson")
# Every loss with every solver that takes it.
PAIRS = [
    ("least-squares", False),
    ("least-squares", True),
    ("profile", False),
    ("logistic", False),
    ("logistic", True),
    ("poisson", False),
    ("poisson", True),
]
LIGHT = {
    "least-squares": {},
    "profile": {"lambda1": 0.02, "threshold": 0.05},
    "logistic": {"lambda1": 0.01},
    "poisson": {"lambda1": 0.01, "threshold": 0.1},
}
SEM = {"least-squares": "gaussian", "profile": "gaussian", "logistic": "logistic", "poisson": "poisson"}
each_pair = pytest.mark.parametrize(("loss", "published"), PAIRS)


@cache
def simulated(d, rows, seed, sem="gaussian", kind="er", degree=2.0):
    graph = dagora.random_dag(kind, d, degree, seed=seed)
    return graph, dagora.simulate(graph, sem, rows, seed=seed + 1).table


def rows_of(table):
    return np.column_stack(table.columns).astype(float)


def learn(data, **given):
    result = dagora.learn(data, "notears", **given)
    check_result(result)
    return result


def check_result(result):
    """What holds for every result, whatever the data."""
    weights, support = result.weights, result.graph.to_numpy()
    assert isinstance(result.graph, DAG)
    assert np.isfinite(weights).all()
    required = Knowledge.from_dict(result.settings["knowledge"]).required_matrix(result.graph.nodes)
    assert np.array_equal(support, (weights != 0) | required)
    if result.settings["cut"] == "one-by-one":
        assert (np.abs(weights[support & ~required]) >= result.settings["threshold"]).all()
    assert all(math.isfinite(value) for value in result.stats.values())
    again = Result.from_json(result.to_json())
    assert np.array_equal(again.weights, weights)
    assert again.to_dict() == result.to_dict()
    assert json.loads(result.to_json())["weights"] == weights.tolist()


# The exact optimum


@pytest.mark.full
@pytest.mark.parametrize("rows", [20, 1000])
@pytest.mark.parametrize("lambda1", [0.0, 0.1, 0.5])
def test_close_to_the_exact_optimum_and_never_below(lambda1, rows):
    excess = []
    for seed, (d, kind, degree) in enumerate(
        [(8, "er", 2.0), (8, "sf", 4.0), (9, "er", 2.0), (10, "sf", 4.0)]
    ):
        _, table = simulated(d, rows, seed, kind=kind, degree=degree)
        best = dagora.learn(table, "dynamic", score="lasso", lambda1=lambda1)
        assert best.status == "optimal"
        found = learn(table, lambda1=lambda1, threshold=0.0)
        excess.append(found.score / best.score - 1)
    assert min(excess) > -1e-9
    assert max(excess) < 0.01
    assert np.median(excess) < 1e-6


@pytest.mark.parametrize("lambda1", [0.0, 0.1])
def test_with_knowledge_it_is_the_optimum_too(lambda1):
    for seed in range(3):
        graph, table = simulated(8, 100, seed)
        names = graph.nodes
        knowledge = Knowledge(
            required=[(names[7], names[0])], forbidden=list(graph.edges[:2]), tiers=[names[4:], names[:4]]
        )
        best = dagora.learn(table, "dynamic", score="lasso", lambda1=lambda1, knowledge=knowledge)
        found = learn(table, lambda1=lambda1, threshold=0.0, knowledge=knowledge)
        assert not knowledge.violations(found.graph)
        assert found.score == pytest.approx(best.score, rel=1e-6)


@pytest.mark.full
@pytest.mark.parametrize("cut", CUTS)
def test_after_the_threshold_it_is_the_best_of_all_orders_that_are_nearly_best(cut):
    """Each of 720 orders solved, and its columns thresholded, plainly."""
    excess = []
    for seed in range(6):
        _, table = simulated(6, 100, seed, kind="sf" if seed % 2 else "er", degree=4.0)
        moments = np.cov(rows_of(table).T, bias=True)
        program = PathProgram(moments, 0.1, ~np.eye(6, dtype=bool), np.zeros((6, 6), dtype=bool))
        full, thresholded = FreshSolves(program), FreshSolves(program, 0.5, cut)
        orders = obeying_orders(program)
        enough = min(full.order(order) for order in orders) * (1 + NEARLY)
        best = min(thresholded.order(order) for order in orders if full.order(order) <= enough)
        found = learn(table, threshold=0.5, cut=cut)
        excess.append(-found.score / best - 1)
    assert min(excess) > -1e-7
    assert np.median(excess) < 1e-6
    assert max(excess) < 0.02


def test_the_score_is_minus_the_objective_on_the_rows():
    _, table = simulated(8, 200, 0)
    result = learn(table)
    rows = rows_of(table) - rows_of(table).mean(axis=0)
    loss = ((rows - rows @ result.weights) ** 2).sum() / (2 * len(rows))
    assert -result.score == pytest.approx(loss + 0.1 * np.abs(result.weights).sum(), rel=1e-9)
    _, slopes = LeastSquares(rows.T @ rows / len(rows)).value_and_gradient(result.weights)
    kept = result.weights != 0
    assert violation(result.weights[kept], slopes[kept], 0.1).max() < 1e-8, "solved again on what is left"


# Solvers and losses


@pytest.mark.full
@pytest.mark.parametrize("lambda1", [0.0, 0.1])
def test_solvers_agree_where_both_converge(lambda1):
    for seed in range(2):
        graph, table = simulated(5, 1000, seed, degree=1.0)
        path = learn(table, lambda1=lambda1)
        published = learn(table, lambda1=lambda1, published=True)
        assert published.stats["h"] <= 1e-8
        assert path.graph == published.graph == graph
        exact = learn(table, lambda1=lambda1, threshold=0.0)
        edges = graph.to_numpy()  # the weights of no edges are chance, and differ with the order found
        np.testing.assert_allclose(exact.weights[edges], published.raw_weights[edges], atol=0.03)
        assert np.abs(published.raw_weights[~edges]).max() < 0.1
        assert -exact.score == pytest.approx(published.stats["objective_before_threshold"], rel=1e-3)


@pytest.mark.full
def test_path_is_not_worse_where_they_differ():
    for seed in range(2):
        _, table = simulated(4, 300, seed, degree=1.5)
        path, published = (learn(table, threshold=0.0, published=how) for how in (False, True))
        assert path.score >= published.score - 1e-6 * abs(published.score)


@pytest.mark.full
@pytest.mark.parametrize("loss", ["logistic", "poisson"])
def test_rows_of_other_families_recover_the_graph(loss):
    exact = 0
    for seed in range(3):
        graph, table = simulated(5, 2000, seed, sem=loss, degree=1.0)
        # The simulation has no intercept, which tells the directions of binary columns.
        result = learn(table, loss=loss, intercept=False, **LIGHT[loss])
        assert result.stats["h"] <= 1e-8
        exact += result.graph == graph
    assert exact >= 2


@pytest.mark.full
@pytest.mark.parametrize("loss", ["logistic", "poisson"])
def test_levels_are_no_edges_and_edges_are_found_at_any_level(loss):
    rng = np.random.default_rng(3)
    if loss == "logistic":
        independent = rng.binomial(1, 0.9, (1000, 4))
        causes = rng.binomial(1, 0.8, (4000, 2))
        effect = rng.binomial(1, 1 / (1 + np.exp(3 - 2.5 * causes.sum(axis=1))))
    else:
        independent = rng.poisson(6.0, (1000, 4))
        causes = rng.poisson(1.0, (4000, 2))
        effect = rng.poisson(np.exp(0.4 * causes.sum(axis=1) - 1.0))
    columns = {"discrete": [f"x{i}" for i in range(4)]} if loss == "logistic" else {}
    table = Table.from_numpy(independent, names=[f"x{i}" for i in range(4)], **columns)
    assert not learn(table, loss=loss).graph.edges
    table = continuous_table(np.column_stack([causes, effect]).astype(float))
    given = {"loss": loss, "threshold": 0.1, "knowledge": {"tiers": [["x0", "x1"], ["x2"]]}}
    found = learn(table, lambda1=0.001, **given)
    assert found.graph.edges == (("x0", "x2"), ("x1", "x2"))
    truth = 2.5 if loss == "logistic" else 0.4
    np.testing.assert_allclose(found.weights[:2, 2], truth, rtol=0.15)
    published = learn(table, lambda1=0.001, intercept=False, **given)
    assert np.abs(published.weights[:2, 2] - truth).min() > 0.3 * truth


def test_centred_columns_have_no_intercept_to_leave_out():
    for loss in ("least-squares", "profile"):
        refuse(OptionError, "intercept=false belongs to loss=logistic or poisson", continuous_table(noise()),
               loss=loss, intercept=False)  # fmt: skip


def test_least_squares_recovers_the_graph():
    graph, table = simulated(20, 1000, 3)
    assert len(set(learn(table).graph.edges) ^ set(graph.edges)) <= 3


@pytest.mark.full
@each_pair
def test_knowledge_is_obeyed(loss, published):
    graph, table = simulated(4, 200, 1, sem=SEM[loss], degree=1.0)
    names = graph.nodes
    given = {"loss": loss, "published": published, **LIGHT[loss]}
    plain = learn(table, **given).graph
    assert plain.edges
    tail, head = plain.edges[0]
    apart = next((a, b) for a in names for b in names if a < b and not {(a, b), (b, a)} & set(plain.edges))
    for knowledge in (
        Knowledge(required=[(head, tail), apart]),
        Knowledge(forbidden=plain.edges),
        Knowledge(tiers=[[head], [name for name in names if name != head]]),
        Knowledge(required=[(head, tail)], forbidden=[apart], tiers=[[head], [tail]]),
    ):
        assert knowledge.violations(plain) or knowledge.forbidden == (apart,)
        found = learn(table, knowledge=knowledge, **given)
        assert not knowledge.violations(found.graph)


@each_pair
def test_a_parent_limit_is_refused(loss, published):
    _, table = simulated(6, 400, 1, sem=SEM[loss], degree=1.5)
    with pytest.raises(KnowledgeError, match=r"^the method notears cannot obey max_parents: raise lambda1"):
        dagora.learn(table, "notears", loss=loss, published=published, max_parents=2)


def test_a_required_edge_without_effect_is_there_with_weight_zero():
    rng = np.random.default_rng(0)
    table = continuous_table(rng.normal(size=(200, 3)))
    for published in (False, True):
        result = learn(table, lambda1=0.5, published=published, knowledge={"required": [["x2", "x0"]]})
        assert result.graph.edges == (("x2", "x0"),)
        assert not result.weights.any()


@pytest.mark.full
@pytest.mark.parametrize("published", [False, True])
def test_required_edges_are_reckoned_with_while_optimising(published):
    """They go against the data, so that much must turn round; what has to be forced in at the end costs most."""
    excess = []
    for seed in range(3):
        graph, table = simulated(7, 300, seed, degree=1.5)
        order = graph.order
        knowledge = Knowledge(required=[(order[-1], order[0]), (order[-2], order[1])])
        best = dagora.learn(table, "dynamic", score="lasso", knowledge=knowledge)
        found = learn(table, threshold=0.01 if published else 0.0, published=published, knowledge=knowledge)
        assert not any("dropped" in warning for warning in found.warnings)
        excess.append(found.score / best.score - 1)
    assert min(excess) > -1e-9
    assert max(excess) < 0.05


def test_a_required_circle_is_refused():
    _, table = simulated(6, 400, 1)
    edges = [["x0", "x1"], ["x1", "x2"], ["x2", "x0"]]
    with pytest.raises(KnowledgeError, match="cycle"):
        dagora.learn(table, "notears", knowledge={"required": edges})


# Bad input


def refuse(error, match, table, **given):
    with pytest.raises(error, match=match) as caught:
        dagora.learn(table, "notears", **given)
    assert "\n" not in str(caught.value)


def noise(columns=4, rows=50):
    return np.random.default_rng(0).normal(size=(rows, columns))


def test_a_constant_column_is_refused():
    rows = noise()
    rows[:, 2] = 7.1
    for loss in ("least-squares", "profile"):
        refuse(DataError, "'x2' is constant", continuous_table(rows), loss=loss)


@pytest.mark.parametrize(("factor", "shift"), [(1.0, 0.0), (-2.5, 0.0), (1e-3, 40.0), (1e8, 0.0)])
@pytest.mark.parametrize("loss", ["least-squares", "profile"])
def test_columns_equal_up_to_scale_are_refused(loss, factor, shift):
    rows = noise()
    rows[:, 3] = factor * rows[:, 1] + shift
    refuse(DataError, "'x1' and 'x3' are equal up to scale and shift", continuous_table(rows), loss=loss)


def test_a_column_that_is_a_sum_of_others_is_fine():
    rows = noise(5, 200)
    rows[:, 4] = rows[:, 0] + rows[:, 1] - rows[:, 2]
    for loss in ("least-squares", "profile"):
        for lambda1 in (0.0, 0.1):
            learn(continuous_table(rows), loss=loss, lambda1=lambda1)


def test_missing_values_are_refused():
    rows = noise()
    rows[3, 1] = np.nan
    with pytest.raises(DataError, match="'x1'"):
        dagora.learn(Table.from_numpy(rows, names=["x0", "x1", "x2", "x3"]), "notears")


@pytest.mark.parametrize("loss", ["least-squares", "profile"])
def test_discrete_columns_are_refused(loss):
    _, table = simulated(6, 400, 1, sem="logistic", degree=1.5)
    refuse(DataError, "'x0' is discrete", table, loss=loss)


def test_logistic_needs_zeros_and_ones():
    refuse(DataError, "'x0' has values other than 0 and 1", continuous_table(noise()), loss="logistic")
    table = Table.from_numpy(np.arange(40).reshape(20, 2) % 3, names=["a", "b"], discrete=["a", "b"])
    refuse(DataError, "'a' has 3 levels, the logistic loss needs 2", table, loss="logistic")


@pytest.mark.parametrize("value", [-1.0, 0.5])
def test_poisson_needs_counts(value):
    rows = np.random.default_rng(0).poisson(2.0, size=(50, 3)).astype(float)
    rows[7, 1] = value
    refuse(DataError, "'x1' has values that are no counts", continuous_table(rows), loss="poisson")


@pytest.mark.parametrize("lambda1", [0.0, 0.1])
@pytest.mark.parametrize("rates", [(1e6, 1e6, 1e6), (1e6, 2.0, 1.0), (1e12, 1e3, 1.0)])
def test_huge_counts_end_finite(rates, lambda1):
    """e^η overflows at the first careless step; warnings would fail this test."""
    rng = np.random.default_rng(1)
    rows = np.column_stack([rng.poisson(rate, 100) for rate in rates]).astype(float)
    started = time.perf_counter()
    result = learn(continuous_table(rows), loss="poisson", lambda1=lambda1, time_limit=1.0)
    assert math.isfinite(result.score)
    assert time.perf_counter() - started < 30


@pytest.mark.parametrize("name", ["lambda1", "threshold"])
@pytest.mark.parametrize("value", [-1.0, -1e-12, math.inf, -math.inf, math.nan])
def test_penalties_and_thresholds_are_finite_and_not_negative(name, value):
    refuse(OptionError, f"option '{name}' must be", continuous_table(noise()), **{name: value})


@pytest.mark.parametrize("loss", ["logistic", "poisson"])
def test_what_does_not_go_together_is_refused(loss):
    table = continuous_table(np.random.default_rng(0).integers(0, 2, size=(50, 3)))
    refuse(OptionError, f"standardise=true .* loss={loss}", table, loss=loss, standardise=True)
    refuse(OptionError, f"loss={loss} takes cut=one-by-one", table, loss=loss, cut="better")


def test_unknown_names_are_refused():
    refuse(
        OptionError, "one of least-squares, profile, logistic, poisson", continuous_table(noise()), loss="l2"
    )
    refuse(OptionError, "has no option 'solver'", continuous_table(noise()), solver="path")
    refuse(OptionError, "'disturbances' must be at least 0", continuous_table(noise()), disturbances=-1)


# Odd data


@pytest.mark.full
def test_fewer_rows_than_columns():
    _, table = simulated(50, 15, 1)
    result = learn(table, disturbances=0)
    assert any("fewer rows (15) than columns (50)" in warning for warning in result.warnings)
    assert 25 < len(result.graph.edges) < 500
    quick = learn(table, loss="profile", disturbances=0)
    assert quick.graph.edges


def test_huge_and_tiny_units():
    _, table = simulated(6, 200, 2)
    rows = rows_of(table)
    plain = learn(table, threshold=0.0)
    for unit in (1e-6, 1e60):
        scaled = learn(continuous_table(rows * unit), threshold=0.0, lambda1=0.1 * unit**2)
        assert scaled.graph.edges == plain.graph.edges
        np.testing.assert_allclose(scaled.weights, plain.weights, rtol=1e-5, atol=1e-8)


def test_two_columns():
    rng = np.random.default_rng(0)
    cause = rng.normal(size=300)
    table = continuous_table(np.column_stack([cause, 2 * cause + rng.normal(size=300)]))
    assert learn(table).graph.edges == (("x0", "x1"),)
    assert learn(table, disturbances=50).graph.edges == (("x0", "x1"),)


def test_a_graph_without_edges():
    result = learn(continuous_table(noise()), lambda1=100.0)
    assert not result.graph.edges
    assert "varsortability" not in result.stats, "there is no path along which anything could rise"
    assert result.stats["sort_and_regress_objective"] == pytest.approx(-result.score), (
        "but sorting finds as much"
    )
    assert result.score == pytest.approx(-noise().var(axis=0).sum() / 2)


# Scale


def test_raw_simulated_data_give_the_order_away():
    _, table = simulated(10, 1000, 0)
    rows = rows_of(table)
    raw = learn(table)
    assert raw.stats["varsortability"] > 0.9
    assert any("may come from the units of the columns alone" in warning for warning in raw.warnings)
    assert raw.stats["objective"] == -raw.score
    assert raw.stats["sort_and_regress_objective"] >= raw.stats["objective"] * 0.9
    scaled = continuous_table((rows - rows.mean(axis=0)) / rows.std(axis=0))
    for result in (
        learn(scaled),
        learn(table, standardise=True),
        learn(table, loss="profile", threshold=0.05),
    ):
        assert not any("units" in warning for warning in result.warnings)
    assert learn(scaled).graph == learn(table, standardise=True).graph
    assert learn(scaled).stats["varsortability"] == pytest.approx(0.5)


def test_the_baseline_is_compared_edge_by_edge():
    """Where the variances sort the columns rightly the baseline finds the same graph, and is as good."""
    rng = np.random.default_rng(0)
    cause = rng.normal(size=500)
    rows = np.column_stack([cause, 2 * cause + rng.normal(size=500)])
    right = learn(continuous_table(rows))
    assert right.stats["sort_and_regress_distance"] == 0
    assert right.stats["sort_and_regress_objective"] == pytest.approx(right.stats["objective"])
    assert right.stats["varsortability"] == 1
    assert any("units" in warning for warning in right.warnings)
    for given in ({"standardise": True}, {"loss": "profile"}):
        free = learn(continuous_table(rows), **given)
        assert free.graph == right.graph, "the earlier column comes first"
        assert not any("units" in warning for warning in free.warnings), "they were not used"
    wrong = learn(continuous_table(rows), knowledge={"required": [["x1", "x0"]]})
    assert wrong.stats["varsortability"] == 0


def knowledge_of(kind, graph):
    order = graph.order
    if kind == "required":
        return Knowledge(required=[(order[-1], order[0])])
    return (
        Knowledge(tiers=[order[3:], order[:3]]) if kind == "tiers" else Knowledge(forbidden=graph.edges[:3])
    )


@pytest.mark.full
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["required", "forbidden", pytest.param("tiers", marks=pytest.mark.slow)])
def test_the_baseline_obeys_knowledge(loss, kind, monkeypatch):
    """What is set beside the result must be allowed to be one; an exact search under the knowledge is better."""
    graph, table = simulated(4, 300, 3, sem=SEM[loss], degree=1.5)
    knowledge = knowledge_of(kind, graph)
    baselines = []

    def spy(task, weights, variances, workers):
        found = task.apply_threshold
        return sorting_baseline(replace_thresholded(task, found, baselines), weights, variances, workers)

    monkeypatch.setattr("dagora.learners.optimise.notears.sorting_baseline", spy)
    result = learn(table, loss=loss, knowledge=knowledge, **LIGHT[loss])
    (weights,) = baselines
    required = knowledge.required_matrix(table.names)
    assert not knowledge.violations(DAG.from_numpy((weights != 0) | required, table.names))
    place = {int(column): k for k, column in enumerate(np.argsort(rows_of(table).var(axis=0), kind="stable"))}
    if kind != "required":
        assert all(place[i] < place[j] for i, j in np.argwhere(weights)), "it follows the variances"
    assert math.isfinite(result.stats["sort_and_regress_objective"])
    if loss == "least-squares":
        best = dagora.learn(table, "dynamic", score="lasso", knowledge=knowledge, **LIGHT[loss])
        assert result.stats["sort_and_regress_objective"] >= -best.score * (1 - 1e-9)


def replace_thresholded(task, thresholded, seen):
    """The same task, which shows what its baseline came to."""

    class Shown(NotearsTask):
        def apply_threshold(self, weights, support, workers):
            seen.append(thresholded(weights, support, workers))
            return seen[-1]

    return Shown(**vars(task))


@pytest.mark.full
@each_pair
def test_every_loss_comes_with_its_sortability(loss, published):
    """By hand, on the numbers that the loss takes the columns for."""
    _, table = simulated(5, 500, 1, sem=SEM[loss], degree=1.5)
    result = learn(table, loss=loss, published=published, **LIGHT[loss])
    assert result.graph.edges
    covariance = np.cov(rows_of(table).T, bias=True)
    expected = varsortability(result.graph.to_numpy(), np.diag(covariance))
    assert result.stats["varsortability"] == pytest.approx(expected)
    assert result.stats["r2_sortability"] == pytest.approx(
        r2_sortability(result.graph.to_numpy(), covariance)
    )
    assert result.stats["objective"] == pytest.approx(-result.score)
    assert result.stats["sort_and_regress_objective"] > 0 or loss in {"profile", "poisson"}
    assert not any("units" in warning for warning in result.warnings) or loss == "least-squares"


@pytest.mark.parametrize(
    "given", [{"standardise": True, "threshold": 0.0}, {"loss": "profile", "lambda1": 0.0, "threshold": 0.05}]
)
def test_rounding_does_not_choose_between_equals(given):
    """Directions that the program cannot tell apart are the same, whatever the last bits of the moments."""
    for seed in range(4):
        _, table = simulated(7, 300, seed, degree=1.0)
        rows = rows_of(table)
        plain = learn(table, **given)
        for unit in (3.0, 1 / 7):
            assert learn(continuous_table(rows * unit + unit), **given).graph == plain.graph


# Sums instead of rows, bits, clocks


class SumsOnly:
    """Moments that were summed elsewhere, with no rows behind them."""

    def __init__(self, table):
        self._moments = Moments(
            table.n_rows, rows_of(table).mean(axis=0), np.cov(rows_of(table).T, bias=True) * table.n_rows
        )
        self.schema, self.n_rows = table.schema, table.n_rows

    def moments(self):
        return self._moments

    def counts(self, column_sets):
        assert not len(column_sets)
        return CellCounts(np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64))

    def rows(self):
        raise RowsUnavailableError("the rows stay with their owners")


@pytest.mark.full
@pytest.mark.parametrize("pair", [pair for pair in PAIRS if SEM[pair[0]] == "gaussian"])
def test_moments_are_enough(pair):
    loss, published = pair
    _, table = simulated(6, 300, 4, degree=1.0)
    given = {"loss": loss, "published": published, **LIGHT[loss]}
    pooled, apart = learn(table, **given), learn(SumsOnly(table), **given)
    assert pooled.graph == apart.graph
    # The published algorithm ends within its own tolerance, and its steps on rounding, as processors have it.
    np.testing.assert_allclose(pooled.weights, apart.weights, atol=5e-3 if published else 1e-7)
    if not published:
        assert pooled.warnings == apart.warnings
        assert pooled.stats == pytest.approx(apart.stats, rel=1e-9)


@pytest.mark.parametrize("loss", ["logistic", "poisson"])
def test_losses_of_rows_say_so(loss):
    _, table = simulated(6, 300, 4)
    with pytest.raises(RowsUnavailableError, match="rows stay"):
        dagora.learn(SumsOnly(table), "notears", loss=loss)


@pytest.mark.full
@each_pair
def test_runs_agree_to_the_last_bit(loss, published):
    _, table = simulated(
        3 if published or loss in {"logistic", "poisson"} else 8, 100, 5, sem=SEM[loss], degree=1.0
    )
    given = {"loss": loss, "published": published, "seed": 7, **LIGHT[loss]}
    first = learn(table, **given)
    for other in (learn(table, **given), learn(table, jobs=2, **given)):
        assert np.array_equal(first.weights, other.weights)
        assert first.score == other.score
        assert first.stats == other.stats
        assert (first.message, first.warnings) == (other.message, other.warnings)


@each_pair
def test_a_short_time_limit_still_gives_a_dag(loss, published):
    d = 15 if published or loss in {"logistic", "poisson"} else 40
    _, table = simulated(d, 200, 6, sem=SEM[loss])
    required = [["x1", "x0"]]
    started = time.perf_counter()
    result = learn(
        table,
        loss=loss,
        published=published,
        time_limit=0.01,
        knowledge={"required": required},
        **LIGHT[loss],
    )
    assert time.perf_counter() - started < 20
    assert result.status == "time-limit"
    assert "0.01 s" in result.message
    assert "gains" not in result.message, "nothing was shown"
    assert result.message.count("time limit") == 1
    assert ("x1", "x0") in result.graph.edges


def test_many_disturbances_end_with_the_clock():
    _, table = simulated(10, 200, 6)
    started = time.perf_counter()
    result = learn(table, disturbances=10**9, time_limit=0.3)
    assert 0.3 <= time.perf_counter() - started < 20
    assert result.status == "time-limit"
    assert result.score >= learn(table, disturbances=0).score - 1e-9


def test_progress_is_told():
    events = []
    _, table = simulated(10, 200, 6)
    dagora.learn(table, "notears", on_event=events.append)
    assert {"following the path", "moving variables"} <= {event.phase for event in events}


def test_cycles_are_cut_and_listed():
    """Stopped early, the augmented Lagrangian still has cycles: what goes is named with its weight."""
    _, table = simulated(8, 500, 0, sem="logistic")
    budget = Budget()
    run = Run(budget=budget, on_event=lambda _: budget.stop("enough"))
    outcome = notears(TableStatistics(table), run, loss="logistic", lambda1=0.01)
    assert outcome.message.startswith("enough")
    assert outcome.stats["dropped_edges"] > 0
    (dropped,) = [warning for warning in outcome.warnings if warning.startswith("dropped to reach a DAG")]
    assert " → " in dropped


@pytest.mark.parametrize("threshold", [0.0, 0.3])
@pytest.mark.parametrize(("rate", "warned"), [(3.0, False), (2000.0, None), (1e6, True)])
def test_large_counts_are_warned_of(rate, warned, threshold):
    """Whatever the threshold, a weight that is kept has a size; counts of thousands may just have such weights."""
    rows = np.random.default_rng(0).poisson(rate, size=(50, 2)).astype(float)
    result = learn(continuous_table(rows), loss="poisson", threshold=threshold, time_limit=5.0)
    expected = threshold > 0 if warned is None else warned
    assert any("counts up to" in warning for warning in result.warnings) is expected


def test_binary_columns_have_no_counts_to_warn_of():
    table = continuous_table(np.random.default_rng(0).integers(0, 2, size=(50, 2)).astype(float))
    result = learn(table, loss="logistic", threshold=30.0)
    assert not any("counts" in warning for warning in result.warnings)


@pytest.mark.full
def test_a_solver_that_stalled_does_not_say_that_it_finished():
    rng = np.random.default_rng(1)
    rows = np.column_stack([rng.poisson(rate, 100) for rate in (1e12, 1e3, 1.0)]).astype(float)
    for intercept in (True, False):
        stalled = learn(continuous_table(rows), loss="poisson", intercept=intercept)
        assert stalled.status == "stalled"
        assert "slope" in stalled.message
        small = learn(continuous_table(rows % 4), loss="poisson", intercept=intercept)
        assert small.status == "finished"
