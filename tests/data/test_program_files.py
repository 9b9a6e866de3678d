"""Files of other programs: spreadsheets, Stata, SPSS and R give the table that a CSV file gives, or what they know more.

Oracles are other people's writers: openpyxl, pyreadstat, pandas and rdata.
"""

import datetime as dt
import struct

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
import rdata

import dagora
from dagora.base.errors import DagoraError
from dagora.cli.main import main
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.labelled_columns import with_labels
from dagora.data.r_files import read_r_file
from dagora.data.statistics_files import read_dates

FULL = pytest.mark.full  # each reading of a file of Stata or SPSS starts a process
R = np.random.default_rng(5)
ROWS = 120
FRAME = pd.DataFrame(
    {
        "smoker": R.choice(["yes", "no"], ROWS),
        "visits": R.integers(0, 4, ROWS),
        "age": R.integers(18, 90, ROWS),
        "dose": R.normal(size=ROWS).round(4),
        "half": R.choice([0.5, 1.0, 1.5], ROWS),
        "patient_id": R.permutation(ROWS) + 1000,
        "note": [f"came {k}" for k in range(ROWS)],
    }
)
FRAME["bmi"] = np.where(R.random(ROWS) < 0.1, np.nan, (FRAME["dose"] + 25).round(4))
DAYS = [dt.date(2024, 1, 1) + dt.timedelta(days=int(k)) for k in R.integers(0, 300, ROWS)]
WITH_DAYS = FRAME.assign(day=DAYS)
MOMENTS = FRAME.assign(day=pd.to_datetime(DAYS))


def write_rds(frame, file):
    texts = {
        name: frame[name].astype(object) for name in frame if isinstance(frame[name].dtype, pd.StringDtype)
    }
    rdata.write_rds(str(file), frame.assign(**texts))


WRITERS = {
    "xlsx": lambda file: WITH_DAYS.to_excel(file, index=False),
    "dta": lambda file: MOMENTS.to_stata(file, write_index=False, version=118, convert_dates={"day": "td"}),
    "sav": lambda file: pyreadstat.write_sav(WITH_DAYS, str(file)),
    "zsav": lambda file: pyreadstat.write_sav(WITH_DAYS, str(file), compress=True),
}


@pytest.fixture
def written(tmp_path):
    """Write the table in a format, and as CSV."""

    def write(ending):
        WITH_DAYS.to_csv(tmp_path / "t.csv", index=False)
        WRITERS[ending](tmp_path / f"t.{ending}")
        return tmp_path / f"t.{ending}", tmp_path / "t.csv"

    return write


@pytest.mark.parametrize("ending", ["xlsx", *(pytest.param(e, marks=FULL) for e in ("dta", "sav", "zsav"))])
def test_the_same_table_as_from_csv(ending, written):
    file, plain = written(ending)
    for options in ({"missing": "drop"}, {"missing": "drop", "continuous": ["day"], "discrete": ["age"]}):
        found, expected = dagora.read_table(file, **options), dagora.read_table(plain, **options)
        assert found.equals(expected)
        assert found.overview.columns == expected.overview.columns
    assert dagora.open_rows(file, missing="drop").schema == dagora.open_rows(plain, missing="drop").schema
    one, other = (dagora.learn(each, missing="drop") for each in (file, plain))
    assert (one.graph, one.score) == (other.graph, other.score)


def test_the_same_from_r(tmp_path):
    write_rds(FRAME, tmp_path / "t.rds")
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    found, expected = (dagora.read_table(tmp_path / name, missing="drop") for name in ("t.rds", "t.csv"))
    assert found.equals(expected)
    assert found.overview.columns == expected.overview.columns


# Spreadsheets


def save_book(file, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(file)
    return file


SMALL = [["a", "b"], ["x", 1.5], ["y", 2.5], ["x", 3.5]]
OTHER = [["c", "d"], ["u", 1], ["v", 2]]


def test_sheets_by_name(tmp_path, capsys):
    file = save_book(tmp_path / "b.xlsx", first=SMALL, second=OTHER, empty=[])
    assert dagora.read_table(file, table="second").names == ("c", "d")
    assert dagora.open_rows(file, table="second").schema.names == ("c", "d")
    assert dagora.inspect(file, table="first").rows == 3
    with pytest.raises(
        DagoraError, match="several sheets: choose one with table; known are first, second, empty"
    ):
        dagora.read_table(file)
    with pytest.raises(DagoraError, match="there is no sheet 'third' in it: known are first"):
        dagora.open_rows(file, table="third")
    with pytest.raises(SystemExit) as ended:
        main(["inspect", str(file), "--table", "first"])
    assert not ended.value.code
    assert "3 rows, 2 columns" in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        main(["learn", str(file)])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_only_sheet_with_cells_is_taken(tmp_path):
    file = save_book(tmp_path / "b.xlsx", empty=[], data=SMALL, hidden=OTHER)
    book = openpyxl.load_workbook(file)
    book["hidden"].sheet_state = "hidden"
    book.save(file)
    assert dagora.read_table(file).names == ("a", "b")


def test_cells_of_a_sheet_are_read_as_in_csv(tmp_path):
    rows = [
        [None, "code", "mixed", "truth", "share", "when"],
        [1, "007", 1.5, True, "12 %", pd.Timestamp("2024-03-01 10:30").to_pydatetime()],
        [2, "012", "NA", False, "15 %", dt.date(2024, 3, 2)],
        [None] * 6,
        [3, "007", 2, True, None, None],
    ]
    overview = dagora.inspect(save_book(tmp_path / "b.xlsx", data=rows))
    found = {column.name: (column.type, column.values, column.missing) for column in overview.columns}
    assert overview.rows == 3
    assert found["code"] == ("discrete", "007, 012", 0)
    assert found["mixed"] == ("continuous", "1.5 to 2", 1)
    assert found["truth"] == ("discrete", "False, True", 0)
    assert found["share"][2] == 1
    assert found["when"][0] == "left out"
    assert found["Unnamed: 0"][0] == "left out"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "the sheet is empty"),
        ([["a", "b"]], "a header but no rows"),
        ([["Survey of 2024", None, None], ["a", "b", "c"], [1, 2, 3]], "seems to be a title"),
        ([["a", None, "c"], [1, 2, 3]], "column 2 has no name"),
        (
            [["id", "Blood", None], ["id", "Hb", "Na"], [1, 14.1, 139]],
            "column 3 has no name in the first line",
        ),
        ([["a", "a"], [1, 2]], "two columns are named 'a'"),
    ],
)
def test_sheets_that_are_no_tables(rows, message, tmp_path):
    with pytest.raises(DagoraError, match=message):
        dagora.read_table(save_book(tmp_path / "b.xlsx", data=rows))


# Labels


LABELS = {
    "rank": {1: "low", 2: "middle", 3: "high"},
    "income": {-1: "refused"},
    "sex": {"f": "female", "m": "male"},
}
CODED = pd.DataFrame(
    {
        "rank": [3, 1, 2, 1] * 10,
        "income": [-1, 1200, 3400, 900] * 10,
        "sex": ["f", "m", "m", "f"] * 10,
        "plain": [1, 2, 2, 1] * 10,
    }
)


@pytest.fixture
def coded(tmp_path):
    numbers = {name: labels for name, labels in LABELS.items() if name != "sex"}
    pyreadstat.write_sav(CODED, str(tmp_path / "c.sav"), variable_value_labels=LABELS)
    pyreadstat.write_dta(CODED, str(tmp_path / "c.dta"), variable_value_labels=numbers)
    return tmp_path


@FULL
@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_labels_are_levels_in_the_order_of_values(coded, ending):
    file = coded / f"c.{ending}"
    with pytest.warns(
        dagora.DagoraWarning, match=r"'income' \(-1 is 'refused'\); if one means missing, na=\"income:-1\""
    ):
        table = dagora.read_table(file)
    levels = {variable.name: variable.levels for variable in table.schema}
    assert levels["rank"] == ("low", "middle", "high")
    assert levels["income"] == ("-1", "900", "1200", "3400")
    assert levels["plain"] == ("1", "2")
    assert levels["sex"] == (("female", "male") if ending == "sav" else ("f", "m"))
    assert not any(variable.ordered for variable in table.schema), "labels have an order for display alone"
    with pytest.warns(dagora.DagoraWarning):
        rank = dagora.read_table(file, ordinal="rank").schema[0]
    assert (rank.levels, rank.ordered) == (("low", "middle", "high"), True)
    assert [levels["rank"][code] for code in table.columns[0][:4]] == ["high", "low", "middle", "low"]
    numbers = dagora.read_table(file, continuous=["rank"], na="income:-1", missing="drop")
    assert set(numbers.values(0)) == {1, 2}
    assert dagora.open_rows(file).schema == table.schema


def test_labels_listed_in_another_order_make_the_same_levels():
    levels = with_labels(pa.chunked_array([[2.0, 1.0]]), {2.0: "high", 1.0: "low"})
    assert levels.chunk(0).dictionary.to_pylist() == ["low", "high"]
    assert levels.to_pylist() == ["high", "low"]


@FULL
def test_methods_for_numbers_see_the_codes(coded):
    result = dagora.learn(coded / "c.sav", "notears", drop=["sex"], na="income:-1", missing="drop")
    assert set(result.graph.nodes) == {"rank", "income", "plain"}


def test_two_values_of_one_label_stay_two(tmp_path):
    pyreadstat.write_sav(
        CODED, str(tmp_path / "c.sav"), variable_value_labels={"rank": {1: "other", 2: "some", 3: "other"}}
    )
    assert dagora.read_table(tmp_path / "c.sav").schema[0].levels == ("other (1)", "some", "other (3)")


@FULL
def test_what_the_file_calls_missing_is_missing(tmp_path):
    frame = CODED.assign(rank=[9.0, 1.0, np.nan, 2.0] * 10)
    labels = {"rank": {1: "low", 2: "high", 9: "no answer"}}
    pyreadstat.write_sav(
        frame, str(tmp_path / "c.sav"), variable_value_labels=labels, missing_ranges={"rank": [9]}
    )
    column = dagora.inspect(tmp_path / "c.sav", drop=["income"]).columns[0]
    assert column.missing == 20
    pyreadstat.write_dta(
        frame.assign(rank=["a", 1.0, np.nan, 2.0] * 10),
        str(tmp_path / "c.dta"),
        missing_user_values={"rank": ["a"]},
    )
    column = dagora.inspect(tmp_path / "c.dta", drop=["income"]).columns[0]
    assert (column.missing, column.values) == (20, "1, 2")


def test_dates_of_stata(tmp_path):
    frame = pd.DataFrame(
        {
            "a": [1.5, 2.5, 3.5],
            **{
                form: pd.to_datetime(["2024-03-01", "2023-12-01", "2020-02-01"])
                for form in ("tc", "td", "tm")
            },
        }
    )
    frame.to_stata(
        tmp_path / "t.dta", write_index=False, version=118, convert_dates={"tc": "tc", "td": "td", "tm": "tm"}
    )
    table = dagora.read_table(tmp_path / "t.dta", continuous=["tc", "td", "tm"])
    days = [
        (day - dt.date(1970, 1, 1)).days
        for day in (dt.date(2024, 3, 1), dt.date(2023, 12, 1), dt.date(2020, 2, 1))
    ]
    for name in ("tc", "td", "tm"):
        np.testing.assert_allclose(table.values(table.schema.index(name)), days)


def test_dates_of_spss(tmp_path):
    file = str(tmp_path / "t.sav")
    pyreadstat.write_sav(pd.DataFrame({"day": [dt.date(2024, 3, 1)]}), file)
    raw, about = pyreadstat.read_sav(file, disable_datetime_conversion=True)
    column, form = pa.chunked_array([raw["day"].to_numpy(np.float64)]), about.original_variable_types["day"]
    assert read_dates(column, ".sav", form.lower()).cast(pa.date32()).to_pylist() == [dt.date(2024, 3, 1)]


# R


def test_factors_truths_and_missing_values_of_r(tmp_path):
    frame = pd.DataFrame(
        {
            "size": pd.Categorical(
                ["small", "large", "large", "small"], categories=["small", "middle", "large"]
            ),
            "ill": [True, False, False, True],
            "dose": [0.5, np.nan, 1.5, 2.5],
        }
    )
    write_rds(frame, tmp_path / "t.rds")
    overview = dagora.inspect(tmp_path / "t.rds")
    assert [(c.values, c.missing) for c in overview.columns] == [
        ("small, middle, large", 0),
        ("False, True", 0),
        ("0.5 to 2.5", 1),
    ]


class Xdr:
    """Writes objects of R as R does: what rdata cannot write."""

    def __init__(self):
        self.content = bytearray(b"X\n" + struct.pack(">iiii", 3, 0x40300, 0x30500, 5) + b"UTF-8")

    def put(self, *parts):
        for part in parts:
            self.content += struct.pack(">i", part) if isinstance(part, int) else part
        return self

    def text(self, text):
        raw = text.encode()
        return self.put(9 | 1 << 15, len(raw), raw)

    def symbol(self, name):
        return self.put(1).text(name)

    def texts(self, *texts, attributes=0):
        self.put(16 | attributes, len(texts))
        for text in texts:
            self.text(text)
        return self

    def end(self):
        return self.put(254)


def frame_of_r(*columns):
    """A data frame with such columns, written by functions, and names a, b, …"""
    xdr = Xdr().put(19 | 1 << 8 | 1 << 9, len(columns))
    for column in columns:
        column(xdr)
    xdr.put(2 | 1 << 10).symbol("names").texts(*"abcdefg"[: len(columns)])
    xdr.put(2 | 1 << 10).symbol("class").texts("data.frame")
    xdr.put(2 | 1 << 10).symbol("row.names").put(13, 2, -(2**31), -4)
    return bytes(xdr.end().content)


def factor(*classes):
    def put(xdr):
        xdr.put(13 | 1 << 9 | 1 << 8, 4, 1, 3, 2, 1)
        xdr.put(2 | 1 << 10).symbol("levels").texts("small", "middle", "large")
        xdr.put(2 | 1 << 10).symbol("class").texts(*classes).end()

    return put


def test_a_factor_of_r_has_an_order_where_r_says_so(tmp_path):
    (tmp_path / "t.rds").write_bytes(frame_of_r(factor("factor"), factor("ordered", "factor")))
    table = dagora.read_table(tmp_path / "t.rds")
    sizes = ("small", "middle", "large")
    assert [(each.levels, each.ordered) for each in table.schema] == [(sizes, False), (sizes, True)]
    declared = dagora.read_table(tmp_path / "t.rds", ordinal="a").schema[0]
    assert (declared.levels, declared.ordered) == (sizes, True)


def compact(xdr):  # 1:4, as R keeps it
    xdr.put(238).put(2).symbol("compact_intseq").put(2).symbol("base").put(2, 13, 1, 13).end()
    xdr.put(14, 3, struct.pack(">ddd", 4, 1, 1)).end()


def wrapped(xdr):  # a vector that R has wrapped
    xdr.put(238).put(2).symbol("wrap_real").put(2).symbol("base").put(2, 13, 1, 14).end()
    xdr.put(19, 2).put(14, 4, struct.pack(">dddd", 0.5, 1.5, 2.5, 3.5)).put(13, 2, 0, 0).end()


def as_text(xdr):  # as.character(1:4), before R has made the texts
    xdr.put(238).put(2).symbol("deferred_string").put(2).symbol("base").put(2, 13, 1, 16).end()
    xdr.put(2).put(13, 4, 7, 8, 7, 9).put(13, 1, 0).end()


def days(xdr):
    xdr.put(14 | 1 << 8 | 1 << 9, 4, struct.pack(">dddd", 19800, 19801, 19802, 19810))
    xdr.put(2 | 1 << 10).symbol("class").texts("Date").end()


def long_numbers(xdr):  # of the package bit64, with NA
    xdr.put(14 | 1 << 8 | 1 << 9, 4, struct.pack(">qqqq", 2**60, -(2**63), 5, 7))
    xdr.put(2 | 1 << 10).symbol("class").texts("integer64").end()


def test_missing_long_numbers_of_r(tmp_path):
    (tmp_path / "t.rds").write_bytes(frame_of_r(long_numbers, days))
    assert read_r_file(tmp_path / "t.rds", ReadingOptions()).columns[0].to_pylist() == [2**60, None, 5, 7]


def test_forms_that_only_r_writes(tmp_path):
    (tmp_path / "t.rds").write_bytes(frame_of_r(compact, wrapped, as_text))
    known = rdata.read_rds(tmp_path / "t.rds").to_numpy().T.tolist()
    assert known == [[1, 2, 3, 4], [0.5, 1.5, 2.5, 3.5], ["7", "8", "7", "9"]]
    (tmp_path / "t.rds").write_bytes(frame_of_r(compact, wrapped, as_text, days))
    overview = dagora.inspect(tmp_path / "t.rds")
    assert [(c.name, c.type, c.values, c.missing) for c in overview.columns] == [
        ("a", "discrete", "1, 2, 3, 4", 0),
        ("b", "continuous", "0.5 to 3.5", 0),
        ("c", "discrete", "7, 8, 9", 0),
        ("d", "left out", "", 0),
    ]
    day = dagora.read_table(tmp_path / "t.rds", continuous=["d"], drop=["c"])
    assert day.values(2).tolist() == [19800, 19801, 19802, 19810]


def test_a_workspace_may_hold_several_frames(tmp_path):
    frames = {"one": FRAME[["age", "dose"]], "two": FRAME[["visits", "half"]], "other": {"x": 1}}
    rdata.write_rda(str(tmp_path / "w.RData"), frames)
    with pytest.raises(DagoraError, match="several data frames: choose one with table; known are one, two"):
        dagora.read_table(tmp_path / "w.RData")
    assert dagora.read_table(tmp_path / "w.RData", table="two").names == ("visits", "half")
    rdata.write_rda(str(tmp_path / "w.rda"), {"one": frames["one"]})
    assert dagora.read_table(tmp_path / "w.rda").names == ("age", "dose")


@pytest.mark.parametrize("objects", [[1.5, 2.5], {"a": [1, 2]}, "text"])
def test_other_objects_of_r_are_refused(objects, tmp_path):
    rdata.write_rds(str(tmp_path / "t.rds"), np.array(objects) if isinstance(objects, list) else objects)
    with pytest.raises(DagoraError, match="no data frame of R"):
        dagora.read_table(tmp_path / "t.rds")
