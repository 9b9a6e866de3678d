"""Tables 2 to 4 from cells that are made up, and once end to end on a small network."""

import itertools
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dagora.papers.cell import MeasuredCell
from dagora.papers.experiment import Size
from dagora.papers.rbnets import categories, contenders, differences, table2
from dagora.papers.rbnets.contenders import CLIMB, EXACT, RANDOMISED, SETS, contender_cells
from dagora.papers.rbnets.published import UNKNOWN_STRUCTURES
from dagora.papers.rbnets.spreads import by_data_set
from tests.papers.rbnets.tiny import tiny

__all__ = ["tiny"]
ALARM = {"data": "alarm*", "reading": "kept"}
SIZE: dict[str, Any] = {
    "variables": 37, "rows_used": 1000, "sets": 900, "complete": True, "note": "", "seconds": 9.0,
    "cpu_seconds": 4.0,
}  # fmt: skip


def made_up(data: dict, label: str, options: dict, seed: int = 0, **numbers: object) -> MeasuredCell:
    (cell,) = contender_cells(data, {label: options}, seed=seed)
    return MeasuredCell(cell, {"status": "finished", "cpu_seconds": 1.0, "seconds": 2.0, **numbers})


def test_full_sizes() -> None:
    cells = table2.table2(Size(full=True)).cells
    assert len({c["data"] for c in cells}) == 19
    assert len({(c["data"], c["reading"]) for c in cells}) == 24
    per_set = Counter(c["contender"] for c in cells if c["data"] == "voting" and c["reading"] == "kept")
    assert per_set == {**dict.fromkeys([*SETS, *EXACT, *CLIMB], 1), **dict.fromkeys(RANDOMISED, 10)}
    wide = Counter(c["contender"] for c in cells if c["data"] == "androgen")
    assert wide == dict.fromkeys([*SETS, *CLIMB, *RANDOMISED], 1)
    assert {c["limit"] for c in cells if c["data"] == "androgen" and "limit" in c} == {43_200.0}
    exact = [c for c in table2.table2(Size()).cells if c["contender"] not in EXACT]
    assert all(cell in cells for cell in exact)  # the full size goes on from the quick one
    halves = differences.table3(Size(full=True)).cells
    found = {(c["data"], c["reading"], c["half"]) for c in halves}
    assert Counter(reading for _, reading, _ in found) == {"kept": 28, "removed": 8}
    samples = differences.table4(Size(full=True)).cells
    assert len({(c["data"], c["rows"]) for c in samples}) == 30
    assert {c["rows"] for c in samples} == {200, 500, 1000, 2000, 3000, 5000}


def test_cells_of_a_data_set_follow_each_other() -> None:
    """Else its parent sets would be found again and again."""
    for made in (table2.table2, differences.table3, differences.table4):
        cells = made(Size()).cells
        keys = [contenders.identity(cell) for cell in cells]
        assert sum(a != b for a, b in itertools.pairwise(keys)) == len(set(keys)) - 1
        assert all(cell["contender"] == "parent sets" for cell in cells if "seed" not in cell)


def test_table_2_from_cells() -> None:
    given = dict(ALARM)
    cells = [
        made_up(given, "parent sets", {"method": "parent sets"}, **SIZE),
        made_up(given, "A*", EXACT["A*"], status="memory-limit", bic=-105.0, gap=7.5, cpu_seconds=3.0),
        made_up(given, "ILP", EXACT["ILP"], status="optimal", bic=-100.0, gap=0.0, proved=True),
        made_up(given, "GHC", CLIMB["GHC"], status="local-optimum", bic=-120.0, cpu_seconds=0.5),
    ]
    for seed, (bic, greedy) in enumerate([(-110.0, -130.0), (-104.0, -125.0), (-106.0, -140.0)]):
        numbers = {
            "bic": bic,
            "greedy": greedy,
            "cpu_seconds": 10.0 + seed,
            "compile_seconds": 4.0,
            "first_compile_seconds": 5.0,
        }
        cells.append(made_up(given, "RBNets", RANDOMISED["RBNets"], seed, **numbers))
    report = table2.report(cells)
    tables = {t.name: [dict(zip(t.columns, row, strict=True)) for row in t.rows] for t in report.tables}
    (seconds,) = tables["seconds"]
    assert (seconds["n"], seconds["m"], seconds["parent sets"]) == (37, 1000, "900")
    assert seconds["A*"] == "OM 3.00, gap 7.5"
    assert (seconds["RBNets"], seconds["RBNets, paper"]) == ("7.00 (6.00 to 8.00)", 80.5)
    assert (seconds["ILP, paper"], seconds["RL-BIC, paper"], seconds["OBS"]) == (6.9, 105.4, None)
    (both,) = tables["with-sets"]
    assert (both["RBNets"], both["GHC"]) == ("11.00 (10.00 to 12.00)", "0.50")
    (quality,) = tables["quality"]
    assert (quality["best BIC"], quality["proved"]) == (-100.0, "yes")
    assert (quality["RBNets"], quality["GHC"]) == ("6.0 (4.0 to 10.0)", "20.0")
    assert quality["RBNets, greedy policy"] == "30.0 (25.0 to 40.0)"
    runs = {row["method"]: row for row in tables["runs"]}
    assert runs["RBNets"]["BIC, median"] == -106.0
    assert runs["RBNets"]["compiling s"] == 5.0
    assert "seconds" in report.pictures
    assert "less than the seconds of the paper's table 2 on 1 of 1 data sets (" in report.notes[-1]


@pytest.mark.parametrize(("seconds", "said"), [(80.4, "on 1 of 1 data sets ("), (80.6, "; not on alarm* (")])
def test_the_verdict_on_seconds_is_against_the_papers(seconds: float, said: str) -> None:
    cells = [made_up(dict(ALARM), "RBNets", RANDOMISED["RBNets"], bic=-1.0, cpu_seconds=seconds)]
    (verdict,) = table2.seconds_verdict(by_data_set(cells))
    assert said in verdict
    assert table2.seconds_verdict({}) == ()


def test_a_refusal_is_no_time() -> None:
    refused = made_up(dict(ALARM), "A*", EXACT["A*"], status="failed", bic=None)
    assert table2.seconds_entry([refused]) == "refused"


def test_counts_are_of_differences_of_medians() -> None:
    cells = []
    # RBNets' median less OBS': +15, +1 and −7.
    for half, other in ((0, -115.0), (1, -101.0)):
        data = {"data": "voting", "reading": "kept", "half": half}
        cells += [
            made_up(data, "RBNets", {"method": "rbnets"}, seed, bic=bic, greedy=bic - 9)
            for seed, bic in enumerate((-100.0, -90.0, -500.0))
        ]
        cells.append(made_up(data, "OBS", {"method": "obs"}, bic=other))
    data = {"data": "sponge", "reading": "kept", "half": 0}
    cells.append(made_up(data, "RBNets", {"method": "rbnets"}, bic=-100.0, greedy=-100.0))
    cells.append(made_up(data, "OBS", {"method": "obs"}, bic=-93.0))
    found = by_data_set(cells)
    assert sorted(categories.differences(found, "RBNets", "OBS")) == [-7.0, 1.0, 15.0]
    table = categories.counts_table("counts", "ΔBIC", found, UNKNOWN_STRUCTURES)
    rows = {(row[0], row[1]): dict(zip(table.columns, row, strict=True)) for row in table.rows}
    counted = {word: rows["RBNets", word]["OBS"] for word in categories.CATEGORIES}
    ours = {"very positive": 1, "neutral": 1, "strongly negative": 1}
    assert counted == {**dict.fromkeys(categories.CATEGORIES, 0), **ours}
    assert rows["RBNets", "very positive"]["OBS, paper"] == 21
    assert rows["RBNets", "positive"]["RL-BIC, paper"] == 5
    assert rows["RBNets, greedy policy", "strongly negative"]["OBS"] == 2  # −8 and −7
    assert rows["RBNets, greedy policy", "positive"]["OBS"] == 1  # 6
    assert table.title == "ΔBIC (3 data sets)"


@pytest.mark.slow
def test_end_to_end(tiny: Path, run: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differences, "QUICK_NETWORKS", ("net*",))
    monkeypatch.setattr(differences, "QUICK_ROWS", (100,))
    monkeypatch.setitem(contenders.RANDOMISED, "RBNets", {"method": "rbnets", "published": 1, "episodes": 6})
    monkeypatch.setitem(contenders.LONGER, "ASOBS, longer", {"method": "asobs", "orders": 50})
    ran = run("reproduce", "rbnets/table4", "-o", tmp_path, "--json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    content = json.loads(ran.out)
    counts, quality, seconds = content["tables"]
    assert sum(row[counts["columns"].index("300 random orders")] for row in counts["rows"]) == 6
    (row,) = quality["rows"]
    assert row[0] == "net* 100"
    assert row[quality["columns"].index("order-search")] == "0.0"
    assert len(seconds["rows"]) == 1
    page = (tmp_path / "rbnets-table4.md").read_text()
    assert page.splitlines()[0].endswith(" (quick size: 3 networks, 200 and 1000 rows, 2 seeds)")
    assert "(rbnets-table4-differences.svg)" in page
    assert "“300 random orders”" in page
