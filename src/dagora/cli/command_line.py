"""The command line that is being answered, as it can be pasted into a shell."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from dagora.base.addresses import without_secrets

QUERY = "--query"
_LINE: ContextVar[str | None] = ContextVar("line", default=None)


@contextmanager
def answering(arguments: Sequence[str]) -> Iterator[None]:
    """Remember the arguments of the command while it is answered, as they may be shown."""
    before = _LINE.set(shlex.join(["dagora", *shown_arguments(arguments)]))
    try:
        yield
    finally:
        _LINE.reset(before)


def shown_arguments(arguments: Sequence[str]) -> Iterator[str]:
    """The arguments, without a query in which something looks like a password."""
    before = ""
    for argument in arguments:
        name, equals, query = argument.partition("=")
        if before == QUERY:
            yield without_secrets(argument)
        elif name == QUERY:
            yield f"{name}{equals}{without_secrets(query)}"
        else:
            yield argument
        before = argument


def command_line() -> str | None:
    """The whole line; None outside of a command.

    >>> with answering(["learn", "my table.csv"]):
    ...     command_line()
    "dagora learn 'my table.csv'"
    """
    return _LINE.get()
