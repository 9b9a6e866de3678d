"""Edges that one row carries: the closed form against scores of tables without each row, and what is said."""

import numpy as np
import pytest

import dagora
from dagora.learners.edge_gains import edge_evidence
from dagora.learners.influential_rows import Fits, fallen, influential_rows
from dagora.learners.run import Run
from dagora.scores.registry import default_score
from dagora.stats.table import TableStatistics
from tests.random_tables import (
    continuous_table,
    discrete_table,
    random_continuous,
    random_discrete,
    random_mixed,
)


def gain_without(table, row, head, tail, others):
    """What an edge gains in a table without one row."""
    kept = np.delete(np.arange(table.n_rows), row)
    score = default_score(table.schema).make(TableStatistics(table.take(kept)))
    with_it, less = score.families([(head, sorted([*others, tail])), (head, sorted(others))])
    return with_it - less


@pytest.mark.parametrize("kind", ["continuous", "discrete", "mixed"])
@pytest.mark.parametrize("seed", range(3))
def test_leaving_out_each_row_is_exact(kind, seed):
    rng = np.random.default_rng(seed)
    table = {
        "continuous": lambda: random_continuous(rng, 40, 4),
        "discrete": lambda: random_discrete(rng, 60, [2, 3, 2, 3]),
        "mixed": lambda: random_mixed(rng, 60, [0, 2, 0, 3]),
    }[kind]()
    score = default_score(table.schema).make(TableStatistics(table))
    fits = Fits(table)
    for tail, head, others in ((0, 1, [2, 3]), (1, 2, [3]), (2, 3, []), (3, 0, [1])):
        with_it, less = score.families([(head, sorted([*others, tail])), (head, sorted(others))])
        sets = [{*others, tail, head}, {*others, tail}, {*others, head}, {*others}]
        parts = [fits.of(frozenset(one)) for one in sets]
        whole = parts[0][0] - parts[1][0] - parts[2][0] + parts[3][0]
        price = whole - (with_it - less)
        without = parts[0][1] - parts[1][1] - parts[2][1] + parts[3][1]
        left = without - price * np.log(table.n_rows - 1) / np.log(table.n_rows)
        for row in range(0, table.n_rows, 7):
            assert left[row] == pytest.approx(gain_without(table, row, head, tail, others), abs=1e-6)


@pytest.mark.parametrize("kind", ["continuous", "discrete"])
@pytest.mark.parametrize("seed", range(6))
def test_no_row_costs_an_edge_more_than_the_largest_loss(kind, seed):
    rng = np.random.default_rng(seed)
    if kind == "continuous":
        values = rng.normal(size=(40, 4)) @ rng.normal(size=(4, 4))
        values[7] *= rng.choice([1, 5, 50], 4)
        table = continuous_table(values)
    else:
        table = random_discrete(rng, 30, [2, 3, 4, 6])
    fits, rows = Fits(table), table.n_rows
    for tail, head, others in ((0, 1, [2, 3]), (1, 2, [3]), (2, 3, []), (3, 0, [1])):
        sets = [{*others, tail, head}, {*others, tail}, {*others, head}, {*others}]
        parts = [fits.of(frozenset(one)) for one in sets]
        gain = parts[0][0] - parts[1][0] - parts[2][0] + parts[3][0]
        left = parts[0][1] - parts[1][1] - parts[2][1] + parts[3][1]
        assert gain - left.min() - gain / rows <= fits.largest_loss() * (rows - 1) / rows - 0.999


def test_a_level_that_is_gone_with_its_row_costs_nothing_then():
    rng = np.random.default_rng(5)
    x = rng.normal(size=80)
    code = rng.integers(0, 2, 80)
    code[11], x[11] = 2, 9.0
    table = dagora.Table.from_numpy(np.column_stack([code, x]), ["c", "x"], discrete=["c"])
    result = dagora.learn(table, "hill-climb")
    fits = Fits(table)
    found = list(fallen(fits, result.graph, result.edge_gains))
    assert found == [(11, result.graph.edges[0])]
    assert gain_without(table, 11, 1, 0, []) < 0


def outlier_table(rng, rows=200):
    values = rng.normal(size=(rows, 3))
    values[16, :2] = 60.0, 55.0
    return continuous_table(values, ["a", "b", "c"])


def test_an_outlier_that_carries_an_edge_is_told():
    result = dagora.learn(outlier_table(np.random.default_rng(1)))
    assert result.graph.has_edge("a", "b") or result.graph.has_edge("b", "a")
    (line,) = [text for text in result.warnings if "alone" in text]
    assert line.endswith("rests on data row 17 alone: without it, the score is better without the edge")


def test_a_row_with_two_levels_that_nobody_else_has_is_told():
    rng = np.random.default_rng(2)
    columns = rng.integers(0, 2, (3, 400))
    columns[0, 5] = columns[1, 5] = 2
    result = dagora.learn(discrete_table(list(columns), [3, 3, 2], ["a", "b", "c"]), penalty=0.5)
    assert [text for text in result.warnings if "edge a — b rests on data row 6 alone" in text]


def test_the_row_is_that_of_the_file(tmp_path):
    table = outlier_table(np.random.default_rng(1))
    text = [",".join(map(repr, map(float, row))) for row in np.column_stack(table.columns)]
    text.insert(3, "1.0,,2.0")
    file = tmp_path / "rows.csv"
    file.write_text("a,b,c\n" + "\n".join(text) + "\n")
    result = dagora.learn(file, missing="drop")
    assert [line for line in result.warnings if "rests on data row 18 alone" in line]


@pytest.mark.parametrize("seed", range(4))
def test_tables_without_outliers_have_no_such_line(seed):
    rng = np.random.default_rng(seed)
    for table in (
        random_continuous(rng, 100, 6),
        random_discrete(rng, 200, [2, 3, 2, 4, 2]),
        random_mixed(rng, 150, [0, 2, 0, 3, 0]),
    ):
        result = dagora.learn(table, "hill-climb")
        assert not [line for line in result.warnings if "alone:" in line]


def lines_about(table, edges):
    """What is said about the edges of a graph."""
    graph = dagora.DAG(table.names, edges)
    score = default_score(table.schema).make(TableStatistics(table))
    return influential_rows(table, graph, edge_evidence(score, graph, Run()).gains, "bic-gaussian")


def test_edges_of_one_row_share_a_line_and_so_do_several_rows():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(150, 5))
    values[40, :2] = 50.0, 60.0
    values[77, 2:4] = 45.0, 70.0
    table = continuous_table(values, list("abcde"))
    (line,) = lines_about(table, [("a", "b"), ("c", "d")])
    assert line.startswith(
        "2 edges rest on one row each, without which the score is better without the edge: "
    )
    assert line.endswith(": a — b (data row 41), c — d (data row 78)")
    values[40, 2] = 70.0
    values[77, 2:4] = 0.0
    table = continuous_table(values, list("abcde"))
    assert lines_about(table, [("a", "b"), ("a", "c")]) == [
        "edges a — b, a — c rest on data row 41 alone: without it, the score is better without each"
    ]


def test_other_scores_and_too_much_work_say_nothing(monkeypatch):
    table = outlier_table(np.random.default_rng(1))
    result = dagora.learn(table, score="bge")
    assert not [text for text in result.warnings if "alone:" in text]
    monkeypatch.setattr("dagora.learners.influential_rows.MOST_WORK", 10.0)
    assert not [text for text in dagora.learn(table).warnings if "alone:" in text]


def test_more_columns_than_rows_are_dependent_without_a_look(monkeypatch):
    """Of 10,000 columns the look alone would take longer than their search."""
    values = np.random.default_rng(3).normal(size=(9, 9))
    few, many = (dagora.Table.from_numpy(values[:, :k], continuous=["all"]) for k in (8, 9))
    assert np.isfinite(Fits(few).largest_loss())
    monkeypatch.setattr(np.linalg, "cholesky", None)
    assert Fits(many).largest_loss() == np.inf
