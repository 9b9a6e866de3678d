"""Statistics in the order of the names answer as the table with its columns sorted does."""

import numpy as np
import pytest

from dagora.base.errors import RowsUnavailableError
from dagora.data.schema import Kind, Schema, Variable
from dagora.stats.capabilities import StatisticsCapabilities
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


class Behind:
    """Statistics of the columns b and a, which can do what is named."""

    schema = Schema([Variable("b", Kind.CONTINUOUS), Variable("a", Kind.CONTINUOUS)])
    n_rows = 3

    def __init__(self, **abilities):
        self.capabilities = StatisticsCapabilities(**abilities)


def test_columns_that_were_noised_keep_their_order():
    noised = Behind(release=object())
    assert in_name_order(noised) is noised
    assert in_name_order(Behind()).schema.names == ("a", "b")


def test_questions_go_to_the_columns_behind():
    asked = []
    known = in_name_order(Behind(knows=lambda sets: asked.append(sets) or True))
    assert known.capabilities.knows([(0,), (0, 1)])
    assert asked == [[[1], [1, 0]]]


@pytest.mark.parametrize("ability", ["knows", "basis_moments", "indicator_moments"])
def test_it_can_do_what_those_behind_can(ability):
    assert getattr(in_name_order(Behind()).capabilities, ability) is None
    assert getattr(in_name_order(Behind(**{ability: print})).capabilities, ability) is not None
