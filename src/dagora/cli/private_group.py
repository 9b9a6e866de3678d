"""`dagora private group`: learn from columns of three and more owners, none of whom shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dagora.base.extras import FOR_OWNERS, require_all
from dagora.base.phrases import split_list
from dagora.cli.data_options import CELLS, given_options, show_overview, show_warnings
from dagora.cli.gathering import F, gather_options
from dagora.cli.help_pages import PagedCommand
from dagora.cli.learn_options import REPORT
from dagora.cli.live_line import live_line, quiet_option
from dagora.cli.party_options import (
    DAYS,
    Decorator,
    address,
    as_bad_input,
    listening_host,
    listening_port,
    seconds_option,
    warn,
)
from dagora.cli.terminal import echo

if TYPE_CHECKING:
    from dagora.learners.result import Result
    from dagora.parties.replicated.terms import GroupProposal, GroupTerms
    from dagora.parties.transport.certificates import Credentials
    from dagora.parties.transport.transport import Transport
    from dagora.parties.vertical.private_k2 import PartyData
    from dagora.parties.vertical.session_log import SessionLog

EXAMPLES = """\b
Examples: three terminals, one for each owner
  dagora private group certificates run clinic lab registry
  dagora private group host --data a.csv --key ID --owners clinic,lab,registry --certificates run/clinic
  dagora private group join --data b.csv --key ID --owners clinic,lab,registry --connect 127.0.0.1:7200
    --certificates run/lab    (and so the third)
\b
All at once, to try it out:
  dagora private simulate a.csv b.csv c.csv --key ID
"""
MADE_BY = "dagora private group certificates"


@dataclass(frozen=True)
class GroupRequest:
    """The input of an owner, its terms, and its output."""

    data: str
    key: str
    drop: str
    given: Mapping[str, Any]
    folder: str
    owners: str | None
    max_parents: int | None
    order: str | None
    score: str | None
    min_rows: int
    wait: float
    patience: float
    log: str | None
    max_sessions: int
    output: str | None
    report: str | None
    as_json: bool
    quiet: bool

    def proposal(self) -> GroupProposal:
        """The terms that this owner wants."""
        from dagora.parties.replicated.terms import GroupProposal

        with as_bad_input():
            owners = tuple(split_list(self.owners)) if self.owners else None
            return GroupProposal(self.order, self.max_parents, self.score, self.min_rows, owners)

    def all_owners(self) -> tuple[str, ...]:
        """All owners, named by each owner itself: any two of the three that compute see every column."""
        from dagora.base.errors import OptionError

        owners = self.proposal().owners
        if owners is None:
            raise OptionError(
                "--owners must name all owners, the host first, such as clinic,lab,registry: of the first "
                "three, which compute, any two can together see every column"
            )
        return owners

    def prepare(self) -> tuple[Credentials, PartyData, SessionLog]:
        """Refuse invalid options, files, certificates and columns before anybody is contacted."""
        from dagora.cli.outputs import check_output, check_report
        from dagora.cli.own_log import own_log
        from dagora.parties.transport.certificates import Credentials
        from dagora.parties.vertical.private_session import read_party_data

        self.proposal()
        if self.output:
            check_output(self.output, (), None)
        if self.report:
            check_report(self.report)
        with as_bad_input():
            credentials = Credentials.load(self.folder, made_by=MADE_BY)
        live_line().phase(f"reading {self.data}")
        dropped = split_list(self.drop)
        brought = read_party_data(self.data, self.key, drop=dropped, **self.given)
        return credentials, brought, own_log(self.log, self.folder, self.max_sessions, brought.table.names)

    def learn(
        self, transport: Transport, owners: tuple[str, ...], brought: PartyData, log: SessionLog
    ) -> None:
        """Learn together, write files, print the result and who learned what."""
        from dagora.parties.replicated.group_session import join_group

        if not self.quiet:
            for peer, shown in transport.fingerprints.items():
                echo(f"dagora: '{peer}' shows the certificate {shown}", err=True)
        result = join_group(
            transport,
            owners,
            brought,
            self.proposal(),
            on_event=live_line(),
            on_terms=lambda terms: self.tell(terms, brought),
            log=log,
        )
        present(result, self.output, self.report, as_json=self.as_json, quiet=self.quiet)

    def tell(self, terms: GroupTerms, brought: PartyData) -> None:
        """Print how the columns were understood and the agreed terms, before anything about rows is sent."""
        overview = brought.table.overview
        if self.quiet:
            return
        if overview is not None and self.as_json:
            show_warnings(overview.warnings)
        elif overview is not None:
            show_overview(overview, brought.source)
        echo(f"dagora: agreed: {terms.describe()}", err=True)


def present(result: Result, output: str | None, report: str | None, *, as_json: bool, quiet: bool) -> None:
    """Write files, print the result, and print who learned what."""
    from dagora.cli.outputs import show_result, write_result
    from dagora.cli.writing import Files
    from dagora.report import write_report

    files = Files()
    files.write(output, lambda path: write_result(result, None, path))
    source = f"columns of {len(result.settings['owners'])} owners"
    files.write(report, lambda path: write_report(result, path, source=source))
    if not quiet:
        show_warnings(files.notes, "note")
    if as_json:
        echo(result.to_json())
    else:
        show_result(result, None, files.written)
        if not quiet:
            echo("")
            for sentence in result.settings["leakage"]:
                echo(f"· {sentence}")
    files.end()


def min_rows_option(default: int | None) -> Decorator:
    """The option --min-rows."""
    return click.option(
        "--min-rows", type=int, default=default, show_default=default is not None, metavar="N",
        help="Take part only with at least so many rows.",
    )  # fmt: skip


def group_options(command: F) -> F:
    """Add the options that all owners have; the command gets them as one argument `request`."""
    options: tuple[Decorator, ...] = (
        click.option("--data", required=True, metavar="FILE", help="Table of this owner."),
        click.option("--key", required=True, metavar="COLUMN", help="Column that identifies the rows."),
        click.option("--drop", default="", metavar="A,B", help="Columns to leave out."),
        *given_options(names=CELLS),
        click.option(
            "--certificates", "folder", required=True, metavar="FOLDER",
            help="Folder of this owner's certificate.",
        ),
        click.option(
            "--owners", metavar="A,B,C",
            help="All owners by the names in their certificates, the host first; the first three compute.",
        ),
        click.option(
            "--max-parents", type=int, metavar="U",
            help="Most parents that a variable may have (the host's default: 3).",
        ),
        click.option(
            "--order", metavar="A,B,C",
            help="Order of all variables, parents first (the host's default: owner by owner).",
        ),
        click.option(
            "--score", type=click.Choice(["f", "g"]),
            help="f: exact (default); g: by Stirling's formula, our reconstruction of the paper's.",
        ),
        min_rows_option(10),
        seconds_option("--wait", 300.0, "Seconds to wait for the other owners to connect."),
        seconds_option("--patience", 600.0, "Seconds to wait for each message of another owner."),
        click.option(
            "--log", metavar="FILE",
            help="This owner's log of sessions; default: sessions.jsonl in --certificates.",
        ),
        click.option(
            "--max-sessions", type=click.IntRange(1), default=10, show_default=True,
            help="Most sessions that a column of this owner may take part in.",
        ),
        click.option("-o", "--output", metavar="FILE", help="Write the graph: .json .dot .graphml .csv"),
        REPORT,
        click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object."),
        quiet_option("Print the graph and nothing else.", passed=True),
    )  # fmt: skip
    return gather_options(command, GroupRequest, "request", options, CELLS)


@click.group("group", short_help="Learn from columns of three and more owners.", epilog=EXAMPLES)
def command() -> None:
    """Learn a network (K2) from the columns of three and more owners who do not show them.

    Every owner must bring the same rows, by a key column, in any sequence; all other columns must have two
    levels. Three of the owners compute on shares of all columns. None of them alone learns anything but the
    graph, but any two of these three together can see every column of everybody: choose them so that no two
    would join against the others.
    """


@command.command("certificates", cls=PagedCommand, short_help="Make certificates for all owners.")
@click.argument("folder")
@click.argument("names", nargs=-1, required=True)
@DAYS
@quiet_option()
def certificates(*, folder: str, names: tuple[str, ...], days: int) -> None:
    """Make FOLDER/NAME for each owner: give each to that owner only, and FOLDER/ca.key to nobody."""
    require_all(FOR_OWNERS, "dagora private")
    from dagora.parties.replicated.terms import check_owners
    from dagora.parties.transport.certificates import make_certificates

    with as_bad_input():
        make_certificates(folder, check_owners(names), days=days)
    for name in names:
        echo(str(Path(folder) / name))


@command.command("host", cls=PagedCommand, short_help="Wait for the other owners, then learn together.")
@listening_host("where")
@listening_port(7200)
@group_options
def host(*, where: str, port: int, request: GroupRequest) -> None:
    """Propose the terms, wait for the other owners, and learn together."""
    require_all(FOR_OWNERS, "dagora private")
    from dagora.base.errors import OptionError
    from dagora.parties.replicated.meeting import receive_owners
    from dagora.parties.transport.listener import Listener

    owners = request.all_owners()
    credentials, brought, log = request.prepare()
    if owners[0] != credentials.name:
        raise OptionError(
            f"--owners must begin with '{credentials.name}', whose certificates these are, not '{owners[0]}'"
        )
    with Listener(
        credentials, owners[1:], host=where, port=port, timeout=request.patience, on_refusal=warn
    ) as listener:
        others = f"{len(owners) - 1} other owners"
        echo(f"dagora: listening on {where}:{listener.port} for {others}", err=True)
        live_line().phase("waiting for the other owners")
        transport, roster = receive_owners(listener, owners, wait=request.wait)
    request.learn(transport, roster, brought, log)


@command.command("join", cls=PagedCommand, short_help="Join the host and learn together.")
@click.option("--connect", required=True, metavar="HOST:PORT", help="Where the host listens.")
@click.option(
    "--host", "where", default="127.0.0.1", show_default=True,
    help="Address at which this owner listens for the others, if it computes; they are told this address.",
)  # fmt: skip
@listening_port(0)
@group_options
def join(*, connect: str, where: str, port: int, request: GroupRequest) -> None:
    """Join the host, see its terms, and learn together."""
    require_all(FOR_OWNERS, "dagora private")
    from dagora.parties.replicated.meeting import join_owners

    to, its_port = address(connect)
    owners = request.all_owners()
    credentials, brought, log = request.prepare()
    live_line().phase("waiting for the other owners")
    transport, roster = join_owners(
        credentials, owners, to, its_port, where=where, own_port=port,
        wait=request.wait, timeout=request.patience, on_refusal=warn,
    )  # fmt: skip
    request.learn(transport, roster, brought, log)
