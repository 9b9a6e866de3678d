"""Correlations behind ordered levels: closed forms, simulated normals, and the rectangle's probability."""

import numpy as np
import pytest
from scipy import stats

import dagora
from dagora.base.errors import DataError
from dagora.data.columns.ordinal import normal_scores
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.stats.latent_correlations import (
    LatentCorrelations,
    both_below,
    polychoric,
    polychoric_influence,
    polyserial,
    polyserial_influence,
    with_floor,
)
from dagora.stats.table import TableStatistics


def crossed(one, other):
    counts = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(counts, (one, other), 1.0)
    return counts


def behind(table):
    return LatentCorrelations(TableStatistics(table), "it")


@pytest.mark.parametrize("rho", [-0.9, -0.3, 0.0, 0.5, 0.95])
def test_the_probability_of_a_quadrant(rho):
    cuts = np.array([-1.5, 0.0, 0.7])
    found = both_below(cuts, cuts, rho)
    for i, h in enumerate(cuts):
        for j, k in enumerate(cuts):
            expected = stats.multivariate_normal([0, 0], [[1, rho], [rho, 1]]).cdf([h, k])
            assert found[i, j] == pytest.approx(expected, abs=1e-5)
    assert both_below(np.zeros(1), np.zeros(1), rho)[0, 0] == pytest.approx(
        0.25 + np.arcsin(rho) / (2 * np.pi), abs=1e-12
    )


def normals(rho, rows, seed):
    return np.random.default_rng(seed).multivariate_normal([0, 0], [[1, rho], [rho, 1]], size=rows)


@pytest.mark.parametrize("rho", [-0.8, 0.0, 0.4, 0.7])
def test_they_find_the_correlation_behind_cuts(rho):
    values = normals(rho, 20_000, 1)
    one = np.digitize(values[:, 0], [-0.5, 0.3, 1.2])
    other = np.digitize(values[:, 1], [0.2])
    assert polychoric(crossed(one, other)) == pytest.approx(rho, abs=0.03)
    assert polyserial(values[:, 0], other) == pytest.approx(rho, abs=0.03)
    plain = np.corrcoef(one, other)[0, 1]
    assert abs(plain) <= abs(rho) + 0.02, "a correlation of codes is too small"


def test_of_four_cells_cut_at_the_medians_it_is_a_sine():
    assert polychoric(np.array([[30.0, 20.0], [20.0, 30.0]])) == pytest.approx(
        np.sin(np.pi * (4 * 0.3 - 1) / 2), abs=1e-5
    )


def test_normal_scores_are_those_of_any_rising_transformation():
    values = normals(0.6, 500, 2)
    table = Table.from_numpy(np.column_stack([values[:, 0], values[:, 1]]), names="ab")
    bent = Table.from_numpy(np.column_stack([np.exp(3 * values[:, 0]), values[:, 1] ** 3]), names="ab")
    one, other = (behind(each).matrix for each in (table, bent))
    np.testing.assert_allclose(one, other, atol=1e-12)
    assert normal_scores(np.array([1.0, 1.0, 2.0]))[0] == normal_scores(np.array([1.0, 1.0, 2.0]))[1]


def test_levels_are_sorted_as_numbers():
    values = normals(0.7, 5000, 3)
    codes = np.digitize(values, [-1, 0, 1])
    words = np.array(["2", "10", "100", "1000"])
    schema = Schema(Variable(name, Kind.DISCRETE, ("10", "100", "1000", "2")) for name in "ab")
    place = {level: k for k, level in enumerate(("10", "100", "1000", "2"))}
    turned = tuple(np.array([place[words[c]] for c in codes[:, k]], dtype=np.uint16) for k in range(2))
    assert behind(Table(schema, turned)).matrix[0, 1] == pytest.approx(0.7, abs=0.04)


def test_a_matrix_that_fits_nothing_gets_a_floor():
    wrong = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])
    found, moved = with_floor(wrong)
    assert moved > 0.1
    assert np.linalg.eigvalsh(found)[0] > 0
    np.testing.assert_allclose(np.diag(found), 1)
    same, none = with_floor(np.eye(3))
    assert none == 0
    assert (same == np.eye(3)).all()


@pytest.mark.parametrize("rho", [0.0, 0.6])
def test_rows_are_worth_what_the_spread_of_the_estimate_says(rho):
    """The variance over samples is (1 − ρ²)² / rows, with the rows that one sample tells of."""
    found, rows = [], []
    for seed in range(150):
        values = normals(rho, 300, seed)
        one, other = np.digitize(values[:, 0], [0.0]), np.digitize(values[:, 1], [-0.5, 0.5])
        levels = [Variable("a", Kind.DISCRETE, tuple("12")), Variable("b", Kind.DISCRETE, tuple("123"))]
        pair = behind(Table(Schema(levels), (one.astype(np.uint16), other.astype(np.uint16))))
        found.append(pair.matrix[0, 1])
        rows.append(pair.rows)
    assert (1 - rho**2) ** 2 / np.var(found) == pytest.approx(np.median(rows), rel=0.35)
    assert np.median(rows) < 200


def test_rows_are_worth_what_the_spread_of_partial_correlations_says():
    """The same of partial correlations given all others, in a chain of four."""
    schema = Schema(Variable(name, Kind.DISCRETE, tuple("123")) for name in "abcd")
    found, rows = [], []
    for seed in range(60):
        a, b, c, d = np.random.default_rng(seed).normal(size=(4, 400))
        chain = (a, 0.6 * a + 0.8 * b, 0.36 * a + 0.48 * b + 0.8 * c, d)
        codes = tuple(np.digitize(each, [-0.4, 0.9]).astype(np.uint16) for each in chain)
        latent = behind(Table(schema, codes))
        inverse = np.linalg.inv(latent.matrix)
        upper = np.triu_indices(4, 1)
        scale = np.sqrt(np.outer(np.diag(inverse), np.diag(inverse)))
        found.append((-inverse / scale)[upper])
        rows.append(latent.rows)
    worth = (1 - np.mean(found, axis=0) ** 2) ** 2 / np.var(found, axis=0)
    assert np.median(worth) == pytest.approx(np.median(rows), rel=0.25)


def test_levels_that_never_change_are_related_to_nothing():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, size=200).astype(np.uint16)
    levels = [Variable(name, Kind.DISCRETE, tuple("123"), ordered=True) for name in "abc"]
    columns = (codes, np.zeros(200, dtype=np.uint16), codes)
    for more, numbers in (((), ()), ((Variable("x", Kind.CONTINUOUS),), (rng.normal(size=200),))):
        table = Table(Schema([*levels, *more]), (*columns, *numbers))
        found = behind(table)
        assert found.constant == {1}
        assert (found.matrix[1, [0, 2]] == 0).all()
        for method, by in (("tabu", {"score": "bic-latent"}), ("pc", {"test": "latent"})):
            learned = dagora.learn(table, method, **by).cpdag.undirected
            assert {frozenset(edge) for edge in learned} == {frozenset("ac")}


def likert(rows, seed):
    """Five items of four levels, cut from a linear-Gaussian network, and a number that is not normal."""
    truth = dagora.random_dag("er", 6, 1.0, seed)
    values = dagora.simulate(truth, "gaussian", rows, seed=seed).table
    columns = []
    for place in range(6):
        column = values.values(place)
        if place == 5:
            columns.append(np.exp(column / column.std()))
        else:
            columns.append(np.digitize(column, np.quantile(column, [0.2, 0.5, 0.85])).astype(np.uint16))
    schema = Schema(
        Variable(name, Kind.DISCRETE, tuple("1234")) if place < 5 else Variable(name, Kind.CONTINUOUS)
        for place, name in enumerate(values.names)
    )
    return truth, Table(schema, tuple(columns))


@pytest.mark.full
def test_adjacencies_of_ordered_levels_are_nearer_than_those_of_unordered_ones():
    wrong = {"bic-latent": 0, "bic-mixed": 0}
    for seed in range(12):
        truth, table = likert(300, seed)
        real = {frozenset(edge) for edge in truth.edges}
        for score in wrong:
            graph = dagora.learn(table, "hill-climb", score=score).graph
            wrong[score] += len(real ^ {frozenset(edge) for edge in graph.edges})
    assert wrong["bic-latent"] < 0.8 * wrong["bic-mixed"], wrong


def test_levels_without_an_order_are_refused_with_the_way_out():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, size=(60, 2)).astype(np.uint16)
    schema = Schema(
        [Variable("a", Kind.DISCRETE, ("high", "low", "mid")), Variable("b", Kind.DISCRETE, tuple("123"))]
    )
    table = Table(schema, (codes[:, 0], codes[:, 1]))
    with pytest.raises(DataError, match="needs an order of levels, and those of column 'a' have none"):
        dagora.learn(table, "hill-climb", score="bic-latent")
    said = dagora.learn(table, "hill-climb", score="bic-latent", ordinal={"a": ["low", "mid", "high"]})
    assert "normal variables behind ordered levels" in said.message
    ordered = Schema([Variable("a", Kind.DISCRETE, ("low", "mid", "high"), ordered=True), schema[1]])
    result = dagora.learn(Table(ordered, table.columns), "hill-climb", score="bic-latent")
    assert "normal variables behind ordered levels" in result.message
    with pytest.raises(DataError, match="there is no column 'c'"):
        dagora.learn(table, "hill-climb", score="bic-latent", ordinal="c")


@pytest.mark.parametrize("rho", [-0.5, 0.0, 0.7])
def test_what_a_row_adds_is_the_slope_of_the_estimate(rho):
    values = normals(rho, 400, 5)
    counts = crossed(np.digitize(values[:, 0], [-0.7, 0.8]), np.digitize(values[:, 1], [-0.2, 0.5, 1.3]))
    found = polychoric_influence(counts, polychoric(counts))
    for cell in np.ndindex(counts.shape):
        more, less = counts.copy(), counts.copy()
        more[cell] += 0.05
        less[cell] -= 0.05 * (less[cell] > 0.05)
        slope = (polychoric(more) - polychoric(less)) / (more.sum() - less.sum()) * counts.sum()
        assert found[cell] == pytest.approx(slope, abs=0.05 * max(1.0, abs(slope))), cell


@pytest.mark.parametrize("rho", [0.0, 0.6])
def test_what_a_row_adds_beside_a_number_is_what_leaving_it_out_takes(rho):
    values = normals(rho, 250, 6)
    numbers, codes = values[:, 0], np.digitize(values[:, 1], [-0.4, 0.6])
    whole = polyserial(normal_scores(numbers), codes)
    found = polyserial_influence(normal_scores(numbers), codes, whole)
    left = [np.delete(np.arange(250), k) for k in range(0, 250, 5)]
    without = np.array([polyserial(normal_scores(numbers[rest]), codes[rest]) for rest in left])
    taken = 249 * (whole - without)
    assert np.corrcoef(found[::5], taken)[0, 1] > 0.995
    assert found[::5].std() == pytest.approx(taken.std(), rel=0.05)
    assert found.mean() == pytest.approx(0, abs=0.05)


def test_cut_at_the_medians_the_variance_at_zero_is_that_of_pearson():
    """n times the variance of a tetrachoric correlation at 0 is π²/4 (Pearson 1900)."""
    counts = np.full((2, 2), 25.0)
    square = (counts * polychoric_influence(counts, 0.0) ** 2).sum() / counts.sum()
    assert square == pytest.approx(np.pi**2 / 4, rel=1e-9)
