"""The test latent: its size on cut normals, its agreement with Fisher's z on numbers, counts and sites."""

import numpy as np
import pytest

import dagora
from dagora.base.errors import RowsUnavailableError
from dagora.data.table import Table
from dagora.learners.independence.fisher_z import FisherZ
from dagora.learners.independence.latent import LatentTest
from dagora.stats.table import TableStatistics

NONE = np.empty((1, 0), dtype=np.int64)


class OnlyCounts(TableStatistics):
    def rows(self):
        raise RowsUnavailableError("the rows stay where they are")


def cut(values, columns):
    """Some columns cut into levels of unequal shares."""
    made = values.copy()
    for k in columns:
        made[:, k] = np.digitize(values[:, k], np.quantile(values[:, k], [0.3, 0.7]))
    names = [f"v{k}" for k in range(values.shape[1])]
    discrete = [names[k] for k in columns]
    rest = [name for name in names if name not in discrete]
    return Table.from_numpy(made, names, discrete=discrete, continuous=rest)


def with_cause(rng, rows, given):
    """Two columns that are independent given the others."""
    causes = rng.normal(size=(rows, given))
    shared = 0.7 / np.sqrt(max(given, 1)) * causes.sum(1, keepdims=True)
    own = np.sqrt(1 - 0.49 * (given > 0)) * rng.normal(size=(rows, 2))
    return np.column_stack([shared + own, causes])


@pytest.mark.full
@pytest.mark.parametrize(("columns", "given"), [((0, 1), 0), ((0, 1, 2), 1), ((0, 1, 2, 3), 2), ((0, 2), 1)])
def test_it_rejects_as_often_as_its_level_says(columns, given):
    rng = np.random.default_rng(given)
    rejected = 0
    for _ in range(600):
        test = LatentTest(TableStatistics(cut(with_cause(rng, 400, given), columns)), "it")
        p = test.p_values(np.array([0]), np.array([1]), np.arange(2, 2 + given)[None])
        rejected += int(p[0] < 0.05)
    assert 0.03 <= rejected / 600 <= 0.07  # 0.05 within two standard errors of 0.009


def test_of_numbers_it_is_close_to_the_z_test_of_fisher():
    rng = np.random.default_rng(3)
    values = with_cause(rng, 2000, 1)
    values[:, 1] += 0.04 * values[:, 0]
    statistics = TableStatistics(cut(values, []))
    given = np.array([[2]])
    latent, fisher = (
        each(statistics, "it").p_values(np.array([0]), np.array([1]), given)[0]
        for each in (LatentTest, FisherZ)
    )
    assert latent == pytest.approx(fisher, rel=0.25)


def test_levels_are_tested_from_counts_alone():
    table = cut(with_cause(np.random.default_rng(0), 300, 2), [0, 1, 2, 3])
    ask = np.array([0, 0, 3]), np.array([1, 2, 1]), np.array([[2], [3], [0]])
    rows, counts = (LatentTest(each(table), "it").p_values(*ask) for each in (TableStatistics, OnlyCounts))
    np.testing.assert_array_equal(rows, counts)
    some = cut(with_cause(np.random.default_rng(0), 300, 2), [0, 1])
    with pytest.raises(
        RowsUnavailableError, match="needs the rows where a column holds numbers, as column 'v2'"
    ):
        LatentTest(OnlyCounts(some), "it")


def test_sites_find_what_the_pooled_rows_say():
    table = cut(with_cause(np.random.default_rng(1), 400, 2), [0, 1, 2, 3])
    sites = {name: table.take(np.arange(k, 400, 3)) for k, name in enumerate("abc")}
    pooled = dagora.learn(table, "pc", test="latent", alpha=0.05)
    over = dagora.learn_federated(sites, "pc", test="latent", alpha=0.05)
    assert set(over.graph.undirected) == set(pooled.graph.undirected)
    assert set(over.graph.edges) == set(pooled.graph.edges)
    assert (
        dagora.learn_federated(sites, "tabu", score="bic-latent").score
        == dagora.learn(table, "tabu", score="bic-latent").score
    )
