"""The coordinator as a `ServerApp` of Flower: `dagora federate coordinator`, with Flower in place of sockets.

A run's configuration is turned into the options of the command, so that both understand the same words.
"""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from dagora.base.errors import DagoraError, DagoraWarning, OptionError, speaking
from dagora.base.wording import COMMAND
from dagora.cli.federate.flower import PATIENCE, WAIT
from dagora.cli.federate.keys import COORDINATOR
from dagora.cli.federate.planning import Planning, learn_over_transport, planning_options, prepare
from dagora.cli.learn_options import learn_options_over_sites
from dagora.cli.learn_request import LearnRequest
from dagora.cli.live_line import LiveLine
from dagora.cli.party_options import warn
from dagora.cli.terminal import echo

if TYPE_CHECKING:
    from dagora.parties.horizontal.flower.coordinator_transport import Exchange, FlowerTransport

SETTINGS = ("keys", "method", "output", "wait", "patience")


class RunFailedError(Exception):
    """The one line about a run that failed, for Flower's list of runs."""


def server_app() -> Any:  # noqa: ANN401
    """The `ServerApp` of Flower."""
    from flwr.serverapp import ServerApp

    from dagora.parties.horizontal.flower.coordinator_transport import exchange_over

    def main(grid: Any, context: Any) -> None:  # noqa: ANN401
        coordinate(arguments_of(context.run_config), exchange_over(grid), lambda: list(grid.get_node_ids()))

    app = ServerApp()
    app.main()(main)
    return app


def arguments_of(config: Mapping[str, object]) -> list[str]:
    """The options of the coordinator that a run's configuration stands for.

    >>> arguments_of({"keys": "keys", "method": "ges", "output": "", "arguments": "--option 'x=1 2'"})
    ['--keys', 'keys', '--method', 'ges', '--option', 'x=1 2']
    """
    unknown = sorted(set(config) - {*SETTINGS, "arguments"})
    if unknown:
        raise OptionError(f"a run has no setting '{unknown[0]}' (known: {', '.join(SETTINGS)}, arguments)")
    line = []
    for name in SETTINGS:
        if config.get(name) not in (None, ""):
            line += [f"--{name}", str(config[name])]
    try:
        return line + shlex.split(str(config.get("arguments", "")))
    except ValueError as error:
        raise OptionError(f"the setting 'arguments' cannot be read: {error}") from None


def coordinate(arguments: list[str], exchange: Exchange, nodes: Any) -> None:  # noqa: ANN401
    """Learn as the coordinator; every error is printed as one line and raised as `RunFailedError`."""

    @click.command("flower")
    @planning_options
    @WAIT
    @PATIENCE
    @learn_options_over_sites
    def command(*, planning: Planning, wait: float, patience: float, request: LearnRequest) -> None:
        from dagora.parties.horizontal.flower.coordinator_transport import meet

        prepared = prepare(planning, request)
        listed = list(prepared.plan.sites)
        transport = meet(COORDINATOR, listed, nodes, exchange, wait=wait, timeout=patience, on_warning=warn)
        with transport:
            learn_over_transport(transport, prepared, patience)
        echo(describe_exchanges(transport), err=True)

    try:
        with speaking(COMMAND), warnings.catch_warnings():
            warnings.simplefilter("ignore", DagoraWarning)  # the command prints those of its result
            command.main(arguments, prog_name="flwr run", standalone_mode=False, obj=LiveLine())
    except click.ClickException as error:
        fail(error.format_message())
    except click.exceptions.Exit as error:
        if error.exit_code:
            fail("nothing was learned; see the log of the run")
    except DagoraError as error:
        fail(str(error))


def describe_exchanges(transport: FlowerTransport) -> str:
    """One line about what the run cost."""
    count, total = len(transport.seconds), sum(transport.seconds)
    return f"dagora: {count} exchanges with the sites through Flower, {total / max(count, 1):.1f} s each"


def fail(message: str) -> None:
    """Print one line and end the run with it."""
    line = " ".join(message.split())
    echo(f"dagora: error: {line}", err=True)
    # Flower prints what an app raises; the way there would hide the line.
    sys.tracebacklimit = 0
    raise RunFailedError(line) from None
