"""Columns by their ranks on a grid of quantiles that sites agree on."""

from statistics import NormalDist

import numpy as np
import pytest

import dagora
from dagora.base.errors import FormatError, OptionError
from dagora.data.columns.ordinal import normal_scores
from dagora.data.partition import split_rows
from dagora.data.table import Table
from dagora.parties.horizontal.plan.codebook import Codebook, ColumnCoding, scores_on_grid

quantile = NormalDist().inv_cdf


def skewed(rows=600):
    """Columns that any rising function may have bent, here one that no line describes."""
    table = dagora.simulate(dagora.random_dag("er", 6, 1.5, seed=2), "gaussian", rows, seed=2).table
    return Table.from_numpy(np.sinh(np.column_stack(table.columns)), list(table.names))


def at_sites(table):
    return {f"site{k}": part for k, part in enumerate(split_rows(table, 3, seed=1))}


def test_a_grid_of_all_values_gives_the_normal_scores_of_ranks():
    for values in (np.random.default_rng(1).normal(size=99), np.arange(60.0) % 7):
        np.testing.assert_allclose(scores_on_grid(values, np.sort(values)), normal_scores(values), atol=1e-12)


def test_scores_between_points_and_beyond_them_follow_the_definition():
    grid, x = np.array([-2.0, 0.5, 1.0, 4.0]), np.linspace(-2, 4, 41)
    known = np.interp(x, grid, np.arange(1, 5)) / 5
    np.testing.assert_allclose(scores_on_grid(x, grid), list(map(quantile, known)), atol=1e-12)
    assert scores_on_grid(np.array([-9.0, 9.0]), grid) == pytest.approx([quantile(0.1), quantile(0.9)])


def test_sites_learn_what_pooled_rows_on_the_same_grid_give():
    table, grid = skewed(), [-9.0, -3.0, -1.0, -0.3, 0.0, 0.3, 1.0, 3.0, 9.0]
    book = Codebook.from_list([{"name": name, "grid": grid} for name in table.names])
    scored = Table.from_numpy(
        np.column_stack([scores_on_grid(x, grid) for x in table.columns]), list(table.names)
    )
    pooled = dagora.learn(scored, "ges")
    for secure in (False, True):
        found = dagora.learn_federated(at_sites(table), "ges", codebook=book, secure=secure)
        assert found.graph == pooled.graph
        assert found.score == pytest.approx(pooled.score, rel=1e-8)
        assert any("taken by ranks, as normal scores" in line for line in found.warnings)


@pytest.mark.filterwarnings("ignore::dagora.DagoraWarning")
def test_a_drafted_grid_comes_close_to_the_ranks_of_all_rows():
    table = skewed(900)
    ranks = dagora.learn(table, "ges", ranks="all")
    found = dagora.learn_federated(at_sites(table), "ges", ranks="all", secure=False)
    assert found.graph == ranks.graph
    assert found.score == pytest.approx(ranks.score, rel=0.01)
    mixed = dagora.learn_federated(at_sites(table), "ges", ranks=["x1"], secure=False)
    assert any("scores: 'x1';" in line for line in mixed.warnings)


def test_what_takes_no_ranks_refuses_in_one_line():
    sites = at_sites(skewed(90))
    for secure in (False, True):
        with pytest.raises(FormatError, match="learns from each site alone takes columns in their own units"):
            dagora.learn_federated(sites, "vote", ranks="all", secure=secure)
    book = Codebook((ColumnCoding("x0", low=-1.0, high=1.0),))
    with pytest.raises(OptionError, match="leave ranks out"):
        dagora.learn_federated(sites, ranks="all", codebook=book)
    grids = Codebook.from_list([{"name": name, "grid": [0, 1, 2]} for name in ("x0", "x1")])
    with pytest.raises(FormatError, match="an effect takes columns in their own units"):
        dagora.effect_federated(
            sites, "x0", "x1", graph=dagora.DAG(["x0", "x1"], [("x0", "x1")]), codebook=grids
        )
    for grid, words in [([1, 2], "at least 3"), ([2, 1, 3], "must rise"), ([1, 1, 1], "must rise")]:
        with pytest.raises(FormatError, match=words):
            Codebook.from_list([{"name": "x", "grid": grid}])
