"""`simulate --missing`, `learn` on its holes, and `impute`, from end to end."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """A small table with holes, and complete rows beside them."""
    lines = ["rain,wet,day"]
    for i in range(240):
        rain = "yes" if i % 3 == 0 else "no"
        wet = rain if i % 7 else "yes"
        lines.append(f"{'' if i % 5 == 0 else rain},{'' if i % 4 == 1 else wet},{i % 2}")
    (tmp_path / "survey.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "survey.csv"


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


def test_holes_are_simulated_learned_through_and_filled(run: Callable, tmp_path: Path, survey: Path) -> None:
    learned = run("learn", survey, "-o", tmp_path / "n.bif", "--report", tmp_path / "r.html", "--json")
    assert learned.code == 0, learned.err
    content = json.loads(learned.out)
    assert content["data"]["holes"]["cells"] == 108
    assert "missing at random" in content["message"]
    page = (tmp_path / "r.html").read_text()
    assert "108 of 720 cells" in page
    assert "most frequent patterns" in page
    line = ("-o", tmp_path / "full.csv", "--certainty", tmp_path / "cells.csv", "--draws", "2")
    filled = run("impute", tmp_path / "n.bif", survey, *line)
    assert filled.code == 0, filled.err
    assert "108 cells filled" in filled.out
    before = table(survey)
    for name in ("full.csv", "full-1.csv", "full-2.csv"):
        after = table(tmp_path / name)
        assert all(a[k] == b[k] or not b[k] for a, b in zip(after, before, strict=True) for k in b)
        assert all(all(row.values()) for row in after)
    cells = table(tmp_path / "cells.csv")
    assert len(cells) == 108
    assert all(0.3 < float(cell["probability"]) <= 1 and cell["sd"] == "" for cell in cells)
    simulated = run("simulate", "--sem", f"bif:{tmp_path / 'n.bif'}", "--rows", "200", "--missing", "mar:0.2",
                    "-o", tmp_path / "again.csv")  # fmt: skip
    assert simulated.code == 0, simulated.err
    text = (tmp_path / "again.csv").read_text()
    assert 60 < sum(not cell for row in text.splitlines() for cell in row.split(",")) < 180


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("learn {survey} --score bdeu", "--missing drop"),
        ("learn {survey} --score bdeu --missing model", "the score bdeu needs complete rows"),
        (
            "simulate --sem gaussian --nodes 3 --degree 1 --rows 9 -o {folder}/x.csv --missing some",
            "mcar:0.2",
        ),
        ("impute {survey} {survey} -o {folder}/x.csv", "survey.csv"),
    ],
)
def test_mistakes_get_one_line(run: Callable, survey: Path, line: str, words: str) -> None:
    ran = run(*line.format(survey=survey, folder=survey.parent).split())
    assert ran.code == 2
    assert words in ran.err.splitlines()[-1]
