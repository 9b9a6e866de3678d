"""Moments of basis functions against numpy's Legendre polynomials and plain sums over rows."""

import numpy as np
import pytest

from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.stats.basis import basis_features, table_basis_moments
from dagora.stats.moments import BLOCK_ROWS, table_moments
from dagora.stats.table import TableStatistics


def continuous(columns):
    schema = Schema(Variable(f"x{i}", Kind.CONTINUOUS) for i in range(len(columns)))
    return Table(schema, tuple(np.asarray(column, dtype=float) for column in columns))


def test_functions_are_legendre_polynomials_column_by_column():
    z = np.random.default_rng(0).uniform(-1, 1, size=(3, 50))
    found = basis_features(z, 6)
    for i in range(3):
        for degree in range(1, 7):
            expected = np.polynomial.Legendre.basis(degree)(z[i])
            assert np.allclose(found[i * 6 + degree - 1], expected, atol=1e-13)
    assert np.abs(found).max() <= 1.0


@pytest.mark.parametrize("rows", [7, BLOCK_ROWS + 5])
def test_moments_are_those_of_all_rows_at_once(rows):
    rng = np.random.default_rng(1)
    columns = rng.normal(size=(2, rows)) * [[1e-3], [50.0]] + [[7.0], [-1e4]]
    found = table_basis_moments(continuous(columns), 4)
    low, high = columns.min(axis=1), columns.max(axis=1)
    assert np.allclose(found.centre, (low + high) / 2)
    assert np.allclose(found.half_width, (high - low) / 2)
    scaled = (columns - found.centre[:, None]) / found.half_width[:, None]
    features = basis_features(scaled, 4)
    assert found.moments.n == rows
    assert np.allclose(found.moments.mean, features.mean(axis=1), atol=1e-12)
    assert np.allclose(found.moments.covariance, np.cov(features, bias=True), atol=1e-12)


def test_the_moments_of_the_columns_are_among_them():
    columns = np.random.default_rng(2).exponential(size=(3, 200)) * [[1.0], [1e5], [1e-4]]
    table = continuous(columns)
    found, expected = table_basis_moments(table, 3).of_columns, table_moments(table)
    assert found.n == expected.n
    assert np.allclose(found.mean, expected.mean, rtol=1e-12)
    assert np.allclose(found.scatter, expected.scatter, rtol=1e-10)


def test_discrete_columns_are_left_out_and_constant_ones_have_no_width():
    table = Table.from_numpy(
        [[0, 1.5, 3.0], [1, 2.5, 3.0], [0, 9.0, 3.0]], "abc", discrete=["a"], continuous=["b", "c"]
    )
    found = TableStatistics(table).basis_moments(2)
    assert TableStatistics(table).capabilities.basis_moments is not None
    assert len(found.moments.mean) == 4
    assert found.half_width.tolist() == [3.75, 0.0]
    assert found.of_columns.mean.tolist() == pytest.approx([13 / 3, 3.0])
    assert found.of_columns.scatter[1, 1] == 0


def test_constant_and_huge_columns_stay_finite():
    """A constant column has no width; the middle of the largest range of floats is no sum of its ends."""
    rows = np.column_stack([np.full(4, 7.0), [-1.7e308, 0.0, 1e308, 1.7e308]])
    found = table_basis_moments(continuous(rows.T), 3)
    assert np.isfinite(found.centre).all()
    assert np.isfinite(found.half_width).all()
    assert np.isfinite(found.moments.scatter).all()
    assert found.centre.tolist() == [7.0, 0.0]
