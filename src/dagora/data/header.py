"""The first line of delimited text: the names of the columns, and what it tells about the file."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from dagora.base.errors import DataError
from dagora.base.wording import option
from dagora.data.columns.column_names import check_names
from dagora.data.columns.levels import IS_NUMBER
from dagora.data.columns.names import UNNAMED
from dagora.data.text_encoding import UTF8, begins_in
from dagora.data.unpacking import open_bytes

LOOK = 20  # rows that tell where the names stand
RUNS_OF_BLANKS = (
    "runs of blanks, as in a table that is aligned for the eye: write it with one comma or tab between cells"
)
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
        below = list(rows_below(reader, names))
    rows = [row for _, row in below]
    following = rows[0] if rows else None
    refuse_title(names, below)
    if separator == " " and not all(map(str.strip, names)):
        raise DataError(f"names stand between {RUNS_OF_BLANKS}")
    if not quoted:
        refuse_other_lines(names, following, separator)
    above = rows_above_names([names, *rows], separator)
    if above:
        raise not_names(names[0], below[above - 1][0])
    refuse_merged_names(names, rows)
    if not quoted:
        suggest_separator(names, following, separator)
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


def refuse_title(names: Sequence[str], below: Sequence[tuple[int, list[str]]] = ()) -> None:
    """Refuse a first line that is the title of a sheet; the names may stand in one of the rows below.

    >>> refuse_title(["Survey of 2024", "", "", ""])
    Traceback (most recent call last):
    dagora.DataError: the first line, 'Survey of 2024', seems to be a title or a comment and ...
    """
    if len(names) > 2 and not any(name.strip() for name in names[1:]):
        line = next((line for line, row in below if len(row) == len(names) and like_names(row)), None)
        raise not_names(names[0], line)


def refuse_other_lines(names: list[str], following: list[str] | None, separator: str) -> None:
    """Refuse a first line that is a comment, or meant for Excel; one whose first name is in quotes is not."""
    if names[0].strip().lower().startswith("sep="):
        raise DataError(
            f"the first line, '{separator.join(names).strip()[:20]}', is one that Excel reads: remove it"
        )
    comment = names[0].lstrip().startswith("#") and len(following or ()) != len(names)
    if comment or (following and names[0].startswith("#") and following[0].startswith("#")):
        raise not_names(names[0])


def not_names(first: str, line: int | None = None) -> DataError:
    """The error for a first line that is a title or a comment; the names seem to stand in another one."""
    where = "" if line is None else f", which seem to stand in line {line}"
    return DataError(
        f"the first line, '{first.strip()[:60]}', seems to be a title or a comment and not the names "
        f"of the columns: remove what stands above the names{where}"
    )


def rows_below(reader: Any, names: Sequence[str]) -> Iterator[tuple[int, list[str]]]:  # noqa: ANN401
    """The row below the names, and some more where it tells that the names are none, each with its line."""
    row = next(filter(None, reader), None)
    if row is None:
        return
    yield reader.line_num, row
    more = LOOK if len(names) == 1 or len(names) < len(row) or not all(map(str.strip, names[1:])) else 0
    with contextlib.suppress(csv.Error):  # Arrow is to read the rows
        for row in islice(filter(None, reader), more):
            yield reader.line_num, row


def rows_above_names(rows: Sequence[list[str]], separator: str) -> int:
    """The number of rows that stand above the names: those that are shorter than all that follow.

    A first row that is one cell shorter has no name for the names of rows, as R writes it.

    >>> rows_above_names([["Export of 2024"], ["by", "Ann"], ["id", "age", "sex"], ["1", "20", "f"]], ",")
    2
    >>> rows_above_names([["Export of 2024"], ["id;age"], ["1;20"]], ",")
    1
    """
    for mark in (separator, *(mark for mark, _ in MARKS if mark != separator)):
        split = [row if mark == separator else separator.join(row).split(mark) for row in rows]
        widths = [len(row) for row in split]
        above = next((k for k, width in enumerate(widths) if width == widths[-1]), 0)
        if (
            not 0 < above < len(rows) - 1
            or set(widths[above:]) != {widths[-1]}
            or not like_names(split[above])
        ):
            continue
        by_rows = (
            above == 1 and widths[0] == widths[1] - 1 and (widths[0] > 1 or " " not in rows[0][0].strip())
        )
        if max(widths[:above]) < widths[-1] and not by_rows:
            return above
    return 0


def like_names(cells: Sequence[str]) -> bool:
    """Return True if cells may be names of columns: different texts, none of them a number.

    >>> like_names(["id", "age"]), like_names(["Ann", "20"]), like_names(["id", ""])
    (True, False, False)
    """
    texts = [cell.strip() for cell in cells]
    return all(texts) and len({*texts}) == len(texts) and not any(map(IS_NUMBER.fullmatch, texts))


def refuse_merged_names(names: Sequence[str], below: Sequence[Sequence[str]]) -> None:
    """Refuse names with blanks between them where the next row has the names, as below merged cells.

    >>> refuse_merged_names(["id", "Blood", ""], [["id", "Hb", "Na"], ["1", "14.1", "139"]])
    Traceback (most recent call last):
    dagora.DataError: column 3 has no name in the first line, and the next line seems to have the names: ...
    """
    blank = next((place for place, name in enumerate(names) if place and not name.strip()), None)
    if blank is None or len(below) < 2 or len(below[0]) != len(names):
        return
    if like_names(below[0]) and any(map(IS_NUMBER.fullmatch, (cell.strip() for cell in below[1]))):
        raise DataError(
            f"column {blank + 1} has no name in the first line, and the next line seems to have the names: "
            "if cells were merged above them, remove the first line"
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
        first, second = names[0].strip(), following[0].strip()
        if "  " in first + second and len(first.split()) == len(second.split()) > 1:
            raise DataError(f"there is only one column, with {RUNS_OF_BLANKS}")
        blanks = first.count(" ")
        if blanks and blanks == second.count(" "):
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
