"""Cut bases against the kernels and against the products of actual columns."""

import numpy as np
import pytest

from dagora.scores.gp.compression import LONG, Level, level_of, se_kernel
from dagora.scores.gp.view import Views, grouped
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
            (c,) = bases.covariances(np.array([column]), np.log([scale]))
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


def test_groups_hold_every_point_once_and_serve_every_parent():
    log_scales = np.random.default_rng(0).normal(size=(300, 3))
    points = np.arange(0, 300, 2)
    seen = []
    for group in grouped(log_scales, points):
        seen += group.points.tolist()
        own = np.take_along_axis(log_scales[group.points], group.order, axis=1)
        assert (np.diff(own, axis=1) >= 0).all()
        assert (level_of(np.exp(own)) <= group.levels).all()
        assert max(group.levels) == group.levels[0] == level_of(np.exp(own[0, :1]))[0]
    assert sorted(seen) == points.tolist()
