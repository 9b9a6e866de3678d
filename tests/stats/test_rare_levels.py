"""Counts by rare levels against a plain counter over the rows."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dagora.stats.table as table_module
from dagora.scores.information import bic
from dagora.stats.rare_levels import MOST, count_rare, counting_keys, few_cells, places_aside, rare_levels
from dagora.stats.row_labels import CELLS_PER_ROW
from dagora.stats.table import TableStatistics
from tests.random_tables import discrete_table


def plain_counts(columns, sets):
    """Counts of the occupied cells of each set, in lexicographic order of the cells."""
    return [
        [count for _, count in sorted(Counter(zip(*(columns[c] for c in one), strict=True)).items())]
        for one in sets.tolist()
    ]


def split(values, sizes):
    return [part.tolist() for part in np.split(values, np.cumsum(sizes)[:-1])]


def skewed_columns(rng, n, cardinalities):
    """Columns with common and rare levels, some of which are never seen."""
    columns = []
    for levels in cardinalities:
        shares = rng.dirichlet(np.full(levels, 0.3))
        columns.append(rng.choice(levels, size=n, p=shares))
    return columns


@st.composite
def columns_with_sets(draw):
    n = draw(st.sampled_from([1, 2, 65, 300]))
    cardinalities = draw(st.lists(st.sampled_from([1, 2, 3, 5, 9]), min_size=2, max_size=6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = draw(st.integers(2, 4))
    # In any order, and the same column may come twice.
    sets = rng.integers(0, len(cardinalities), (draw(st.integers(1, 12)), size))
    return skewed_columns(rng, n, cardinalities), np.array(cardinalities), sets


@settings(max_examples=80, deadline=None)
@given(columns_with_sets())
def test_counts_equal_a_plain_counter(case):
    columns, cardinalities, sets = case
    codes = np.array(columns, dtype=np.uint8)
    rare = rare_levels(codes, cardinalities)
    for order in (np.arange(len(sets)), np.argsort(counting_keys(rare, sets))):
        found = count_rare(codes, cardinalities, rare, sets[order])
        assert split(*found) == plain_counts(columns, sets[order])


def test_rows_of_rare_levels_are_those_of_each_level_but_the_most_common():
    rng = np.random.default_rng(3)
    cardinalities = np.array([4, 1, 7, 2])
    codes = np.array(skewed_columns(rng, 200, cardinalities), dtype=np.uint8)
    rare = rare_levels(codes, cardinalities)
    for c, levels in enumerate(cardinalities):
        counts = np.bincount(codes[c], minlength=levels)
        assert counts[rare.common[c]] == counts.max()
        for level in range(levels):
            begin, end = rare.starts[rare.first[c] + level : rare.first[c] + level + 2]
            expected = [] if level == rare.common[c] else np.flatnonzero(codes[c] == level).tolist()
            assert rare.rows[begin:end].tolist() == expected


def test_sets_with_the_same_other_columns_follow_each_other():
    rng = np.random.default_rng(4)
    codes = np.array(skewed_columns(rng, 500, [3] * 8), dtype=np.uint8)
    rare = rare_levels(codes, np.full(8, 3))
    sets = np.array(list(combinations(range(8), 4)))
    order = np.argsort(counting_keys(rare, sets))
    assert sorted(order.tolist()) == list(range(len(sets)))
    aside = places_aside(rare, sets)
    most = np.array([np.bincount(column).max() for column in codes])
    assert (most[sets[np.arange(len(sets)), aside]] == most[sets].max(axis=1)).all()
    others = [tuple(np.delete(sets[k], aside[k]).tolist()) for k in order]
    changes = 1 + sum(one != two for one, two in zip(others[1:], others, strict=False))
    assert changes == len(set(others))
    assert changes == 35  # the sets of three without the column that has most at its most common level


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_table_counts_sets_of_few_and_of_many_cells_in_one_call(monkeypatch, jobs):
    monkeypatch.setattr(table_module, "FROM_WORK", 0)
    monkeypatch.setattr(table_module, "WORTH_A_THREAD", 1)
    rng = np.random.default_rng(5)
    cardinalities = np.array([2, 300, 9, 3, 40])
    columns = skewed_columns(rng, 400, cardinalities)
    statistics = TableStatistics(discrete_table(columns, cardinalities), jobs)
    sets = np.array(list(combinations(range(5), 3)))
    few = few_cells(cardinalities, sets, 400)
    assert few.any()
    assert not few.all()
    used = []
    monkeypatch.setattr(
        table_module, "count_rare", lambda *given: used.append(len(given[-1])) or count_rare(*given)
    )
    for asked in (sets, sets[np.argsort(statistics.counting_keys(sets))], sets[few], sets[~few]):
        found = statistics.counts(asked)
        assert split(found.values, np.diff(found.offsets)) == plain_counts(columns, asked)
    assert sum(used) == 3 * few.sum()


def test_as_many_cells_as_16_bits_can_tell_apart():
    rng = np.random.default_rng(6)
    cardinalities = np.array([255, 257, 1])
    n = MOST // CELLS_PER_ROW + 1
    columns = [rng.integers(0, levels, n) for levels in cardinalities]
    columns[2][:] = 0
    codes = np.array(columns, dtype=np.uint16)
    codes[:2, 0] = 254, 256  # the last cell
    sets = np.array([[0, 1, 2], [2, 0, 1]])
    assert few_cells(cardinalities, sets, n).all()
    assert not few_cells(np.array([255, 258, 1]), sets, n).any()
    found = count_rare(codes, cardinalities, rare_levels(codes, cardinalities), sets)
    assert split(*found) == plain_counts(codes.tolist(), sets)


def test_scores_of_a_block_do_not_depend_on_how_it_is_counted(monkeypatch):
    rng = np.random.default_rng(7)
    columns = skewed_columns(rng, 300, [2, 3, 4, 2, 5, 3])
    table = discrete_table(columns, [2, 3, 4, 2, 5, 3])
    parents = np.array(list(combinations(range(6), 3)))
    children = np.array([min(set(range(6)) - set(one)) for one in parents.tolist()])
    before = bic(TableStatistics(table)).block(children, parents)
    monkeypatch.setattr(table_module, "FROM_WORK", 0)
    assert bic(TableStatistics(table)).block(children, parents).tolist() == before.tolist()
