"""Options and helpers that the commands of parties share: those of `dagora federate` and `dagora private`."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from dagora.base.phrases import printable
from dagora.cli.terminal import echo

if TYPE_CHECKING:
    from collections.abc import Iterator

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

# The system call `poll` takes milliseconds as a 32-bit integer: at most 2.1e6 seconds.
LONGEST_WAIT = 1e6

DAYS = click.option(
    "--days",
    type=click.IntRange(1, 36500),
    default=30,
    show_default=True,
    help="Days for which the certificates are valid.",
)
IN_MEMORY = click.option(
    "--in-memory", is_flag=True, help="Run the parties as threads of one process, without sockets."
)


def seconds_option(flag: str, default: float, help_text: str) -> Decorator:
    """An option for a positive number of seconds."""
    return click.option(
        flag, type=float, callback=check_seconds, default=default, show_default=True, help=help_text
    )


def check_seconds(_context: click.Context, _parameter: click.Parameter, value: float) -> float:
    """Refuse a time that is not positive, or longer than the system can wait."""
    if not 0.0 < value <= LONGEST_WAIT:
        raise click.BadParameter(f"{value:g} is not in the range 0<x<={LONGEST_WAIT:.0f}.")
    return value


def listening_host(argument: str) -> Decorator:
    """The option --host, which the command gets as `argument`."""
    return click.option(
        "--host", argument, default="127.0.0.1", show_default=True, help="Address to listen on."
    )


def listening_port(default: int) -> Decorator:
    """The option --port."""
    return click.option(
        "--port",
        type=click.IntRange(0, 65535),
        default=default,
        show_default=True,
        help="Port to listen on; 0 takes a free one.",
    )


def address(text: str) -> tuple[str, int]:
    """Split HOST:PORT.

    >>> address("127.0.0.1:7100")
    ('127.0.0.1', 7100)
    """
    from dagora.base.errors import OptionError

    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise OptionError(f"--connect takes HOST:PORT, such as 127.0.0.1:7100, not '{text}'")
    return host, int(port)


@contextmanager
def as_bad_input() -> Iterator[None]:
    """Report errors raised before any peer was contacted as bad input, not as a fault of the protocol."""
    from dagora.base.errors import OptionError, ProtocolError

    try:
        yield
    except ProtocolError as error:
        raise OptionError(str(error)) from None


@contextmanager
def tidy_end() -> Iterator[None]:
    """Clean up temporary files also when the command is terminated or its terminal is closed."""

    def leave(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    previous = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def warn(line: str) -> None:
    """Print a warning."""
    echo(f"dagora: warning: {printable(line)}", err=True)
