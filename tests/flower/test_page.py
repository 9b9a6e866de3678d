"""docs/flower.md says what tests/flower/test_flower.py does: the same commands, with the same options."""

import re
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.flower.consortium import FlowerConsortium
from tests.parties.horizontal.flower.sites import EXACT, ONE_SUM

CHOSEN = {"--runs", "--method"}  # on the page by example
PAGE = (ROOT / "docs" / "flower.md").read_text(encoding="utf-8")


def flags(line: str) -> set[str]:
    return set(re.findall(r"(?<!\S)--[a-z-]+", line))


def on_the_page(command: str) -> set[str]:
    (line,) = re.findall(rf"^{re.escape(command)} (?:.|\\\n)*?$", PAGE, re.MULTILINE)
    return flags(line)


def test_the_page_has_the_options_that_are_tested() -> None:
    tested = FlowerConsortium(Path("folder"))
    tested.keys = Path("keys")
    for line in (
        tested.superlink_line(),
        tested.node_line("north"),
        tested.daemon_line("north", Path("north.csv")),
        tested.register_line("north"),
        tested.app_line(Path("app")),
    ):
        words = [Path(str(part)).name for part in line]
        # The tests choose ports, wait as long as they like, and use the Python they run on.
        words = words[2:] if words[1] == "-m" else words
        given = flags(" ".join(words)) - {"--max-retries", "--wait", "--patience"}
        command = " ".join(words[: 1 if words[0].startswith("flower-") else 3])
        assert on_the_page(command) - CHOSEN == given, command


def test_the_page_names_what_keeps_flower_from_calling_home() -> None:
    for setting in ("FLWR_TELEMETRY_ENABLED=0", "FLWR_DISABLE_UPDATE_CHECK=1"):
        assert setting in PAGE


def test_the_commands_of_the_page(run: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it says about the codebook, the policies and the coordinator's folder is what they do."""
    monkeypatch.chdir(tmp_path)
    keys = tmp_path / "keys"
    made = run("simulate", "--sem", "gaussian", "--nodes", 3, "--degree", 1, "--rows", 60, "-o", "all.csv")
    assert made.code == 0
    written = ""
    for line in re.findall(r"^dagora (federate (?:keys|policy|flower-app) .*)$", PAGE, re.MULTILINE):
        ran = run(*shlex.split(line))
        assert ran.code == 0, ran.err
        written += ran.out
    assert {"codebook.toml", "policy.toml", "app"} <= {Path(name).name for name in written.split()}
    config = tomllib.loads((tmp_path / "app" / "pyproject.toml").read_text())["tool"]["flwr"]["app"]["config"]
    assert config["keys"] == str(keys / "coordinator")
    files = [path for path in (tmp_path / "app").rglob("*") if path.is_file()]
    assert f"a folder of {['no', 'one', 'two', 'three', 'four'][len(files)]} small files" in PAGE
    secret = (keys / "coordinator" / "party.key").read_bytes()
    assert not any(secret in path.read_bytes() for path in files), "the app holds no key"
    for name in ("party.key", "policy.toml", "federated.jsonl"):
        assert f"`{name}`" in PAGE or f"/{name}`" in PAGE


def test_the_page_counts_exchanges_as_the_tests_do() -> None:
    assert re.search(rf"\| continuous \|[^|]*\| {ONE_SUM} \|", PAGE)
    assert re.search(rf"exact ones[^|]*\| {EXACT} \|", PAGE)
