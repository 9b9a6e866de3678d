"""Bodies of requests: never more than the limit, JSON objects only, files whole or not at all."""

import asyncio
import stat

import pytest

from dagora import DataError, OptionError
from dagora.explore import bodies


class Sent:
    def __init__(self, *pieces: bytes, said: str | None = None) -> None:
        self.headers = {} if said is None else {"content-length": said}
        self._pieces = pieces

    async def stream(self):
        for piece in self._pieces:
            yield piece


def read(*pieces: bytes, said: str | None = None):
    return asyncio.run(bodies.read_json(Sent(*pieces, said=said)))


def test_an_object_in_pieces() -> None:
    assert read(b'{"a": ', b"[1]}") == {"a": [1]}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"[1]", "a JSON object"),
        (b'"a"', "a JSON object"),
        (b'{"a": "\xff"}', "JSON in UTF-8"),
        (b'{"a": NaN}', "NaN is not a number"),
        (b'{"a": -Infinity}', "-Infinity is not a number"),
        (rb'{"a": "\ud800"}', "half of a letter"),
    ],
)
def test_anything_else_is_refused(body: bytes, why: str) -> None:
    with pytest.raises(OptionError, match=why):
        read(body)


@pytest.mark.parametrize("said", [str(bodies.MOST_JSON + 1), "-1", "1e3", ""])
def test_a_length_that_is_too_large_or_none_is_refused_before_a_byte_is_read(said: str) -> None:
    with pytest.raises(bodies.TooLargeError, match=r"more than the 1.05 MB that are taken"):
        read(b"{}", said=said)


def test_a_body_up_to_the_limit_is_written_and_nobody_else_can_read_it(tmp_path) -> None:
    asyncio.run(bodies.save(Sent(b"123", b"45"), tmp_path / "rows.csv", 5))
    assert (tmp_path / "rows.csv").read_bytes() == b"12345"
    assert stat.S_IMODE((tmp_path / "rows.csv").stat().st_mode) == 0o600


def test_a_body_beyond_the_limit_leaves_no_file(tmp_path) -> None:
    with pytest.raises(bodies.TooLargeError):
        asyncio.run(bodies.save(Sent(b"123", b"456"), tmp_path / "rows.csv", 5))
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_not_written_over(tmp_path) -> None:
    (tmp_path / "rows.csv").write_text("kept")
    with pytest.raises(DataError):
        asyncio.run(bodies.save(Sent(b"123"), tmp_path / "rows.csv", 5))
