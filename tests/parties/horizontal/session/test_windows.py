"""Windows of time: sums of integers that are additive over series and never cross from one to another."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.base.errors import DataError, OptionError
from dagora.data.series import Panel, Timing
from dagora.data.table import Table
from dagora.parties.horizontal.plan.coded_rows import check_series, code_rows
from dagora.parties.horizontal.plan.drafting import codebook_of
from dagora.parties.horizontal.session import row_sums
from dagora.parties.horizontal.session.federation import Site, in_series
from dagora.parties.horizontal.session.row_sums import lagged_moments

NAMES = ["id", "t", "x", "y"]


def series(rng, lengths):
    """Series of given lengths, their rows in random order."""
    rows = [(s, step, *rng.normal(size=2)) for s, length in enumerate(lengths) for step in range(length)]
    return Table.from_numpy(np.array(rows)[rng.permutation(len(rows))], NAMES, continuous=NAMES)


def some_of(table, chosen):
    return table.take(np.flatnonzero(np.isin(table.values(0), chosen)))


def coded(table, book, largest=1 << 22):
    panel = Panel.of_table(table, "t", "id")
    return code_rows(panel.table, book, largest, panel)


def by_a_loop(rows, lags):
    """The sums in whole numbers of any size, window by window."""
    n, first, second = 0, 0, 0
    for start, stop in pairwise(rows.starts.tolist()):
        for end in range(start + lags, stop):
            window = np.concatenate([rows.numbers[:, end - k] for k in range(lags + 1)]).astype(object)
            n, first, second = n + 1, first + window, second + np.outer(window, window)
    size = len(rows.numbers) * (lags + 1)
    if not n:
        return np.zeros(1 + size + size * (size + 1) // 2, dtype=np.int64)
    return np.concatenate([[n], first, second[np.triu_indices(size)]]).astype(np.int64)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    lengths=st.lists(st.integers(1, 7), min_size=2, max_size=6),
    lags=st.integers(1, 3),
    dealt=st.integers(1, 5),
)
def test_the_answer_for_series_together_is_the_sum_of_the_answers(seed, lengths, lags, dealt):
    rng = np.random.default_rng(seed)
    table = series(rng, lengths)
    book = codebook_of({"all": Panel.of_table(table, "t", "id").table})
    order = rng.permutation(len(lengths))
    cut = min(dealt, len(lengths) - 1)
    parts = [some_of(table, order[:cut]), some_of(table, order[cut:])]
    whole, one, other = (lagged_moments(coded(part, book), lags) for part in (table, *parts))
    assert whole.dtype == np.int64
    np.testing.assert_array_equal(whole, one + other)
    np.testing.assert_array_equal(whole, by_a_loop(coded(table, book), lags))
    assert whole[0] == sum(max(0, length - lags) for length in lengths)


def test_blocks_of_windows_give_the_same_sums(monkeypatch):
    table = series(np.random.default_rng(1), [9, 2, 14])
    rows = coded(table, codebook_of({"all": Panel.of_table(table, "t", "id").table}))
    expected = lagged_moments(rows, 2)
    monkeypatch.setattr(row_sums, "WINDOW_NUMBERS", 30)
    np.testing.assert_array_equal(lagged_moments(rows, 2), expected)


def test_the_largest_numbers_do_not_wrap():
    """Every value at an end of its range, in as many rows as the plan allows."""
    table = Table.from_numpy([(0, step, 1.0, -1.0) for step in range(1024)], NAMES, continuous=NAMES)
    table = Table.from_numpy(
        np.concatenate([np.column_stack([table.values(i) for i in range(4)]), [(1, 0, -1.0, 1.0)]]),
        NAMES,
        continuous=NAMES,
    )
    rows = coded(table, codebook_of({"all": Panel.of_table(table, "t", "id").table}), 1025)
    np.testing.assert_array_equal(lagged_moments(rows, 1), by_a_loop(rows, 1))


def test_rows_that_are_no_series_have_no_windows():
    table = Table.from_numpy(np.random.default_rng(0).normal(size=(5, 2)), ["x", "y"], continuous=["all"])
    with pytest.raises(DataError, match="not series"):
        lagged_moments(code_rows(table, codebook_of({"all": table}), 1024), 1)


def test_steps_of_another_length_than_agreed_are_refused():
    panel = Panel.of_table(series(np.random.default_rng(0), [4, 4]), "t", "id")
    check_series(panel, 1.0)
    with pytest.raises(DataError, match="1 long here, and 2 by the plan"):
        check_series(panel, 2.0)


def test_series_at_sites_are_put_in_order_and_have_no_weights():
    table = series(np.random.default_rng(2), [3, 2])
    [site], step = in_series([Site("north", table)], Timing("t", "id"))
    assert step == 1.0
    assert site.panel is not None
    assert site.panel.starts.tolist() == [0, 3, 5]
    with pytest.raises(OptionError, match="taken as they stand: leave weights out"):
        in_series([Site("north", table), Site("south", table, weights=np.ones(5))], Timing("t", "id"))
