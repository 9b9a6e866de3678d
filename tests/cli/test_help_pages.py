"""Help fits a screen, everything is behind `--help-all`, and every option is on one of the two pages."""

from collections.abc import Callable, Iterator

import click
import pytest

from dagora.cli.help_pages import EVERYDAY, GROUP_OF, LINES, WIDTH, PagedCommand
from dagora.cli.main import cli
from dagora.learners.registry import METHODS
from dagora.posterior.registry import SAMPLERS
from dagora.scores.registry import SCORES


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


COMMANDS = dict(commands(cli))


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("line", COMMANDS)
def test_help_fits_a_screen(run: Callable, line: str, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    ran = run(*line.split(), "--help")
    assert (ran.code, ran.err) == (0, "")
    # A party's commands have many options that they cannot do without.
    many = line.startswith("private") and columns == 80
    assert len(ran.out.splitlines()) <= LINES + 2 * many, ran.out
    assert max(map(len, ran.out.splitlines())) <= WIDTH
    for option in COMMANDS[line].params:
        if isinstance(option, click.Option):
            assert max(option.opts, key=len) in ran.out, "it is explained, or named as one of more"


@pytest.mark.parametrize("line", COMMANDS)
def test_the_whole_page_explains_every_option(run: Callable, line: str) -> None:
    ran = run(*line.split(), "--help-all")
    assert (ran.code, ran.err) == (0, "")
    said = " ".join(ran.out.split())
    for option in COMMANDS[line].params:
        if isinstance(option, click.Option):
            assert option.help, option.name
            assert option.help.split()[0] in said
            assert max(option.opts, key=len) in said
    assert isinstance(COMMANDS[line], PagedCommand)


def test_the_first_page_of_learn(run: Callable) -> None:
    first, whole = run("learn", "--help").out, run("learn", "--help-all").out
    for heading in ("How to learn:", "How to read the table:", "What to write:", "Examples:"):
        assert heading in first
    assert "--push-down" in first.partition("More, with dagora learn --help-all:")[2]
    assert "so that no row leaves it" in " ".join(whole.split())
    assert "so that no row leaves it" not in " ".join(first.split())


def test_groups_and_days_name_options_that_exist() -> None:
    known = {option.name for command in COMMANDS.values() for option in command.params}
    assert set(GROUP_OF) <= known
    assert set(GROUP_OF) >= EVERYDAY


def test_methods_fit_a_screen(run: Callable) -> None:
    lines = run("methods").out.splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= WIDTH
    words = {word.strip(",") for line in lines for word in line.split()}
    assert {entry.name for entry in (*METHODS, *SAMPLERS, *SCORES)} <= words
    everything = run("methods", "--all").out
    for entry in (*METHODS, *SAMPLERS, *SCORES):
        assert entry.summary in everything
