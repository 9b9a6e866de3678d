"""Figure 4 at the smallest size."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dagora.papers.admm import nonlinear
from dagora.papers.admm.contenders import BEST, MEANS, NONLINEAR, VOTES
from dagora.papers.experiment import Size


def test_the_full_size_is_that_of_the_paper() -> None:
    cells = nonlinear.fig4(Size(full=True)).cells
    assert {(cell["d"], cell["n"]) for cell in cells} == {(50, 512)}
    assert {cell["sites"] for cell in cells} == {1, 2, 4, 8, 16}
    assert len(cells) == 30 * (3 * 4 + 1)
    assert {cell["lambda1"] for cell in cells if "published" in cell} == {0.001}


def test_the_size_between_has_ten_runs_of_20_variables_and_more_at_two_sites() -> None:
    cells = nonlinear.fig4_d20(Size(full=True)).cells
    assert {(cell["d"], cell["n"]) for cell in cells} == {(20, 256)}
    assert (
        len(cells) == 10 * (3 * 3 + 1) + (30 - 10) * 3
    )  # all but one line at two sites, which ten left open


@pytest.mark.slow
def test_end_to_end(run: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nonlinear, "QUICK", (3, 24, (2,)))
    monkeypatch.setattr(nonlinear, "QUICK_RUNS", 1)
    few = {label: NONLINEAR[label] for label in (VOTES, MEANS, BEST)}
    monkeypatch.setattr(nonlinear, "NONLINEAR", few)
    ran = run("reproduce", "admm/fig4", "-o", tmp_path, "--json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    rows = json.loads(ran.out)["tables"][0]["rows"]
    assert [(row[2], row[3]) for row in rows] == [(2, label) for label in few]
    assert (tmp_path / "admm-fig4-curves.svg").read_text().count('id="axes_') == 3
