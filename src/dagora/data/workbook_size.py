"""The size of a workbook, unpacked: what a parser would make of it, before one does.

A parser makes a grid up to the last cell that a sheet names, and a file of a kilobyte may name the cell
XFD1048576. It also writes out a text for each cell that refers to it. So a workbook is unpacked here once
before, piece by piece.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import IO
from xml.parsers import expat

import numpy as np

from dagora.base.errors import DataError
from dagora.base.files import CHUNK, UNPACKED_FREELY, UNPACKED_RATIO
from dagora.data.columns.frames import one_line

# A grid may always have so many cells, and so many for each byte of the file; all texts so many bytes.
GRID_FREELY, GRID_PER_BYTE = 1 << 23, 8
TEXTS_FREELY = 1 << 28
# A tag of a row or a cell that is not empty, with its place; a value that may be the number of a shared text.
PLACE = re.compile(
    rb"<(?:\w+:)?(?:c|row)\b[^>]*?\sr\s*=\s*[\"']([A-Z]{0,3})([0-9]{1,7})[\"'](?:[^>]*[^>/])?>"
)
VALUE = re.compile(rb"<(?:\w+:)?v\b[^>]*>\s*(?:([0-9]+)\s*<|[^<]*(&))")
SHARED = re.compile(rb"<(?:\w+:)?si\b")
OF_TABLES = "urn:oasis:names:tc:opendocument:xmlns:table:1.0"
OF_CELLS = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"


def check_workbook(file: Path) -> None:
    """Refuse a workbook that becomes far larger than it is."""
    if not zipfile.is_zipfile(file):
        return  # an old workbook, of at most 65,536 rows and 256 columns
    size = file.stat().st_size
    most = max(UNPACKED_FREELY, UNPACKED_RATIO * size)
    try:
        with zipfile.ZipFile(file) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > most:
                raise too_large(f"unpacks to more than {most >> 20} MiB")
            cells, texts = workbook_size(archive)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, expat.ExpatError) as problem:
        raise DataError(f"the workbook cannot be read, it may be damaged: {one_line(problem)}") from None
    if cells > max(GRID_FREELY, GRID_PER_BYTE * size):
        raise too_large(f"has a sheet of {cells} cells, most of them empty")
    if texts > max(TEXTS_FREELY, UNPACKED_RATIO * size):
        raise too_large(f"becomes {texts >> 20} MiB of text")


def workbook_size(archive: zipfile.ZipFile) -> tuple[int, int]:
    """Cells of the largest sheet, and bytes of all texts, written out."""
    names = [entry for entry in archive.infolist() if not entry.is_dir()]
    lengths: list[int] = []
    for name in names:
        with archive.open(name) as part:
            lengths += shared_lengths(part)
    known = np.array([*lengths, 0], dtype=np.int64)
    cells = texts = 0
    for name in names:
        with archive.open(name) as part:
            found = (
                OpenDocumentGrid().read(part) if name.filename == "content.xml" else sheet_size(part, known)
            )
        cells, texts = max(cells, found[0]), texts + found[1]
    return cells, texts


def shared_lengths(part: IO[bytes]) -> list[int]:
    """Bytes of the texts that cells of a workbook share, at most."""
    starts: list[int] = []
    place, before = 0, b""
    while piece := part.read(CHUNK):
        starts += [place - len(before) + found.start() for found in SHARED.finditer(before + piece)]
        place += len(piece)
        before = piece[-8:]
    starts = sorted(set(starts))
    return [second - first for first, second in pairwise([*starts, place])] if starts else []


def sheet_size(part: IO[bytes], shared: np.ndarray[tuple[int], np.dtype[np.int64]]) -> tuple[int, int]:
    """Cells of the grid that a part of a workbook describes, and bytes of the shared texts in it."""
    last_row = last_column = texts = 0
    for piece in tags_of(part):
        for letters, digits in PLACE.findall(piece):
            last_row, last_column = max(last_row, int(digits)), max(last_column, column_number(letters))
        values = VALUE.findall(piece)
        numbers = np.array([int(digits[:18]) for digits, _ in values if digits], dtype=np.int64)
        texts += int(shared[np.minimum(numbers, len(shared) - 1)].sum())
        texts += sum(bool(odd) for _, odd in values) * int(shared.max())
    return last_row * last_column, texts


def tags_of(part: IO[bytes]) -> Iterator[bytes]:
    """The content of a part in pieces, each up to the beginning of its last tags."""
    before = b""
    while piece := part.read(CHUNK):
        whole = before + piece
        end = whole.rfind(b"<", 0, max(whole.rfind(b"<"), 0))
        yield whole[: max(end, 0)]
        before = whole[max(end, 0) :]
    yield before


def column_number(letters: bytes) -> int:
    """The number of a column by its letters.

    >>> column_number(b"A"), column_number(b"XFD")
    (1, 16384)
    """
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


class OpenDocumentGrid:
    """The largest grid of an OpenDocument file, in which a cell or row may say how often it is repeated."""

    def __init__(self) -> None:
        self._row = self._column = self._width = self._cells = self._texts = 0
        self._repeated_rows = self._repeats = 1

    def read(self, part: IO[bytes]) -> tuple[int, int]:
        """Cells of the largest sheet, and bytes of texts, each as often as it is repeated."""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartElementHandler, parser.CharacterDataHandler = self._begin, self._hear
        while piece := part.read(CHUNK):
            parser.Parse(piece)
        parser.Parse(b"", True)
        return self._cells, self._texts

    def _begin(self, name: str, about: dict[str, str]) -> None:
        if name == f"{OF_TABLES} table":
            self._row = self._width = 0
        elif name == f"{OF_TABLES} table-row":
            self._repeated_rows = number_in(about, "number-rows-repeated")
            self._row, self._column = self._row + self._repeated_rows, 0
        elif name in (f"{OF_TABLES} table-cell", f"{OF_TABLES} covered-table-cell"):
            columns = number_in(about, "number-columns-repeated")
            self._column += columns
            self._repeats = columns * self._repeated_rows
            if f"{OF_CELLS} value-type" in about:
                self._width = max(self._width, self._column)
                self._cells = max(self._cells, self._row * self._width)
                self._texts += self._repeats * sum(map(len, about.values()))

    def _hear(self, text: str) -> None:
        self._texts += self._repeats * len(text)


def number_in(about: dict[str, str], name: str) -> int:
    """The number of times that a row or cell is repeated."""
    said = about.get(f"{OF_TABLES} {name}", "1")
    return int(said) if said.isdecimal() and len(said) < 10 else 1


def too_large(why: str) -> DataError:
    """The error about a workbook that is far larger than it looks."""
    return DataError(f"the workbook {why}: if you trust it, save the sheet as CSV and give that file")
