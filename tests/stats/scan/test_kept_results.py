"""What scans keep between passes: how much, and that it is looked at again after a lost connection."""

import numpy as np
import pytest

from dagora.base.errors import DataError
from dagora.data.columns.overview import Overview
from dagora.data.schema import Kind, Schema, Variable
from dagora.stats.indicators import add_features, feature_starts, no_features
from dagora.stats.moments import block_moments
from dagora.stats.scan import kept_counts
from dagora.stats.scan.kept_counts import KeptCounts, OccupiedCells
from dagora.stats.scan.scan_statistics import ScanStatistics, same_moments
from dagora.stats.statistics import Moments

SCHEMA = Schema([Variable("a", Kind.DISCRETE, ("u", "v")), Variable("x", Kind.CONTINUOUS)])


class Rows:
    """Counts rows in memory, as a database whose connection may be lost; `columns` may change meanwhile."""

    title, said, passes = "the database", "", 0
    effort: dict[str, float] = {}  # noqa: RUF012

    def __init__(self, columns):
        self.columns, self.transaction = columns, 1

    def count(self, sets):
        values, counts = np.unique(self.columns[0], return_counts=True)
        known = {
            (): OccupiedCells(np.empty((1, 0), dtype=np.uint16), counts.sum(keepdims=True)),
            (0,): OccupiedCells(values.astype(np.uint16)[:, None], counts),
        }
        return {columns: known[columns] for columns in sets}

    def moments(self, columns):
        assert columns == [1]
        return block_moments(Moments(0, np.zeros(1), np.zeros((1, 1))), [self.columns[1]])

    def feature_moments(self, schema, scales):
        return add_features(no_features(feature_starts(schema)), schema, scales, self.columns)


def opened():
    rng = np.random.default_rng(0)
    rows = Rows([np.tile(np.array([0, 1], dtype=np.uint16), 50), rng.normal(size=100)])
    return rows, ScanStatistics(rows, SCHEMA, 100, Overview((), 100))


def test_moments_of_levels_are_looked_at_again_in_a_new_transaction():
    rows, scanned = opened()
    known = scanned.indicator_moments()
    rows.transaction = 2
    assert scanned.counts([(0,)]).values.tolist() == [50, 50]
    assert scanned.indicator_moments() is known
    # The same levels and the same numbers as before, but not in the same rows.
    rows.columns[0] = np.repeat(np.array([0, 1], dtype=np.uint16), 50)
    rows.transaction = 3
    said = r"^the database changed while the connection was lost \(moments of levels differ\): open the rows anew$"
    for _ in range(2):
        with pytest.raises(DataError, match=said):
            scanned.counts([()])


def test_moments_of_another_number_of_rows_are_others():
    one = Moments(100, np.zeros(2), np.eye(2))
    assert same_moments(one, Moments(100, np.zeros(2), np.eye(2)))
    assert not same_moments(Moments(101, np.zeros(2), np.eye(2)), one)


def test_what_is_kept_has_a_bound(monkeypatch):
    monkeypatch.setattr(kept_counts, "KEPT_NUMBERS", 20)

    def table(cells):  # two numbers for each
        return OccupiedCells(np.zeros((cells, 1), dtype=np.uint16), np.zeros(cells, dtype=np.int64))

    kept = KeptCounts()
    kept.keep({(0, 1): table(4)})
    kept.keep({(0, 2): table(5), (0,): table(1)})
    assert kept.sets == [(0, 1), (0, 2), (0,)], "20 numbers"
    kept.keep({(1, 2): table(1)})
    assert kept.sets == [(0,), (1, 2)], "older ones are forgotten, but for single columns"
    kept.keep({(1, 3): table(8)})
    assert kept.sets == [(0,), (1, 2), (1, 3)], "room is counted from what is still kept"
    kept.keep({(2, 3): table(11), (1,): table(1)})
    assert kept.sets == [(0,), (1,)], "more than there is room for"
