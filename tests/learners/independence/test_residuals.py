"""Tests on residuals: against all permutations, direct computation and the restricted likelihood; their size."""

from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import norm

import dagora
from dagora.base.errors import DataError
from dagora.data.table import Table
from dagora.learners.independence.permutation_moments import upper_tail
from dagora.learners.independence.residuals import MOST_ROWS, ResidualTest
from dagora.learners.independence.row_kernels import KERNELS
from dagora.learners.independence.smooth import SmoothRegression, bending_kernel, spline_functions
from dagora.stats.table import TableStatistics
from tests.learners.independence.test_permutation_moments import sums_of_matrix

FIRST, SECOND = np.array([0]), np.array([1])
NOTHING = np.empty((1, 0), dtype=np.int64)
MEASURES = ("hsic", "dcov", "gcm")


def on_rows(rows, measure):
    names = [f"v{k}" for k in range(np.shape(rows)[1])]
    return ResidualTest(TableStatistics(Table.from_numpy(rows, names=names)), measure, "it")


def centred(matrix):
    middle = np.eye(len(matrix)) - 1 / len(matrix)
    return middle @ matrix @ middle


def similarities(values, measure):
    if measure == "dcov":
        return -np.abs(values[:, None] - values)
    return np.exp(-((values[:, None] - values) ** 2) / 2 / values.var())


@pytest.mark.parametrize("measure", ["hsic", "dcov"])
@pytest.mark.parametrize("n", [5, 6, 7])
def test_equal_to_all_permutations(n, measure):
    x, y = np.random.default_rng(n).normal(size=(2, n))
    y = y / np.abs(y - y.mean()).max()  # the scale that residuals have
    x = x / np.abs(x - x.mean()).max()
    one, other = (centred(similarities(values, measure)) for values in (x, y))
    values = np.array([(one * other[np.ix_(order, order)]).sum() for order in permutations(range(n))])
    spread = values - values.mean()
    expected = upper_tail((one * other).sum(), values.mean(), (spread**2).mean(), (spread**3).mean())
    test = on_rows(np.column_stack([x, y]), measure)
    p = test.p_values(FIRST, SECOND, NOTHING)[0]
    assert p == pytest.approx(float(expected), rel=1e-8)
    statistic, again = test.dependence((0, ()), (1, ()))
    assert (statistic, again) == (pytest.approx((one * other).sum(), rel=1e-10), p)


@pytest.mark.parametrize("measure", ["hsic", "dcov"])
@pytest.mark.parametrize("tail", [2, 50])
def test_sums_without_a_product_of_matrices(measure, tail):
    """Of normal values, and of some with heavy tails and ties."""
    values = np.random.default_rng(1).standard_t(tail, size=90).round(2)
    values -= values.mean()
    matrix = KERNELS[measure].matrix(values)
    np.testing.assert_allclose(matrix, centred(similarities(values, measure)), atol=1e-12)
    np.testing.assert_allclose(
        KERNELS[measure].sums(values, matrix), sums_of_matrix(matrix), rtol=1e-7, atol=1e-8
    )


def test_generalised_covariance_by_its_definition():
    x, y = np.random.default_rng(0).normal(size=(2, 40))
    products = (x - x.mean()) * (y - y.mean())
    z = np.sqrt(40) * products.mean() / products.std()
    p = on_rows(np.column_stack([x, y]), "gcm").p_values(FIRST, SECOND, NOTHING)[0]
    assert p == pytest.approx(2 * norm.sf(abs(z)))


@pytest.mark.parametrize("function", [np.sin, np.square, lambda z: np.sin(3 * z)])
def test_smoothing_is_where_the_restricted_likelihood_is_largest(function):
    z, noise = np.random.default_rng(2).normal(size=(2, 120))
    y = function(z) + 0.5 * noise
    functions = spline_functions(z)
    line, bends = np.column_stack([np.ones(120), functions[0]]), functions[1:].T
    centre = y - y.mean()

    def fitted(log_stiffness):
        """Minus twice the restricted log-likelihood of y = line + bends + noise, and the residuals."""
        covariance = np.eye(120) + bends @ bends.T * np.exp(-log_stiffness)
        inverse = np.linalg.inv(covariance)
        cross = line.T @ inverse @ line
        left = centre - line @ np.linalg.solve(cross, line.T @ inverse @ centre)
        variance = left @ inverse @ left / 118
        criterion = 118 * np.log(variance) + np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(cross)[1]
        return criterion, inverse @ left

    best = minimize_scalar(lambda s: fitted(s)[0], bounds=(-20, 15), method="bounded").x
    left = SmoothRegression(np.stack([z, y])).residuals([1], [0])[0]
    np.testing.assert_allclose(left * np.abs(centre).max(), fitted(best)[1], atol=2e-3 * centre.std())


@pytest.mark.full
@pytest.mark.parametrize("measure", MEASURES)
def test_size_given_two_columns_that_bend(measure):
    """Fisher's z rejects more than a quarter of these at five per cent."""
    rng = np.random.default_rng(5)
    rejected = 0
    for _ in range(200):
        s, t, one, other = rng.normal(size=(4, 60))
        rows = np.column_stack([np.cos(2 * s) + t * s + one, s**2 + t * s + other, s, t])
        rejected += on_rows(rows, measure).p_values(FIRST, SECOND, np.array([[2, 3]]))[0] < 0.05
    assert 0.015 <= rejected / 200 <= 0.1


@pytest.mark.full
def test_a_common_scale_leaves_only_the_covariance_measure_at_its_level():
    rng = np.random.default_rng(6)
    rejected = dict.fromkeys(MEASURES, 0)
    for _ in range(100):
        s, one, other = rng.normal(size=(3, 100))
        rows = np.column_stack([np.exp(0.7 * s) * one, np.exp(0.7 * s) * other, s])
        for measure in MEASURES:
            rejected[measure] += on_rows(rows, measure).p_values(FIRST, SECOND, np.array([[2]]))[0] < 0.05
    assert rejected["gcm"] <= 12
    assert rejected["hsic"] > 55
    assert rejected["dcov"] > 40


def test_what_is_kept_does_not_change_the_answer(monkeypatch):
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(40, 5))
    x, y = np.array([0, 0, 1, 3, 0]), np.array([1, 2, 2, 4, 1])
    given = np.array([[3], [3], [3], [0], [4]])
    for measure in MEASURES:
        plain = on_rows(rows, measure).p_values(x, y, given)
        monkeypatch.setattr("dagora.learners.independence.residuals.CACHE_BYTES", 1)
        monkeypatch.setattr("dagora.learners.independence.residuals.CACHE_VALUES", 1)
        np.testing.assert_array_equal(on_rows(rows, measure).p_values(x, y, given), plain)
        one_by_one = [
            on_rows(rows, measure).p_values(x[k : k + 1], y[k : k + 1], given[k : k + 1])[0] for k in range(5)
        ]
        np.testing.assert_allclose(one_by_one, plain, rtol=1e-9)
        monkeypatch.undo()


@pytest.mark.parametrize("measure", MEASURES)
def test_a_determined_column_cannot_be_tested(measure):
    a, b, c = np.random.default_rng(8).normal(size=(3, 60))
    test = on_rows(np.column_stack([a + 2 * b, c, a, b]), measure)
    assert np.isnan(test.p_values(FIRST, SECOND, np.array([[2, 3]]))[0])
    assert test.max_given == 11


@pytest.mark.parametrize("measure", ["hsic", "dcov"])
def test_p_can_be_tiny_but_not_negative(measure):
    a = np.random.default_rng(9).normal(size=400)
    p = on_rows(np.column_stack([a, a + 1e-3 * a**2]), measure).p_values(FIRST, SECOND, NOTHING)[0]
    assert 0 <= p < 1e-15


def test_bad_input():
    many = np.random.default_rng(0).normal(size=(MOST_ROWS + 1, 2))
    with pytest.raises(DataError, match=r"at most 4096 rows.*choose the test gcm"):
        dagora.learn(many, "pc", test="dcov")
    assert not dagora.learn(many, "pc", test="gcm").graph.edges
    with pytest.raises(DataError, match="cannot make a single test"):
        dagora.learn({"a": [0.1, 0.5, 0.9, 0.2], "b": [0.7, 0.2, 0.4, 0.1]}, "pc", test="hsic")
    with pytest.raises(DataError, match="'v0' is constant"):
        on_rows(np.column_stack([np.ones(20), many[:20]]), "gcm")
    with pytest.raises(DataError, match="equal up to scale"):
        on_rows(np.column_stack([2 * many[:20, 0] + 1, many[:20]]), "gcm")


def test_pc_sees_what_bends():
    rng = np.random.default_rng(10)
    a, b, c = rng.normal(size=(3, 200))
    rows = {"a": a, "b": b, "c": a**2 + np.cos(2 * b) + 0.3 * c}
    for measure in ("hsic", "dcov"):
        assert set(dagora.learn(rows, "pc", test=measure).graph.edges) == {("a", "c"), ("b", "c")}
    assert not dagora.learn(rows, "pc", alpha=0.001).graph.edges


def test_knots_are_even_places_and_quantiles():
    values = np.random.default_rng(4).exponential(size=11 * 40 + 1)  # quantiles k/11 are values
    functions = spline_functions(values)
    z = (values - values.min()) / np.ptp(values)
    knots = np.unique([*np.linspace(0, 1, 12), *np.sort(z)[::40]])
    curves = np.column_stack([np.ones_like(z), z, bending_kernel(z, knots)])
    fitted = curves @ np.linalg.lstsq(curves, functions.T, rcond=1e-12)[0]
    np.testing.assert_allclose(fitted, functions.T, atol=1e-6)
