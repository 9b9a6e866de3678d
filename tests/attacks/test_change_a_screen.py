"""Whoever made a table wants its names and levels to change what its reader's terminal shows."""

import ast
import json
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.base.phrases import CONTROLS
from dagora.cli.live_line import CLEAR, LiveLine

NAMES = ("a\x1b[2Jge", "b\x9b31m", "c\u202eevil", "d\U000e0041")


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 300)
    columns = [np.where(rng.random(300) < 0.1, 1 - first, first) for _ in NAMES]
    lines = [",".join(NAMES)]
    lines += [",".join(f"{name[:2]}\x1b]0;own{value}\x07" for name, value in zip(NAMES, row, strict=True))
              for row in zip(*columns, strict=True)]  # fmt: skip
    file = tmp_path / "table.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def is_harmless(text: str) -> bool:
    return not CONTROLS.search(text.replace("\n", "").replace("\t", ""))


@pytest.mark.parametrize(
    "command",
    [
        ("inspect",),
        ("inspect", "--json"),
        ("learn",),
        ("learn", "--json"),
        ("learn", "--method", "hill-climb", "--bootstrap", "3"),
        ("score",),
    ],
)
def test_what_is_printed_of_a_table(table, run, command, tmp_path):
    more = ("-o", tmp_path / "scores.jkl") if command == ("score",) else ()
    ran = run(command[0], table, *command[1:], *more)
    assert is_harmless(ran.out)
    assert is_harmless(ran.err)
    if "--json" in command:
        assert any(name in json.dumps(json.loads(ran.out), ensure_ascii=False) for name in NAMES[2:])


def test_what_is_printed_of_a_network(table, run, tmp_path):
    network = tmp_path / "network.json"
    run("learn", table, "-o", network)
    for arguments in (("query", network, NAMES[2]), ("compare", network, network)):
        ran = run(*arguments)
        assert is_harmless(ran.out)
        assert is_harmless(ran.err)


def test_what_is_shown_of_progress(monkeypatch):
    line, shown = LiveLine(), []
    monkeypatch.setattr(line, "_write", shown.append)
    line.phase("reading t\x1b[2J\x9b31m.csv")
    line._draw(3.0)
    assert shown
    assert is_harmless("".join(shown).replace(CLEAR, ""))


def test_commands_print_through_one_place():
    for file in (Path(dagora.__file__).parent / "cli").rglob("*.py"):
        if file.name == "terminal.py":
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                assert (node.value.id, node.attr) not in {("click", "echo"), ("click", "secho")}, file
            assert not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print"), file
