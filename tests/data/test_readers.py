"""Files as people have them: good, odd and broken."""

import gzip
import os

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from dagora.base.errors import DataError, OptionError
from dagora.data import delimited_text, large_files
from dagora.data.readers import naming, read_table
from dagora.data.schema import Kind


@pytest.fixture
def read(tmp_path):
    """Write a file and read it."""

    def write_and_read(content, name="t.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_table(path, **options)

    return write_and_read


def rows(table):
    """The table as text and numbers, row by row."""
    columns = [
        [variable.levels[code] for code in values] if variable.kind is Kind.DISCRETE else values.tolist()
        for variable, values in zip(table.schema, table.columns, strict=True)
    ]
    return list(zip(*columns, strict=True))


def test_names_levels_and_numbers_are_trimmed(read):
    table = read(" a , x,w\n yes , 1.50 , 7\nno,2.5,  8 \n")
    assert table.names == ("a", "x", "w")
    assert rows(table) == [("yes", 1.5, "7"), ("no", 2.5, "8")]


def test_quotes_commas_line_breaks_and_crlf(read):
    table = read('"a, b",c\r\n"x ""y""","1\r\n2"\r\n\'z\',"3"\r\n')
    assert table.names == ("a, b", "c")
    assert rows(table) == [('x "y"', "1\r\n2"), ("'z'", "3")]


def test_byte_order_mark_blank_lines_and_no_final_newline(read):
    assert rows(read(b"\xef\xbb\xbf\n\na,b\n\n1,2\n\n3,4")) == [("1", "2"), ("3", "4")]


def test_old_line_ends(read):
    assert rows(read("a,b\r1,2\r3,4\r")) == [("1", "2"), ("3", "4")]


def test_tabs_compression_and_capitals(read):
    assert rows(read("a\tb\n1\t2\n", "t.tsv")) == [("1", "2")]
    assert rows(read(gzip.compress(b"a\tb\n1\t2\n"), "t.TSV.GZ")) == [("1", "2")]
    assert rows(read("a;b\n1;2\n", separator=";")) == [("1", "2")]
    assert rows(read("a\tb\n1\t2\n", "t.txt", separator="\\t")) == [("1", "2")]


@pytest.mark.full
def test_the_type_of_a_column_is_decided_by_all_of_it(read):
    # Far beyond the first block, from which Arrow would have guessed.
    text = "a,b\n" + "1,1\n" * 1_500_000
    assert len(text) > delimited_text.BLOCK
    assert read(text + "x,1.5\n").schema[0].levels == ("1", "x")


def test_dropped_columns_are_not_even_looked_at(read):
    table = read("id,a\ninf,1\n,2\n", drop=["id"])
    assert table.names == ("a",)
    with pytest.raises(DataError, match=r"no column 'idd' .to be dropped.: did you mean 'id'"):
        read("id,a\n1,2\n", drop=["idd"])
    with pytest.raises(DataError, match="all columns are dropped"):
        read("id,a\n1,2\n", drop=["id", "a"])


def test_one_row_and_one_column_are_a_table(read):
    assert rows(read("a,b\n1,2\n")) == [("1", "2")]
    assert rows(read("a\nx\ny\n")) == [("x",), ("y",)]


def test_an_empty_line_of_a_single_column_is_a_missing_cell(read):
    with pytest.raises(DataError, match="1 cell is missing, the first in column 'a', data row 2"):
        read("a\nx\n\ny\n")
    assert rows(read("a\nx\n\ny\n", missing="level")) == [("x",), ("missing",), ("y",)]


def test_none_and_na_are_levels(read):
    assert read("a,b\nNone,1\nNA,2\n").schema[0].levels == ("NA", "None")


BAD = {
    "empty file": ("", "the file is empty"),
    "blank lines only": ("\n \n\n", "the file is empty"),
    "header only": ("a,b\n", "a header but no rows"),
    "header without line end": ("a,b", "a header but no rows"),
    "short row": ("a,b\n1,2\n3\n", "data row 2 has 1 cells, but the header has 2 names"),
    "long row": ("a,b\n1,2\n\n3,4\n5,6,7\n", "data row 3 has 3 cells, but the header has 2 names"),
    "long first row": ("a,b\n1,2,3\n", "data row 1 has 3 cells"),
    "ragged after blank lines": ("\n\na,b\n1,2\n3\n", "data row 2 has 1 cells"),
    "ragged far down": ("a,b\n" + "1,2\n" * 1_200_000 + "3\n", "data row 1200001 has 1 cells"),
    "same name twice": ("a,b,a\n1,2,3\n", "two columns are named 'a'"),
    "no name": ("a,,c\n1,2,3\n", "column 2 has no name"),
    "neither UTF-8 nor cp1252": (
        b"a,b\n\xe4,2\n\x8d,2\n",
        "line 3 has a byte .0x8d. that is neither UTF-8 nor",
    ),
    "neither, far down": (b"a,b\n" + b"x,2\n" * 500_000 + b"\xff\x81,2\n", "line 500002 has a byte .0x81."),
    "UTF-8 but for one line": (
        "ä,b\n".encode() * 5 + b"\xe4,2\n",
        "line 6 is not in UTF-8, though the text is",
    ),
    "utf16 cut short": ("a,b\n1,2\n".encode("utf16")[:-1], "not in UTF-8"),
    "title": (
        "Export from LIMS 2024\nid,age\n1,20\n2,30\n",
        "the first line, 'Export from LIMS 2024', seems to be a title .* names, which seem to stand in line 2",
    ),
    "title in quotes": ('"Export"\n"id","age","sex"\n1,20,f\n', "'Export', seems to be a title.*line 2"),
    "title of several lines": (
        "Export\nby Ann, 2024\n\nid,age,sex,ill\n1,20,f,no\n2,30,m,no\n",
        "'Export', seems to be a title.*line 4",
    ),
    "title above semicolons": ("Export of May\nid;age\n1;20\n2;30\n", "'Export of May', seems to .*line 2"),
    "title above a ragged table": ("Export\nid,age,sex\n1,20,f\n2,30\n", "data row 1 has 3 cells"),
    "merged names": (
        "id,Blood,,Urine,\nid,Hb,Na,K,Ca\n1,14.1,139,4.5,2.2\n",
        "column 3 has no name in the first line, and the next line seems to have the names",
    ),
    "merged last name": ("id,Blood,\nid,Hb,Na\n1,14.1,139\n", "column 3 has no name in the first line"),
    "semicolons, not alike": ("a;b\n1;2;3\n", "only one column, and ';' in its name: try separator=.;"),
    "semicolons and a comma in a name": ("a, b;c;d\n1;2;3\n", "there are 2 columns, and ';' in their names"),
    "open quote": ('a,b\n1,"x\n2,y\n3,z\n', "a quote .* is not closed"),
    "two open quotes": ('a,b\n1,"x\n2,y\n3,"z\n4,w\n', "a quote .* is not closed"),
    "missing": (
        "a,b\n1,2\n,3\n4,\n",
        "2 cells are missing, the first in column 'a', data row 2: .*missing=.drop",
    ),
    "infinite": ("a,b\n1.5,2\n-inf,3\n", "column 'a' has infinite values .1., the first in data row 2"),
    "spoilt numbers": (
        "a,b\n" + "".join(f"{i}.5,1\n" for i in range(40)) + "none of them,1\n",
        "but also 'none of them' .first in data row 41.*na=.a:none of them",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_give_one_line_that_begins_with_the_file(case, read, tmp_path):
    content, message = BAD[case]
    with pytest.raises(DataError, match=message) as caught:
        read(content)
    assert str(caught.value).startswith(f"{tmp_path / 't.csv'}: ")
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_names_of_rows_make_no_title_of_the_names(read):
    assert read("sex,ill\nann,f,no\nbob,m,no\n".replace("sex", ",sex", 1)).names == (
        "Unnamed: 0",
        "sex",
        "ill",
    )
    with pytest.raises(DataError, match="if every row has one more"):
        read("sex,ill\nann,f,no\nbob,m,no\n")
    assert read("a b\nx\ny\n").names == ("a b",)


def test_commas_in_a_tsv(read):
    assert read("a,b\n1,2\n", name="t.tsv").names == ("a", "b")


def test_a_single_column_may_have_a_semicolon_in_its_name(read):
    assert read("a;b\nx\ny\n").names == ("a;b",)


@pytest.mark.parametrize("separator", ["", ";;", '"', "\n"])
def test_impossible_separators(read, separator):
    with pytest.raises(OptionError, match="must be one character"):
        read("a,b\n1,2\n", separator=separator)


@pytest.mark.parametrize(
    ("name", "way_out"),
    [("t.txt", "try separator"), ("t", "try separator"), ("csv", "try separator"), ("t.xlsb", "as .xlsx")],
)
def test_other_endings_are_told_the_way_out(read, name, way_out):
    with pytest.raises(DataError, match=f"{name}: .*{way_out}"):
        read("a,b\n1,2\n", name)


@pytest.mark.parametrize("name", ["t.abc", "t.parquet.gz"])
def test_unknown_endings_are_told_the_known_ones(read, name):
    with pytest.raises(
        DataError, match=f"{name}: a table's name must end in .csv .tsv .tab .parquet .feather .arrow"
    ):
        read("a,b\n1,2\n", name)


def test_no_file_and_a_folder(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        read_table(tmp_path / "none.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match="it is a folder"):
        read_table(tmp_path / "folder.csv")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_that_may_not_be_read(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    (tmp_path / "t.csv").chmod(0)
    with pytest.raises(DataError, match="Permission denied"):
        read_table(tmp_path / "t.csv")


PACKED = gzip.compress(b"a,b\n" + b"1,2\n" * 50_000)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv.gz", b"hello"),
        ("t.csv.gz", PACKED[:-20]),
        ("t.csv.gz", PACKED[:60] + b"????" + PACKED[64:]),
        ("t.parquet", b"PAR1 and no more"),
        ("t.feather", b"ARROW1 and no more"),
        ("t.arrow", b"no"),
    ],
)
def test_damaged_files(read, name, content):
    with pytest.raises(DataError, match="the file cannot be read, it may be damaged") as caught:
        read(content, name)
    assert "\n" not in str(caught.value)


def test_empty_compressed_and_binary_files(read):
    with pytest.raises(DataError, match="the file is empty"):
        read(gzip.compress(b""), "t.csv.gz")
    with pytest.raises(DataError, match="the file is empty"):
        read(b"", "t.parquet")


ARROW = pa.table({"a": [1, 2], " x": [0.5, None], "when": pa.array([0, 1], pa.timestamp("s"))})


def write_parquet(table, path):
    pa.parquet.write_table(table, path)


def write_stream(table, path):
    with pa.ipc.new_stream(str(path), table.schema) as writer:
        writer.write_table(table)


def write_compressed_feather(table, path):
    with pa.ipc.new_file(
        str(path), table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")
    ) as writer:
        writer.write_table(table)


@pytest.mark.parametrize(
    ("name", "write"),
    [("t.parquet", write_parquet), ("t.arrow", write_stream), ("t.feather", write_compressed_feather)],
)
def test_binary_files(tmp_path, name, write):
    path = tmp_path / name
    write(ARROW, path)
    table = read_table(path, drop=["when"], missing="drop")
    assert rows(table) == [("1", 0.5)]
    with pytest.raises(DataError, match=r"column 'when' holds dates or times.*drop="):
        read_table(path, discrete="when")
    assert read_table(path, missing="drop").names == ("a", "x")
    with pytest.raises(DataError, match="1 cell is missing, the first in column 'x', data row 2"):
        read_table(path, drop=["when"])
    with pytest.raises(DataError, match="did you mean 'when'"):
        read_table(path, drop=["whe"])
    write(ARROW.slice(0, 0), path)
    with pytest.raises(DataError, match="there are no rows"):
        read_table(path, drop=["when"])
    write(pa.table([[1], [2]], names=["a", "a "]), path)
    with pytest.raises(DataError, match="two columns are named 'a'"):
        read_table(path)


def test_the_first_feather_version_is_named(read):
    with pytest.raises(DataError, match="Feather file of version 1"):
        read(b"FEA1....FEA1", "t.feather")


def test_the_unnamed_index_of_pandas_is_no_column(tmp_path):
    import pandas as pd

    pd.DataFrame({"a": [1, 2]}, index=[7, 3]).to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").names == ("a",)


def test_numbers_are_read_to_the_last_bit(read):
    values = np.random.default_rng(0).standard_normal(1000) * 10.0 ** np.arange(-100, 100, 0.2)
    table = read("x,y\n" + "".join(f"{value!r},1\n" for value in values.tolist()))
    assert table.values(0).tobytes() == values.tobytes()


def test_an_error_has_the_name_of_the_file_once(tmp_path):
    file = tmp_path / "t.csv"
    for text in ("line 3 is odd", f"{file}: line 3 is odd"):
        with pytest.raises(DataError) as found, naming(file):
            raise DataError(text)
        assert str(found.value) == f"{file}: line 3 is odd"
    with pytest.raises(DataError, match="you may not read it: ask its owner"), naming(file):
        raise PermissionError(13, "Permission denied")


def test_a_table_is_named_of_a_spreadsheet_only(read):
    with pytest.raises(OptionError, match="goes with a spreadsheet or a database"):
        read("a,b\n1,2\n", table="sheet")


def test_a_file_that_takes_much_of_the_memory_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(large_files, "free_memory", lambda: 60)
    (tmp_path / "t.csv").write_text("a,b\n1,2\n2,1\n")
    warnings = read_table(tmp_path / "t.csv").overview.warnings
    assert "t.csv takes about 1 MB of memory as a table, and 1 MB are free: it is read whole" in warnings[0]
