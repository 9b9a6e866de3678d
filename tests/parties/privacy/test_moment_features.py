"""Moments as integers: additive over rows, right, and moved by one row by no more than promised."""

from fractions import Fraction

import numpy as np
import pytest

from dagora.parties.privacy import moment_features as module
from dagora.parties.privacy.moment_features import (
    BLOCK_NUMBERS,
    GRID,
    feature_count,
    moment_features,
    moment_sensitivity,
    row_features,
    shorten,
)
from dagora.stats.fixed_point import quantise

BOUND = 1 << 20


def rows_of_all_sorts(columns: int, number: int, seed: int = 0) -> np.ndarray:
    """Random rows of many lengths, and extreme ones: corners, edges, one large value, rows just too long."""
    rng = np.random.default_rng(seed)
    lengths = rng.uniform(0, 2, (number, 1)) * BOUND
    normal = np.clip(rng.standard_normal((number, columns)) * lengths, -BOUND, BOUND)
    corners = rng.choice([-BOUND, 0, BOUND, BOUND - 1], (number, columns))
    single = np.zeros((number, columns))
    single[np.arange(number), rng.integers(columns, size=number)] = rng.choice([-BOUND, BOUND], number)
    rows = np.concatenate([normal, corners, single, np.full((1, columns), BOUND), np.zeros((1, columns))])
    return np.rint(rows).astype(np.int64)


@pytest.mark.parametrize("columns", [2, 5, 20])
@pytest.mark.parametrize("share", [0.01, 1 / 6, 0.5, 1.0])
def test_no_row_moves_the_sum_by_more_than_the_sensitivity(columns: int, share: float) -> None:
    row_bound = share * columns
    moves = row_features(rows_of_all_sorts(columns, 10_000 // columns), row_bound).astype(np.float64)
    longest = np.sqrt((moves**2).sum(axis=1)).max()
    sensitivity = moment_sensitivity(columns, Fraction(row_bound))
    assert longest <= sensitivity
    assert longest > 0.99 * sensitivity  # and the bound is no larger than it must be


def test_ten_thousand_rows_in_the_usual_case() -> None:
    moves = row_features(rows_of_all_sorts(20, 3_400, seed=1), 20 / 6).astype(np.float64)
    assert len(moves) >= 10_000
    assert (moves**2).sum(axis=1).max() <= moment_sensitivity(20, Fraction(20 / 6)) ** 2


def test_short_rows_are_kept_and_long_ones_fit() -> None:
    rows = rows_of_all_sorts(7, 2_000)
    limit = 3 * BOUND**2 // 2
    short = shorten(rows, limit)
    squares, before = (short**2).sum(axis=1), (rows**2).sum(axis=1)
    assert squares.max() <= limit
    assert (short[before <= limit] == rows[before <= limit]).all()
    cosines = (short * rows.astype(np.float64)).sum(axis=1)[before > limit]
    lengths = np.sqrt(squares.astype(np.float64) * before)[before > limit]
    assert (cosines / lengths).min() > 1 - 1e-9  # only the length changes
    assert squares[before > limit].min() > limit * (1 - 1e-4)


def test_features_are_those_of_the_formula() -> None:
    """Against plain floating point, within half a unit of the grid and the short roots of 2 and 0.1."""
    rows = rows_of_all_sorts(4, 50)
    row_bound = 4.0
    u = rows / BOUND
    i, j = np.triu_indices(4)
    plain = np.concatenate(
        [np.ones((len(u), 1)), np.sqrt(0.1 * row_bound) * u, np.where(i == j, 1, np.sqrt(2)) * u[:, i] * u[:, j]],
        axis=1,
    )  # fmt: skip
    assert np.allclose(row_features(rows, row_bound) / GRID, plain, rtol=2e-3, atol=1 / GRID)


@pytest.mark.parametrize("bits", [8, 18, 20])
def test_sums_over_sites_are_the_sum_of_all_rows(bits: int) -> None:
    rows = rows_of_all_sorts(3, 20_000) >> (20 - bits)
    parts = moment_features(rows[:5], 0.5, bits) + moment_features(rows[5:], 0.5, bits)
    assert (parts == moment_features(rows, 0.5, bits)).all()
    assert parts.shape == (feature_count(3),)
    assert parts[0] == len(rows) * GRID
    assert (moment_features(rows[:0], 0.5, bits) == 0).all()


@pytest.mark.parametrize(("columns", "rows"), [(3, 5000), (100, 5000), (1000, 50), (3000, 2)])
def test_memory_does_not_grow_with_columns(columns: int, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks: list[int] = []

    def counted(z: np.ndarray, *_: object) -> np.ndarray:
        blocks.append(len(z))
        return np.zeros((1, feature_count(columns)), dtype=np.int64)

    monkeypatch.setattr(module, "row_features", counted)
    moment_features(np.zeros((rows, columns), dtype=np.int64), 1.0)
    assert sum(blocks) == rows
    assert max(blocks) == 1 or max(blocks) * feature_count(columns) <= BLOCK_NUMBERS


@pytest.mark.parametrize("numbers", [1, 25, 1 << 22])
def test_blocks_do_not_change_the_sum(numbers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of_all_sorts(4, 20)
    monkeypatch.setattr(module, "BLOCK_NUMBERS", numbers)
    assert (moment_features(rows, 1.0) == row_features(rows, 1.0).sum(axis=0)).all()


def test_quantised_values_keep_to_their_range() -> None:
    values = np.array([-1e300, -3.0, 1.0, 5.0, 1e300])
    assert quantise(values, -3.0, 5.0, 20).tolist() == [-BOUND, -BOUND, 0, BOUND, BOUND]
