"""Parts that others keep: counts and moments of all rows together, whoever asks the parts."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.base.errors import DataError, RowsUnavailableError
from dagora.data.writers import write_table
from dagora.network.greenhouse import greenhouse
from dagora.network.sample import sample_network
from dagora.stats.table import TableStatistics

HOUSE = sample_network(greenhouse(), 700, seed=3)
SETS = [(), (0,), (1, 0), (0, 1, 2), (3, 4)]


def numbers(rows: int = 300) -> dagora.Table:
    rng = np.random.default_rng(2)
    a = rng.normal(size=rows) + 1e5
    return dagora.Table.from_numpy(np.column_stack([a, a + rng.normal(size=rows)]), names=["a", "b"])


def in_three(table: dagora.Table) -> list[dagora.Table]:
    return [table.take(rows) for rows in np.split(np.arange(table.n_rows), [100, 101])]


def opened(parts: list) -> object:
    return dagora.open_parts(lambda question: [question(part) for part in parts])


def test_counts_are_those_of_all_rows() -> None:
    rows, known = opened(in_three(HOUSE)), TableStatistics(HOUSE)
    assert rows.schema == known.schema
    assert rows.n_rows == 700
    assert rows.counts(SETS).values.tolist() == known.counts(SETS).values.tolist()
    for columns in SETS:
        assert rows.contingency(columns).cells.tolist() == known.contingency(columns).cells.tolist()
    assert rows.passes == 2
    here, there = dagora.learn(HOUSE, "hill-climb"), dagora.learn(rows, "hill-climb")
    assert (here.graph, here.score) == (there.graph, there.score)
    with pytest.raises(RowsUnavailableError, match="needs the rows themselves"):
        rows.rows()


def test_moments_are_merged() -> None:
    rows, known = opened(in_three(numbers())), TableStatistics(numbers()).moments()
    assert rows.moments().n == known.n
    np.testing.assert_allclose(rows.moments().mean, known.mean, rtol=1e-14)
    np.testing.assert_allclose(rows.moments().scatter, known.scatter, rtol=1e-10)
    assert dagora.learn(rows, "ges").graph == dagora.learn(numbers(), "ges").graph


def test_columns_of_both_kinds() -> None:
    rng = np.random.default_rng(4)
    level = np.tile([0, 1, 2], 100)
    both = {"a": level.astype(str), "x": rng.normal(size=300) + level, "y": rng.normal(size=300)}
    parts = [{name: cells[begin : begin + 100] for name, cells in both.items()} for begin in (0, 100, 200)]
    assert dagora.learn(opened(parts), "hill-climb").graph == dagora.learn(both, "hill-climb").graph


@pytest.mark.full
def test_parts_in_other_processes(tmp_path: Path) -> None:
    """Files stay where the processes are; a question and its answer are all that is sent."""
    files = [tmp_path / f"{number}.parquet" for number in range(3)]
    for file, part in zip(files, in_three(HOUSE), strict=True):
        write_table(part, file)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        rows = dagora.open_parts(lambda question: pool.map(question, files))
        found = rows.counts(SETS).values.tolist()
    write_table(HOUSE, tmp_path / "all.parquet")
    known = TableStatistics(dagora.read_table(tmp_path / "all.parquet"))
    assert rows.schema == known.schema
    assert found == known.counts(SETS).values.tolist()


def test_parts_that_do_not_fit_together_are_refused() -> None:
    one = {"a": ["x", "y"] * 9, "b": [0, 1] * 9}
    for other, told in (
        (
            {"a": ["x", "z"] * 9, "b": [0, 1] * 9},
            "column 'a' has other levels in part 2 than in part 1: declare",
        ),
        ({"b": [0, 1] * 9, "a": ["x", "y"] * 9}, "part 2 has other columns than part 1, or in another order"),
        (
            {"a": np.linspace(0, 1, 18), "b": [0, 1] * 9},
            "column 'a' is discrete in part 1, and continuous in",
        ),
    ):
        with pytest.raises(DataError, match=f"^{told}"):
            opened([one, other])
    with pytest.raises(DataError, match="there is none: at least one is needed"):
        opened([])


def test_parts_that_change_or_are_lost_are_refused() -> None:
    parts = in_three(HOUSE)
    rows = opened(parts)
    rows.counts([(0,)])
    parts[2] = parts[2].take(np.arange(50))
    with pytest.raises(DataError, match=r"^part 3 changed during the run: it has 50 rows now, and had 599"):
        rows.counts([(1,)])
    parts[2] = HOUSE.take(np.arange(600))
    with pytest.raises(DataError, match=r"^part 3 changed during the run: it has 600 rows now, and had 599"):
        rows.counts([(1,)])
    parts.pop()
    with pytest.raises(DataError, match=r"^2 parts answered, and 3 did before"):
        rows.counts([(1,)])


def test_moments_of_parts_that_change_are_refused() -> None:
    """One part grows by the rows that another loses, so that all together have as many as before."""
    rng = np.random.default_rng(5)
    levels, noise = np.tile(["u", "v"], 150), rng.normal(size=(2, 300))
    both = dagora.Table.from_frame(pd.DataFrame({"a": levels, "x": noise[0], "y": noise[1]}))
    for known, ask in (
        (numbers(), lambda rows: rows.moments()),
        (both, lambda rows: rows.indicator_moments()),
    ):
        parts = [known.take(rows) for rows in np.split(np.arange(300), [100, 200])]
        rows = opened(parts)
        if known is both:
            rows.moments()
        parts[0], parts[1] = known.take(np.arange(90)), known.take(np.arange(90, 200))
        with pytest.raises(
            DataError, match=r"^part 1 changed during the run: it has 90 rows now, and had 100"
        ):
            ask(rows)


def test_a_function_that_asks_no_parts_is_refused() -> None:
    told = r"^the parts: the function must return question\(part\) for every part, in a list, and "
    for ask, what in (
        (lambda _: None, "returned NoneType$"),
        (lambda _: 3, "returned int$"),
        (lambda _: [1, 2], "has int for part 1$"),
        (lambda question: [question(HOUSE), None], "has NoneType for part 2$"),
    ):
        with pytest.raises(DataError, match=told + what):
            dagora.open_parts(ask)
    answers = [HOUSE]
    rows = dagora.open_parts(lambda question: [question(part) if part else None for part in answers])
    answers[0] = None
    with pytest.raises(DataError, match=told + "has NoneType for part 1$"):
        rows.counts([(0,)])


def test_levels_are_ordered_in_all_parts_or_in_none() -> None:
    parts = [
        pd.DataFrame({"a": pd.Categorical(["x", "y"] * 9, ["x", "y"], ordered=ordered), "b": ["u", "v"] * 9})
        for ordered in (False, True)
    ]
    for these, told in (
        (parts, "not ordered in part 1, and ordered"),
        (parts[::-1], "ordered in part 1, and not"),
    ):
        with pytest.raises(DataError, match=f"^the levels of column 'a' are {told}"):
            opened(these)
    assert opened([parts[1], parts[1]]).schema[0].ordered


def test_ordered_levels_have_one_order_in_all_parts() -> None:
    parts = [
        pd.DataFrame({"a": pd.Categorical(["x", "y"] * 9, levels, ordered=True), "b": ["u", "v"] * 9})
        for levels in (["x", "y"], ["y", "x"])
    ]
    with pytest.raises(DataError, match=r"^column 'a' has other levels in part 2"):
        opened(parts)
