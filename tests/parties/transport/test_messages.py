"""Messages come back as they were; nothing else is ever believed."""

import math
import struct
import tracemalloc

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis.extra import numpy as hnp

from dagora.base.errors import ProtocolError
from dagora.base.phrases import hidden_controls
from dagora.parties.transport import messages as messages_module
from dagora.parties.transport.messages import FREE_BYTES, MAX_DEPTH, MULTIPLE, Array, decode, encode

DTYPES = ["?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"]

arrays = st.sampled_from(DTYPES).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)
characters = st.characters().filter(lambda character: not hidden_controls(character))
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(1 << 200), 1 << 200)
    | st.floats()
    | st.text(characters, max_size=8)
    | st.binary(max_size=8)
    | arrays
)
keys = st.text(characters, max_size=6)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
messages = st.dictionaries(keys, values, max_size=4)


def same(a: object, b: object) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, float):
        return (a == b and math.copysign(1, a) == math.copysign(1, b)) or (math.isnan(a) and math.isnan(b))
    return a == b


@pytest.mark.full
@settings(max_examples=80)
@given(messages)
def test_what_goes_in_comes_out(message):
    payload = encode(message)
    back = decode(payload)
    assert same(message, back)
    assert encode(back) == payload


@settings(max_examples=200)
@given(st.binary(max_size=60))
@example(b"")
@example(b"dgm1")
@example(b"i\2\0\0\0\3\0")  # 3 in two bytes
@example(b"a\0\1\1\0\0\0\0\0\0\0\2")  # a truth value of 2
@example(b"dgm1m\xff\xff\xff\xff")
@example(b"dgm1m\1\0\0\0\1\0xa\x0a\2" + b"\0" * 8 + b"\xff" * 8)
def test_random_bytes_are_refused_and_nothing_else_happens(noise):
    for payload in (noise, b"dgm1m\1\0\0\0\1\0x" + noise, b"dgm1m\2\0\0\0" + noise):
        try:
            message = decode(payload)
        except ProtocolError as error:
            assert "\n" not in str(error)
        else:
            assert encode(message) == payload  # there is one way to write it


@pytest.mark.full
@settings(max_examples=80)
@given(messages, st.data())
def test_a_damaged_message_is_refused_or_is_another_message(message, data):
    payload = bytearray(encode(message))
    position = data.draw(st.integers(0, len(payload) - 1))
    if data.draw(st.booleans()):
        payload = payload[:position]
        with pytest.raises(ProtocolError):
            decode(bytes(payload))
        return
    payload[position] ^= 1 << data.draw(st.integers(0, 7))
    try:
        back = decode(bytes(payload))
    except ProtocolError:
        return
    assert encode(back) == payload


def test_a_flipped_bit_of_a_value_is_another_message():
    payload = bytearray(encode({"x": b"abc"}))
    payload[payload.index(b"abc") + 1] ^= 1
    assert decode(bytes(payload)) == {"x": b"acc"}


@pytest.mark.parametrize("value", [-1, 0, 127, 128, -128, -129, 255, 256, 1 << 6143, -(1 << 64)])
def test_integers_of_any_size(value):
    assert decode(encode({"x": value})) == {"x": value}


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ({1, 2}, "set"),
        (1j, "complex"),
        (np.array(["a"]), "<U1"),
        (np.array([object()]), "object"),
        (np.array([1], dtype="M8[s]"), "datetime64"),
        ({1: 2}, "names"),
        ("\ud800", "U\\+D800"),
        ("a\x1b[2J", "U\\+001B"),
        ({"a\u202eb": 1}, "U\\+202E"),
        (1 << (8 << 16), "integer"),
        (np.zeros((1,) * 9), "dimensions"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isascii() else "value",
)
def test_what_cannot_be_sent_is_refused(value, word):
    with pytest.raises(ProtocolError, match=word):
        encode({"x": value})


def test_nesting_has_a_limit_on_both_sides():
    deep = 0
    for _ in range(MAX_DEPTH + 1):
        deep = [deep]
    with pytest.raises(ProtocolError, match="nested"):
        encode({"x": deep})
    attack = b"dgm1m\1\0\0\0\1\0x" + b"l\1\0\0\0" * 100_000 + b"n"
    with pytest.raises(ProtocolError, match="nested"):
        decode(attack)


def test_arrays_are_normalised_fresh_and_writable():
    odd = np.arange(12, dtype=">i4").reshape(3, 4)[:, ::2]
    back = decode(encode({"pad": b"x", "a": odd}))["a"]
    assert back.dtype == np.dtype("<i4")
    assert back.tolist() == odd.tolist()
    assert back.flags.writeable
    assert back.flags.aligned
    assert back.flags.c_contiguous
    assert decode(encode({"a": np.float32(0.5), "b": np.uint64(2**64 - 1), "c": (1, np.True_)})) == {
        "a": 0.5,
        "b": 2**64 - 1,
        "c": [1, True],
    }


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ({"n": 1}, "'sums' is missing"),
        ({"n": True, "sums": np.zeros((2, 3))}, "'n' must be an integer"),
        ({"n": 1, "sums": np.zeros((2, 4))}, r"'sums' must be an array of float64 of shape \(any, 3\)"),
        ({"n": 1, "sums": np.zeros(3)}, "'sums' must be an array"),
        ({"n": 1, "sums": np.zeros((2, 3), dtype=np.int64)}, "'sums' must be an array of float64"),
        ({"n": 1, "sums": [1.0]}, "'sums' must be an array"),
        ({"n": 1, "sums": np.zeros((2, 3)), "more": 0}, "holds an unknown field 'more'"),
    ],
)
def test_fields_are_checked(message, line):
    fields = {"n": int, "sums": Array("f8", (None, 3))}
    assert decode(encode({"n": 1, "sums": np.zeros((5, 3))}), fields)["n"] == 1
    with pytest.raises(ProtocolError, match="^party 'b': " + line):
        decode(encode(message), fields, what="party 'b'")


HOSTILE = [
    "\x1b[31mred",
    "a\nb",
    "\x9b2J",
    "\u202egnp",
    "\u2066x",
    "\x00",
    "bell\x07",
    "\x7f",
    "\u2028",
    "\U000e0041",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_that_changes_a_screen_is_refused(text):
    raw = text.encode()
    as_value = b"dgm1m\1\0\0\0\1\0xs" + struct.pack("<I", len(raw)) + raw
    as_name = b"dgm1m\1\0\0\0" + struct.pack("<H", len(raw)) + raw + b"n"
    for payload in (as_value, as_name):
        with pytest.raises(ProtocolError, match=r"control character U\+") as caught:
            decode(payload)
        assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "text", ["é", "naïve name", "性别", "non\u00a0breaking", "\u0645\u06cc\u200c\u062e", "👩\u200d⚕"]
)
def test_text_of_any_language_passes(text):
    assert decode(encode({text: text})) == {text: text}


def test_what_parties_really_send_passes():
    schema = {f"column {number}": [f"level {code}" for code in range(20)] for number in range(1000)}
    bulk = np.arange(1_000_000, dtype=np.int64)
    assert FREE_BYTES >= 1 << 20
    assert decode(encode({"schema": schema}))["schema"] == schema
    assert (decode(encode({"bulk": bulk}))["bulk"] == bulk).all()


U32 = struct.Struct("<I").pack
TINY = {
    "none": b"n",
    "empty lists": b"l" + U32(0),
    "empty dicts": b"m" + U32(0),
    "dicts of one": b"m" + U32(1) + b"\0\0n",
    "integers": b"i" + U32(2) + b"\0\4",
    "numbers": b"d" + struct.pack("<d", 1.5),
    "texts": b"s" + U32(2) + b"ab",
    "wide texts": b"s" + U32(4) + "😀".encode(),
    "bytes": b"b" + struct.pack("<Q", 1) + b"x",
    "arrays": b"a\1\0x",
    "empty arrays": b"a\1\1" + struct.pack("<Q", 0),
    "lists of lists": (b"l" + U32(1)) * 10 + b"n",
}


def peak_while_decoding(payload: bytes) -> tuple[int, bool]:
    """Most bytes taken while a message is read, and whether it was accepted."""
    tracemalloc.start()
    try:
        decode(payload)
        accepted = True
    except ProtocolError:
        accepted = False
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak, accepted


@pytest.fixture(scope="module")
def little_for_free():
    """The same bound at a smaller scale, where it is quick to reach."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(messages_module, "FREE_BYTES", 100_000)
        yield 100_000 + 20_000  # and what an error takes


@pytest.mark.parametrize("value", TINY.values(), ids=TINY)
def test_many_small_values_take_no_more_than_the_bound(little_for_free, value):
    count = 50_000 // len(value)
    payload = b"dgm1m\1\0\0\0\1\0xl" + U32(count) + value * count
    peak, accepted = peak_while_decoding(payload)
    assert peak <= little_for_free + MULTIPLE * len(payload)
    assert not accepted


def test_many_names_take_no_more_than_the_bound(little_for_free):
    names = [f"{number:05x}" for number in range(5000)]
    payload = b"dgm1m" + U32(len(names)) + b"".join(b"\5\0" + name.encode() + b"n" for name in names)
    peak, accepted = peak_while_decoding(payload)
    assert peak <= little_for_free + MULTIPLE * len(payload)
    assert not accepted


@pytest.mark.full
@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(sorted(TINY.values())), min_size=1, max_size=4), st.integers(1, 1000))
def test_no_mixture_of_values_takes_more_than_the_bound(little_for_free, some, count):
    payload = b"dgm1m\1\0\0\0\1\0xl" + U32(count * len(some)) + b"".join(some) * count
    peak, _ = peak_while_decoding(payload)
    assert peak <= little_for_free + MULTIPLE * len(payload)
