"""Discrete scores against their formulas in plain Python, over all cells, occupied or not."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.base.errors import DataError, GraphError, OptionError
from dagora.scores.local_score import graph_score
from dagora.scores.registry import score_named
from dagora.stats.table import TableStatistics
from tests.random_tables import continuous_table, discrete_table, random_dag, random_discrete

NAMES = ["bic", "aic", "bdeu", "k2"]


def cells(table, child, parents):
    """n_jk of every configuration j of the parents and level k of the child."""
    levels = [range(table.schema[i].cardinality) for i in (*parents, child)]
    counts = dict.fromkeys(product(*levels), 0)
    for row in zip(*(table.columns[i].tolist() for i in (*parents, child)), strict=True):
        counts[row] += 1
    grouped = {}
    for cell, count in counts.items():
        grouped.setdefault(cell[:-1], []).append(count)
    return list(grouped.values())


def likelihood_by_rows(table, child, parents):
    """Sum over the rows of the log conditional frequency of the child's level."""
    rows = list(zip(*(table.columns[i].tolist() for i in (*parents, child)), strict=True))
    contexts = [row[:-1] for row in rows]
    return math.fsum(math.log(rows.count(row) / contexts.count(row[:-1])) for row in rows)


def bic(table, child, parents):
    q_rows = cells(table, child, parents)
    free = (len(q_rows[0]) - 1) * len(q_rows)
    return likelihood_by_rows(table, child, parents) - math.log(table.n_rows) / 2 * free


def aic(table, child, parents):
    q_rows = cells(table, child, parents)
    return likelihood_by_rows(table, child, parents) - (len(q_rows[0]) - 1) * len(q_rows)


def bdeu(table, child, parents, ess=1.0):
    q_rows = cells(table, child, parents)
    q, r = len(q_rows), len(q_rows[0])
    total = 0.0
    for row in q_rows:
        total += math.lgamma(ess / q) - math.lgamma(ess / q + sum(row))
        for count in row:
            total += math.lgamma(ess / (q * r) + count) - math.lgamma(ess / (q * r))
    return total


def k2(table, child, parents):
    total = 0.0
    for row in cells(table, child, parents):
        total += math.lgamma(len(row)) - math.lgamma(sum(row) + len(row))
        total += math.fsum(math.lgamma(count + 1) for count in row)
    return total


ORACLES = {"bic": bic, "aic": aic, "bdeu": bdeu, "k2": k2}


@st.composite
def tables_with_families(draw):
    cardinalities = draw(st.lists(st.integers(1, 4), min_size=2, max_size=5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 60))
    unseen = draw(st.integers(0, 2))
    columns = [rng.integers(0, cardinality, n) for cardinality in cardinalities]
    table = discrete_table(columns, [cardinality + unseen for cardinality in cardinalities])
    nodes = list(range(len(cardinalities)))
    family = st.permutations(nodes).flatmap(
        lambda order: st.integers(0, min(3, len(order) - 1)).map(
            lambda k: (order[0], tuple(order[1 : k + 1]))
        )
    )
    return table, draw(st.lists(family, min_size=1, max_size=6))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(case=tables_with_families())
def test_families_equal_the_formula(name, case):
    table, families = case
    found = score_named(name).make(TableStatistics(table)).families(families)
    expected = [ORACLES[name](table, child, parents) for child, parents in families]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("ess", [1e-6, 0.5, 1.0, 10.0, 1e6])
def test_bdeu_with_other_sample_sizes(ess):
    table = random_discrete(np.random.default_rng(1), 80, [2, 3, 4])
    score = score_named("bdeu").make(TableStatistics(table), ess=ess)
    for family in ((0, ()), (1, (0,)), (2, (1, 0))):
        assert score.families([family])[0] == pytest.approx(bdeu(table, *family, ess=ess), rel=1e-8)


@pytest.mark.parametrize("ess", [0, -1.0, math.inf, math.nan, "1"])
def test_bdeu_refuses_a_sample_size_that_is_none(ess):
    statistics = TableStatistics(discrete_table([[0, 1]], [2]))
    with pytest.raises(OptionError, match="ess"):
        score_named("bdeu").make(statistics, ess=ess)


def test_closed_forms():
    # Four rows, two levels, two of each: log-likelihood 4 ln ½; k2 1!/5! · 2! 2! = 1/30.
    statistics = TableStatistics(discrete_table([[0, 0, 1, 1]], [2]))
    for name, value in [
        ("bic", 4 * math.log(0.5) - math.log(4) / 2),
        ("aic", 4 * math.log(0.5) - 1),
        ("k2", -math.log(30)),
        # ess 1: B(2.5, 2.5) / B(0.5, 0.5) = 3/128
        ("bdeu", math.log(3 / 128)),
    ]:
        assert score_named(name).make(statistics).families([(0, ())])[0] == pytest.approx(value)


@pytest.mark.parametrize("name", NAMES)
def test_order_of_parents_and_of_the_batch_does_not_matter(name):
    rng = np.random.default_rng(2)
    table = random_discrete(rng, 300, [2, 3, 4, 9, 2])
    score = score_named(name).make(TableStatistics(table))
    orders = [(4, (0, 1, 2, 3)), (4, (3, 2, 1, 0)), (4, (2, 0, 3, 1)), (4, (1, 3, 0, 2))]
    values = score.families(orders)
    np.testing.assert_allclose(values, values[0], rtol=1e-9)
    alone = [score.families([family])[0] for family in orders]
    np.testing.assert_array_equal(values, alone)
    np.testing.assert_array_equal(score.families(orders[::-1]), values[::-1])


@pytest.mark.parametrize("name", NAMES)
def test_no_families(name):
    score = score_named(name).make(TableStatistics(discrete_table([[0, 1]], [2])))
    assert score.families([]).shape == (0,)


@pytest.mark.parametrize("name", NAMES)
def test_a_graph_scores_the_sum_of_its_families_in_any_node_order(name):
    rng = np.random.default_rng(3)
    table = random_discrete(rng, 120, [2, 3, 2, 4])
    score = score_named(name).make(TableStatistics(table))
    for _ in range(5):
        graph = random_dag(rng, 4)
        total = math.fsum(ORACLES[name](table, child, graph.parent_indices(child)) for child in range(4))
        assert graph_score(score, graph) == pytest.approx(total, rel=1e-9)
        assert graph_score(score, graph.reorder(["x2", "x0", "x3", "x1"])) == graph_score(score, graph)


def test_a_graph_over_other_variables_is_refused():
    score = score_named("bic").make(TableStatistics(discrete_table([[0, 1], [1, 1]], [2, 2])))
    rng = np.random.default_rng(0)
    with pytest.raises(GraphError, match="only the graph has 'y'"):
        graph_score(score, random_dag(rng, 3, names=["x0", "x1", "y"]))
    with pytest.raises(GraphError, match="only the data have 'x1'"):
        graph_score(score, random_dag(rng, 1))


def test_declared_but_unseen_levels_are_paid_for():
    columns = [[0, 1, 0, 1, 1], [0, 0, 1, 1, 1]]
    seen = score_named("bic").make(TableStatistics(discrete_table(columns, [2, 2])))
    declared = score_named("bic").make(TableStatistics(discrete_table(columns, [5, 2])))
    price = math.log(5) / 2
    # As a child 3 more levels under 2 configurations; as a parent 3 more configurations of a binary child.
    difference = seen.families([(0, (1,)), (1, (0,))]) - declared.families([(0, (1,)), (1, (0,))])
    np.testing.assert_allclose(difference, [price * 3 * 2, price * 3])


@pytest.mark.parametrize("name", NAMES)
def test_a_constant_column_changes_nothing(name):
    rng = np.random.default_rng(4)
    table = discrete_table([rng.integers(0, 3, 50), np.zeros(50), rng.integers(0, 2, 50)], [3, 1, 2])
    score = score_named(name).make(TableStatistics(table))
    base, extended, child = score.families([(0, (2,)), (0, (2, 1)), (1, (0, 2))])
    assert base == pytest.approx(extended, rel=1e-12)
    assert child == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_more_configurations_than_any_number_can_hold(name):
    rng = np.random.default_rng(5)
    table = discrete_table([np.zeros(40)] + [rng.integers(0, 20, 40) for _ in range(300)], [1] + [20] * 300)
    score = score_named(name).make(TableStatistics(table))
    huge = tuple(range(2, 301))
    constant, wide, empty = score.families([(0, huge), (1, huge), (1, ())])
    assert constant == pytest.approx(0.0, abs=1e-9)
    assert math.isfinite(wide)
    if name in ("bic", "aic"):
        assert wide < -1e100 < empty


def test_many_rows_keep_their_digits():
    n = 400_000
    rng = np.random.default_rng(6)
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.9, a, 1 - a)
    table = discrete_table([a, b], [2, 2])
    counts = np.array([[np.sum((a == i) & (b == j)) for j in (0, 1)] for i in (0, 1)]).tolist()
    rows = [sum(row) for row in counts]
    likelihood = math.fsum(
        c * math.log(c / total) for row, total in zip(counts, rows, strict=True) for c in row
    )
    statistics = TableStatistics(table)
    assert score_named("bic").make(statistics).families([(1, (0,))])[0] == pytest.approx(
        likelihood - math.log(n), rel=1e-12
    )
    expected = math.fsum(
        math.lgamma(2) - math.lgamma(total + 2) + sum(math.lgamma(c + 1) for c in row)
        for row, total in zip(counts, rows, strict=True)
    )
    assert score_named("k2").make(statistics).families([(1, (0,))])[0] == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("name", NAMES)
def test_continuous_columns_are_refused_by_name(name):
    with pytest.raises(DataError, match=f"{name} needs discrete columns, but 'x0' is continuous"):
        score_named(name).make(TableStatistics(continuous_table([[1.0], [2.0]])))
