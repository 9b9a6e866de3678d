"""What the README shows first is what its commands print and draw."""

import re
from pathlib import Path

import pytest

import dagora
from dagora.cli.main import run
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.full
def test_the_first_commands_print_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands, shown = re.findall(r"^```(?:sh|text)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)[:2]
    monkeypatch.chdir(tmp_path)
    dagora.write_table(dagora.example(), "patients.csv")
    learn, query = commands.splitlines()[1:]
    assert run(learn.split()[1:]) == 0
    assert run(["query", "network.json", query.split('"')[1]]) == 0
    assert without_digits(capsys.readouterr().out) == without_digits(shown)
    drawn = dagora.Result.from_json((tmp_path / "network.json").read_text()).plot().svg
    kept = (ROOT / "docs" / "patients.svg").read_text(encoding="utf-8")
    assert without_digits(drawn) == without_digits(kept)


def without_digits(text: str) -> str:
    """A text without numbers, whose last digits may differ from one kind of processor to another."""
    return re.sub(r"[\d.]+", "", text)
