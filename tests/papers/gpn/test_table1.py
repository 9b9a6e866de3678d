"""Table 1 on a stand-in of a few proteins, and how the reference data are read."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dagora.papers.cell import MeasuredCell
from dagora.papers.experiment import Size
from dagora.papers.gpn import table1
from dagora.papers.gpn.contest import PRIORS
from dagora.papers.gpn.published import published_proteins
from tests.papers.gpn.proteins import write_proteins


@pytest.fixture
def few_proteins(tmp_path: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """PKA → Erk → Akt, the published table as it is."""
    rng = np.random.default_rng(0)
    pka = rng.standard_normal(40)
    erk = np.cos(2 * pka) + 0.3 * rng.standard_normal(40)
    akt = erk + 0.3 * rng.standard_normal(40)
    folder = tmp_path / "data"
    write_proteins(folder, data_dir, pka, erk, akt)
    monkeypatch.setenv("DAGORA_DATA", str(folder))
    return folder


def test_sizes(few_proteins: Path) -> None:
    quick, full = table1.table1(Size()).cells, table1.table1(Size(full=True)).cells
    assert [cell["score"] for cell in quick] == ["bge", "gp", "bridge"]
    assert [cell["score"] for cell in full] == ["bge", "gp", "gp2", "bridge", "bridge"]
    assert all(cell in full for cell in quick)
    assert all(cell["chains"] >= 4 and cell["draws"] >= 2000 for cell in full)


def test_columns_are_those_of_the_published_code(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGORA_DATA", str(data_dir))
    table = table1.proteins()
    assert (table.n_rows, len(table.names)) == (853, 11)
    # scale(log2(x + 0.5)): the first two values of Raf are 26.4 and 35.9
    raf = table.values(table.names.index("Raf"))
    assert raf.mean() == pytest.approx(0, abs=1e-12)
    assert raf.std(ddof=1) == pytest.approx(1)
    with gzip.open(data_dir / table1.DATA, "rt") as file:
        logs = np.log2([float(line.split(",")[0]) + 0.5 for line in file.readlines()[1:]])
    assert raf == pytest.approx((logs - logs.mean()) / logs.std(ddof=1))


def test_end_to_end(
    run: Callable, few_proteins: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table1, "SETTINGS", {**table1.SETTINGS, "chains": 2, "draws": 100, "jobs": 1})
    ran = run("reproduce", "gpn/table1", "-o", tmp_path / "out", "--json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    short, table = json.loads(ran.out)["tables"]
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    ours = [row for row in rows if row["prior"] in PRIORS]
    assert len(ours) == 3 * 2 * (1 + 3) + 2
    for row in ours:
        assert row["E-SHD"] == pytest.approx(2 - row["E-TP"] + row["E-FP"])
        assert -1e-9 <= row["Erk → Akt"] <= 1 + 1e-9
        assert row["R-hat"] >= 0.9
    found = {(row["method"], row["prior"]): row for row in rows}
    # cos(2x) cannot be inverted: a Gaussian process sees the direction that a linear score sees nothing of
    assert found["GP, partition", "uniform"]["Erk ↛ PKA"] > 0.9
    assert found["GP, partition", "uniform"]["E-SHD"] < found["BGe, partition", "uniform"]["E-SHD"]
    assert found["GP, partition (paper)", "the paper's"]["E-SHD"] == pytest.approx(14.5, abs=0.05)
    # On the proteins the published BGe is the library's, under a uniform prior: the very same run.
    numbers = ("E-SHD", "E-TP", "E-FP", "Erk → Akt", "edges")
    for sampler in ("partition", "order"):
        uniform, published = (found[f"BGe, {sampler}", prior] for prior in ("uniform", "published"))
        assert [uniform[name] for name in numbers] == [published[name] for name in numbers]
    together = [dict(zip(short["columns"], row, strict=True)) for row in short["rows"]]
    aims = {(row["method"].rsplit(", ", 1)[0], row["prior"]) for row in together}
    assert aims == {
        ("BGe", "published"),
        ("GP", "uniform"),
        ("GP, bridge", "uniform"),
        ("GP, weighted", "published"),
    }
    for row in together:
        assert row["E-TP"] == found[row["method"], row["prior"]]["E-TP"]
        theirs = found[f"{re.sub(', (weighted|bridge)', '', row['method'])} (paper)", "the paper's"]
        marked = isinstance(row["E-SHD"], str)
        assert row["E-FP (paper)"] == (None if marked else theirs["E-FP"])
        weights = row["ESS of weights"]
        assert marked == (row["R-hat"] > 1.05 or (weights is not None and weights < 100))
        assert (weights is None) == (row["method"].count(",") == 1)
    notes = " ".join(json.loads(ran.out)["notes"])
    assert "dual" in notes
    assert "are not of one kernel" not in notes, "no line of GP² is ours"
    squared = table1.full_size([MeasuredCell({"score": "gp2", **table1.LONG}, {})])
    assert "are not of one kernel" in " ".join(squared)
    assert "may use 8 cores" in " ".join(squared)
    assert (tmp_path / "out" / "gpn-table1-shd.svg").is_file()


def test_the_papers_points_stand_at_the_lines_of_their_target(
    few_proteins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its GP is weighted draws: above “GP”, which keeps the published constants, there is no point of its."""
    seen = []
    monkeypatch.setattr(table1, "draw_panels", lambda panels, **_: seen.extend(panels) or "")
    table1.chart([], published_proteins())
    places = {score for panel in seen for one in panel.series if one.published for score in one.x}
    assert places == {"BGe", "GP,\nweighted", "GP²,\nweighted"}


def test_weights_worth_few_draws_are_marked_and_stand_beside_nothing(few_proteins: Path) -> None:
    numbers = dict.fromkeys(("shd", "tp", "fp", "erk_akt", "erk_pka_absent"), 1.0)
    runs = [
        {"method": "GP, weighted", "sampler": sampler, "prior": "published", "rhat": 1.0, "weight_ess": worth}
        | numbers
        for sampler, worth in (("order", 100.0), ("partition", 99.0))
    ]
    table = table1.compare_with_paper([MeasuredCell({"score": "gp"}, {"runs": runs})], published_proteins())
    order, partition = (dict(zip(table.columns, row, strict=True)) for row in table.rows)
    assert (order["E-SHD"], partition["E-SHD"]) == (1.0, "1.0 †")
    assert order["E-SHD (paper)"] == pytest.approx(14.6, abs=0.05)
    assert [partition[name] for name in table.columns if name.endswith("(paper)")] == [None] * 5
