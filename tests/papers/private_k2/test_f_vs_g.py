"""The approximate score changes graphs; sessions of two owners find those of the search in the clear."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dagora.learners.run import Run
from dagora.papers.cell import MeasuredCell
from dagora.papers.private_k2 import f_vs_g
from dagora.papers.private_k2.networks import draw_rows
from tests.parties.pairs import deal_seeds


def test_the_bias_against_parents_where_rows_are_plenty() -> None:
    cells = [f_vs_g.measure({"network": "random", "n": 1000, "seed": seed}, Run()) for seed in range(4)]
    assert sum(cell["g_differs"] for cell in cells) >= 3
    assert sum(cell["stirling_differs"] for cell in cells) <= 2
    assert sum(cell["g_lacks"] for cell in cells) > 5 * sum(cell["g_adds"] for cell in cells)
    for cell in cells:
        assert cell["g_edges"] == cell["f_edges"] - cell["g_lacks"] + cell["g_adds"]
        assert cell["f_shd"] == cell["f_extra"] + cell["f_missing"]  # no edge against the order


def test_the_constant_is_no_cure_where_rows_are_few() -> None:
    def cell(n: int, f: float, g: float, stirling: float) -> MeasuredCell:
        numbers = {"f_edges": f, "g_edges": g, "stirling_edges": stirling}
        return MeasuredCell({"network": "alarm", "n": n}, numbers)

    (said,) = f_vs_g.excess(
        [cell(100, 53.0, 85.0, 70.0), cell(100, 54.0, 86.0, 71.0), cell(1000, 53, 53, 53)]
    )
    assert said.endswith("alarm at n = 100: f 53.5, g 85.5, g′ 70.5 edges (2 samples).")
    assert f_vs_g.excess([cell(1000, 53.0, 52.0, 53.0)]) == ()


def test_known_networks_are_cut_to_two_levels(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGORA_DATA", str(data_dir))
    rows = draw_rows("alarm", 300, 0)
    assert rows.bits.shape == (300, 37)
    assert set(rows.bits.ravel().tolist()) == {0, 1}
    place = {node: k for k, node in enumerate(rows.written_order.split(","))}
    assert all(place[tail] < place[head] for tail, head in rows.truth.edges)
    assert sorted([*rows.owned_by(0).names, *rows.owned_by(1).names]) == sorted(["ID", "ID", *rows.truth])


def test_end_to_end(run: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deal_seeds(monkeypatch)
    monkeypatch.setattr(f_vs_g, "NETWORKS", ("random",))
    monkeypatch.setattr(f_vs_g, "QUICK_ROWS", (40, 80))
    monkeypatch.setattr(f_vs_g, "QUICK_RUNS", 2)
    monkeypatch.setattr(f_vs_g, "LIMIT", 1)
    monkeypatch.setattr(f_vs_g, "SESSIONS", (("random", 40, "g", "adaptive"),))
    ran = run("reproduce", "private-k2/f-vs-g", "-o", tmp_path, "--json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    scores, sessions = json.loads(ran.out)["tables"]
    assert [row[:2] for row in scores["rows"]] == [["random", 40], ["random", 80]]
    assert all(row[-1] == 2 for row in scores["rows"])
    (session,) = sessions["rows"]
    assert session[:4] == ["random", 40, "g", "adaptive"]
    assert session[5] == "the same graph"
    for name in ("differs", "shd"):
        assert "random" in (tmp_path / f"private-k2-f-vs-g-{name}.svg").read_text()
    assert "½ ln 2π" in (tmp_path / "private-k2-f-vs-g.md").read_text()
