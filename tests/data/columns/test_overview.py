"""How a table was understood is told: types, missing values, words, rows and columns left out."""

import hashlib
import json

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.base.errors import DagoraWarning, DataError, OptionError
from dagora.data.columns.overview import LEFT_OUT

ROWS = 200


def messy(**columns):
    """A frame of 200 rows: what is given, repeated, and two plain columns."""
    plain = {"smoker": ["no", "yes"], "weight": [61.5, 70.25, 80.0, 55.5, 90.1, 66.6, 77.7]}
    filled = {
        name: [values[i % len(values)] for i in range(ROWS)] for name, values in (plain | columns).items()
    }
    filled["weight"] = [value + i / 1000 for i, value in enumerate(filled["weight"])]
    return pd.DataFrame(filled)


def types(overview):
    return {column.name: column.type for column in overview.columns}


@pytest.mark.parametrize("word", ["NA", "?", "n/a", "N/A", ".", "-", "null", "NULL", "None", "<NA>", "#N/A"])
def test_a_word_among_numbers_is_a_hole(tmp_path, word):
    cells = [str(20 + i % 60) for i in range(ROWS)]
    cells[3] = cells[7] = word
    frame = messy().assign(age=cells)
    frame.to_csv(tmp_path / "t.csv", index=False)
    for data in (tmp_path / "t.csv", frame):
        seen = dagora.inspect(data)
        assert types(seen)["age"] == "continuous"
        assert next(c for c in seen.columns if c.name == "age").missing == 2
        assert any("read as missing" in line and "'age'" in line for line in seen.warnings)
        with pytest.raises(DataError, match="2 cells are missing"):
            dagora.learn(data, missing="error")
        with pytest.warns(DagoraWarning, match="read as missing"):
            result = dagora.learn(data, missing="drop", discretise="mean")
        assert result.stats["rows"] == ROWS - 2
    kept = dagora.inspect(tmp_path / "t.csv", na="none", discrete="age")
    assert next(c for c in kept.columns if c.name == "age").levels == 61


def test_a_word_among_words_is_a_level_until_the_user_speaks_of_missing_cells():
    frame = messy(job=["farmer", "baker", "?", "smith"])
    with pytest.warns(
        DagoraWarning, match=r"taken as levels.*'\?' \(50 ×\) in 'job'.*na=\"job:\?\".*na=\"none\""
    ):
        table = dagora.Table.from_frame(frame)
    assert table.schema[0].levels == ("no", "yes")
    assert "?" in table.schema[2].levels
    with pytest.warns(DagoraWarning, match=r"read as missing: '\?' \(50 ×\) in 'job'; .*na=\"none\""):
        table = dagora.Table.from_frame(frame, missing="drop")
    assert table.n_rows == 150
    assert table.overview.dropped == 50
    with pytest.warns(DagoraWarning, match="read as missing"):
        assert "missing" in dagora.Table.from_frame(frame, missing="level").schema[2].levels


@pytest.mark.filterwarnings("error::dagora.DagoraWarning")
def test_choosing_silences_the_doubt():
    frame = messy(job=["farmer", "baker", "?", "smith"])
    assert "?" in dagora.Table.from_frame(frame, na="none", missing="level").schema[2].levels
    assert "?" in dagora.Table.from_frame(frame, na=["NA"]).schema[2].levels
    with pytest.raises(DataError, match="50 cells are missing"):
        dagora.Table.from_frame(frame, na="?")


def test_words_of_the_users_choice(tmp_path):
    frame = messy(job=["farmer", "unknown", "baker"], age=[30, -9, 41])
    frame.to_csv(tmp_path / "t.csv", index=False)
    for data in (tmp_path / "t.csv", frame):
        seen = dagora.inspect(data, na="unknown, -9")
        missing = {column.name: column.missing for column in seen.columns}
        assert missing == {"smoker": 0, "weight": 0, "job": 67, "age": 67}
    with pytest.raises(OptionError, match="na is auto, none, or the words"):
        dagora.inspect(frame, na=[])


def test_levels_of_categories_stay_declared():
    column = pd.Categorical(["a", "NA", "b"] * 10, categories=["a", "b", "NA", "unseen"])
    frame = pd.DataFrame({"v": column, "w": [0, 1, 0] * 10})
    assert set(dagora.Table.from_frame(frame).schema[0].levels) == {"a", "b", "NA", "unseen"}
    table = dagora.Table.from_frame(frame, missing="drop")
    assert table.schema[0].levels == ("a", "b", "unseen")
    assert table.n_rows == 20


def test_rows_dropped_are_counted_everywhere():
    frame = messy(job=["farmer", None, "smith", "baker"])
    with pytest.warns(DagoraWarning, match=r"50 of 200 rows \(25.0 %\) were dropped"):
        result = dagora.learn(frame, missing="drop", discretise="mean")
    assert result.message.endswith("50 of 200 rows (25.0 %) were dropped, because a cell is missing")
    assert (result.data["rows"], result.data["rows_dropped"]) == (200, 50)
    assert any("50 of 200" in line for line in result.warnings)
    few = messy()
    few.loc[3, "smoker"] = None
    result = dagora.learn(few, missing="drop", discretise="mean")
    assert "1 of 200 rows (0.5 %) was dropped" in result.message
    assert not any("dropped" in line for line in result.warnings)


LEFT = {
    "row": (range(1, ROWS + 1), "numbers the rows"),
    "patient_id": ([7919 * i % 100_003 for i in range(1, ROWS + 1)], "called an identifier"),
    "PatientID": ([7919 * i % 100_003 for i in range(1, ROWS + 1)], "called an identifier"),
    "name": ([f"person {i}" for i in range(ROWS)], "names or free text"),
    "remark": ([f"came at {i} and left" if i % 3 else None for i in range(ROWS)], "names or free text"),
    "empty": ([None] * ROWS, "every cell is missing"),
    "day": (pd.date_range("2020-01-01", periods=ROWS), "dates or times"),
}


@pytest.mark.parametrize("name", LEFT)
def test_columns_that_identify_rows_are_left_out(tmp_path, name):
    values, why = LEFT[name]
    frame = messy().assign(**{name: values})
    with pytest.warns(DagoraWarning, match=rf"1 column is left out: '{name}' .*{why}"):
        table = dagora.Table.from_frame(frame)
    assert table.names == ("smoker", "weight")
    frame.to_csv(tmp_path / "t.csv", index=False)
    seen = dagora.inspect(tmp_path / "t.csv")
    assert types(seen)[name] == LEFT_OUT
    result = dagora.learn(frame, discretise="mean")
    assert result.graph.nodes == ("smoker", "weight")


def test_asked_for_columns_stay():
    frame = messy().assign(name=LEFT["name"][0], row=LEFT["row"][0])
    table = dagora.Table.from_frame(frame, discrete="name", continuous="row")
    assert table.names == ("smoker", "weight", "name", "row")
    known = {"forbidden": [["name", "smoker"]]}
    assert "name" in dagora.learn(frame, knowledge=known, discretise="mean").graph.nodes


def test_what_is_not_an_identifier_stays():
    generator = np.random.default_rng(0)
    frame = messy(
        valid=list(range(5)),  # ends in "id", but has few values
        income=[int(value) for value in generator.choice(10**6, ROWS, replace=False)],
        town=[f"town {i}" for i in range(90)],
    )
    assert types(dagora.inspect(frame)) == {
        "smoker": "discrete",
        "weight": "continuous",
        "valid": "discrete",
        "income": "continuous",
        "town": "discrete",
    }


def test_the_row_numbers_that_pandas_writes_are_left_out(tmp_path):
    pd.DataFrame({"a": [0, 1] * 4, "b": ["x", "y"] * 4}).to_csv(tmp_path / "t.csv")
    assert dagora.read_table(tmp_path / "t.csv").names == ("a", "b")
    assert types(dagora.inspect(tmp_path / "t.csv"))["Unnamed: 0"] == LEFT_OUT


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([12.5, 14.0, -999.0], "-999"),
        ([0, 1, -9], "-9"),
        ([101.5, 140.0, 99999.0, 120.0], "99999"),
        ([-9, -8, -7], None),
        ([990.5, 998.0, 999.0, 985.0], None),
    ],
)
def test_numbers_that_may_mean_missing(values, told):
    warnings = dagora.inspect(messy(v=values)).warnings
    said = [line for line in warnings if "often mean missing" in line]
    assert [f'na="v:{told}"' in line for line in said] == ([True] if told else [])


def test_pandas_integers_with_holes_are_codes():
    table = dagora.Table.from_frame(messy(ward=[1, 2, None, 3]), missing="drop")
    assert table.schema[2].levels == ("1", "2", "3")


def test_the_overview_of_a_file_says_which_file(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("a;b\n" + "0;x\n1;y\n" * 10)
    result = dagora.learn(dagora.read_table(file, separator=";", discrete="a"))
    data = result.data
    assert data["source"] == "t.csv"
    assert data["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert data["reading"] == {"discrete": ["a"], "separator": ";"}
    assert [column["type"] for column in data["columns"]] == ["discrete", "discrete"]
    again = dagora.Result.from_json(result.to_json())
    assert again.data == json.loads(json.dumps(data))


def test_the_summary_of_a_wide_table_shows_what_is_remarkable():
    frame = pd.DataFrame({f"x{i}": [0, 1] * 30 for i in range(40)} | {"hole": [0, 1, None] * 20})
    overview = dagora.inspect(frame)
    assert len(overview.lines()) == 1 + 1 + 41
    short = overview.lines(everything=False)
    assert [line.split()[0] for line in short[1:-1]] == ["column", "hole"]
    assert short[-1] == "  … and 40 more columns without missing values"


def test_a_table_is_settled():
    table = dagora.Table.from_frame(messy())
    with pytest.raises(OptionError, match="missing cannot change a table that was already read"):
        dagora.learn(table, missing="drop")
    assert dagora.learn(table, discretise="mean").data["columns"][1]["type"] == "discrete"
    wide = dagora.Table.from_frame(messy(job=["baker", "smith"]))
    assert dagora.learn(wide, drop="weight").graph.nodes == ("smoker", "job")


@pytest.mark.parametrize("purpose", [{"score": "bge"}, {"score": "BIC-Gaussian"}, {"method": "notears"}])
def test_codes_are_numbers_for_what_takes_numbers_only(purpose):
    frame = messy(ward=[1, 2, 3, 4]).drop(columns="smoker")
    result = dagora.learn(frame, **purpose)
    assert [column["type"] for column in result.data["columns"]] == ["continuous", "continuous"]
    assert "taken as numbers for the" in result.data["columns"][1]["why"]
    with pytest.raises(DataError, match="'smoker'"):
        dagora.learn(messy(), **purpose)
    with pytest.raises(DataError, match="'ward'"):
        dagora.learn(frame, discrete="ward", **purpose)


@pytest.mark.parametrize(("said", "holes"), [({}, 1), ({"missing": "model"}, 2), ({"missing": "auto"}, 1)])
def test_inspect_advises_on_holes_what_learn_does(said, holes):
    """Once missing values are spoken of, words that mean missing are holes too, as in learn."""
    rows = {"a": ["no", "yes"] * 20, "b": ["x", "?", None, "y"] + ["x", "y"] * 18}
    overview = dagora.inspect(rows, **said)
    assert overview.columns[1].missing == holes
    (line,) = [line for line in overview.warnings if "a missing value" in line]
    assert f"{holes} of 40" in line
    assert "observed ones; " in line
    learned = dagora.learn(rows, **said).data
    assert learned["columns"][1]["missing"] == holes
