"""Test-wise deletion: each test is that of the rows which saw its columns, and says how many these were."""

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.base.errors import DataError
from dagora.data.incomplete import IncompleteTable
from dagora.data.table import Table
from dagora.learners.constraint.named_tests import TESTS, named_test
from dagora.learners.independence.seen_rows import FEWEST, SeenRowTest
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.table import TableStatistics
from tests.random_tables import random_continuous, random_discrete, random_mixed

NOTHING = np.empty((1, 0), dtype=np.int64)


def punched(table, share, seed):
    rng = np.random.default_rng(seed)
    seen = rng.random((len(table.names), table.n_rows)) >= share
    seen[0] = True  # one column without holes
    return IncompleteTable.of(table, seen)


def make(kind, seed):
    rng = np.random.default_rng(seed)
    if kind == "mixed":
        return random_mixed(rng, 150, [2, 0, 3, 0])
    return random_discrete(rng, 200, [2, 3, 2, 2]) if kind == "discrete" else random_continuous(rng, 120, 4)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("kind", "name"), [("numbers", "fisher-z"), ("discrete", "x2"), ("discrete", "g2"), ("mixed", "mixed")]
)
def test_every_test_is_that_of_the_rows_that_saw_its_columns(kind, name, seed):
    table = punched(make(kind, seed), 0.2, seed)
    test = SeenRowTest(IncompleteStatistics(table), lambda statistics: TESTS[name](statistics, "it"))
    used = []
    for x, y, *given in [(0, 1), (1, 2), (2, 3, 0), (1, 3, 2), (0, 3, 1, 2)]:
        columns = [x, y, *given]
        rows = table.seen[columns].all(axis=0)
        used.append(int(rows.sum()))
        kept = Table(table.schema, table.columns).take(rows).select([table.names[c] for c in columns])
        plain = TESTS[name](TableStatistics(kept), "it")
        expected = plain.p_values(np.array([0]), np.array([1]), np.arange(2, len(columns))[None, :])
        found = test.p_values(
            np.array([x]), np.array([y]), np.array([given], dtype=np.int64).reshape(1, len(given))
        )
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert test.rows_used == (min(used), max(used))


def test_many_at_once_are_those_one_by_one():
    table = punched(make("numbers", 5), 0.3, 5)
    test = SeenRowTest(IncompleteStatistics(table), lambda statistics: TESTS["fisher-z"](statistics, "it"))
    x, y, given = np.array([0, 1, 2]), np.array([3, 3, 3]), np.array([[1], [0], [0]])
    each = [test.p_values(x[[k]], y[[k]], given[[k]])[0] for k in range(3)]
    np.testing.assert_array_equal(test.p_values(x, y, given), each)


def test_too_few_rows_and_columns_of_one_value_make_no_test():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(50, 3))
    values[:20, 2] = 1.0
    seen = np.ones((3, 50), dtype=bool)
    seen[1, FEWEST - 1 :] = False
    table = IncompleteTable.of(Table.from_numpy(values, names="abc"), seen)
    test = SeenRowTest(IncompleteStatistics(table), lambda statistics: TESTS["fisher-z"](statistics, "it"))
    assert np.isnan(test.p_values(np.array([0]), np.array([1]), NOTHING)).all()
    seen[1, :20], seen[1, 20:] = True, False
    table = IncompleteTable.of(Table.from_numpy(values, names="abc"), seen)
    test = SeenRowTest(IncompleteStatistics(table), lambda statistics: TESTS["fisher-z"](statistics, "it"))
    assert np.isnan(test.p_values(np.array([1]), np.array([2]), NOTHING)).all()
    assert not np.isnan(test.p_values(np.array([0]), np.array([1]), NOTHING)).any()


def chain(rows=600, share=0.15, seed=0):
    rng = np.random.default_rng(seed)
    a, c = rng.normal(size=(2, rows))
    values = np.column_stack([a, a + rng.normal(size=rows), c, np.zeros(rows)])
    values[:, 3] = values[:, 1] + c + rng.normal(size=rows)
    holes = rng.random(values.shape) < share
    return pd.DataFrame(np.where(holes, np.nan, values), columns=list("abcd"))


@pytest.mark.parametrize("method", ["pc", "fci", "rfci"])
def test_methods_by_tests_take_holes_and_say_what_it_rests_on(method):
    with pytest.warns(dagora.DagoraWarning, match="each test counts the rows that saw its columns"):
        result = dagora.learn(chain(), method)
    edges = {frozenset(edge) for edge in (*result.graph.edges, *result.graph.undirected)}
    if method == "pc":
        assert result.graph.edges == (("b", "d"), ("c", "d"))
        assert result.graph.undirected == (("a", "b"),)
    else:
        edges = {frozenset((one, other)) for one, _, other in result.graph.marked_edges}
        assert edges == {frozenset("ab"), frozenset("bd"), frozenset("cd")}
    fewest, most = result.stats["fewest_rows_of_a_test"], result.stats["most_rows_of_a_test"]
    assert 200 < fewest < most < 600
    assert any(f"{fewest:.0f} to {most:.0f} of 600" in line for line in result.warnings)
    assert result.settings["missing"] == "model"


def test_other_methods_still_refuse():
    for method in ("dual-pc", "kpc-hsic", "notears"):
        with pytest.raises(DataError, match="complete rows"):
            dagora.learn(chain(60), method)


def test_the_test_for_both_kinds_is_chosen():
    table = punched(make("mixed", 1), 0.1, 1)
    name, test = named_test(IncompleteStatistics(table), "auto", "it")
    assert name == "cells"
    assert isinstance(test, SeenRowTest)
