"""Simple forecasts against values written down by hand."""

import numpy as np
import pytest

from dagora.network.time.histories import SeriesHistory
from dagora.network.time.rivals import (
    follow_regression,
    last_values,
    least_squares,
    mean_values,
    shares_of_levels,
)


def history(values: list[list[float]]) -> SeriesHistory:
    array = np.array(values, dtype=float)
    seen = np.isfinite(array)
    return SeriesHistory("", 0, np.where(seen, array, 0.0), seen, np.arange(len(array)))


def test_last_and_mean_leave_out_what_was_not_seen() -> None:
    rows = history([[1, 2], [3, np.nan]])
    assert last_values(rows, 2).tolist() == [[3, 2], [3, 2]]
    assert mean_values([rows, history([[5, 4]])], 1).tolist() == [[3, 3]]
    assert np.isnan(last_values(history([[1, np.nan]]), 1)[0, 1])


def test_a_regression_of_its_own_lags_is_found_exactly() -> None:
    x = [1.0, 2.0]
    for _ in range(10):
        x.append(0.5 + 0.6 * x[-1] - 0.3 * x[-2])
    rows = history([[value] for value in x])
    coefficients = least_squares([rows], 2)
    assert coefficients.ravel() == pytest.approx([0.5, 0.6, -0.3])
    ahead = follow_regression(coefficients, rows, 2, 2).ravel()
    assert ahead[0] == pytest.approx(0.5 + 0.6 * x[-1] - 0.3 * x[-2])
    assert ahead[1] == pytest.approx(0.5 + 0.6 * ahead[0] - 0.3 * x[-1])
    assert least_squares([history([[1], [2], [3]])], 2) is None
    assert np.isnan(follow_regression(coefficients, history([[1], [np.nan]]), 2, 1)).all()


def test_shares_of_levels() -> None:
    assert shares_of_levels([history([[0], [1], [1], [1]])], 0, 3).tolist() == [0.25, 0.75, 0.0]
    assert shares_of_levels([], 0, 2).tolist() == [0.5, 0.5]
