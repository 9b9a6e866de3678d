"""Run all parties of a federation on one machine: a process for the coordinator and one for each site."""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dagora.commands.learn_options import LearnRequest
from dagora.commands.live_line import live_line
from dagora.wording import comma_list

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dagora.data.table import Table

COORDINATOR = "coordinator"
# Lines of the coordinator that are not passed on: where it listens, and errors, which are printed at the end.
HELD_BACK = re.compile(r"dagora: (listening|error: |interrupted|\S+ failed: )")


def run_parties(
    files: dict[str, Path], kinds: dict[str, list[str]], minimum: int, request: LearnRequest
) -> str:
    """Start all parties, wait until they end, and return what the coordinator printed.

    The first Ctrl-C goes to the coordinator, which ends its search and returns the best graph so far.
    """
    from dagora.commands.progress import interruptible
    from dagora.parties.processes.party_processes import PartyProcesses
    from dagora.parties.transport.certificates import temporary_certificates

    flags = [
        part for kind, columns in kinds.items() if columns for part in (f"--{kind}", comma_list(columns))
    ]
    flags += ["--minimum", str(minimum)]

    pass_on = live_line().pass_on

    def relay(party: str, line: str) -> None:
        if party == COORDINATOR and not HELD_BACK.match(line):
            pass_on(line)

    with (
        failing_as_the_party(),
        temporary_certificates([COORDINATOR, *files]) as credentials,
        PartyProcesses(on_line=None if request.quiet else relay) as processes,
    ):
        start = ["federate", "coordinator", "--keys", str(credentials[COORDINATOR].ca.parent), "--port", "0"]
        processes.start(COORDINATOR, [*start, "--sites", ",".join(files), *flags, *request.arguments()])
        said = processes.wait_for_line(COORDINATOR, r"listening on (\S+)", timeout=60.0)
        for name, file in files.items():
            keys = str(credentials[name].ca.parent)
            arguments = ["federate", "client", str(file), "--keys", keys, "--connect", said[1]]
            processes.start(name, [*arguments, "--quiet", "--show-weights", "--na", "none", *flags])
        with interruptible(lambda: processes.interrupt(COORDINATOR)):
            return processes.wait()[COORDINATOR].out


@contextmanager
def failing_as_the_party() -> Iterator[None]:
    """End as the party that failed did: with its output, its last line and its exit code."""
    from dagora.parties.processes.party_processes import PartyFailedError

    try:
        yield
    except PartyFailedError as failure:
        ended = failure.ended
        if ended.code < 0 or not ended.last_words.startswith("dagora: "):
            raise  # it was killed, or crashed
        whose = "" if ended.name == COORDINATOR else f"{ended.name}: "
        click.echo(ended.out, nl=False)
        # A file that could not be written has a line of its own, before the last one.
        errors = [line for line in ended.err.splitlines() if line.startswith("dagora: error: ")]
        for line in errors or [ended.last_words]:
            click.echo(line.replace("dagora: error: ", f"dagora: error: {whose}", 1), err=True)
        raise click.exceptions.Exit(ended.code) from None


@contextmanager
def site_files(parts: dict[str, Table]) -> Iterator[dict[str, Path]]:
    """Write the sites' tables to temporary files that only this user can read."""
    from dagora.data.writers import write_table
    from dagora.parties.private_folder import private_folder

    with private_folder() as folder:
        files = {name: folder / f"{name}.csv" for name in parts}
        for name, part in parts.items():
            write_table(part, files[name])
        yield files


def declared(table: Table) -> dict[str, Any]:
    """Names of the discrete and of the continuous columns, so that all parts of a table are read alike."""
    from dagora.data.schema import Kind

    kinds = {kind: [v.name for v in table.schema if v.kind is kind] for kind in Kind}
    return {"discrete": kinds[Kind.DISCRETE], "continuous": kinds[Kind.CONTINUOUS]}
