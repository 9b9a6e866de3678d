"""Flower for a consortium that runs it: the site's daemon, and the folder that `flwr run` takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dagora.base.phrases import printable
from dagora.cli.federate.planning import Planning, planning_options, prepare
from dagora.cli.gathering import F, gather_options
from dagora.cli.help_pages import PagedCommand
from dagora.cli.learn_options import learn_options_over_sites
from dagora.cli.learn_request import LearnRequest
from dagora.cli.live_line import live_line
from dagora.cli.party_options import seconds_option, tidy_end, warn
from dagora.cli.terminal import echo

if TYPE_CHECKING:
    from dagora.parties.transport.transport import Transport


@dataclass(frozen=True)
class Serving:
    """The address of a site's daemon and the number of runs it serves; `serve` is None without a daemon."""

    serve: str | None
    token: str | None
    runs: int
    idle: float


def serving_options(command: F) -> F:
    """Add the options of a daemon to a command, which gets them as one argument `serving`."""
    options = (
        click.option(
            "--serve",
            metavar="PLACE",
            help="Instead of --connect: wait for runs through Flower, at a socket file or 127.0.0.1:PORT.",
        ),
        click.option(
            "--token",
            metavar="FILE",
            help="With --serve: the secret that the SuperNode's app must know; made if it does not exist. "
            "Default: PLACE.token beside a socket file.",
        ),
        click.option(
            "--runs",
            type=click.IntRange(0),
            default=1,
            show_default=True,
            help="With --serve: runs to serve before ending; 0: any number.",
        ),
        seconds_option(
            "--idle", 3600.0, "With --serve: seconds without a message after which a run counts as lost."
        ),
    )
    return gather_options(command, Serving, "serving", options)


def serve_runs(serving: Serving, name: str, answer: Callable[[Transport], None]) -> None:
    """Wait for runs and answer each; a run that fails before the last has its line, and the next may come."""
    from dagora.base.errors import DagoraError, OptionError
    from dagora.parties.horizontal.flower.daemon import Daemon
    from dagora.parties.horizontal.flower.local_socket import make_token, parse_daemon_address, read_token

    place = parse_daemon_address(serving.serve or "")
    if serving.token is None and not place.path:
        raise OptionError("--serve 127.0.0.1:PORT needs --token FILE")
    file = Path(serving.token or f"{place.path}.token")
    try:
        make_token(file)
    except OSError as error:
        raise OptionError(f"{file}: cannot write the token: {error.strerror}") from None
    with tidy_end(), Daemon(name, place, read_token(file), idle=serving.idle, on_refusal=warn) as daemon:
        echo(f"dagora: '{name}' serves runs at {daemon.place}, with the token in {file}", err=True)
        live_line().silence()  # a daemon may wait for weeks: its log gets a line per run
        served = 0
        while serving.runs == 0 or served < serving.runs:
            transport = daemon.next_run()
            served += 1
            try:
                answer(transport)
            except Exception as error:  # one run, however it fails, does not end the others
                if served == serving.runs:
                    raise
                foreseen = isinstance(error, DagoraError)
                line = str(error) if foreseen else f"the run failed: {type(error).__name__}: {error}"
                echo(f"dagora: error: {printable(' '.join(line.split()))}", err=True)


PROJECT = """\
# Made by `dagora federate flower-app`. `flwr run FOLDER` learns a network over the sites.
[project]
name = "{name}"
version = "1.0.0"
description = "Learn a Bayesian network over sites that keep their rows"
license = "Apache-2.0"
dependencies = []  # the SuperLink and the SuperNodes have dagora installed: nothing is fetched

[tool.flwr.app]
publisher = "dagora"

[tool.flwr.app.components]
serverapp = "{package}.server:app"
clientapp = "{package}.client:app"

# Change a value for one run: flwr run FOLDER --run-config 'method="ges"'
[tool.flwr.app.config]
keys = {keys}  # the coordinator's folder on the SuperLink's machine: certificate, key, codebook
method = {method}
output = {output}  # written by the SuperLink's machine; an absolute path
wait = {wait:g}  # seconds for all sites to be there
patience = {patience:g}  # seconds for each answer of a site
arguments = {arguments}  # all other options of `dagora federate coordinator`
"""
SERVER = '''\
"""The coordinator, on the SuperLink's machine."""

from dagora.cli.federate.flower_server import server_app

app = server_app()
'''
CLIENT = '''\
"""Carries bytes between Flower and the site's daemon."""

from dagora.parties.horizontal.flower.client_app import client_app

app = client_app()
'''
PACKAGE = "dagora_flower"
FILES = ("knowledge", "truth", "output", "picture", "report")


@dataclass(frozen=True)
class AppRequest:
    """The app's configuration."""

    keys: str
    wait: float
    patience: float
    arguments: tuple[str, ...]
    request: LearnRequest


def write_app(folder: str, app: AppRequest) -> None:
    """Write the project that `flwr run` takes; a folder that has something in it is refused."""
    import shlex
    from dataclasses import replace

    from dagora.base.errors import OptionError
    from dagora.base.files import write_whole

    root = Path(folder)
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise OptionError(f"{folder} exists and is not empty: name a new folder")
    files: dict[str, Any] = {name: absolute(getattr(app.request, name)) for name in FILES}
    output = files["output"] or ""
    # The method, which comes first, has a setting of its own.
    rest = replace(app.request, **{**files, "output": None}).arguments()[2:]
    try:
        (root / PACKAGE).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"cannot make {folder}: {error.strerror}") from None
    content = PROJECT.format(
        name="dagora-flower",
        package=PACKAGE,
        keys=toml_text(str(Path(app.keys).resolve())),
        method=toml_text(app.request.method),
        output=toml_text(output),
        wait=app.wait,
        patience=app.patience,
        arguments=toml_text(shlex.join([*app.arguments, *rest])),
    )
    write_whole(root / "pyproject.toml", content)
    write_whole(root / PACKAGE / "__init__.py", '"""dagora as a Flower app."""\n')
    write_whole(root / PACKAGE / "server.py", SERVER)
    write_whole(root / PACKAGE / "client.py", CLIENT)


def absolute(path: str | None) -> str | None:
    """A path that means the same in whatever folder Flower runs the app."""
    return None if path is None else str(Path(path).resolve())


def toml_text(text: str) -> str:
    r"""A text as TOML writes it.

    >>> toml_text('a "b" \\')
    '"a \\"b\\" \\\\"'
    """
    import json

    return json.dumps(text, ensure_ascii=False)


def planned_arguments(planning: Planning) -> list[str]:
    """The command-line arguments of a plan, without the folder, which has a setting of its own."""
    line = ["--minimum", str(planning.minimum)]
    for flag, value in (
        ("--table-cells", planning.table_cells),
        ("--sites", planning.sites),
        ("--codebook", absolute(planning.codebook)),
        ("--table-columns", planning.table_columns),
        ("--privacy", planning.privacy),
    ):
        line += [] if value is None else [flag, str(value)]
    return line


WAIT = seconds_option("--wait", 300.0, "Seconds to wait for all sites.")
PATIENCE = seconds_option("--patience", 300.0, "Seconds to wait for each answer of a site.")


@click.command("flower-app", cls=PagedCommand, short_help="Write the folder that `flwr run` takes.")
@click.argument("app", metavar="FOLDER")
@planning_options
@WAIT
@PATIENCE
@learn_options_over_sites
def flower_app(*, app: str, planning: Planning, wait: float, patience: float, request: LearnRequest) -> None:
    """Write a Flower app in FOLDER that learns over the sites: `flwr run FOLDER` starts it."""
    request = prepare(planning, request).request
    arguments = tuple(planned_arguments(planning))
    write_app(app, AppRequest(planning.folder, wait, patience, arguments, request))
    echo(app)
