"""`dagora private`: columns split between two owners, neither of whom shows them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dagora.commands.federate import address, own_mistakes, seconds, warn
from dagora.commands.federate_processes import tidy_end
from dagora.commands.private_options import Asked, private_options

if TYPE_CHECKING:
    from dagora.parties.transport.certificates import Credentials
    from dagora.parties.vertical.session_log import SessionLog
    from dagora.result import Result

HOST, GUEST = "host", "guest"

EXAMPLES = """\b
Examples: two terminals, one for each owner
  dagora private certificates run
  dagora private host --data a.csv --key ID --max-parents 3 --certificates run/host
  dagora private join --data b.csv --key ID --connect 127.0.0.1:7200 --certificates run/guest
\b
Both at once, to try it out:
  dagora private simulate a.csv b.csv --key ID --max-parents 3
"""


DROP = click.option("--drop", default="", metavar="A,B", help="Columns to leave out.")
DATA = click.option("--data", required=True, metavar="FILE", help="Table of this party.")
CERTIFICATES = click.option(
    "--certificates", "folder", required=True, metavar="FOLDER", help="This party's certificates."
)
WAIT = click.option(
    "--wait",
    type=float,
    callback=seconds,
    default=300.0,
    show_default=True,
    help="Seconds to wait for the other to come.",
)
LOG = click.option(
    "--log", metavar="FILE", help="This party's log of sessions (sessions.jsonl in its certificates' folder)."
)
MAX_SESSIONS = click.option(
    "--max-sessions",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="No column of this party takes part in more.",
)


@click.group("private", short_help="Learn from columns of two owners.", epilog=EXAMPLES)
def command() -> None:
    """Learn a network (K2) from the columns of two owners who do not show them to each other.

    Both files have a key column; the rows with common keys count. All other columns have two levels. Both
    learn the names of all columns, the common keys and the graph: each run says who learned what. An option
    that the guest gives must be the host's; what it leaves out is the host's choice.
    """


@command.command("certificates", short_help="Make certificates for both.")
@click.argument("folder")
@click.option(
    "--days", type=click.IntRange(1, 36500), default=30, show_default=True, help="They are valid so long."
)
def certificates(*, folder: str, days: int) -> None:
    """Make FOLDER/host and FOLDER/guest; each goes to that party alone, FOLDER/ca.key to nobody."""
    from dagora.parties.transport.certificates import make_certificates

    with own_mistakes():
        make_certificates(folder, [HOST, GUEST], days=days)
    for name in (HOST, GUEST):
        click.echo(str(Path(folder) / name))


@command.command("host", short_help="Wait for the other owner, then learn together.")
@DATA
@DROP
@CERTIFICATES
@click.option("--host", "where", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=7200, show_default=True, help="0: any.")
@WAIT
@LOG
@MAX_SESSIONS
@private_options
def host(
    *,
    data: str,
    drop: str,
    folder: str,
    where: str,
    port: int,
    wait: float,
    log: str | None,
    max_sessions: int,
    asked: Asked,
) -> None:
    """Propose the terms, wait for the guest, and learn together."""
    from dagora.parties.transport.listener import Listener
    from dagora.vertical import learn_with

    asked.check()
    credentials = own_credentials(folder, HOST)
    party_data = asked.party_data(data, drop)
    sessions = own_log(log, folder, max_sessions, party_data.table.names)
    with Listener(
        credentials, [GUEST], host=where, port=port, timeout=asked.patience, on_refusal=warn
    ) as listener:
        click.echo(f"dagora: listening on {where}:{listener.port} for the guest", err=True)
        transport = listener.accept(timeout=wait)
    with asked.progress() as on_event:
        result = learn_with(
            transport,
            "host",
            party_data,
            asked.proposal,
            on_event=on_event,
            on_terms=asked.tell,
            log=sessions,
        )
    asked.present(result)


@command.command("join", short_help="Join the host and learn together.")
@DATA
@DROP
@CERTIFICATES
@click.option("--connect", required=True, metavar="HOST:PORT", help="Where the host listens.")
@WAIT
@LOG
@MAX_SESSIONS
@private_options
def join(
    *,
    data: str,
    drop: str,
    folder: str,
    connect: str,
    wait: float,
    log: str | None,
    max_sessions: int,
    asked: Asked,
) -> None:
    """Join the host, see its terms, and learn together."""
    from dagora.parties.transport.tcp import connect as connect_to
    from dagora.vertical import learn_with

    asked.check()
    where, port = address(connect)
    credentials = own_credentials(folder, GUEST)
    party_data = asked.party_data(data, drop)
    sessions = own_log(log, folder, max_sessions, party_data.table.names)
    transport = connect_to(credentials, where, port, peer=HOST, wait=wait, timeout=asked.patience)
    with asked.progress() as on_event:
        result = learn_with(
            transport,
            "guest",
            party_data,
            asked.proposal,
            on_event=on_event,
            on_terms=asked.tell,
            log=sessions,
        )
    asked.present(result)


@command.command("simulate", short_help="Both owners on this machine.")
@click.argument("host_data")
@click.argument("guest_data")
@click.option("--in-memory", is_flag=True, help="Parties as threads of one process, without sockets.")
@private_options
def simulate(*, host_data: str, guest_data: str, in_memory: bool, asked: Asked) -> None:
    """Run both owners as processes of their own on a TLS connection, with fresh certificates."""
    from dagora.parties.vertical.agreement import combine_proposals

    asked.check()
    # Bad files and terms are refused here, in one line, before anything is started.
    host, guest = asked.party_data(host_data), asked.party_data(guest_data)
    combine_proposals(host.table.names, guest.table.names, asked.proposal.complete(), asked.proposal)
    if in_memory:
        from dagora.vertical import learn_both

        with asked.progress() as on_event:
            result = learn_both(host, guest, asked.proposal, on_event=on_event)
    else:
        with tidy_end():
            result = run_parties(host_data, guest_data, asked)
    asked.present(result)


def run_parties(host_data: str, guest_data: str, asked: Asked) -> Result:
    """Start both, wait for the end, and return the host's result."""
    from dagora.parties.vertical.simulation import run_both

    def relay(party: str, line: str) -> None:
        # How it fails is said once, in the end.
        if party == HOST and not line.startswith(("dagora: listening", "dagora: error")):
            click.echo(line, err=True)

    both = run_both(
        host_data,
        guest_data,
        asked.arguments(host=True),
        asked.arguments(host=False),
        on_line=None if asked.quiet else relay,
    )
    return both.host


def own_log(log: str | None, folder: str, limit: int, columns: tuple[str, ...]) -> SessionLog:
    """A party's log; columns that were in too many sessions are refused, and in any they are pointed out."""
    from dagora.parties.vertical.session_log import FILE_NAME, SessionLog

    sessions = SessionLog(Path(log) if log else Path(folder) / FILE_NAME, limit)
    count = sessions.check(columns)
    if count:
        times = "1 session" if count == 1 else f"{count} sessions"
        warn(f"these columns were in {times} before (limit {limit}): each reveals more ({sessions.path})")
    return sessions


def own_credentials(folder: str, name: str) -> Credentials:
    """A party's certificates, which must be its own."""
    from dagora.errors import OptionError
    from dagora.parties.transport.certificates import Credentials

    with own_mistakes():
        credentials = Credentials.load(folder, made_by="dagora private certificates")
    if credentials.name != name:
        raise OptionError(f"--certificates {folder} are those of '{credentials.name}', not of the {name}")
    return credentials
