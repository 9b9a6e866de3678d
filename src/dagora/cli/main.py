"""The command `dagora`: one file per subcommand in this folder, imported when it is used.

Results go to standard output, messages and progress to standard error. Exit code 0 on success, 2 on bad
input (one line that says what to do), 1 on anything else, 130 where Ctrl-C left no result: while kernels were
compiled, or after a second one.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from dagora.base.addresses import refuse_password
from dagora.base.errors import DagoraError, DagoraWarning, DisagreementError, ProtocolError, speaking
from dagora.base.events import SlowStartWarning
from dagora.base.phrases import nearest, printable
from dagora.base.version import __version__
from dagora.base.wording import COMMAND
from dagora.cli.command_line import answering
from dagora.cli.ctrl_c import INTERRUPTED, ending_compilation
from dagora.cli.help_pages import WIDTH
from dagora.cli.live_line import LiveLine
from dagora.cli.terminal import echo

COMMANDS = {
    "demo": "Learn a known network from simulated data and compare.",
    "inspect": "Show how a table is understood: types, missing values, columns left out.",
    "learn": "Learn a network from a table.",
    "statistics": "Count and sum a table into a file, to learn from later without its rows.",
    "explore": "Learn and ask networks on a page in the browser.",
    "impute": "Fill the missing values of a table from a network.",
    "sample": "Sample networks from their posterior given a table.",
    "federate": "Learn over sites that do not share their rows.",
    "private": "Learn from the columns of two owners who do not share them.",
    "score": "Score parent sets and write those that can be part of a best network.",
    "query": "Ask a network: probabilities, most probable levels, interventions.",
    "adjust": "Find what to adjust for to learn an effect from observed rows.",
    "effect": "Tell the effect of setting a variable, with its interval.",
    "forecast": "Forecast series, with intervals; compare with simple rivals.",
    "check": "Check a graph against data: violated independences, rows held out, simulated tables.",
    "simulate": "Simulate a table from a random graph or a known network.",
    "compare": "Compare two graphs: SHD, TPR, FDR, FPR, F1.",
    "convert": "Convert a graph or network from one format to another.",
    "reproduce": "Reproduce a table or figure of a paper.",
    "methods": "List methods, samplers and scores, or show one with its options.",
    "completion": "Print the script by which a shell completes commands with the Tab key.",
}
# Words of click about values, as people would put them.
PLAINLY = (
    (" is not a valid integer range", " is no whole number"),
    (" is not a valid integer", " is no whole number"),
    (" is not a valid float range", " is no number"),
    (" is not a valid float", " is no number"),
)


class LazyGroup(click.Group):
    """A group whose subcommands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """All subcommands, in the order in which a newcomer meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import one subcommand."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"dagora.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the subcommand; the error about an unknown one suggests a similar one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = nearest(args[0], COMMANDS)
            hint = f"did you mean '{near}'?" if near else f"known are {', '.join(COMMANDS)}"
            if args[0].lower().removesuffix(".gz").endswith((".csv", ".tsv", ".parquet", ".feather")):
                hint = f"did you mean 'dagora learn {args[0]}'?"
            ctx.fail(f"there is no command '{args[0]}': {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the subcommands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDTH},
    epilog="Example: dagora learn data.csv --method tabu --score bdeu --option ess=10 -o network.bif",
)
@click.version_option(__version__, prog_name="dagora")
def cli() -> None:
    """Learn the structure of Bayesian networks from data."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit with its code."""
    line = LiveLine()
    with line.alive(), ending_compilation(line):
        code = run(arguments, line)
    sys.exit(code)


def run(arguments: list[str] | None = None, line: LiveLine | None = None) -> int:
    """Run the command; return its exit code. `line` shows its progress."""
    line = line or LiveLine()
    with speaking(COMMAND), warnings_in_one_line(line):
        return answer(arguments, line)


@contextmanager
def warnings_in_one_line(line: LiveLine) -> Iterator[None]:
    """Print those of our warnings that no result holds; those of other packages stay as they are."""
    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *where: Any, **how: Any) -> None:  # noqa: ANN401
        if not issubclass(category, DagoraWarning):
            usual(message, category, *where, **how)
        elif not line.silent:
            echo(f"dagora: warning: {printable(str(message))}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DagoraWarning)  # the command prints those of its result
        warnings.simplefilter("default", SlowStartWarning)
        warnings.showwarning = show
        yield


def answer(arguments: list[str] | None, line: LiveLine) -> int:
    """Run the command; turn every error into one line and an exit code."""
    try:
        given = sys.argv[1:] if arguments is None else arguments
        refuse_passwords(given)
        with answering(given):
            code = cli.main(args=given, prog_name="dagora", standalone_mode=False, obj=line)
    except click.exceptions.NoArgsIsHelpError as error:
        echo(error.ctx.get_help() if error.ctx else "", err=True)
        return 2
    except click.UsageError as error:
        return refuse(in_plain_words(error))
    except click.ClickException as error:
        return refuse(error.format_message())
    except ProtocolError as error:
        # A fault of a peer is not bad input, unless the parties' data do not fit together.
        return refuse(str(error), 2 if isinstance(error, DisagreementError) else 1)
    except DagoraError as error:
        return refuse(str(error))
    except (click.Abort, KeyboardInterrupt):
        echo("dagora: interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except OSError as error:
        with contextlib.suppress(OSError):
            echo(f"dagora: error: {error.strerror or error}", err=True)
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 (what is left cannot be written)
        return 1
    except MemoryError:
        echo("dagora: error: out of memory", err=True)
        return 1
    return code if isinstance(code, int) else 0


def refuse_passwords(arguments: Sequence[str]) -> None:
    """Refuse an address with a password before anything is done that might repeat it."""
    for argument in arguments:
        value = argument.partition("=")[2] if argument.startswith("-") else argument
        refuse_password(value)


def refuse(message: str, code: int = 2) -> int:
    """Print one line that says what is wrong, and return the exit code (by default that of bad input)."""
    echo(f"dagora: error: {printable(' '.join(message.split()))}", err=True)
    return code


def in_plain_words(error: click.UsageError) -> str:
    """One line about a wrong command line, with where to read more.

    >>> in_plain_words(click.BadParameter("'1h' is not a valid float."))
    "Invalid value: '1h' is no number"
    """
    where = f" (see '{error.ctx.command_path} --help')" if error.ctx else ""
    return f"{describe_usage_error(error)}{where}"


def describe_usage_error(error: click.UsageError) -> str:
    """The same without where to read more."""
    if isinstance(error, click.NoSuchOption):
        return about_option(error)
    if isinstance(error, click.MissingParameter) and isinstance(error.param, click.Argument) and error.ctx:
        arguments = [each for each in error.ctx.command.params if isinstance(each, click.Argument)]
        needed = " and ".join(each.human_readable_name for each in arguments if each.required)
        return f"{error.ctx.info_name} needs {needed}: {error.param.human_readable_name} is missing"
    message = error.format_message().rstrip(".")
    for said, plain in PLAINLY:
        message = message.replace(said, plain)
    if isinstance(error, click.BadParameter) and error.param is not None and error.param.name == "time_limit":
        message += ": give seconds, such as 60"
    takes_data = error.ctx is not None and "data" in {param.name for param in error.ctx.command.params}
    if message.startswith("Got unexpected extra argument") and takes_data:
        message += ": one DATA is read"
        if error.ctx is not None and error.ctx.info_name != "explore":
            message += "; for several files, name a folder or a pattern in quotes ('*.csv')"
    return message


def about_option(error: click.NoSuchOption) -> str:
    """The message about an option that a command does not have."""
    name = error.option_name.lstrip("-").replace("-", "_")
    said = f"there is no option '{error.option_name}'"
    if error.ctx is not None and takes_options(error.ctx.command) and name in options_of_methods():
        return f"{said}: options of methods and scores are written --option {name}=VALUE"
    known = error.ctx.command.params if error.ctx is not None else []
    flags = [flag for parameter in known for flag in parameter.opts if flag.startswith("--")]
    near = nearest(error.option_name, flags, likeness=0.75)
    return f"{said}: did you mean '{near}'?" if near else said


def takes_options(command: click.Command) -> bool:
    """Return True if a command has --option NAME=VALUE."""
    return any("--option" in parameter.opts for parameter in command.params)


def options_of_methods() -> set[str]:
    """The names of all options of methods, samplers and scores."""
    from dagora.learners.registry import METHODS
    from dagora.posterior.registry import SAMPLERS
    from dagora.scores.registry import SCORES

    return {option.name for entry in (*METHODS, *SAMPLERS, *SCORES) for option in entry.options}
