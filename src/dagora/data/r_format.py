"""The format in which R saves objects (saveRDS and save), as far as data frames need it.

An object is a number that says its kind, then its content and perhaps its attributes ("R Internals", section
1.8, Serialization Formats). Numbers are big-endian (XDR). Whatever a data frame may carry along, such as
formulas and environments, is read over. The package pyreadr would read it too, but its licence is the AGPL.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.base.files import CHUNK

# Kinds of objects.
SYMBOL, PAIRS, CLOSURE, ENVIRONMENT, PROMISE, CALL, SPECIAL, BUILTIN = 1, 2, 3, 4, 5, 6, 7, 8
CHARACTERS, LOGICAL, INTEGER, REAL, COMPLEX, STRINGS, DOTS = 9, 10, 13, 14, 15, 16, 17
LIST, EXPRESSION, POINTER, WEAK, RAW, S4 = 19, 20, 22, 23, 24, 25
ALTERNATIVE, CALL_WITH_ATTRIBUTES, PAIRS_WITH_ATTRIBUTES = 238, 239, 240
NAMESPACE, PACKAGE, PERSISTENT, REFERENCE = 249, 248, 247, 255
NOTHING = frozenset({254, 253, 252, 251, 250, 242, 241})  # NULL, well-known environments and the like
CHAINS = frozenset({PAIRS, CLOSURE, PROMISE, CALL, DOTS, CALL_WITH_ATTRIBUTES, PAIRS_WITH_ATTRIBUTES})
NUMBERS = {LOGICAL: ">i4", INTEGER: ">i4", REAL: ">f8", COMPLEX: ">c16", RAW: "u1"}
# Flags beside the kind.
HAS_ATTRIBUTES, HAS_TAG = 1 << 9, 1 << 10
LATIN1, UTF8 = 1 << 2, 1 << 3

MISSING_INTEGER = -(2**31)
DEEPEST = 200  # levels, each of four calls within Python, which permits 1000
MOST_EXPANDED = 1 << 27  # values that a sequence may stand for


@dataclass
class RObject:
    """An object of R: its kind, its value, and its attributes by name."""

    kind: int
    value: Any
    attributes: dict[str, RObject] = field(default_factory=dict)

    def texts(self, attribute: str) -> list[str]:
        """The texts of an attribute; none where it is missing."""
        found = self.attributes.get(attribute)
        return [] if found is None or found.kind != STRINGS else [text or "" for text in found.value]

    def inherits(self, name: str) -> bool:
        """Return True if this is one of its classes."""
        return name in self.texts("class")


Pairs = list[tuple[str | None, RObject]]


def parse_object(stream: BinaryIO) -> RObject:
    """The object that a stream begins with; what is damaged is refused."""
    try:
        return _Parser(stream).whole()
    except (EOFError, struct.error, IndexError, UnicodeDecodeError, AttributeError, TypeError, ValueError):
        raise DataError("the file is damaged, or cut short: save it again in R") from None


class _Parser:
    """Reads one object after the other; symbols and environments may be referred to later."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._known: list[RObject] = []
        self._texts: dict[tuple[bytes, str], str] = {}
        self._native = "utf-8"

    def whole(self) -> RObject:
        """The object behind the header."""
        form = self._take(2)
        if form != b"X\n":
            raise DataError("the file is not in R's binary format: in R, saveRDS(data, file) writes it")
        version, _, _ = self._integer(), self._integer(), self._integer()
        if version == 3:
            self._native = self._take(self._integer()).decode("ascii").lower()
        elif version != 2:
            raise DataError(f"the file is in version {version} of R's format, and 2 and 3 are known")
        return self._object(0)

    def _take(self, size: int) -> bytes:
        if size < 0:
            raise EOFError
        pieces = []
        while size:  # in pieces, as a damaged file may state any size
            piece = self._stream.read(min(size, CHUNK))
            if not piece:
                raise EOFError
            pieces.append(piece)
            size -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _integer(self) -> int:
        return int(struct.unpack(">i", self._take(4))[0])

    def _length(self) -> int:
        size = self._integer()
        return size if size != -1 else (self._integer() << 32) + (self._integer() & 0xFFFFFFFF)

    def _object(self, depth: int) -> RObject:
        return self._rest(self._integer(), depth)

    def _rest(self, flags: int, depth: int) -> RObject:
        """The object whose kind and flags were read."""
        if depth > DEEPEST:
            raise DataError("the file is damaged: its lists are nested too deeply")
        kind = flags & 0xFF
        if kind in NOTHING:
            return RObject(254, None)
        if kind == REFERENCE:
            return self._known[(flags >> 8 or self._integer()) - 1]
        if kind in CHAINS:
            return RObject(kind, self._pairs(flags, depth))
        if kind == CHARACTERS:
            return RObject(kind, self._characters(flags >> 12))
        if kind == ALTERNATIVE:
            return self._alternative(depth)
        if kind in (SYMBOL, ENVIRONMENT, NAMESPACE, PACKAGE, PERSISTENT, POINTER, WEAK):
            return self._referable(kind, flags, depth)
        found = RObject(kind, self._content(kind, depth))
        if flags & HAS_ATTRIBUTES:
            found.attributes = self._attributes(depth)
        return found

    def _content(self, kind: int, depth: int) -> Any:  # noqa: ANN401 (of any kind)
        if kind in NUMBERS:
            form = np.dtype(NUMBERS[kind])
            return np.frombuffer(self._take(self._length() * form.itemsize), form)
        if kind == STRINGS:
            return list(self._strings(self._length()))
        if kind in (LIST, EXPRESSION):
            return [self._object(depth + 1) for _ in range(self._length())]
        if kind in (SPECIAL, BUILTIN):
            return self._take(self._integer())
        if kind == S4:
            return None
        raise DataError("the file holds more than data: in R, saveRDS(data, file) saves a data frame alone")

    def _strings(self, number: int) -> Iterator[str | None]:
        for _ in range(number):
            flags = self._integer()
            if flags & 0xFF != CHARACTERS:
                raise EOFError
            yield self._characters(flags >> 12)

    def _characters(self, encoding: int) -> str | None:
        size = self._integer()
        if size == -1:
            return None
        raw = self._take(size) if size else b""
        name = "cp1252" if encoding & LATIN1 else "utf-8" if encoding & UTF8 else self._native
        if (raw, name) not in self._texts:
            self._texts[raw, name] = decode(raw, name)
        return self._texts[raw, name]

    def _attributes(self, depth: int) -> dict[str, RObject]:
        found = self._object(depth + 1)
        return {tag: value for tag, value in found.value or () if tag is not None}

    def _pairs(self, flags: int, depth: int) -> Pairs:
        """A chain of pairs: its attributes are read over, its last link may be any object."""
        found: Pairs = []
        while (kind := flags & 0xFF) in CHAINS:
            if flags & HAS_ATTRIBUTES or kind in (CALL_WITH_ATTRIBUTES, PAIRS_WITH_ATTRIBUTES):
                self._object(depth + 1)
            tag = self._object(depth + 1).value if flags & HAS_TAG else None
            found.append((tag, self._object(depth + 1)))
            flags = self._integer()
        if kind not in NOTHING:
            found.append((None, self._rest(flags, depth + 1)))
        return found

    def _referable(self, kind: int, flags: int, depth: int) -> RObject:
        found = RObject(kind, None)
        if kind == SYMBOL:
            found.value = self._object(depth + 1).value
        elif kind in (NAMESPACE, PACKAGE, PERSISTENT):
            self._integer()
            list(self._strings(self._integer()))
        self._known.append(found)
        if kind == ENVIRONMENT:
            self._integer()
            for _ in range(4):
                self._object(depth + 1)
        elif kind == POINTER:
            self._object(depth + 1), self._object(depth + 1)
        if kind in (POINTER, WEAK) and flags & HAS_ATTRIBUTES:
            self._attributes(depth)
        return found

    def _alternative(self, depth: int) -> RObject:
        """A vector in another form: a sequence by its ends, numbers that become text, or a wrapped vector."""
        about, state = self._object(depth + 1).value, self._object(depth + 1)
        attributes = self._object(depth + 1).value or ()
        name = about[0][1].value
        if name in ("compact_intseq", "compact_realseq"):
            number, first, step = state.value
            if not 0 <= number <= MOST_EXPANDED:
                raise DataError(f"the file is damaged: it states a sequence of {number:.0f} numbers")
            values = first + step * np.arange(int(number))
            found = RObject(INTEGER if name == "compact_intseq" else REAL, values)
        elif name == "deferred_string":
            found = RObject(STRINGS, texts_of(state.value[0][1]))
        elif str(name).startswith("wrap_"):
            first = state.value[0]
            found = first[1] if isinstance(first, tuple) else first
            found = RObject(found.kind, found.value, dict(found.attributes))
        else:
            raise DataError(f"the file holds a vector in a form that is not known ({name})")
        found.attributes |= {tag: value for tag, value in attributes if tag is not None}
        return found


def decode(raw: bytes, encoding: str) -> str:
    """Text of an encoding that R names; cp1252 where it is none, or is not known."""
    try:
        return raw.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return raw.decode("cp1252")


def texts_of(numbers: RObject) -> list[str | None]:
    """Numbers as R writes them."""
    values: NDArray[Any] = numbers.value
    if numbers.kind == INTEGER:
        return [None if value == MISSING_INTEGER else str(int(value)) for value in values]
    return [None if np.isnan(value) else f"{value:.15g}" for value in values]
