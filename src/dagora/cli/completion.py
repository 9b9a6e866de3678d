"""`dagora completion`: the script by which a shell completes commands, options, methods, scores and files."""

from __future__ import annotations

import click

from dagora.cli.help_pages import PagedCommand
from dagora.cli.live_line import quiet_option
from dagora.cli.terminal import echo

SHELLS = ("bash", "zsh", "fish")
EXAMPLES = """\b
Examples: for this shell only, and for every shell from now on
  eval "$(dagora completion bash)"
  dagora completion bash >> ~/.bashrc
  dagora completion zsh >> ~/.zshrc
  dagora completion fish > ~/.config/fish/completions/dagora.fish
"""


@click.command(
    "completion", cls=PagedCommand, short_help="Print a script for the Tab key of a shell.", epilog=EXAMPLES
)
@click.argument("shell", type=click.Choice(SHELLS))
@quiet_option()
@click.pass_context
def command(ctx: click.Context, /, *, shell: str) -> None:
    """Print the script by which SHELL completes commands, options, methods, scores and files."""
    from click.shell_completion import get_completion_class

    complete = get_completion_class(shell)
    assert complete is not None, "click knows all three"
    echo(complete(ctx.find_root().command, {}, "dagora", "_DAGORA_COMPLETE").source())
