"""The first line of delimited text: the names of the columns, and what it tells about the file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dagora.base.errors import DataError
from dagora.base.wording import option
from dagora.data.columns.column_names import check_names
from dagora.data.columns.names import UNNAMED
from dagora.data.text_encoding import UTF8, begins_in
from dagora.data.unpacking import open_bytes

MARKS = ((";", "';'"), ("\t", "a tab"), ("|", "'|'"), (",", "','"))


@dataclass(frozen=True, slots=True)
class Header:
    """The first line that is not blank: its names, how many blank lines stand before it, and its encoding."""

    names: tuple[str, ...]
    blank_lines: int
    encoding: str = UTF8


def read_header(file: Path, separator: str, encoding: str = UTF8) -> Header:
    """Read the names of the columns."""
    with io.TextIOWrapper(open_bytes(file), encoding=encoding, newline="") as text:
        lines: list[str] = []
        reader = csv.reader(remember_lines(text, lines), delimiter=separator)
        blank = first_line = 0
        for names in reader:
            if len(names) > 1 or (names and names[0].strip()):
                break
            blank += 1
            first_line = reader.line_num
        else:
            raise DataError("the file is empty: a header and rows are needed")
        quoted = "".join(lines[first_line:]).startswith(in_quotes(names[0]))
        following = next((row for row in reader if row), None)
    refuse_title(names)
    if not quoted:
        refuse_other_lines(names, following, separator)
    if following is None:
        raise DataError("there is a header but no rows: a line with names comes first, then a line per row")
    if len(names) > 1 and not names[0].strip():
        names[0] = f"{UNNAMED}: 0"  # where pandas or R wrote the row's number or name
    if len(names) > 1 and not names[-1].strip():
        names[-1] = f"{UNNAMED}: {len(names) - 1}"  # where every line ends with a separator
    return Header(check_names(names), blank, encoding)


def remember_lines(lines: Iterable[str], seen: list[str]) -> Iterator[str]:
    """Yield lines, and keep those that were taken."""
    for line in lines:
        seen.append(line)
        yield line


def in_quotes(cell: str) -> str:
    """Return a cell in quotes."""
    return '"' + cell.replace('"', '""') + '"'


def refuse_title(names: Sequence[str]) -> None:
    """Refuse a first line that is the title of a sheet.

    >>> refuse_title(["Survey of 2024", "", "", ""])
    Traceback (most recent call last):
    dagora.DataError: the first line, 'Survey of 2024', seems to be a title or a comment and ...
    """
    if len(names) > 2 and not any(name.strip() for name in names[1:]):
        raise not_names(names[0])


def refuse_other_lines(names: list[str], following: list[str] | None, separator: str) -> None:
    """Refuse a first line that seems not to be made of names; one whose first name is in quotes is."""
    if names[0].strip().lower().startswith("sep="):
        raise DataError(
            f"the first line, '{separator.join(names).strip()[:20]}', is one that Excel reads: remove it"
        )
    comment = names[0].lstrip().startswith("#") and len(following or ()) != len(names)
    if comment or (following and names[0].startswith("#") and following[0].startswith("#")):
        raise not_names(names[0])
    suggest_separator(names, following, separator)


def not_names(first: str) -> DataError:
    """The error for a first line that is a title or a comment."""
    return DataError(
        f"the first line, '{first.strip()[:60]}', seems to be a title or a comment and not the names "
        "of the columns: remove what stands above the names"
    )


def suggest_separator(names: list[str], following: list[str] | None, separator: str) -> None:
    """Refuse a file that seems to use another separator, which is in its names and in the next row."""
    for mark, title in MARKS:
        seen = sum(name.count(mark) for name in names)
        if mark != separator and seen >= len(names) and (following is None or mark in "".join(following)):
            shown = "\\t" if mark == "\t" else mark
            found = "there is only one column" if len(names) == 1 else f"there are {len(names)} columns"
            where = "its name" if len(names) == 1 else "their names"
            raise DataError(f"{found}, and {title} in {where}: try {option('separator', shown)}")
    if len(names) == 1 and following and len(following) == 1:
        blanks = names[0].strip().count(" ")
        if blanks and blanks == following[0].strip().count(" "):
            raise DataError(f"there is only one column, and blanks in it: try {option('separator', ' ')}")


def suggested_mark(file: Path) -> str:
    """Guess the separator of a text from its first line; a comma if nothing speaks for another."""
    with io.TextIOWrapper(open_bytes(file), encoding=begins_in(file), errors="replace") as text:
        first = text.readline(1 << 16).strip()
    counts = {mark: first.count(mark) for mark in (",", *(mark for mark, _ in MARKS), " ")}
    best = max(counts, key=counts.__getitem__)
    return "\\t" if best == "\t" else best


def find_separator(file: Path, usual: str) -> str:
    """The separator of a file: the usual one, unless only another splits the first two lines alike.

    A first line in which the usual one occurs is left to it.
    """
    if not file.is_file():  # a pipe cannot be read twice
        return usual
    encoding = begins_in(file)
    with io.TextIOWrapper(open_bytes(file), encoding=encoding, errors="replace", newline="") as text:
        lines = [line for line in (text.readline(1 << 20) for _ in range(20)) if line.strip()][:2]
    if len(lines) < 2 or usual in lines[0]:
        return usual
    for mark in (mark for mark, _ in MARKS if mark != usual):
        first, second = (next(csv.reader([line], delimiter=mark), []) for line in lines)
        if len(first) == len(second) > 1:
            return mark
    return usual
