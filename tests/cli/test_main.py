"""The command as a whole: help with examples, its version, `python -m dagora`, and the demonstration."""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

import dagora
from dagora.cli.main import COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_an_example(run: Callable, name: str) -> None:
    ran = run(name, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert f"Usage: dagora {name}" in ran.out
    assert re.search(rf"^ *(Example: *)?dagora {name}\b", ran.out.partition("\n\n")[2], re.MULTILINE)
    assert run(name, "-h").out == ran.out


def test_help_lists_all_commands(run: Callable) -> None:
    ran = run("--help")
    assert ran.code == 0
    assert all(re.search(rf"^ +{name} +\w", ran.out, re.MULTILINE) for name in COMMANDS)
    assert "dagora learn" in ran.out


def test_alone_it_shows_help_and_fails(run: Callable) -> None:
    ran = run()
    assert (ran.code, ran.out) == (2, "")
    assert "Commands" in ran.err


def test_version(run: Callable) -> None:
    ran = run("--version")
    assert (ran.code, ran.out.split()[-1]) == (0, dagora.__version__)


def test_demo(run: Callable, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "demo"
    ran = run("demo", "-o", folder)
    assert (ran.code, ran.err) == (0, "")
    assert {file.name for file in folder.iterdir()} == {
        "data.csv", "truth.bif", "network.bif", "result.json", "network.svg", "report.html",
    }  # fmt: skip
    cpdag = next(line.split() for line in ran.out.splitlines() if line.startswith("CPDAG"))
    assert int(cpdag[1]) <= 1, "the network is found, up to what data can tell"
    compared = json.loads(run("compare", folder / "network.bif", folder / "truth.bif", "--json").out)
    assert compared["cpdag"]["shd"] == int(cpdag[1])
    assert ET.parse(folder / "network.svg").getroot().tag.endswith("svg")
    table = dagora.read_table(folder / "data.csv")
    assert (table.n_rows, len(table.names)) == (20_000, 11)
    result = dagora.Result.from_json((folder / "result.json").read_text(encoding="utf-8"))
    assert result.graph == dagora.read_graph(folder / "network.bif")
    learn = re.search(r"dagora (learn .*)", ran.out)
    assert run(*learn[1].split()).code == 0, "the command it suggests works"


def test_demo_is_the_same_each_time(run: Callable, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert run("demo", "-o", tmp_path / name, "--rows", 500, "--seed", 3).code == 0
    for file in ("data.csv", "truth.bif", "network.bif", "network.svg"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_a_surprise_is_not_called_bad_input(
    run: Callable, monkeypatch: pytest.MonkeyPatch, garden: Path
) -> None:
    """Exit code 2 is for bad input alone: a fault of ours is not turned into one."""

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("dagora.api.learn.learn", fail)
    with pytest.raises(ZeroDivisionError):
        run("learn", garden / "garden.csv")
