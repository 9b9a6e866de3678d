"""The one DATA of a command that also takes several files of statistics."""

from __future__ import annotations

from collections.abc import Sequence

import click


def one_data(data: Sequence[str]) -> str:
    """The only DATA that was given; more is refused as click would refuse it.

    >>> one_data(["rows.csv"])
    'rows.csv'
    """
    if len(data) == 1:
        return data[0]
    context = click.get_current_context()
    extra = " ".join(data[1:])
    word = "arguments" if len(data) > 2 else "argument"
    raise click.UsageError(f"Got unexpected extra {word} ({extra})", context)
