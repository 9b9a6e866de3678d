"""The command line that is being answered, as it can be pasted into a shell."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_LINE: ContextVar[str | None] = ContextVar("line", default=None)


@contextmanager
def answering(arguments: Sequence[str]) -> Iterator[None]:
    """Remember the arguments of the command while it is answered."""
    before = _LINE.set(shlex.join(["dagora", *arguments]))
    try:
        yield
    finally:
        _LINE.reset(before)


def command_line() -> str | None:
    """The whole line; None outside of a command.

    >>> with answering(["learn", "my table.csv"]):
    ...     command_line()
    "dagora learn 'my table.csv'"
    """
    return _LINE.get()
