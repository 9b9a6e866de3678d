"""The options that commands about effects share."""

from __future__ import annotations

import click

from dagora.cli import completing

LEVELS = click.option(
    "--levels",
    multiple=True,
    metavar="A,B",
    help="Set to A instead of B; as often as --from.  [default: the second of two levels; one unit more]",
)
GIVEN = click.option(
    "--given", multiple=True, metavar="NAME=LEVEL", help="Only among rows with this level (repeatable)."
)
KNOWLEDGE = click.option(
    "--knowledge",
    metavar="K.json",
    shell_complete=completing.files,
    help="Directs open edges of the graph, such as tiers.",
)
