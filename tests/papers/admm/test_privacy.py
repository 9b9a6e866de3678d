"""The attack on the published exchange succeeds to the last digits; the same attack on ours finds nothing."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dagora.papers.admm import privacy
from dagora.papers.admm.attack import centred, overheard, relative_error, rows_recovered, shown
from dagora.papers.admm.contenders import dealt_out, simulated
from dagora.run import Run

CELL = {"sem": "gaussian", "d": 8, "n": 20, "sites": 5, "seed": 2}


def test_the_published_round_is_equation_10() -> None:
    tables = dealt_out(simulated(CELL).table, 5)
    found = shown(tables, Run())
    assert found.rho == 0.001
    for name, table in tables.items():
        x = centred(table)
        S = x.T @ x / 20
        by_hand = np.linalg.solve(S + 0.001 * np.eye(8), S)
        np.testing.assert_allclose(found.weights[name], by_hand, atol=1e-9)


def test_the_attack_reads_sites_off_the_published_exchange_and_not_off_ours() -> None:
    numbers = privacy.measure(CELL, Run())
    assert numbers["shown_most"] < 1e-9
    assert numbers["shown_rows"] == 20
    # ours: as bad as a guess of zero, at every site
    assert 0.9 < numbers["masked_least"] <= numbers["masked_most"] < 1.1
    assert numbers["masked_rows"] == numbers["mean_rows"] == numbers["total_rows"] == 0
    assert numbers["mean_least"] > 0.1
    # and yet the sum is opened, so that all masks but the pairwise ones were taken off
    assert numbers["sum_error"] < 1e-4


def test_without_pairwise_masks_the_attack_on_ours_would_succeed(monkeypatch: pytest.MonkeyPatch) -> None:
    from dagora.parties.horizontal.secure_sum import site as sum_site

    monkeypatch.setattr(sum_site, "pair_masks", lambda *given: np.zeros(given[-1].shape, dtype=np.uint64))
    tables = dealt_out(simulated(CELL).table, 5)
    found = overheard(tables, Run())
    published = shown(tables, Run())
    for name in tables:
        assert relative_error(found.weights[name], published.weights[name]) < 1e-4


def test_rows_are_counted_up_to_rotation_only() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((4, 9))
    rows -= rows.mean(axis=0)
    S = rows.T @ rows / 40
    assert rows_recovered(S, rows, 40) == 4
    assert rows_recovered(1.001 * S, rows, 40) == 0
    assert rows_recovered(rng.standard_normal((9, 9)), rows, 40) == 0


def test_end_to_end(run: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(privacy, "QUICK", ((6, 4),))
    monkeypatch.setattr(privacy, "QUICK_RUNS", 2)
    ran = run("reproduce", "admm/privacy", "-o", tmp_path, "--json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    rows = json.loads(ran.out)["tables"][0]["rows"]
    assert [row[2] for row in rows] == list(privacy.VIEWS.values())
    assert float(rows[0][5]) < 1e-9
    assert float(rows[1][3]) > 0.9
    assert (rows[0][6]["mean"], rows[0][7]) == (16, 16)
    assert "masks were really taken off" in (tmp_path / "admm-privacy.md").read_text()
    assert (tmp_path / "admm-privacy-recovered.svg").read_text().count('id="axes_') == 2
