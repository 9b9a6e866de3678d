"""Cut bases against the kernels and against the products of actual columns."""

import numpy as np
import pytest

from dagora.scores.gp.points.compression import LONG, Level, covariances, se_kernel
from dagora.scores.gp.points.view import Views
from tests.scores.gp.problems import wavy_columns

FINE = 7


@pytest.fixture(scope="module")
def columns():
    return wavy_columns(200)


@pytest.fixture(scope="module")
def views(columns):
    return Views(Level(columns, FINE), FINE)


def rows_of(views, columns, number, column):
    """The basis of one column, row by row, padded as the level is."""
    level = views.level
    q = level.bases[column].rows(columns[:, column], level.scale)
    q = np.pad(q, ((0, 0), (0, level.rank - q.shape[1])))
    return q if number == FINE else q @ views.bases(number).turns[column]


@pytest.mark.parametrize("number", [0, 3, 6])
def test_a_cut_is_smaller_and_reproduces_every_kernel_from_its_scale_upwards(views, columns, number):
    bases = views.bases(number)
    assert bases.rank < views.level.rank
    for factor in (1.0, 1.7, 30.0):
        scale = LONG / 2.0 ** (number / 2) * factor
        for column in (0, 4):
            (c,) = covariances(bases, np.array([column]), np.log([scale]))
            q = rows_of(views, columns, number, column)
            rebuilt = q @ c[0] @ q.T
            values = columns[:, column]
            assert np.abs(rebuilt - se_kernel(values, values, scale)).max() < 2e-5


@pytest.mark.parametrize(("one", "other"), [(FINE, 3), (3, FINE), (3, 6), (6, 6)])
def test_products_are_those_of_the_cut_columns(views, columns, one, other):
    gram = views.gram(one, other)
    for i, j in [(0, 1), (4, 2)]:
        left, right = rows_of(views, columns, one, i), rows_of(views, columns, other, j)
        assert np.allclose(gram[i, j], left.T @ right, atol=1e-8)
        assert np.allclose(views.bases(one).sums[i], left.sum(axis=0), atol=1e-8)
        assert np.allclose(views.bases(one).projections[i, j], left.T @ columns[:, j], atol=1e-8)
