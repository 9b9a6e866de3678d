"""Bodies of requests, read in pieces and never beyond a limit."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Protocol

from dagora.base.errors import DataError, OptionError
from dagora.base.files import report_failure
from dagora.base.parsing import parse_json

MOST_JSON = 2**20  # bytes: knowledge about some thousand edges


class TooLargeError(DataError):
    """More was sent than is taken."""


class Request(Protocol):
    """The part of a request that is used here."""

    @property
    def headers(self) -> Any:  # noqa: ANN401 (a mapping of the server's)
        """Its headers."""

    def stream(self) -> AsyncIterator[bytes]:
        """Its body in pieces."""


async def pieces(request: Request, most: int) -> AsyncIterator[bytes]:
    """The body in pieces; refused as soon as it is, or says that it is, larger than `most` bytes."""
    said = request.headers.get("content-length", "0")
    total = 0
    if not said.isdecimal() or int(said) > most:
        raise too_large(most)
    async with contextlib.aclosing(request.stream()) as stream:  # type: ignore[type-var]
        async for piece in stream:
            total += len(piece)
            if total > most:
                raise too_large(most)
            yield piece


def too_large(most: int) -> TooLargeError:
    """The line that says how much is taken."""
    return TooLargeError(
        f"this is more than the {written_size(most)} that are taken: start `dagora explore FILE` with the "
        "file's name, or allow more (--max-upload)"
    )


def written_size(number: int) -> str:
    """Bytes as people write them.

    >>> written_size(200_000_000), written_size(2**20)
    ('200 MB', '1.05 MB')
    """
    return f"{number / 1e6:.3g} MB"


async def read_json(request: Request) -> dict[str, Any]:
    """The body as a JSON object."""
    body = b"".join([piece async for piece in pieces(request, MOST_JSON)])
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise OptionError("a request is JSON in UTF-8") from None
    content = parse_json(text, error=OptionError, parse_constant=refuse_constant)
    if not isinstance(content, dict):
        raise OptionError("a request is a JSON object")
    refuse_half_letters(content)
    return content


def refuse_half_letters(content: dict[str, Any]) -> None:
    """Refuse texts with half of a letter (a lone surrogate), which JSON can write and no file can hold."""
    try:
        json.dumps(content, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise OptionError("a text of this request has half of a letter in it: use whole ones") from None
    except RecursionError:
        raise OptionError("this request is nested too deeply") from None


async def save(request: Request, file: Path, most: int) -> None:
    """Write the body to a new file, which only this user can read; whole or not at all."""
    written = False
    try:
        with report_failure(file.name, DataError):
            handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as target:
                async for piece in pieces(request, most):
                    target.write(piece)
        written = True
    finally:
        if not written:
            file.unlink(missing_ok=True)


def refuse_constant(name: str) -> None:
    """Refuse NaN and infinities, which JSON does not have."""
    raise OptionError(f"{name} is not a number")
