"""Messages name options as the user writes them: no flags in Python."""

import ast
import re
import shlex
from collections.abc import Iterator

import pytest

from dagora.base.phrases import split_list
from dagora.base.wording import COMMAND, option, render
from dagora.data.columns.missing import extend_na, na_words
from tests.test_imports import MODULES, PACKAGE

# A flag within a text; a text that is a flag and no more is an argument of a command.
FLAG = re.compile(r"(?<![\w-])--[a-z]")
ARGUMENT = re.compile(r"--[a-z-]+")
# Rooms that speak to users of the command alone, and the one place that writes flags.
OF_THE_COMMAND = {"cli", "explore", "papers", "wording.py"}


def texts(node: ast.AST) -> Iterator[str]:
    """All texts in the code below a node, less docstrings and what is said to users of the command only."""
    if isinstance(node, ast.keyword) and node.arg == "command":
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    for child in ast.iter_child_nodes(node):
        yield from texts(child)


def flags(source: str) -> list[str]:
    if not FLAG.search(source):  # most: parsing all takes seconds
        return []
    return [text for text in texts(ast.parse(source)) if FLAG.search(text) and not ARGUMENT.fullmatch(text)]


SPOKEN_TO = [
    str(file.relative_to(PACKAGE))
    for file in MODULES
    if not OF_THE_COMMAND & set(file.relative_to(PACKAGE).parts)
]


def test_no_message_names_a_flag() -> None:
    found = {file: flags((PACKAGE / file).read_text(encoding="utf-8")) for file in SPOKEN_TO}
    named = {file: lines for file, lines in found.items() if lines}
    assert not named, "name options by wording.option or wording.setting"


DOORS = {"base", "api", "cli", "explore"}
FROM_BASE = re.compile(r"^ *from dagora\.base\.(?:wording|errors) import (\([^)]*\)|.*)$", re.MULTILINE)


def test_only_doors_write_sentences() -> None:
    """Below the doors, errors and reasons are texts with mentions, which `render` does not touch."""
    writing = [
        str(file.relative_to(PACKAGE))
        for file in MODULES
        if file.relative_to(PACKAGE).parts[0] not in DOORS
        for names in FROM_BASE.findall(file.read_text(encoding="utf-8"))
        if {"render", "speaking", "chosen_words"} & set(re.findall(r"\w+", names))
    ]
    assert not writing, "hand the text on as it is: the door writes it"


def test_the_scan_sees_flags() -> None:
    source = '''
def f(name):
    """Not a message: --drop."""
    if name:
        raise ValueError(f"leave it out (--drop {name})")
    announce([f"choose {option('missing', 'drop')}, or --missing level"])
    start(["private", "--json"], "one -- or two")
    raise ValueError(by_door(python="discretise", command="--discretise quantile"))
'''
    assert flags(source) == ["leave it out (--drop ", ", or --missing level"]


NASTY = [
    "plain",
    "x, y",
    'with "quotes"',
    "it's",
    """both ' and \"""",
    "back\\slash",
    "ends in \\",
    "new\nline",
    "tab\t",
    "{brace}",
    "%s",
    "é\u202e\ue000",
    "",
]


@pytest.mark.every_case
@pytest.mark.parametrize("value", NASTY)
def test_an_option_in_a_message_is_valid_python(value):
    for name in ("na", "drop", "missing"):
        call = ast.parse(f"f({render(option(name, value))})", mode="eval").body
        written = ast.literal_eval(call.keywords[0].value)
        assert written == ([value] if name == "drop" else value)


@pytest.mark.every_case
@pytest.mark.parametrize(
    "value", [text for text in NASTY if text and text == text.strip() and text.isprintable()]
)
def test_advice_about_a_column_of_any_name_can_be_followed(value):
    advice = option("na", extend_na("auto", [(value, "-99")]))
    call = ast.parse(f"f({render(advice)})", mode="eval").body
    for written in (ast.literal_eval(call.keywords[0].value), shlex.split(render(advice, COMMAND))[1]):
        assert na_words(written, [value]).own == {value: ("-99",)}
    assert split_list(shlex.split(render(option("drop", value), COMMAND))[1]) == [value]
