import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagora.base.errors import DataError, OptionError
from dagora.data.partition import part_sizes, split_rows
from dagora.data.table import Table
from tests.data.table_strategies import quick


def numbered(rows):
    return Table.from_numpy([[i / 2] for i in range(rows)], names=["row"])


def row_numbers(parts):
    return [(part.values(0) * 2).astype(int).tolist() for part in parts]


@pytest.mark.full
@quick
@given(st.integers(1, 60), st.integers(1, 60), st.one_of(st.none(), st.integers(0, 99)))
def test_every_row_goes_to_one_party_and_sizes_are_nearly_equal(rows, parties, seed):
    if parties > rows:
        with pytest.raises(DataError, match=f"{rows} rows cannot be split among {parties} parties"):
            split_rows(numbered(rows), parties, seed=seed)
        return
    parts = row_numbers(split_rows(numbered(rows), parties, seed=seed))
    assert sorted(itertools.chain(*parts)) == list(range(rows))
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= 1


def test_seeds():
    table = numbered(40)
    assert row_numbers(split_rows(table, 2)) == [list(range(20)), list(range(20, 40))]
    assert row_numbers(split_rows(table, 2, seed=1)) == row_numbers(split_rows(table, 2, seed=1))
    assert row_numbers(split_rows(table, 2, seed=1)) != row_numbers(split_rows(table, 2, seed=2))
    assert row_numbers(split_rows(table, 2, seed=1))[0] != list(range(20))


@quick
@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=8), st.integers(500, 2000))
def test_proportions_are_kept_to_within_a_row(weights, rows):
    shares = np.array(weights) / sum(weights)
    sizes = part_sizes(rows, shares)
    assert sum(sizes) == rows
    assert (np.abs(np.array(sizes) - shares * rows) < 1 + 1e-6).all()


def test_given_sizes():
    assert [part.n_rows for part in split_rows(numbered(10), 3, seed=0, sizes=[7, 1, 2])] == [7, 1, 2]
    assert [part.n_rows for part in split_rows(numbered(10), 3, seed=0, sizes=[0.1, 0.2, 0.7])] == [1, 2, 7]
    assert [part.n_rows for part in split_rows(numbered(1), 1, sizes=[1])] == [1]


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("parties", "sizes", "message"),
    [
        (0, None, "at least 1"),
        (-1, None, "at least 1"),
        (2, [5, 4], "sum to the 10 rows"),
        (2, [5.5, 4.5], "sum to the 10 rows"),
        (2, [0.5, 0.4], "sum to the 10 rows"),
        (2, [10, 0], "positive"),
        (2, [12, -2], "positive"),
        (2, [float("nan"), 1], "positive"),
        (3, [5, 5], "2 sizes for 3 parties"),
    ],
)
def test_impossible_sizes(parties, sizes, message):
    with pytest.raises(OptionError, match=message):
        split_rows(numbered(10), parties, sizes=sizes)


def test_proportions_that_leave_a_party_with_nothing():
    with pytest.raises(DataError, match="without rows"):
        split_rows(numbered(10), 2, sizes=[0.999, 0.001])


def test_levels_stay_declared_in_every_part():
    table = Table.from_numpy([["a"], ["b"], ["c"]])
    parts = split_rows(table, 3)
    assert [part.schema for part in parts] == [table.schema] * 3
    assert [part.codes(0).tolist() for part in parts] == [[0], [1], [2]]


def test_remaining_rows_go_to_the_parts_that_lost_most_by_rounding():
    assert part_sizes(10, [0.12, 0.29, 0.59]) == [1, 3, 6]
    assert part_sizes(7, [0.25, 0.25, 0.5]) == [2, 2, 3]
