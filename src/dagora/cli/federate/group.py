"""The command `dagora federate` and its subcommands."""

from __future__ import annotations

import click

from dagora.cli.federate.client import client
from dagora.cli.federate.coordinator import coordinator
from dagora.cli.federate.flower import flower_app
from dagora.cli.federate.keys import keys
from dagora.cli.federate.log import log
from dagora.cli.federate.policy import policy
from dagora.cli.federate.simulate import simulate

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
All of it at once, to try it out:
  dagora federate simulate patients.csv --parties 8 --method notears
"""


@click.group("federate", short_help="Learn over sites that keep their rows.", epilog=EXAMPLES)
def command() -> None:
    """Learn a network over sites that may not pool their rows.

    The coordinator sees sums over all sites (counts, moments) and never one site's part of a sum: sites add
    random masks that cancel out in the sum over all of them. What may be asked at all stands in a plan that
    all parties sign; each site's owner says in a policy what its site may sign, and finds every answer in a
    log. The methods are those of `dagora learn` that need only counts or moments, and those made for sites
    (see `dagora methods`).
    """


for subcommand in (keys, policy, coordinator, client, log, simulate, flower_app):
    command.add_command(subcommand)
