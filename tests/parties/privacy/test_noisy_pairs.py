"""Pair tables: they agree, they score like BIC without noise, and the best forest is found on them."""

from contextlib import nullcontext
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import dagora
from dagora.api.score import make_score
from dagora.data.table import Table
from dagora.network.greenhouse import greenhouse
from dagora.parties.privacy.noisy_pairs import (
    NoisyPairs,
    PairScore,
    PairTables,
    association,
    average_margin,
    make_consistent,
    pairs_of,
)
from dagora.parties.privacy.release import feature_size, features, release, site_noise
from dagora.parties.privacy.terms import agree_on_terms
from dagora.scores.local_score import LocalScore
from dagora.stats.table import TableStatistics
from tests.random_tables import random_discrete


def levels_of(table: dagora.Table) -> dict[str, tuple[str, ...]]:
    return {variable.name: variable.levels for variable in table.schema}


def key(number: int) -> bytes:
    return number.to_bytes(32, "big")


@pytest.fixture(scope="module")
def table() -> Table:
    return dagora.sample_network(greenhouse(), 20_000, 3)


def small_table(seed: int = 0) -> Table:
    return random_discrete(np.random.default_rng(seed), 400, [2, 3, 4, 2])


def exact_tables(table: Table) -> PairTables:
    terms = agree_on_terms(table.schema, 1)
    return make_consistent(table.schema.cardinalities, features(terms, table.schema, table.columns), 0.0)


def best_forest(score: LocalScore) -> tuple[float, set[frozenset[int]]]:
    """Kruskal's algorithm."""
    d = len(score.schema)
    alone = score.families([(child, ()) for child in range(d)])
    pairs = list(combinations(range(d), 2))
    gains = score.families([(j, (i,)) for i, j in pairs]) - alone[[j for _, j in pairs]]
    tree, total, edges = list(range(d)), float(alone.sum()), set()
    for k in np.argsort(-gains):
        i, j = pairs[k]
        if gains[k] > 0 and tree[i] != tree[j]:
            tree = [tree[i] if t == tree[j] else t for t in tree]
            total += float(gains[k])
            edges.add(frozenset((i, j)))
    return total, edges


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("penalty", [1.0, 2.5])
def test_without_noise_the_score_is_bic(seed: int, penalty: float) -> None:
    table = small_table(seed)
    bic = make_score(table, "bic", penalty=penalty)
    ours = PairScore(table.schema, exact_tables(table), penalty)
    d = len(table.schema)
    families = [(x, ()) for x in range(d)] + [(x, (y,)) for x in range(d) for y in range(d) if x != y]
    assert ours.families(families) == pytest.approx(bic.families(families), rel=1e-9)
    assert ours.n_rows == table.n_rows


def test_noise_takes_its_share_of_the_evidence() -> None:
    """Against the formula, cell by cell; a count below 0 counts as 0."""
    table, expected, variance = (
        np.array([[40.0, -3.0], [10.0, 23.0]]),
        np.array([[30.0, 7.0], [20.0, 13.0]]),
        9.0,
    )
    cells = [
        (40 * np.log(40 / 30) - 40 + 30) * 30 / 39,
        7 * 7 / 16,
        (10 * np.log(10 / 20) - 10 + 20) * 20 / 29,
        (23 * np.log(23 / 13) - 23 + 13) * 13 / 22,
    ]
    assert association(table, expected, variance) == pytest.approx(sum(cells))
    assert association(table * [[1, 0], [1, 1]], expected * [[1, 0], [1, 1]], 0.0) > 0


def test_exact_tables_stay_as_they_are(table: Table) -> None:
    statistics, tables = TableStatistics(table), exact_tables(table)
    for i, j in pairs_of(len(table.schema)):
        cells = statistics.contingency((i, j))
        full = np.zeros(tables.table(i, j).shape)
        full[tuple(cells.cells.T)] = cells.counts
        assert tables.table(i, j) == pytest.approx(full, abs=1e-6)
        assert (tables.table(j, i) == tables.table(i, j).T).all()


@pytest.mark.full
def test_noisy_tables_agree_and_their_noise_has_its_variance() -> None:
    """4 columns of 3, 2, 5, 2 levels, equal counts; 300 releases."""
    sizes, variance, rows = np.array([3, 2, 5, 2]), 400.0, 60_000
    pairs = pairs_of(4)
    truth = [np.full((sizes[i], sizes[j]), rows / (sizes[i] * sizes[j])) for i, j in pairs]
    rng = np.random.default_rng(5)
    errors = {pair: [] for pair in pairs}
    for _ in range(300):
        noisy = np.concatenate([t.ravel() for t in truth]) + np.rint(
            rng.normal(0, variance**0.5, sum(map(np.size, truth)))
        )
        tables = make_consistent(sizes, noisy.astype(np.int64), variance)
        for (i, j), exact in zip(pairs, truth, strict=True):
            found = tables.table(i, j)
            assert found.sum(axis=1) == pytest.approx(tables.margins[i])
            assert found.sum(axis=0) == pytest.approx(tables.margins[j])
            assert tables.margins[i].sum() == pytest.approx(tables.rows)
            independent = np.outer(tables.margins[i], tables.margins[j]) / tables.rows
            errors[i, j].append(found - independent - exact + exact.mean())
    for i, j in pairs:
        assert np.var(errors[i, j]) == pytest.approx(tables.variance(i, j), rel=0.15)


@pytest.mark.full
def test_removing_any_row_moves_the_release_by_the_sensitivity(table: Table) -> None:
    terms = agree_on_terms(table.schema, 1)
    whole = features(terms, table.schema, table.columns)
    rng = np.random.default_rng(1)
    for row in rng.integers(table.n_rows, size=50):
        rest = [np.delete(column, row) for column in table.columns]
        move = whole - features(terms, table.schema, rest)
        assert (move**2).sum() == terms.sensitivity_squared
        assert set(move.tolist()) <= {0, 1}


def test_the_sum_over_sites_is_that_of_all_rows(table: Table) -> None:
    terms = agree_on_terms(table.schema, 3)
    parts = [features(terms, table.schema, [c[k::3] for c in table.columns]) for k in range(3)]
    assert (sum(parts) == features(terms, table.schema, table.columns)).all()
    assert len(parts[0]) == feature_size(terms, table.schema)


def test_noise_of_sites_differs_and_repeats() -> None:
    terms = agree_on_terms(small_table().schema, 3)
    assert (site_noise(key(1), terms, 500) == site_noise(key(1), terms, 500)).all()
    assert (site_noise(key(1), terms, 500) != site_noise(key(2), terms, 500)).mean() > 0.5


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 8.0])
def test_ges_finds_the_best_forest(table: Table, epsilon: float) -> None:
    for seed in range(4):
        statistics = release(table, key(seed), levels=levels_of(table), epsilon=epsilon)
        with pytest.warns(dagora.DagoraWarning) if epsilon < 2 else nullcontext():
            result = dagora.learn(statistics, "ges")
        score = make_score(statistics, "bic")
        total, edges = best_forest(score)
        names = table.names
        assert {frozenset(map(names.index, edge)) for edge in result.graph.undirected} == edges
        assert result.score == pytest.approx(total)
        assert result.graph.edges == ()


def test_the_result_says_what_was_done(table: Table) -> None:
    statistics = release(table, key(1), levels=levels_of(table), epsilon=3.0, delta=1e-7)
    result = dagora.learn(statistics, "ges")
    assert result.settings["privacy"]["epsilon"] == 3.0
    assert result.settings["privacy"]["release"] == "pairs"
    assert result.settings["knowledge"]["max_parents"] == 1
    for words in ("ε = 3, δ = 1e-07", "noised once", "expect a forest", "directions mean nothing"):
        assert words in result.message
    assert result.warnings == ()
    with pytest.warns(dagora.DagoraWarning, match="hill-climb often stops short of the best forest"):
        dagora.learn(statistics, "hill-climb", max_parents=1)
    again = dagora.learn(release(table, key(1), levels=levels_of(table), epsilon=3.0, delta=1e-7), "ges")
    assert (again.graph, again.score) == (result.graph, result.score)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda s: dagora.learn(s, max_parents=2), "max_parents=2 asks for more than was released.*max_parents=1"),
        (lambda s: dagora.learn(s, score="bdeu"), "the score bdeu does not know noise for privacy: use bic"),
        (lambda s: dagora.learn(s, "notears"), "continuous columns"),
        (lambda s: s.rows(), "no rows: use a search on the score bic"),
        (lambda s: s.counts([(0, 1, 2)]), "ask for at most two columns"),
        (lambda s: make_score(s).families([(0, (1, 2))]), "set max_parents=1"),
        (lambda s: dagora.learn(s, missing="drop"), "is about reading a table"),
    ],
)  # fmt: skip
def test_what_pairs_cannot_do_is_refused_in_one_line(table: Table, ask, words: str) -> None:
    with pytest.raises(dagora.DagoraError, match=words) as refusal:
        ask(release(table, key(1), levels=levels_of(table), epsilon=3.0))
    assert "\n" not in str(refusal.value)


def test_a_forest_gets_parameters_from_the_same_release(table: Table) -> None:
    """Nothing more is asked of the rows."""
    statistics = release(table, key(1), levels=levels_of(table), epsilon=8.0)
    found = statistics.counts([(), (0,), (1, 0)])
    exact = TableStatistics(table).counts([(), (0,), (1, 0)])
    assert found.values[: len(exact.values)] == pytest.approx(exact.values, abs=200)
    cells = statistics.contingency((1, 0))
    assert (cells.counts == found.of().values[found.offsets[2] :]).all()
    assert cells.cells.max(axis=0).tolist() == [
        table.schema[1].cardinality - 1,
        table.schema[0].cardinality - 1,
    ]
    assert statistics.moments().mean.shape == (0,)


def test_few_rows_drown() -> None:
    table = small_table()
    terms = replace(agree_on_terms(table.schema, 1), epsilon=0.001)
    nothing = np.zeros(feature_size(terms, table.schema), dtype=np.int64)
    with pytest.raises(dagora.DataError, match="the noise is larger than the number of rows"):
        NoisyPairs(terms, table.schema, nothing)
    with pytest.raises(dagora.DataError, match="cells, not 1"):
        NoisyPairs(terms, table.schema, nothing[:1])


def test_levels_are_declared_and_not_taken_from_the_rows() -> None:
    """A level that one person has must not show that this person is there."""
    rows = {"a": ["no", "yes"] * 50, "b": ["x", "y"] * 50}
    declared = {"a": ["no", "yes", "unsure"], "b": ["x", "y"]}
    with pytest.raises(dagora.OptionError, match="'a' is discrete and needs its levels"):
        release(rows, key(1), epsilon=1.0)
    with pytest.raises(dagora.OptionError, match="'b' is discrete and needs its levels"):
        release(rows, key(1), levels={"a": ["no", "yes"]}, epsilon=1.0)
    with pytest.raises(dagora.DataError, match="'b' has the value 'z', which is none of its levels"):
        release({**rows, "b": ["x", "z"] * 50}, key(1), levels=declared, epsilon=1.0)
    shown = []
    for last in ("no", "unsure"):
        statistics = release({**rows, "a": [*rows["a"][:-1], last]}, key(1), levels=declared, epsilon=1.0)
        shown.append([variable.levels for variable in statistics.schema])
    assert shown[0] == shown[1] == [("no", "yes", "unsure"), ("x", "y")]


def test_a_margin_is_averaged_by_precision() -> None:
    """A margin over 4 cells has twice the noise of one over 2, so half the weight."""
    raw = {(0, 1): np.array([[6.0, 6.0], [4.0, 4.0]]), (0, 2): np.array([[9.0, 0, 0, 0], [11.0, 0, 0, 0]])}
    assert average_margin(raw, [2, 2, 4], 0, 20.0) == pytest.approx([11.0, 9.0])
