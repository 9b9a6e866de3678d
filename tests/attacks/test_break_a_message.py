"""A peer wants a message or a frame to end its reader by anything but one line, or to take memory."""

import tracemalloc

import numpy as np
import pytest

from dagora.base.errors import ProtocolError
from dagora.parties.transport.messages import FREE_BYTES, MULTIPLE, decode, encode
from dagora.parties.transport.transport import MessageLimits
from dagora.parties.transport.wire_format import HEADER, FrameKind, pack, parse, parse_tag
from tests.attacks.fuzz import damage, tries

CONTENTS = [
    {"n": 3, "names": ["a", "b"], "large": 1 << 200, "sums": np.arange(6.0).reshape(2, 3)},
    {"masked": np.arange(5, dtype=np.uint64), "key": bytes(32), "none": None, "yes": True},
    {"deep": [[[[{"x": [1.5, "naïve", -1]}]]]], "": {}},
]


@pytest.mark.fuzz
@pytest.mark.full
def test_damaged_messages():
    whole = [encode(content) for content in CONTENTS]
    tracemalloc.start()
    for draw in tries(10):
        message = damage(draw.choice(whole), draw)
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        try:
            found = decode(message)
        except ProtocolError as error:
            assert "\n" not in str(error)
            assert str(error).isprintable()
        else:
            assert encode(found) == message, "there is one way to write a message"
        assert tracemalloc.get_traced_memory()[1] - before < FREE_BYTES + 2 * MULTIPLE * len(message)
    tracemalloc.stop()


@pytest.mark.fuzz
@pytest.mark.full
def test_damaged_frames():
    limits = MessageLimits()
    for draw in tries(10):
        kind = draw.choice(list(FrameKind))
        tag = b"ask" if kind == FrameKind.MESSAGE else b""
        frame = damage(pack(kind, tag, draw.randrange(9), draw.randrange(99)), draw)
        if len(frame) < HEADER.size:
            continue
        try:
            header = parse(frame[: HEADER.size], limits)
            parse_tag(frame[HEADER.size :][: header.tag_length])
        except ProtocolError as error:
            assert "\n" not in str(error)
        else:
            assert header.payload_length <= limits.message_bytes
