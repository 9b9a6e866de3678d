"""Sums that are kept from level to level against sums that are counted anew."""

from itertools import combinations

import numpy as np
import pytest

import dagora.scores.discrete as discrete
from dagora.scores.bdeu import bdeu
from dagora.scores.information import bic
from dagora.scores.k2 import k2
from dagora.scores.known_sums import KnownSums
from dagora.stats.table import TableStatistics
from tests.random_tables import random_discrete


class Counting(TableStatistics):
    """Statistics that note how many sets were counted."""

    def __init__(self, table):
        super().__init__(table)
        self.sets = 0

    def counts(self, column_sets):
        self.sets += len(column_sets)
        return super().counts(column_sets)


def families(d, size):
    """All families with so many parents."""
    parents = [one for one in combinations(range(d), size) for _ in range(d - size)]
    children = [x for one in combinations(range(d), size) for x in range(d) if x not in one]
    return np.array(children), np.array(parents)


@pytest.mark.parametrize("make", [bic, bdeu, k2])
def test_levels_after_each_other_score_as_each_alone(make, monkeypatch):
    monkeypatch.setattr(discrete, "WORTH_KEEPING", 1)
    table = random_discrete(np.random.default_rng(1), 200, [2, 3, 4, 2, 3, 2])
    score = make(TableStatistics(table))
    for size in (1, 2, 3, 2, 4):
        children, parents = families(6, size)
        for some in (slice(None), slice(3, None, 5), slice(None)):
            alone = make(TableStatistics(table)).block(children[some], parents[some])
            assert score.block(children[some], parents[some]).tolist() == alone.tolist()


def test_parents_that_were_families_are_not_counted_again(monkeypatch):
    monkeypatch.setattr(discrete, "WORTH_KEEPING", 1)
    statistics = Counting(random_discrete(np.random.default_rng(2), 100, [2, 3, 2, 2, 3]))
    score = bic(statistics)
    score.block(*families(5, 1))
    assert statistics.sets == 5 + 10
    score.block(*families(5, 2))
    assert statistics.sets == 5 + 10 + 10  # the triples


def test_sets_whose_keys_do_not_fit_are_counted_each_time(monkeypatch):
    """64 columns have keys of 6 bits for each of a set: of 11, the first column matters modulo 16 only."""
    table = random_discrete(np.random.default_rng(3), 2000, [2] * 64)
    rest = list(range(17, 27))
    one, other = np.array([[0, *rest]]), np.array([[16, *rest]])
    alone = bic(TableStatistics(table)).joint_sums(other)
    monkeypatch.setattr(discrete, "WORTH_KEEPING", 1)
    score = bic(TableStatistics(table))
    first = score.joint_sums(one)
    assert score.joint_sums(other).tolist() == alone.tolist() != first.tolist()


def test_what_is_not_known_is_named():
    known = KnownSums()
    assert known.look_up(3, np.array([1, 2]))[1].tolist() == [0, 1]
    known.keep(3, np.array([2, 4, 9]), np.array([0.2, 0.4, 0.9]))
    values, unknown = known.look_up(3, np.array([1, 2, 5, 9, 10]))
    assert unknown.tolist() == [0, 2, 4]
    assert values[[1, 3]].tolist() == [0.2, 0.9]
    assert known.look_up(4, np.array([2]))[1].tolist() == [0]
    known.keep(4, np.array([7]), np.array([0.7]))
    assert not len(known.look_up(3, np.array([4]))[1])
    known.keep(5, np.array([8]), np.array([0.8]))
    assert known.look_up(3, np.array([4]))[1].tolist() == [0]  # two sizes smaller: forgotten
    known.keep(5, np.array([], dtype=np.int64), np.array([]))
    assert known.look_up(5, np.array([8]))[1].tolist() == [0]
