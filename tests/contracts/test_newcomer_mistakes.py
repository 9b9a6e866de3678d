"""Mistakes of people who use dagora for the first time: one line names the thing and what to type; or it just works.

Nothing is written where a command refuses. Where the way out is a command, it is followed.
"""

import bz2
import gzip
import io
import json
import os
import random
import resource
import shlex
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dagora as dg
from dagora.cli.live_line import PROGRESS

RANDOM = random.Random(1)
ROWS = [
    (RANDOM.choice(("no", "yes")), RANDOM.choice(("low", "high")), f"{RANDOM.gauss(0, 1):.4f}", f"{RANDOM.gauss(5, 2):.4f}")
    for _ in range(40)
]  # fmt: skip
HEAD = "smoker,cough,age,weight\n"
GOOD = HEAD + "".join(",".join(row) + "\n" for row in ROWS)
BODY = GOOD.removeprefix(HEAD)


def column(name: str, cells: list[str]) -> str:
    """A table of one column beside a good one."""
    return f"smoker,{name}\n" + "".join(f"{row[0]},{cell}\n" for row, cell in zip(ROWS, cells, strict=False))


def archive(**files: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as packed:
        for name, text in files.items():
            packed.writestr(name.replace("__", "/").replace("_", "."), text)
    return content.getvalue()


NUMBERS = [row[2] for row in ROWS]
SHEET = archive(xl__workbook_xml="<workbook/>")
FILES: dict[str, str | bytes] = {
    "good.csv": GOOD,
    "semicolons.csv": GOOD.replace(",", ";"),
    "european.csv": GOOD.replace(",", ";").replace(".", ","),
    "tabs.csv": GOOD.replace(",", "\t"),
    "blanks.csv": GOOD.replace(",", " "),
    "data.txt": GOOD.replace(",", ";"),
    "quoted_commas.csv": column("age", [f'"{number.replace(".", ",")}"' for number in NUMBERS]),
    "index.csv": ",smoker,cough\n" + "".join(f"{i},{row[0]},{row[1]}\n" for i, row in enumerate(ROWS)),
    "dates.csv": column("day", [f"{1 + i % 28:02d}.{1 + i % 12:02d}.2024" for i in range(40)]),
    "patients.csv": column("patient", [f"P{i:04d}" for i in range(40)]),
    "codes.csv": "code,smoker\n" + "".join(f"c{i % 100_000},{'no' if i % 3 else 'yes'}\n" for i in range(200_000)),
    "sheet.xlsx": SHEET,
    "renamed.csv": SHEET,
    "old.csv": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
    "packed.zip": archive(good_csv=GOOD),
    "zipped.csv": archive(good_csv=GOOD),
    "good.csv.gz": gzip.compress(GOOD.encode()),
    "gzipped.csv": gzip.compress(GOOD.encode()),
    "good.csv.bz2": bz2.compress(GOOD.encode()),
    "parquet.csv": b"PAR1" + bytes(50),
    "page.csv": "<!DOCTYPE html>\n<html><body>Sign in</body></html>\n",
    "marked.csv": b"\xef\xbb\xbf" + GOOD.encode(),
    "utf16.csv": GOOD.encode("utf-16"),
    "unmarked16.csv": GOOD.encode("utf-16-le"),
    "latin.csv": "größe,b\nmüde,x\nwach,y\n".encode("latin-1"),
    "neither.csv": b"a,b\nm\xfcde,x\nw\x81ch,y\n",
    "empty.csv": "",
    "header.csv": HEAD,
    "twice.csv": "age,dose,age\n1.5,2,3\n2.5,2,4\n",
    "no_header.csv": BODY,
    "no_header_twice.csv": "no,no\nyes,no\nno,yes\nyes,yes\n",
    "numbers_first.csv": "".join(f"{row[2]},{row[3]}\n" for row in ROWS),
    "row_numbers.csv": HEAD + "".join(f"{i},{line}\n" for i, line in enumerate(BODY.splitlines())),
    "trailing.csv": "".join(f"{line},\n" for line in GOOD.splitlines()),
    "quote.csv": 'a,b\nno,"yes\nno,yes\nyes,no\n',
    "comment.csv": f"# made on monday\n# by me\n{GOOD}",
    "title.csv": f"Survey of 2024,,,\n{GOOD}",
    "holes.csv": column("age", ["NA", "N/A", "-", "null", *NUMBERS[4:]]),
    "unknown.csv": column("age", ["unknown", *NUMBERS[1:]]),
    "words.csv": column("cough", ["NA", "N/A", *(row[1] for row in ROWS[2:])]),
    "far.csv": column("age", ["-999", "-999", *NUMBERS[2:]]),
    "percent.csv": column("share", [f"{10 * abs(float(number)):.1f}%" for number in NUMBERS]),
    "thousands.csv": column("pay", [f'"{int(1000 + 900 * abs(float(number))):,}"' for number in NUMBERS]),
    "booleans.csv": column("ill", [str(i % 3 == 0) for i in range(40)]),
    "constant.csv": column("ward", ["7.5"] * 40),
    "one_row.csv": "a,b\n1,2\n",
    "empty_column.csv": column("age", [""] * 40),
    **dict.fromkeys(
        ("s.dta", "s.sav", "s.sas7bdat", "s.rds", "s.RData", "s.npy", "s.json", "s.pkl", "s.sqlite", "s.duckdb"), b"?"
    ),
    "typo.json": json.dumps({"required": [["smoker", "cuogh"]]}),
    "letters.json": json.dumps({"tiers": [["Smoker"], ["cough"]]}),
    "circle.json": json.dumps({"required": [["smoker", "cough"], ["cough", "smoker"]]}),
    "both.json": json.dumps({"required": [["smoker", "cough"]], "forbidden": [["smoker", "cough"]]}),
    "arrows.txt": "smoker -> cough\n",
    "graph.json": json.dumps({"nodes": ["smoker", "cough"], "edges": [["smoker", "cough"]]}),
    "other.json": json.dumps({"nodes": ["smoker", "height"], "edges": []}),
    "coin.json": json.dumps({
        "kind": "discrete", "nodes": ["coin"], "edges": [], "levels": {"coin": ["heads", "tails"]}, "tables": {"coin": [0.5, 0.5]},
    }),
}  # fmt: skip

# What is typed; what the line must say: the thing, and the way out; a command that follows the advice, where one does.
REFUSED: list[tuple[str, tuple[str, ...], str | None]] = [
    # the file
    ("score blanks.csv -o o.jkl", ("blanks.csv", "try --separator ' '"), "inspect blanks.csv --separator ' '"),
    ("learn data.txt", ("data.txt", "try --separator ';'"), "inspect data.txt --separator ';'"),
    ("learn godo.csv", ("godo.csv", "did you mean 'good.csv'?"), "inspect good.csv"),
    ("learn '~/good.csv'", ("~/good.csv", "write /"), None),
    ("learn https://example.org/good.csv", ("it is an address", "download the file first"), None),
    ("learn folder", ("folder", "name a file"), None),
    ("convert folder o.dot", ("folder", "no extension", ".json"), None),
    ("learn sheet.xlsx", ("sheet.xlsx: the workbook cannot be read", "may be damaged"), None),
    ("inspect renamed.csv", ("renamed.csv: is a spreadsheet", "its name must end in .xlsx"), None),
    ("inspect old.csv", ("old.csv: is a spreadsheet", "its name must end in .xlsx, .xls"), None),
    ("inspect good.csv --table men", ("--table goes with a spreadsheet or a database", "leave it out"), None),
    ("learn packed.zip", ("packed.zip: is an archive", "unpack it"), None),
    ("learn zipped.csv", ("zipped.csv: is an archive", "unpack it"), None),
    ("learn gzipped.csv", ("compressed with gzip", "must end in .gz"), "inspect good.csv.gz"),
    ("learn good.csv.bz2", ("good.csv.bz2: is compressed", ".csv.gz is read"), "inspect good.csv.gz"),
    ("learn parquet.csv", ("is a Parquet file", "must end in .parquet"), None),
    ("learn page.csv", ("page.csv: is a web page", "download the file itself"), None),
    ("learn s.dta", ("s.dta: the file cannot be read", "may be damaged"), None),
    ("learn s.sav", ("s.sav: the file cannot be read", "may be damaged"), None),
    ("learn s.sas7bdat", ("SAS", "as CSV", "read_sas"), None),
    ("learn s.rds", ("s.rds: the file is damaged", "save it again in R"), None),
    ("learn s.RData", ("s.RData: the file is damaged", "save it again in R"), None),
    ("learn s.npy", ("NumPy", "pass numpy.load(...) to dagora.learn"), None),
    ("learn s.json", ("is JSON", "pass pandas.read_json(...) to dagora.learn"), None),
    ("learn s.pkl", ("is a pickle", "pass pandas.read_pickle(...) to dagora.learn"), None),
    ("learn s.sqlite", ("s.sqlite: there is no table in it", "SQLite",), None),
    ("learn s.duckdb", ("a database", "duckdb:s.duckdb and --table NAME"), None),
    ("learn coin.bif", ("coin.bif: is a file of a graph or network", "give the table"), None),
    ("learn neither.csv", ("neither.csv: line 3 has a byte (0x81)", "neither UTF-8 nor cp1252", "save the file as UTF-8"), None),
    ("learn empty.csv", ("empty.csv", "a header and rows are needed"), None),
    ("learn header.csv", ("header.csv", "a line with names comes first, then a line per row"), None),
    ("learn one_row.csv", ("1 row", "at least 2 are needed"), None),
    ("learn empty_column.csv", ("1 column", "'age' was left out (every cell is missing)"), None),
    ("learn empty_column.csv --discrete age", ("all cells of column 'age' are missing", "--drop age"), None),
    ("learn empty_column.csv --continuous age", ("all cells of column 'age' are missing", "--drop age"), None),
    ("learn twice.csv", ("two columns are named 'age'", "rename one of them"), None),
    ("learn no_header_twice.csv", ("two columns are named 'no'", "put a line with names first"), None),
    ("learn row_numbers.csv", ("5 cells", "4 names", "put a separator there in the header too"), None),
    ("learn quote.csv", ("quote.csv", "is not closed: correct the quotes"), None),
    ("learn comment.csv", ("'# made on monday'", "remove what stands above the names"), None),
    ("learn title.csv", ("'Survey of 2024'", "remove what stands above the names"), None),
    # the cells
    ("learn codes.csv", ("1 column", "'code' was left out", "more than 10000 levels"), None),
    ("learn thousands.csv", ("'pay'", "with a decimal point", "--decimal point"), "inspect thousands.csv --decimal point"),
    ("learn constant.csv --continuous ward", ("'ward'", "constant", "--drop ward"), "inspect constant.csv --drop ward"),
    # columns and knowledge
    ("learn good.csv --drop Agee", ("'Agee'", "did you mean 'age'?"), "inspect good.csv --drop age"),
    ("learn good.csv --discrete 'smoker, cuogh'", ("'cuogh'", "did you mean 'cough'?"), "inspect good.csv --discrete 'smoker, cough'"),
    ("learn good.csv --knowledge typo.json", ("'cuogh'", "did you mean 'cough'?"), None),
    ("learn good.csv --knowledge letters.json", ("'Smoker'", "did you mean 'smoker'?"), None),
    ("learn good.csv --knowledge circle.json", ("smoker → cough → smoker", "leave out one of these edges"), None),
    ("learn good.csv --knowledge both.json", ("smoker → cough", "keep it in one of them"), None),
    ("learn good.csv --knowledge arrows.txt", ("arrows.txt", 'looks like {"required": [["a", "b"]]'), None),
    # methods, scores, options
    ("lern good.csv", ("'lern'", "did you mean 'learn'?"), None),
    ("good.csv", ("'good.csv'", "did you mean 'dagora learn good.csv'?"), None),
    ("learn good.csv semicolons.csv", ("semicolons.csv", "a pattern in quotes ('*.csv')"), None),
    ("learn good.csv -m tabbu", ("'tabbu'", "did you mean 'tabu'?"), None),
    ("learn good.csv -m hc", ("'hc'", "did you mean 'hill-climb'?"), None),
    ("learn good.csv -s bdue", ("'bdue'", "did you mean 'bdeu'?"), None),
    ("learn good.csv --scroe bic", ("'--scroe'", "did you mean '--score'?"), None),
    ("learn good.csv --max_parents 3", ("'--max_parents'", "did you mean '--max-parents'?"), None),
    ("learn good.csv -m pc --alpha 0.05", ("'--alpha'", "--option alpha=VALUE"), None),
    ("learn good.csv -m tabu --option restart=3", ("'restart'", "did you mean 'restarts'?"), None),
    ("learn good.csv -m tabu --option alpha=0.05", ("'alpha'", "pc, rfci, fci", "have it"), None),
    ("learn good.csv --option alpha 0.05", ("'alpha'", "--option takes NAME=VALUE"), None),
    ("learn good.csv --time-limit 1h", ("'1h' is no number", "give seconds, such as 60"), None),
    ("learn good.csv --time-limit -1", ("-1", "positive number of seconds"), None),
    ("learn good.csv --seed luck", ("--seed", "'luck' is no whole number"), None),
    ("sample good.csv -m tabu", ("'tabu' learns one graph", "`dagora learn DATA -m tabu`"), None),
    # what is written
    ("learn good.csv -o no/such/o.json", ("no/such/o.json", "there is no folder 'no/such'"), None),
    ("learn good.csv -o good.csv", ("good.csv is read", "write to another file"), None),
    ("learn good.csv -o o.png", ("o.png", "--picture FILE.svg"), None),
    ("learn good.csv -o o.html", ("o.html", "--report FILE.html"), None),
    ("learn good.csv --report o.pdf", ("o.pdf", "written as .html"), None),
    ("score good.csv -o o.csv", ("o.csv", "written as .jkl"), None),
    # questions and comparisons
    ("query coin.json 'P(coin=edge)'", ("'edge'", "known are heads, tails"), "query coin.json 'P(coin=heads)'"),
    ("query coin.json 'P(cion)'", ("'cion'", "did you mean 'coin'?"), "query coin.json 'P(coin)'"),
    ("query coin.json 'coin'", ("'coin'", "questions look like P("), None),
    ("query graph.json 'P(cough)'", ("graph.json", "`dagora learn DATA -o network.json`"), None),
    ("compare graph.json", ("compare needs ESTIMATE and TRUTH: TRUTH is missing", "dagora compare --help"), None),
    ("impute holes.csv coin.json -o o.csv", ("the network comes first", "dagora impute coin.json holes.csv"), None),
    ("compare graph.json other.json", ("'height'", "both need the same nodes"), None),
    ("compare graph.json good.csv", ("good.csv", "an adjacency matrix has"), None),
]  # fmt: skip

# What people expect to work, and does; what is said about it, if anything should be.
WORKS: list[tuple[str, tuple[str, ...]]] = [
    ("inspect good.csv.gz", ()),
    ("inspect marked.csv", ("smoker",)),
    ("inspect utf16.csv", ("2 continuous", "read as UTF-16")),
    ("inspect unmarked16.csv", ("2 continuous", "read as UTF-16LE")),
    ("inspect latin.csv", ("größe", "müde", "read as cp1252 (as in 'größe')")),
    ("inspect european.csv --separator ';'", ("written with a decimal comma", "2 continuous")),
    ("inspect quoted_commas.csv", ("written with a decimal comma",)),
    ("inspect percent.csv", ("per cent", "1 continuous")),
    ("inspect booleans.csv", ("False, True",)),
    ("inspect index.csv", ("'Unnamed: 0' (numbers the rows)",)),
    ("inspect patients.csv", ("'patient' (40 levels in 40 rows: names or free text)", "--discrete patient would keep one")),
    ("inspect dates.csv", ("'day' (dates or times)", "--time takes dates")),
    ("inspect constant.csv", ("'ward' (a constant number)",)),
    ("inspect trailing.csv", ("'Unnamed: 4' (every cell is missing)",)),
    ("inspect holes.csv", ("'NA' (1 ×), 'N/A' (1 ×), '-' (1 ×), 'null' (1 ×) in 'age'", "--na none")),
    ("inspect words.csv", ("often mean missing: 'NA' (1 ×), 'N/A' (1 ×) in 'cough'", "--na cough:NA,cough:N/A")),
    ("inspect semicolons.csv", ("2 continuous",)),
    ("inspect european.csv", ("written with a decimal comma", "2 continuous")),
    ("inspect tabs.csv", ("2 continuous",)),
    ("inspect unknown.csv", ("read as missing: 'unknown'", "--na none")),
    ("inspect far.csv", ("'-999' (2 ×) in 'age'", "--na age:-999")),
    ("inspect no_header.csv", ("look like a row of the table", "put a line with names first")),
    ("inspect numbers_first.csv", ("look like a row of the table", "put a line with names first")),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """The files that the commands name, where everybody may look."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        for file, content in FILES.items():
            (place / file).write_bytes(content if isinstance(content, bytes) else content.encode())
        (place / "folder").mkdir()
        (place / "coin.bif").write_text("network coin {\n}\n")
        yield place


@pytest.fixture
def unchanged(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(folder)
    before = {file: file.stat().st_mtime_ns for file in folder.rglob("*")}
    yield folder
    assert {file: file.stat().st_mtime_ns for file in folder.rglob("*")} == before, "a file was written"


def test_there_are_forty() -> None:
    assert len(REFUSED) >= 40


@pytest.mark.parametrize(("typed", "mentions", "follow"), REFUSED, ids=[case[0] for case in REFUSED])
def test_one_line_names_the_thing_and_the_way_out(
    run: Callable, unchanged: Path, typed: str, mentions: tuple[str, ...], follow: str | None
) -> None:
    check(run(*shlex.split(typed)), mentions)
    if follow is not None:
        ran = run(*shlex.split(follow))
        assert ran.code == 0, ran.err


@pytest.mark.parametrize(("typed", "mentions"), WORKS, ids=[case[0] for case in WORKS])
def test_it_just_works(run: Callable, unchanged: Path, typed: str, mentions: tuple[str, ...]) -> None:
    ran = run(*shlex.split(typed))
    assert ran.code == 0, ran.err
    for mention in mentions:
        assert mention in ran.out + ran.err


def check(ran: object, mentions: tuple[str, ...]) -> None:
    lines = [line for line in ran.err.splitlines() if not PROGRESS.fullmatch(line)]
    assert ran.code == 2, ran
    assert len(lines) == 1, lines
    assert lines[0].startswith("dagora: error: ")
    assert not ran.out
    for mention in mentions:
        assert mention in lines[0]


# What the system refuses


@contextmanager
def as_nobody() -> Iterator[None]:
    """As a user without rights, where the tests run as one with all of them."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_no_right_to_read(run: Callable, unchanged: Path) -> None:
    (unchanged / "good.csv").chmod(0)
    try:
        with as_nobody():
            check(run("inspect", "good.csv"), ("good.csv: you may not read it", "chmod u+r"))
    finally:
        (unchanged / "good.csv").chmod(0o644)


def test_no_right_to_write(run: Callable, unchanged: Path) -> None:
    unchanged.chmod(0o555)
    try:
        with as_nobody():
            check(
                run("convert", "graph.json", "o.dot"), ("cannot write o.dot", "write to a folder of your own")
            )
    finally:
        unchanged.chmod(0o755)


def test_a_full_disk(run: Callable, unchanged: Path) -> None:
    """A limit on the size of files stands for a disk without space: the same call fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        ran = run("convert", "graph.json", "o.graphml")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    check(ran, ("cannot write o.graphml", "file too large", "write elsewhere"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_device(run: Callable, unchanged: Path, tmp_path: Path) -> None:
    (tmp_path / "o.dot").symlink_to("/dev/full")
    check(run("convert", "graph.json", tmp_path / "o.dot"), ("o.dot", "no space left", "free some space"))


def test_a_missing_extra(run: Callable, unchanged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    check(run("learn", "good.csv", "-m", "ilp"), ("ilp needs PySCIPOpt", "pip install 'dagora[exact]'"))


# In Python

FRAME = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)), columns=list("abc"))
TARGET = pd.Series(range(30))
RESULT = dg.Result(dg.DAG("abc"), "hill-climb", "finished", "")
PYTHON: list[tuple[str, Callable[[], object], tuple[str, ...]]] = [
    ("X, y", lambda: dg.learn(FRAME, TARGET), ("not a Series", "columns of one table")),
    ("X, y as arrays", lambda: dg.learn(FRAME.to_numpy(), TARGET.to_numpy()), ("not a ndarray", "columns of one table")),
    ("a list of files", lambda: dg.learn(["good.csv", "tabs.csv"]), ("several files", "open_rows", '"data/*.csv"')),
    ("a list of dictionaries", lambda: dg.learn([{"a": 1, "b": 2}] * 9), ("pandas.DataFrame makes a frame",)),
    ("records", lambda: dg.learn(FRAME.to_records(index=False)), ("pandas.DataFrame makes a frame",)),
    ("the text of a file", lambda: dg.learn(GOOD), ("not the name of a file", "write it to a file")),
    ("an open file", lambda: dg.learn(io.StringIO(GOOD)), ("StringIO", "the name of a file")),
    ("a table of a frame", lambda: dg.learn(FRAME, table="men"), ("table goes with a file", "leave it out")),
    ("a column of lists", lambda: dg.learn(FRAME.assign(d=[[1, 2]] * 30)), ("'d'", "list", 'drop=["d"]')),
    ("numbers among words", lambda: dg.learn(FRAME.assign(d=[1, "x"] * 15)), ("'d'", "convert it, or leave it out")),
    ("a name twice", lambda: dg.learn(pd.concat([FRAME, FRAME], axis=1)), ("'a'", "rename one of them")),
    ("no columns", lambda: dg.learn(pd.DataFrame()), ("no columns", "at least one is needed")),
    ("infinite numbers", lambda: dg.learn(FRAME.assign(d=[np.inf, *range(29)])), ("'d'", "infinite", 'missing="drop"')),
    ("max_parent", lambda: dg.learn(FRAME, max_parent=3), ("'max_parent'", "did you mean 'max_parents'?")),
    ("directlingam", lambda: dg.learn(FRAME, "DirectLiNGAM"), ("'DirectLiNGAM'", "did you mean 'lingam'?")),
    ("sample by tabu", lambda: dg.sample(FRAME, "tabu"), ("learns one graph", "learn(data, 'tabu')")),
    ("a misspelt column", lambda: dg.learn(FRAME, knowledge={"tiers": [["A"], ["b"]]}), ("'A'", "did you mean 'a'?")),
    ("other nodes", lambda: dg.compare(dg.DAG("ab"), dg.DAG("abc")), ("'c'", "both need the same nodes")),
    ("a result as a graph", lambda: dg.write_graph(RESULT, "o.json"), ("Result", "its attribute graph")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("mistake", "mentions"), [case[1:] for case in PYTHON], ids=[case[0] for case in PYTHON]
)
def test_mistakes_in_python(
    unchanged: Path, mistake: Callable[[], object], mentions: tuple[str, ...]
) -> None:
    with pytest.raises(dg.DagoraError) as caught:
        mistake()
    line = str(caught.value)
    assert "\n" not in line
    assert "--" not in line
    for mention in mentions:
        assert mention in line


def test_columns_with_two_names_each_work() -> None:
    columns = pd.MultiIndex.from_product([["blood"], ["a", "b", "c"]])
    assert len(dg.learn(FRAME.set_axis(columns, axis=1), "hill-climb").graph.nodes) == 3


def test_a_line_for_excel_is_named(run, tmp_path):
    (tmp_path / "european.csv").write_text("sep=;\na;b\n1;2\n2;1\n")
    for given in ((), ("--separator", ";")):
        ran = run("learn", tmp_path / "european.csv", *given)
        assert ran.code == 2
        assert "'sep=;', is one that Excel reads: remove it" in ran.err
