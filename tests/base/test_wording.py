"""Messages name options as the user writes them: no flags in Python."""

import ast
import re
from collections.abc import Iterator

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


def test_only_doors_write_sentences() -> None:
    """Below the doors, errors and reasons are texts with mentions, which `render` does not touch."""
    writing = [
        str(file.relative_to(PACKAGE))
        for file in MODULES
        if file.relative_to(PACKAGE).parts[0] not in DOORS
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module in ("dagora.base.wording", "dagora.base.errors")
        if {alias.name for alias in node.names} & {"render", "speaking", "chosen_words"}
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
