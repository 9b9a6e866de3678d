"""`dagora private`: columns split between two owners, neither of whom shows them."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from dagora.commands.data_options import names
from dagora.commands.federate import address, own_mistakes, seconds, tidy_end, warn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dagora.events import Observer
    from dagora.parties.certificates import Credentials
    from dagora.parties.vertical.agreement import Terms, Wishes
    from dagora.parties.vertical.private_k2 import Holding
    from dagora.result import Result

F = TypeVar("F", bound=Callable[..., Any])

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


@dataclass(frozen=True)
class Asked:
    """What a party reads, wants and writes."""

    key: str
    separator: str | None
    max_parents: int | None
    order: str | None
    score: str | None
    mode: str | None
    crypto: str | None
    patience: float
    output: str | None
    as_json: bool
    quiet: bool

    @property
    def wishes(self) -> Wishes:
        """What goes into the agreement."""
        from dagora.parties.vertical.agreement import Wishes

        return Wishes(self.order, self.max_parents, self.score, self.mode, self.crypto)

    def check(self) -> None:
        """Refuse what can be refused before any data are read."""
        from dagora.commands.outputs import check_output

        _ = self.wishes
        if self.output:
            check_output(self.output, None)

    def holding(self, path: str, drop: str = "") -> Holding:
        """Read a file with its key column."""
        from dagora.vertical import holding

        return holding(path, self.key, drop=names(drop), separator=self.separator)

    @contextmanager
    def progress(self) -> Iterator[Observer]:
        """Progress on standard error. Ctrl-C ends the run for both: half a search is no result."""
        from dagora.commands.progress import ProgressLine
        from dagora.events import ignore

        line = None if self.quiet else ProgressLine()
        try:
            yield line or ignore
        finally:
            if line:
                line.close()

    def tell(self, terms: Terms) -> None:
        """Say what was agreed, before anything that depends on rows is sent."""
        if not self.quiet:
            click.echo(f"dagora: agreed: {terms.describe()}", err=True)

    def present(self, result: Result) -> None:
        """Write and print, and say who learned what."""
        from dagora.commands.outputs import show_result, write_result

        if self.output:
            write_result(result, None, self.output)
        if self.as_json:
            click.echo(json.dumps(result.to_dict(), ensure_ascii=False, allow_nan=False))
            return
        show_result(result, None, [self.output] if self.output else [])
        if not self.quiet:
            click.echo("")
            for sentence in result.settings["leakage"]:
                click.echo(f"· {sentence}")

    def arguments(self, *, host: bool) -> list[str]:
        """The same on a command line, for a party of a simulation, whose result is read again."""
        given: list[tuple[str, object]] = [
            ("--key", self.key),
            ("--separator", self.separator),
            ("--patience", self.patience),
        ]
        if host:
            given += [
                ("--max-parents", self.max_parents),
                ("--order", self.order),
                ("--score", self.score),
                ("--mode", self.mode),
                ("--crypto", self.crypto),
            ]
        line = [part for flag, value in given if value is not None for part in (flag, str(value))]
        return [*line, "--json", *(["--quiet"] if self.quiet or not host else [])]


def private_options(command: F) -> F:
    """Add the options that all parties have; the command gets them as one argument `asked`."""

    @wraps(command)
    def wrapped(**given: Any) -> Any:  # noqa: ANN401
        chosen = {field.name: given.pop(field.name) for field in fields(Asked)}
        return command(asked=Asked(**chosen), **given)

    decorators = (
        click.option("--key", required=True, metavar="COLUMN", help="Column that identifies rows."),
        click.option(
            "--separator", metavar="CHAR", help="Column separator of a text file (comma; tab for .tsv)."
        ),
        click.option("--max-parents", type=int, metavar="U", help="No variable gets more (host: 3)."),
        click.option(
            "--order", metavar="A,B,C", help="All variables of both (host: its own, then the guest's)."
        ),
        click.option("--score", type=click.Choice(["f", "g"]), help="f: exact (default); g: the paper's."),
        click.option(
            "--mode",
            type=click.Choice(["hidden", "adaptive"]),
            help="hidden: only the graph comes out (default); adaptive: also the steps of the search.",
        ),
        click.option(
            "--crypto", type=click.Choice(["rlwe", "paillier"]), help="For dot products (default: rlwe)."
        ),
        click.option(
            "--patience",
            type=float,
            callback=seconds,
            default=600.0,
            show_default=True,
            help="Seconds to wait for a message of the other.",
        ),
        click.option("-o", "--output", metavar="FILE", help="Write the graph: .json .dot .graphml .csv"),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
        click.option("--quiet", is_flag=True, help="Print the graph and nothing else."),
    )
    result: Callable[..., Any] = wrapped
    for decorator in reversed(decorators):
        result = decorator(result)
    return cast("F", result)


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
    from dagora.parties.certificates import make_certificates

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
@private_options
def host(*, data: str, drop: str, folder: str, where: str, port: int, wait: float, asked: Asked) -> None:
    """Propose the terms, wait for the guest, and learn together."""
    from dagora.parties.listener import Listener
    from dagora.vertical import learn_with

    asked.check()
    credentials = own_credentials(folder, HOST)
    holding = asked.holding(data, drop)
    with Listener(
        credentials, [GUEST], host=where, port=port, timeout=asked.patience, on_refusal=warn
    ) as listener:
        click.echo(f"dagora: listening on {where}:{listener.port} for the guest", err=True)
        transport = listener.accept(timeout=wait)
    with asked.progress() as on_event:
        result = learn_with(transport, "host", holding, asked.wishes, on_event=on_event, on_terms=asked.tell)
    asked.present(result)


@command.command("join", short_help="Join the host and learn together.")
@DATA
@DROP
@CERTIFICATES
@click.option("--connect", required=True, metavar="HOST:PORT", help="Where the host listens.")
@WAIT
@private_options
def join(*, data: str, drop: str, folder: str, connect: str, wait: float, asked: Asked) -> None:
    """Join the host, see its terms, and learn together."""
    from dagora.parties.tcp import connect as connect_to
    from dagora.vertical import learn_with

    asked.check()
    where, port = address(connect)
    credentials = own_credentials(folder, GUEST)
    holding = asked.holding(data, drop)
    transport = connect_to(credentials, where, port, peer=HOST, wait=wait, timeout=asked.patience)
    with asked.progress() as on_event:
        result = learn_with(transport, "guest", holding, asked.wishes, on_event=on_event, on_terms=asked.tell)
    asked.present(result)


@command.command("simulate", short_help="Both owners on this machine.")
@click.argument("host_data")
@click.argument("guest_data")
@click.option("--in-memory", is_flag=True, help="Parties as threads of one process, without sockets.")
@private_options
def simulate(*, host_data: str, guest_data: str, in_memory: bool, asked: Asked) -> None:
    """Run both owners as processes of their own on a TLS connection, with fresh certificates."""
    from dagora.parties.vertical.agreement import put_together

    asked.check()
    # Bad files and terms are refused here, in one line, before anything is started.
    host, guest = asked.holding(host_data), asked.holding(guest_data)
    put_together(host.table.names, guest.table.names, asked.wishes.complete(), asked.wishes)
    if in_memory:
        from dagora.vertical import learn_both

        with asked.progress() as on_event:
            result = learn_both(host, guest, asked.wishes, on_event=on_event)
    else:
        with tidy_end():
            result = run_parties(host_data, guest_data, asked)
    asked.present(result)


def run_parties(host_data: str, guest_data: str, asked: Asked) -> Result:
    """Start both, wait for the end, and return the host's result once the guest's agrees."""
    from dagora.errors import ProtocolError
    from dagora.parties.certificates import temporary_certificates
    from dagora.parties.processes import Processes
    from dagora.result import Result

    def relay(party: str, line: str) -> None:
        # How it fails is said once, in the end.
        if party == HOST and not line.startswith(("dagora: listening", "dagora: error")):
            click.echo(line, err=True)

    with (
        temporary_certificates([HOST, GUEST]) as credentials,
        Processes(on_line=None if asked.quiet else relay) as processes,
    ):
        keys = {name: ["--certificates", str(credentials[name].ca.parent)] for name in (HOST, GUEST)}
        start = ["private", "host", "--data", host_data, *keys[HOST], "--port", "0"]
        processes.start(HOST, [*start, *asked.arguments(host=True)])
        said = processes.wait_for_line(HOST, r"listening on (\S+)", timeout=60.0)
        join = ["private", "join", "--data", guest_data, *keys[GUEST], "--connect", said[1]]
        processes.start(GUEST, [*join, *asked.arguments(host=False)])
        ended = processes.wait()
    ours, theirs = (Result.from_json(ended[name].out) for name in (HOST, GUEST))
    if ours.graph.edges != theirs.graph.edges:
        raise ProtocolError("host and guest ended with different graphs, which should never happen")
    return ours


def own_credentials(folder: str, name: str) -> Credentials:
    """A party's certificates, which must be its own."""
    from dagora.errors import OptionError
    from dagora.parties.certificates import Credentials

    with own_mistakes():
        credentials = Credentials.load(folder)
    if credentials.name != name:
        raise OptionError(f"--certificates {folder} are those of '{credentials.name}', not of the {name}")
    return credentials
