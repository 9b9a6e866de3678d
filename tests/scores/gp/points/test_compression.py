"""Compressed kernels against the kernels themselves."""

import numpy as np
import pytest

from dagora.scores.gp.points.compression import (
    LONG,
    Level,
    column_basis,
    covariances,
    landmarks,
    level_of,
    se_kernel,
)
from tests.scores.gp.problems import standardised


def columns_of(kind, rows=300):
    rng = np.random.default_rng(4)
    return standardised(
        {
            "normal": rng.normal(size=(rows, 1)),
            "heavy tails": rng.standard_t(2, size=(rows, 1)),
            "ties": rng.integers(0, 7, size=(rows, 1)).astype(float),
            "two values": rng.integers(0, 2, size=(rows, 1)).astype(float),
            "clusters": np.repeat([0.0, 1.0, 50.0], rows // 3)[:, None] + 1e-9 * rng.normal(size=(rows, 1)),
        }[kind]
    )


KINDS = ["normal", "heavy tails", "ties", "two values", "clusters"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", [0, 3, 6, 9, 12])
def test_a_level_reproduces_every_kernel_from_its_scale_upwards(kind, number):
    columns = columns_of(kind)
    level = Level(columns, number)
    values = columns[:, 0]
    basis = level.bases[0]
    q = basis.rows(values, level.scale)
    rank = q.shape[1]
    assert np.allclose(q.T @ q, np.eye(rank), atol=1e-5)
    assert np.allclose(level.gram[0, 0][:rank, :rank], q.T @ q, atol=1e-12)
    assert np.allclose(level.projections[0, 0][:rank], q.T @ values, atol=1e-10)
    assert np.allclose(level.sums[0][:rank], q.sum(axis=0), atol=1e-10)
    for factor in (1.0, 1.3, 2.7, 40.0):
        scale = level.scale * factor
        (c,) = covariances(level, np.zeros(1, dtype=np.int64), np.log([scale]))
        rebuilt = q @ c[0][:rank, :rank] @ q.T
        assert np.abs(rebuilt - se_kernel(values, values, scale)).max() < 2e-5


def test_the_cut_is_as_small_as_promised_and_the_rank_does_not_grow_with_the_rows():
    ranks = []
    for rows in (500, 20_000):
        values = standardised(np.random.default_rng(1).normal(size=(rows, 1)))[:, 0]
        basis = column_basis(values, 1.0)
        assert basis.lost < 1e-7
        ranks.append(basis.coefficients.shape[1])
    assert ranks[0] < 25
    assert ranks[1] < 32


def test_landmarks_are_values_and_their_factor_is_the_cholesky_factor():
    values = np.random.default_rng(2).normal(size=200)
    points, triangle = landmarks(values, 0.7)
    assert set(points) <= set(values)
    assert np.allclose(triangle, np.tril(triangle))
    assert np.allclose(triangle @ triangle.T, se_kernel(points, points, 0.7), atol=1e-9)


@pytest.mark.parametrize("log_scale", np.log([0.6, 1.0, 3.9, 7.99, 8.0, 9.0, 50.0]).tolist())
def test_derivatives_in_the_log_of_the_length_scale(log_scale):
    level = Level(columns_of("normal"), level_of(np.array([0.5]))[0])
    zero = np.zeros(3, dtype=np.int64)
    h = 1e-4
    around, first, second = covariances(level, zero, log_scale + np.array([-h, 0.0, h]), 2)
    scale = np.abs(around).max()
    # The tables of two cells meet at powers of two: their difference must not show either.
    assert np.abs((around[2] - around[0]) / (2 * h) - first[1]).max() < 1e-6 * scale
    assert np.abs((first[2] - first[0]) / (2 * h) - second[1]).max() < 1e-5 * scale


def test_levels_are_half_octaves():
    scales = LONG / 2.0 ** (np.arange(17) / 2)
    assert level_of(scales).tolist() == list(range(17))
    assert level_of(scales * 1.01).tolist() == list(range(17))
    assert (LONG / 2.0 ** (level_of(np.array([0.7, 0.3])) / 2) <= [0.7, 0.3]).all()
