import numpy as np
import pytest

from dagora.base.errors import DataError
from dagora.data.partition import split_rows
from dagora.parties.horizontal.learners.columns import ask_columns
from tests.parties.horizontal.federations import Recording
from tests.random_tables import continuous_table


def columns_of(rows, centre):
    return ask_columns(Recording(split_rows(continuous_table(rows), 4, seed=1)), "the method admm", centre)


@pytest.mark.parametrize("deviation", [1e-8, 1e-4, 1.0, 1e6])
@pytest.mark.parametrize("mean", [0.0, 52.5, -1e4])
def test_centre_and_spread_are_those_of_all_rows(mean, deviation):
    rows = np.random.default_rng(0).normal(size=(200, 3)) * [deviation, 1.0, 1e3] + mean
    found = columns_of(rows, "global")
    assert found.n == 200
    # To the rounding of values within their range, and of doubles at the size of the mean.
    allowed = 1e-8 * rows.std(axis=0) + 1e-15 * abs(rows.mean(axis=0)) * 4
    assert np.all(np.abs(found.mean - rows.mean(axis=0)) <= allowed)
    assert found.deviations == pytest.approx(rows.std(axis=0), rel=1e-2)
    about_zero = columns_of(rows, "none")
    assert about_zero.deviations == pytest.approx(np.sqrt(np.square(rows).mean(axis=0)), rel=1e-2)


@pytest.mark.parametrize("value", [0.0, 0.1, 52.5, -1e9])
@pytest.mark.parametrize("centre", ["global", "local"])
def test_constant_columns_are_refused(value, centre):
    rows = np.random.default_rng(0).normal(size=(200, 2))
    rows[:, 1] = value
    with pytest.raises(DataError, match=r"column 'x1'(, it)? is constant"):
        columns_of(rows, centre)
