"""`dagora federate coordinator`: offer a plan to the sites, and learn from sums over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dagora.base.extras import CRYPTOGRAPHY_FOR_SITES
from dagora.cli.federate.planning import Planning, learn_over_transport, planning_options, prepare
from dagora.cli.help_pages import PagedCommand
from dagora.cli.learn_options import LearnRequest, learn_options_over_sites
from dagora.cli.live_line import live_line
from dagora.cli.party_options import listening_host, listening_port, seconds_option, warn

if TYPE_CHECKING:
    from dagora.parties.horizontal.plan.plan import RunPlan


@click.command("coordinator", cls=PagedCommand, short_help="Offer a plan to the sites, ask and learn.")
@planning_options
@listening_host("host")
@listening_port(7100)
@seconds_option("--wait", 300.0, "Seconds to wait for all sites to connect.")
@seconds_option("--patience", 120.0, "Seconds to wait for each answer of a site.")
@click.option("--write-plan", metavar="PLAN.json", help="Write the plan for the sites to look at, and end.")
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
    from dagora.parties.transport.listener import Listener

    prepared = prepare(planning, request)
    if write_plan:
        save_plan(prepared.plan, write_plan)
        return
    listed = list(prepared.plan.sites)
    with Listener(
        prepared.credentials, listed, host=host, port=port, timeout=patience, on_refusal=warn
    ) as listener:
        click.echo(f"dagora: listening on {host}:{listener.port} for {', '.join(listed)}", err=True)
        live_line().phase("waiting for the sites")
        transport = listener.accept(timeout=wait)
    learn_over_transport(transport, prepared, patience)


def save_plan(plan: RunPlan, path: str) -> None:
    """Write the plan for people and for `client --dry-run`."""
    from dagora.base.files import json_text, write_whole

    write_whole(path, json_text(plan.to_dict()) + "\n")
    click.echo(f"wrote {path}", err=True)
