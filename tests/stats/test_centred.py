"""Moments of windows given series and steps, against regressions on indicators written out."""

import numpy as np
import pytest

from dagora.data.series import Panel
from dagora.data.table import Table
from dagora.stats.centred import SERIES, STEPS, CentredWindows
from dagora.stats.windows import Windows


@pytest.mark.parametrize("by", [(), (SERIES,), (STEPS,), (SERIES, STEPS)])
@pytest.mark.parametrize("shift", [0, 3, 20])
def test_moments_are_those_of_residuals_given_indicators(by: tuple[str, ...], shift: int) -> None:
    """Series of 12 steps, each begins `shift` steps later, one has a gap; with 20 no step is shared."""
    rng = np.random.default_rng(shift)
    rows = [
        [s, t, *(rng.normal(size=2) + 100 * s + 5 * np.sin(t))]
        for s in range(4)
        for t in range(shift * s, shift * s + 12)
        if (s, t) != (1, shift + 5)
    ]
    panel = Panel.of_table(Table.from_numpy(rows, ["s", "t", "x", "y"], continuous=["all"]), "t", "s")
    windows = Windows.of(panel, 2)
    columns = np.stack(windows.table.columns, axis=1)
    run = np.searchsorted(panel.starts, windows.ends, side="right") - 1
    groups = {
        SERIES: np.array([float(label) for label in panel.labels])[run],
        STEPS: panel.steps[windows.ends],
    }
    indicators = [np.ones((len(columns), 1))]
    indicators += [(groups[one][:, None] == np.unique(groups[one])).astype(float) for one in by]
    given = np.hstack(indicators)
    left = columns - given @ np.linalg.lstsq(given, columns, rcond=None)[0]
    centred = CentredWindows(windows)
    found = centred.moments(frozenset(by))
    assert centred.names == windows.table.names
    assert found.n == len(columns) - (np.linalg.matrix_rank(given) - 1)
    np.testing.assert_allclose(found.scatter, left.T @ left, rtol=1e-9, atol=1e-9 * centred.spread.max())
