"""`dagora federate`: rows spread over sites that may not pool them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from dagora.commands.data_options import Reading, data_options, overview_first
from dagora.commands.federate_flower import PATIENCE as FLOWER_PATIENCE
from dagora.commands.federate_flower import WAIT as FLOWER_WAIT
from dagora.commands.federate_flower import (
    AppRequest,
    Serving,
    check_one_way,
    serve_runs,
    serving_options,
    write_app,
)
from dagora.commands.federate_processes import COORDINATOR, declared, run_parties, site_files
from dagora.commands.learn_options import LearnRequest, learn_options
from dagora.commands.live_line import live_line, quiet_option
from dagora.commands.party_options import (
    DAYS,
    IN_MEMORY,
    address,
    as_bad_input,
    listening_host,
    listening_port,
    seconds_option,
    tidy_end,
    warn,
)
from dagora.events import ignore
from dagora.extras import CRYPTOGRAPHY_FOR_SITES
from dagora.wording import split_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dagora.parties.horizontal.session.federation import Question, Site, Task
    from dagora.parties.horizontal.session.serving import Asked
    from dagora.parties.transport.ledger import Books
    from dagora.parties.transport.transport import Transport

EXAMPLES = """\b
Examples: a terminal for each party of a consortium, here on one machine
  dagora federate keys keys --sites north,south,west
  dagora federate coordinator --keys keys/coordinator --sites north,south,west --port 7100 -o network.json
  dagora federate client north.csv --keys keys/north --connect 127.0.0.1:7100
  dagora federate client south.csv --keys keys/south --connect 127.0.0.1:7100
  dagora federate client west.csv  --keys keys/west  --connect 127.0.0.1:7100
\b
All of it at once, to try it out:
  dagora federate simulate patients.csv --parties 8 --method notears
"""

MINIMUM = click.option(
    "--minimum",
    type=click.IntRange(2),
    default=3,
    show_default=True,
    help="Least number of sites in a sum. With 2, each site can compute the other's part.",
)


@click.group("federate", short_help="Learn over sites that keep their rows.", epilog=EXAMPLES)
def command() -> None:
    """Learn a network over sites that may not pool their rows.

    The coordinator sees the names, kinds and levels of the columns, and sums over all sites (counts,
    moments). It never sees one site's part of a sum: sites add random masks that cancel out in the sum. The
    methods are those of `dagora learn` that need only counts or moments, and those made for sites (see
    `dagora methods`).
    """


@command.command("keys", short_help="Make a certificate for each party.")
@click.argument("folder")
@click.option("--sites", required=True, metavar="A,B,C", help="Names of the sites.")
@DAYS
@quiet_option()
def keys(*, folder: str, sites: str, days: int) -> None:
    """Make a certificate authority and one certificate per party in FOLDER.

    Give FOLDER/NAME to that party only, and FOLDER/ca.key to nobody.
    """
    CRYPTOGRAPHY_FOR_SITES.require("dagora federate")
    from dagora.parties.transport.certificates import make_certificates

    listed = site_names(sites)
    with as_bad_input():
        make_certificates(folder, [COORDINATOR, *listed], days=days)
    for name in (COORDINATOR, *listed):
        click.echo(str(Path(folder) / name))


@command.command("coordinator", short_help="Ask the sites and learn.")
@click.option(
    "--keys", "folder", required=True, metavar="FOLDER", help="Folder of the coordinator's certificate."
)
@click.option("--sites", required=True, metavar="A,B,C", help="Names of the sites to wait for.")
@listening_host("host")
@listening_port(7100)
@seconds_option("--wait", 300.0, "Seconds to wait for all sites to connect.")
@seconds_option("--patience", 120.0, "Seconds to wait for each answer of a site.")
@click.option("--discrete", default="", metavar="A,B", help="Columns to treat as discrete.")
@click.option("--continuous", default="", metavar="A,B", help="Columns to treat as continuous.")
@MINIMUM
@learn_options
def coordinator(
    *,
    folder: str,
    sites: str,
    host: str,
    port: int,
    wait: float,
    patience: float,
    discrete: str,
    continuous: str,
    minimum: int,
    request: LearnRequest,
) -> None:
    """Wait for the sites, then learn from sums over them."""
    CRYPTOGRAPHY_FOR_SITES.require("dagora federate")
    from dagora.errors import OptionError
    from dagora.federated import check_over_sites
    from dagora.parties.transport.certificates import Credentials
    from dagora.parties.transport.listener import Listener

    listed = site_names(sites)
    check_number("--sites", len(listed), minimum)
    request.check()
    check_over_sites(**request.settings)
    with as_bad_input():
        credentials = Credentials.load(folder)
    if credentials.name != COORDINATOR:
        raise OptionError(f"{folder} is for '{credentials.name}': the coordinator needs its own certificate")
    with Listener(credentials, listed, host=host, port=port, timeout=patience, on_refusal=warn) as listener:
        click.echo(f"dagora: listening on {host}:{listener.port} for {', '.join(listed)}", err=True)
        live_line().phase("waiting for the sites")
        transport = listener.accept(timeout=wait)
    request = replace(request)  # a copy with a new clock: --time-limit leaves out the wait for the sites
    learn_over_transport(
        transport,
        listed,
        minimum=minimum,
        patience=patience,
        discrete=discrete,
        continuous=continuous,
        request=request,
    )


def learn_over_transport(
    transport: Transport,
    listed: Sequence[str],
    *,
    minimum: int,
    patience: float,
    discrete: str,
    continuous: str,
    request: LearnRequest,
) -> None:
    """Learn from sums over the sites at the other end of a transport, and write and print the result."""
    from dagora.federated import agreed_statistics, with_traffic
    from dagora.learning import learn
    from dagora.parties.horizontal.session.coordinator_session import CoordinatorSession

    with (
        CoordinatorSession(transport, listed, minimum=minimum, patience=patience, on_warning=warn) as session,
        request.progress() as on_event,
    ):
        # From here on, Ctrl-C returns the best graph found so far.
        click.echo("dagora: all sites are connected", err=True)
        statistics = agreed_statistics(session, split_list(discrete), split_list(continuous))
        request.check_data(statistics.schema.names, statistics.schema)
        result = learn(statistics, on_event=on_event, **request.settings)
        result = with_traffic(result, transport.ledger.books())
        request.present(result, statistics, f"{len(listed)} sites")


@command.command("client", short_help="Answer the coordinator from this site's rows.")
@click.argument("data")
@click.option("--keys", "folder", required=True, metavar="FOLDER", help="Folder of this site's certificate.")
@click.option("--connect", metavar="HOST:PORT", help="Where the coordinator listens.")
@serving_options
@seconds_option("--wait", 300.0, "Seconds to wait for the coordinator.")
@click.option(
    "--show-weights",
    is_flag=True,
    help="Also allow vote, average and best, which show the coordinator this site's own weights.",
)
@quiet_option("Show no progress, and do not print what was asked.", passed=True)
@MINIMUM
@data_options
def client(
    *,
    data: str,
    folder: str,
    connect: str | None,
    serving: Serving,
    wait: float,
    show_weights: bool,
    quiet: bool,
    minimum: int,
    reading: Reading,
) -> None:
    """Answer the coordinator's questions about the rows of DATA; at the end, print what it asked."""
    CRYPTOGRAPHY_FOR_SITES.require("dagora federate")
    from dagora.errors import OptionError
    from dagora.parties.horizontal.secure_sum.identity import CertifiedIdentity
    from dagora.parties.horizontal.session.federation import Site
    from dagora.parties.horizontal.session.serving import serve_site
    from dagora.parties.horizontal.tasks import SHOWN
    from dagora.parties.transport.certificates import Credentials
    from dagora.parties.transport.tcp import connect as connect_to

    check_one_way(serving, connect)
    place = address(connect) if connect is not None else None
    with as_bad_input():
        credentials = Credentials.load(folder)
    if credentials.name == COORDINATOR:
        raise OptionError(f"{folder} is for the coordinator: a client needs its site's certificate")
    table = reading.table(data, part=True)
    identity = CertifiedIdentity(credentials)
    tasks = allowed_tasks(show_weights=show_weights)

    def answer(transport: Transport) -> None:
        with overview_first(table, data, ignore):
            asked = serve_site(
                transport, Site(credentials.name, table), tasks, identity, minimum=minimum, shown=SHOWN
            )
        if not quiet:
            click.echo(describe_visit(asked, transport.ledger.books()), err=True)

    if place is None:
        serve_runs(serving, credentials.name, answer)
        return
    live_line().phase("waiting for the coordinator")
    transport = connect_to(credentials, *place, peer=COORDINATOR, wait=wait)
    live_line().phase("answering the coordinator")
    answer(transport)


@command.command("flower-app", short_help="Write the folder that `flwr run` takes.")
@click.argument("folder")
@click.option("--sites", required=True, metavar="A,B,C", help="Names of the sites.")
@FLOWER_WAIT
@FLOWER_PATIENCE
@click.option("--discrete", default="", metavar="A,B", help="Columns to treat as discrete.")
@click.option("--continuous", default="", metavar="A,B", help="Columns to treat as continuous.")
@MINIMUM
@learn_options
def flower_app(
    *,
    folder: str,
    sites: str,
    wait: float,
    patience: float,
    discrete: str,
    continuous: str,
    minimum: int,
    request: LearnRequest,
) -> None:
    """Write a Flower app in FOLDER that learns over the sites: `flwr run FOLDER` starts it."""
    from dagora.federated import check_over_sites

    listed = site_names(sites)
    check_number("--sites", len(listed), minimum)
    request.check()
    check_over_sites(**request.settings)
    arguments = ["--minimum", str(minimum)]
    for flag, columns in (("--discrete", discrete), ("--continuous", continuous)):
        arguments += [flag, columns] if columns else []
    write_app(folder, AppRequest(tuple(listed), wait, patience, tuple(arguments), request))
    click.echo(folder)


@command.command("simulate", short_help="Run all parties on this machine, on one table.")
@click.argument("data")
@click.option("--parties", type=click.IntRange(2), required=True, metavar="K", help="Number of sites.")
@IN_MEMORY
@MINIMUM
@learn_options
@data_options
def simulate(
    *, data: str, parties: int, in_memory: bool, minimum: int, request: LearnRequest, reading: Reading
) -> None:
    """Split the rows of DATA among K sites and learn over them as separate processes on TLS connections.

    Ctrl-C or --time-limit returns the best graph found so far.
    """
    CRYPTOGRAPHY_FOR_SITES.require("dagora federate")
    from dagora.data.partition import split_rows
    from dagora.federated import check_over_sites, learn_federated
    from dagora.stats.table import TableStatistics

    check_number("--parties", parties, minimum)
    request.check()
    check_over_sites(**request.settings)
    request.check_overwriting(data)
    table = request.read(reading, data)
    request.check_data(table.names, table.schema)
    parts = {f"site{k + 1}": part for k, part in enumerate(split_rows(table, parties, seed=request.seed))}
    if in_memory:
        with request.progress(table, data) as on_event:
            result = learn_federated(
                parts, minimum=minimum, on_event=on_event, **declared(table), **request.settings
            )
        request.present(result, TableStatistics(table), f"{parties} sites")
        return
    with (
        overview_first(table, data, ignore, brief=request.as_json),
        tidy_end(),
        site_files(parts) as files,
    ):
        found = run_parties(files, declared(table), minimum, request)
    click.echo(found, nl=False)


def site_names(listed: str) -> list[str]:
    """Split and check the names of the sites."""
    from dagora.errors import OptionError
    from dagora.parties.transport.transport import check_name

    with as_bad_input():
        sites = [check_name(name) for name in split_list(listed)]
    if len(set(sites)) != len(sites) or COORDINATOR in sites:
        raise OptionError(f"--sites takes different names other than '{COORDINATOR}', not '{listed}'")
    if len(sites) < 2:
        raise OptionError("--sites takes at least two names, with commas between them")
    return sites


def check_number(option: str, sites: int, minimum: int) -> None:
    """Refuse fewer sites than a sum must have, before anybody waits for them."""
    from dagora.errors import OptionError

    if sites < minimum:
        two = ": with two sites each can compute the other's part; --minimum 2, at both, accepts that"
        raise OptionError(
            f"{option} names {sites} sites, fewer than --minimum {minimum}{two if sites == 2 else ''}"
        )


def allowed_tasks(*, show_weights: bool) -> dict[str, Task]:
    """The tasks that a site answers; it shows its own weights only if its owner allows it."""
    from dagora.errors import OptionError
    from dagora.parties.horizontal.tasks import SHOWN, TASKS

    def refuse(_site: Site, _question: Question) -> NoReturn:
        raise OptionError(
            "the coordinator asks for the weights that this site learns alone: allow it with --show-weights"
        )

    private = SHOWN - {"schema", "adopt"}
    return {name: refuse if name in private and not show_weights else task for name, task in TASKS.items()}


def describe_visit(asked: Sequence[Asked], books: Books) -> str:
    """One line that says what a site was asked."""
    counts: dict[str, int] = {}
    for question in asked:
        counts[question.task] = counts.get(question.task, 0) + 1
    listed = ", ".join(f"{task} {number}×" for task, number in counts.items()) or "nothing"
    return f"dagora: answered {listed}; sent {books.total.wire_sent / 1e6:.2f} MB"
