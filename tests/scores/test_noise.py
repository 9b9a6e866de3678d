"""Edges by chance: expected numbers against simulated noise, and when there is a warning."""

import numpy as np
import pytest

from dagora.api.learn import learn
from dagora.base.wording import COMMAND, render
from dagora.scores.estimation import estimation
from dagora.scores.noise import discrete_noise_edges, gaussian_noise_edges, noise_edges
from dagora.scores.penalty import noise_warnings
from dagora.scores.registry import score_named
from dagora.stats.table import TableStatistics
from tests.random_tables import continuous_table, discrete_table


def noise(rng, kind, rows, columns):
    if kind == "bic":
        levels = rng.integers(2, 4, columns)
        return discrete_table([rng.integers(0, r, rows) for r in levels], levels.tolist())
    return continuous_table(rng.normal(size=(rows, columns)))


def gaining_pairs(score):
    """Number of pairs of which one column is better off with the other as its parent."""
    d = len(score.schema)
    pairs = [(i, j) for j in range(d) for i in range(j)]
    alone = score.families([(j, ()) for j in range(d)])
    return sum(score.families([(j, (i,)) for i, j in pairs]) > alone[[j for _, j in pairs]])


@pytest.mark.parametrize("penalty", [0.5, 1.0])
@pytest.mark.parametrize(("name", "rows"), [("bic", 300), ("bic-gaussian", 300), ("bic-gaussian", 12)])
def test_as_many_pairs_gain_as_expected(name, rows, penalty):
    rng = np.random.default_rng(1)
    seen, expected = [], []
    for _ in range(20):
        score = score_named(name).make(TableStatistics(noise(rng, name, rows, 30)), penalty=penalty)
        price = penalty * np.log(rows) / 2
        seen.append(gaining_pairs(score))
        expected.append(noise_edges(score.schema, rows, price))
    assert np.mean(seen) == pytest.approx(np.mean(expected), abs=4 * np.std(seen) / np.sqrt(20))


@pytest.mark.full
@pytest.mark.parametrize("name", ["bic", "bic-gaussian"])
def test_noise_in_many_columns_at_the_users_penalty_is_a_warning_that_names_a_way_out(name):
    table = noise(np.random.default_rng(2), name, 200, 60)
    found = learn(table, score=name, penalty=1)
    (warning,) = [text for text in found.warnings if "by chance" in text]
    assert warning.startswith("200 rows are few for 60 columns: ")
    assert warning.endswith('; penalty="auto" keeps them rare')
    assert len(found.graph.edges) > 6
    cured = learn(table, score=name, penalty="auto")
    assert len(cured.graph.edges) <= 3
    assert not [text for text in cured.warnings if "by chance" in text]


@pytest.mark.parametrize(
    ("name", "rows", "columns"), [("bic", 1000, 37), ("bic-gaussian", 1000, 20), ("bic", 200, 8)]
)
def test_enough_rows_are_no_warning(name, rows, columns):
    score = score_named(name).make(TableStatistics(noise(np.random.default_rng(3), name, rows, columns)))
    assert estimation(score) == ({}, [])
    assert gaining_pairs(score) <= 0.2 * columns


def test_the_command_reads_its_own_option():
    schema = noise(np.random.default_rng(0), "bic-gaussian", 50, 40).schema
    (neutral,) = noise_warnings(schema, 50, 1.5)
    warning = render(neutral, COMMAND)
    assert "pairs would gain an edge by chance at --option penalty=1.5; --option penalty=auto " in warning


@pytest.mark.parametrize("name", ["aic", "bdeu", "k2"])
def test_scores_without_a_penalty_to_choose_say_nothing(name):
    table = noise(np.random.default_rng(2), "bic", 30, 60)
    assert estimation(score_named(name).make(TableStatistics(table))) == ({}, [])


def test_columns_of_one_level_cannot_gain():
    assert discrete_noise_edges(np.array([1.0, 2.0, 1.0]), 50, 0.1) == 0.0
    assert gaussian_noise_edges(5, 2, 0.1) == 0.0


def test_lasso_says_that_units_matter():
    rows = np.random.default_rng(0).normal(size=(50, 3))
    assert estimation(score_named("lasso").make(TableStatistics(continuous_table(rows)))) == ({}, [])
    scaled = continuous_table(rows * [1, 1, 1000])
    _, (warning,) = estimation(score_named("lasso").make(TableStatistics(scaled)))
    assert warning.startswith("the score lasso depends on the units of the columns, and 'x2' spreads ")
    assert warning in learn(scaled, "hill-climb", score="lasso").warnings
