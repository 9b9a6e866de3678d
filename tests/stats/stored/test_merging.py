"""Statistics that are added and taken away, beside those of the rows themselves."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora import DataError, OptionError, RowsUnavailableError
from dagora.data.table import Table
from dagora.stats.accepting import as_statistics
from dagora.stats.indicators import IndicatorMoments
from dagora.stats.stored.merging import merge_statistics
from dagora.stats.table import TableStatistics


def discrete_table(rows: int, seed: int) -> Table:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, rows)
    b = np.where(rng.random(rows) < 0.8, a, rng.integers(0, 3, rows))
    c = (b + rng.integers(0, 2, rows)) % 4
    return Table.from_numpy(np.column_stack([a, b, c]), names=["a", "b", "c"], discrete=["a", "b", "c"])


def mixed_table(rows: int, seed: int) -> Table:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, rows)
    x = rng.normal(size=rows) + a
    y = 2 * x + rng.normal(size=rows)
    return Table.from_numpy(np.column_stack([a, x, y]), names=["a", "x", "y"], discrete=["a"])


def parts_of(table: Table, cuts: list[int]) -> list[Table]:
    return [table.take(np.arange(a, b)) for a, b in pairwise(cuts)]


def test_counts_are_those_of_the_rows() -> None:
    table = discrete_table(2000, 1)
    merged = merge_statistics([dagora.statistics(part) for part in parts_of(table, [0, 7, 900, 2000])])
    rows = TableStatistics(table)
    for columns in ((), (0,), (1,), (2, 0), (0, 1, 2), (2, 1, 0)):
        ours, theirs = merged.contingency(columns), rows.contingency(columns)
        assert np.array_equal(ours.cells, theirs.cells), columns
        assert np.array_equal(ours.counts, theirs.counts), columns
    asked = [(0,), (0, 1), (0, 1, 2), (1, 2)]
    assert np.array_equal(merged.counts(asked).values, rows.counts(asked).values)


@pytest.mark.parametrize("method", ["auto", "tabu", "ges", "order-search", "dynamic"])
def test_learns_the_same_to_the_last_bit_as_from_rows(method: str) -> None:
    table = discrete_table(1500, 2)
    parts = [dagora.statistics(part) for part in parts_of(table, [0, 400, 1500])]
    ours, theirs = dagora.learn(parts, method), dagora.learn(table, method)
    assert ours.graph == theirs.graph
    assert ours.score == theirs.score


@pytest.mark.parametrize("make", [discrete_table, mixed_table])
def test_parts_are_the_whole_to_the_last_bit(make) -> None:
    table = make(1200, 3)
    whole = dagora.statistics(table)
    one, two, three = [dagora.statistics(part) for part in parts_of(table, [0, 500, 501, 1200])]
    for merged in (
        merge_statistics([three, one, two]),
        merge_statistics([one, two, three, one], minus=[one]),
        merge_statistics([merge_statistics([whole, two]), one], minus=[two, one]),
    ):
        assert merged.n_rows == whole.n_rows
        assert merged.schema == whole.schema
        assert np.array_equal(merged.moments().scatter, whole.moments().scatter)
        assert np.array_equal(merged.moments().mean, whole.moments().mean)
        if len(whole.schema.kinds) > 1:
            ours, theirs = merged.indicator_moments(), whole.indicator_moments()
            assert isinstance(ours, IndicatorMoments)
            assert np.array_equal(ours.moments.scatter, theirs.moments.scatter)
        assert dagora.learn(merged).score == dagora.learn(whole).score


@pytest.mark.parametrize("kind", ["gaussian", "mixed"])
def test_numbers_agree_with_rows_but_for_rounding(kind: str) -> None:
    table = mixed_table(3000, 4)
    if kind == "gaussian":
        table = table.select(["x", "y"])
    ours, theirs = dagora.learn(dagora.statistics(table)), dagora.learn(table)
    assert ours.graph == theirs.graph
    assert ours.score == pytest.approx(theirs.score, rel=1e-11)
    assert ours.score_name == theirs.score_name


def test_levels_are_joined_in_the_order_that_rows_have() -> None:
    march = dagora.statistics({"a": ["x", "z"] * 10, "b": ["1", "10"] * 10})
    april = dagora.statistics({"b": ["2", "1"] * 10, "a": ["y", "x"] * 10})
    merged = merge_statistics([march, april])
    assert [variable.levels for variable in merged.schema] == [("x", "y", "z"), ("1", "2", "10")]
    rows = as_statistics({"a": ["x", "z"] * 10 + ["y", "x"] * 10, "b": ["1", "10"] * 10 + ["2", "1"] * 10})
    found, known = merged.contingency((0, 1)), rows.contingency((0, 1))
    assert np.array_equal(found.cells, known.cells)
    assert np.array_equal(found.counts, known.counts)
    left = merge_statistics([merged], minus=[april])
    assert left.schema == march.schema


def test_ordered_levels_that_a_part_lacks_are_added() -> None:
    def month(rows: list[str], order: list[str]) -> dagora.Statistics:
        return dagora.statistics({"a": rows * 5, "b": [0, 1, 1] * 5}, ordinal={"a": order} if order else ())

    march, april = month(["l", "m", "l"], ["l", "m"]), month(["m", "z", "z"], ["m", "z"])
    for parts in ([march, april], [april, march]):
        merged = merge_statistics(parts)
        assert (merged.schema[0].levels, merged.schema[0].ordered) == (("l", "m", "z"), True)
        assert merged.contingency((0,)).counts.tolist() == [10, 10, 10]
    plain = month(["m", "l", "l"], [])
    assert all(merge_statistics(parts).schema[0].ordered for parts in ([plain, march], [march, plain]))
    with pytest.raises(DataError, match="l < m in part 1, and m < l in part 2"):
        merge_statistics([march, month(["m", "l", "l"], ["m", "l"])])


def test_families_of_few_parents_only() -> None:
    table = discrete_table(800, 5)
    kept = dagora.statistics(table, max_parents=1)
    assert kept.max_parents == 1
    assert dagora.learn(kept, "hill-climb").graph == dagora.learn(table, "hill-climb", max_parents=1).graph
    with pytest.raises(OptionError, match="max_parents=2 asks for more than the statistics hold"):
        dagora.learn(kept, max_parents=2)
    with pytest.raises(RowsUnavailableError, match="do not hold the joint counts of a, b, c"):
        kept.contingency((0, 1, 2))
    merged = merge_statistics([kept, dagora.statistics(table)])
    assert merged.max_parents == 1
    assert set(merged.tables.tables) == {(0, 1), (0, 2), (1, 2)}
    chosen = dagora.statistics(table, sets=[["c", "a"]])
    assert set(chosen.tables.tables) == {(0, 2), (1,)}


def test_refusals_name_what_is_wrong() -> None:
    one = dagora.statistics({"a": ["x", "y"] * 9, "n": [0.5, 1.5, 2.25] * 6})
    other = dagora.statistics({"a": ["x", "y"] * 9, "m": [0.5, 1.5, 2.25] * 6})
    with pytest.raises(DataError, match="column 'm' is in part 2 and not in part 1"):
        merge_statistics([one, other])
    kinds = dagora.statistics({"a": [0.5, 1.25, 7.75] * 6, "n": [0.5, 1.5, 2.25] * 6}, continuous=["a"])
    with pytest.raises(DataError, match="column 'a' is discrete in part 1 and continuous in part 2"):
        merge_statistics([one, kinds])
    with pytest.raises(DataError, match="rows are left"):
        merge_statistics([one], minus=[one])
    big = dagora.statistics({"a": ["x", "y"] * 20, "b": ["x", "y"] * 20})
    wrong = dagora.statistics({"a": ["x", "x"] * 9, "b": ["x", "y"] * 9})
    with pytest.raises(DataError, match="more rows with a=x, b=y are taken away than there are"):
        merge_statistics([big], minus=[wrong])
    with pytest.raises(OptionError, match="minus goes with files of statistics"):
        dagora.learn({"a": [0, 1] * 9, "b": [0, 1] * 9}, minus=one)
    with pytest.raises(RowsUnavailableError, match="statistics hold counts and moments only"):
        one.rows()


@pytest.mark.parametrize("method", ["lingam", "notears-mlp", "kpc-hsic", "rl-bic"])
def test_methods_that_need_rows_refuse_in_one_line(method: str) -> None:
    rng = np.random.default_rng(1)
    kept = dagora.statistics(Table.from_numpy(rng.normal(size=(50, 3)), names=["x", "y", "z"]))
    with pytest.raises(dagora.DagoraError) as refused:
        dagora.learn(kept, method)
    assert "rows" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_parameters_are_those_of_the_rows(tmp_path: Path) -> None:
    table = discrete_table(900, 6)
    graph = dagora.DAG(["a", "b", "c"], [("a", "b"), ("b", "c")])
    files = [
        dagora.statistics(part).save(tmp_path / f"{k}.stats")
        for k, part in enumerate(parts_of(table, [0, 300, 900]))
    ]
    ours, theirs = dagora.fit(graph, files), dagora.fit(graph, table)
    assert all(np.array_equal(ours.tables[node], theirs.tables[node]) for node in "abc")
    numbers = mixed_table(500, 7).select(["x", "y"])
    lines = dagora.DAG(["x", "y"], [("x", "y")])
    one, other = dagora.fit(lines, dagora.statistics(numbers)), dagora.fit(lines, numbers)
    assert one.sds["y"] == pytest.approx(other.sds["y"], rel=1e-12)
