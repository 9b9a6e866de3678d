"""Moments within configurations and of widened tables, against numpy on the rows themselves."""

import numpy as np
import pytest

from dagora.stats import indicators
from dagora.stats.grouped import GroupedRows
from dagora.stats.indicators import table_indicator_moments
from tests.random_tables import random_mixed

TABLE = random_mixed(np.random.default_rng(1), 120, [2, 0, 3, 0, 4])


@pytest.mark.parametrize("discrete", [[], [0], [4, 0], [0, 2, 4]])
def test_every_occupied_configuration_has_its_moments(discrete):
    found = GroupedRows(TABLE).moments(discrete, [3, 1])
    codes = np.array([TABLE.columns[column] for column in discrete], dtype=int).reshape(len(discrete), 120)
    values = np.array([TABLE.columns[3], TABLE.columns[1]])
    cells = sorted(set(map(tuple, codes.T.tolist())))
    assert [tuple(cell) for cell in found.cells.tolist()] == cells
    for k, cell in enumerate(cells):
        rows = (codes == np.array(cell, dtype=int)[:, None]).all(axis=0)
        assert found.counts[k] == rows.sum()
        np.testing.assert_allclose(found.means[k], values[:, rows].mean(axis=1), rtol=1e-12)
        np.testing.assert_allclose(
            found.scatters[k], np.cov(values[:, rows], bias=True) * rows.sum(), rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("block", [1, 1000])
def test_the_widened_table_has_squares_and_indicators(block, monkeypatch):
    monkeypatch.setattr(indicators, "BLOCK_ROWS", 17 * block)
    found = table_indicator_moments(TABLE)
    assert found.starts.tolist() == [0, 1, 3, 5, 7, 10]
    features = []
    for column, levels in zip(TABLE.columns, (2, 0, 3, 0, 4), strict=True):
        if levels:
            features += [column == level for level in range(1, levels)]
        else:
            z = (column - column.mean()) / column.std()
            features += [z, z**2]
    matrix = np.array(features, dtype=float)
    np.testing.assert_allclose(found.moments.mean, matrix.mean(axis=1), atol=1e-12)
    np.testing.assert_allclose(found.moments.scatter, np.cov(matrix, bias=True) * 120, atol=1e-9)
    turned = found.in_order(np.array([4, 0, 3, 2, 1]))
    other = table_indicator_moments(TABLE.select([f"x{k}" for k in (4, 0, 3, 2, 1)]))
    assert turned.starts.tolist() == other.starts.tolist()
    np.testing.assert_allclose(turned.moments.scatter, other.moments.scatter, atol=1e-9)
