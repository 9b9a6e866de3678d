"""`dagora federate`: rows spread over sites that may not pool them."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from dagora.commands.data_options import Reading, data_options, names
from dagora.commands.federate_processes import COORDINATOR, declared, run_parties, site_files, tidy_end
from dagora.commands.learn_options import Request, learn_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dagora.parties.horizontal.session.federation import Question, Site, Task
    from dagora.parties.horizontal.session.serving import Asked
    from dagora.parties.transport.ledger import Books

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

# A poll of the system takes no more milliseconds than fit in 31 bits.
LONGEST = 1e6


def seconds(_context: click.Context, _parameter: click.Parameter, value: float) -> float:
    """Refuse a time that cannot be waited for."""
    if not 0.0 < value <= LONGEST:
        raise click.BadParameter(f"{value:g} is not in the range 0<x<={LONGEST:.0f}.")
    return value


MINIMUM = click.option(
    "--minimum",
    type=click.IntRange(2),
    default=3,
    show_default=True,
    help="Take part in no sum over fewer sites. With 2, each site can compute the other's part.",
)


@click.group("federate", short_help="Learn over sites that keep their rows.", epilog=EXAMPLES)
def command() -> None:
    """Learn a network over sites that may not pool their rows.

    The coordinator sees the names, kinds and levels of the columns, and sums over all sites (counts,
    moments), never one site's part of a sum: sites add masks that cancel out. Methods: those of `dagora
    learn` that work on counts or moments, and those made for sites (`dagora methods`).
    """


@command.command("keys", short_help="Make certificates to try it out.")
@click.argument("folder")
@click.option("--sites", required=True, metavar="A,B,C", help="Names of the sites.")
@click.option(
    "--days", type=click.IntRange(1, 36500), default=30, show_default=True, help="They are valid so long."
)
def keys(*, folder: str, sites: str, days: int) -> None:
    """Make a certificate authority and one certificate per party in FOLDER.

    FOLDER/NAME goes to that party and to nobody else; FOLDER/ca.key to nobody at all.
    """
    from dagora.parties.transport.certificates import make_certificates

    listed = site_names(sites)
    with own_mistakes():
        make_certificates(folder, [COORDINATOR, *listed], days=days)
    for name in (COORDINATOR, *listed):
        click.echo(str(Path(folder) / name))


@command.command("coordinator", short_help="Ask the sites and learn.")
@click.option("--keys", "folder", required=True, metavar="FOLDER", help="The coordinator's certificates.")
@click.option("--sites", required=True, metavar="A,B,C", help="Names of the sites to wait for.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=7100, show_default=True, help="0: any.")
@click.option(
    "--wait",
    type=float,
    callback=seconds,
    default=300.0,
    show_default=True,
    help="Seconds to wait for the sites.",
)
@click.option(
    "--patience", type=float, callback=seconds, default=120.0, show_default=True, help="Seconds per answer."
)
@click.option("--discrete", default="", metavar="A,B", help="Columns to take as discrete.")
@click.option("--continuous", default="", metavar="A,B", help="Columns to take as continuous.")
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
    request: Request,
) -> None:
    """Wait for the sites, then learn from sums over them."""
    from dagora.errors import OptionError
    from dagora.federated import agreed_statistics, check_over_sites, with_traffic
    from dagora.learning import learn
    from dagora.parties.horizontal.session.coordinator_session import CoordinatorSession
    from dagora.parties.transport.certificates import Credentials
    from dagora.parties.transport.listener import Listener

    listed = site_names(sites)
    check_number("--sites", len(listed), minimum)
    request.check()
    check_over_sites(**request.settings)
    with own_mistakes():
        credentials = Credentials.load(folder)
    if credentials.name != COORDINATOR:
        raise OptionError(f"{folder} is for '{credentials.name}': the coordinator needs its own certificate")
    with Listener(credentials, listed, host=host, port=port, timeout=patience, on_refusal=warn) as listener:
        click.echo(f"dagora: listening on {host}:{listener.port} for {', '.join(listed)}", err=True)
        transport = listener.accept(timeout=wait)
    request = replace(request)  # with a new clock: waiting for the sites is not in --time-limit
    with (
        CoordinatorSession(transport, listed, minimum=minimum, patience=patience, on_warning=warn) as session,
        request.progress() as on_event,
    ):
        # From here on, Ctrl-C gives the best so far.
        click.echo("dagora: all sites are here", err=True)
        statistics = agreed_statistics(session, names(discrete), names(continuous))
        request.check_data(statistics.schema.names, statistics.schema)
        result = learn(statistics, on_event=on_event, **request.settings)
        result = with_traffic(result, transport.ledger.books())
        request.present(result, statistics, f"{len(listed)} sites")


@command.command("client", short_help="Answer the coordinator from this site's rows.")
@click.argument("data")
@click.option("--keys", "folder", required=True, metavar="FOLDER", help="This site's certificates.")
@click.option("--connect", required=True, metavar="HOST:PORT", help="Where the coordinator listens.")
@click.option(
    "--wait",
    type=float,
    callback=seconds,
    default=300.0,
    show_default=True,
    help="Seconds to wait for the start.",
)
@click.option(
    "--show-weights",
    is_flag=True,
    help="Also answer vote, average and best, which show the coordinator what this site learns alone.",
)
@click.option("--quiet", is_flag=True, help="Do not say what was asked.")
@MINIMUM
@data_options
def client(
    *,
    data: str,
    folder: str,
    connect: str,
    wait: float,
    show_weights: bool,
    quiet: bool,
    minimum: int,
    reading: Reading,
) -> None:
    """Let the coordinator ask for sums over the rows of DATA, and say in the end what it asked for."""
    from dagora.errors import OptionError
    from dagora.parties.horizontal.secure_sum.identity import CertifiedIdentity
    from dagora.parties.horizontal.session.federation import Site
    from dagora.parties.horizontal.session.serving import serve_site
    from dagora.parties.horizontal.tasks import SHOWN
    from dagora.parties.transport.certificates import Credentials
    from dagora.parties.transport.tcp import connect as connect_to

    host, port = address(connect)
    with own_mistakes():
        credentials = Credentials.load(folder)
    if credentials.name == COORDINATOR:
        raise OptionError(f"{folder} is for the coordinator: a client needs its site's certificate")
    table = reading.table(data, part=True)
    identity = CertifiedIdentity(credentials)
    transport = connect_to(credentials, host, port, peer=COORDINATOR, wait=wait)
    tasks = allowed_tasks(show_weights=show_weights)
    asked = serve_site(
        transport, Site(credentials.name, table), tasks, identity, minimum=minimum, shown=SHOWN
    )
    if not quiet:
        click.echo(describe_visit(asked, transport.ledger.books()), err=True)


@command.command("simulate", short_help="All parties on this machine, on one table.")
@click.argument("data")
@click.option("--parties", type=click.IntRange(2), required=True, metavar="K", help="Number of sites.")
@click.option("--in-memory", is_flag=True, help="Parties as threads of one process, without sockets.")
@MINIMUM
@learn_options
@data_options
def simulate(
    *, data: str, parties: int, in_memory: bool, minimum: int, request: Request, reading: Reading
) -> None:
    """Split the rows of DATA among K sites and learn over them as separate processes on TLS connections.

    Ctrl-C or --time-limit returns the best graph found so far.
    """
    from dagora.data.partition import split_rows
    from dagora.federated import check_over_sites, learn_federated
    from dagora.stats.table import TableStatistics

    check_number("--parties", parties, minimum)
    request.check()
    check_over_sites(**request.settings)
    table = reading.table(data)
    request.check_data(table.names, table.schema)
    parts = {f"site{k + 1}": part for k, part in enumerate(split_rows(table, parties, seed=request.seed))}
    if in_memory:
        with request.progress() as on_event:
            result = learn_federated(
                parts, minimum=minimum, on_event=on_event, **declared(table), **request.settings
            )
        request.present(result, TableStatistics(table), f"{parties} sites")
        return
    with tidy_end(), site_files(parts) as files:
        click.echo(run_parties(files, declared(table), minimum, request), nl=False)


@contextmanager
def own_mistakes() -> Iterator[None]:
    """What is wrong before any peer was spoken to is bad input, not a fault of the protocol."""
    from dagora.errors import OptionError, ProtocolError

    try:
        yield
    except ProtocolError as error:
        raise OptionError(str(error)) from None


def site_names(listed: str) -> list[str]:
    """Names of sites, checked."""
    from dagora.errors import OptionError
    from dagora.parties.transport.transport import check_name

    with own_mistakes():
        sites = [check_name(name) for name in names(listed)]
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


def address(text: str) -> tuple[str, int]:
    """Host and port of HOST:PORT."""
    from dagora.errors import OptionError

    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise OptionError(f"--connect takes HOST:PORT, such as 127.0.0.1:7100, not '{text}'")
    return host, int(port)


def allowed_tasks(*, show_weights: bool) -> dict[str, Task]:
    """What a site answers: beyond the schema, it shows nothing of its own unless its owner said so."""
    from dagora.errors import OptionError
    from dagora.parties.horizontal.tasks import SHOWN, TASKS

    def refuse(_site: Site, _question: Question) -> NoReturn:
        raise OptionError(
            "the coordinator asks for the weights that this site learns alone: --show-weights would allow it"
        )

    private = SHOWN - {"schema", "adopt"}
    return {name: refuse if name in private and not show_weights else task for name, task in TASKS.items()}


def describe_visit(asked: Sequence[Asked], books: Books) -> str:
    """What a site was asked, in one line."""
    counts: dict[str, int] = {}
    for question in asked:
        counts[question.task] = counts.get(question.task, 0) + 1
    listed = ", ".join(f"{task} {number}×" for task, number in counts.items()) or "nothing"
    return f"dagora: answered {listed}; sent {books.total.wire_sent / 1e6:.2f} MB"


def warn(line: str) -> None:
    """Show a warning."""
    click.echo(f"dagora: warning: {line}", err=True)
