"""The command line that is being answered, as it can be pasted into a shell."""

from __future__ import annotations

import shlex

import click


def command_line() -> str | None:
    """The whole line; None outside of a command.

    >>> command_line()
    """
    context = click.get_current_context(silent=True)
    if context is None:
        return None
    arguments = context.find_root().obj
    return None if arguments is None else shlex.join(["dagora", *arguments])
