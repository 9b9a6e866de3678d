"""Counts of every kernel and every path against a plain counter over the rows."""

import resource
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dagora.stats.table as table_module
from dagora.base.errors import DataError
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.stats.coded_columns import BIT_LEVELS
from dagora.stats.counting import BIT_CELLS, BLOCK_WORDS, population_count, split_by_bits, sum_out
from dagora.stats.histograms import SHORT_CELLS, split_by_histogram
from dagora.stats.row_labels import CELLS_PER_ROW, SMALL_TABLE, extend_labels, sorted_rows
from dagora.stats.table import TableStatistics
from tests.random_tables import continuous_table, discrete_table


def expected_cells(table, columns):
    """Occupied cells and their counts in lexicographic order."""
    counter = Counter(zip(*(table.columns[i].tolist() for i in columns), strict=True))
    if not columns:
        counter = Counter({(): table.n_rows})
    return sorted(counter.items())


def assert_counts(statistics, table, column_sets):
    counts = statistics.counts(column_sets)
    assert counts.values.dtype == np.int64
    assert len(counts.offsets) == len(column_sets) + 1
    assert counts.offsets[0] == 0
    assert counts.offsets[-1] == len(counts.values)
    for k, columns in enumerate(column_sets):
        found = counts.values[counts.offsets[k] : counts.offsets[k + 1]].tolist()
        assert found == [count for _, count in expected_cells(table, columns)], columns


def bit_rows(labels, size):
    """Bit i of row c is set where row i has label c."""
    rows = np.zeros((size, -(-len(labels) // 64)), dtype=np.uint64)
    for i, label in enumerate(labels):
        rows[label, i // 64] |= np.uint64(1 << (i % 64))
    return rows


def path_of(table, columns):
    """Which kernel counts a set, by the documented limits."""
    n = table.n_rows
    cardinality = table.schema[columns[-1]].cardinality
    occupied = len(expected_cells(table, columns[:-1]))
    if cardinality == 1:
        return "constant"
    if cardinality <= BIT_LEVELS and occupied * (cardinality - 1) <= BIT_CELLS:
        return "bits"
    return "histogram" if occupied * cardinality <= max(SMALL_TABLE, CELLS_PER_ROW * n) else "sorting"


@st.composite
def tables(draw):
    n = draw(st.sampled_from([1, 2, 3, 63, 64, 65, 127, 128, 1000]))
    cardinalities = draw(st.lists(st.sampled_from([1, 2, 3, 7, 8, 9, 17, 300]), min_size=1, max_size=6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns = []
    for cardinality in cardinalities:
        # Some levels, often the first or the last, are declared but never seen.
        seen = rng.choice(cardinality, size=rng.integers(1, cardinality + 1), replace=False)
        columns.append(rng.choice(seen, size=n))
    return discrete_table(columns, cardinalities)


@st.composite
def tables_with_sets(draw):
    table = draw(tables())
    column = st.integers(0, len(table.schema) - 1)
    base = draw(st.lists(column, max_size=3))
    one = st.one_of(st.lists(column, max_size=5), column.map(lambda last: [*base, last]), st.just([]))
    return table, draw(st.lists(one, max_size=12))


@pytest.mark.full
@settings(max_examples=80, deadline=None)
@given(tables_with_sets())
def test_counts_equal_a_plain_counter(case):
    table, column_sets = case
    assert_counts(TableStatistics(table), table, column_sets)


@settings(max_examples=40, deadline=None)
@given(tables_with_sets())
def test_contingency_has_the_cells_in_order(case):
    table, column_sets = case
    statistics = TableStatistics(table)
    for columns in column_sets:
        found = statistics.contingency(columns)
        assert found.cells.shape == (len(found.counts), len(columns))
        cells = [tuple(cell) for cell in found.cells.tolist()]
        assert list(zip(cells, found.counts.tolist(), strict=True)) == expected_cells(table, columns)


def spread(rng, n, levels):
    """A column in which every level occurs (n ≥ levels), in random order."""
    return rng.permutation(np.concatenate([np.arange(levels), rng.integers(0, levels, n - levels)]))


@pytest.mark.parametrize(
    ("base_levels", "levels", "expected"),
    [
        (1, 2, "bits"),
        (1, BIT_LEVELS, "bits"),
        (1, BIT_LEVELS + 1, "histogram"),
        (BIT_CELLS, 2, "bits"),
        (BIT_CELLS + 1, 2, "histogram"),
        (BIT_CELLS // 2, 3, "bits"),
        (BIT_CELLS // 2 + 1, 3, "histogram"),
        (6, 8, "bits"),
        (7, 8, "histogram"),
        (1, 1, "constant"),
        (300, 1, "constant"),
        (1024, 64, "histogram"),  # exactly the largest table
        (1024, 65, "sorting"),
        (1000, 300, "sorting"),
    ],
)
@pytest.mark.parametrize("n", [1024, 1087, 1088, 1089])
def test_both_sides_of_every_limit(base_levels, levels, expected, n):
    rng = np.random.default_rng(base_levels * 1000 + levels + n)
    table = discrete_table(
        [spread(rng, n, base_levels), spread(rng, n, levels), rng.integers(0, 2, n)], [base_levels, levels, 2]
    )
    assert path_of(table, (0, 1)) == expected
    assert_counts(TableStatistics(table), table, [(0, 1)])
    # One call that walks through several paths must not mix up their buffers.
    assert_counts(TableStatistics(table), table, [(0, 1), (0, 2), (0, 1), (0, 0), (0, 2), (2, 1), (1, 0, 2)])


def test_one_base_extended_through_all_paths_in_turn():
    rng = np.random.default_rng(5)
    n = 1500
    cardinalities = [6, 2, 8, 9, 1, 3, 8, 2]
    table = discrete_table([rng.integers(0, c, n) for c in cardinalities], cardinalities)
    order = [1, 2, 3, 4, 5, 6, 7, 3, 2, 1]
    assert {path_of(table, (0, last)) for last in order} == {"bits", "histogram", "constant"}
    assert_counts(TableStatistics(table), table, [(0, last) for last in order])


def test_bits_over_several_blocks_of_words():
    n = 64 * BLOCK_WORDS * 2 + 37
    rng = np.random.default_rng(1)
    table = discrete_table([rng.integers(0, c, n) for c in (5, 7, 4)], [5, 7, 4])
    assert path_of(table, (0, 1)) == "bits"
    assert_counts(TableStatistics(table), table, [(0,), (0, 1), (0, 2), (1, 2)])


def test_kernels_agree_on_the_same_cells():
    rng = np.random.default_rng(2)
    for n in (1, 2, 63, 64, 65, 999, 1000):
        for base, levels in ((1, 2), (3, 4), (7, 300), (30, 9)):
            labels = rng.integers(0, base, n).astype(np.int32)
            column = rng.integers(0, levels, n).astype(np.uint16)
            dense = np.zeros((base, levels), dtype=np.int64)
            np.add.at(dense, (labels, column), 1)
            histogram = np.empty(2 * base * levels, dtype=np.int32)
            packed = np.empty((n + 3) // 4, dtype=np.uint64)
            split_by_histogram(labels, column, levels, packed.view(np.uint16), packed, histogram)
            assert histogram[: base * levels].tolist() == dense.ravel().tolist()
            order = np.lexsort((column, labels))
            assert sorted_rows(labels, base, column, levels).tolist() == order.tolist()
            rows = np.zeros((levels - 1, (n + 63) // 64), dtype=np.uint64)
            for i, code in enumerate(column.tolist()):
                if code < levels - 1:
                    rows[code, i // 64] |= np.uint64(1 << (i % 64))
            cells = np.empty((base, levels), dtype=np.int64)
            split_by_bits(bit_rows(labels, base), rows, np.bincount(labels, minlength=base), cells)
            assert cells.tolist() == dense.tolist()


@pytest.mark.parametrize("levels", [SHORT_CELLS // 256, SHORT_CELLS // 256 + 1])
def test_both_sides_of_16_bits(levels):
    """Sets of more cells have no table of their own; with these rows they are not sorted either."""
    n = SHORT_CELLS // CELLS_PER_ROW + 1000
    rng = np.random.default_rng(3)
    columns = [spread(rng, n, 256), spread(rng, n, levels)]
    columns[0][0], columns[1][0] = 255, levels - 1  # the last cell
    table = discrete_table(columns, [256, levels])
    assert 256 * levels <= CELLS_PER_ROW * n
    assert_counts(TableStatistics(table), table, [(0, 1), (1, 0), (0,), (1,)])


def test_population_count_of_full_and_empty_words():
    import numba

    @numba.njit
    def count(word):
        return population_count(word)

    for word in (0, 1, 1 << 63, (1 << 64) - 1, 0xF0F0):
        assert count(np.uint64(word)) == word.bit_count()


@pytest.mark.parametrize(
    ("size", "cardinality"), [(1, 1), (1, 9), (6, 5), (300, 218), (300, 219), (900, 1000)]
)
@pytest.mark.parametrize("n", [1, 2, 65, 1000])
def test_labels_are_split_in_lexicographic_order(size, cardinality, n):
    assert 300 * 218 < SMALL_TABLE < 300 * 219  # the last two are numbered by sorting
    rng = np.random.default_rng(size + cardinality)
    # Few cells of the many, so that most hold several rows.
    labels = rng.choice(rng.integers(0, size, 4), n).astype(np.int32)
    column = rng.choice(rng.integers(0, cardinality, 4), n).astype(np.uint16)
    out = np.full(n, -1, dtype=np.int32)
    pairs = list(zip(labels.tolist(), column.tolist(), strict=True))
    cells = sorted(set(pairs))
    counts = extend_labels(labels, size, column, cardinality, out)
    assert counts.tolist() == [pairs.count(cell) for cell in cells]
    assert [cells[label] for label in out] == pairs


def test_sets_in_an_array_are_counted_like_sets_in_a_list():
    rng = np.random.default_rng(8)
    table = discrete_table([rng.integers(0, c, 70) for c in (2, 3, 9, 1)], [2, 3, 9, 1])
    statistics = TableStatistics(table)
    for size in (0, 1, 2, 4):
        listed = list(combinations(range(4), size))
        sets = np.array(listed, dtype=np.int64).reshape(len(listed), size)
        assert_array_counts(statistics, table, sets)
        assert_array_counts(statistics, table, np.asfortranarray(sets[::-1]))
        assert_array_counts(statistics, table, sets[:0])


def assert_array_counts(statistics, table, sets):
    one, other = statistics.counts(sets), statistics.counts(list(map(tuple, sets.tolist())))
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.offsets, other.offsets)
    assert_counts(statistics, table, list(map(tuple, sets.tolist())))


def test_prefixes_that_come_and_go():
    """Labels of shared prefixes are kept: depths that rise and fall must not leave a stale one behind."""
    rng = np.random.default_rng(9)
    cardinalities = [2, 3, 9, 40, 1, 5]
    table = discrete_table([rng.integers(0, c, 400) for c in cardinalities], cardinalities)
    statistics = TableStatistics(table)
    for _ in range(30):
        sets, current = [], []
        for _ in range(25):
            cut = int(rng.integers(0, len(current) + 1))
            current = current[:cut] + rng.integers(0, 6, rng.integers(0, 4)).tolist()
            sets.append(tuple(current[:5]))
        assert_counts(statistics, table, sets)
    everything = [s for size in range(4) for s in combinations(range(6), size)]
    assert_counts(statistics, table, sorted(everything))
    assert_counts(statistics, table, everything[::-1])


def test_a_table_of_20_to_the_30_cells_costs_no_more_than_its_rows():
    rng = np.random.default_rng(4)
    n = 2000
    columns = [rng.integers(0, 20, n) for _ in range(30)]
    columns[7][: n // 2] = 3
    for column in columns:
        column[:50] = 1  # so that one cell is seen often
    table = discrete_table(columns, [20] * 30)
    statistics = TableStatistics(table)
    everything = tuple(range(30))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert_counts(statistics, table, [everything, everything[::-1], everything[:15], everything])
    assert max(statistics.counts([everything]).values) == 50
    assert statistics.contingency(everything).counts.max() == 50
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 100_000  # kilobytes


def test_one_cell_that_holds_all_rows():
    n = 300_000
    table = discrete_table([np.zeros(n), np.full(n, 8)], [2, 9])
    assert TableStatistics(table).counts([(0,), (1,), (0, 1), ()]).values.tolist() == [n] * 4


def test_no_sets_and_empty_sets():
    table = discrete_table([[0, 1, 1]], [2])
    statistics = TableStatistics(table)
    assert statistics.counts([]).offsets.tolist() == [0]
    assert statistics.counts([]).values.tolist() == []
    assert_counts(statistics, table, [(), (), (0,), ()])


def test_no_rows():
    statistics = TableStatistics(discrete_table([[], []], [2, 300]))
    assert statistics.counts([(0,), (1, 0), (0, 1)]).offsets.tolist() == [0, 0, 0, 0]
    assert statistics.contingency((0, 1)).counts.tolist() == []


def test_codes_beyond_one_byte_and_next_to_it():
    for cardinality in (255, 256, 257, 10_000):
        column = [0, cardinality - 1, cardinality - 1, cardinality - 2]
        table = discrete_table([column, [0, 1, 1, 0]], [cardinality, 2])
        assert_counts(TableStatistics(table), table, [(0,), (1, 0), (0, 1)])
        assert TableStatistics(table).contingency((0,)).cells.ravel().tolist() == sorted(set(column))


def random_sets(rng, columns, count):
    return [tuple(rng.choice(columns, size=rng.integers(0, 4), replace=False)) for _ in range(count)]


@pytest.mark.parametrize("jobs", [2, 3])
def test_threads_change_nothing(jobs, monkeypatch):
    monkeypatch.setattr(table_module, "WORTH_A_THREAD", 1)
    rng = np.random.default_rng(6)
    cardinalities = [2, 3, 9, 300, 1, 5]
    table = discrete_table([rng.integers(0, c, 500) for c in cardinalities], cardinalities)
    sets = random_sets(rng, 6, 60) + [(0, 1, last) for last in range(6)] * 5
    one, many = TableStatistics(table).counts(sets), TableStatistics(table, jobs).counts(sets)
    assert np.array_equal(one.values, many.values)
    assert np.array_equal(one.offsets, many.offsets)
    assert_counts(TableStatistics(table, jobs), table, sets)


def test_threads_on_a_call_that_is_worth_them():
    rng = np.random.default_rng(7)
    n = 50_000
    table = discrete_table([rng.integers(0, c, n) for c in (2, 3, 9, 30)], [2, 3, 9, 30])
    sets = random_sets(rng, 4, 50) + [(1, last) for last in range(4)] * 10
    assert len(sets) * n > table_module.WORTH_A_THREAD
    one, two = TableStatistics(table).counts(sets), TableStatistics(table, jobs=2).counts(sets)
    assert np.array_equal(one.values, two.values)
    assert np.array_equal(one.offsets, two.offsets)


def mixed_table():
    schema = Schema([Variable("a", Kind.DISCRETE, ("no", "yes")), Variable("x", Kind.CONTINUOUS)])
    return Table(schema, (np.array([0, 1, 1], dtype=np.uint16), np.array([0.5, 1.5, 4.0])))


def test_discrete_columns_beside_continuous_ones():
    statistics = TableStatistics(mixed_table())
    assert statistics.counts([(0,)]).values.tolist() == [1, 2]
    assert statistics.moments().mean.tolist() == [2.0]


@pytest.mark.parametrize("columns", [(1,), (0, 1), (1, 0)])
def test_continuous_columns_are_not_counted(columns):
    statistics = TableStatistics(mixed_table())
    for ask in (lambda: statistics.counts([columns]), lambda: statistics.contingency(columns)):
        with pytest.raises(DataError, match="'x' is continuous"):
            ask()


def test_statistics_hand_out_their_table():
    table = continuous_table([[1.0, 2.0], [3.0, 5.0]])
    statistics = TableStatistics(table)
    assert statistics.rows() is table
    assert (statistics.n_rows, statistics.schema) == (2, table.schema)


@pytest.mark.parametrize("seed", range(40))
def test_sets_that_follow_a_larger_one_are_summed_from_it(seed):
    """A set that is the one before it less its second-last column takes another way to the same counts."""
    rng = np.random.default_rng(seed)
    cardinalities = rng.choice([1, 2, 3, 5, 9, 40], int(rng.integers(2, 7))).tolist()
    rows = int(rng.integers(1, 400))
    columns = [rng.integers(0, cardinality, rows) for cardinality in cardinalities]
    sets = []
    for _ in range(20):
        chosen = tuple(rng.permutation(len(columns))[: rng.integers(1, len(columns) + 1)].tolist())
        sets.append(chosen)
        for gone in (2, 3):
            if len(chosen) >= gone and rng.random() < 0.7:
                sets.append(chosen[:-gone] + chosen[-1:])
    counts = TableStatistics(discrete_table(columns, cardinalities)).counts(sets)
    for k, chosen in enumerate(sets):
        cells = Counter(zip(*(columns[c].tolist() for c in chosen), strict=True))
        expected = [cells[cell] for cell in sorted(cells)]
        assert counts.values[counts.offsets[k] : counts.offsets[k + 1]].tolist() == expected


def test_no_sets_need_no_kernel(monkeypatch):
    monkeypatch.setattr("dagora.stats.table.count_sets", None)
    counts = TableStatistics(continuous_table([[0.5, 1.5]])).counts([])
    assert counts.values.tolist() == []
    assert counts.offsets.tolist() == [0]


def test_nothing_is_written_behind_the_room_that_occupied_cells_need():
    """Empty cells are written too, and the last ones must not be where no room is left."""
    table = np.array([[2, 0, 1], [0, 3, 0]])
    room = np.full(5, -7)
    assert sum_out(table, np.array([0, 1], dtype=np.int32), 2, room[:3]) == 3
    assert room.tolist() == [2, 1, 3, -7, -7]
