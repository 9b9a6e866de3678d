"""Counts by blocks of rows against the kernel that counts one set after the other, bit for bit."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dagora.stats.blocks.cover as cover_module
import dagora.stats.blocks.in_memory as in_memory
import dagora.stats.blocks.rounds as rounds_module
import dagora.stats.table as table_module
from dagora.stats.blocks.block_kernel import BLOCK_ROWS, BlockRows
from dagora.stats.blocks.cover import cover_sets, subsets, worth_bits
from dagora.stats.blocks.in_memory import count_in_blocks
from dagora.stats.blocks.rounds import CountingRound
from dagora.stats.coded_columns import coded_columns
from dagora.stats.counting import count_sets
from dagora.stats.statistics import flatten
from dagora.stats.table import TableStatistics
from tests.random_tables import discrete_table


def coded(levels, rows, seed=0):
    """Columns of skewed levels, some of which are never seen."""
    rng = np.random.default_rng(seed)
    kind = np.uint8 if max(levels) <= 256 else np.uint16
    codes = np.empty((len(levels), rows), dtype=kind)
    for column, cardinality in enumerate(levels):
        weights = rng.dirichlet(np.full(cardinality, 0.5))
        codes[column] = rng.choice(cardinality, size=rows, p=weights)
    return coded_columns(codes, np.array(levels, dtype=np.int64))


def one_by_one(data, columns, offsets):
    """Counts of the other kernel."""
    sizes = np.empty(len(offsets) - 1, dtype=np.int64)
    out = np.empty((len(offsets) - 1) * (data.codes.shape[1] + 1), dtype=np.int64)
    return out[: count_sets(data, columns, offsets, out, sizes)], sizes


def assert_same(data, sets, jobs=1):
    columns, offsets = flatten(sets)
    values, sizes = count_in_blocks(data, columns, offsets, jobs)
    expected, expected_sizes = one_by_one(data, columns, offsets)
    assert values.dtype == np.int64
    assert sizes.tolist() == expected_sizes.tolist()
    assert values.tolist() == expected.tolist()


@st.composite
def problems(draw):
    levels = draw(st.lists(st.sampled_from([1, 2, 3, 5, 8, 9, 12, 40]), min_size=1, max_size=7))
    rows = draw(st.sampled_from([1, 2, 63, 64, 65, 129, 3000]))
    column = st.integers(0, len(levels) - 1)
    base = draw(st.lists(column, max_size=3))
    one = st.one_of(st.lists(column, max_size=5), column.map(lambda last: [*base, last]), st.just([]))
    sets = draw(st.lists(one, min_size=1, max_size=25))
    return coded(levels, rows, draw(st.integers(0, 99))), sets, draw(st.sampled_from([1, 64]))


@pytest.mark.full
@settings(max_examples=100, deadline=None)
@given(problems())
def test_counts_equal_those_of_the_other_kernel(problem):
    data, sets, rows_per_cell = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cover_module, "ROWS_PER_CELL", rows_per_cell)  # 1: sets are merged on few rows, too
        assert_same(data, sets)


def many_sets(number, columns, seed):
    rng = np.random.default_rng(seed)
    return [rng.permutation(columns)[: rng.integers(0, 5)].tolist() for _ in range(number)]


@pytest.mark.parametrize("rows", [BLOCK_ROWS - 1, BLOCK_ROWS, 2 * BLOCK_ROWS + 37])
def test_several_blocks(rows):
    data = coded([2, 3, 4, 2, 8, 12, 7, 40], rows)
    assert_same(data, many_sets(120, 8, rows))


def test_columns_with_many_levels_and_sets_with_too_many_cells_for_a_table(monkeypatch):
    data = coded([300, 300, 2, 9], 3000)
    monkeypatch.setattr(in_memory, "ROUND_CELLS", 70_000)
    assert_same(data, [(0, 1), (2,), (0, 1, 3), (3, 2), (0, 2, 3), (), (1, 0), (0, 3), (0, 1, 2, 3)])


def test_sets_with_more_cells_than_short_labels_tell_apart(monkeypatch):
    """65 536 cells have short labels, more of them long ones; both kinds share prefixes among their own."""
    monkeypatch.setattr(cover_module, "ROWS_PER_SUMMED_CELL", 10**9)  # every set is counted
    levels, rows = [256, 256, 257, 2, 300], BLOCK_ROWS + 37
    codes = np.random.default_rng(3).integers(0, np.array(levels)[:, None], (5, rows)).astype(np.uint16)
    codes[:, :9] = np.array(levels)[:, None] - 1  # the last cell of every set
    data = coded_columns(codes, np.array(levels))
    sets = [(0, 1), (0, 2), (0, 1, 3), (0, 2, 3), (0, 3), (0, 3, 1), (2, 3), (2, 3, 0), (3, 4, 1), (3, 4, 0)]
    together = CountingRound(sets, data.cardinalities, np.diff(data.bit_offsets) > 0, 1 << 24)
    together.add(BlockRows(*data))
    for k, columns in enumerate(sets):
        sizes = [levels[column] for column in columns]
        cells = np.ravel_multi_index(tuple(codes[list(columns)].astype(np.int64)), sizes)
        assert together.table(k).tolist() == np.bincount(cells, minlength=np.prod(sizes)).tolist()


def test_levels_that_whole_blocks_lack():
    """Rows in the order of a column: what a block before had in a cell must not stay."""
    rows = 3 * BLOCK_ROWS + 5
    codes = np.random.default_rng(4).integers(0, 2, (5, rows)).astype(np.uint8)
    codes[0] = np.arange(rows) >= BLOCK_ROWS
    codes[1] = np.arange(rows) < 2 * BLOCK_ROWS
    data = coded_columns(codes, np.full(5, 2))
    assert_same(data, [list(each) for each in combinations(range(5), 4)])


def test_threads_change_nothing(monkeypatch):
    data = coded([2, 3, 4, 2, 8, 12, 7, 40], 5000)
    monkeypatch.setattr(rounds_module, "WORTH_A_THREAD", 1)
    assert_same(data, many_sets(60, 8, 1), jobs=3)
    assert_same(data, [(0,)], jobs=3)


def test_rows_may_come_in_pieces():
    whole = coded([2, 5, 12], 1000)
    together = CountingRound([(0, 1), (2, 0)], whole.cardinalities, np.diff(whole.bit_offsets) > 0, 1000)
    for part in np.array_split(whole.codes, [1, 65, 400], axis=1):
        together.add(BlockRows(*coded_columns(np.ascontiguousarray(part), whole.cardinalities)))
    values, sizes = one_by_one(whole, np.array([0, 1, 2, 0]), np.array([0, 2, 4]))
    assert together.occupied_counts()[0].tolist() == values.tolist()
    dense = together.table(1)
    assert len(dense) == 24
    assert dense[dense > 0].tolist() == values[sizes[0] :].tolist()


def test_only_sets_that_no_other_contains_are_counted():
    levels = np.array([9, 9, 9, 9])
    cover = cover_sets([(0, 1, 2), (1, 0), (2,), (3,)], levels, np.ones(4, dtype=bool), 10**6)
    counted = cover.counted
    sets = [set(counted.columns[a:b]) for a, b in zip(counted.offsets[:-1], counted.offsets[1:], strict=True)]
    assert sorted(map(sorted, sets)) == [[0, 1, 2], [3]]


def test_sets_that_share_all_but_one_column_become_one():
    levels = np.full(6, 9)
    sets = [(0, other) for other in range(1, 6)]
    assert len(cover_sets(sets, levels, np.ones(6, dtype=bool), 10**6).cells) == 3
    assert len(cover_sets(sets, levels, np.ones(6, dtype=bool), 100).cells) == 5  # too few rows
    assert len(cover_sets(sets, np.full(6, 2), np.ones(6, dtype=bool), 10**6).cells) == 5  # bits are cheaper


def counted_sets(sets, levels, rows=10**6, bits=False):
    cover = cover_sets(sets, np.array(levels), np.full(len(levels), bits), rows)
    counted = cover.counted
    made = [set(each.tolist()) for each in np.split(counted.columns, counted.offsets[1:-1])]
    return cover, made


def test_sets_that_were_merged_into_a_large_one_are_not_counted_again():
    cover, made = counted_sets(list(combinations(range(12), 2)), [2] * 12)
    assert made == [set(range(12))]
    assert set(cover.sources.tolist()) == {0}
    cover, made = counted_sets([(0, k) for k in range(1, 9)] + [(3, 4), (5,)], [2] * 9 + [90])
    assert made == [set(range(9))]
    # Of many columns not all subsets are looked for, but all that were merged are known.
    wide = [(*range(12), k) for k in range(12, 15)]
    cover, made = counted_sets(wide, [2] * 8 + [1] * 7)
    assert made == [set(range(15))]
    assert cover.sources.tolist() == [0, 0, 0]


def test_all_wanted_sets_are_within_the_set_that_they_are_summed_from():
    rng = np.random.default_rng(7)
    levels = rng.integers(1, 5, 14)
    sets = [tuple(rng.permutation(14)[: rng.integers(1, 11)].tolist()) for _ in range(300)]
    cover, made = counted_sets(sets, levels.tolist(), 10**7)
    assert all(set(each) <= made[source] for each, source in zip(sets, cover.sources, strict=True))
    assert len(made) < 250


def test_merged_sets_have_the_counts_of_the_other_kernel(monkeypatch):
    monkeypatch.setattr(cover_module, "ROWS_PER_CELL", 1)
    whole = coded([2] * 10, 5000)
    together = CountingRound(
        list(combinations(range(10), 2)), whole.cardinalities, np.zeros(10, dtype=bool), 5000
    )
    together.add(BlockRows(*whole))
    assert len(together._cover.cells) == 1
    values, _ = one_by_one(whole, *flatten(list(combinations(range(10), 2))))
    assert together.occupied_counts()[0].tolist() == values.tolist()


def test_subsets_are_looked_for_within_bounds():
    assert list(subsets((1, 2, 3), 2, 5)) == [(1, 2), (1, 3), (2, 3)]
    assert len(list(subsets(tuple(range(12)), 1, 2))) == 66 + 12
    assert list(subsets(tuple(range(40)), 1, 39)) == list(combinations(range(40), 39))  # 780 with 38
    assert list(subsets(tuple(range(40)), 1, 20)) == []


def test_bits_are_made_where_they_save_more_than_they_take():
    """For one walk; measured: 628 against 331 ns a row for the many sets, 75 against 168 for the pairs."""
    rng = np.random.default_rng(1)
    many = [tuple(rng.permutation(30)[: rng.integers(1, 5)].tolist()) for _ in range(2000)]
    two = np.full(30, 2)
    assert worth_bits(many, two, 500_000).all()
    assert not worth_bits(many, np.full(30, 3), 500_000).any()
    assert not worth_bits(list(combinations(range(30), 2)), two, 500_000).any()
    assert not worth_bits([(0, 1)], two, 500_000).any()
    assert not worth_bits([], two, 500_000).any()
    # Columns that are in no set, and those of many levels, have none.
    mixed = np.concatenate([two, [2, 300]])
    assert np.flatnonzero(~worth_bits([*many, (0, 31)], mixed, 500_000)).tolist() == [30, 31]


@pytest.mark.parametrize("rows", [1, 63, 64, 65, BLOCK_ROWS + 1, BLOCK_ROWS + 63])
def test_no_level_has_a_bit_beyond_the_last_row(rows):
    """Cells of the last level do, since they are what remains; population counts never see those."""
    data = coded([2, 3, 8], rows)
    last = int(data.bits.shape[1]) * 64 - rows
    assert last < 64
    assert not (data.bits[:, -1] >> np.uint64(64 - last)).any() or last == 0
    sets = [(0,), (1,), (0, 1), (1, 0), (0, 1, 2), (2, 1)]
    cover = cover_sets(sets, data.cardinalities, np.ones(3, dtype=bool), rows)
    assert cover.counted.by_bits.any()
    assert_same(data, sets)


def test_long_tables_are_counted_by_blocks(monkeypatch):
    asked = []

    def noted(*arguments):
        asked.append(1)
        return count_in_blocks(*arguments)

    monkeypatch.setattr(table_module, "count_in_blocks", noted)
    rng = np.random.default_rng(0)
    table = discrete_table([rng.integers(0, 3, 500), rng.integers(0, 2, 500)], [3, 2])
    few = TableStatistics(table).counts([(0, 1)]).values.tolist()
    assert not asked
    monkeypatch.setattr(table_module, "BLOCKS_FROM", 500)
    assert TableStatistics(table).counts([(0, 1)]).values.tolist() == few
    assert asked


@pytest.mark.slow  # a kernel for tables that few have
def test_cells_of_more_rows_than_32_bits_hold():
    data = coded([2, 3, 9], 200)
    together = CountingRound([(0, 1), (0, 2)], data.cardinalities, np.diff(data.bit_offsets) > 0, 1 << 33)
    together._tables[together._cover.counted.tables] = 1 << 32  # the first cell of each table
    together.add(BlockRows(*data))
    expected, _ = one_by_one(data, np.array([0, 1, 0, 2]), np.array([0, 2, 4]))
    tables = np.concatenate([together.table(0), together.table(1)])
    assert tables.sum() == expected.sum() + (2 << 32)
