"""The one place through which commands print."""

from __future__ import annotations

import json

import click

from dagora.base.phrases import CONTROLS


def echo(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Print text; characters of names and levels that would change the screen are spelt out."""
    click.echo("\n".join(map(spell_controls, str(text).split("\n"))), err=err, nl=nl)


def spell_controls(line: str) -> str:
    r"""A line without control characters, spelt so that JSON stays the same JSON.

    >>> print(spell_controls("a\x1b[2Jge"), json.loads(spell_controls('"\x9b"')) == "\x9b")
    a\u001b[2Jge True
    """
    return line if line.isprintable() else CONTROLS.sub(lambda found: spell(found.group()), line)


def spell(control: str) -> str:
    """One control character as JSON escapes it; a tab stays."""
    if control == "\t":
        return control
    return f"\\u{ord(control):04x}" if ord(control) < 0x10000 else json.dumps(control)[1:-1]
