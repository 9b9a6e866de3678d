"""Files that are no tables we read: what they are, by name or first bytes, and what makes a table of them."""

from __future__ import annotations

import contextlib
import shlex
import zipfile
from pathlib import Path

from dagora.base.errors import DataError
from dagora.base.phrases import nearest
from dagora.base.wording import by_door, option

LOOK = 4096  # bytes at the beginning that say what a file is
SHEET = "is a spreadsheet: its name must end in .xlsx, .xls or .ods"
ARCHIVE = "is an archive: unpack it, and give the file in it"
PACKED = "is compressed: unpack it, or compress it with gzip instead (.csv.gz is read)"
NETWORK = (
    "is a file of a graph or network and has no rows: give the table that it was, or is to be, learned from"
)

# What a file is, by the ending of its name. {pandas} stands for what reads it in Python.
BY_ENDING = {
    ".xlsb": "is a binary workbook: save it as .xlsx",
    ".por": "is a file of SPSS in its old form: save it as .sav there",
    ".sas7bdat": "is a file of SAS: export it as CSV there, or {pandas} read_sas",
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "is JSON and no table of rows: {pandas} read_json"),
    **dict.fromkeys((".pkl", ".pickle"), "is a pickle, which only Python reads: {pandas} read_pickle"),
    **dict.fromkeys((".h5", ".hdf5"), "is an HDF5 file: {pandas} read_hdf"),
    **dict.fromkeys((".npy", ".npz"), "holds NumPy's arrays: {python} numpy.load"),
    ".mat": "is a file of MATLAB: there, writetable or writematrix makes a .csv file",
    **dict.fromkeys((".zip", ".tar", ".tgz", ".7z", ".rar"), ARCHIVE),
    **dict.fromkeys((".bz2", ".xz", ".zst", ".lz4"), PACKED),
    **dict.fromkeys((".bif", ".dot", ".gv", ".graphml", ".dagitty", ".tetrad"), NETWORK),
    **dict.fromkeys(
        (".db", ".duckdb"), "is a database: if it is one of DuckDB, write duckdb:{file} and {table} NAME"
    ),
    **dict.fromkeys(
        (".sqlite", ".sqlite3"),
        "is a database of SQLite: learn and open_rows take it in Python, and the commands, with {table} NAME",
    ),
    ".stats": "holds statistics and no rows, and this needs a table: learn, sample and drift take statistics",
}
# The same by the first bytes, for files under a name that promises text.
BY_BEGINNING = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", SHEET),
    (b"\x1f\x8b", "is compressed with gzip: its name must end in .gz"),
    (b"BZh", PACKED),
    (b"\xfd7zXZ\x00", PACKED),
    (b"\x28\xb5\x2f\xfd", PACKED),
    (b"PAR1", "is a Parquet file: its name must end in .parquet"),
    (b"ARROW1", "is a Feather or Arrow file: its name must end in .feather"),
    (b"\x93NUMPY", BY_ENDING[".npy"]),
    (b"SQLite format 3", BY_ENDING[".sqlite"]),
    (b"$FL2", "is a file of SPSS: its name must end in .sav"),
    (b"$FL3", "is a file of SPSS: its name must end in .zsav"),
    (b"<stata_dta>", "is a file of Stata: its name must end in .dta"),
    (b"RDX", "is a file of R: its name must end in .RData"),
    (b"%PDF", "is a PDF file: give the table itself, as CSV"),
)
WEB_PAGE = (b"<!doctype html", b"<html")
REMOTE = ("http:", "https:", "ftp:", "s3:", "gs:")


def refuse_foreign_ending(file: Path) -> None:
    """Refuse a file whose name says that it is no table; say what makes one of it.

    >>> refuse_foreign_ending(Path("survey.sas7bdat"))
    Traceback (most recent call last):
    dagora.DataError: is a file of SAS: export it as CSV there, or pass pandas.read_sas(...) as data
    """
    what = BY_ENDING.get(file.suffix.lower())
    if what is not None:
        raise DataError(in_words(what, file))


def refuse_foreign_content(file: Path) -> None:
    """Refuse a file that is named like plain text and is something else; a pipe is not looked at."""
    if not file.is_file() or file.suffix.lower() == ".gz":
        return
    with file.open("rb") as handle:
        beginning = handle.read(LOOK)
    if beginning.startswith(b"PK\x03\x04"):
        raise DataError(name_archive_content(file))
    for mark, what in BY_BEGINNING:
        if beginning.startswith(mark):
            raise DataError(in_words(what, file))
    if beginning.lstrip().lower().startswith(WEB_PAGE):
        raise DataError("is a web page: download the file itself (on many pages that link is called raw)")


def name_archive_content(file: Path) -> str:
    """Name the content of a zip archive: spreadsheets are archives too."""
    with contextlib.suppress(zipfile.BadZipFile, OSError), zipfile.ZipFile(file) as archive:
        if any(name.startswith("xl/") or name == "content.xml" for name in archive.namelist()):
            return SHEET
    return ARCHIVE


def two_bytes_a_letter(beginning: bytes) -> str | None:
    r"""The encoding of text that has two bytes a letter, by its mark or by its zeros.

    >>> two_bytes_a_letter("a,b\n".encode("utf-16")), two_bytes_a_letter(b"a,b\n")
    ('utf-16', None)
    >>> two_bytes_a_letter("a,b\n1,2\n".encode("utf-16-be"))
    'utf-16be'
    """
    if beginning[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    for first, encoding in ((1, "utf-16le"), (0, "utf-16be")):
        zeros = beginning[first::2]
        if zeros and zeros.count(0) > len(zeros) / 2:
            return encoding
    return None


def not_utf8(file: Path, encoding: str = "latin1") -> str:
    """Message about text that is not UTF-8, with a guess at its encoding."""
    name = shlex.quote(file.name)
    return (
        "the text is not in UTF-8: save it as UTF-8 "
        f"(for example: iconv -f {encoding} -t utf-8 {name} > utf8-{name})"
    )


def no_such_file(file: Path) -> str:
    """Message about a file that is not there, with one beside it whose name is alike.

    >>> no_such_file(Path("https://example.org/data.csv"))
    'it is an address: download the file first'
    """
    if file.parts[:1] and file.parts[0] in REMOTE:
        return "it is an address: download the file first"
    if file.parts[:1] == ("~",):
        return f"there is no such file: write {file.expanduser()}, as ~ stands for a folder in a shell only"
    near = None
    with contextlib.suppress(OSError):
        near = nearest(file.name, [other.name for other in file.parent.iterdir() if other.is_file()])
    return "there is no such file" + ("" if near is None else f": did you mean '{file.parent / near}'?")


def in_words(what: str, file: Path) -> str:
    """Describe a foreign file to a user of Python or of the command."""
    pandas, python = "{pandas} ", "{python} "
    for holder, module in ((pandas, "pandas."), (python, "")):
        if holder in what:
            before, _, name = what.partition(holder)
            call = f"{module}{name}"
            said = by_door(
                python=f"pass {call}(...) as data", command=f"in Python, pass {call}(...) to dagora.learn"
            )
            return f"{before}{said}"
    return what.replace("{file}", str(file)).replace("{table}", option("table"))
