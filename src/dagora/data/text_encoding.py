"""The encoding of a text file: UTF-8, UTF-16 by its mark or its zeros, or else cp1252, that of Windows."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from dagora.base.errors import DataError
from dagora.base.files import CHUNK
from dagora.data.foreign_files import LOOK, two_bytes_a_letter
from dagora.data.unpacking import open_bytes

UTF8, WINDOWS = "utf-8-sig", "cp1252"
# Zero never stands in text, and cp1252 leaves five bytes undefined.
NO_TEXT = re.compile(rb"[\x00\x81\x8d\x8f\x90\x9d]")
IN_UTF8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
WORD = re.compile(rb"[0-9A-Za-z\x80-\xff]*[\x80-\xff][0-9A-Za-z\x80-\xff]*")
ASCII = bytes(range(128))
LONGEST_WORD = 30


def begins_in(file: Path) -> str:
    """The encoding that the beginning of a file shows; UTF-8 where it shows none, and of a pipe."""
    if not file.is_file():
        return UTF8
    with open_bytes(file) as handle:
        return two_bytes_a_letter(handle.read(LOOK)) or UTF8


def encoding_of(file: Path) -> str:
    """The encoding of a file, which is read to its end; text in none of the known ones is refused."""
    encoding = begins_in(file)
    if encoding != UTF8 or not file.is_file():
        return encoding
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with open_bytes(file) as handle:
            while piece := handle.read(CHUNK):
                decoder.decode(piece)
        decoder.decode(b"", True)
    except UnicodeDecodeError:
        check_windows(file)
        return WINDOWS
    return UTF8


def check_windows(file: Path) -> None:
    """Refuse text that is not UTF-8 and cannot be cp1252 either, or is UTF-8 but for a few letters."""
    lines = in_utf8 = others = 0
    first_odd: int | None = None
    with open_bytes(file) as handle:
        while piece := handle.read(CHUNK):
            wrong = NO_TEXT.search(piece)
            if wrong is not None:
                line = lines + piece.count(b"\n", 0, wrong.start()) + 1
                raise DataError(
                    f"line {line} has a byte ({piece[wrong.start()]:#04x}) that is neither UTF-8 nor "
                    f"{WINDOWS}: save the file as UTF-8"
                )
            found = IN_UTF8.findall(piece)
            in_utf8 += len(found)
            odd = len(piece.translate(None, ASCII)) - sum(map(len, found))
            if odd and first_odd is None:
                first_odd = lines + piece.count(b"\n", 0, odd_place(piece)) + 1
            others += odd
            lines += piece.count(b"\n")
    if in_utf8 > others:
        raise DataError(
            f"line {first_odd} is not in UTF-8, though the text is elsewhere: correct that line, or save the "
            "whole file as UTF-8"
        )


def odd_place(piece: bytes) -> int:
    """The place of the first byte that is not UTF-8."""
    try:
        piece.decode()
    except UnicodeDecodeError as problem:
        return problem.start
    return len(piece)


def encoding_note(file: Path, encoding: str) -> str | None:
    """A sentence on the encoding that was taken; None for UTF-8."""
    if encoding == UTF8:
        return None
    if encoding != WINDOWS:
        return f"the text is read as {encoding.upper()}"
    taken = f"{WINDOWS}{example(file)}"
    return f"the text is not UTF-8, and is read as {taken}: if letters look wrong, save it as UTF-8"


def example(file: Path) -> str:
    """A word of a file that shows the encoding."""
    with open_bytes(file) as handle:
        while piece := handle.read(CHUNK):
            if found := WORD.search(piece):
                word = found.group()[:LONGEST_WORD].decode(WINDOWS, errors="replace")
                return f" (as in '{word}')"
    return ""
