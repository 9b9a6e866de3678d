"""The K2 score where log-factorials cancel: many rows, a column that is nearly constant."""

import math

import numpy as np
import pytest

from dagora.data.table import Table
from dagora.scores.k2 import centred_log_factorials, k2
from dagora.scores.local_score import TIE
from dagora.stats.table import TableStatistics
from tests.parties.vertical.exact import in_units


@pytest.mark.parametrize("rows", [1, 2, 63, 64, 5000, 2_000_000])
def test_centred_log_factorials(rows: int) -> None:
    table = centred_log_factorials(float(rows), rows + 3)
    assert len(table) == rows + 4
    near = [*range(70), 1000, rows // 3, rows // 2, *range(rows - 3, rows + 4)]
    counts = sorted({x for x in near if 0 <= x <= rows + 3})
    shift = 90
    slope = round((math.log(rows) - 1.0) * 2.0**shift)  # exactly the double that is taken away
    for x, exact in zip(counts, in_units(counts, "f", shift), strict=True):
        expected = (exact - slope * x) / 2**shift
        # ln n itself is a double: x times its last bit.
        assert abs(table[x] - expected) <= 1e-15 * (abs(expected) + 1.0) + x * 2.3e-16 * math.log(rows + 1.0)


@pytest.mark.parametrize("a", [448, 1156, 1302])
def test_an_exact_tie_of_large_counts(a: int) -> None:
    # (n − 1)! 1!/(n + 1)! is the product over both values of a parent with a ones, where n = a² − 1.
    rows = a * a - 1
    bits = np.zeros((rows, 2), dtype=np.int64)
    bits[:a, 0] = 1
    bits[0, 1] = 1
    score = k2(TableStatistics(Table.from_numpy(bits, names=["p", "c"], discrete=["p", "c"])))
    alone, split = score.families([(1, ()), (1, (0,))])
    assert alone == pytest.approx(-math.log(rows * (rows + 1)), rel=1e-12)
    assert abs(split - alone) < 0.01 * TIE * abs(alone)
