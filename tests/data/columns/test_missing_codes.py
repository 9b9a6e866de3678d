"""Numbers and words that stand for missing: noticed in memory, scanned and in a database, and made missing."""

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.base.errors import DataError
from dagora.data.columns.missing_codes import facts_of_levels, missing_codes

duckdb = pytest.importorskip("duckdb")
ROWS = 400
R = np.random.default_rng(5)
AGES = R.integers(18, 80, ROWS)
PRESSURES = R.normal(75, 12, ROWS).round(1)
LIKERT = R.integers(1, 6, ROWS)
SIDES = np.array(["a", "b"])[R.integers(0, 2, ROWS)]


def with_codes(values, *codes):
    """Every so many values are a code."""
    changed = values.astype(object if isinstance(codes[0], str) else values.dtype)
    for k, code in enumerate(codes):
        changed[k + 3 :: 23] = code
    return changed


CASES = {
    "pair": (with_codes(AGES, 888, 999), "888,999"),
    "negative pair": (with_codes(AGES, -9, -8), "-9,-8"),
    "ninety-nine": (with_codes(AGES, 99), "99"),
    "minus one": (with_codes(AGES, -1), "-1"),
    "far zero": (with_codes(PRESSURES, 0.0), "0"),
    "nine in a scale": (with_codes(LIKERT, 9), "9"),
    "eight and nine in a scale": (with_codes(LIKERT, 8, 9), "8,9"),
    "ninety-nine in a scale": (with_codes(LIKERT, 99), "99"),
    "minus one in a scale": (with_codes(LIKERT, -1), "-1"),
    "nine among words": (with_codes(SIDES, "9"), "9"),
    "unknown": (with_codes(SIDES, "unknown"), "unknown"),
    "k.A.": (with_codes(SIDES, "k.A."), "k.A."),
    "keine Angabe": (with_codes(SIDES, "keine Angabe"), "keine Angabe"),
    "missing": (with_codes(SIDES, "missing"), "missing"),
    "seventy-seven in a scale": (with_codes(LIKERT, 77), "77"),
    "ninety-eight": (with_codes(AGES - 10, 98), "98"),
    "nines with a fraction": (with_codes(PRESSURES, 999.9), "999.9"),
    "minus nines with a fraction": (with_codes(PRESSURES, -99.9), "-99.9"),
    "seven nines": (with_codes(AGES, 9999999), "9999999"),
}
SILENT = {
    "ages": AGES,
    "pressures": PRESSURES,
    "scale of nine": R.integers(1, 10, ROWS),
    "scale of seven": R.integers(1, 8, ROWS),
    "signs": R.integers(-1, 2, ROWS),
    "two signs": 2 * R.integers(0, 2, ROWS) - 1,
    "counts": R.poisson(2.0, ROWS),
    "rare counts": np.where(np.arange(ROWS) == 7, 9, R.poisson(1.0, ROWS)),
    "zeros among amounts": np.where(R.random(ROWS) < 0.5, 0.0, R.lognormal(3, 1, ROWS)),
    "around zero": R.normal(0, 60, ROWS).round(),
    "hours": R.integers(1, 100, ROWS),
    "saturation": np.minimum(R.normal(95, 2, ROWS).round(), 98),
    "temperatures": np.minimum(R.normal(98.6, 0.7, ROWS).round(1), 99.9),
    "percents up to 98": R.integers(60, 99, ROWS),
    "capped at 88": np.minimum(R.integers(40, 100, ROWS), 88),
    "half zeros": np.where(R.random(ROWS) < 0.4, 0.0, PRESSURES),
    "grades": np.array(["1", "2", "A"])[R.integers(0, 3, ROWS)],
}


def doors(frame, tmp_path):
    """The warnings of every door that reads the same rows."""
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    base = tmp_path / "t.duckdb"
    base.unlink(missing_ok=True)
    with duckdb.connect(str(base)) as made:
        made.execute("CREATE TABLE t AS SELECT * FROM frame")
    return {
        "file": dagora.inspect(tmp_path / "t.csv").warnings,
        "frame": dagora.inspect(frame).warnings,
        "scanned text": dagora.open_rows(tmp_path / "t.csv").overview.warnings,
        "scanned": dagora.open_rows(tmp_path / "t.parquet").overview.warnings,
        "database": dagora.open_rows(f"duckdb:{base}", table="t").overview.warnings,
        "pushed down": dagora.open_rows(f"duckdb:{base}", table="t", push_down=True).overview.warnings,
    }


def frame_of(values):
    return pd.DataFrame({"x": values, "side": SIDES})


def at_every_door(cases, *quick):
    """Six doors take a second: `make test` sends some of the cases through them, and all as a frame."""
    marked = [pytest.param(case, marks=() if case in quick else pytest.mark.full) for case in cases]
    return pytest.mark.parametrize("case", marked)


def assert_noticed(case, warnings):
    values, codes = CASES[case]
    (line,) = [line for line in warnings if "often mean missing" in line]
    assert f'choose na="{option_of(case)}" if they are missing' in line
    for code in codes.split(","):
        assert f"'{code}' ({(values == type(values[0])(code)).sum()} ×)" in line


def option_of(case):
    return ",".join(f"x:{code}" for code in CASES[case][1].split(","))


@pytest.mark.every_case
@pytest.mark.parametrize("case", CASES)
def test_codes_are_noticed(case):
    assert_noticed(case, dagora.inspect(frame_of(CASES[case][0])).warnings)


@at_every_door(CASES, "pair", "nine among words")
def test_codes_are_noticed_at_every_door(case, tmp_path):
    values, codes = CASES[case]
    for warnings in doors(frame_of(values), tmp_path).values():
        assert_noticed(case, warnings)
    read = dagora.inspect(tmp_path / "t.csv", na=option_of(case), missing="drop")
    lost = sum(
        (values.astype(str) == np.array(code).astype(values.dtype).astype(str)).sum()
        for code in codes.split(",")
    )
    assert read.dropped == lost
    assert not [line for line in read.warnings if "often mean missing" in line]
    scanned = dagora.open_rows(tmp_path / "t.csv", na=option_of(case), missing="drop")
    assert scanned.overview.dropped == lost
    assert not [line for line in scanned.overview.warnings if "often mean missing" in line]


@pytest.mark.every_case
@pytest.mark.parametrize("case", SILENT)
def test_other_numbers_are_not_suspected(case):
    assert not [line for line in dagora.inspect(frame_of(SILENT[case])).warnings if "mean missing" in line]


@at_every_door(SILENT, "zeros among amounts")
def test_other_numbers_are_not_suspected_at_any_door(case, tmp_path):
    for door, warnings in doors(frame_of(SILENT[case]), tmp_path).items():
        assert not [line for line in warnings if "mean missing" in line], door


@at_every_door(["income", "net income", "Dose"], "net income")
def test_zeros_of_amounts_are_zeros(case, tmp_path):
    frame = frame_of(with_codes((400 * PRESSURES).round(), 0.0)).rename(columns={"x": case})
    for door, warnings in doors(frame, tmp_path).items():
        assert not [line for line in warnings if "mean missing" in line], door


def test_one_option_names_every_code_and_then_nothing_is_left_to_say(tmp_path):
    frame = pd.DataFrame(
        {
            "age": with_codes(AGES, -99).astype(str),
            "smoker": with_codes(R.integers(1, 3, ROWS), 9).astype(str),
            "job": with_codes(SIDES, "?", "unknown"),
            "weight": with_codes(PRESSURES.astype(str), "NA"),
        }
    )
    file = tmp_path / "t.csv"
    frame.to_csv(file, index=False)
    (line,) = [line for line in dagora.inspect(file).warnings if "though they often mean missing" in line]
    option = "age:-99,smoker:9"
    advice = line.partition('na="')[2].partition('"')[0]
    assert sorted(advice.split(",")) == sorted([*option.split(","), "job:?", "job:unknown"])
    after = dagora.inspect(file, na=advice, missing="drop")
    assert not [text for text in after.warnings if "though they often mean missing" in text]
    assert {column.name: column.missing for column in after.columns} == {
        "age": 18,
        "smoker": 18,
        "job": 36,
        "weight": 18,
    }


def test_codes_of_a_column_as_text_and_as_a_mapping():
    data = {"age": [20, 30, -1, 40] * 10, "smoker": [1, 2, 9, -1] * 10}
    for na in ("age:-1,smoker:9", ["age:-1", "smoker:9"], {"age": -1, "smoker": [9]}):
        table = dagora.inspect(data, na=na)
        assert [column.missing for column in table.columns] == [10, 10]
        assert table.columns[1].values == "-1, 1, 2"


def test_words_of_one_column_leave_the_others_as_they_are():
    data = {"age": ["20.5", "NA", "30.1", "x"] * 10, "job": ["a", "b", "none", "b"] * 10}
    assert [column.missing for column in dagora.inspect(data, na="age:x", missing="drop").columns] == [20, 10]
    assert [column.missing for column in dagora.inspect(data, na="age:x,job:", missing="drop").columns] == [
        20,
        0,
    ]
    assert [column.missing for column in dagora.inspect(data, na="age:x,NA", missing="drop").columns] == [
        20,
        0,
    ]


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(DataError, match=r'na="smokr:9" names no column: did you mean \'smoker\'\?'):
        dagora.inspect({"smoker": [1, 2, 9]}, na="smokr:9")
    assert (
        dagora.inspect({"smoker": [1, 2, 9], "id": [1, 2, 3]}, na="id:9", drop="id").columns[0].missing == 0
    )


def test_minus_one_beside_a_scale_from_zero_is_a_code():
    assert missing_codes(facts_of_levels({-1: 5, 0: 50, 1: 60, 2: 40})) == {-1.0: 5}


def test_codes_of_a_survey():
    rows = {"pay": [1, 2, 3, 4, 5, 3, 2, -66, -66, -55] * 20, "x": list(range(1, 6)) * 40}
    (line,) = [one for one in dagora.inspect(rows).warnings if "mean missing" in one]
    assert "'-66' (40 ×), '-55' (20 ×) in 'pay'" in line
