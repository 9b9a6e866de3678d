"""`dagora federate coordinator`: offer a plan to the sites, and learn from sums over them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dagora.commands.federate.keys import COORDINATOR, MINIMUM, check_number, site_names
from dagora.commands.learn_options import LearnRequest, learn_options_over_sites
from dagora.commands.live_line import live_line
from dagora.commands.party_options import as_bad_input, listening_host, listening_port, seconds_option, warn
from dagora.extras import CRYPTOGRAPHY_FOR_SITES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dagora.data.schema import Schema
    from dagora.parties.horizontal.plan.plan import Plan
    from dagora.parties.horizontal.policy.policy_file import Consortium


@click.command("coordinator", short_help="Offer a plan to the sites, ask and learn.")
@click.option(
    "--keys", "folder", required=True, metavar="FOLDER", help="Folder of the coordinator's certificate."
)
@click.option(
    "--codebook",
    metavar="FILE",
    help="The columns that the sites agreed on; default: codebook.toml in the folder of --keys.",
)
@click.option("--sites", metavar="A,B,C", help="Names of the sites; default: those of the codebook.")
@listening_host("host")
@listening_port(7100)
@seconds_option("--wait", 300.0, "Seconds to wait for all sites to connect.")
@seconds_option("--patience", 120.0, "Seconds to wait for each answer of a site.")
@click.option(
    "--table-columns",
    type=click.IntRange(1, 64),
    metavar="K",
    help="Most columns of a joint table of counts; default: one more than --max-parents, or 3.",
)
@click.option(
    "--table-cells", type=click.IntRange(1), default=4096, show_default=True, help="Most cells of a table."
)
@click.option("--write-plan", metavar="PLAN.json", help="Write the plan for the sites to look at, and end.")
@MINIMUM
@learn_options_over_sites
def coordinator(
    *,
    folder: str,
    codebook: str | None,
    sites: str | None,
    host: str,
    port: int,
    wait: float,
    patience: float,
    table_columns: int | None,
    table_cells: int,
    write_plan: str | None,
    minimum: int,
    request: LearnRequest,
) -> None:
    """Wait for the sites, offer them a plan, then learn from sums over them."""
    CRYPTOGRAPHY_FOR_SITES.require("dagora federate")
    from dagora.errors import OptionError
    from dagora.federated import check_over_sites, with_traffic
    from dagora.learning import learn
    from dagora.parties.horizontal.plan.drafting import draft_plan
    from dagora.parties.horizontal.policy.policy_file import CODEBOOK_NAME
    from dagora.parties.horizontal.secure_sum.identity import CertifiedIdentity
    from dagora.parties.horizontal.session.coordinator_session import CoordinatorSession
    from dagora.parties.horizontal.statistics.secure_statistics import SecureStatistics
    from dagora.parties.horizontal.tasks import shown_by
    from dagora.parties.transport.certificates import Credentials
    from dagora.parties.transport.listener import Listener

    if sites is not None:
        check_number("--sites", len(site_names(sites)), minimum)
    if request.method:
        request.check()
        check_over_sites(**request.settings)
    with as_bad_input():
        credentials = Credentials.load(folder)
    if credentials.name != COORDINATOR:
        raise OptionError(f"{folder} is for '{credentials.name}': the coordinator needs its own certificate")
    consortium = read_consortium(Path(codebook) if codebook else Path(folder, CODEBOOK_NAME))
    listed = names_of_sites(sites, consortium)
    check_number("--sites", len(listed), minimum)
    request = request.settled(consortium.codebook.schema)
    request, columns_per_table = limited(request, consortium.codebook.schema, table_columns)
    request.check()
    check_over_sites(**request.settings)
    request.check_data(consortium.codebook.schema.names, consortium.codebook.schema)
    identity = CertifiedIdentity(credentials)
    plan = draft_plan(
        consortium.codebook,
        {name: consortium.sites.get(name, "") for name in listed},
        request.method,
        coordinator=identity.fingerprint(identity.certificate),
        settings=request.stated(),
        shows=shown_by(request.method),
        columns_per_table=columns_per_table,
        cells_per_table=table_cells,
        largest_rows=consortium.largest_rows,
    )
    if write_plan:
        save_plan(plan, write_plan)
        return
    with Listener(credentials, listed, host=host, port=port, timeout=patience, on_refusal=warn) as listener:
        click.echo(f"dagora: listening on {host}:{listener.port} for {', '.join(listed)}", err=True)
        live_line().phase("waiting for the sites")
        transport = listener.accept(timeout=wait)
    plan = with_certificates(plan, transport.fingerprints)
    request = replace(request)  # a copy with a new clock: --time-limit leaves out the wait for the sites
    with (
        CoordinatorSession(transport, plan, identity, patience=patience) as session,
        request.progress() as on_event,
    ):
        # From here on, Ctrl-C returns the best graph found so far.
        click.echo("dagora: all sites are connected", err=True)
        session.agree()
        statistics = SecureStatistics(session)
        result = learn(statistics, on_event=on_event, **request.settings)
        result = with_traffic(result, transport.ledger.books())
        request.present(result, statistics, f"{len(listed)} sites")


def read_consortium(path: Path) -> Consortium:
    """Read the codebook, or say how to get one."""
    from dagora.errors import OptionError
    from dagora.parties.horizontal.policy.policy_file import read_codebook

    if not path.is_file():
        raise OptionError(
            f"{path}: there is no codebook: write one with `dagora federate policy init`, or name one with "
            "--codebook"
        )
    return read_codebook(path)


def names_of_sites(sites: str | None, consortium: Consortium) -> list[str]:
    """The sites that were named, or those of the codebook."""
    from dagora.errors import OptionError

    if sites is None and not consortium.sites:
        raise OptionError("the codebook names no sites: give --sites A,B,C")
    return site_names(sites if sites is not None else ",".join(consortium.sites))


def limited(request: LearnRequest, schema: Schema, table_columns: int | None) -> tuple[LearnRequest, int]:
    """A request that asks for no larger tables than the plan allows, and their number of columns."""
    from dagora.parties.horizontal.plan.drafting import COLUMNS_PER_TABLE

    given = request.max_parents
    columns = table_columns or (COLUMNS_PER_TABLE if given is None else given + 1)
    if given is None and table_columns is None and schema.cardinalities.any():
        return replace(request, max_parents=columns - 1), columns
    return request, columns


def with_certificates(plan: Plan, shown: Mapping[str, str]) -> Plan:
    """The plan with the certificates that the sites have shown, which must be those of the codebook."""
    from dagora.errors import ProtocolError

    for name, known in plan.sites.items():
        if known and shown[name] != known:
            raise ProtocolError(f"site '{name}' has another certificate than the codebook says", party=name)
    return replace(plan, sites={name: shown[name] for name in plan.sites})


def save_plan(plan: Plan, path: str) -> None:
    """Write the plan for people and for `client --dry-run`."""
    from dagora.files import json_text, write_whole

    write_whole(path, json_text(plan.to_dict()) + "\n")
    click.echo(f"wrote {path}", err=True)
