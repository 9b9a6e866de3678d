"""The command `dagora federate` with its subcommands; `coordinator` and `log` are here."""

from __future__ import annotations

from pathlib import Path

import click

from dagora.base.extras import CRYPTOGRAPHY_FOR_SITES
from dagora.cli import completing
from dagora.cli.federate.client import client
from dagora.cli.federate.effect import effect
from dagora.cli.federate.flower import flower_app
from dagora.cli.federate.keys import keys
from dagora.cli.federate.planning import WRITE_PLAN, Planning, learn_over_transport, planning_options, prepare
from dagora.cli.federate.policy import policy
from dagora.cli.federate.simulate import simulate
from dagora.cli.federate.waiting import meet_sites, save_plan
from dagora.cli.help_pages import PagedCommand
from dagora.cli.learn_options import learn_options_over_sites
from dagora.cli.learn_request import LearnRequest
from dagora.cli.live_line import quiet_option
from dagora.cli.party_options import listening_host, listening_port, seconds_option, warn
from dagora.cli.terminal import echo

EXAMPLES = """\b
Examples: a terminal for each party of a consortium, here on one machine
  dagora federate keys keys --sites north,south,west
  dagora federate policy init all.csv --keys keys
  dagora federate coordinator --keys keys/coordinator --port 7100 -o network.json
  dagora federate client north.csv --keys keys/north --connect 127.0.0.1:7100
  dagora federate client south.csv --keys keys/south --connect 127.0.0.1:7100
  dagora federate client west.csv  --keys keys/west  --connect 127.0.0.1:7100
\b
What a site has answered, in words:
  dagora federate log keys/north
\b
An effect over the sites, in place of the coordinator's line:
  dagora federate effect --keys keys/coordinator --from drug --to death --graph network.json
\b
All of it at once, to try it out:
  dagora federate simulate patients.csv --parties 8 --method notears
"""


@click.group("federate", short_help="Learn over sites that keep their rows.", epilog=EXAMPLES)
def command() -> None:
    """Learn a network over sites that may not pool their rows, or tell effects.

    The coordinator sees sums over all sites (counts, moments) and never one site's part of a sum: sites add
    random masks that cancel out in the sum over all of them. What may be asked at all stands in a plan that
    all parties sign; each site's owner says in a policy what its site may sign, and finds every answer in a
    log. The methods are those of `dagora learn` that need only counts or moments, and those made for sites
    (see `dagora methods`).
    """


@click.command("coordinator", cls=PagedCommand, short_help="Offer a plan to the sites, ask and learn.")
@planning_options
@listening_host("host")
@listening_port(7100)
@seconds_option("--wait", 300.0, "Seconds to wait for all sites to connect.")
@seconds_option("--patience", 120.0, "Seconds to wait for each answer of a site.")
@WRITE_PLAN
@learn_options_over_sites
def coordinator(
    *,
    planning: Planning,
    host: str,
    port: int,
    wait: float,
    patience: float,
    write_plan: str | None,
    request: LearnRequest,
) -> None:
    """Wait for the sites, offer them a plan, then learn from sums over them."""
    CRYPTOGRAPHY_FOR_SITES.require("dagora federate")
    prepared = prepare(planning, request)
    if write_plan:
        save_plan(prepared.plan, write_plan)
        return
    transport = meet_sites(prepared.identity, prepared.plan, host, port, wait, patience)
    learn_over_transport(transport, prepared, patience)


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
    from dagora.parties.private_file import exposure_of

    file = Path(path, FILE_NAME) if Path(path).is_dir() else Path(path)
    if not file.exists():
        raise OptionError(f"{file}: there is no log: this site has answered nothing yet")
    found = read_log(file)
    if way_out := exposure_of(file):
        warn(f"{file}: other users of this machine may read this log; {way_out}")
    for line in log_in_words(found.events, everything=everything):
        echo(line)
    if found.torn:
        echo("the last line was cut off while it was written: the answer that it announces did not leave")


for subcommand in (keys, policy, coordinator, effect, client, log, simulate, flower_app):
    command.add_command(subcommand)
