import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagora.base.errors import DataError, OptionError
from dagora.data.columns.levels import sort_levels
from dagora.data.discretise import discretise
from dagora.data.schema import Kind
from dagora.data.table import Table
from tests.data.table_strategies import quick

columns = st.lists(st.floats(-1e300, 1e300) | st.integers(-5, 5).map(float), min_size=1, max_size=40)


def cut(values, *arguments):
    table = discretise(Table.from_numpy(np.array(values, dtype=float)[:, None], names=["x"]), *arguments)
    return table.schema[0].levels, table.codes(0).tolist()


@quick
@given(st.lists(st.integers(-100, 100), min_size=1, max_size=40))
def test_the_mean_splits_into_at_most_and_above(values):
    levels, codes = cut(values, "mean")
    assert codes == [int(value * len(values) > sum(values)) for value in values]
    assert len(levels) == (1 if len(set(values)) == 1 else 2)


@pytest.mark.full
@quick
@given(columns, st.sampled_from(["mean", "width", "quantile"]), st.integers(2, 9))
def test_codes_follow_the_order_of_the_values(values, method, bins):
    levels, codes = cut(values, method, 2 if method == "mean" else bins)
    pairs = sorted(zip(values, codes, strict=True))
    assert [code for _, code in pairs] == sorted(codes)
    assert sort_levels(levels) == levels
    assert len(set(levels)) == len(levels) <= bins
    assert min(codes) == 0
    assert len(set(codes)) >= min(2, len(set(values)))
    # Equal values are never torn apart.
    assert len(set(pairs)) == len(set(values))


@pytest.mark.full
@quick
@given(columns, st.integers(2, 9))
def test_quantiles_leave_no_level_empty(values, bins):
    levels, codes = cut(values, "quantile", bins)
    assert set(codes) == set(range(len(levels)))


@pytest.mark.full
@quick
@given(st.permutations(range(24)), st.sampled_from([2, 3, 4, 6, 8, 12]))
def test_quantiles_of_distinct_values_have_equal_counts(values, bins):
    _, codes = cut(values, "quantile", bins)
    assert np.bincount(codes).tolist() == [24 // bins] * bins


@pytest.mark.full
@quick
@given(st.lists(st.floats(0, 1), min_size=0, max_size=30), st.integers(2, 9))
def test_equal_width_against_numpy(values, bins):
    values = [0.0, 1.0, *values]
    _, codes = cut(values, "width", bins)
    expected = np.digitize(values, np.arange(1, bins) / bins, right=True)
    assert codes == expected.tolist()


def test_level_names():
    assert cut([0, 1, 2, 3], "width", 3)[0] == ("(-inf, 1]", "(1, 2]", "(2, inf)")
    assert cut([1000000, 1000000.5, 1000001], "quantile", 3)[0] == (
        "(-inf, 1000000]",
        "(1000000, 1000000.5]",
        "(1000000.5, inf)",
    )
    assert cut([0.1, 0.1], "mean") == (("(-inf, inf)",), [0, 0])


def test_an_empty_interval_stays_a_level():
    levels, codes = cut([0, 0, 9], "width", 3)
    assert len(levels) == 3
    assert codes == [0, 0, 2]


def test_ties():
    assert cut([0, 0, 0, 0, 1], "quantile", 4) == (("(-inf, 0]", "(0, inf)"), [0, 0, 0, 0, 1])
    # The median is the largest value: the cut goes below it.
    assert cut([0, 1, 1, 1], "quantile", 2) == (("(-inf, 0]", "(0, inf)"), [0, 1, 1, 1])


def test_the_largest_range_of_floats():
    assert cut([-1.7e308, 0.0, 1.7e308], "width", 3)[1] == [0, 1, 2]


def test_neighbouring_floats():
    low = 1.0
    high = np.nextafter(low, 2)
    for method in ("mean", "width", "quantile"):
        assert cut([low, high], method)[1] == [0, 1]


def test_other_columns_stay_as_they_are():
    table = Table.from_numpy([[0, 0.5, 0.5], [1, 1.5, 1.5]], names="axy", discrete="a")
    cut_one = discretise(table, columns=["y"])
    assert [variable.kind for variable in cut_one.schema] == [Kind.DISCRETE, Kind.CONTINUOUS, Kind.DISCRETE]
    assert cut_one.select(["a", "x"]).equals(table.select(["a", "x"]))
    assert discretise(table).schema.kinds == {Kind.DISCRETE}


def test_what_is_refused():
    table = Table.from_numpy([[0, 0.5], [1, 1.5]], names="ax", discrete="a")
    with pytest.raises(OptionError, match="no method 'kmeans' to discretise: choose mean, width, quantile"):
        discretise(table, "kmeans")
    for bins in (1, 0, -3, 2.5, 10**6):
        with pytest.raises(OptionError, match="bins must be a whole number from 2"):
            discretise(table, "width", bins)
    with pytest.raises(OptionError, match="mean makes 2 bins, not 3"):
        discretise(table, "mean", 3)
    with pytest.raises(DataError, match="column 'a' is discrete already"):
        discretise(table, columns=["a"])
    with pytest.raises(DataError, match="no column named 'z'"):
        discretise(table, columns=["z"])


def test_the_overview_tells_of_the_intervals():
    table = Table.from_numpy([[0, 0.5], [1, 1.5], [1, 9.5]], names="ax", discrete="a")
    told = {column.name: column for column in discretise(table, "width", 3).overview.columns}
    assert (told["x"].type, told["x"].why, told["x"].levels) == ("discrete", "cut into intervals (width)", 3)
    assert told["a"] == table.overview.columns[0]


def test_one_column_may_be_named_alone():
    table = Table.from_numpy([[0.5, 0.5], [1.5, 1.5]], names=["dose", "age"])
    assert discretise(table, columns="dose").equals(discretise(table, columns=["dose"]))
