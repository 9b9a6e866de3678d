"""Figures 1 and 2 at a small size: what is measured, and the maps."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dagora.learners.run import Run
from dagora.papers.experiment import Size
from dagora.papers.notears import weight_maps
from dagora.papers.notears.weight_maps import draw_maps


def test_the_settings_are_those_of_the_paper() -> None:
    for make, graph in ((weight_maps.fig1, "ER2"), (weight_maps.fig2, "SF4")):
        cells = make(Size()).cells
        assert {cell["graph"] for cell in cells} == {graph}
        assert {(cell["n"], cell.get("lambda1", "ges")) for cell in cells} == {
            (n, line) for n in (20, 1000) for line in (0.0, 0.1, "ges")
        }
        assert all(cell["d"] == 20 for cell in cells)


def test_raw_weights_are_near_the_truth_where_rows_are_many() -> None:
    cell = {
        "graph": "ER2",
        "d": 4,
        "n": 2000,
        "noise": "gaussian",
        "seed": 0,
        "method": "notears",
        "lambda1": 0.0,
    }
    numbers = weight_maps.measure(cell, Run())
    found, truth = np.array(numbers["found"]), np.array(numbers["truth"])
    assert numbers["error"] == pytest.approx(np.sqrt(((found - truth) ** 2).sum()))
    assert numbers["error"] < 0.2 * np.linalg.norm(truth)
    ges = weight_maps.measure({**cell, "method": "ges"}, Run())
    assert set(np.unique(ges["found"])) == {0.0, 1.0}
    assert ges["error"] is None


def test_end_to_end(run: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weight_maps, "NODES", 4)
    monkeypatch.setattr(weight_maps, "ROWS", (200, 20))
    ran = run("reproduce", "notears/fig2", "-o", tmp_path, "--json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    rows = json.loads(ran.out)["tables"][0]["rows"]
    assert [row[:2] for row in rows] == [
        [n, f"W_ECP({lambda1}), Algorithm 1 (published)"] for n in (200, 20) for lambda1 in ("0", "0.1")
    ]
    svg = ET.parse(tmp_path / "notears-fig2-weights.svg").getroot()
    assert sum(e.get("id", "").startswith("axes_") for e in svg.iter()) == 8 + 1  # the maps and their scale


def test_colours_follow_the_signs() -> None:
    picture = draw_maps([[("one", np.array([[2.0, -2.0], [0.0, 0.0]]))]], title="t", largest=2.0)
    for colour in ("#67001f", "#053061", "#f7f6f6"):  # full red, full blue, white
        assert colour in picture
    assert picture == draw_maps([[("one", np.array([[2.0, -2.0], [0.0, 0.0]]))]], title="t", largest=2.0)
