"""Odd cells and odd sources: scanned rows are read, or refused, as rows in memory are."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dagora
from dagora.base.errors import DataError
from dagora.stats.table import TableStatistics


def both(path, **options):
    """The rows in memory and scanned: the same columns, and the same graph or moments; the scanned ones."""
    known, scanned = dagora.read_table(path, **options), dagora.open_rows(path, **options)
    assert scanned.schema.variables == known.schema.variables
    assert scanned.n_rows == known.n_rows
    if len({variable.kind for variable in known.schema}) == 1:
        assert dagora.learn(scanned, "hill-climb").graph == dagora.learn(known, "hill-climb").graph
    else:
        assert scanned.moments().mean.tolist() == TableStatistics(known).moments().mean.tolist()
    return scanned


def written(folder, text):
    (folder / "rows.csv").write_text(text, encoding="utf-8")
    return folder / "rows.csv"


def parquet(folder, columns):
    pq.write_table(pa.table(columns), folder / "rows.parquet")
    return folder / "rows.parquet"


def test_a_level_of_dropped_rows_only_is_no_level(tmp_path):
    path = written(tmp_path, "a,b\n" + "p,x\nq,y\n" * 20 + "r,\n")
    scanned = both(path, missing="drop")
    assert scanned.schema[0].levels == ("p", "q")
    assert dagora.learn(scanned, "hill-climb").graph.edges == (("a", "b"),)
    both(parquet(tmp_path, {"a": ["p", "q"] * 20 + ["r"], "b": ["x", "y"] * 20 + [None]}), missing="drop")


def test_infinite_numbers_are_refused(tmp_path):
    path = parquet(tmp_path, {"a": [0.1, None, float("inf")] * 20, "b": ["x", "y", "y"] * 20})
    said = r"column 'a' has infinite values \(20\), the first in data row 3: correct them"
    with pytest.raises(DataError, match=said):
        dagora.open_rows(path)
    path = parquet(tmp_path, {"a": [*map(float, range(60)), -float("inf")], "b": ["x"] * 61})
    with pytest.raises(DataError, match=r"infinite values \(1\), the first in data row 61"):
        dagora.open_rows(path)


def test_negative_zero_is_zero(tmp_path):
    both(parquet(tmp_path, {"a": [0.0, -0.0, 0.5, 0.5] * 10, "b": ["x", "y", "y", "x"] * 10}))


def test_whole_numbers_that_no_float_holds_stay_apart(tmp_path):
    scanned = both(written(tmp_path, "a,b\n" + "9007199254740993,x\n9007199254740992,y\n" * 20))
    assert scanned.schema[0].cardinality == 2


@pytest.mark.parametrize(
    "form", ["{:.1f} %", "${:.2f}", "({:.2f})", "−{:.2f}", '"{:.2f}"', '"{:,.0f}"', "{:.0f} %"]
)
def test_numbers_as_people_write_them(form, tmp_path):
    rng = np.random.default_rng(0)
    numbers = rng.uniform(1, 99, 200) * (100_000 if ",.0f" in form else 1)
    cells = [form.format(x) for x in numbers]
    if form == '"{:.2f}"':
        cells = [cell.replace(".", ",") for cell in cells]
    rows = "".join(
        f"{cell},{x + e:.4f}\n" for cell, x, e in zip(cells, numbers, rng.normal(size=200), strict=True)
    )
    path = written(tmp_path, "m,b\n" + rows)
    scanned = both(path)
    known = dagora.read_table(path)
    assert scanned.overview.columns[0].why == known.overview.columns[0].why
    assert scanned.moments().mean[0] == pytest.approx(np.mean(known.values(0)), rel=1e-12)


def test_very_many_such_numbers_are_read_too(tmp_path):
    path = written(tmp_path, "m,b\n" + "".join(f"{k / 10} %,{k % 3}\n" for k in range(10_002)))
    scanned = both(path)
    assert scanned.overview.columns[0].values == "0 to 1000.1"
    assert scanned.moments().mean.tolist() == pytest.approx([500.05])


def test_declared_dates_are_days(tmp_path):
    days = np.datetime64("2024-01-01") + np.random.default_rng(0).integers(0, 80, 60).astype("timedelta64[D]")
    numbers = np.random.default_rng(1).normal(size=60)
    stored = parquet(tmp_path, {"d": days, "b": numbers})
    text = "".join(f"{day},{x}\n" for day, x in zip(days, numbers, strict=True))
    for path in (stored, written(tmp_path, "d,b\n" + text)):
        scanned = both(path, continuous=["d"])
        assert scanned.moments().mean[0] == pytest.approx(days.astype(float).mean())
    with pytest.raises(DataError, match="column 'd' holds dates or times"):
        dagora.open_rows(stored, discrete=["d"])


@pytest.mark.parametrize("numbers", [60, 10_100])
def test_only_integers_number_the_rows(numbers, tmp_path):
    noise = np.random.default_rng(0).normal(size=numbers)
    for form, names in (("{}.0", ("t", "b")), ("{}", ("b",))):
        rows = "".join(f"{form.format(k)},{x}\n" for k, x in enumerate(noise))
        path = written(tmp_path, "t,b\n" + rows)
        assert dagora.open_rows(path).schema.names == dagora.read_table(path).schema.names == names


def test_a_function_may_return_a_table_or_views_of_text():
    rows = pa.table({"a": pa.array(["x", "y"] * 20, pa.string_view()), "b": ["1", "2"] * 20})
    for made in (rows, rows.to_batches(), rows.to_batches()[0]):
        scanned = dagora.open_rows(lambda made=made: made)
        assert scanned.schema[0].levels == ("x", "y")
        assert dagora.learn(scanned, "hill-climb").graph.edges == (("a", "b"),)


@pytest.mark.parametrize(("made", "named"), [(None, "NoneType"), (["abc"], "str"), (3, "int")])
def test_a_function_that_returns_something_else_is_told_so(made, named):
    with pytest.raises(DataError, match=f"^the function returned .*{named}: it must return Arrow record"):
        dagora.open_rows(lambda: made)


@pytest.mark.parametrize(
    ("missing", "said"), [("error", "cells are missing, the first in column 'a'"), ("drop", "no row is left")]
)
def test_an_empty_column_that_was_declared_is_refused(missing, said, tmp_path):
    path = written(tmp_path, "a,b,c\n" + ",x,1\n,y,2\n" * 20)
    for kind in ("discrete", "continuous"):
        with pytest.raises(DataError, match=said):
            dagora.open_rows(path, missing=missing, **{kind: ["a"]})
    assert dagora.open_rows(path).schema.names == ("b", "c")


def test_an_empty_name_is_refused():
    with pytest.raises(DataError, match=r"^the name of what is to be opened is empty"):
        dagora.open_rows("")


def test_a_pattern_keeps_the_columns_of_partitions(tmp_path):
    for year, word in ((2023, "p"), (2024, "q")):
        folder = tmp_path / "sales" / f"year={year}"
        folder.mkdir(parents=True)
        parquet(folder, {"a": ["x", "y"] * 20, "b": [word, "r"] * 20})
    whole = dagora.open_rows(tmp_path / "sales")
    for pattern in ("sales/*/*.parquet", "sales/**/*.parquet", "sales/year=*/rows.parquet", "s*/*/*.parquet"):
        assert dagora.open_rows(str(tmp_path / pattern)).schema.variables == whole.schema.variables
    assert whole.schema.names == ("a", "b", "year")
    assert dagora.open_rows(str(tmp_path / "sales/year=2023/*.parquet")).schema.names == ("a", "b")


def test_what_is_wrong_with_dropped_rows_does_not_matter(tmp_path):
    rows = [f"{k}.5,{k % 2}.25" for k in range(60)]
    both(written(tmp_path, "a,b\n" + "\n".join([*rows, "few,"])), missing="drop")
    both(written(tmp_path, "a,b\n" + "\n".join([*rows, "few,NA", "NA,0.25"])), missing="drop")
    both(parquet(tmp_path, {"a": [0.1, 0.2, np.inf] * 20, "b": [1, 2, None] * 20}), missing="drop")
    with pytest.raises(DataError, match="column 'a' has numbers, but also 'few'"):
        dagora.open_rows(written(tmp_path, "a,b\n" + "\n".join([*rows, "few,1", "2,"])), missing="drop")
    with pytest.raises(DataError, match="column 'a' has numbers, but also 'few'"):
        dagora.open_rows(written(tmp_path, "a,b\n" + "\n".join([*rows, "few,1"])), missing="drop")
    per_cent = [f"{k} %,{k % 2}" for k in range(15)] * 4
    both(
        written(tmp_path, "a,b\n" + "\n".join([*per_cent, *(f"{k} %," for k in range(15, 30))])),
        missing="drop",
    )


def test_text_with_margins_in_parquet(tmp_path):
    scanned = both(parquet(tmp_path, {"a": [" p", "p ", "q", "p"] * 20, "b": ["x", "x", "y", "x"] * 20}))
    assert scanned.schema[0].levels == ("p", "q")
    path = parquet(tmp_path, {"a": [" p", " NaN", "q", "p"] * 20, "b": ["x", "x", "y", "?"] * 20})
    assert both(path, missing="drop", na="?").n_rows == 40


def test_whole_numbers_near_and_far_from_each_other(tmp_path):
    far = [-5, 10**17, 3, 3] * 20
    both(parquet(tmp_path, {"a": pa.array([7, -2, 5, 5] * 20, pa.int8()), "b": far, "c": ["x", "y"] * 40}))


def test_partitions_of_numbers_text_and_nothing(tmp_path):
    for k, part in enumerate(("year=2024/city=Bonn", "year=2025/city=Ulm", "year=2025/city=Bonn")):
        (tmp_path / part).mkdir(parents=True)
        pq.write_table(pa.table({"a": ["p", "q"] * (10 + k)}), tmp_path / part / "rows.parquet")
    scanned = dagora.open_rows(tmp_path, discrete=["year"])
    assert scanned.schema.names == ("a", "year", "city")
    found = scanned.contingency([1, 2])
    cells = [(scanned.schema[1].levels[y], scanned.schema[2].levels[c]) for y, c in found.cells.tolist()]
    expected = {("2024", "Bonn"): 20, ("2025", "Ulm"): 22, ("2025", "Bonn"): 24}
    assert dict(zip(cells, found.counts.tolist(), strict=True)) == expected
    empty = tmp_path / "year=2025" / "city=__HIVE_DEFAULT_PARTITION__"
    empty.mkdir()
    pq.write_table(pa.table({"a": ["p", "q"]}), empty / "rows.parquet")
    with pytest.raises(DataError, match="cells are missing, the first in column 'city', data row"):
        dagora.open_rows(tmp_path)
    assert dagora.open_rows(tmp_path, missing="drop").n_rows == 66


def test_a_value_that_comes_later_is_a_change(tmp_path):
    path = parquet(tmp_path, {"a": ["p", "q"] * 30, "n": [1, 2] * 30})
    for column, changed in (("a", {"a": ["p", "r"] * 30, "n": [1, 2] * 30}), ("n", {"a": ["p", "q"] * 30, "n": [1, 9] * 30})):  # fmt: skip
        parquet(tmp_path, {"a": ["p", "q"] * 30, "n": [1, 2] * 30})
        made = [pq.read_table(path), pa.table(changed)]
        scanned = dagora.open_rows(lambda made=made: made[0])
        made.pop(0)
        with pytest.raises(DataError, match=f"column '{column}' has a value that it did not have"):
            scanned.counts([(0, 1)])
    made = [pq.read_table(path), pa.table({"a": ["p", ""] * 30, "n": [1, 2] * 30})]
    scanned = dagora.open_rows(lambda: made[0])
    made.pop(0)
    with pytest.raises(DataError, match="a cell is missing that was not before"):
        scanned.counts([(0, 1)])


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_views_of_text_in_files(tmp_path, ending):
    table = pa.table({"a": pa.array(["x", "y"] * 20, pa.string_view()), "b": ["1", "2"] * 20})
    file = tmp_path / f"rows.{ending}"
    if ending == "parquet":
        pq.write_table(table, file)
    else:
        with pa.ipc.new_file(file, table.schema) as out:
            out.write_table(table)
    rows = dagora.open_rows(file)
    assert rows.schema[0].levels == ("x", "y")
    assert rows.counts([(0, 1)]).values.tolist() == [20, 20]
