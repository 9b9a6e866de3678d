"""Counts beyond the table of their terms: the same scores, and no memory that grows with the rows."""

import numpy as np
import pytest

from dagora.data.table import Table
from dagora.scores import information
from dagora.scores import k2 as k2_module
from dagora.scores.information import aic, bic
from dagora.scores.k2 import k2
from dagora.stats.table import TableStatistics

FAMILIES = [(0, ()), (1, (0,)), (2, (0, 1)), (0, (1, 2))]


@pytest.mark.parametrize("score", [bic, aic, k2])
@pytest.mark.parametrize("tabled", [64, 200, 1200])
def test_the_same_scores_with_a_shorter_table(score, tabled, monkeypatch):
    codes = np.random.default_rng(5).integers(0, (2, 3, 4), (3000, 3))
    codes[:2500, 0] = 0  # counts on both sides of every length
    statistics = TableStatistics(Table.from_numpy(codes, names=list("abc"), discrete=list("abc")))
    expected = score(statistics).families(FAMILIES)
    for module in (information, k2_module):
        monkeypatch.setattr(module, "TABLED", tabled)
    assert score(statistics).families(FAMILIES) == pytest.approx(expected, rel=1e-13)
