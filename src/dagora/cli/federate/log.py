"""`dagora federate log`: what a site was asked and answered, in words."""

from __future__ import annotations

from pathlib import Path

import click

from dagora.cli import completing
from dagora.cli.help_pages import PagedCommand
from dagora.cli.live_line import quiet_option
from dagora.cli.party_options import warn


@click.command("log", cls=PagedCommand, short_help="Print what a site has answered, in words.")
@click.argument("path", shell_complete=completing.files)
@quiet_option()
@click.option("--all", "everything", is_flag=True, help="Name every table, however many there are.")
def log(*, path: str, everything: bool) -> None:
    """Print the log of a site: PATH is its file, or the folder of the site's certificate.

    The chain of the log is checked: a line that was changed or removed is reported, with exit code 2.
    """
    from dagora.base.errors import OptionError
    from dagora.parties.horizontal.log.log_text import log_in_words
    from dagora.parties.horizontal.log.site_log import FILE_NAME, read_log
    from dagora.parties.private_file import exposed

    file = Path(path, FILE_NAME) if Path(path).is_dir() else Path(path)
    if not file.exists():
        raise OptionError(f"{file}: there is no log: this site has answered nothing yet")
    found = read_log(file)
    if way_out := exposed(file):
        warn(f"{file}: other users of this machine may read this log; {way_out}")
    for line in log_in_words(found.events, everything=everything):
        click.echo(line)
    if found.torn:
        click.echo(
            "the last line was cut off while it was written: the answer that it announces did not leave"
        )
