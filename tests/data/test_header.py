"""The first line of delimited text: names, or something else, which is told."""

from pathlib import Path

import pytest

import dagora
from dagora.base.errors import DataError
from dagora.data.header import find_separator, read_header, suggested_mark


@pytest.fixture
def header(tmp_path: Path):
    def read(text: str, separator: str = ",") -> tuple[tuple[str, ...], int]:
        (tmp_path / "t.csv").write_text(text)
        found = read_header(tmp_path / "t.csv", separator)
        return found.names, found.blank_lines

    return read


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("text", "names", "blank"),
    [
        ("a,b\n1,2\n", ("a", "b"), 0),
        ("\n \n\na,b\n1,2\n", ("a", "b"), 3),
        (",a,b\n1,2,3\n", ("Unnamed: 0", "a", "b"), 0),
        ("a,\n1,\n", ("a", "Unnamed: 1"), 0),
        ("a,b,\n1,2,\n", ("a", "b", "Unnamed: 2"), 0),
        ("a;x,b;y\n1,2\n", ("a;x", "b;y"), 0),
        ("pain score\nnone\n", ("pain score",), 0),
        ('"#a",b\n1,2\n', ("#a", "b"), 0),
        ("#a,b\n1,2\n", ("#a", "b"), 0),
        ('"sep=",b\n1,2\n', ("sep=", "b"), 0),
        ('"two\nlines",b\n1,2\n', ("two\nlines", "b"), 0),
    ],
)
def test_names(header, text: str, names: tuple[str, ...], blank: int) -> None:
    assert header(text) == (names, blank)


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\n\n", "the file is empty"),
        ("a,b\n", "a header but no rows"),
        ("Survey,,\na,b,c\n1,2,3\n", "'Survey', seems to be a title"),
        ("SEP=;\na;b\n1;2\n", "'SEP=;', is one that Excel reads"),
        ("# made by Ann\na,b\n1,2\n", "'# made by Ann', seems to be a title or a comment"),
        ("#a,b\n#1,2\n", "'#a', seems to be a title or a comment"),
        ("Export\nid,age,sex\n1,20,f\n2,30,m\n", "which seem to stand in line 2"),
        ("id,Blood,\nid,Hb,Na\n1,14.1,139\n", "column 3 has no name in the first line"),
        ("a;b\n1;2\n", "there is only one column, and ';' in its name: try separator=\";\""),
        ("a\tb\n1\t2\n", "and a tab in its name"),
        ("a;b,c;d\n1;2,3;4\n", "there are 2 columns, and ';' in their names"),
        ("a b\n1 2\n", "only one column, and blanks in it"),
        ("a,,b\n1,2,3\n", "column 2 has no name"),
        ("a,a\n1,2\n", "two columns are named 'a'"),
    ],
)
def test_first_lines_that_are_no_names(header, text: str, words: str) -> None:
    with pytest.raises(DataError) as found:
        header(text)
    assert words in str(found.value)


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("text", "usual", "mark"),
    [
        ("a,b\n1,2\n", ",", ","),
        ("a;b\n1;2\n", ",", ";"),
        ("a|b\n1|2\n", ",", "|"),
        ("a\tb\n1\t2\n", ",", "\t"),
        ("\n\na;b\n\n1;2\n", ",", ";"),
        ("a;b\n1;2;3\n", ",", ","),
        ("a,b;c\n1;2\n", ",", ","),
        ("a;b\n", ",", ","),
        ("a,b\n1,2\n", "\t", ","),
    ],
)
def test_the_separator_is_another_one_only_if_it_splits_two_lines_alike(
    text: str, usual: str, mark: str, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text(text)
    assert find_separator(tmp_path / "t.csv", usual) == mark


def test_a_guess_at_the_separator(tmp_path: Path) -> None:
    for text, mark in (("a;b;c,d", ";"), ("a\tb", "\\t"), ("a b c", " "), ("abc", ",")):
        (tmp_path / "t.txt").write_text(text)
        assert suggested_mark(tmp_path / "t.txt") == mark


@pytest.mark.parametrize("options", [{}, {"separator": " "}])
@pytest.mark.parametrize(
    "text", ["x   y   z\n0.026   -1.033   1\n", "x      y       z\n-1.2   0.12    0.5\n"]
)
def test_runs_of_blanks_are_named_and_no_separator_is_advised(tmp_path, text, options):
    file = tmp_path / "t.csv"
    file.write_text(text)
    with pytest.raises(DataError, match=r"runs of blanks.*one comma or tab between cells"):
        dagora.read_table(file, **options)


def test_the_names_below_a_title_in_a_row_of_its_own_are_named(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("Report of 2024,,\nx,y,g\n-0.80,0.81,no\n-1.32,-1.70,no\n")
    with pytest.raises(DataError, match="which seem to stand in line 2"):
        dagora.read_table(file)
