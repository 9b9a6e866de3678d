"""Statistics in the order of the names answer as the table with its columns sorted does."""

import numpy as np
import pytest

from dagora.base.errors import RowsUnavailableError
from dagora.stats.name_order import NameOrder, in_name_order
from dagora.stats.table import TableStatistics
from tests.random_tables import random_continuous, random_discrete


class OnlySums(TableStatistics):
    """Statistics of another kind than tables have."""

    def rows(self):
        raise RowsUnavailableError("no rows")


def shuffled(table):
    return table.select(np.random.default_rng(5).permutation(table.names).tolist())


def test_counts():
    table = shuffled(random_discrete(np.random.default_rng(0), 50, [2, 3, 2, 4, 3]))
    ordered, other = (in_name_order(kind(table)) for kind in (TableStatistics, OnlySums))
    assert isinstance(ordered, TableStatistics)
    assert isinstance(other, NameOrder)
    for statistics in (ordered, other):
        assert statistics.schema.names == tuple(sorted(table.names))
        assert statistics.n_rows == 50
    for sets in ([(0,), (1, 4), (3, 2, 0)], np.array([[0, 1], [2, 3], [4, 0]])):
        ours, theirs = ordered.counts(sets), other.counts(sets)
        assert ours.values.tolist() == theirs.values.tolist()
        assert ours.offsets.tolist() == theirs.offsets.tolist()
    assert ordered.contingency((4, 1)).cells.tolist() == other.contingency((4, 1)).cells.tolist()
    with pytest.raises(RowsUnavailableError):
        other.rows()


def test_moments():
    table = shuffled(random_continuous(np.random.default_rng(1), 40, 5))
    ordered, other = (in_name_order(kind(table)).moments() for kind in (TableStatistics, OnlySums))
    assert other.mean == pytest.approx(ordered.mean)
    assert other.scatter == pytest.approx(ordered.scatter)


def test_sorted_columns_are_left_as_they_are():
    statistics = TableStatistics(random_discrete(np.random.default_rng(0), 20, [2, 2]))
    assert in_name_order(statistics) is statistics
