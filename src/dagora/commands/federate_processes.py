"""All parties of a federation on one machine: a process for the coordinator and one for each site."""

from __future__ import annotations

import shutil
import signal
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dagora.commands.data_options import list_names
from dagora.commands.learn_options import Request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dagora.data.table import Table

COORDINATOR = "coordinator"


def run_parties(files: dict[str, Path], kinds: dict[str, list[str]], minimum: int, request: Request) -> str:
    """Start everybody, wait for the end, and return what the coordinator said."""
    from dagora.parties.certificates import temporary_certificates
    from dagora.parties.processes import Processes

    flags = [
        part for kind, columns in kinds.items() if columns for part in (f"--{kind}", list_names(columns))
    ]
    flags += ["--minimum", str(minimum)]

    def relay(party: str, line: str) -> None:
        # How it fails is said once, in the end.
        if party == COORDINATOR and not line.startswith(("dagora: listening", "dagora: error")):
            click.echo(line, err=True)

    with (
        temporary_certificates([COORDINATOR, *files]) as credentials,
        Processes(on_line=None if request.quiet else relay) as processes,
    ):
        start = ["federate", "coordinator", "--keys", str(credentials[COORDINATOR].ca.parent), "--port", "0"]
        processes.start(COORDINATOR, [*start, "--sites", ",".join(files), *flags, *request.arguments()])
        said = processes.wait_for_line(COORDINATOR, r"listening on (\S+)", timeout=60.0)
        for name, file in files.items():
            keys = str(credentials[name].ca.parent)
            arguments = ["federate", "client", str(file), "--keys", keys, "--connect", said[1]]
            processes.start(name, [*arguments, "--quiet", "--show-weights", *flags])
        return processes.wait()[COORDINATOR].out


@contextmanager
def tidy_end() -> Iterator[None]:
    """Leave no rows and keys behind when the command is told to end or its terminal is closed."""

    def leave(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    previous = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextmanager
def site_files(parts: dict[str, Table]) -> Iterator[dict[str, Path]]:
    """The sites' tables as files that only this user can read, gone at the end."""
    from dagora.data.writers import write_table

    folder = Path(tempfile.mkdtemp(prefix="dagora-"))
    try:
        files = {name: folder / f"{name}.csv" for name in parts}
        for name, part in parts.items():
            write_table(part, files[name])
        yield files
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def declared(table: Table) -> dict[str, Any]:
    """The kinds of a table's columns, so that its parts are read alike."""
    from dagora.data.schema import Kind

    kinds = {kind: [v.name for v in table.schema if v.kind is kind] for kind in Kind}
    return {"discrete": kinds[Kind.DISCRETE], "continuous": kinds[Kind.CONTINUOUS]}
