"""Parameters of graphs with both kinds of nodes: against numpy's regressions, and against what drew the rows."""

import numpy as np
import pytest

import dagora
from dagora.base.errors import DataError
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.formats.registry import read_network, write_network
from dagora.graph.dag import DAG
from dagora.network.fit import fit_mixed
from dagora.network.likelihood import log_likelihood
from dagora.network.networks import MixedNetwork
from dagora.network.regressions import SPARE_ROWS
from dagora.network.softmax_fit import fit_softmax
from dagora.network.table_prior import NO_PRIOR
from dagora.stats.table import TableStatistics
from tests.random_tables import random_mixed

TABLE = random_mixed(np.random.default_rng(0), 400, [2, 0, 3, 0, 2])
GRAPH = DAG(TABLE.names, [("x0", "x2"), ("x2", "x1"), ("x0", "x3"), ("x1", "x3"), ("x2", "x3"), ("x3", "x4"), ("x0", "x4")])  # fmt: skip


def test_lines_are_least_squares_within_each_configuration():
    network = dagora.fit(GRAPH, TABLE)
    assert isinstance(network, MixedNetwork)
    assert (set(network.tables), set(network.lines), set(network.choices)) == (
        {"x0", "x2"},
        {"x1", "x3"},
        {"x4"},
    )
    a, cause, b, effect, _ = TABLE.columns
    for i in range(2):
        for j in range(3):
            rows = (a == i) & (b == j)
            design = np.column_stack([np.ones(rows.sum()), cause[rows]])
            if rows.sum() < 1 + SPARE_ROWS:
                design, rows = np.column_stack([np.ones(len(a)), cause]), np.full(len(a), fill_value=True)
            wanted, left, *_ = np.linalg.lstsq(design, effect[rows], rcond=None)
            lines = network.lines["x3"]
            np.testing.assert_allclose([lines.intercepts[i, j], lines.slopes[i, j, 0]], wanted, rtol=1e-9)
            assert lines.sds[i, j] == pytest.approx(np.sqrt(left[0] / rows.sum()), rel=1e-9)
    only_discrete = dagora.fit(DAG(["x0", "x2"], [("x0", "x2")]), TABLE)
    np.testing.assert_array_equal(network.tables["x2"], only_discrete.tables["x2"])


def test_a_configuration_of_few_rows_gets_the_regression_over_all():
    level = np.array([0] * 50 + [1] * (SPARE_ROWS + 0), dtype=np.uint16)
    x = np.random.default_rng(1).normal(size=len(level))
    y = x + level + 0.1 * np.random.default_rng(2).normal(size=len(level))
    schema = Schema(
        [
            Variable("level", Kind.DISCRETE, ("few", "many", "never")),
            Variable("x", Kind.CONTINUOUS),
            Variable("y", Kind.CONTINUOUS),
        ]
    )
    graph = DAG(["level", "x", "y"], [("level", "y"), ("x", "y")])
    lines = dagora.fit(graph, Table(schema, (level, x, y))).lines["y"]
    slope, intercept = np.polyfit(x, y, 1)
    np.testing.assert_allclose(lines.slopes[1:, 0], slope, rtol=1e-9)
    np.testing.assert_allclose(lines.intercepts[1:], intercept, rtol=1e-9)
    assert lines.slopes[0, 0] != pytest.approx(slope, rel=1e-6)


def test_softmax_recovers_what_drew_the_levels():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(40_000, 2)) * [1.0, 100.0]
    logits = np.column_stack([np.zeros(len(x)), 0.5 + x @ [1.0, 0.01], -1.0 + x @ [-0.5, 0.02]])
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    codes = (rng.random(len(x))[:, None] > shares.cumsum(axis=1)).sum(axis=1)
    intercepts, slopes = fit_softmax(codes, x, 3)
    np.testing.assert_allclose(intercepts, [0.0, 0.5, -1.0], atol=0.06)
    np.testing.assert_allclose(slopes * [1.0, 100.0], [[0, 0], [1.0, 1.0], [-0.5, 2.0]], atol=0.06)


def test_separated_and_unseen_levels_stay_finite():
    x = np.linspace(-1, 1, 50)[:, None]
    intercepts, slopes = fit_softmax((x[:, 0] > 0).astype(int), x, 3)
    assert np.isfinite(intercepts).all()
    assert np.isfinite(slopes).all()
    logits = intercepts + x @ slopes.T
    assert ((logits.argmax(axis=1) == 1) == (x[:, 0] > 0)).all()
    assert (logits[:, 2] < logits[:, :2].max(axis=1) - 2).all()


@pytest.mark.parametrize("relations", ["clg", "shift", "both"])
def test_a_fitted_network_is_as_likely_as_the_truth(relations):
    graph = dagora.random_dag("er", 6, 1.2, seed=3)
    table = dagora.simulate(graph, "mixed", 4000, seed=1, relations=relations).table
    network, empty = dagora.fit(graph, table), dagora.fit(DAG(graph.nodes), table)
    fresh = dagora.simulate(graph, "mixed", 8000, seed=1, relations=relations).table.take(
        np.arange(4000, 8000)
    )
    assert log_likelihood(network, fresh) > log_likelihood(empty, fresh) + 1000
    assert log_likelihood(network, fresh) / 4000 == pytest.approx(
        log_likelihood(network, table) / 4000, abs=0.2
    )


def test_learned_networks_are_written_and_read(tmp_path):
    network = dagora.fit(GRAPH, TABLE)
    write_network(network, tmp_path / "n.json")
    again = read_network(tmp_path / "n.json")
    assert log_likelihood(again, TABLE) == pytest.approx(log_likelihood(network, TABLE), rel=1e-9)


def test_too_many_coefficients_are_refused():
    n = 3000
    schema = Schema(
        [Variable("x", Kind.CONTINUOUS), Variable("code", Kind.DISCRETE, tuple(map(str, range(n))))]
    )
    table = Table(schema, (np.arange(float(n)), np.arange(n, dtype=np.uint16)))
    with pytest.raises(
        DataError, match="'code' has 3000 levels and 1 continuous parents: 5,998 coefficients"
    ):
        dagora.fit(DAG(["x", "code"], [("x", "code")]), table)


def few_and_many():
    """A level of 8 rows and one of 60, a number and a second discrete column that depend on it."""
    rng = np.random.default_rng(4)
    group = np.repeat([0, 1], [8, 60]).astype(np.uint16)
    number = rng.normal(size=68) + group
    other = (rng.random(68) < 1 / (1 + np.exp(-number))).astype(np.uint16)
    kinds = [Variable("g", Kind.DISCRETE, ("p", "q")), Variable("x", Kind.CONTINUOUS)]
    return Table(Schema([*kinds, Variable("b", Kind.DISCRETE, ("n", "y"))]), (group, number, other))


def test_ten_rows_are_needed_for_two_coefficients_of_a_configuration_of_its_own():
    table = few_and_many()
    choice = dagora.fit(DAG("gxb", [("g", "b"), ("x", "b")]), table).choices["b"]
    over_all = dagora.fit(DAG("gxb", [("x", "b")]), table).choices["b"]
    assert choice.intercepts[0] == pytest.approx(over_all.intercepts)
    assert choice.slopes[1] != pytest.approx(over_all.slopes)


def test_copies_of_rows_do_not_count_as_more_rows():
    """Where every row stands three times, as with three draws of what is missing, the network is the same."""
    table = few_and_many().take(np.r_[:2, 8:68])
    graph = DAG("gxb", [("g", "x"), ("g", "b"), ("x", "b")])
    once = fit_mixed(graph, TableStatistics(table), NO_PRIOR, "once")
    tripled = table.take(np.tile(np.arange(62), 3))
    thrice = fit_mixed(graph, TableStatistics(tripled), NO_PRIOR.times(3), "thrice", copies=3)
    for node in once.lines:
        assert thrice.lines[node].intercepts == pytest.approx(once.lines[node].intercepts)
        assert thrice.lines[node].sds == pytest.approx(once.lines[node].sds)
    assert thrice.choices["b"].intercepts == pytest.approx(once.choices["b"].intercepts, abs=1e-3)
