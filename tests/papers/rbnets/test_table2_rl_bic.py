"""RL-BIC on the data sets of table 2: the cells, the page from made-up cells, and a small run."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dagora.papers.cell import MeasuredCell
from dagora.papers.experiment import Size
from dagora.papers.rbnets import contenders, table2_rl_bic
from dagora.papers.rbnets.contenders import CLIMB, EXACT, POLICY, contender_cells
from tests.papers.rbnets.tiny import tiny  # noqa: F401 - a fixture

ALARM = {"data": "alarm*", "reading": "kept"}


def test_sizes() -> None:
    quick, full = (table2_rl_bic.table2_rl_bic(Size(full=full)).cells for full in (False, True))
    assert [cell for cell in quick if cell["method"] != "rl-bic"] == [
        cell for cell in full if cell["method"] != "rl-bic"
    ]
    assert {cell["rounds"] for cell in quick if cell["method"] == "rl-bic"} == {200}
    drawn = [cell for cell in full if cell["method"] == "rl-bic"]
    assert {cell["rounds"] for cell in drawn} == {20_000}  # those of RL-BIC's paper
    assert len(drawn) == 9
    assert all("memory" not in cell for cell in quick if cell["method"] != "astar")


def made_up(label: str, options: dict, **numbers: object) -> MeasuredCell:
    (cell,) = contender_cells(ALARM, {label: options}, seed=0)
    return MeasuredCell(cell, {"status": "finished", "cpu_seconds": 1.0, "seconds": 2.0, **numbers})


@pytest.mark.parametrize(("random_dags", "beaten"), [(-108.0, 0), (-110.0, 1)])
def test_the_page_from_cells(random_dags: float, beaten: int) -> None:
    drawn = {"rounds": 50.0, "graphs": 3200, "acyclic": 800.0, "best_round": 40.0, "random_dags": random_dags}
    cells = [
        made_up("A*", EXACT["A*"], status="optimal", bic=-100.0, proved=True),
        made_up("GHC", CLIMB["GHC"], status="local-optimum", bic=-120.0, cpu_seconds=0.5),
        made_up(
            "RL-BIC", POLICY["RL-BIC"], status="time-limit", bic=-109.0, cpu_seconds=30.0,
            compile_seconds=10.0, device="cpu", **drawn,
        ),
    ]  # fmt: skip
    page = table2_rl_bic.report(cells)
    quality, efforts = (dict(zip(t.columns, t.rows[0], strict=True)) for t in page.tables)
    assert (quality["best BIC"], quality["proved"], quality["RL-BIC"]) == (-100.0, "yes", 9.0)
    assert quality["as many random DAGs"] == -100.0 - random_dags
    assert (quality["GHC"], quality["order-search"], quality["A*"]) == (20.0, None, 0.0)
    assert (efforts["ended"], efforts["rounds"], efforts["share of DAGs"]) == ("OT", 50, 0.25)
    assert (efforts["CPU s"], efforts["paper, s"], efforts["GHC, CPU s"]) == (20.0, 105.4, 0.5)
    assert f"on {beaten} of 1 data sets, and than one climb on 1 of 1." in page.notes[-1]


@pytest.mark.usefixtures("tiny")
def test_end_to_end(run: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = {"hidden": 2, "heads": 1, "blocks": 1}
    monkeypatch.setitem(contenders.POLICY, "RL-BIC", {"method": "rl-bic", **network})
    monkeypatch.setattr(table2_rl_bic, "QUICK_ROUNDS", 4)
    monkeypatch.setattr(table2_rl_bic, "seconds_in_paper", lambda *_: None)
    ran = run("reproduce", "rbnets/table2-rl-bic", "-o", tmp_path / "out", "--json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    quality, efforts = json.loads(ran.out)["tables"]
    for row in quality["rows"]:
        found = dict(zip(quality["columns"], row, strict=True))
        assert (found["A*"], found["order-search"]) == pytest.approx((0, 0), abs=1e-9)
        assert found["RL-BIC"] >= 0
    assert [row[efforts["columns"].index("rounds")] for row in efforts["rows"]] == [4, 4]
