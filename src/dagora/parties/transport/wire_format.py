"""The frame of a message on the wire: a fixed header, the tag, the payload.

    magic "dgra" | version u8 | kind u8 | tag length u16 | sequence u64 | payload length u64

The header has 24 bytes, little endian. Every length is checked before memory is allocated for it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

from dagora.base.errors import ProtocolError
from dagora.parties.transport.transport import MAX_REASON, MAX_TAG, MessageLimits

MAGIC = b"dgra"
VERSION = 1
HEADER = struct.Struct("<4sBBHQQ")
# Until the run begins, a peer says hello, welcome or why it leaves: none of them is a message.
BEFORE_THE_RUN = MessageLimits(message_bytes=0)


class FrameKind(IntEnum):
    """The purpose of a frame."""

    HELLO = 1  # a connector has checked the listener's name
    WELCOME = 2  # the listener has all its parties; the run begins
    MESSAGE = 3
    GOODBYE = 4  # the last frame of a party that ended well
    ABORT = 5  # the last frame of a party that cannot go on; the payload is its reason


@dataclass(frozen=True, slots=True)
class FrameHeader:
    """The first 24 bytes of a frame."""

    kind: FrameKind
    tag_length: int
    sequence: int
    payload_length: int


def wire_size(tag: bytes, payload: int) -> int:
    """Bytes of a whole frame.

    >>> wire_size(b"sums", 100)
    128
    """
    return HEADER.size + len(tag) + payload


def pack(kind: FrameKind, tag: bytes = b"", sequence: int = 0, payload_length: int = 0) -> bytes:
    """Return header and tag of a frame."""
    return HEADER.pack(MAGIC, VERSION, kind, len(tag), sequence, payload_length) + tag


def parse(raw: bytes | bytearray, limits: MessageLimits) -> FrameHeader:
    """Read a header and check its limits; an error's text is made to follow "party 'x' ".

    >>> parse(pack(FrameKind.MESSAGE, b"tag", 7, 1000), MessageLimits())
    FrameHeader(kind=<FrameKind.MESSAGE: 3>, tag_length=3, sequence=7, payload_length=1000)
    >>> parse(pack(FrameKind.MESSAGE, b"tag", 7, 1000), MessageLimits(message_bytes=10))
    Traceback (most recent call last):
    dagora.ProtocolError: announced a message of 1000 bytes; the limit is 10
    """
    magic, version, number, tag_length, sequence, payload_length = HEADER.unpack_from(raw)
    if magic != MAGIC:
        raise ProtocolError("sent bytes that are not a message of dagora")
    if version != VERSION:
        raise ProtocolError(
            f"speaks version {version} of the protocol, not {VERSION}: use the same dagora everywhere"
        )
    try:
        kind = FrameKind(number)
    except ValueError:
        raise ProtocolError(f"sent a message of the unknown kind {number}") from None
    most = {FrameKind.MESSAGE: limits.message_bytes, FrameKind.ABORT: 4 * MAX_REASON}.get(kind, 0)
    if payload_length > most:
        raise ProtocolError(f"announced a message of {payload_length} bytes; the limit is {most}")
    if tag_length > MAX_TAG or (tag_length == 0) is (kind == FrameKind.MESSAGE):
        raise ProtocolError(f"sent a tag of {tag_length} bytes; it takes 1 to {MAX_TAG}")
    return FrameHeader(kind, tag_length, sequence, payload_length)


def parse_tag(raw: bytes | bytearray) -> str:
    """Read the tag of a frame; an error's text is made to follow "party 'x' "."""
    try:
        tag = raw.decode()
    except UnicodeDecodeError:
        raise ProtocolError("sent a tag that is not text") from None
    if not tag.isprintable():
        raise ProtocolError("sent a tag that is not printable")
    return tag
