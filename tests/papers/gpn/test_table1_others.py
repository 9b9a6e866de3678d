"""Kernel PC, DiBS+ and the empty graph on the proteins: settings, what the page says, and a stand-in of few."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dagora.papers.cell import MeasuredCell
from dagora.papers.experiment import Size
from dagora.papers.gpn import table1_others
from tests.papers.gpn.proteins import write_proteins


@pytest.fixture
def few_proteins(tmp_path: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PKA → Erk → Akt, the published table as it is."""
    rng = np.random.default_rng(0)
    pka = rng.standard_normal(60)
    erk = pka + 0.5 * rng.standard_normal(60)
    akt = erk + 0.5 * rng.standard_normal(60)
    folder = tmp_path / "data"
    write_proteins(folder, data_dir, pka, erk, akt)
    monkeypatch.setenv("DAGORA_DATA", str(folder))


def test_the_full_size_has_the_samples_of_the_paper(few_proteins: None) -> None:
    quick, full = (table1_others.table1_others(Size(full=full)).cells for full in (False, True))
    assert all(cell in full for cell in quick)
    published = [cell for cell in full if cell["method"] == "kpc-dc" and cell["resample"] == "half-rows"]
    assert sum(cell["samples"] for cell in published) == 200
    assert len({cell["seed"] for cell in published}) == len(published), "no sample twice"
    assert all((cell["alpha"], cell["max_given"]) == (0.1, 4) for cell in published)
    assert sum(cell["method"] == "dibs" for cell in full) == 1


def test_lines_are_means_of_their_parts(few_proteins: None) -> None:
    names = ("tp", "fp", "class_shd", "edges", "erk_akt", "erk_pka_absent")
    options = table1_others.METHODS["kPC-DC, N/2 with replacement"]
    cells = [
        MeasuredCell({**options, "seed": seed}, {**dict.fromkeys(names, 0.5), "shd": shd, "cpu_seconds": 3.0})
        for seed, shd in ((0, 15.0), (1, 16.0))
    ]
    page = table1_others.report(cells)
    (table,) = page.tables
    (row,) = (dict(zip(table.columns, row, strict=True)) for row in table.rows)
    assert (row["E-SHD"], row["CPU s"], row["samples"]) == (15.5, 6.0, 100)
    assert row["E-SHD (paper)"] == pytest.approx(16.87)
    assert row["Erk ↛ PKA (paper)"] == pytest.approx(0.28)
    assert "kPC-DC, N/2 with replacement 15.50 against 16.87, not within ±1 (100 samples)" in page.notes[-1]


def test_end_to_end(
    run: Callable, few_proteins: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {
        label: {**options, **({"samples": 4} if "samples" in options else {})}
        for label, options in table1_others.METHODS.items()
        if not options["method"].startswith("dibs")
    }
    monkeypatch.setattr(table1_others, "METHODS", few)
    ran = run("reproduce", "gpn/table1-others", "-o", tmp_path / "out", "--json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    (table,) = json.loads(ran.out)["tables"]
    found = {row[0]: dict(zip(table["columns"], row, strict=True)) for row in table["rows"]}
    assert set(found) == set(few)
    assert found["empty graph"]["E-SHD"] == 2
    assert (found["empty graph"]["Erk → Akt"], found["empty graph"]["Erk ↛ PKA"]) == (0, 1)
    chain = found["kPC-DC, halves"]  # PKA — Erk — Akt: linear, so that no residual tells a direction
    assert chain["edges"] == 2
    assert (chain["Erk → Akt"], chain["Erk ↛ PKA"]) == (1, 0), "an edge without a direction counts both ways"
    assert (chain["E-SHD"], chain["E-SHD of classes"]) == (2, 0)
