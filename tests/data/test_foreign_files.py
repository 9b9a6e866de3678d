"""Files that are no tables we read are told by their names, or by their first bytes, and what to do about them."""

import zipfile
from pathlib import Path

import pytest

from dagora.base.errors import DataError
from dagora.data.foreign_files import (
    BY_ENDING,
    no_such_file,
    refuse_foreign_content,
    refuse_foreign_ending,
    two_bytes_a_letter,
)

BEGINNINGS = {
    b"$FL2@(#) SPSS": "must end in .sav",
    b"$FL3@(#) SPSS": "must end in .zsav",
    b"<stata_dta><header>": "must end in .dta",
    b"RDX3\nX\n": "must end in .RData",
    b"PAR1": "must end in .parquet",
    b"ARROW1": "must end in .feather",
    b"\x1f\x8b\x08": "must end in .gz",
    b"BZh91AY": "unpack it",
    b"\xfd7zXZ\x00": "unpack it",
    b"\x28\xb5\x2f\xfd": "unpack it",
    b"\x93NUMPY": "numpy.load",
    b"SQLite format 3\x00": "SQLite",
    b"%PDF-1.4": "PDF",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "must end in .xlsx, .xls or .ods",
    b"\n  <!DOCTYPE html><html>": "web page",
    b"<html>": "web page",
}


@pytest.mark.every_case
@pytest.mark.parametrize("begin", BEGINNINGS)
def test_a_file_under_the_name_of_text_is_told_by_its_first_bytes(begin: bytes, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(begin + b" more")
    with pytest.raises(DataError, match=BEGINNINGS[begin]):
        refuse_foreign_content(tmp_path / "t.csv")
    (tmp_path / "t.csv.gz").write_bytes(begin)
    refuse_foreign_content(tmp_path / "t.csv.gz")


@pytest.mark.parametrize(
    ("entry", "words"),
    [("xl/workbook.xml", "spreadsheet"), ("content.xml", "spreadsheet"), ("a.csv", "archive")],
)
def test_a_spreadsheet_is_told_from_another_archive(entry: str, words: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.csv", "w") as archive:
        archive.writestr(entry, "text")
    with pytest.raises(DataError, match=words):
        refuse_foreign_content(tmp_path / "t.csv")


def test_a_few_zeros_do_not_make_two_bytes_a_letter() -> None:
    text = b"name,age\nAnn\x00,30\nBob,40\n"
    assert two_bytes_a_letter(text) is None
    assert two_bytes_a_letter(text.decode().encode("utf-16-le")) == "utf-16le"


def test_the_folder_that_a_tilde_stands_for_is_written_out() -> None:
    assert no_such_file(Path("~/survey.csv")).endswith(
        f"write {Path.home() / 'survey.csv'}, as ~ stands for a folder in a shell only"
    )


def test_every_foreign_ending_is_refused_in_small_and_in_capital_letters() -> None:
    for ending, what in BY_ENDING.items():
        for name in (f"survey{ending}", f"SURVEY{ending.upper()}"):
            with pytest.raises(DataError) as refused:
                refuse_foreign_ending(Path(name))
            assert str(refused.value).startswith(what.partition("{")[0]), name
    refuse_foreign_ending(Path("survey.csv"))
