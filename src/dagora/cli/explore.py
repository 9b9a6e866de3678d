"""`dagora explore`: a page in the browser to learn networks and to play with them."""

from __future__ import annotations

import os
import signal
import webbrowser
from contextlib import ExitStack
from html import escape
from pathlib import Path

import click

from dagora.cli import completing
from dagora.cli.data_options import Reading, data_options_with_model
from dagora.cli.help_pages import PagedCommand
from dagora.cli.live_line import live_line, quiet_option
from dagora.cli.terminal import echo

EXAMPLES = """\b
Examples:
  dagora explore patients.csv
  dagora explore survey.csv --na "NA,?" --missing drop
  dagora explore                      # choose a file in the browser
  dagora explore --port 8765 --no-browser
"""


@click.command(
    "explore",
    cls=PagedCommand,
    short_help="Learn and ask networks on a page in the browser.",
    epilog=EXAMPLES,
)
@click.argument("data", required=False, shell_complete=completing.files)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on; default: any that is free."
)
@click.option("--no-browser", is_flag=True, help="Print the address and open no browser.")
@click.option(
    "--max-upload",
    type=click.FloatRange(0, min_open=True),
    default=200.0,
    show_default=True,
    metavar="MB",
    help="Largest file that the page may upload, in megabytes.",
)
@click.option(
    "--jobs", type=click.IntRange(1), default=1, show_default=True, help="Threads or processes to use."
)
@quiet_option()
@data_options_with_model
def command(
    *, data: str | None, port: int, no_browser: bool, max_upload: float, jobs: int, reading: Reading
) -> None:
    """Open a page on DATA (.csv .tsv .parquet .feather .xlsx .dta .sav .rds), or on a file chosen there.

    On the page: choose columns, put variables into tiers, require and forbid edges, learn, watch, stop,
    compare results, ask them for probabilities, and save knowledge, results and reports. The server answers
    to this machine only, and only to whoever has the address that is printed. No data leave the machine.
    Ctrl-C ends it.
    """
    from dagora.base.extras import STARLETTE, UVICORN, require_all
    from dagora.cli.progress import interruptible

    require_all((STARLETTE, UVICORN), "dagora explore")
    from dagora.explore.server import Server

    chosen = page_reading(reading, data)
    server = Server(port=port, most_upload=int(max_upload * 1e6), jobs=jobs, reading=chosen)
    try:
        with ExitStack() as signals:
            for one in endings():
                signals.enter_context(interruptible(server.stop, one))
            if data is not None:
                live_line().phase(f"reading {data}")
                server.open(Path(data))
            live_line().silence()
            server.run(lambda address: announce(address, None if no_browser else server.session.folder))
    finally:
        server.close()


def endings() -> list[signal.Signals]:
    """The signals that end the command in order: Ctrl-C, `kill`, and a terminal that is closed.

    The last one only where it would end the command: `nohup` asks that it does not.
    """
    found = [signal.SIGINT, signal.SIGTERM]
    hang_up = getattr(signal, "SIGHUP", None)  # not on every system
    if hang_up is not None and signal.getsignal(hang_up) is not signal.SIG_IGN:
        found.append(hang_up)
    return found


def announce(address: str, folder: Path | None) -> None:
    """Say where the page is, and open it by way of a file in `folder`; without a folder, do not."""
    echo(address)
    echo("dagora: keep this address to yourself: it shows your data. Ctrl-C ends the server.", err=True)
    if folder is not None:
        webbrowser.open(launch_file(address, folder).as_uri())


def launch_file(address: str, folder: Path) -> Path:
    """Write the file in `folder`, which is private, that sends a browser on to the address.

    Every user of a machine can read the arguments of all processes. So the browser is given the name of a
    file that only this user can read, and not the address with its token.
    """
    place, there = folder / "open.html", escape(address)
    page = (
        '<!DOCTYPE html>\n<meta charset="utf-8"><title>dagora explore</title>\n'
        f'<meta http-equiv="refresh" content="0; url={there}">\n<a href="{there}">dagora explore</a>\n'
    )
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(page)
    return place


def page_reading(reading: Reading, data: str | None) -> dict[str, object]:
    """The options about columns and cells, from which the page starts."""
    from dagora.base.errors import OptionError
    from dagora.base.phrases import split_list
    from dagora.explore.asking import reading_of

    if data is not None and (reading.scans(data) or reading.sample is not None):
        raise OptionError(
            "dagora explore reads one file into memory: name a file, without --scan and --sample, or use "
            "`dagora learn`"
        )
    return reading_of(
        {
            name: [one for listed in value for one in split_list(listed)]
            if isinstance(value, tuple)
            else value
            for name, value in reading.given.items()
            if value != "auto"
        }
    )
