"""Headers of frames: what is written is read, and nothing else is taken."""

import struct

import pytest

from dagora import ProtocolError
from dagora.parties.transport.transport import MAX_REASON, MAX_TAG, MessageLimits
from dagora.parties.transport.wire_format import BEFORE_THE_RUN, FrameKind, pack, parse, parse_tag, wire_size


def header(magic=b"dgra", version=1, kind=3, tag=3, sequence=0, payload=0) -> bytes:
    return struct.pack("<4sBBHQQ", magic, version, kind, tag, sequence, payload)


def test_a_frame_as_documented() -> None:
    assert pack(FrameKind.MESSAGE, b"tag", 7, 9) == header(sequence=7, payload=9) + b"tag"
    assert wire_size(b"tag", 9) == 24 + 3 + 9


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (header(magic=b"HTTP"), "not a message of dagora"),
        (header(version=2), "speaks version 2 of the protocol, not 1"),
        (header(kind=9), "unknown kind 9"),
        (header(payload=11), "announced a message of 11 bytes; the limit is 10"),
        (header(tag=0), "sent a tag of 0 bytes"),
        (header(tag=MAX_TAG + 1), f"sent a tag of {MAX_TAG + 1} bytes"),
    ],
)
def test_other_headers_are_refused(raw: bytes, why: str) -> None:
    with pytest.raises(ProtocolError, match=why):
        parse(raw, MessageLimits(message_bytes=10))


def test_the_largest_that_is_taken() -> None:
    limits = MessageLimits(message_bytes=10)
    assert parse(header(tag=MAX_TAG, payload=10), limits).payload_length == 10
    assert parse(header(kind=FrameKind.ABORT, tag=0, payload=4 * MAX_REASON), limits).kind == FrameKind.ABORT
    with pytest.raises(ProtocolError, match="the limit is"):
        parse(header(kind=FrameKind.ABORT, tag=0, payload=4 * MAX_REASON + 1), limits)


@pytest.mark.parametrize("kind", [FrameKind.HELLO, FrameKind.WELCOME, FrameKind.GOODBYE])
def test_frames_that_are_no_messages_are_empty_and_have_no_tag(kind: FrameKind) -> None:
    assert parse(header(kind=kind, tag=0), MessageLimits()).kind == kind
    for raw in (header(kind=kind, tag=0, payload=1), header(kind=kind, tag=1)):
        with pytest.raises(ProtocolError):
            parse(raw, MessageLimits())


def test_no_message_before_the_run() -> None:
    with pytest.raises(ProtocolError, match="the limit is 0"):
        parse(header(payload=1), BEFORE_THE_RUN)


def test_a_tag_is_printable_text() -> None:
    assert parse_tag(b"sums") == "sums"
    for raw in (b"\xff", b"a\nb", b"\x1b[2J"):
        with pytest.raises(ProtocolError, match="sent a tag that is not"):
            parse_tag(raw)
