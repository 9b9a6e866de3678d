"""`dagora private`: learn from columns of two or more owners, who do not show them to each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dagora.base.extras import FOR_OWNERS, require_all
from dagora.cli import completing
from dagora.cli.help_pages import PagedCommand
from dagora.cli.live_line import live_line, quiet_option
from dagora.cli.own_log import own_log, warn_of_failures
from dagora.cli.party_options import (
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
from dagora.cli.private_group import command as group_command
from dagora.cli.private_options import PrivateRequest, private_options
from dagora.cli.terminal import echo

if TYPE_CHECKING:
    from dagora.learners.result import Result
    from dagora.parties.transport.certificates import Credentials
    from dagora.parties.transport.tcp import TcpTransport
    from dagora.parties.vertical.agreement import Role
    from dagora.parties.vertical.private_k2 import PartyData
    from dagora.parties.vertical.session_log import SessionLog

HOST, GUEST = "host", "guest"

EXAMPLES = """\b
Examples: two terminals, one for each owner
  dagora private certificates run
  dagora private host --data a.csv --key ID --max-parents 3 --certificates run/host
  dagora private join --data b.csv --key ID --connect 127.0.0.1:7200 --certificates run/guest
\b
Both at once, to try it out (three and more files: `dagora private group`):
  dagora private simulate a.csv b.csv --key ID --max-parents 3
"""


DROP = click.option("--drop", default="", metavar="A,B", help="Columns to leave out.")
DATA = click.option("--data", required=True, metavar="FILE", help="Table of this party.")
CERTIFICATES = click.option(
    "--certificates", "folder", required=True, metavar="FOLDER", help="Folder of this party's certificate."
)
WAIT = seconds_option("--wait", 300.0, "Seconds to wait for the other party to connect.")
LOG = click.option(
    "--log", metavar="FILE", help="This party's log of sessions; default: sessions.jsonl in --certificates."
)
MAX_SESSIONS = click.option(
    "--max-sessions",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Most sessions that a column of this party may take part in.",
)


@click.group("private", short_help="Learn from columns of two owners.", epilog=EXAMPLES)
def command() -> None:
    """Learn a network (K2) from the columns of two owners who do not show them to each other.

    Both files have a key column; rows whose key is in both files are used. All other columns must have 2 to 5
    levels. Both owners learn the names of all columns and how many levels each has, how many keys the other
    has, the common keys and the graph; each run prints who learned what. Options that the guest gives must
    agree with the host's; the host decides the others. Three and more owners: see `dagora private group
    --help`.
    """


command.add_command(group_command)


@command.command("certificates", cls=PagedCommand, short_help="Make certificates for both parties.")
@click.argument("folder")
@DAYS
@quiet_option()
def certificates(*, folder: str, days: int) -> None:
    """Make FOLDER/host and FOLDER/guest: give each to that party only, and FOLDER/ca.key to nobody."""
    require_all(FOR_OWNERS, "dagora private")
    from dagora.parties.transport.certificates import make_certificates

    with as_bad_input():
        make_certificates(folder, [HOST, GUEST], days=days)
    for name in (HOST, GUEST):
        echo(str(Path(folder) / name))


@command.command("host", cls=PagedCommand, short_help="Wait for the other owner, then learn together.")
@DATA
@DROP
@CERTIFICATES
@listening_host("where")
@listening_port(7200)
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
    request: PrivateRequest,
) -> None:
    """Propose the terms, wait for the guest, and learn together."""
    request.check_packages()
    from dagora.parties.transport.listener import Listener
    from dagora.parties.vertical.private_k2 import check_before_contact

    request.check(data)
    credentials = own_credentials(folder, HOST)
    party_data = request.party_data(data, drop)
    check_before_contact(party_data, request.proposal)
    sessions = own_log(log, folder, max_sessions, party_data.table.names)
    with Listener(
        credentials, [GUEST], host=where, port=port, timeout=request.patience, on_refusal=warn
    ) as listener:
        echo(f"dagora: listening on {where}:{listener.port} for the guest", err=True)
        live_line().phase("waiting for the guest")
        transport = listener.accept(timeout=wait)
    run_over_sites(transport, "host", GUEST, party_data, request, sessions)


@command.command("join", cls=PagedCommand, short_help="Join the host and learn together.")
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
    request: PrivateRequest,
) -> None:
    """Join the host, see its terms, and learn together."""
    request.check_packages()
    from dagora.parties.transport.tcp import connect as connect_to
    from dagora.parties.vertical.private_k2 import check_before_contact

    request.check(data)
    where, port = address(connect)
    credentials = own_credentials(folder, GUEST)
    party_data = request.party_data(data, drop)
    check_before_contact(party_data, request.proposal)
    sessions = own_log(log, folder, max_sessions, party_data.table.names)
    live_line().phase("waiting for the host")
    transport = connect_to(credentials, where, port, peer=HOST, wait=wait, timeout=request.patience)
    run_over_sites(transport, "guest", HOST, party_data, request, sessions)


def run_over_sites(
    transport: TcpTransport,
    role: Role,
    peer: str,
    party_data: PartyData,
    request: PrivateRequest,
    sessions: SessionLog,
) -> None:
    """Greet the other owner, learn together, and present the result."""
    from dagora.parties.vertical.private_session import join_private

    request.greet(peer, transport.fingerprints[peer])
    warn_of_failures(sessions, peer, transport.fingerprints[peer], request.proposal.security)
    result = join_private(
        transport,
        role,
        party_data,
        request.proposal,
        on_event=live_line(),
        on_offer=lambda terms: request.state_costs(terms, party_data),
        on_terms=lambda terms: request.tell(terms, party_data),
        log=sessions,
        shares=request.shares,
    )
    request.present(result, party_data)


@command.command("simulate", cls=PagedCommand, short_help="Run all owners on this machine.")
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE FILE [FILE]...", shell_complete=completing.files
)
@IN_MEMORY
@private_options
def simulate(*, files: tuple[str, ...], in_memory: bool, request: PrivateRequest) -> None:
    """Run two or more owners as separate processes that talk over TLS, with temporary certificates."""
    request.check_packages()
    from dagora.base.errors import OptionError

    request.check()
    if len(files) < 2:
        raise OptionError("there is one file: name one for each of two or more owners")
    if len(files) > 2:
        simulate_group(files, request, in_memory=in_memory)
        return
    simulate_two(files[0], files[1], request, in_memory=in_memory)


def simulate_two(host_data: str, guest_data: str, request: PrivateRequest, *, in_memory: bool) -> None:
    """Run host and guest."""
    from dagora.cli.outputs import check_overwriting
    from dagora.parties.vertical.agreement import combine_proposals
    from dagora.parties.vertical.columns import column_levels
    from dagora.parties.vertical.parameter_output import shares_file

    # Bad files and terms are refused here, in one line, before anything is started.
    if request.shares:
        both = [str(shares_file(request.shares, role)) for role in (HOST, GUEST)]
        check_overwriting([request.output, request.report, *both], [host_data, guest_data])
    host, guest = request.party_data(host_data), request.party_data(guest_data)
    levels = column_levels(host.table) + column_levels(guest.table)
    proposal = request.proposal
    combine_proposals(host.table.names, guest.table.names, proposal.complete(), proposal, levels)
    for brought in (host, guest):
        request.show_reading(brought)
    if in_memory:
        from dagora.parties.vertical.private_session import run_both_parties

        result = run_both_parties(host, guest, request.proposal, on_event=live_line(), shares=request.shares)
    else:
        with tidy_end():
            result = run_parties(host_data, guest_data, request)
    request.present(result, host)


def simulate_group(files: tuple[str, ...], request: PrivateRequest, *, in_memory: bool) -> None:
    """Run three and more owners."""
    from dagora.base.errors import OptionError
    from dagora.cli.private_group import present
    from dagora.parties.processes.simulation import owner_names, run_group
    from dagora.parties.replicated.group_session import run_all_owners
    from dagora.parties.replicated.terms import LEAST_ROWS, GroupProposal, check_owners, combine

    if request.mode == "adaptive" or request.crypto is not None:
        raise OptionError(
            "three and more owners compute on shares in hidden mode: leave out --mode, --crypto"
        )
    if request.levels or request.shares or request.parameters not in {None, "none"}:
        raise OptionError(
            "three and more owners learn the graph of columns of two levels: leave out --levels, "
            "--parameters, --shares"
        )
    if request.security == "malicious":
        raise OptionError(
            "three and more owners are protected against semi-honest ones only: leave out --security"
        )
    least = LEAST_ROWS if request.min_rows is None else request.min_rows
    proposal = GroupProposal(request.order, request.max_parents, request.score, least)
    names = check_owners(owner_names(len(files)))
    # Bad files and terms are refused here, in one line, before anything is started.
    brought = {name: request.party_data(file) for name, file in zip(names, files, strict=True)}
    combine({name: each.table.names for name, each in brought.items()}, proposal, {})
    for each in brought.values():
        request.show_reading(each)
    if in_memory:
        result = run_all_owners(brought, proposal, on_event=live_line())
    else:
        told = ("dagora: listening", "dagora: 'owner", "dagora: error", "dagora: warning")
        pass_on = live_line().pass_on

        def relay(party: str, line: str) -> None:
            # Errors are printed once, at the end; how the columns were understood was told already.
            if party == names[0] and not line.startswith(told):
                pass_on(line)

        both = (*request.reading_arguments(), "--min-rows", str(least))
        with tidy_end():
            result = run_group(
                files,
                [*both, *request.group_terms(), *(["--quiet"] if request.quiet else [])],
                [*both, "--quiet"],
                on_line=None if request.quiet else relay,
            )[names[0]]
    present(result, request.output, request.report, as_json=request.as_json, quiet=request.quiet)


def run_parties(host_data: str, guest_data: str, request: PrivateRequest) -> Result:
    """Start both parties, wait until they end, and return the host's result."""
    from dagora.parties.processes.simulation import run_both

    pass_on = live_line().pass_on

    def relay(party: str, line: str) -> None:
        # Errors are printed once, at the end; how the columns were understood was told already.
        told = ("dagora: listening", "dagora: the guest shows", "dagora: error", "dagora: warning")
        if party == HOST and not line.startswith(told):
            pass_on(line)

    both = run_both(
        host_data,
        guest_data,
        request.arguments(host=True),
        request.arguments(host=False),
        on_line=None if request.quiet else relay,
    )
    return both.host


def own_credentials(folder: str, name: str) -> Credentials:
    """Load a party's certificate, which must be its own."""
    from dagora.base.errors import OptionError
    from dagora.parties.transport.certificates import Credentials

    with as_bad_input():
        credentials = Credentials.load(folder, made_by="dagora private certificates")
    if credentials.name != name:
        raise OptionError(f"--certificates {folder} are those of '{credentials.name}', not of the {name}")
    return credentials
