"""Messages as bytes: named values in a small strict binary format, never pickled code.

A message is a dict from text to None, bool, int (of any size), float, text, bytes, lists and dicts of these,
and NumPy arrays of fixed types. After the magic "dgm1" each value is one letter and its content, all numbers
little endian:

    n t f                                                    None, True, False
    i length u32, two's complement (as short as can be)      d float64
    s length u32, UTF-8                                      b length u64, bytes
    l count u32, values                                      m count u32, (length u16, UTF-8, value)*
    a type u8, dimensions u8, (size u64)*, elements in C order

There is only one way to write a message, so equal messages have equal bytes. Everything else is refused with
a `ProtocolError` before memory is allocated for it. Two things are refused though they could be read:

- Many small values. Python needs far more memory for one than its bytes on the wire, so what a message may
  become is limited to a few times its size (`MULTIPLE`, beyond `FREE_BYTES`). Bulk belongs in arrays.
- Text with control characters. Names and levels of a peer end up on a screen or in a log.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import ProtocolError
from dagora.base.phrases import hidden_controls

Value = None | bool | int | float | str | bytes | list[Any] | dict[str, Any] | NDArray[Any]

MAGIC = b"dgm1"
# Limits on what a peer may send: no message of ours comes near them, and a hostile one is refused before
# memory is taken for it.
MAX_DEPTH = 16
MAX_DIMENSIONS = 8
MAX_INT_BYTES = 1 << 16
MAX_KEY_BYTES = 1 << 12
MAX_ELEMENTS = 1 << 40
FREE_BYTES = 1 << 23
MULTIPLE = 4
# Bytes that Python takes for a value beyond its content, rounded up: with its place in a list; in a dict.
VALUE_BYTES = 80
NAMED_BYTES = 240
ARRAY_BYTES = 480

_DTYPES = tuple(
    np.dtype(code) for code in ("|b1", "|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f4", "<f8")
)
_CODES = {dtype: code for code, dtype in enumerate(_DTYPES)}

_U16, _U32, _U64, _F64 = (struct.Struct(code) for code in ("<H", "<I", "<Q", "<d"))


@dataclass(frozen=True, slots=True)
class Array:
    """The required type of an array field and, where known, its sizes (None allows any size).

    >>> Array("f8", (None, 3)).describe()
    'an array of float64 of shape (any, 3)'
    """

    dtype: str
    shape: tuple[int | None, ...] | None = None

    def accepts(self, value: object) -> bool:
        """Return True if a value is such an array."""
        if not isinstance(value, np.ndarray) or value.dtype != np.dtype(self.dtype):
            return False
        if self.shape is None:
            return True
        sizes = zip(self.shape, value.shape, strict=False)
        return len(self.shape) == value.ndim and all(want in (None, size) for want, size in sizes)

    def describe(self) -> str:
        """Describe it in words."""
        if self.shape is None:
            return f"an array of {np.dtype(self.dtype)}"
        sizes = ", ".join("any" if size is None else str(size) for size in self.shape)
        return f"an array of {np.dtype(self.dtype)} of shape ({sizes})"


# What a field must be: a Python type, or an array.
Field = type | Array

_BOOLS, _INTS, _FLOATS = (bool, np.bool_), (int, np.integer), (float, np.floating)
_BYTES, _LISTS = (bytes, bytearray, memoryview), (list, tuple)

_WORDS = {bool: "true or false", int: "an integer", float: "a number", str: "text", bytes: "bytes"}
_WORDS |= {list: "a list", dict: "named values", type(None): "nothing"}


def encode(message: Mapping[str, Value]) -> bytes:
    """Return a message as bytes.

    >>> len(encode({"n": 3}))
    18
    """
    parts: list[bytes | memoryview] = [MAGIC]
    _encode(dict(message), parts, 0)
    return b"".join(parts)


def decode(
    payload: bytes, fields: Mapping[str, Field] | None = None, *, what: str = "a message"
) -> dict[str, Any]:
    """Read a message; with `fields`, it must have exactly these, of these types.

    Arrays are fresh, writable copies. `what` begins an error's message and should name the sender and the
    tag.

    >>> decode(encode({"n": 3, "sums": np.arange(2.0)}), {"n": int, "sums": Array("f8", (None,))})
    {'n': 3, 'sums': array([0., 1.])}
    >>> decode(encode({"n": "many"}), {"n": int}, what="party 'b', 'sums'")
    Traceback (most recent call last):
    dagora.ProtocolError: party 'b', 'sums': 'n' must be an integer
    """
    try:
        message = _Reader(memoryview(payload).cast("B")).message()
    except ProtocolError as error:
        raise ProtocolError(f"{what}: {error}") from None
    if fields is not None:
        check_fields(message, fields, what=what)
    return message


def check_fields(message: Mapping[str, Value], fields: Mapping[str, Field], *, what: str) -> None:
    """Refuse a message that does not have exactly these fields, of these types."""
    try:
        _check(message, fields)
    except ProtocolError as error:
        raise ProtocolError(f"{what}: {error}") from None


def _check(message: Mapping[str, Value], fields: Mapping[str, Field]) -> None:
    for name in fields:
        if name not in message:
            raise ProtocolError(f"'{name}' is missing")
    for name, value in message.items():
        if name not in fields:
            raise ProtocolError(f"holds an unknown field {name[:40]!r}")
        field = fields[name]
        if isinstance(field, Array):
            if not field.accepts(value):
                raise ProtocolError(f"'{name}' must be {field.describe()}")
        # Python counts True as an int; here it is not one.
        elif type(value) is not field:
            raise ProtocolError(f"'{name}' must be {_WORDS.get(field, field.__name__)}")


def _encode(value: object, parts: list[bytes | memoryview], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise ProtocolError(f"a message can be nested at most {MAX_DEPTH} deep")
    if value is None:
        parts.append(b"n")
    elif isinstance(value, _BOOLS):
        parts.append(b"t" if value else b"f")
    elif isinstance(value, _INTS):
        content = _int_bytes(int(value))
        if len(content) > MAX_INT_BYTES:
            raise ProtocolError(f"an integer in a message can have at most {MAX_INT_BYTES} bytes")
        parts += [b"i", _U32.pack(len(content)), content]
    elif isinstance(value, _FLOATS):
        parts += [b"d", _F64.pack(float(value))]
    elif isinstance(value, str):
        content = _text_bytes(value)
        parts += [b"s", _U32.pack(len(content)), content]
    elif isinstance(value, _BYTES):
        view = memoryview(value).cast("B")
        parts += [b"b", _U64.pack(len(view)), view]
    elif isinstance(value, np.ndarray):
        _encode_array(value, parts)
    elif isinstance(value, _LISTS):
        parts += [b"l", _U32.pack(len(value))]
        for item in value:
            _encode(item, parts, depth + 1)
    elif isinstance(value, dict):
        _encode_dict(value, parts, depth)
    else:
        raise ProtocolError(f"a message cannot hold a {type(value).__name__}")


def _encode_dict(value: dict[object, object], parts: list[bytes | memoryview], depth: int) -> None:
    parts += [b"m", _U32.pack(len(value))]
    for key, item in value.items():
        content = _text_bytes(key) if isinstance(key, str) else b""
        if not isinstance(key, str) or len(content) > MAX_KEY_BYTES:
            raise ProtocolError("the names in a message are short texts")
        parts += [_U16.pack(len(content)), content]
        _encode(item, parts, depth + 1)


def _encode_array(array: NDArray[Any], parts: list[bytes | memoryview]) -> None:
    dtype = array.dtype.newbyteorder("<") if array.dtype.itemsize > 1 else array.dtype
    if dtype not in _CODES:
        raise ProtocolError(f"a message cannot hold an array of {array.dtype}")
    if array.ndim > MAX_DIMENSIONS:
        raise ProtocolError(f"an array in a message can have at most {MAX_DIMENSIONS} dimensions")
    parts += [b"a", bytes((_CODES[dtype], array.ndim)), *(_U64.pack(size) for size in array.shape)]
    if array.size:
        flat = np.ascontiguousarray(array, dtype=dtype).reshape(-1)
        parts.append(flat.data.cast("B"))


def _int_bytes(value: int) -> bytes:
    # bit_length of the complement counts the sign right for negative powers of two.
    bits = (value if value >= 0 else ~value).bit_length()
    return value.to_bytes(bits // 8 + 1, "little", signed=True)


def _text_bytes(text: str) -> bytes:
    if controls := hidden_controls(text):
        raise ProtocolError(
            f"a text with the control character {controls[0]} cannot be sent: rename the column or level"
        )
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ProtocolError("a text in a message cannot be written as UTF-8") from None


class _Reader:
    """Reads one value after the other, never past the end."""

    def __init__(self, view: memoryview) -> None:
        self._view = view
        self._position = 0
        self._room = FREE_BYTES + MULTIPLE * len(view)

    def message(self) -> dict[str, Any]:
        if bytes(self._take(len(MAGIC))) != MAGIC or bytes(self._view[4:5]) != b"m":
            raise ProtocolError("is not a message of dagora")
        message = self._value(0)
        if self._remaining():
            raise ProtocolError(f"{self._remaining()} bytes too many")
        assert isinstance(message, dict)
        return message

    def _remaining(self) -> int:
        return len(self._view) - self._position

    def _take(self, size: int) -> memoryview:
        begin = self._advance(size)
        return self._view[begin : begin + size]

    def _advance(self, size: int) -> int:
        """Step over some bytes; return where they begin."""
        begin = self._position
        if size > len(self._view) - begin:
            raise ProtocolError("is cut short")
        self._position = begin + size
        return begin

    def _spend(self, size: int) -> None:
        """Account for memory before it is taken."""
        self._room -= size
        if self._room < 0:
            raise ProtocolError("holds many small values, which take far more memory than a message may")

    def _number(self, layout: struct.Struct) -> int:
        (number,) = layout.unpack_from(self._view, self._advance(layout.size))
        return int(number)

    def _value(self, depth: int) -> Value:
        if depth > MAX_DEPTH:
            raise ProtocolError(f"is nested more than {MAX_DEPTH} deep")
        letter = bytes(self._take(1))
        self._spend(VALUE_BYTES)
        if letter in b"ntf":
            return {b"n": None, b"t": True, b"f": False}[letter]
        if letter == b"i":
            return self._int()
        if letter == b"d":
            return float(_F64.unpack(self._take(8))[0])
        if letter == b"s":
            return self._text(self._number(_U32))
        if letter == b"b":
            content = self._take(self._number(_U64))
            self._spend(len(content))
            return bytes(content)
        if letter == b"l":
            return [self._value(depth + 1) for _ in range(self._count(1))]
        if letter == b"m":
            return self._dict(depth)
        if letter == b"a":
            return self._array()
        raise ProtocolError(f"holds a value of unknown kind {letter!r}")

    def _count(self, least: int) -> int:
        count = self._number(_U32)
        if count * least > self._remaining():
            raise ProtocolError("is cut short")
        return count

    def _int(self) -> int:
        length = self._number(_U32)
        if not 0 < length <= MAX_INT_BYTES:
            raise ProtocolError(f"holds an integer of {length} bytes")
        content = bytes(self._take(length))
        self._spend(2 * length)
        value = int.from_bytes(content, "little", signed=True)
        if _int_bytes(value) != content:
            raise ProtocolError("holds an integer with more bytes than it needs")
        return value

    def _text(self, length: int) -> str:
        content = bytes(self._take(length))
        # One character beyond ASCII can make all of them wide, and room is taken before that is known.
        self._spend(length if content.isascii() else 6 * length)
        try:
            text = content.decode()
        except UnicodeDecodeError:
            raise ProtocolError("holds a text that is not UTF-8") from None
        if controls := hidden_controls(text):
            raise ProtocolError(f"holds a text with the control character {controls[0]}")
        return text

    def _dict(self, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for _ in range(self._count(3)):
            length = self._number(_U16)
            if length > MAX_KEY_BYTES:
                raise ProtocolError("holds a name that is too long")
            self._spend(NAMED_BYTES)
            key = self._text(length)
            if key in result:
                raise ProtocolError(f"names {key[:40]!r} twice")
            result[key] = self._value(depth + 1)
        return result

    def _array(self) -> NDArray[Any]:
        code, dimensions = self._take(2)
        if code >= len(_DTYPES) or dimensions > MAX_DIMENSIONS:
            raise ProtocolError("holds an array of unknown type or too many dimensions")
        shape = tuple(self._number(_U64) for _ in range(dimensions))
        # A size of zero elsewhere does not allow sizes that NumPy cannot hold.
        if prod(max(size, 1) for size in shape) > MAX_ELEMENTS:
            raise ProtocolError("holds an array that is too large")
        dtype = _DTYPES[code]
        self._spend(ARRAY_BYTES + prod(shape) * dtype.itemsize)
        raw = np.frombuffer(self._take(prod(shape) * dtype.itemsize), dtype=np.uint8)
        if dtype == np.bool_ and raw.size and raw.max() > 1:
            raise ProtocolError("holds a boolean that is neither 0 nor 1")
        # The copy is aligned and writable, as compiled kernels expect.
        return raw.copy().view(dtype).reshape(shape)
