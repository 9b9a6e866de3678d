"""`dagora convert`: convert a graph or network from one format to another."""

from __future__ import annotations

import click

from dagora.cli import completing
from dagora.cli.help_pages import PagedCommand
from dagora.cli.live_line import quiet_option
from dagora.cli.terminal import echo

EXAMPLES = """\b
Examples:
  dagora convert alarm.bif.gz alarm.json
  dagora convert learned.json learned.dot
  dagora convert learned.bif for-genie.xdsl
"""


@click.command("convert", cls=PagedCommand, short_help="Convert a graph between formats.", epilog=EXAMPLES)
@click.argument("source", shell_complete=completing.files)
@click.argument("target", shell_complete=completing.files)
@quiet_option()
def command(*, source: str, target: str) -> None:
    """Convert SOURCE to TARGET, whose endings name the formats.

    Known are .json .bif .xmlbif .net .xdsl .uai .dot .graphml .dagitty .tetrad .csv (also .gz), and .svg.

    Parameters are kept between .json .bif .xmlbif .net .xdsl .uai. A note says what the new format cannot
    hold.
    """
    from pathlib import Path

    from dagora.formats.registry import convert, read_determined

    if Path(target).suffix.lower() == ".svg":
        from dagora.cli.outputs import write_picture

        write_picture(read_determined(source), target)
        return
    for note in convert(source, target):
        echo(f"dagora: note: {note}", err=True)
